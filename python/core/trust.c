/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about the trust in answers: certificates and optimised scans, sensitivity to
 * parameters, diagnoses of draws. */
#include "core.h"
#include "gibbsite/diagnose.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/report.h"
#include "gibbsite/sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- influences ------------------------------------------------------------------------------ */

static int is_stopped(void *watch)
{
    return core_look(watch, NULL);
}

/* The source of influences: a rule that computes them, or given entries. */
typedef struct source {
    int rule;
    gbs_pair *given; /* given entries, owned; NULL: the rule finds the influences */
    size_t n_given;
} source;

static int take_rule(const char *name, int *rule)
{
    *rule = name == NULL                 ? 0
            : strcmp(name, "auto") == 0  ? GBS_INFLUENCE_AUTO
            : strcmp(name, "bound") == 0 ? GBS_INFLUENCE_BOUND
            : strcmp(name, "exact") == 0 ? GBS_INFLUENCE_EXACT
                                         : 0;
    if (*rule == 0 && name != NULL) {
        PyErr_Format(PyExc_ValueError, "influence: found \"%s\", expected auto, bound or exact",
                     name);
    }
    return *rule == 0 ? -1 : 0;
}

static int read_given(const core_asked *q, PyObject *path, source *s)
{
    gbs_error err = {GBS_OK, ""};
    const char *text = core_text(path);
    const gbs_status status =
        text == NULL ? GBS_OK : gbs_influences_read(text, q->model, &s->given, &s->n_given, &err);
    if (status < 0) {
        (void)core_fail(status, &err);
    }
    return text == NULL || status < 0 ? -1 : 0;
}

static int take_entries(PyObject *tuple, source *s)
{
    Py_ssize_t n = 0;
    Py_ssize_t n_j = 0;
    Py_ssize_t n_values = 0;
    uint32_t *i = core_ids(PyTuple_GetItem(tuple, 0), &n);
    uint32_t *j = i == NULL ? NULL : core_ids(PyTuple_GetItem(tuple, 1), &n_j);
    double *value = j == NULL ? NULL : core_doubles(PyTuple_GetItem(tuple, 2), &n_values);
    if (value != NULL && n == n_j && n == n_values) {
        s->given = malloc((size_t)n * sizeof *s->given + 1);
        for (Py_ssize_t e = 0; s->given != NULL && e < n; e++) {
            s->given[e] = (gbs_pair){.i = i[e], .j = j[e], .value = value[e]};
        }
        s->n_given = (size_t)n;
    }
    PyMem_Free(i);
    PyMem_Free(j);
    PyMem_Free(value);
    if (s->given == NULL && PyErr_Occurred() == NULL) {
        (void)PyErr_NoMemory();
    }
    return s->given == NULL ? -1 : 0;
}

/* @param how the name of a rule; (path,) of a Matrix Market file; or (i, j, values), which have
 * equal lengths. */
static int take_source(const core_asked *q, PyObject *how, source *s)
{
    *s = (source){.rule = GBS_INFLUENCE_AUTO};
    if (!PyTuple_Check(how)) {
        return take_rule(core_text(how), &s->rule);
    }
    return PyTuple_Size(how) == 1 ? read_given(q, PyTuple_GetItem(how, 0), s)
                                  : take_entries(how, s);
}

/* @param watch the watch that may stop work with the influences; it must exist as long as the
 * influences. */
static gbs_influences *influences_of(const core_asked *q, const source *s, core_watch *watch)
{
    const gbs_influence_options options = {.size = sizeof options,
                                           .rule = s->rule,
                                           .memory_limit = q->options.memory_limit,
                                           .stop = is_stopped,
                                           .stop_context = watch,
                                           .given = s->given,
                                           .n_given = s->n_given};
    gbs_influences *found = NULL;
    gbs_error err = {GBS_OK, ""};
    core_unlock(watch, Py_None);
    const gbs_status status = gbs_influences_new(q->model, q->evidence, &options, &found, &err);
    core_lock(watch);
    if (core_settle(watch, watch->interrupted ? GBS_ERR_STOPPED : status, &err) < 0) {
        gbs_influences_free(found);
        return NULL;
    }
    return found;
}

