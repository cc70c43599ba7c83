/* SPDX-License-Identifier: Apache-2.0 */
/* The other questions: most probable states, ln Z, tables of cases, what a model is, certificates,
 * scans, reports. */
#include "core.h"
#include "gibbsite/cases.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/info.h"
#include "gibbsite/log_z.h"
#include "gibbsite/map.h"
#include "gibbsite/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int on_progress(void *context, const gbs_progress *progress)
{
    return core_look(context, progress);
}

/* What a call that ended says of itself. @return -1 with an exception. */
static int settled(const core_watch *watch, gbs_status status, const gbs_error *err)
{
    if (watch->raised) {
        return -1;
    }
    if (status == GBS_ERR_STOPPED && watch->interrupted) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        return -1;
    }
    if (status < 0) {
        (void)core_fail(status, err);
        return -1;
    }
    return 0;
}

typedef struct question {
    gbs_model *model;
    gbs_evidence *evidence;
    gbs_run_options options;
    PyObject *progress;
} question;

static int take(question *q, PyObject *model, PyObject *evidence, PyObject *options)
{
    q->model = core_model(model);
    return q->model == NULL || core_evidence(evidence, &q->evidence) < 0 ||
                   core_options(options, &q->options) < 0
               ? -1
               : 0;
}

static PyObject *state_array(uint32_t *state, Py_ssize_t n)
{
    return core_array(state, NULL, "I", sizeof *state, 1, &n, NULL);
}

/* ---- most probable states -------------------------------------------------------------------- */

/* map(model, evidence, options, progress): (state, dict) */
static PyObject *find_map(PyObject *self, PyObject *arguments)
{
    PyObject *o[3];
    question q;
    core_watch watch;
    gbs_error err = {GBS_OK, ""};
    gbs_map_report r = {.size = sizeof r};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOO", &o[0], &o[1], &o[2], &q.progress) ||
        take(&q, o[0], o[1], o[2]) < 0) {
        return NULL;
    }
    const Py_ssize_t n = (Py_ssize_t)gbs_model_n_variables(q.model);
    uint32_t *state = calloc((size_t)n + 1, sizeof *state);
    if (state == NULL) {
        return PyErr_NoMemory();
    }
    const gbs_map_callbacks callbacks = {
        .size = sizeof callbacks, .context = &watch, .progress = on_progress};
    core_unlock(&watch, q.progress);
    const gbs_status status = gbs_map(q.model, q.evidence, &q.options, &callbacks, state, &r, &err);
    core_lock(&watch);
    if (settled(&watch, status, &err) < 0) {
        free(state);
        return NULL;
    }
    PyObject *array = state_array(state, n);
    return array == NULL
               ? NULL
               : Py_BuildValue("(N{s:d,s:O,s:s,s:I,s:K,s:d})", array, "log_density", r.log_density,
                               "optimal",
                               r.n_exact_variables == r.n_free_variables ? Py_True : Py_False,
                               "stop", r.stop, "chains", r.chains, "sweeps",
                               (unsigned long long)r.sweeps, "seconds", r.seconds);
}

/* ---- ln Z ------------------------------------------------------------------------------------ */

static PyObject *find_log_z(PyObject *self, PyObject *arguments)
{
    PyObject *o[3];
    question q;
    core_watch watch;
    gbs_error err = {GBS_OK, ""};
    gbs_log_z_report r = {.size = sizeof r};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOO", &o[0], &o[1], &o[2], &q.progress) ||
        take(&q, o[0], o[1], o[2]) < 0) {
        return NULL;
    }
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &watch, .progress = on_progress};
    core_unlock(&watch, q.progress);
    const gbs_status status = gbs_log_z(q.model, q.evidence, &q.options, &callbacks, &r, &err);
    core_lock(&watch);
    return settled(&watch, status, &err) < 0
               ? NULL
               : Py_BuildValue("{s:d,s:d,s:d,s:d,s:O,s:O,s:s,s:s,s:d}", "log_z", r.log_z, "mcse",
                               r.error, "low", r.low, "high", r.high, "converged",
                               r.converged ? Py_True : Py_False, "exact",
                               r.n_exact_variables == r.n_free_variables ? Py_True : Py_False,
                               "verdict", r.verdict, "stop", r.stop, "seconds", r.seconds);
}

