/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in files: rows of states of a model's variables, and draws. */
#include "core.h"
#include "gibbsite/diagnose.h"
#include "gibbsite/fit.h"
#include "gibbsite/table.h"

#include <stdlib.h>
#include <string.h>

/* Adds a note of the library to a Python list, with the interpreter's lock held. */
static void keep_note(void *list, const char *message)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    if (text == NULL || PyList_Append(list, text) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(text);
    PyGILState_Release(state);
}

/* ---- rows of states -------------------------------------------------------------------------- */

typedef struct rows {
    size_t n, capacity;
    uint32_t n_columns;
    uint32_t *column; /* [n_columns] variable of each column */
    uint32_t *state;  /* [n][n_columns] states */
    double *weight;   /* [n] weights */
} rows;

static void rows_free(rows *r)
{
    free(r->column);
    free(r->state);
    free(r->weight);
}

/* Allocates memory for another row. @return whether there is memory. */
static int grow(rows *r)
{
    if (r->n < r->capacity) {
        return 1;
    }
    const size_t wanted = 2 * r->capacity + 256;
    uint32_t *state = realloc(r->state, wanted * r->n_columns * sizeof *state);
    if (state == NULL) {
        return 0;
    }
    r->state = state;
    double *weight = realloc(r->weight, wanted * sizeof *weight);
    if (weight == NULL) {
        return 0;
    }
    r->weight = weight;
    r->capacity = wanted;
    return 1;
}

/* The columns of a data frame. */
typedef struct frame {
    gbs_column *column; /* [n] columns, whose texts belong to Python's str objects */
    Py_ssize_t n, n_rows;
} frame;

/* Reads rows from a file or a data frame. @param path path of the file, or name of the frame in
 * messages. */
static gbs_status read_rows(const gbs_model *model, const char *path, const frame *f,
                            const gbs_table_options *options, rows *r, gbs_error *err)
{
    gbs_table *table = NULL;
    int end = 0;
    gbs_status status = f->column == NULL
                            ? gbs_table_open(model, path, options, &table, err)
                            : gbs_table_of_columns(model, path, (uint32_t)f->n, f->column,
                                                   (uint64_t)f->n_rows, options, &table, err);
    const uint32_t *column = gbs_table_columns(table, &r->n_columns);
    if (status >= 0) {
        r->column = malloc(r->n_columns * sizeof *r->column + 1);
        status = r->column == NULL ? GBS_ERR_MEMORY : status;
    }
    if (status >= 0) {
        memcpy(r->column, column, r->n_columns * sizeof *column);
    }
    while (status >= 0 && !end) {
        status = grow(r) ? gbs_table_next(table, r->state + r->n * r->n_columns, &r->weight[r->n],
                                          &end, err)
                         : GBS_ERR_MEMORY;
        r->n += status >= 0 && !end;
    }
    gbs_table_free(table);
    return status;
}

static void frame_free(frame *f)
{
    for (Py_ssize_t k = 0; f->column != NULL && k < f->n; k++) {
        PyMem_Free((void *)(uintptr_t)f->column[k].cell);
    }
    PyMem_Free(f->column);
}

/* @return a text that is valid as long as the str object, or NULL with an exception. */
static const char *take_text(PyObject *object)
{
    Py_ssize_t n = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &n);
    if (text != NULL && strlen(text) != (size_t)n) {
        PyErr_SetString(PyExc_ValueError, "found a NUL character, expected a name or a state");
        return NULL;
    }
    return text;
}

/* Reads the cells of a column: a list of texts and None, or None in place of the list. @return 0,
 * or -1 with an exception. */
static int take_cells(PyObject *list, Py_ssize_t n_rows, gbs_column *column)
{
    if (list == Py_None) {
        return 0;
    }
    if (!PyList_Check(list) || PyList_Size(list) != n_rows) {
        PyErr_SetString(PyExc_TypeError, "expected a list of texts for each column");
        return -1;
    }
    const char **cell = PyMem_Calloc((size_t)n_rows + 1, sizeof *cell);
    if (cell == NULL) {
        (void)PyErr_NoMemory();
        return -1;
    }
    column->cell = cell;
    for (Py_ssize_t i = 0; i < n_rows; i++) {
        PyObject *text = PyList_GetItem(list, i);
        cell[i] = text == Py_None ? NULL : take_text(text);
        if (cell[i] == NULL && text != Py_None) {
            return -1;
        }
    }
    return 0;
}

/* @param columns {name: cells} @return 0, or -1 with an exception. */
static int take_frame(PyObject *columns, Py_ssize_t n_rows, frame *f)
{
    Py_ssize_t at = 0;
    PyObject *name = NULL;
    PyObject *cells = NULL;
    f->n_rows = n_rows;
    f->column = PyMem_Calloc((size_t)PyDict_Size(columns) + 1, sizeof *f->column);
    if (f->column == NULL) {
        (void)PyErr_NoMemory();
        return -1;
    }
    while (PyDict_Next(columns, &at, &name, &cells)) {
        gbs_column *column = &f->column[f->n++];
        column->name = take_text(name);
        if (column->name == NULL || take_cells(cells, n_rows, column) < 0) {
            return -1;
        }
    }
    return 0;
}

/* read_table(model, path, None or {name: cells}, number of rows, weights or None, complete,
 * numbers, strict, told): (columns, n, states, weights) */