static gbs_influences *influences(const core_asked *q, PyObject *how, core_watch *watch)
{
    source s;
    gbs_influences *found = take_source(q, how, &s) < 0 ? NULL : influences_of(q, &s, watch);
    free(s.given);
    return found;
}

/* Converts weights; NULL means that all are 1.
 * @return -1 with an exception. */
static int take_weights(const core_asked *q, PyObject *sequence, double **weight)
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

static const core_field influence_fields[] = {
    {"variables", CORE_COUNT, offsetof(gbs_influence_report, n_variables)},
    {"free", CORE_COUNT, offsetof(gbs_influence_report, n_free)},
    {"entries", CORE_WIDE, offsetof(gbs_influence_report, n_entries)},
    {"enumerated_rows", CORE_COUNT, offsetof(gbs_influence_report, n_exact)},
    {"refused_rows", CORE_COUNT, offsetof(gbs_influence_report, n_refused)},
    {"largest_row_sum", CORE_REAL, offsetof(gbs_influence_report, largest_sum)},
    {"mean_row_sum", CORE_REAL, offsetof(gbs_influence_report, mean_sum)},
    {"given", CORE_WIDE, offsetof(gbs_influence_report, n_given)},
    {NULL, 0, 0}};

static PyObject *influence_dict(const gbs_influences *c, const gbs_influence_norms *norms)
{
    const gbs_influence_report *r = gbs_influences_report(c);
    PyObject *dict = core_dict(r, influence_fields);
    if (dict == NULL || core_put(dict, "dobrushin", PyBool_FromLong(r->largest_sum < 1.0)) < 0 ||
        core_put(dict, "two_norm_low", PyFloat_FromDouble(norms->two_lo)) < 0 ||
        core_put(dict, "two_norm", PyFloat_FromDouble(norms->two_hi)) < 0 ||
        core_put(dict, "radius_low", PyFloat_FromDouble(norms->radius_lo)) < 0 ||
        core_put(dict, "spectral_radius", PyFloat_FromDouble(norms->radius_hi)) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* influences(model, evidence, options, how, i, j): (values of C_ij, dict) */
static PyObject *find_influences(PyObject *self, PyObject *arguments)
{
    PyObject *o[5];
    core_asked q;
    core_watch watch;
    PyObject *how = NULL;
    Py_ssize_t n = 0;
    Py_ssize_t m = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_influence_norms norms = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOO", &o[0], &o[1], &o[2], &how, &o[3], &o[4]) ||
        core_take(&q, o[0], o[1], o[2]) < 0) {
        return NULL;
    }
    uint32_t *i = core_ids(o[3], &n);
    uint32_t *j = i == NULL ? NULL : core_ids(o[4], &m);
    double *value = j == NULL ? NULL : malloc((size_t)n * sizeof *value + 1);
    gbs_influences *c = value == NULL || n != m ? NULL : influences(&q, how, &watch);
    PyObject *result = NULL;
    if (c != NULL) {
        core_unlock(&watch, Py_None);
        const gbs_status status = gbs_influences_norms(c, &norms, &err);
        for (Py_ssize_t k = 0; k < n; k++) {
            value[k] = gbs_influence(c, i[k], j[k]);
        }
        core_lock(&watch);
        if (core_settle(&watch, status, &err) == 0) {
            PyObject *array = core_vector(value, n);
            value = NULL;
            result = Py_BuildValue("(NN)", array, influence_dict(c, &norms));
        }
    } else if (j != NULL && PyErr_Occurred() == NULL) {
        PyErr_SetString(PyExc_ValueError, "i and j must have the same length");
    }
    gbs_influences_free(c);
    free(value);
    PyMem_Free(i);
    PyMem_Free(j);
    return result;
}

/* ---- certificates and scans ------------------------------------------------------------------ */

typedef struct certifying {
    gbs_run_options options;
    double *weight;
    gbs_variation_bound *bound; /* [n_steps] bounds */
    uint64_t *steps;
    size_t n_steps;
    double accuracy;
    uint64_t length; /* number of updates of a pass */
    gbs_sufficient found;
    gbs_influence_norms norms;
} certifying;

static int take_steps(PyObject *sequence, certifying *w)
{
    Py_ssize_t n = 0;
    double *x = core_doubles(sequence, &n);
    w->steps = x == NULL ? NULL : malloc((size_t)n * sizeof *w->steps + 1);
    w->bound = x == NULL ? NULL : malloc((size_t)n * sizeof *w->bound + 1);
    w->n_steps = (size_t)n;
    for (Py_ssize_t k = 0; w->steps != NULL && k < n; k++) {
        w->steps[k] = x[k] >= 0.0 && x[k] < 9e15 ? (uint64_t)x[k] : UINT64_MAX;
    }
    if (x != NULL && (w->steps == NULL || w->bound == NULL)) {
        (void)PyErr_NoMemory();
    }
    PyMem_Free(x);
    return w->steps == NULL || w->bound == NULL ? -1 : 0;
}

static gbs_status certify_all(const gbs_influences *c, certifying *w, gbs_error *err)
{
    const double *const weight = w->weight;
    gbs_status status = gbs_influences_norms(c, &w->norms, err);
    if (status >= 0) {
        status = gbs_pass_length(c, &w->options, &w->length, err);
    }
    if (status >= 0 && w->n_steps > 0) {
        status = gbs_variation(c, &w->options, 1, weight == NULL ? NULL : &weight, w->n_steps,
                               w->steps, w->bound, err);
    }
    if (status >= 0) {
        status = gbs_variation_within(c, &w->options, weight, w->accuracy, &w->found, err);
    }
    return status;
}

/* @return one field of the bounds after each number of steps, as an array. */
static PyObject *bounds(const certifying *w, size_t field)
{
    double *value = malloc(w->n_steps * sizeof *value + 1);
    for (size_t k = 0; value != NULL && k < w->n_steps; k++) {
        memcpy(&value[k], (const char *)&w->bound[k] + field, sizeof *value);
    }
    return value == NULL ? PyErr_NoMemory() : core_vector(value, (Py_ssize_t)w->n_steps);
}

static PyObject *certificate(const gbs_influences *c, certifying *w)
{
    PyObject *dict = influence_dict(c, &w->norms);
    if (dict == NULL ||
        core_put(dict, "variation", bounds(w, offsetof(gbs_variation_bound, variation))) < 0 ||
        core_put(dict, "functions", bounds(w, offsetof(gbs_variation_bound, functions))) < 0 ||
        core_put(dict, "total_variation",
                 bounds(w, offsetof(gbs_variation_bound, total_variation))) < 0 ||
        core_put(dict, "found", PyBool_FromLong(w->found.found)) < 0 ||
        core_put(dict, "passes", PyLong_FromUnsignedLongLong(w->found.passes)) < 0 ||
        core_put(dict, "updates", PyLong_FromUnsignedLongLong(w->found.steps)) < 0 ||
        core_put(dict, "pass_length", PyLong_FromUnsignedLongLong(w->length)) < 0 ||
        core_put(dict, "bound", PyFloat_FromDouble(w->found.value)) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* certify(model, evidence, options, how, weights or None, accuracy, steps): a dict */
static PyObject *certify(PyObject *self, PyObject *arguments)
{
    PyObject *o[5];
    core_asked q;
    core_watch watch;
    certifying w = {.weight = NULL};
    PyObject *how = NULL;
    gbs_error err = {GBS_OK, ""};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOdO", &o[0], &o[1], &o[2], &how, &o[3], &w.accuracy,
                          &o[4]) ||
        core_take(&q, o[0], o[1], o[2]) < 0 || take_weights(&q, o[3], &w.weight) < 0) {
        return NULL;
    }
    w.options = q.options;
    gbs_influences *c = take_steps(o[4], &w) < 0 ? NULL : influences(&q, how, &watch);
    if (c != NULL) {
        core_unlock(&watch, Py_None);
        const gbs_status status = certify_all(c, &w, &err);
        core_lock(&watch);
        result = core_settle(&watch, status, &err) < 0 ? NULL : certificate(c, &w);
    }
    gbs_influences_free(c);
    PyMem_Free(w.weight);
    free(w.steps);
    free(w.bound);
    return result;
}

/* ---- coupled chains -------------------------------------------------------------------------- */

static const core_field coupling_fields[] = {
    {"pairs", CORE_WIDE, offsetof(gbs_coupling_report, pairs)},
    {"met", CORE_WIDE, offsetof(gbs_coupling_report, met)},
    {"lag", CORE_WIDE, offsetof(gbs_coupling_report, lag)},
    {"sweeps", CORE_WIDE, offsetof(gbs_coupling_report, sweeps)},
    {"longest", CORE_WIDE, offsetof(gbs_coupling_report, longest)},
    {"mean", CORE_REAL, offsetof(gbs_coupling_report, mean)},
    {NULL, 0, 0}};

typedef struct coupled {
    certifying asked; /* the question; its steps are passes, and its weights choose the variables */
    gbs_coupling_request request;
    gbs_coupling_bound *bound; /* [n_steps] estimates */
    double *each;              /* [n_steps][n_variables] estimates of each variable */
    gbs_coupling_report report;
} coupled;

/* @return one field of the estimates after each number of passes, as an array. */
static PyObject *estimates(const coupled *w, size_t field)
{
    const size_t n = w->asked.n_steps;
    double *value = malloc(n * sizeof *value + 1);
    for (size_t k = 0; value != NULL && k < n; k++) {
        memcpy(&value[k], (const char *)&w->bound[k] + field, sizeof *value);
    }
    return value == NULL ? PyErr_NoMemory() : core_vector(value, (Py_ssize_t)n);
}

static PyObject *coupling_dict(coupled *w, Py_ssize_t n_variables)
{
    const size_t n = w->asked.n_steps;
    uint32_t *worst = malloc(n * sizeof *worst + 1);
    for (size_t k = 0; worst != NULL && k < n; k++) {
        worst[k] = w->bound[k].worst;
    }
    PyObject *each = core_vector(w->each, (Py_ssize_t)n * n_variables);
    w->each = NULL;
    PyObject *dict = core_dict(&w->report, coupling_fields);
    if (dict == NULL || core_put(dict, "each", each) < 0 ||
        core_put(dict, "worst",
                 worst == NULL ? PyErr_NoMemory() : core_states(worst, (Py_ssize_t)n)) < 0 ||
        core_put(dict, "joint", estimates(w, offsetof(gbs_coupling_bound, joint))) < 0 ||
        core_put(dict, "joint_mcse", estimates(w, offsetof(gbs_coupling_bound, joint_mcse))) < 0 ||
        core_put(dict, "variable", estimates(w, offsetof(gbs_coupling_bound, variable))) < 0 ||
        core_put(dict, "variable_mcse", estimates(w, offsetof(gbs_coupling_bound, variable_mcse))) <
            0) {
        Py_CLEAR(dict);
    }
    return dict;
}

static gbs_status couple(const core_asked *q, const gbs_influences *c, coupled *w, gbs_error *err)
{
    const double *const weight = w->asked.weight;
    return gbs_couple(c, &q->options, &w->request, 1, weight == NULL ? NULL : &weight,
                      w->asked.n_steps, w->asked.steps, w->bound, w->each, &w->report, err);
}

/* couplings(model, evidence, options, weights or None, passes, pairs, lag, sweeps): a dict */
static PyObject *find_couplings(PyObject *self, PyObject *arguments)
{
    PyObject *o[5];
    core_asked q;
    core_watch watch;
    coupled w = {.request = {.size = sizeof w.request}, .report = {.size = sizeof w.report}};
    gbs_error err = {GBS_OK, ""};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOO&O&O&", &o[0], &o[1], &o[2], &o[3], &o[4], core_u64,
                          &w.request.pairs, core_u64, &w.request.lag, core_u64,
                          &w.request.sweeps) ||
        core_take(&q, o[0], o[1], o[2]) < 0 || take_weights(&q, o[3], &w.asked.weight) < 0) {
        return NULL;
    }
    gbs_influences *c = NULL;
    if (take_steps(o[4], &w.asked) == 0) {
        const size_t n = gbs_model_n_variables(q.model);
        w.bound = malloc(w.asked.n_steps * sizeof *w.bound + 1);
        w.each = malloc(w.asked.n_steps * n * sizeof *w.each + 1);
        if (w.bound == NULL || w.each == NULL) {
            (void)PyErr_NoMemory();
        } else {
            const source bound = {.rule = GBS_INFLUENCE_BOUND};
            c = influences_of(&q, &bound, &watch);
        }
    }
    if (c != NULL) {
        core_unlock(&watch, Py_None);
        const gbs_status status = couple(&q, c, &w, &err);
        core_lock(&watch);
        result = core_settle(&watch, status, &err) < 0
                     ? NULL
                     : coupling_dict(&w, (Py_ssize_t)gbs_model_n_variables(q.model));
    }
    gbs_influences_free(c);
    PyMem_Free(w.asked.weight);
    free(w.asked.steps);
    free(w.asked.bound);
    free(w.bound);
    free(w.each);
    return result;
}

