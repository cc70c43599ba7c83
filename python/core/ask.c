/* SPDX-License-Identifier: Apache-2.0 */
/* Questions: most probable states, ln Z, tables of cases, properties of a model, reports. */
#include "core.h"
#include "gibbsite/cases.h"
#include "gibbsite/info.h"
#include "gibbsite/log_z.h"
#include "gibbsite/map.h"
#include "gibbsite/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- most probable states -------------------------------------------------------------------- */

static const core_field map_fields[] = {
    {"log_density", CORE_REAL, offsetof(gbs_map_report, log_density)},
    {"final_log_density", CORE_REAL, offsetof(gbs_map_report, final_log_density)},
    {"upper_bound", CORE_REAL, offsetof(gbs_map_report, upper_bound)},
    {"gap", CORE_REAL, offsetof(gbs_map_report, gap)},
    {"free_variables", CORE_COUNT, offsetof(gbs_map_report, n_free_variables)},
    {"exact_variables", CORE_COUNT, offsetof(gbs_map_report, n_exact_variables)},
    {"chains", CORE_COUNT, offsetof(gbs_map_report, chains)},
    {"rounds", CORE_WIDE, offsetof(gbs_map_report, rounds)},
    {"sweeps", CORE_WIDE, offsetof(gbs_map_report, sweeps)},
    {"updates", CORE_WIDE, offsetof(gbs_map_report, updates)},
    {"tau0", CORE_REAL, offsetof(gbs_map_report, tau0)},
    {"stop", CORE_TEXT, offsetof(gbs_map_report, stop)},
    {"seconds", CORE_REAL, offsetof(gbs_map_report, seconds)},
    {NULL, 0, 0}};

/* map(model, evidence, options, progress): (state, dict) */
static PyObject *find_map(PyObject *self, PyObject *arguments)
{
    PyObject *o[3];
    core_asked q;
    core_watch watch;
    gbs_error err = {GBS_OK, ""};
    gbs_map_report r = {.size = sizeof r};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOO", &o[0], &o[1], &o[2], &q.progress) ||
        core_take(&q, o[0], o[1], o[2]) < 0) {
        return NULL;
    }
    const Py_ssize_t n = (Py_ssize_t)gbs_model_n_variables(q.model);
    uint32_t *state = calloc((size_t)n + 1, sizeof *state);
    if (state == NULL) {
        return PyErr_NoMemory();
    }
    const gbs_map_callbacks callbacks = {
        .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
    core_unlock(&watch, q.progress);
    const gbs_status status = gbs_map(q.model, q.evidence, &q.options, &callbacks, state, &r, &err);
    core_lock(&watch);
    if (core_settle(&watch, status, &err) < 0) {
        free(state);
        return NULL;
    }
    PyObject *about = core_dict(&r, map_fields);
    if (about != NULL && core_put(about, "optimal", PyBool_FromLong(r.gap == 0.0)) < 0) {
        Py_CLEAR(about);
    }
    PyObject *array = core_states(state, n);
    return Py_BuildValue("(NN)", array, about); /* an argument that is NULL has set an exception */
}

static const core_field mmap_fields[] = {
    {"log_p", CORE_REAL, offsetof(gbs_mmap_report, log_p)},
    {"log_bound", CORE_REAL, offsetof(gbs_mmap_report, log_bound)},
    {"sums", CORE_WIDE, offsetof(gbs_mmap_report, n_sums)},
    {"stop", CORE_TEXT, offsetof(gbs_mmap_report, stop)},
    {"seconds", CORE_REAL, offsetof(gbs_mmap_report, seconds)},
    {NULL, 0, 0}};

