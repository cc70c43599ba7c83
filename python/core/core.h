/* SPDX-License-Identifier: Apache-2.0 */
/* The module gibbsite._core calls the library with numbers and buffers from Python's objects. The
 * Python code of the package adds names, labels and results. The module uses only the limited API
 * of Python 3.11 and the public headers of the library. Arrays are passed by the buffer protocol,
 * so that no build needs NumPy. */
#ifndef GIBBSITE_PYTHON_CORE_H
#define GIBBSITE_PYTHON_CORE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "gibbsite/gibbsite.h"
#include "gibbsite/learn.h"
#include "gibbsite/question.h"

/* ---- core.c: errors, progress, what calls say --------------------------------------------- */

/* Sets the exception that corresponds to a status. @return NULL. */
PyObject *core_fail(gbs_status status, const gbs_error *err);

/* @return the text of an output in memory, which is freed, as a str; if `written` is a failure,
 * NULL with its exception. @param output NULL if it could not be opened. */
PyObject *core_written(gbs_status written, gbs_output *output, gbs_error *err);

/* @return whether an object is a tuple, which PyArg_ParseTuple() needs; if not, a TypeError is set.
 */
int core_is_tuple(PyObject *object);

/* Sets the exception for an unknown option. @return -1. */
int core_fail_option(const gbs_error *err);

/* The state of a call that runs without the interpreter's lock, and looks for signals from time to
 * time. */
typedef struct core_watch {
    PyThreadState *saved;
    PyObject *progress; /* the caller's function, borrowed; it is called with a tuple and returns
                           true to stop; NULL: no function */
    double told_s;
    int interrupted; /* whether a signal ended the call; its exception was cleared */
    int raised;      /* whether an exception is set, which ends the call */
} core_watch;

void core_unlock(core_watch *watch, PyObject *progress);
void core_lock(core_watch *watch);
/* The callback for gbs_run_callbacks.progress and similar callbacks. @param watch the watch that
 * the callback's context contains. @return whether the call must stop. */
int core_look(core_watch *watch, const gbs_progress *progress);

/* The callback for gbs_run_callbacks.progress whose context is the watch itself. */
int core_on_progress(void *watch, const gbs_progress *progress);
/* Ends a call of the library: an interrupt or a failure becomes an exception.
 * @return -1 with an exception. */
int core_settle(const core_watch *watch, gbs_status status, const gbs_error *err);

/* Types of members of a report: uint64_t, uint64_t as a flag, int as a flag, uint32_t, double,
 * char[]. */
enum {
    CORE_WIDE = 'K',
    CORE_WIDE_FLAG = 'B',
    CORE_FLAG = 'b',
    CORE_COUNT = 'I',
    CORE_REAL = 'd',
    CORE_TEXT = 's',
};
typedef struct core_field {
    const char *name; /* NULL after the last member */
    char kind;
    size_t at;
} core_field;

/* @return a dict of members of a report. */
PyObject *core_dict(const void *report, const core_field *fields);
/* Puts a value into a dict, and takes over the caller's reference to the value. @param value may be
 * NULL if an exception is set. @return 0, or -1 with an exception. */
int core_put(PyObject *dict, const char *name, PyObject *value);

/* Converters for "O&" of PyArg_ParseTuple(), whose formats "I" and "K" do not check for overflow.
 * @param out uint32_t or uint64_t. @return 1, or 0 with an exception. */
int core_u32(PyObject *object, void *out);
int core_u64(PyObject *object, void *out);
/* @return the text of a str, borrowed; NULL with an exception for other objects, and for a text
 * that contains a NUL. */
const char *core_text(PyObject *object);

/* Convert sequences of numbers. @return memory of PyMem_Malloc() for at least one element, or NULL
 * with an exception. */
uint32_t *core_ids(PyObject *sequence, Py_ssize_t *n);
double *core_doubles(PyObject *sequence, Py_ssize_t *n);

/* ---- options.c ----------------------------------------------------------------------------- */

/* @param options a dict of names and values, or None. @return 0, or -1 with an exception. */
int core_options(PyObject *options, gbs_run_options *out);
/* Fills the options of a question that has its own struct: first the defaults, then the options in
 * a dict. @param run NULL, or the struct for options that a run also has. */
int core_question(const char *name, PyObject *options, void *out, size_t size,
                  gbs_run_options *run);
PyObject *core_list_options(PyObject *self, PyObject *name);

/* ---- array.c: memory that Python may look at without a copy ------------------------------- */

/* Makes an array. @param data memory of malloc(), which the array frees, even on failure; or memory
 * of `owner`, which the array keeps alive. @param format format of Python's struct module. @param
 * strides NULL: the last index varies fastest. */
PyObject *core_array(void *data, PyObject *owner, const char *format, Py_ssize_t item, int n_dims,
                     const Py_ssize_t *shape, const Py_ssize_t *strides);
PyObject *core_vector(double *data, Py_ssize_t n);
PyObject *core_states(uint32_t *state, Py_ssize_t n);

/* ---- model.c ------------------------------------------------------------------------------ */

/* @return the model, borrowed from the object, or NULL with an exception. */
gbs_model *core_model(PyObject *object);
/* @param object an Evidence, or None. @return 0, or -1 with an exception. */
int core_evidence(PyObject *object, gbs_evidence **evidence);

/* The model, evidence and options that most questions take. */
typedef struct core_asked {
    gbs_model *model;
    gbs_evidence *evidence;
    gbs_run_options options;
    PyObject *progress;
} core_asked;

/* @return 0, or -1 with an exception. */
int core_take(core_asked *q, PyObject *model, PyObject *evidence, PyObject *options);

int core_add_array(PyObject *module);
int core_add_model(PyObject *module);
int core_add_builder(PyObject *module);

PyObject *core_new_model(gbs_model *model);
/* Makes an object of a model that belongs to `owner`. The object frees the owner, even on failure.
 */
PyObject *core_lent_model(const gbs_model *model, void *owner, void (*free_owner)(void *owner));

/* ---- learn.c: how learning went -------------------------------------------------------------- */

enum {
    CORE_POINT = 4
}; /* number of values of a point on a learning curve: iteration, objective, gradient, held-out rows
    */
typedef struct core_curve {
    double *value; /* [n][CORE_POINT] values of the points */
    size_t n, capacity;
    int lost; /* whether points were lost because memory was short */
} core_curve;

/* The callback for gbs_learn_options.point and similar options. @param context a core_curve. */
void core_add_point(void *context, const gbs_learn_point *point);
/* @return the array [n][CORE_POINT], which takes over the memory of the curve. */
PyObject *core_give_curve(core_curve *curve);

/* @return the summary of an executed run, as JSON in a str. */
PyObject *core_summary(const gbs_run *run, const gbs_run_options *options,
                       const gbs_evidence *evidence);

/* ---- questions ------------------------------------------------------------------------------ */

extern PyMethodDef core_run_methods[];   /* run.c: runs */
extern PyMethodDef core_ask_methods[];   /* ask.c: states, ln Z, cases, reports */
extern PyMethodDef core_trust_methods[]; /* trust.c: certificates, scans, sensitivity, diagnoses */
extern PyMethodDef core_learn_methods[]; /* learn.c: parameters of a model from data */
extern PyMethodDef core_rows_methods[];  /* rows.c: models from rows of states */
extern PyMethodDef core_table_methods[]; /* tables.c: tables in files */
extern PyMethodDef core_make_methods[];  /* make.c: models ground and generated */
extern PyMethodDef core_label_methods[]; /* label.c: sequences */
extern PyMethodDef core_picture_methods[]; /* picture.c: noisy pictures, and regions */

#endif