/* ---- scans ----------------------------------------------------------------------------------- */

static const core_field scan_fields[] = {
    {"systematic", CORE_REAL, offsetof(gbs_scan_report, before)},
    {"bound", CORE_REAL, offsetof(gbs_scan_report, after)},
    {"goal", CORE_REAL, offsetof(gbs_scan_report, goal)},
    {"rounds", CORE_COUNT, offsetof(gbs_scan_report, rounds)},
    {"visited", CORE_COUNT, offsetof(gbs_scan_report, n_visited)},
    {"left", CORE_COUNT, offsetof(gbs_scan_report, n_left)},
    {NULL, 0, 0}};

/* scan(model, evidence, options, how, weights or None, updates, accuracy, match, iterate):
 * (sequence, dict) */
static PyObject *optimise_scan(PyObject *self, PyObject *arguments)
{
    PyObject *o[4];
    core_asked q;
    core_watch watch;
    PyObject *how = NULL;
    double *weight = NULL;
    uint32_t *sequence = NULL;
    size_t n = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_scan_request request = {.size = sizeof request};
    gbs_scan_report r = {.size = sizeof r};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOO&dO&p", &o[0], &o[1], &o[2], &how, &o[3], core_u64,
                          &request.steps, &request.accuracy, core_u64, &request.match,
                          &request.iterate) ||
        core_take(&q, o[0], o[1], o[2]) < 0 || take_weights(&q, o[3], &weight) < 0) {
        return NULL;
    }
    gbs_influences *c = influences(&q, how, &watch);
    if (c == NULL) {
        PyMem_Free(weight);
        return NULL;
    }
    request.weight = weight;
    request.origin = q.options.origin;
    request.start = q.options.scan == GBS_SCAN_USUAL ? NULL : &q.options;
    if (request.steps == 0 && request.match == 0 &&
        request.accuracy == 0.0) { /* `gibbsite scan` has the same default */
        request.steps = gbs_influences_report(c)->n_free;
    }
    core_unlock(&watch, Py_None);
    const gbs_status status = gbs_scan_optimise(c, &request, &sequence, &n, &r, &err);
    core_lock(&watch);
    PyMem_Free(weight);
    gbs_influences_free(c);
    uint32_t *copy = core_settle(&watch, status, &err) < 0 ? NULL : malloc(n * sizeof *copy + 1);
    if (copy == NULL) {
        gbs_free(sequence);
        return PyErr_Occurred() != NULL ? NULL : PyErr_NoMemory();
    }
    memcpy(copy, sequence, n * sizeof *copy);
    gbs_free(sequence);
    PyObject *array = core_states(copy, (Py_ssize_t)n);
    PyObject *dict = core_dict(&r, scan_fields);
    if (dict != NULL && core_put(dict, "stopped", PyBool_FromLong(status == GBS_STOPPED)) < 0) {
        Py_CLEAR(dict);
    }
    return Py_BuildValue("(NN)", array, dict);
}

