/* SPDX-License-Identifier: Apache-2.0 */
/* Models that are made piece by piece. Arrays are passed as buffers: uint32 for numbers, double for
 * weights. */
#include "core.h"

typedef struct builder_object {
    PyObject_HEAD gbs_builder *builder;
} builder_object;

static PyTypeObject *builder_type;

static gbs_builder *builder_of(PyObject *self)
{
    gbs_builder *b = ((builder_object *)self)->builder;
    if (b == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the model was built already");
    }
    return b;
}

static PyObject *done(gbs_status status, const gbs_error *err)
{
    return status < 0 ? core_fail(status, err) : Py_NewRef(Py_None);
}

static PyObject *new_builder(PyObject *self, PyObject *unused)
{
    gbs_error err = {GBS_OK, ""};
    builder_object *b =
        (builder_object *)((allocfunc)PyType_GetSlot(builder_type, Py_tp_alloc))(builder_type, 0);
    (void)self;
    (void)unused;
    if (b == NULL) {
        return NULL;
    }
    const gbs_status status = gbs_builder_new(&b->builder, &err);
    if (status < 0) {
        Py_DECREF(b);
        return core_fail(status, &err);
    }
    return (PyObject *)b;
}

static void builder_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    gbs_builder_free(((builder_object *)self)->builder);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- variables ------------------------------------------------------------------------------- */

static PyObject *add_variables(PyObject *self, PyObject *arguments)
{
    Py_buffer arity = {.buf = NULL};
    uint32_t first = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_builder *b = builder_of(self);
    if (b == NULL || !PyArg_ParseTuple(arguments, "y*", &arity)) {
        return NULL;
    }
    const size_t n = (size_t)arity.len / sizeof(uint32_t);
    const gbs_status status =
        n > UINT32_MAX ? GBS_ERR_LIMIT
                       : gbs_builder_add_variables(b, (uint32_t)n, arity.buf, &first, &err);
    PyBuffer_Release(&arity);
    return status < 0 ? core_fail(status, &err) : PyLong_FromUnsignedLong(first);
}

static PyObject *name_variable(PyObject *self, PyObject *arguments)
{
    uint32_t v = 0;
    const char *name = NULL;
    gbs_error err = {GBS_OK, ""};
    gbs_builder *b = builder_of(self);
    return b != NULL && PyArg_ParseTuple(arguments, "O&s", core_u32, &v, &name)
               ? done(gbs_builder_name_variable(b, v, name, &err), &err)
               : NULL;
}

static PyObject *label_states(PyObject *self, PyObject *arguments)
{
    uint32_t v = 0;
    PyObject *labels = NULL;
    PyObject *result = NULL;
    gbs_error err = {GBS_OK, ""};
    gbs_builder *b = builder_of(self);
    if (b == NULL || !PyArg_ParseTuple(arguments, "O&O!", core_u32, &v, &PyTuple_Type, &labels)) {
        return NULL;
    }
    const Py_ssize_t n = PyTuple_Size(labels);
    const char **text = PyMem_Calloc((size_t)n + 1, sizeof *text);
    int good = text != NULL;
    for (Py_ssize_t i = 0; good && i < n; i++) {
        text[i] = core_text(PyTuple_GetItem(labels, i));
        good = text[i] != NULL;
    }
    if (good) {
        result = done(gbs_builder_label_states(b, v, text, &err), &err);
    }
    PyMem_Free(text);
    return result;
}

/* ---- factors --------------------------------------------------------------------------------- */

/* cpt(child, parents, p): the index of the child's states varies fastest */
static PyObject *add_cpt(PyObject *self, PyObject *arguments)
{
    uint32_t child = 0;
    Py_buffer parents = {.buf = NULL};
    Py_buffer p = {.buf = NULL};
    gbs_error err = {GBS_OK, ""};
    gbs_builder *b = builder_of(self);
    if (b == NULL || !PyArg_ParseTuple(arguments, "O&y*y*", core_u32, &child, &parents, &p)) {
        return NULL;
    }
    const gbs_status status =
        gbs_builder_add_cpt(b, child, (uint32_t)((size_t)parents.len / sizeof(uint32_t)),
                            parents.buf, (size_t)p.len / sizeof(double), p.buf, &err);
    PyBuffer_Release(&parents);
    PyBuffer_Release(&p);
    return done(status, &err);
}

/* factor(scope, weights): weights are at least 0, and the index of the last variable varies fastest
 */
static PyObject *add_factor(PyObject *self, PyObject *arguments)
{
    Py_buffer scope = {.buf = NULL};
    Py_buffer weight = {.buf = NULL};
    gbs_error err = {GBS_OK, ""};
    gbs_builder *b = builder_of(self);
    if (b == NULL || !PyArg_ParseTuple(arguments, "y*y*", &scope, &weight)) {
        return NULL;
    }
    const gbs_status status =
        gbs_builder_add_potential(b, (uint32_t)((size_t)scope.len / sizeof(uint32_t)), scope.buf,
                                  (size_t)weight.len / sizeof(double), weight.buf, &err);
    PyBuffer_Release(&scope);
    PyBuffer_Release(&weight);
    return done(status, &err);
}

