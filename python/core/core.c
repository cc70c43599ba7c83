/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <string.h>
#include <time.h>

#define LOOK_S 0.05

static PyObject *error_type, *argument_type;

/* ---- errors ---------------------------------------------------------------------------------- */

static const char *status_name(gbs_status status)
{
    switch (status) {
    case GBS_ERR_MEMORY:
        return "memory";
    case GBS_ERR_ARGUMENT:
        return "argument";
    case GBS_ERR_FORMAT:
        return "format";
    case GBS_ERR_IO:
        return "io";
    case GBS_ERR_STATE:
        return "state";
    case GBS_ERR_LIMIT:
        return "limit";
    case GBS_ERR_IMPOSSIBLE:
        return "impossible";
    case GBS_ERR_UNSUPPORTED:
        return "unsupported";
    case GBS_ERR_STOPPED:
        return "stopped";
    default:
        return "ok";
    }
}

PyObject *core_fail(gbs_status status, const gbs_error *err)
{
    PyObject *type = status == GBS_ERR_ARGUMENT ? argument_type : error_type;
    PyObject *text =
        PyUnicode_DecodeUTF8(err->message, (Py_ssize_t)strlen(err->message), "replace");
    PyObject *error = text == NULL ? NULL : PyObject_CallFunctionObjArgs(type, text, NULL);
    PyObject *name = error == NULL ? NULL : PyUnicode_FromString(status_name(status));
    if (name != NULL && PyObject_SetAttrString(error, "status", name) == 0) {
        PyErr_SetObject(type, error);
    }
    Py_XDECREF(name);
    Py_XDECREF(error);
    Py_XDECREF(text);
    return NULL;
}

/* ---- options --------------------------------------------------------------------------------- */

static int set_option(gbs_run_options *options, PyObject *name, PyObject *value)
{
    gbs_error err = {GBS_OK, ""};
    PyObject *text = value == Py_True    ? PyUnicode_FromString("yes")
                     : value == Py_False ? PyUnicode_FromString("no")
                                         : PyObject_Str(value);
    const char *option = PyUnicode_AsUTF8AndSize(name, NULL);
    const char *set_to = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, NULL);
    int result = -1;
    if (option != NULL && set_to != NULL) {
        const gbs_status status = gbs_option_set(options, option, set_to, &err);
        result = status < 0 ? -1 : 0;
        if (status < 0) {
            (void)core_fail(status, &err);
        }
    }
    Py_XDECREF(text);
    return result;
}