/* write_scan(path, model, sequence, comment) */
static PyObject *write_scan(PyObject *self, PyObject *arguments)
{
    const char *path = NULL;
    const char *comment = NULL;
    PyObject *object = NULL;
    Py_buffer sequence;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sOy*s", &path, &object, &sequence, &comment)) {
        return NULL;
    }
    const gbs_model *model = core_model(object);
    const gbs_status status =
        model == NULL ? GBS_OK
                      : gbs_scan_write(path, model, sequence.buf,
                                       (size_t)sequence.len / sizeof(uint32_t), comment, &err);
    PyBuffer_Release(&sequence);
    return model == NULL ? NULL : status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

/* ---- sensitivity ----------------------------------------------------------------------------- */

#define CAPSULE "gibbsite.sensitivities"

static void free_sensitivities(PyObject *capsule)
{
    gbs_sensitivities *s = PyCapsule_GetPointer(capsule, CAPSULE);
    gbs_sensitivities_free(s);
    free(s);
}

static const core_field sensitivity_fields[] = {
    {"variable", CORE_COUNT, offsetof(gbs_sensitivities, variable)},
    {"state", CORE_COUNT, offsetof(gbs_sensitivities, state)},
    {"p", CORE_REAL, offsetof(gbs_sensitivities, p)},
    {"mcse", CORE_REAL, offsetof(gbs_sensitivities, p_mcse)},
    {"exact", CORE_FLAG, offsetof(gbs_sensitivities, exact)},
    {"converged", CORE_FLAG, offsetof(gbs_sensitivities, converged)},
    {"verdict", CORE_TEXT, offsetof(gbs_sensitivities, verdict)},
    {NULL, 0, 0}};

