/* SPDX-License-Identifier: Apache-2.0 */
/* Models from rows of states: dense Potts models and restricted Boltzmann machines. */
#include "core.h"
#include "gibbsite/machines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct two_tables {
    gbs_rows *data, *held_out;
} two_tables;

static void free_rows(two_tables *t)
{
    gbs_rows_free(t->data);
    gbs_rows_free(t->held_out);
}

/* Reads rows from (name of a file, None), (name, bytes), or (sites, states of a site, states
 * [n][sites]).
 * @return 0, or -1 with an exception. */
static int take_rows(PyObject *object, gbs_alphabet alphabet, gbs_rows **rows)
{
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    Py_buffer bytes = {.buf = NULL};
    const char *name = NULL;
    uint32_t n_sites = 0;
    uint32_t n_states = 0;
    if (!PyTuple_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "expected rows");
        return -1;
    }
    const int is_array = PyTuple_Size(object) == 3;
    if (!(is_array
              ? PyArg_ParseTuple(object, "O&O&y*", core_u32, &n_sites, core_u32, &n_states, &bytes)
              : PyArg_ParseTuple(object, "sz*", &name, &bytes))) {
        return -1;
    }
    PyThreadState *saved = PyEval_SaveThread();
    if (is_array) {
        status = gbs_rows_new(n_sites, n_states, rows, &err);
        if (status >= 0) {
            status = gbs_rows_add(*rows, (size_t)bytes.len / sizeof(uint32_t) / n_sites, bytes.buf,
                                  &err);
        }
    } else {
        status = gbs_rows_read_as(name, bytes.buf, (size_t)bytes.len, alphabet, rows, &err);
    }
    PyEval_RestoreThread(saved);
    if (bytes.obj != NULL) {
        PyBuffer_Release(&bytes);
    }
    if (status < 0) {
        (void)core_fail(status, &err);
        return -1;
    }
    const char *note = gbs_rows_note(*rows); /* Python may turn this warning into an exception */
    return note == NULL ? 0 : PyErr_WarnFormat(PyExc_UserWarning, 1, "%s: %s", name, note);
}

/* Reads the rows and the held-out rows. @param held_out None, a share, or rows. */
static int take_tables(PyObject *data, PyObject *held_out, gbs_alphabet alphabet, two_tables *t)
{
    gbs_error err = {GBS_OK, ""};
    if (take_rows(data, alphabet, &t->data) < 0) {
        return -1;
    }
    if (held_out == Py_None) {
        return 0;
    }
    if (!PyFloat_Check(held_out)) {
        return take_rows(held_out, gbs_rows_alphabet(t->data), &t->held_out);
    }
    const gbs_status status =
        gbs_rows_hold_out(t->data, PyFloat_AsDouble(held_out), &t->held_out, &err);
    if (status < 0) {
        (void)core_fail(status, &err);
    }
    return status < 0 ? -1 : 0;
}

static PyObject *count_of(const gbs_rows *rows)
{
    return PyLong_FromSize_t(rows == NULL ? 0 : gbs_rows_n(rows));
}

/* ---- Potts models ---------------------------------------------------------------------------- */

static const core_field potts_fields[] = {
    {"n_rows", CORE_WIDE, offsetof(gbs_potts_report, n_rows)},
    {"n_sites", CORE_WIDE, offsetof(gbs_potts_report, n_sites)},
    {"n_states", CORE_WIDE, offsetof(gbs_potts_report, n_states)},
    {"n_parameters", CORE_WIDE, offsetof(gbs_potts_report, n_parameters)},
    {"iterations", CORE_WIDE, offsetof(gbs_potts_report, iterations)},
    {"evaluations", CORE_WIDE, offsetof(gbs_potts_report, evaluations)},
    {"steps", CORE_WIDE, offsetof(gbs_potts_report, steps)},
    {"converged", CORE_WIDE_FLAG, offsetof(gbs_potts_report, converged)},
    {"weight", CORE_REAL, offsetof(gbs_potts_report, weight)},
    {"pseudo_log_likelihood", CORE_REAL, offsetof(gbs_potts_report, pseudo_log_likelihood)},
    {"held_out", CORE_REAL, offsetof(gbs_potts_report, held_out_pl)},
    {"objective", CORE_REAL, offsetof(gbs_potts_report, objective)},
    {"gradient_norm", CORE_REAL, offsetof(gbs_potts_report, gradient_norm)},
    {"moment_error", CORE_REAL, offsetof(gbs_potts_report, moment_error)},
    {"rhat", CORE_REAL, offsetof(gbs_potts_report, rhat)},
    {"misfit", CORE_REAL, offsetof(gbs_potts_report, misfit)},
    {"coupled_pairs", CORE_WIDE, offsetof(gbs_potts_report, n_coupled)},
    {"seconds", CORE_REAL, offsetof(gbs_potts_report, seconds)},
    {NULL, 0, 0}};