/* mmap(model, evidence, options, progress, query): (state, dict) */
static PyObject *find_mmap(PyObject *self, PyObject *arguments)
{
    PyObject *o[4];
    core_asked q;
    core_watch watch;
    Py_ssize_t n = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_mmap_report r = {.size = sizeof r};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &o[0], &o[1], &o[2], &q.progress, &o[3]) ||
        core_take(&q, o[0], o[1], o[2]) < 0) {
        return NULL;
    }
    uint32_t *query = core_ids(o[3], &n);
    uint32_t *state = query == NULL ? NULL : calloc((size_t)n + 1, sizeof *state);
    if (state == NULL) {
        PyMem_Free(query);
        return query == NULL ? NULL : PyErr_NoMemory();
    }
    const gbs_map_callbacks callbacks = {
        .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
    core_unlock(&watch, q.progress);
    const gbs_status status =
        gbs_mmap(q.model, q.evidence, &q.options, &callbacks, (uint32_t)n, query, state, &r, &err);
    core_lock(&watch);
    PyMem_Free(query);
    if (core_settle(&watch, status, &err) < 0) {
        free(state);
        return NULL;
    }
    PyObject *array = core_states(state, n);
    return Py_BuildValue("(NN)", array, core_dict(&r, mmap_fields));
}

/* ---- ln Z ------------------------------------------------------------------------------------ */

static const core_field log_z_fields[] = {
    {"log_z", CORE_REAL, offsetof(gbs_log_z_report, log_z)},
    {"mcse", CORE_REAL, offsetof(gbs_log_z_report, error)},
    {"low", CORE_REAL, offsetof(gbs_log_z_report, low)},
    {"high", CORE_REAL, offsetof(gbs_log_z_report, high)},
    {"lower_bound", CORE_REAL, offsetof(gbs_log_z_report, lower_bound)},
    {"ess", CORE_REAL, offsetof(gbs_log_z_report, ess)},
    {"barrier", CORE_REAL, offsetof(gbs_log_z_report, barrier)},
    {"valid_share", CORE_REAL, offsetof(gbs_log_z_report, valid_share)},
    {"free_variables", CORE_COUNT, offsetof(gbs_log_z_report, n_free_variables)},
    {"exact_variables", CORE_COUNT, offsetof(gbs_log_z_report, n_exact_variables)},
    {"chains", CORE_COUNT, offsetof(gbs_log_z_report, chains)},
    {"temperatures", CORE_WIDE, offsetof(gbs_log_z_report, temperatures)},
    {"annealings", CORE_WIDE, offsetof(gbs_log_z_report, rounds)},
    {"iterations", CORE_WIDE, offsetof(gbs_log_z_report, sweeps)},
    {"burn_in", CORE_WIDE, offsetof(gbs_log_z_report, burn_in)},
    {"round_trips", CORE_WIDE, offsetof(gbs_log_z_report, round_trips)},
    {"updates", CORE_WIDE, offsetof(gbs_log_z_report, updates)},
    {"tempered", CORE_FLAG, offsetof(gbs_log_z_report, tempered)},
    {"converged", CORE_FLAG, offsetof(gbs_log_z_report, converged)},
    {"verdict", CORE_TEXT, offsetof(gbs_log_z_report, verdict)},
    {"stop", CORE_TEXT, offsetof(gbs_log_z_report, stop)},
    {"seconds", CORE_REAL, offsetof(gbs_log_z_report, seconds)},
    {NULL, 0, 0}};

/* log_z(model, evidence, options, progress): a dict */
static PyObject *find_log_z(PyObject *self, PyObject *arguments)
{
    PyObject *o[3];
    core_asked q;
    core_watch watch;
    gbs_error err = {GBS_OK, ""};
    gbs_log_z_report r = {.size = sizeof r};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOO", &o[0], &o[1], &o[2], &q.progress) ||
        core_take(&q, o[0], o[1], o[2]) < 0) {
        return NULL;
    }
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
    core_unlock(&watch, q.progress);
    const gbs_status status = gbs_log_z(q.model, q.evidence, &q.options, &callbacks, &r, &err);
    core_lock(&watch);
    PyObject *about = core_settle(&watch, status, &err) < 0 ? NULL : core_dict(&r, log_z_fields);
    if (about != NULL &&
        core_put(about, "exact", PyBool_FromLong(r.n_exact_variables == r.n_free_variables)) < 0) {
        Py_CLEAR(about);
    }
    return about;
}