/* Makes an array of the answer's memory, which the capsule keeps alive. */
static PyObject *lend(void *data, PyObject *capsule, const char *format, size_t item, size_t n)
{
    const Py_ssize_t length = (Py_ssize_t)n;
    return core_array(data, capsule, format, (Py_ssize_t)item, 1, &length, NULL);
}

static PyObject *give_sensitivities(gbs_sensitivities *s, PyObject *capsule)
{
    const size_t n = s->n_parameters;
    PyObject *dict = core_dict(s, sensitivity_fields);
    if (dict == NULL || core_put(dict, "handle", Py_NewRef(capsule)) < 0 ||
        core_put(dict, "kind", lend(s->kind, capsule, "I", 4, n)) < 0 ||
        core_put(dict, "factor", lend(s->factor, capsule, "L", sizeof(size_t), n)) < 0 ||
        core_put(dict, "of", lend(s->of, capsule, "I", 4, n)) < 0 ||
        core_put(dict, "entry", lend(s->entry, capsule, "L", sizeof(size_t), n)) < 0 ||
        core_put(dict, "value", lend(s->value, capsule, "d", 8, n)) < 0 ||
        core_put(dict, "derivative", lend(s->derivative, capsule, "d", 8, n)) < 0 ||
        core_put(dict, "error", lend(s->mcse, capsule, "d", 8, n)) < 0 ||
        core_put(dict, "log_p", lend(s->log_p, capsule, "d", 8, n)) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* sensitivity(model, evidence, options, progress, variable, state): a dict */
static PyObject *sensitivity(PyObject *self, PyObject *arguments)
{
    PyObject *o[3];
    core_asked q;
    core_watch watch;
    uint32_t variable = 0;
    uint32_t state = 0;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOO&O&", &o[0], &o[1], &o[2], &q.progress, core_u32,
                          &variable, core_u32, &state) ||
        core_take(&q, o[0], o[1], o[2]) < 0) {
        return NULL;
    }
    gbs_sensitivities *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return PyErr_NoMemory();
    }
    s->size = sizeof *s;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
    core_unlock(&watch, q.progress);
    const gbs_status status =
        gbs_sensitivity(q.model, q.evidence, variable, state, &q.options, &callbacks, s, &err);
    core_lock(&watch);
    PyObject *capsule = core_settle(&watch, status, &err) < 0
                            ? NULL
                            : PyCapsule_New(s, CAPSULE, free_sensitivities);
    if (capsule == NULL) {
        gbs_sensitivities_free(s);
        free(s);
        return NULL;
    }
    PyObject *dict = give_sensitivities(s, capsule);
    Py_DECREF(capsule);
    if (dict != NULL && core_put(dict, "stopped", PyBool_FromLong(status == GBS_STOPPED)) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* sensitivity_at(handle, values): values of all parameters; NAN: not asked for */
static PyObject *sensitivity_at(PyObject *self, PyObject *arguments)
{
    PyObject *capsule = NULL;
    Py_buffer values;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Oy*", &capsule, &values)) {
        return NULL;
    }
    const gbs_sensitivities *s = PyCapsule_GetPointer(capsule, CAPSULE);
    const double *value = values.buf;
    double *p = s == NULL ? NULL : malloc(s->n_parameters * sizeof *p + 1);
    const int fits = s != NULL && (size_t)values.len == s->n_parameters * sizeof *p;
    for (size_t i = 0; fits && p != NULL && i < s->n_parameters; i++) {
        p[i] = isnan(value[i]) ? value[i] : gbs_sensitivity_at(s, i, value[i]);
    }
    PyBuffer_Release(&values);
    if (s == NULL || p == NULL || !fits) {
        free(p);
        if (s != NULL) {
            PyErr_SetString(PyExc_ValueError, "expected a value of each parameter");
        }
        return NULL;
    }
    return core_vector(p, (Py_ssize_t)s->n_parameters);
}

