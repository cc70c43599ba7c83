/* SPDX-License-Identifier: Apache-2.0 */
/* Models and evidence. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct model_object {
    PyObject_HEAD gbs_model *model;
    void *owner; /* owner of the model; NULL: the object owns the model */
    void (*free_owner)(void *owner);
} model_object;

typedef struct evidence_object {
    PyObject_HEAD gbs_evidence *evidence;
    PyObject *model; /* object of the model, which must outlive the evidence */
} evidence_object;

static PyTypeObject *model_type, *evidence_type;

static void *allocate(PyTypeObject *type)
{
    return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static void release(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyObject *core_new_model(gbs_model *model)
{
    model_object *m = allocate(model_type);
    if (m == NULL) {
        gbs_model_free(model);
        return NULL;
    }
    m->model = model;
    return (PyObject *)m;
}

PyObject *core_lent_model(const gbs_model *model, void *owner, void (*free_owner)(void *owner))
{
    model_object *m = allocate(model_type);
    if (m == NULL) {
        free_owner(owner);
        return NULL;
    }
    m->model = (gbs_model *)(uintptr_t)model;
    m->owner = owner;
    m->free_owner = free_owner;
    return (PyObject *)m;
}

gbs_model *core_model(PyObject *object)
{
    if (!PyObject_TypeCheck(object, model_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a model");
        return NULL;
    }
    return ((model_object *)object)->model;
}

int core_evidence(PyObject *object, gbs_evidence **evidence)
{
    *evidence = NULL;
    if (object == Py_None) {
        return 0;
    }
    if (!PyObject_TypeCheck(object, evidence_type)) {
        PyErr_SetString(PyExc_TypeError, "expected evidence or None");
        return -1;
    }
    *evidence = ((evidence_object *)object)->evidence;
    return 0;
}

int core_take(core_asked *q, PyObject *model, PyObject *evidence, PyObject *options)
{
    q->model = core_model(model);
    return q->model == NULL || core_evidence(evidence, &q->evidence) < 0 ||
                   core_options(options, &q->options) < 0
               ? -1
               : 0;
}

/* ---- reading and writing --------------------------------------------------------------------- */

/* Keeps a warning until the call has the interpreter's lock again. */
static void keep_warning(void *context, const char *message)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    if (text == NULL || PyList_Append(context, text) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(text);
    PyGILState_Release(state);
}

static int is_interrupted(void *watch)
{
    return core_look(watch, NULL);
}

/* read(path or name, bytes or None, format, lenient, normalize_cpts, convention, diagonal, vartype,
 * offset, weight_scale, states, table_order, file_evidence, warnings) */
static PyObject *read_model(PyObject *self, PyObject *arguments)
{
    const char *path = NULL;
    Py_buffer bytes = {.buf = NULL};
    PyObject *warnings = NULL;
    core_watch watch = {.saved = NULL};
    gbs_read_options o = {.size = sizeof o,
                          .private_copy = 1,
                          .warn = keep_warning,
                          .stop = is_interrupted,
                          .stop_context = &watch};
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sz*zppzzzddO&zpO", &path, &bytes, &o.format, &o.lenient,
                          &o.normalize_cpts, &o.convention, &o.diagonal, &o.vartype, &o.offset,
                          &o.weight_scale, core_u32, &o.states, &o.table_order, &o.file_evidence,
                          &warnings)) {
        return NULL;
    }
    o.context = warnings;
    core_unlock(&watch, NULL);
    status = bytes.buf == NULL
                 ? gbs_model_read(path, &o, &model, &err)
                 : gbs_model_read_memory(path, bytes.buf, (size_t)bytes.len, &o, &model, &err);
    core_lock(&watch);
    if (bytes.obj != NULL) {
        PyBuffer_Release(&bytes);
    }
    if (core_settle(&watch, watch.interrupted ? GBS_ERR_STOPPED : status, &err) < 0) {
        gbs_model_free(model);
        return NULL;
    }
    return core_new_model(model);
}

static PyObject *model_write(PyObject *self, PyObject *arguments)
{
    const char *path = NULL;
    PyObject *warnings = NULL;
    gbs_write_options o = {.size = sizeof o, .warn = keep_warning};
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    if (!PyArg_ParseTuple(arguments, "szzO", &path, &o.format, &o.convention, &warnings)) {
        return NULL;
    }
    o.context = warnings;
    PyThreadState *saved = PyEval_SaveThread();
    status = gbs_model_write(((model_object *)self)->model, path, &o, &err);
    PyEval_RestoreThread(saved);
    return status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

/* ---- looking --------------------------------------------------------------------------------- */

static void model_dealloc(PyObject *self)
{
    const model_object *m = (const model_object *)self;
    if (m->owner != NULL) {
        m->free_owner(m->owner);
    } else {
        gbs_model_free(m->model);
    }
    release(self);
}

static PyObject *text_or_none(const char *text)
{
    return text == NULL ? Py_NewRef(Py_None)
                        : PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

static PyObject *model_shape(PyObject *self, PyObject *unused)
{
    const gbs_model *m = ((model_object *)self)->model;
    (void)unused;
    return Py_BuildValue("{s:I,s:n,s:N,s:N,s:s,s:n}", "n_variables", gbs_model_n_variables(m),
                         "n_factors", (Py_ssize_t)gbs_model_n_factors(m), "directed",
                         PyBool_FromLong(gbs_model_is_directed(m)), "normalized",
                         PyBool_FromLong(gbs_model_is_normalized(m)), "digest", gbs_model_digest(m),
                         "bytes", (Py_ssize_t)gbs_model_bytes(m));
}

static PyObject *model_offsets(PyObject *self, PyObject *unused)
{
    const gbs_model *m = ((model_object *)self)->model;
    const Py_ssize_t n = (Py_ssize_t)gbs_model_n_variables(m) + 1;
    (void)unused;
    return core_array((void *)(uintptr_t)gbs_model_state_offsets(m), self, "L", sizeof(size_t), 1,
                      &n, NULL);
}

static PyObject *model_name(PyObject *self, PyObject *arguments)
{
    uint32_t v = 0;
    return PyArg_ParseTuple(arguments, "O&", core_u32, &v)
               ? text_or_none(gbs_model_variable_name(((model_object *)self)->model, v))
               : NULL;
}

static PyObject *model_label(PyObject *self, PyObject *arguments)
{
    uint32_t v = 0;
    uint32_t a = 0;
    return PyArg_ParseTuple(arguments, "O&O&", core_u32, &v, core_u32, &a)
               ? text_or_none(gbs_model_state_label(((model_object *)self)->model, v, a))
               : NULL;
}

static PyObject *model_find(PyObject *self, PyObject *arguments)
{
    const char *text = NULL;
    uint32_t v = 0;
    gbs_error err = {GBS_OK, ""};
    if (!PyArg_ParseTuple(arguments, "s", &text)) {
        return NULL;
    }
    const gbs_status status =
        gbs_model_find_variable(((model_object *)self)->model, text, &v, &err);
    return status < 0 ? core_fail(status, &err) : PyLong_FromUnsignedLong(v);
}

static PyObject *model_find_state(PyObject *self, PyObject *arguments)
{
    const char *text = NULL;
    uint32_t v = 0;
    uint32_t a = 0;
    gbs_error err = {GBS_OK, ""};
    if (!PyArg_ParseTuple(arguments, "O&s", core_u32, &v, &text)) {
        return NULL;
    }
    const gbs_status status =
        gbs_model_find_state(((model_object *)self)->model, v, text, &a, &err);
    return status < 0 ? core_fail(status, &err) : PyLong_FromUnsignedLong(a);
}

static PyObject *model_factor(PyObject *self, PyObject *arguments)
{
    Py_ssize_t f = 0;
    uint32_t n = 0;
    const uint32_t *scope = NULL;
    const gbs_model *m = ((model_object *)self)->model;
    if (!PyArg_ParseTuple(arguments, "n", &f)) {
        return NULL;
    }
    if (f < 0 || (size_t)f >= gbs_model_n_factors(m)) {
        PyErr_SetString(PyExc_IndexError, "there is no such factor");
        return NULL;
    }
    const gbs_factor_kind kind = gbs_model_factor(m, (size_t)f, &n, &scope);
    PyObject *ids = PyTuple_New((Py_ssize_t)n);
    for (uint32_t i = 0; ids != NULL && i < n; i++) {
        PyObject *id = PyLong_FromUnsignedLong(scope[i]);
        if (id == NULL || PyTuple_SetItem(ids, (Py_ssize_t)i, id) < 0) {
            Py_CLEAR(ids);
        }
    }
    return ids == NULL ? NULL : Py_BuildValue("(sN)", gbs_factor_kind_name(kind), ids);
}

/* Returns the tied weights: (values, whether each is fixed). */
static PyObject *model_weights(PyObject *self, PyObject *unused)
{
    const gbs_model *m = ((model_object *)self)->model;
    const Py_ssize_t n = (Py_ssize_t)gbs_model_n_weights(m);
    double *value = malloc((size_t)n * sizeof *value + 1);
    int *fixed = malloc((size_t)n * sizeof *fixed + 1);
    (void)unused;
    if (value == NULL || fixed == NULL) {
        free(value);
        free(fixed);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        value[k] = gbs_model_weight(m, (uint32_t)k, &fixed[k]);
    }
    PyObject *values = core_vector(value, n);
    PyObject *flags = core_array(fixed, NULL, "i", sizeof *fixed, 1, &n, NULL);
    return Py_BuildValue("(NN)", values, flags);
}

static PyObject *model_log_density(PyObject *self, PyObject *states)
{
    const gbs_model *m = ((model_object *)self)->model;
    Py_ssize_t n = 0;
    uint32_t *state = core_ids(states, &n);
    PyObject *result = NULL;
    if (state == NULL) {
        return NULL;
    }
    int good = n == (Py_ssize_t)gbs_model_n_variables(m);
    for (Py_ssize_t v = 0; good && v < n; v++) {
        good = state[v] < gbs_model_arity(m, (uint32_t)v);
    }
    if (good) {
        result = PyFloat_FromDouble(gbs_model_log_density(m, state));
    } else {
        PyErr_SetString(PyExc_ValueError, "expected a state of each variable");
    }
    PyMem_Free(state);
    return result;
}

/* ---- evidence -------------------------------------------------------------------------------- */

static PyObject *new_evidence(PyObject *self, PyObject *model)
{
    gbs_error err = {GBS_OK, ""};
    gbs_model *m = core_model(model);
    (void)self;
    evidence_object *e = m == NULL ? NULL : allocate(evidence_type);
    if (e == NULL) {
        return NULL;
    }
    e->model = Py_NewRef(model);
    const gbs_status status = gbs_evidence_new(m, &e->evidence, &err);
    if (status < 0) {
        Py_DECREF(e);
        return core_fail(status, &err);
    }
    return (PyObject *)e;
}

static void evidence_dealloc(PyObject *self)
{
    evidence_object *e = (evidence_object *)self;
    gbs_evidence_free(e->evidence);
    Py_XDECREF(e->model);
    release(self);
}

static PyObject *evidence_observe(PyObject *self, PyObject *arguments)
{
    uint32_t v = 0;
    uint32_t a = 0;
    gbs_error err = {GBS_OK, ""};
    if (!PyArg_ParseTuple(arguments, "O&O&", core_u32, &v, core_u32, &a)) {
        return NULL;
    }
    const gbs_status status = gbs_evidence_observe(((evidence_object *)self)->evidence, v, a, &err);
    return status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

static PyObject *evidence_likelihood(PyObject *self, PyObject *arguments)
{
    uint32_t v = 0;
    PyObject *sequence = NULL;
    Py_ssize_t n = 0;
    gbs_error err = {GBS_OK, ""};
    evidence_object *e = (evidence_object *)self;
    if (!PyArg_ParseTuple(arguments, "O&O", core_u32, &v, &sequence)) {
        return NULL;
    }
    double *x = core_doubles(sequence, &n);
    if (x == NULL) {
        return NULL;
    }
    if (n != (Py_ssize_t)gbs_model_arity(core_model(e->model), v)) {
        PyMem_Free(x);
        PyErr_SetString(PyExc_ValueError, "expected a likelihood of each state");
        return NULL;
    }
    const gbs_status status = gbs_evidence_likelihood(e->evidence, v, x, &err);
    PyMem_Free(x);
    return status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

static PyObject *evidence_add(PyObject *self, PyObject *arguments)
{
    const char *text = NULL;
    gbs_error err = {GBS_OK, ""};
    if (!PyArg_ParseTuple(arguments, "s", &text)) {
        return NULL;
    }
    const gbs_status status = gbs_evidence_add(((evidence_object *)self)->evidence, text, &err);
    return status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

/* Returns the variables that are observed, with their states. */
static PyObject *evidence_observed(const evidence_object *e)
{
    const uint32_t n = gbs_model_n_variables(core_model(e->model));
    PyObject *dict = PyDict_New();
    for (uint32_t v = 0; dict != NULL && v < n; v++) {
        uint32_t a = 0;
        if (!gbs_evidence_state(e->evidence, v, &a)) {
            continue;
        }
        PyObject *key = PyLong_FromUnsignedLong(v);
        PyObject *state = PyLong_FromUnsignedLong(a);
        if (key == NULL || state == NULL || PyDict_SetItem(dict, key, state) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(key);
        Py_XDECREF(state);
    }
    return dict;
}

/* read(path): adds the observations in the file of a model */
static PyObject *evidence_read(PyObject *self, PyObject *arguments)
{
    const char *path = NULL;
    gbs_error err = {GBS_OK, ""};
    const evidence_object *e = (const evidence_object *)self;
    const gbs_read_options o = {.size = sizeof o, .evidence_format = "xmlbif"};
    if (!PyArg_ParseTuple(arguments, "s", &path)) {
        return NULL;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const gbs_status status = gbs_evidence_read(e->evidence, path, 0, &o, &err);
    PyEval_RestoreThread(saved);
    return status < 0 ? core_fail(status, &err) : evidence_observed(e);
}

/* ---- types ----------------------------------------------------------------------------------- */

static PyMethodDef model_methods[] = {
    {"write", model_write, METH_VARARGS, "write(path, format, convention, warnings)"},
    {"shape", model_shape, METH_NOARGS, "Counts and the digest, as a dict."},
    {"offsets", model_offsets, METH_NOARGS, "[n_variables + 1] where the states of each begin."},
    {"name", model_name, METH_VARARGS, "name(variable) or None"},
    {"label", model_label, METH_VARARGS, "label(variable, state) or None"},
    {"find", model_find, METH_VARARGS, "find(text): the variable of a name or number"},
    {"find_state", model_find_state, METH_VARARGS, "find_state(variable, text)"},
    {"factor", model_factor, METH_VARARGS, "factor(i): its kind and variables"},
    {"weights", model_weights, METH_NOARGS, "Tied weights, and whether each is fixed."},
    {"log_density", model_log_density, METH_O, "log_density(states), unnormalised"},
    {NULL, NULL, 0, NULL}};

static PyMethodDef evidence_methods[] = {
    {"observe", evidence_observe, METH_VARARGS, "observe(variable, state)"},
    {"likelihood", evidence_likelihood, METH_VARARGS, "likelihood(variable, numbers)"},
    {"add", evidence_add, METH_VARARGS, "add(text), as on the command line"},
    {"read", evidence_read, METH_VARARGS, "read(path): {variable: state} of an XMLBIF file"},
    {NULL, NULL, 0, NULL}};

static PyMethodDef functions[] = {
    {"read", read_model, METH_VARARGS, "Read a model from a file or from bytes."},
    {"Evidence", new_evidence, METH_O, "Evidence(model)"},
    {NULL, NULL, 0, NULL}};

int core_add_model(PyObject *module)
{
    static PyType_Slot model_slots[] = {
        {Py_tp_dealloc, (void *)model_dealloc}, {Py_tp_methods, model_methods}, {0, NULL}};
    static PyType_Spec model_spec = {.name = "gibbsite._core.Model",
                                     .basicsize = sizeof(model_object),
                                     .flags =
                                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     .slots = model_slots};
    static PyType_Slot evidence_slots[] = {
        {Py_tp_dealloc, (void *)evidence_dealloc}, {Py_tp_methods, evidence_methods}, {0, NULL}};
    static PyType_Spec evidence_spec = {.name = "gibbsite._core.EvidenceType",
                                        .basicsize = sizeof(evidence_object),
                                        .flags =
                                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                        .slots = evidence_slots};
    model_type = (PyTypeObject *)PyType_FromSpec(&model_spec);
    evidence_type = model_type == NULL ? NULL : (PyTypeObject *)PyType_FromSpec(&evidence_spec);
    return evidence_type == NULL ||
                   PyModule_AddObjectRef(module, "Model", (PyObject *)model_type) < 0
               ? -1
               : PyModule_AddFunctions(module, functions);
}