/* log_factor(scope, log-weights): the index of the last variable varies fastest */
static PyObject *add_log_factor(PyObject *self, PyObject *arguments)
{
    Py_buffer scope = {.buf = NULL};
    Py_buffer logw = {.buf = NULL};
    uint32_t table = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_builder *b = builder_of(self);
    if (b == NULL || !PyArg_ParseTuple(arguments, "y*y*", &scope, &logw)) {
        return NULL;
    }
    gbs_status status =
        gbs_builder_add_table(b, (size_t)logw.len / sizeof(double), logw.buf, &table, &err);
    if (status >= 0) {
        status = gbs_builder_add_table_factor(b, (uint32_t)((size_t)scope.len / sizeof(uint32_t)),
                                              scope.buf, table, &err);
    }
    PyBuffer_Release(&scope);
    PyBuffer_Release(&logw);
    return done(status, &err);
}

/* quadratic(bits, scale, constant, linear, pairs): scale times the polynomial; pairs is an array of
 * gbs_pair */
static PyObject *add_quadratic(PyObject *self, PyObject *arguments)
{
    gbs_quadratic q = {.size = sizeof q};
    Py_buffer linear = {.buf = NULL};
    Py_buffer pairs = {.buf = NULL};
    gbs_error err = {GBS_OK, ""};
    gbs_builder *b = builder_of(self);
    if (b == NULL ||
        !PyArg_ParseTuple(arguments, "pddy*y*", &q.bits, &q.scale, &q.constant, &linear, &pairs)) {
        return NULL;
    }
    q.linear = linear.buf;
    q.n_variables = (uint32_t)((size_t)linear.len / sizeof *q.linear);
    q.pair = pairs.buf;
    q.n_pairs = (size_t)pairs.len / sizeof *q.pair;
    const gbs_status status = gbs_builder_add_quadratic(b, &q, &err);
    PyBuffer_Release(&linear);
    PyBuffer_Release(&pairs);
    return done(status, &err);
}

/* fields(h): fields of variables 0, 1, ...; a field of 0 adds nothing */
static PyObject *add_fields(PyObject *self, PyObject *arguments)
{
    Py_buffer h = {.buf = NULL};
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    gbs_builder *b = builder_of(self);
    if (b == NULL || !PyArg_ParseTuple(arguments, "y*", &h)) {
        return NULL;
    }
    const double *value = h.buf;
    for (size_t v = 0; v < (size_t)h.len / sizeof(double) && status >= 0; v++) {
        status = value[v] == 0.0 ? GBS_OK : gbs_builder_add_field(b, (uint32_t)v, value[v], &err);
    }
    PyBuffer_Release(&h);
    return done(status, &err);
}

/* couplings(potts, i, j, J) */
static PyObject *add_couplings(PyObject *self, PyObject *arguments)
{
    int potts = 0;
    Py_buffer i = {.buf = NULL};
    Py_buffer j = {.buf = NULL};
    Py_buffer coupling = {.buf = NULL};
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    gbs_builder *b = builder_of(self);
    if (b == NULL || !PyArg_ParseTuple(arguments, "py*y*y*", &potts, &i, &j, &coupling)) {
        return NULL;
    }
    const size_t n = (size_t)coupling.len / sizeof(double);
    const uint32_t *from = i.buf;
    const uint32_t *to = j.buf;
    const double *strength = coupling.buf;
    const int same = (size_t)i.len == n * sizeof *from && (size_t)j.len == n * sizeof *to;
    for (size_t k = 0; same && k < n && status >= 0; k++) {
        status = potts ? gbs_builder_add_potts(b, from[k], to[k], strength[k], &err)
                       : gbs_builder_add_ising(b, from[k], to[k], strength[k], &err);
    }
    PyBuffer_Release(&i);
    PyBuffer_Release(&j);
    PyBuffer_Release(&coupling);
    if (!same) {
        PyErr_SetString(PyExc_ValueError, "i, j and J must have the same length");
        return NULL;
    }
    return done(status, &err);
}

static PyObject *build(PyObject *self, PyObject *arguments)
{
    int directed = 0;
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    gbs_builder *b = builder_of(self);
    if (b == NULL || !PyArg_ParseTuple(arguments, "p", &directed)) {
        return NULL;
    }
    if (directed) {
        gbs_builder_set_directed(b);
    }
    const gbs_status status = gbs_builder_build(b, &model, &err);
    if (status < 0) {
        return core_fail(status, &err);
    }
    gbs_builder_free(b);
    ((builder_object *)self)->builder = NULL;
    return core_new_model(model);
}

static PyMethodDef methods[] = {
    {"add", add_variables, METH_VARARGS, "add(arities): the number of the first"},
    {"name", name_variable, METH_VARARGS, "name(variable, text)"},
    {"labels", label_states, METH_VARARGS, "labels(variable, tuple)"},
    {"cpt", add_cpt, METH_VARARGS, "cpt(child, parents, p)"},
    {"factor", add_factor, METH_VARARGS, "factor(scope, weights)"},
    {"log_factor", add_log_factor, METH_VARARGS, "log_factor(scope, log-weights)"},
    {"quadratic", add_quadratic, METH_VARARGS, "quadratic(bits, scale, constant, linear, pairs)"},
    {"fields", add_fields, METH_VARARGS, "fields(h)"},
    {"couplings", add_couplings, METH_VARARGS, "couplings(potts, i, j, J)"},
    {"build", build, METH_VARARGS, "build(directed): the model"},
    {NULL, NULL, 0, NULL}};

static PyMethodDef functions[] = {{"Builder", new_builder, METH_NOARGS, "An empty model."},
                                  {NULL, NULL, 0, NULL}};

int core_add_builder(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)builder_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {.name = "gibbsite._core.BuilderType",
                               .basicsize = sizeof(builder_object),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    builder_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return builder_type == NULL ? -1 : PyModule_AddFunctions(module, functions);
}
