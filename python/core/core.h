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
#include "gibbsite/learn.h"
#include "gibbsite/question.h"

/* ---- core.c: errors, progress, what calls say --------------------------------------------- */

/* Sets the exception that a status stands for. @return NULL. */
PyObject *core_fail(gbs_status status, const gbs_error *err);

/* Whether an object is a tuple, whose parts PyArg_ParseTuple() takes; else sets a TypeError. */
int core_is_tuple(PyObject *object);

/* Sets the exception of an option that there is not. @return -1. */
int core_fail_option(const gbs_error *err);

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
/* The callback for gbs_run_callbacks.progress and its like.
 * @param watch in the context.
 * @return whether to stop. */
int core_look(core_watch *watch, const gbs_progress *progress);

/* The callback for gbs_run_callbacks.progress whose context is the watch itself. */
int core_on_progress(void *watch, const gbs_progress *progress);
/* Ends a call of the library: an interrupt or a failure becomes an exception.
 * @return -1 with an exception. */
int core_settle(const core_watch *watch, gbs_status status, const gbs_error *err);

/* A member of a report: uint64_t, that or an int as a flag, uint32_t, double, char[]. */
enum {
    CORE_WIDE = 'K',
    CORE_WIDE_FLAG = 'B',
    CORE_FLAG = 'b',
    CORE_COUNT = 'I',
    CORE_REAL = 'd',
    CORE_TEXT = 's',
};
typedef struct core_field {
    const char *name; /* NULL: behind the last */
    char kind;
    size_t at;
} core_field;

/* @return a dict of members of a report. */
PyObject *core_dict(const void *report, const core_field *fields);
/* Takes the reference to value, which may be NULL with an exception. @return 0, or -1. */
int core_put(PyObject *dict, const char *name, PyObject *value);

/* Converters for "O&" of PyArg_ParseTuple(), as its own "I" and "K" cut what does not fit. @param
 * out uint32_t or uint64_t. @return 1, or 0 with an exception. */
int core_u32(PyObject *object, void *out);
int core_u64(PyObject *object, void *out);
/* @return the text of a str, borrowed; NULL with an exception, also for a NUL inside of it. */
const char *core_text(PyObject *object);

/* Convert sequences of numbers.
 * @return PyMem memory, of at least one element, or NULL with an exception. */
uint32_t *core_ids(PyObject *sequence, Py_ssize_t *n);
double *core_doubles(PyObject *sequence, Py_ssize_t *n);

/* ---- options.c ----------------------------------------------------------------------------- */

/* @param options a dict of names and values, or None. @return 0, or -1 with an exception. */
int core_options(PyObject *options, gbs_run_options *out);
/* The options of a question with a struct of its own: its defaults, then what a dict says.
 * @param run NULL, or where options that a run has, too, go. */
int core_question(const char *name, PyObject *options, void *out, size_t size,
                  gbs_run_options *run);
PyObject *core_list_options(PyObject *self, PyObject *name);

/* ---- array.c: memory that Python may look at without a copy ------------------------------- */

/* @param data of malloc(), which the array frees; or memory of `owner`, which it keeps alive. On
 * failure data is freed, too. @param format of the struct module. @param strides NULL: the last
 * index is the fastest. */
PyObject *core_array(void *data, PyObject *owner, const char *format, Py_ssize_t item, int n_dims,
                     const Py_ssize_t *shape, const Py_ssize_t *strides);
PyObject *core_vector(double *data, Py_ssize_t n);
PyObject *core_states(uint32_t *state, Py_ssize_t n);

/* ---- model.c ------------------------------------------------------------------------------ */

/* @return the model, borrowed from the object, or NULL with an exception. */
gbs_model *core_model(PyObject *object);
/* @param object of Evidence, or None. @return 0, or -1 with an exception. */
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
/* A model that belongs to an owner, which the object frees in its place, also on failure. */
PyObject *core_lent_model(const gbs_model *model, void *owner, void (*free_owner)(void *owner));

/* ---- learn.c: how learning went -------------------------------------------------------------- */

enum { CORE_POINT = 4 }; /* iteration, objective, gradient, held-out rows */
typedef struct core_curve {
    double *value; /* [n][CORE_POINT] */
    size_t n, capacity;
    int lost; /* out of memory */
} core_curve;

/* The callback for gbs_learn_options.point and its like.
 * @param context a core_curve. */
void core_add_point(void *context, const gbs_learn_point *point);
/* @return the array [n][CORE_POINT], whose memory it takes. */
PyObject *core_give_curve(core_curve *curve);

/* @return the summary of a run that was executed, JSON in a str. */
PyObject *core_summary(const gbs_run *run, const gbs_run_options *options);

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