/* ---- many cases ------------------------------------------------------------------------------ */

typedef struct answers {
    double *p, *mcse, *log_p;
    int *converged;
} answers;

static void answers_free(answers *a)
{
    free(a->p);
    free(a->mcse);
    free(a->log_p);
    free(a->converged);
}

static PyObject *give_answers(answers *a, Py_ssize_t n, Py_ssize_t n_states, int exact)
{
    const Py_ssize_t shape[2] = {n, n_states};
    PyObject *p = core_array(a->p, NULL, "d", 8, 2, shape, NULL);
    PyObject *mcse = core_array(a->mcse, NULL, "d", 8, 2, shape, NULL);
    PyObject *log_p = core_array(a->log_p, NULL, "d", 8, 1, shape, NULL);
    PyObject *converged = core_array(a->converged, NULL, "i", sizeof(int), 1, shape, NULL);
    *a = (answers){NULL, NULL, NULL, NULL};
    if (p == NULL || mcse == NULL || log_p == NULL || converged == NULL) {
        Py_XDECREF(p);
        Py_XDECREF(mcse);
        Py_XDECREF(log_p);
        Py_XDECREF(converged);
        return NULL;
    }
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:O}", "p", p, "mcse", mcse, "log_p", log_p, "converged",
                         converged, "exact", exact ? Py_True : Py_False);
}

/* Answers all cases, so many at once that the clock and signals are looked at. */
static gbs_status answer_all(gbs_cases *cases, size_t n, size_t n_columns, const uint32_t *state,
                             const gbs_run_callbacks *callbacks, answers *a, gbs_error *err)
{
    const size_t at_once = gbs_cases_at_once(cases);
    const size_t n_states = gbs_cases_n_states(cases);
    gbs_status status = GBS_OK;
    for (size_t from = 0; from < n && status == GBS_OK; from += at_once) {
        gbs_case_answers part = {.size = sizeof part,
                                 .p = a->p + from * n_states,
                                 .mcse = a->mcse + from * n_states,
                                 .log_p = a->log_p + from,
                                 .converged = a->converged + from};
        status = gbs_cases_answer(cases, n - from < at_once ? n - from : at_once,
                                  state + from * n_columns, callbacks, &part, NULL, err);
    }
    return status == GBS_STOPPED ? GBS_ERR_STOPPED : status;
}

/* cases(model, evidence, options, progress, columns, query, n, states): a dict */
static PyObject *answer_cases(PyObject *self, PyObject *arguments)
{
    PyObject *o[5];
    question q;
    core_watch watch;
    Py_buffer states;
    Py_ssize_t n = 0;
    Py_ssize_t n_columns = 0;
    Py_ssize_t n_query = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_cases *cases = NULL;
    answers a = {NULL, NULL, NULL, NULL};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOOny*", &o[0], &o[1], &o[2], &q.progress, &o[3], &o[4],
                          &n, &states)) {
        return NULL;
    }
    uint32_t *column = take(&q, o[0], o[1], o[2]) < 0 ? NULL : core_ids(o[3], &n_columns);
    uint32_t *query = column == NULL ? NULL : core_ids(o[4], &n_query);
    if (query != NULL && (size_t)states.len != (size_t)n * (size_t)n_columns * sizeof(uint32_t)) {
        PyErr_SetString(PyExc_ValueError, "expected a state of each column in each case");
    } else if (query != NULL) {
        const gbs_run_callbacks callbacks = {
            .size = sizeof callbacks, .context = &watch, .progress = on_progress};
        core_unlock(&watch, q.progress);
        gbs_status status = gbs_cases_new(q.model, q.evidence, &q.options, (uint32_t)n_columns,
                                          column, (uint32_t)n_query, query, &cases, &err);
        const size_t n_states = gbs_cases_n_states(cases);
        if (status == GBS_OK) {
            a.p = malloc((size_t)n * n_states * sizeof *a.p + 1);
            a.mcse = malloc((size_t)n * n_states * sizeof *a.mcse + 1);
            a.log_p = malloc((size_t)n * sizeof *a.log_p + 1);
            a.converged = malloc((size_t)n * sizeof *a.converged + 1);
            status = a.p == NULL || a.mcse == NULL || a.log_p == NULL || a.converged == NULL
                         ? GBS_ERR_MEMORY
                         : answer_all(cases, (size_t)n, (size_t)n_columns, states.buf, &callbacks,
                                      &a, &err);
        }
        core_lock(&watch);
        result = settled(&watch, status, &err) < 0
                     ? NULL
                     : give_answers(&a, n, (Py_ssize_t)n_states, gbs_cases_is_exact(cases));
    }
    answers_free(&a);
    gbs_cases_free(cases);
    PyBuffer_Release(&states);
    PyMem_Free(column);
    PyMem_Free(query);
    return result;
}