typedef struct potts {
    two_tables rows;
    gbs_potts_options options;
    double identity; /* least share of equal sites of similar rows; 0: all rows have weight 1 */
    int want_errors;
    gbs_model *model;
    gbs_potts_report report;
    size_t n;              /* number of parameters */
    double *value, *error; /* parameters; standard errors, NULL if they are not known */
    uint8_t *unseen;
    gbs_error no_error; /* message that says why there are no standard errors */
    core_curve curve;
} potts;

/* Finds standard errors. If they cannot be found, the call still succeeds. */
static gbs_status find_errors(potts *p, const gbs_run_callbacks *callbacks, int stopped)
{
    gbs_error *err = &p->no_error;
    gbs_status status = gbs_potts_parameters(p->model, &p->n, NULL, err);
    if (status < 0) {
        return status;
    }
    p->value = malloc(p->n * sizeof *p->value + 1);
    p->error = malloc(p->n * sizeof *p->error + 1);
    p->unseen = malloc(p->n + 1);
    if (p->value == NULL || p->error == NULL || p->unseen == NULL) {
        return GBS_ERR_MEMORY;
    }
    status = gbs_potts_parameters(p->model, &p->n, p->value, err);
    gbs_potts_options options =
        p->options; /* options in which the time limit is the remaining time */
    options.time_s -= options.time_s > 0.0 ? fmin(p->report.seconds, 0.99 * options.time_s) : 0.0;
    options.point = NULL;
    int known = status >= 0 && p->want_errors && !stopped &&
                (p->options.method == GBS_POTTS_PCD || p->report.converged);
    if (known) {
        known = gbs_potts_errors(p->model, p->rows.data, &options, callbacks, p->error, p->unseen,
                                 err) >= 0;
    } else if (p->want_errors) {
        strcpy(err->message, "learning has not converged");
    }
    if (!known) {
        free(p->error);
        free(p->unseen);
        p->error = NULL;
        p->unseen = NULL;
    }
    return status;
}

static gbs_status learn_all(potts *p, core_watch *watch, gbs_error *err)
{
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = watch, .progress = core_on_progress};
    gbs_status status = GBS_OK;
    if (p->identity > 0.0) {
        status = gbs_rows_weigh(p->rows.data, p->identity, p->options.threads, &callbacks, err);
    }
    if (status >= 0) {
        status = gbs_potts_learn(p->rows.data, p->rows.held_out, &p->options, &callbacks, &p->model,
                                 &p->report, err);
    }
    if (status >= 0) {
        const gbs_status found = find_errors(p, &callbacks, status == GBS_STOPPED);
        status = found < 0 ? found : status;
    }
    return status;
}

static PyObject *give_potts(potts *p, int stopped)
{
    const Py_ssize_t n = (Py_ssize_t)p->n;
    PyObject *dict = core_dict(&p->report, potts_fields);
    PyObject *value = core_vector(p->value, n);
    PyObject *error = p->error == NULL ? Py_NewRef(Py_None) : core_vector(p->error, n);
    PyObject *unseen =
        p->unseen == NULL ? Py_NewRef(Py_None) : core_array(p->unseen, NULL, "B", 1, 1, &n, NULL);
    p->value = NULL;
    p->error = NULL;
    p->unseen = NULL;
    if (dict == NULL) {
        Py_XDECREF(value);
        Py_XDECREF(error);
        Py_XDECREF(unseen);
        return NULL;
    }
    PyObject *const part[] = {value, error, unseen};
    static const char *const name[] = {"values", "errors", "unseen"};
    int failed = 0;
    for (int i = 0; i < 3; i++) {
        failed = core_put(dict, name[i], part[i]) < 0 || failed;
    }
    failed = failed || core_put(dict, "no_errors", PyUnicode_FromString(p->no_error.message)) < 0 ||
             core_put(dict, "held_out_rows", count_of(p->rows.held_out)) < 0 ||
             core_put(dict, "unknown_letters",
                      PyLong_FromUnsignedLongLong(gbs_rows_n_unknown(p->rows.data))) < 0 ||
             core_put(dict, "curve", core_give_curve(&p->curve)) < 0 ||
             core_put(dict, "stopped", PyBool_FromLong(stopped)) < 0;
    PyObject *model = failed ? NULL : core_new_model(p->model);
    p->model = failed ? p->model : NULL;
    if (failed || core_put(dict, "model", model) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* learn_potts(rows, held out, number of the alphabet, identity, want errors, want a curve, options,
 * progress): a dict */
static PyObject *learn_potts(PyObject *self, PyObject *arguments)
{
    PyObject *o[4];
    core_watch watch;
    int alphabet = 0;
    int curve = 0;
    gbs_error err = {GBS_OK, ""};
    potts p = {.report = {.size = sizeof p.report}};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOidppOO", &o[0], &o[1], &alphabet, &p.identity,
                          &p.want_errors, &curve, &o[2], &o[3]) ||
        core_question("learn potts", o[2], &p.options, sizeof p.options, NULL) < 0) {
        return NULL;
    }
    if (curve) {
        p.options.point = core_add_point;
        p.options.point_context = &p.curve;
    }
    if (take_tables(o[0], o[1], (gbs_alphabet)alphabet, &p.rows) == 0) {
        core_unlock(&watch, o[3]);
        const gbs_status status = learn_all(&p, &watch, &err);
        core_lock(&watch);
        if (core_settle(&watch, status, &err) == 0) {
            result = give_potts(&p, status == GBS_STOPPED || watch.interrupted);
        }
    }
    free_rows(&p.rows);
    gbs_model_free(p.model);
    free(p.value);
    free(p.error);
    free(p.unseen);
    free(p.curve.value);
    return result;
}