/* sensitivity_to_reach(handle, p): the value of each parameter at which the probability is p */
static PyObject *sensitivity_to_reach(PyObject *self, PyObject *arguments)
{
    PyObject *capsule = NULL;
    double p = 0.0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Od", &capsule, &p)) {
        return NULL;
    }
    const gbs_sensitivities *s = PyCapsule_GetPointer(capsule, CAPSULE);
    double *value = s == NULL ? NULL : malloc(s->n_parameters * sizeof *value + 1);
    if (value == NULL) {
        return s == NULL ? NULL : PyErr_NoMemory();
    }
    for (size_t i = 0; i < s->n_parameters; i++) {
        value[i] = gbs_sensitivity_value_for(s, i, p);
    }
    return core_vector(value, (Py_ssize_t)s->n_parameters);
}

/* ---- draws ----------------------------------------------------------------------------------- */

static const core_field diagnosis_fields[] = {
#define FIELD(name)                                       \
    {                                                     \
#name, CORE_REAL, offsetof(gbs_diagnostics, name) \
    }
    FIELD(mean),
    FIELD(sd),
    FIELD(median),
    FIELD(q5),
    FIELD(q95),
    FIELD(mcse_mean),
    FIELD(mcse_sd),
    FIELD(mcse_median),
    FIELD(rhat),
    FIELD(rhat_bulk),
    FIELD(rhat_folded),
    FIELD(ess_bulk),
    FIELD(ess_tail),
    FIELD(ess_mean),
    FIELD(ess_sd),
#undef FIELD
    {"constant", CORE_FLAG, offsetof(gbs_diagnostics, constant)},
    {NULL, 0, 0}};