/* ---- what a model is ------------------------------------------------------------------------- */

static PyObject *model_info(PyObject *self, PyObject *arguments)
{
    PyObject *o[3];
    question q;
    core_watch watch;
    gbs_error err = {GBS_OK, ""};
    gbs_info i = {.size = sizeof i};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO", &o[0], &o[1], &o[2]) ||
        take(&q, o[0], o[1], o[2]) < 0) {
        return NULL;
    }
    core_unlock(&watch, Py_None);
    const gbs_status status = gbs_model_info(q.model, q.evidence, &q.options, &i, &err);
    core_lock(&watch);
    return settled(&watch, status, &err) < 0
               ? NULL
               : Py_BuildValue("{s:I,s:I,s:n,s:I,s:I,s:I,s:I,s:O,s:O,s:d,s:d,s:d,s:K}", "variables",
                               i.n_variables, "free", i.n_free, "factors", (Py_ssize_t)i.n_factors,
                               "largest_arity", i.max_arity, "components", i.n_components, "colors",
                               i.n_colors, "width", i.width, "hard_zeros",
                               i.has_zeros ? Py_True : Py_False, "exact",
                               i.n_auto == i.n_components ? Py_True : Py_False, "exact_seconds",
                               i.exact_s, "log2_entries", i.log2_entries, "max_influence",
                               i.max_influence, "run_bytes", (unsigned long long)i.run_bytes);
}

/* ---- certificates and scans ------------------------------------------------------------------ */

static gbs_influences *influences(const question *q, core_watch *watch)
{
    const gbs_influence_options options = {.size = sizeof options,
                                           .rule = GBS_INFLUENCE_AUTO,
                                           .memory_limit = q->options.memory_limit};
    gbs_influences *found = NULL;
    gbs_error err = {GBS_OK, ""};
    core_unlock(watch, Py_None);
    const gbs_status status = gbs_influences_new(q->model, q->evidence, &options, &found, &err);
    core_lock(watch);
    return settled(watch, status, &err) < 0 ? NULL : found;
}

/* NULL weights: all 1. @return -1 with an exception. */
static int take_weights(const question *q, PyObject *sequence, double **weight)
{
    Py_ssize_t n = 0;
    *weight = sequence == Py_None ? NULL : core_doubles(sequence, &n);
    if (sequence != Py_None && *weight == NULL) {
        return -1;
    }
    if (*weight != NULL && n != (Py_ssize_t)gbs_model_n_variables(q->model)) {
        PyErr_SetString(PyExc_ValueError, "expected a weight of each variable");
        PyMem_Free(*weight);
        *weight = NULL;
        return -1;
    }
    return 0;
}

/* certify(model, evidence, options, weights or None, accuracy): a dict */
static PyObject *certify(PyObject *self, PyObject *arguments)
{
    PyObject *o[4];
    question q;
    core_watch watch;
    double accuracy = 0.0;
    double *weight = NULL;
    gbs_error err = {GBS_OK, ""};
    gbs_sufficient found = {0};
    gbs_influence_norms norms = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOd", &o[0], &o[1], &o[2], &o[3], &accuracy) ||
        take(&q, o[0], o[1], o[2]) < 0 || take_weights(&q, o[3], &weight) < 0) {
        return NULL;
    }
    gbs_influences *c = influences(&q, &watch);
    if (c == NULL) {
        PyMem_Free(weight);
        return NULL;
    }
    core_unlock(&watch, Py_None);
    gbs_status status = gbs_influences_norms(c, &norms, &err);
    if (status >= 0) {
        status = gbs_variation_within(c, &q.options, weight, accuracy, &found, &err);
    }
    core_lock(&watch);
    PyMem_Free(weight);
    const gbs_influence_report *r = gbs_influences_report(c);
    PyObject *result =
        settled(&watch, status, &err) < 0
            ? NULL
            : Py_BuildValue("{s:O,s:d,s:d,s:d,s:O,s:K,s:K,s:d}", "dobrushin",
                            r->largest_sum < 1.0 ? Py_True : Py_False, "largest_row_sum",
                            r->largest_sum, "two_norm", norms.two_hi, "spectral_radius",
                            norms.radius_hi, "found", found.found ? Py_True : Py_False, "passes",
                            (unsigned long long)found.passes, "updates",
                            (unsigned long long)found.steps, "bound", found.value);
    gbs_influences_free(c);
    return result;
}

