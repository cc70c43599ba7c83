/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a model from rows of data: conditional tables and tied weights. */
#include "gibbsite/learn.h"
#include "core.h"
#include "gibbsite/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- data ------------------------------------------------------------------------------------ */

/* Reads data from None, or a tuple (columns, n, states, weights or None).
 * @return 0, or -1 with an exception. */
static int take_data(const gbs_model *model, PyObject *object, gbs_data **data)
{
    PyObject *columns = NULL;
    Py_ssize_t n = 0;
    Py_ssize_t n_columns = 0;
    Py_buffer states = {.buf = NULL};
    Py_buffer weights = {.buf = NULL};
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    if (object == Py_None) {
        return 0;
    }
    if (!core_is_tuple(object) ||
        !PyArg_ParseTuple(object, "Ony*z*", &columns, &n, &states, &weights)) {
        return -1;
    }
    uint32_t *column = core_ids(columns, &n_columns);
    const int fits = column != NULL && n >= 0 &&
                     (size_t)states.len == (size_t)n * (size_t)n_columns * sizeof(uint32_t) &&
                     (weights.buf == NULL || (size_t)weights.len == (size_t)n * sizeof(double));
    if (fits) {
        PyThreadState *saved = PyEval_SaveThread();
        status = gbs_data_new(model, (uint32_t)n_columns, column, data, &err);
        if (status >= 0) {
            status = gbs_data_add(*data, (size_t)n, states.buf, weights.buf, &err);
        }
        PyEval_RestoreThread(saved);
    } else if (column != NULL) {
        PyErr_SetString(PyExc_ValueError,
                        "expected a state of each column and a weight in each row");
    }
    PyMem_Free(column);
    PyBuffer_Release(&states);
    if (weights.obj != NULL) {
        PyBuffer_Release(&weights);
    }
    if (status < 0) {
        (void)core_fail(status, &err);
    }
    return fits && status >= 0 ? 0 : -1;
}

/* ---- conditional tables ---------------------------------------------------------------------- */

static const core_field fit_fields[] = {
    {"n_rows", CORE_WIDE, offsetof(gbs_fit_report, n_rows)},
    {"n_distinct", CORE_WIDE, offsetof(gbs_fit_report, n_distinct)},
    {"n_incomplete", CORE_WIDE, offsetof(gbs_fit_report, n_incomplete)},
    {"n_missing", CORE_WIDE, offsetof(gbs_fit_report, n_missing)},
    {"n_parameters", CORE_WIDE, offsetof(gbs_fit_report, n_parameters)},
    {"n_columns", CORE_WIDE, offsetof(gbs_fit_report, n_columns)},
    {"n_unseen", CORE_WIDE, offsetof(gbs_fit_report, n_unseen)},
    {"iterations", CORE_WIDE, offsetof(gbs_fit_report, iterations)},
    {"change", CORE_REAL, offsetof(gbs_fit_report, change)},
    {"log_likelihood", CORE_REAL, offsetof(gbs_fit_report, log_likelihood)},
    {"log_likelihood_error", CORE_REAL, offsetof(gbs_fit_report, log_likelihood_error)},
    {"log_posterior", CORE_REAL, offsetof(gbs_fit_report, log_posterior)},
    {"bic", CORE_REAL, offsetof(gbs_fit_report, bic)},
    {"weight", CORE_REAL, offsetof(gbs_fit_report, weight)},
    {"held_out_rows", CORE_WIDE, offsetof(gbs_fit_report, held_out_rows)},
    {"held_out_impossible", CORE_WIDE, offsetof(gbs_fit_report, held_out_impossible)},
    {"held_out_weight", CORE_REAL, offsetof(gbs_fit_report, held_out_weight)},
    {"held_out_log_likelihood", CORE_REAL, offsetof(gbs_fit_report, held_out_log_likelihood)},
    {"held_out_error", CORE_REAL, offsetof(gbs_fit_report, held_out_error)},
    {"converged", CORE_WIDE_FLAG, offsetof(gbs_fit_report, converged)},
    {"exact", CORE_WIDE_FLAG, offsetof(gbs_fit_report, exact)},
    {"error", CORE_REAL, offsetof(gbs_fit_report, error)},
    {"sweeps", CORE_WIDE, offsetof(gbs_fit_report, sweeps)},
    {"n_doubtful", CORE_WIDE, offsetof(gbs_fit_report, n_doubtful)},
    {"n_unmet", CORE_WIDE, offsetof(gbs_fit_report, n_unmet)},
    {"seconds", CORE_REAL, offsetof(gbs_fit_report, seconds)},
    {NULL, 0, 0}};

static uint32_t child_of(const gbs_model *model, size_t factor)
{
    uint32_t n = 0;
    const uint32_t *scope = NULL;
    (void)gbs_model_factor(model, factor, &n, &scope);
    return scope[n - 1];
}

/* @return an array [4][entries]: probability, low, high and rows of every table, in the order of
 * the factors. */
