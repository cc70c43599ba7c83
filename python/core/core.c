/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include <string.h>
#include <time.h>

#define LOOK_S 0.05

static PyObject *error_type, *argument_type, *option_type;

/* Set if Ctrl-C ended the last call of this thread and the call still returned an answer. */
static _Thread_local int was_interrupted;

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
    case GBS_ERR_NOT_FOUND:
        return "not found";
    default:
        return "ok";
    }
}

static PyObject *fail_as(PyObject *type, gbs_status status, const gbs_error *err)
{
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

PyObject *core_fail(gbs_status status, const gbs_error *err)
{
    return fail_as(status == GBS_ERR_ARGUMENT ? argument_type : error_type, status, err);
}

int core_is_tuple(PyObject *object)
{
    if (!PyTuple_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "expected a tuple");
    }
    return PyTuple_Check(object);
}

PyObject *core_written(gbs_status written, gbs_output *output, gbs_error *err)
{
    char *text = NULL;
    size_t n = 0;
    if (written < 0) {
        gbs_output_discard(output);
        return core_fail(written, err);
    }
    const gbs_status status = gbs_output_take(output, &text, &n, err);
    PyObject *result =
        status < 0 ? core_fail(status, err) : PyUnicode_DecodeUTF8(text, (Py_ssize_t)n, "replace");
    gbs_free(text);
    return result;
}

int core_fail_option(const gbs_error *err)
{
    (void)fail_as(option_type, GBS_ERR_ARGUMENT, err);
    return -1;
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
    was_interrupted = 0;
    watch->saved = PyEval_SaveThread();
}

void core_lock(core_watch *watch)
{
    PyEval_RestoreThread(watch->saved);
}

/* Notes that an exception is set. A KeyboardInterrupt is cleared, because the call may still return
 * the results that it has found. @return 1, which stops the call. */
static int note_exception(core_watch *watch)
{
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_Clear();
        watch->interrupted = 1;
    } else {
        watch->raised = 1;
    }
    return 1;
}

/* Calls the progress function. @return whether the call must stop. */
static int tell(core_watch *watch, const gbs_progress *p)
{
    PyObject *answer = PyObject_CallFunction(
        watch->progress, "(OKKKddddzd)", p->burning_in ? Py_True : Py_False,
        (unsigned long long)p->pass, (unsigned long long)p->passes, (unsigned long long)p->updates,
        p->elapsed_s, p->worst_error, p->target_error, p->rhat, p->work, p->share);
    const int stop = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return stop < 0 ? note_exception(watch) : stop;
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
        stop = note_exception(watch);
    } else if (watch->progress != NULL && progress != NULL) {
        stop = tell(watch, progress);
    }
    watch->saved = PyEval_SaveThread();
    return stop;
}

int core_on_progress(void *watch, const gbs_progress *progress)
{
    return core_look(watch, progress);
}

int core_settle(const core_watch *watch, gbs_status status, const gbs_error *err)
{
    if (watch->raised) {
        return -1;
    }
    if (status == GBS_ERR_STOPPED && watch->interrupted) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        return -1;
    }
    if (status == GBS_ERR_MEMORY && err->message[0] == '\0') {
        (void)PyErr_NoMemory();
    } else if (status < 0) {
        (void)core_fail(status, err);
    }
    was_interrupted = status >= 0 && watch->interrupted;
    return status < 0 ? -1 : 0;
}

/* ---- what calls say ---------------------------------------------------------------------------
 */

static PyObject *member(const char *at, char kind)
{
    uint64_t wide = 0;
    uint32_t count = 0;
    int whole = 0;
    double real = 0.0;
    switch (kind) {
    case CORE_WIDE:
    case CORE_WIDE_FLAG:
        memcpy(&wide, at, sizeof wide);
        return kind == CORE_WIDE ? PyLong_FromUnsignedLongLong(wide) : PyBool_FromLong(wide != 0);
    case CORE_COUNT:
        memcpy(&count, at, sizeof count);
        return PyLong_FromUnsignedLong(count);
    case CORE_FLAG:
        memcpy(&whole, at, sizeof whole);
        return PyBool_FromLong(whole);
    case CORE_REAL:
        memcpy(&real, at, sizeof real);
        return PyFloat_FromDouble(real);
    default:
        return PyUnicode_DecodeUTF8(at, (Py_ssize_t)strlen(at), "replace");
    }
}