int core_options(PyObject *options, gbs_run_options *out)
{
    PyObject *name = NULL;
    PyObject *value = NULL;
    Py_ssize_t at = 0;
    *out = gbs_run_options_default();
    if (options == Py_None) {
        return 0;
    }
    if (!PyDict_Check(options)) {
        PyErr_SetString(PyExc_TypeError, "options must be a dict");
        return -1;
    }
    while (PyDict_Next(options, &at, &name, &value)) {
        if (set_option(out, name, value) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *describe_option(const gbs_option *o)
{
    static const char *const kinds[] = {"choice", "flag", "count", "size", "real", "duration"};
    char text[64] = "";
    const gbs_run_options defaults = gbs_run_options_default();
    if (gbs_option_get(&defaults, o->name, text, sizeof text, NULL) < 0) {
        text[0] = '\0';
    }
    return Py_BuildValue("{s:s,s:s,s:s,s:z,s:s}", "name", o->field, "kind", kinds[o->kind], "help",
                         o->help, "choices", o->choices, "default", text);
}

static PyObject *list_options(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)unused;
    for (size_t i = 0; list != NULL && i < gbs_option_count(); i++) {
        PyObject *one = describe_option(gbs_option_at(i));
        if (one == NULL || PyList_Append(list, one) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(one);
    }
    return list;
}

/* ---- long calls ------------------------------------------------------------------------------ */

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void core_unlock(core_watch *watch, PyObject *progress)
{
    *watch = (core_watch){.progress = progress == Py_None ? NULL : progress, .told_s = now_s()};
    watch->saved = PyEval_SaveThread();
}

void core_lock(core_watch *watch)
{
    PyEval_RestoreThread(watch->saved);
}

/* @return whether to stop. */
static int tell(core_watch *watch, const gbs_progress *p)
{
    PyObject *answer = PyObject_CallFunction(
        watch->progress, "(OKKKdddd)", p->burning_in ? Py_True : Py_False,
        (unsigned long long)p->pass, (unsigned long long)p->passes, (unsigned long long)p->updates,
        p->elapsed_s, p->worst_error, p->target_error, p->rhat);
    const int stop = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    watch->raised = stop < 0;
    return stop != 0;
}

int core_look(core_watch *watch, const gbs_progress *progress)
{
    const double now = now_s();
    int stop = watch->interrupted || watch->raised;
    if (stop || now - watch->told_s < LOOK_S) {
        return stop;
    }
    watch->told_s = now;
    PyEval_RestoreThread(watch->saved);
    if (PyErr_CheckSignals() < 0) {
        if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
            PyErr_Clear();
            watch->interrupted = 1;
        } else {
            watch->raised = 1;
        }
        stop = 1;
    } else if (watch->progress != NULL) {
        stop = tell(watch, progress);
    }
    watch->saved = PyEval_SaveThread();
    return stop;
}

/* ---- sequences ------------------------------------------------------------------------------- */

uint32_t *core_ids(PyObject *sequence, Py_ssize_t *n)
{
    *n = PySequence_Size(sequence);
    uint32_t *id = *n < 0 ? NULL : PyMem_Calloc((size_t)*n + 1, sizeof *id);
    if (*n >= 0 && id == NULL) {
        (void)PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; id != NULL && i < *n; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        const unsigned long value = item == NULL ? 0 : PyLong_AsUnsignedLong(item);
        Py_XDECREF(item);
        if (PyErr_Occurred() == NULL && value > UINT32_MAX) {
            PyErr_SetString(PyExc_OverflowError, "a number is beyond 2^32 - 1");
        }
        if (PyErr_Occurred() != NULL) {
            PyMem_Free(id);
            return NULL;
        }
        id[i] = (uint32_t)value;
    }
    return id;
}

double *core_doubles(PyObject *sequence, Py_ssize_t *n)
{
    *n = PySequence_Size(sequence);
    double *x = *n < 0 ? NULL : PyMem_Calloc((size_t)*n + 1, sizeof *x);
    if (*n >= 0 && x == NULL) {
        (void)PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; x != NULL && i < *n; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        x[i] = item == NULL ? 0.0 : PyFloat_AsDouble(item);
        Py_XDECREF(item);
        if (PyErr_Occurred() != NULL) {
            PyMem_Free(x);
            return NULL;
        }
    }
    return x;
}

/* ---- the module ------------------------------------------------------------------------------ */

static PyMethodDef methods[] = {
    {"options", list_options, METH_NOARGS, "The options of a run: a list of dicts."},
    {NULL, NULL, 0, NULL}};

static int add_errors(PyObject *module)
{
    if (error_type == NULL) {
        error_type = PyErr_NewExceptionWithDoc(
            "gibbsite.Error",
            "What the library says went wrong; .status is a word: 'format', 'limit', ...", NULL,
            NULL);
        PyObject *bases = error_type == NULL ? NULL : PyTuple_Pack(2, error_type, PyExc_ValueError);
        argument_type = bases == NULL
                            ? NULL
                            : PyErr_NewExceptionWithDoc(
                                  "gibbsite.ArgumentError",
                                  "A wrong argument or option; also a ValueError.", bases, NULL);
        Py_XDECREF(bases);
    }
    return argument_type == NULL || PyModule_AddObjectRef(module, "Error", error_type) < 0 ||
                   PyModule_AddObjectRef(module, "ArgumentError", argument_type) < 0 ||
                   PyModule_AddStringConstant(module, "version", gbs_version()) < 0 ||
                   PyModule_AddStringConstant(module, "formats", gbs_model_formats()) < 0
               ? -1
               : 0;
}

static int execute(PyObject *module)
{
    return add_errors(module) < 0 || core_add_array(module) < 0 || core_add_model(module) < 0 ||
                   core_add_builder(module) < 0 ||
                   PyModule_AddFunctions(module, core_run_methods) < 0 ||
                   PyModule_AddFunctions(module, core_ask_methods) < 0
               ? -1
               : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "gibbsite._core",
                                        .m_doc = "The library by numbers and buffers.",
                                        .m_methods = methods, .m_slots = slots};

PyMODINIT_FUNC PyInit__core(void); /* NOLINT(readability-identifier-naming) */
PyMODINIT_FUNC PyInit__core(void)  /* NOLINT(readability-identifier-naming) */
{
    return PyModuleDef_Init(&definition);
}