static PyObject *tables_of(const gbs_fitted *fitted, double level)
{
    const gbs_model *model = gbs_fitted_model(fitted);
    const size_t n_factors = gbs_model_n_factors(model);
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    size_t n = 0;
    size_t at = 0;
    for (size_t f = 0; f < n_factors; f++) {
        n += gbs_fitted_n_entries(fitted, child_of(model, f));
    }
    double *x = malloc(4 * n * sizeof *x + 1);
    if (x == NULL) {
        return PyErr_NoMemory();
    }
    for (size_t f = 0; f < n_factors && status >= 0; f++) {
        const uint32_t child = child_of(model, f);
        status = gbs_fitted_table(fitted, child, level, x + at, x + n + at, x + 2 * n + at,
                                  x + 3 * n + at, &err);
        at += gbs_fitted_n_entries(fitted, child);
    }
    if (status < 0) {
        free(x);
        return core_fail(status, &err);
    }
    const Py_ssize_t shape[2] = {4, (Py_ssize_t)n};
    return core_array(x, NULL, "d", sizeof *x, 2, shape, NULL);
}

static void free_fitted(void *fitted)
{
    gbs_fitted_free(fitted);
}

static PyObject *give_fitted(gbs_fitted *fitted, double level, int stopped)
{
    PyObject *dict = core_dict(gbs_fitted_report(fitted), fit_fields);
    if (dict != NULL && (core_put(dict, "tables", tables_of(fitted, level)) < 0 ||
                         core_put(dict, "stopped", PyBool_FromLong(stopped)) < 0)) {
        Py_CLEAR(dict);
    }
    if (dict == NULL) {
        gbs_fitted_free(fitted);
    } else if (core_put(dict, "model",
                        core_lent_model(gbs_fitted_model(fitted), fitted, free_fitted)) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* fit(model, data, held out, level, options, progress): a dict */
static PyObject *fit(PyObject *self, PyObject *arguments)
{
    PyObject *o[5];
    core_watch watch;
    double level = 0.0;
    gbs_data *data = NULL;
    gbs_data *held_out = NULL;
    gbs_fitted *fitted = NULL;
    gbs_fit_options options;
    gbs_error err = {GBS_OK, ""};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOdOO", &o[0], &o[1], &o[2], &level, &o[3], &o[4]) ||
        core_question("fit", o[3], &options, sizeof options, NULL) < 0) {
        return NULL;
    }
    const gbs_model *model = core_model(o[0]);
    if (model != NULL && take_data(model, o[1], &data) == 0 &&
        take_data(model, o[2], &held_out) == 0) {
        const gbs_run_callbacks callbacks = {
            .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
        core_unlock(&watch, o[4]);
        const gbs_status status =
            gbs_fit(model, data, held_out, &options, &callbacks, &fitted, &err);
        core_lock(&watch);
        if (core_settle(&watch, status, &err) < 0) {
            gbs_fitted_free(fitted);
        } else {
            result = give_fitted(fitted, level, status == GBS_STOPPED);
        }
    }
    gbs_data_free(data);
    gbs_data_free(held_out);
    return result;
}

/* ---- tied weights ---------------------------------------------------------------------------- */

static const core_field learn_fields[] = {
    {"n_rows", CORE_WIDE, offsetof(gbs_learn_report, n_rows)},
    {"n_learnt", CORE_WIDE, offsetof(gbs_learn_report, n_learnt)},
    {"iterations", CORE_WIDE, offsetof(gbs_learn_report, iterations)},
    {"converged", CORE_WIDE_FLAG, offsetof(gbs_learn_report, converged)},
    {"has_errors", CORE_WIDE_FLAG, offsetof(gbs_learn_report, has_errors)},
    {"pseudo_log_likelihood", CORE_REAL, offsetof(gbs_learn_report, pseudo_log_likelihood)},
    {"log_likelihood", CORE_REAL, offsetof(gbs_learn_report, log_likelihood)},
    {"objective", CORE_REAL, offsetof(gbs_learn_report, objective)},
    {"change", CORE_REAL, offsetof(gbs_learn_report, change)},
    {"rhat", CORE_REAL, offsetof(gbs_learn_report, rhat)},
    {"chance", CORE_REAL, offsetof(gbs_learn_report, chance)},
    {"misfit", CORE_REAL, offsetof(gbs_learn_report, misfit)},
    {"scans", CORE_WIDE, offsetof(gbs_learn_report, n_scans)},
    {"scan_length", CORE_WIDE, offsetof(gbs_learn_report, scan_length)},
    {"probes", CORE_WIDE, offsetof(gbs_learn_report, probes)},
    {"seconds", CORE_REAL, offsetof(gbs_learn_report, seconds)},
    {NULL, 0, 0}};

void core_add_point(void *context, const gbs_learn_point *point)
{
    core_curve *c = context;
    if (c->n == c->capacity) {
        const size_t more = c->capacity == 0 ? 256 : 2 * c->capacity;
        double *grown = realloc(c->value, more * CORE_POINT * sizeof *grown);
        if (grown == NULL) {
            c->lost = 1;
            return;
        }
        c->value = grown;
        c->capacity = more;
    }
    const double numbers[CORE_POINT] = {(double)point->iteration, point->objective, point->gradient,
                                        point->held_out};
    memcpy(c->value + CORE_POINT * c->n++, numbers, sizeof numbers);
}

PyObject *core_give_curve(core_curve *c)
{
    const Py_ssize_t shape[2] = {(Py_ssize_t)c->n, CORE_POINT};
    double *value = c->value;
    c->value = NULL;
    if (c->lost) {
        free(value);
        return PyErr_NoMemory();
    }
    return core_array(value, NULL, "d", sizeof *value, 2, shape, NULL);
}

typedef struct learning {
    const gbs_model *model;
    gbs_learn_options options;
    gbs_data *data, *held_out;
    double *error,
        held_out_sum; /* standard errors; sum over held-out rows, NAN if there are none */
    gbs_model *learnt;
    gbs_learn_report report;
    core_curve curve;
} learning;

/* Learns the weights, and judges the held-out rows as `gibbsite learn weights` does. */
static gbs_status learn_all(learning *l, core_watch *watch, gbs_error *err)
{
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = watch, .progress = core_on_progress};
    const gbs_status status = gbs_learn_weights(l->model, l->data, &l->options, &callbacks,
                                                l->error, &l->learnt, &l->report, err);
    gbs_error unknown = {GBS_OK, ""};
    l->held_out_sum = (double)NAN;
    if (status < 0 || l->held_out == NULL) {
        return status;
    }
    const gbs_status judged =
        l->options.objective == GBS_LEARN_LIKELIHOOD
            ? gbs_log_likelihood(l->learnt, l->held_out, &l->held_out_sum, &unknown)
            : gbs_pseudo_log_likelihood(l->learnt, l->held_out, &l->held_out_sum, &unknown);
    if (judged < 0) {
        l->held_out_sum = (double)NAN;
        if (l->options.objective != GBS_LEARN_SAMPLED) {
            *err = unknown;
            return judged;
        }
    }
    return status;
}

static PyObject *give_learnt(learning *l, int stopped)
{
    const Py_ssize_t n = (Py_ssize_t)gbs_model_n_weights(l->learnt);
    PyObject *dict = core_dict(&l->report, learn_fields);
    PyObject *error = l->error == NULL ? Py_NewRef(Py_None) : core_vector(l->error, n);
    l->error = NULL;
    if (dict == NULL) {
        Py_DECREF(error);
        return NULL;
    }
    const int failed =
        core_put(dict, "errors", error) < 0 ||
        core_put(dict, "held_out", PyFloat_FromDouble(l->held_out_sum)) < 0 ||
        core_put(dict, "by_tree", PyBool_FromLong(l->options.objective == GBS_LEARN_LIKELIHOOD)) <
            0 ||
        core_put(dict, "curve", core_give_curve(&l->curve)) < 0 ||
        core_put(dict, "stopped", PyBool_FromLong(stopped)) < 0;
    PyObject *model = failed ? NULL : core_new_model(l->learnt);
    if (!failed) {
        l->learnt = NULL;
    }
    if (failed || core_put(dict, "model", model) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* learn_weights(model, data, held out, want errors, want a curve, options, progress): a dict */
static PyObject *learn_weights(PyObject *self, PyObject *arguments)
{
    PyObject *o[5];
    core_watch watch;
    int errors = 0;
    int curve = 0;
    gbs_error err = {GBS_OK, ""};
    learning l = {.report = {.size = sizeof l.report}};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOppOO", &o[0], &o[1], &o[2], &errors, &curve, &o[3],
                          &o[4]) ||
        core_question("learn weights", o[3], &l.options, sizeof l.options, NULL) < 0) {
        return NULL;
    }
    l.model = core_model(o[0]);
    if (l.model != NULL && take_data(l.model, o[1], &l.data) == 0 &&
        take_data(l.model, o[2], &l.held_out) == 0) {
        if (errors) {
            l.error = calloc((size_t)gbs_model_n_weights(l.model) + 1, sizeof *l.error);
        }
        if (curve) {
            l.options.point = core_add_point;
            l.options.point_context = &l.curve;
            l.options.held_out = l.held_out;
        }
        core_unlock(&watch, o[4]);
        const gbs_status status =
            errors && l.error == NULL ? GBS_ERR_MEMORY : learn_all(&l, &watch, &err);
        core_lock(&watch);
        if (core_settle(&watch, status, &err) == 0) {
            result = give_learnt(&l, status == GBS_STOPPED);
        }
    }
    gbs_data_free(l.data);
    gbs_data_free(l.held_out);
    gbs_model_free(l.learnt);
    free(l.error);
    free(l.curve.value);
    return result;
}

PyMethodDef core_learn_methods[] = {
    {"fit", fit, METH_VARARGS, "fit(model, data, held_out, level, options, progress)"},
    {"learn_weights", learn_weights, METH_VARARGS,
     "learn_weights(model, data, held_out, errors, curve, options, progress)"},
    {NULL, NULL, 0, NULL}};