PyObject *core_dict(const void *report, const core_field *fields)
{
    PyObject *dict = PyDict_New();
    for (; dict != NULL && fields->name != NULL; fields++) {
        if (core_put(dict, fields->name, member((const char *)report + fields->at, fields->kind)) <
            0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

int core_put(PyObject *dict, const char *name, PyObject *value)
{
    const int result = value == NULL ? -1 : PyDict_SetItemString(dict, name, value);
    Py_XDECREF(value);
    return result;
}

/* ---- numbers and texts ----------------------------------------------------------------------- */

static int whole(PyObject *object, unsigned long long most, unsigned long long *value)
{
    PyObject *number = PyNumber_Index(object);
    *value = number == NULL ? 0 : PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() == NULL && *value > most) {
        (void)PyErr_Format(PyExc_OverflowError, "found %S, expected at most %llu", object, most);
    }
    Py_XDECREF(number);
    return PyErr_Occurred() == NULL;
}

int core_u32(PyObject *object, void *out)
{
    unsigned long long value = 0;
    const int good = whole(object, UINT32_MAX, &value);
    *(uint32_t *)out = (uint32_t)value;
    return good;
}

int core_u64(PyObject *object, void *out)
{
    unsigned long long value = 0;
    const int good = whole(object, UINT64_MAX, &value);
    *(uint64_t *)out = value;
    return good;
}

const char *core_text(PyObject *object)
{
    Py_ssize_t n = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &n);
    if (text != NULL && strlen(text) != (size_t)n) {
        (void)PyErr_Format(PyExc_ValueError, "found a NUL character in %R, expected none", object);
        return NULL;
    }
    return text;
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
        const int good = item != NULL && core_u32(item, &id[i]);
        Py_XDECREF(item);
        if (!good) {
            PyMem_Free(id);
            return NULL;
        }
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

/* interrupted(): returns whether Ctrl-C ended the last call, and clears this flag. */
static PyObject *interrupted(PyObject *self, PyObject *unused)
{
    const int was = was_interrupted;
    (void)self;
    (void)unused;
    was_interrupted = 0;
    return PyBool_FromLong(was);
}

static PyMethodDef methods[] = {
    {"interrupted", interrupted, METH_NOARGS, "Whether Ctrl-C ended the last call, asked once."},
    {"options", core_list_options, METH_O, "The options of a run (None) or of a question."},
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
        bases = argument_type == NULL ? NULL : PyTuple_Pack(2, argument_type, PyExc_TypeError);
        option_type =
            bases == NULL
                ? NULL
                : PyErr_NewExceptionWithDoc("gibbsite.OptionError",
                                            "An option that a question does not have; also a "
                                            "TypeError.",
                                            bases, NULL);
        Py_XDECREF(bases);
    }
    return option_type == NULL || PyModule_AddObjectRef(module, "Error", error_type) < 0 ||
                   PyModule_AddObjectRef(module, "ArgumentError", argument_type) < 0 ||
                   PyModule_AddObjectRef(module, "OptionError", option_type) < 0 ||
                   PyModule_AddStringConstant(module, "version", gbs_version()) < 0 ||
                   PyModule_AddStringConstant(module, "formats", gbs_model_formats()) < 0
               ? -1
               : 0;
}

static int execute(PyObject *module)
{
    PyMethodDef *const functions[] = {core_run_methods,   core_ask_methods,     core_trust_methods,
                                      core_learn_methods, core_rows_methods,    core_make_methods,
                                      core_label_methods, core_picture_methods, core_table_methods};
    int failed = add_errors(module) < 0 || core_add_array(module) < 0 ||
                 core_add_model(module) < 0 || core_add_builder(module) < 0;
    for (size_t i = 0; !failed && i < sizeof functions / sizeof functions[0]; i++) {
        failed = PyModule_AddFunctions(module, functions[i]) < 0;
    }
    return failed ? -1 : 0;
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