/* diagnose(draws, chains, draws of each): a dict */
static PyObject *diagnose(PyObject *self, PyObject *arguments)
{
    Py_buffer draws;
    Py_ssize_t n_chains = 0;
    Py_ssize_t n_draws = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_diagnostics d = {.size = sizeof d};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "y*nn", &draws, &n_chains, &n_draws)) {
        return NULL;
    }
    const int fits = n_chains >= 0 && n_draws >= 0 &&
                     (size_t)draws.len == (size_t)n_chains * (size_t)n_draws * sizeof(double);
    gbs_status status = GBS_OK;
    if (fits) {
        PyThreadState *saved = PyEval_SaveThread();
        status = gbs_diagnose(draws.buf, (size_t)n_chains, (size_t)n_draws, &d, &err);
        PyEval_RestoreThread(saved);
    }
    PyBuffer_Release(&draws);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "expected as many draws of each chain");
        return NULL;
    }
    return status < 0 ? core_fail(status, &err) : core_dict(&d, diagnosis_fields);
}

/* draws_summary(names, draws [quantities][chains][draws], chains, draws of each): JSON */
static PyObject *draws_summary(PyObject *self, PyObject *arguments)
{
    PyObject *names = NULL;
    Py_buffer draws;
    Py_ssize_t n_chains = 0;
    Py_ssize_t n_draws = 0;
    gbs_output *output = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!y*nn", &PyTuple_Type, &names, &draws, &n_chains,
                          &n_draws)) {
        return NULL;
    }
    const size_t n = (size_t)PyTuple_Size(names);
    const size_t each = (size_t)(n_chains * n_draws);
    gbs_drawn *drawn = PyMem_Calloc(n + 1, sizeof *drawn);
    int fits = drawn != NULL && (size_t)draws.len == n * each * sizeof(double);
    for (size_t i = 0; fits && i < n; i++) {
        drawn[i].name = core_text(PyTuple_GetItem(names, (Py_ssize_t)i));
        drawn[i].draws = (const double *)draws.buf + i * each;
        fits = drawn[i].name != NULL;
    }
    gbs_status status = fits ? gbs_output_open_memory(&output, &err) : GBS_OK;
    if (fits && status >= 0) {
        status = gbs_draws_summary(drawn, n, (size_t)n_chains, (size_t)n_draws, output, &err);
    }
    PyBuffer_Release(&draws);
    PyMem_Free(drawn);
    if (!fits) {
        if (PyErr_Occurred() == NULL) {
            PyErr_SetString(PyExc_ValueError, "expected draws of each quantity");
        }
        return NULL;
    }
    return core_written(status, output, &err);
}