/* scan(model, evidence, options, weights or None, updates, accuracy): (sequence, dict) */
static PyObject *optimise_scan(PyObject *self, PyObject *arguments)
{
    PyObject *o[4];
    question q;
    core_watch watch;
    unsigned long long steps = 0;
    double accuracy = 0.0;
    double *weight = NULL;
    uint32_t *sequence = NULL;
    size_t n = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_scan_report r = {.size = sizeof r};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOKd", &o[0], &o[1], &o[2], &o[3], &steps, &accuracy) ||
        take(&q, o[0], o[1], o[2]) < 0 || take_weights(&q, o[3], &weight) < 0) {
        return NULL;
    }
    gbs_influences *c = influences(&q, &watch);
    if (c == NULL) {
        PyMem_Free(weight);
        return NULL;
    }
    const gbs_scan_request request = {.size = sizeof request,
                                      .weight = weight,
                                      .steps = steps,
                                      .accuracy = accuracy,
                                      .iterate = 1};
    core_unlock(&watch, Py_None);
    const gbs_status status = gbs_scan_optimise(c, &request, &sequence, &n, &r, &err);
    core_lock(&watch);
    PyMem_Free(weight);
    gbs_influences_free(c);
    uint32_t *copy = settled(&watch, status, &err) < 0 ? NULL : malloc(n * sizeof *copy + 1);
    if (copy == NULL) {
        gbs_free(sequence);
        return PyErr_Occurred() != NULL ? NULL : PyErr_NoMemory();
    }
    memcpy(copy, sequence, n * sizeof *copy);
    gbs_free(sequence);
    PyObject *array = state_array(copy, (Py_ssize_t)n);
    return array == NULL ? NULL
                         : Py_BuildValue("(N{s:d,s:d,s:I})", array, "systematic", r.before, "bound",
                                         r.after, "visited", r.n_visited);
}

/* ---- reports --------------------------------------------------------------------------------- */

/* report(path, name, summary) */
static PyObject *write_report(PyObject *self, PyObject *arguments)
{
    const char *path = NULL;
    const char *text = NULL;
    Py_ssize_t n = 0;
    gbs_report_source source = {.name = NULL};
    gbs_output *output = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sss#", &path, &source.name, &text, &n)) {
        return NULL;
    }
    source.text = text;
    source.n = (size_t)n;
    gbs_status status = gbs_output_open(path, &output, &err);
    if (status >= 0) {
        status = gbs_report_html(&source, 1, output, &err);
        if (status < 0) {
            gbs_output_discard(output);
        } else {
            status = gbs_output_commit(output, &err);
        }
    }
    return status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

PyMethodDef core_ask_methods[] = {
    {"map", find_map, METH_VARARGS, "map(model, evidence, options, progress)"},
    {"log_z", find_log_z, METH_VARARGS, "log_z(model, evidence, options, progress)"},
    {"cases", answer_cases, METH_VARARGS,
     "cases(model, evidence, options, progress, columns, query, n, states)"},
    {"info", model_info, METH_VARARGS, "info(model, evidence, options)"},
    {"certify", certify, METH_VARARGS, "certify(model, evidence, options, weights, accuracy)"},
    {"scan", optimise_scan, METH_VARARGS,
     "scan(model, evidence, options, weights, updates, accuracy)"},
    {"report", write_report, METH_VARARGS, "report(path, name, summary)"},
    {NULL, NULL, 0, NULL}};
