/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite._core: the library's calls on Python's objects, by numbers and buffers. Names, labels
 * and results are made of them in Python. Written to the limited API of Python 3.11, on the public
 * headers alone; arrays cross by the buffer protocol, so that NumPy is not needed to build. */
#ifndef GIBBSITE_PYTHON_CORE_H
#define GIBBSITE_PYTHON_CORE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "gibbsite/gibbsite.h"

/* ---- core.c: errors, options, progress --------------------------------------------------- */

/* Sets the exception that a status stands for. @return NULL. */
PyObject *core_fail(gbs_status status, const gbs_error *err);

/* @param options a dict of names and values, or None. @return 0, or -1 with an exception. */
int core_options(PyObject *options, gbs_run_options *out);

/* A call that runs without the interpreter's lock, and looks up from time to time. */
typedef struct core_watch {
    PyThreadState *saved;
    PyObject *progress; /* borrowed; called with a tuple, returns true to stop; NULL: none */
    double told_s;
    int interrupted; /* by a signal, whose exception was taken back */
    int raised;      /* an exception is set, and ends the call */
} core_watch;

void core_unlock(core_watch *watch, PyObject *progress);
void core_lock(core_watch *watch);
/* For gbs_run_callbacks.progress and its like. @param watch in the context. @return whether to
 * stop. */
int core_look(core_watch *watch, const gbs_progress *progress);

/* Sequences of numbers. @return PyMem memory, of at least one element, or NULL with an exception.
 */
uint32_t *core_ids(PyObject *sequence, Py_ssize_t *n);
double *core_doubles(PyObject *sequence, Py_ssize_t *n);

/* ---- array.c: memory that Python may look at without a copy ------------------------------- */

/* @param data of malloc(), which the array frees; or memory of `owner`, which it keeps alive. On
 * failure data is freed as well. @param format of the struct module. @param strides NULL: the last
 * index is the fastest. */
PyObject *core_array(void *data, PyObject *owner, const char *format, Py_ssize_t item, int n_dims,
                     const Py_ssize_t *shape, const Py_ssize_t *strides);
PyObject *core_vector(double *data, Py_ssize_t n);

/* ---- model.c ------------------------------------------------------------------------------ */

/* @return the model, borrowed from the object, or NULL with an exception. */
gbs_model *core_model(PyObject *object);
/* @param object of Evidence, or None. @return 0, or -1 with an exception. */
int core_evidence(PyObject *object, gbs_evidence **evidence);

int core_add_array(PyObject *module);
int core_add_model(PyObject *module);
int core_add_builder(PyObject *module);

/* ---- run.c, ask.c -------------------------------------------------------------------------- */

extern PyMethodDef core_run_methods[];
extern PyMethodDef core_ask_methods[];
PyObject *core_new_model(gbs_model *model);

#endif