PyMethodDef core_trust_methods[] = {
    {"influences", find_influences, METH_VARARGS,
     "influences(model, evidence, options, how, i, j)"},
    {"certify", certify, METH_VARARGS,
     "certify(model, evidence, options, how, weights, accuracy, steps)"},
    {"couplings", find_couplings, METH_VARARGS,
     "couplings(model, evidence, options, weights, passes, pairs, lag, sweeps)"},
    {"scan", optimise_scan, METH_VARARGS,
     "scan(model, evidence, options, how, weights, updates, accuracy, match, iterate)"},
    {"write_scan", write_scan, METH_VARARGS, "write_scan(path, model, sequence, comment)"},
    {"sensitivity", sensitivity, METH_VARARGS,
     "sensitivity(model, evidence, options, progress, variable, state)"},
    {"sensitivity_at", sensitivity_at, METH_VARARGS, "sensitivity_at(handle, values)"},
    {"sensitivity_to_reach", sensitivity_to_reach, METH_VARARGS, "sensitivity_to_reach(handle, p)"},
    {"diagnose", diagnose, METH_VARARGS, "diagnose(draws, chains, draws_each)"},
    {"draws_summary", draws_summary, METH_VARARGS,
     "draws_summary(names, draws, chains, draws_each)"},
    {NULL, NULL, 0, NULL}};