/* ---- many cases ------------------------------------------------------------------------------ */

typedef struct answers {
    double *p, *mcse, *log_p;
    int *converged;
    size_t n_done;
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
    *a = (answers){.p = NULL};
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

/* Answers all cases in groups; the clock and signals are checked between groups. */
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
        a->n_done = status == GBS_OK ? from + at_once : from;
    }
    return status == GBS_STOPPED ? GBS_ERR_STOPPED : status;
}

/* Keeps the answers after Ctrl-C; cases without an answer get NAN. */
static gbs_status keep_answered(const core_watch *watch, size_t n, size_t n_states,
                                gbs_status status, answers *a)
{
    if (status != GBS_ERR_STOPPED || !watch->interrupted || a->n_done == 0) {
        return status;
    }
    for (size_t i = a->n_done * n_states; i < n * n_states; i++) {
        a->p[i] = NAN;
        a->mcse[i] = NAN;
    }
    for (size_t i = a->n_done; i < n; i++) {
        a->log_p[i] = NAN;
        a->converged[i] = 0;
    }
    return GBS_STOPPED;
}

/* cases(model, evidence, options, progress, columns, query, n, states): a dict */
static PyObject *answer_cases(PyObject *self, PyObject *arguments)
{
    PyObject *o[5];
    core_asked q;
    core_watch watch;
    Py_buffer states;
    Py_ssize_t n = 0;
    Py_ssize_t n_columns = 0;
    Py_ssize_t n_query = 0;
    gbs_error err = {GBS_OK, ""};
    gbs_cases *cases = NULL;
    answers a = {.p = NULL};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOOny*", &o[0], &o[1], &o[2], &q.progress, &o[3], &o[4],
                          &n, &states)) {
        return NULL;
    }
    uint32_t *column = core_take(&q, o[0], o[1], o[2]) < 0 ? NULL : core_ids(o[3], &n_columns);
    uint32_t *query = column == NULL ? NULL : core_ids(o[4], &n_query);
    if (query != NULL && (size_t)states.len != (size_t)n * (size_t)n_columns * sizeof(uint32_t)) {
        PyErr_SetString(PyExc_ValueError, "expected a state of each column in each case");
    } else if (query != NULL) {
        const gbs_run_callbacks callbacks = {
            .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
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
        status = keep_answered(&watch, (size_t)n, n_states, status, &a);
        result = core_settle(&watch, status, &err) < 0
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
    core_asked q;
    core_watch watch;
    gbs_error err = {GBS_OK, ""};
    gbs_info i = {.size = sizeof i};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO", &o[0], &o[1], &o[2]) ||
        core_take(&q, o[0], o[1], o[2]) < 0) {
        return NULL;
    }
    core_unlock(&watch, Py_None);
    const gbs_status status = gbs_model_info(q.model, q.evidence, &q.options, &i, &err);
    core_lock(&watch);
    return core_settle(&watch, status, &err) < 0
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

/* ---- reports --------------------------------------------------------------------------------- */

enum { MOST_SOURCES = 64 };

/* Reads a source: (name, summary), or (path, None) for a file. */
static int take_source(PyObject *pair, gbs_report_source *source)
{
    Py_ssize_t n = 0;
    if (!core_is_tuple(pair) || !PyArg_ParseTuple(pair, "sz#", &source->name, &source->text, &n)) {
        return -1;
    }
    source->n = (size_t)n;
    return 0;
}

/* report(path, tuple of (name, summary or None)) */
static PyObject *write_report(PyObject *self, PyObject *arguments)
{
    const char *path = NULL;
    PyObject *pairs = NULL;
    gbs_report_source source[MOST_SOURCES];
    gbs_output *output = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sO!", &path, &PyTuple_Type, &pairs)) {
        return NULL;
    }
    const Py_ssize_t n = PyTuple_Size(pairs);
    if (n < 1 || n > MOST_SOURCES) {
        PyErr_Format(PyExc_ValueError, "a page has 1 to %d results, not %zd", MOST_SOURCES, n);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (take_source(PyTuple_GetItem(pairs, i), &source[i]) < 0) {
            return NULL;
        }
    }
    gbs_status status = gbs_output_open(path, &output, &err);
    if (status >= 0) {
        status = gbs_report_html(source, (size_t)n, output, &err);
        if (status < 0) {
            gbs_output_discard(output);
        } else {
            status = gbs_output_commit(output, &err);
        }
    }
    return status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

/* Reads an array of a drawing: None, or a number for each state of the model.
 * @param out out: memory of PyMem_Malloc(), or NULL for None. @return 0, or -1 with an exception.
 */
static int take_states(const gbs_model *model, PyObject *numbers, double **out)
{
    Py_ssize_t n = 0;
    if (numbers == Py_None) {
        return 0;
    }
    *out = core_doubles(numbers, &n);
    if (*out != NULL && (size_t)n != gbs_model_state_offsets(model)[gbs_model_n_variables(model)]) {
        PyErr_Format(PyExc_ValueError, "a drawing needs a number for each state, not %zd", n);
        return -1;
    }
    return *out == NULL ? -1 : 0;
}

static PyObject *drawn(const gbs_model *model, const gbs_drawing *drawing)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    gbs_status status = gbs_output_open_memory(&output, &err);
    if (status >= 0) {
        status = gbs_model_draw(model, drawing, output, &err);
    }
    return core_written(status, output, &err);
}