/* ---- restricted Boltzmann machines ----------------------------------------------------------- */

static const core_field rbm_fields[] = {
    {"n_rows", CORE_WIDE, offsetof(gbs_rbm_report, n_rows)},
    {"n_visible", CORE_WIDE, offsetof(gbs_rbm_report, n_visible)},
    {"n_hidden", CORE_WIDE, offsetof(gbs_rbm_report, n_hidden)},
    {"epochs", CORE_WIDE, offsetof(gbs_rbm_report, epochs)},
    {"steps", CORE_WIDE, offsetof(gbs_rbm_report, steps)},
    {"best_epoch", CORE_WIDE, offsetof(gbs_rbm_report, best_epoch)},
    {"mean_pl", CORE_REAL, offsetof(gbs_rbm_report, mean_pl)},
    {"held_out", CORE_REAL, offsetof(gbs_rbm_report, held_out_pl)},
    {"rhat", CORE_REAL, offsetof(gbs_rbm_report, rhat)},
    {"misfit", CORE_REAL, offsetof(gbs_rbm_report, misfit)},
    {"rise", CORE_REAL, offsetof(gbs_rbm_report, rise)},
    {"converged", CORE_WIDE_FLAG, offsetof(gbs_rbm_report, converged)},
    {"zero_couplings", CORE_WIDE, offsetof(gbs_rbm_report, n_zero)},
    {"seconds", CORE_REAL, offsetof(gbs_rbm_report, seconds)},
    {NULL, 0, 0}};

static PyObject *give_rbm(gbs_model *learnt, const gbs_rbm_report *r, double *curve,
                          const two_tables *rows, int stopped)
{
    const Py_ssize_t shape[2] = {(Py_ssize_t)r->epochs, 2};
    PyObject *model = core_new_model(learnt);
    PyObject *dict = core_dict(r, rbm_fields);
    PyObject *array = core_array(curve, NULL, "d", sizeof *curve, 2, shape, NULL);
    if (dict == NULL) {
        Py_XDECREF(model);
        Py_XDECREF(array);
        return NULL;
    }
    const int a = core_put(dict, "model", model);
    const int b = core_put(dict, "curve", array);
    if (a < 0 || b < 0 || core_put(dict, "held_out_rows", count_of(rows->held_out)) < 0 ||
        core_put(dict, "stopped", PyBool_FromLong(stopped)) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* learn_rbm(rows, held out, options, progress): a dict */
static PyObject *learn_rbm(PyObject *self, PyObject *arguments)
{
    PyObject *o[4];
    core_watch watch;
    two_tables rows = {NULL, NULL};
    gbs_rbm_options options;
    gbs_rbm_report report = {.size = sizeof report};
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOO", &o[0], &o[1], &o[2], &o[3]) ||
        core_question("learn rbm", o[2], &options, sizeof options, NULL) < 0 ||
        take_tables(o[0], o[1], GBS_ALPHABET_AUTO, &rows) < 0) {
        free_rows(&rows);
        return NULL;
    }
    const size_t epochs = options.epochs == 0 ? 100 : (size_t)options.epochs;
    double *curve = calloc(2 * epochs, sizeof *curve);
    if (curve == NULL) {
        free_rows(&rows);
        return PyErr_NoMemory();
    }
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
    core_unlock(&watch, o[3]);
    const gbs_status status =
        gbs_rbm_learn(rows.data, rows.held_out, &options, &callbacks, curve, &model, &report, &err);
    core_lock(&watch);
    if (core_settle(&watch, status, &err) < 0) {
        gbs_model_free(model);
        free(curve);
    } else {
        result = give_rbm(model, &report, curve, &rows, status == GBS_STOPPED);
    }
    free_rows(&rows);
    return result;
}

PyMethodDef core_rows_methods[] = {
    {"learn_potts", learn_potts, METH_VARARGS,
     "learn_potts(rows, held_out, alphabet, identity, errors, curve, options, progress)"},
    {"learn_rbm", learn_rbm, METH_VARARGS, "learn_rbm(rows, held_out, options, progress)"},
    {NULL, NULL, 0, NULL}};