static PyObject *read_table(PyObject *self, PyObject *arguments)
{
    PyObject *model = NULL;
    PyObject *told = NULL;
    PyObject *columns_of = NULL;
    const char *path = NULL;
    frame f = {NULL, 0, 0};
    Py_ssize_t n_rows = 0;
    gbs_table_options options = {.size = sizeof options, .tell = keep_note};
    gbs_error err = {GBS_OK, ""};
    rows r = {0, 0, 0, NULL, NULL, NULL};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OsOnzpppO!", &model, &path, &columns_of, &n_rows,
                          &options.weights, &options.complete, &options.numbers, &options.strict,
                          &PyList_Type, &told)) {
        return NULL;
    }
    options.context = told;
    const gbs_model *of = core_model(model);
    if (of == NULL || (columns_of != Py_None && take_frame(columns_of, n_rows, &f) < 0)) {
        frame_free(&f);
        return NULL;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const gbs_status status = read_rows(of, path, &f, &options, &r, &err);
    PyEval_RestoreThread(saved);
    frame_free(&f);
    if (status < 0) {
        rows_free(&r);
        return status == GBS_ERR_MEMORY && err.message[0] == '\0' ? PyErr_NoMemory()
                                                                  : core_fail(status, &err);
    }
    const Py_ssize_t shape[2] = {(Py_ssize_t)r.n, (Py_ssize_t)r.n_columns};
    PyObject *columns = core_states(r.column, shape[1]);
    PyObject *states = core_array(r.state, NULL, "I", sizeof *r.state, 2, shape, NULL);
    PyObject *weights = core_vector(r.weight, shape[0]);
    PyObject *result = columns == NULL || states == NULL || weights == NULL
                           ? NULL
                           : Py_BuildValue("(OnOO)", columns, shape[0], states, weights);
    Py_XDECREF(columns);
    Py_XDECREF(states);
    Py_XDECREF(weights);
    return result;
}

/* missing_signs(): the texts that stand for a missing value, without the empty text. */
static PyObject *missing_signs(PyObject *self, PyObject *arguments)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)arguments;
    for (size_t i = 0; list != NULL && gbs_table_missing_sign(i) != NULL; i++) {
        const char *sign = gbs_table_missing_sign(i);
        PyObject *text = PyUnicode_FromString(sign);
        if (text == NULL || (sign[0] != '\0' && PyList_Append(list, text) < 0)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(text);
    }
    return list;
}

/* ---- draws ----------------------------------------------------------------------------------- */

static int is_stopped(void *watch)
{
    return core_look(watch, NULL);
}

static int take_paths(PyObject *sequence, const char ***path, Py_ssize_t *n)
{
    *n = PyTuple_Size(sequence);
    *path = PyMem_Calloc((size_t)*n + 1, sizeof **path);
    if (*path == NULL) {
        (void)PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; *path != NULL && i < *n; i++) {
        (*path)[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(sequence, i), NULL);
        if ((*path)[i] == NULL) {
            PyMem_Free(*path);
            *path = NULL;
        }
    }
    return *path == NULL ? -1 : 0;
}

static PyObject *give_draws(const gbs_draws *draws)
{
    const Py_ssize_t shape[2] = {(Py_ssize_t)gbs_draws_n_chains(draws),
                                 (Py_ssize_t)gbs_draws_n_draws(draws)};
    const size_t bytes = (size_t)shape[0] * (size_t)shape[1] * sizeof(double);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < gbs_draws_n_quantities(draws); i++) {
        double *values = malloc(bytes + 1);
        if (values != NULL) {
            memcpy(values, gbs_draws_values(draws, i), bytes);
        }
        PyObject *array = values == NULL
                              ? PyErr_NoMemory()
                              : core_array(values, NULL, "d", sizeof *values, 2, shape, NULL);
        if (core_put(dict, gbs_draws_name(draws, i), array) < 0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

/* read_draws(paths, told): {name: [chains][draws]} */
static PyObject *read_draws(PyObject *self, PyObject *arguments)
{
    PyObject *sequence = NULL;
    PyObject *told = NULL;
    const char **path = NULL;
    Py_ssize_t n = 0;
    core_watch watch;
    gbs_read_options options = {
        .size = sizeof options, .warn = keep_note, .stop = is_stopped, .stop_context = &watch};
    gbs_draws *draws = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyTuple_Type, &sequence, &PyList_Type, &told) ||
        take_paths(sequence, &path, &n) < 0) {
        return NULL;
    }
    options.context = told;
    core_unlock(&watch, Py_None);
    const gbs_status status = gbs_draws_read(path, (size_t)n, &options, &draws, &err);
    core_lock(&watch);
    PyMem_Free(path);
    PyObject *result = core_settle(&watch, status, &err) < 0 ? NULL : give_draws(draws);
    gbs_draws_free(draws);
    return result;
}

PyMethodDef core_table_methods[] = {
    {"read_table", read_table, METH_VARARGS,
     "read_table(model, path, columns, n_rows, weights, complete, numbers, strict, told)"},
    {"missing_signs", missing_signs, METH_NOARGS, "missing_signs()"},
    {"read_draws", read_draws, METH_VARARGS, "read_draws(paths, told)"},
    {NULL, NULL, 0, NULL}};