/* draw(model, evidence, p, mcse, query): the drawing as SVG; p, mcse and query may be None */
static PyObject *draw(PyObject *self, PyObject *arguments)
{
    PyObject *o[5];
    PyObject *result = NULL;
    gbs_evidence *evidence = NULL;
    double *p = NULL;
    double *mcse = NULL;
    uint32_t *query = NULL;
    Py_ssize_t n = 0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &o[0], &o[1], &o[2], &o[3], &o[4])) {
        return NULL;
    }
    const gbs_model *model = core_model(o[0]);
    if (model == NULL || core_evidence(o[1], &evidence) < 0) {
        return NULL;
    }
    if (o[4] == Py_None || (query = core_ids(o[4], &n)) != NULL) {
        if (take_states(model, o[2], &p) == 0 && take_states(model, o[3], &mcse) == 0) {
            const gbs_drawing drawing = {.size = sizeof drawing,
                                         .evidence = evidence,
                                         .p = p,
                                         .mcse = mcse,
                                         .query = query,
                                         .n_query = (size_t)n};
            result = drawn(model, &drawing);
        }
    }
    PyMem_Free(p);
    PyMem_Free(mcse);
    PyMem_Free(query);
    return result;
}

PyMethodDef core_ask_methods[] = {
    {"map", find_map, METH_VARARGS, "map(model, evidence, options, progress)"},
    {"log_z", find_log_z, METH_VARARGS, "log_z(model, evidence, options, progress)"},
    {"cases", answer_cases, METH_VARARGS,
     "cases(model, evidence, options, progress, columns, query, n, states)"},
    {"info", model_info, METH_VARARGS, "info(model, evidence, options)"},
    {"mmap", find_mmap, METH_VARARGS, "mmap(model, evidence, options, progress, query)"},
    {"draw", draw, METH_VARARGS, "draw(model, evidence, p, mcse, query)"},
    {"report", write_report, METH_VARARGS, "report(path, (name, summary), ...)"},
    {NULL, NULL, 0, NULL}};
