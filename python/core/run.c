/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: marginals, joint tables and draws. */
#include "core.h"
#include "gibbsite/joint.h"
#include "gibbsite/report.h"

#include <stdlib.h>
#include <string.h>

/* The data that callbacks collect during a run. */
typedef struct collector {
    core_watch watch;
    uint32_t n_variables, n_kept;
    const uint32_t *kept; /* variables whose draws are kept; NULL: all variables */
    Py_ssize_t item;      /* bytes of a state; 0: draws are not kept */
    unsigned char *state; /* [n][n_kept] states of the draws */
    double *log_density;  /* [n] log-densities of the draws */
    size_t n,
        capacity; /* number of draws of all chains; number of draws for which memory is allocated */
    uint64_t expected;         /* number of draws that the options imply; 0: not known */
    gbs_run *run;              /* run whose memory limit includes the bytes of the draws */
    gbs_joint_estimate *joint; /* estimate of a joint table; NULL if not wanted */
} collector;

static int on_run_progress(void *context, const gbs_progress *progress)
{
    return core_look(&((collector *)context)->watch, progress);
}

static gbs_status no_memory(gbs_error *err)
{
    err->status = GBS_ERR_MEMORY;
    strcpy(err->message, "out of memory for draws");
    return GBS_ERR_MEMORY;
}

/* Counts the bytes of n kept draws towards the memory limit. */
static gbs_status count_draws(const collector *c, uint64_t n, gbs_error *err)
{
    const uint64_t each = (uint64_t)c->n_kept * (uint64_t)c->item + sizeof *c->log_density;
    const uint64_t bytes = n > SIZE_MAX / each ? SIZE_MAX : n * each;
    return gbs_run_count_bytes(c->run, (size_t)bytes, "draws", err);
}

static gbs_status grow(collector *c, gbs_error *err)
{
    size_t more = c->capacity == 0 ? 64 : 2 * c->capacity;
    if (c->n < c->expected && more > c->expected) {
        more = (size_t)c->expected;
    }
    if (more > c->expected) {
        const gbs_status status = count_draws(c, more, err);
        if (status < 0) {
            return status;
        }
    }
    unsigned char *state = realloc(c->state, more * c->n_kept * (size_t)c->item + 1);
    if (state == NULL) {
        return no_memory(err);
    }
    c->state = state;
    double *density = realloc(c->log_density, more * sizeof *density);
    if (density == NULL) {
        return no_memory(err);
    }
    c->log_density = density;
    c->capacity = more;
    return GBS_OK;
}

static gbs_status on_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                          const uint32_t *state, gbs_error *err)
{
    collector *c = context;
    (void)draw;
    if (c->joint != NULL) {
        return gbs_joint_estimate_add(c->joint, chain, state, err);
    }
    const gbs_status status = c->n == c->capacity ? grow(c, err) : GBS_OK;
    if (status < 0) {
        return status;
    }
    unsigned char *to = c->state + c->n * c->n_kept * (size_t)c->item;
    for (uint32_t i = 0; i < c->n_kept; i++) {
        const uint32_t value = state[c->kept == NULL ? i : c->kept[i]];
        if (c->item == 1) {
            to[i] = (unsigned char)value;
        } else {
            const uint16_t wide = (uint16_t)value;
            memcpy(to + 2 * (size_t)i, &wide, sizeof wide);
        }
    }
    c->log_density[c->n++] = log_density;
    return GBS_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

PyObject *core_summary(const gbs_run *run, const gbs_run_options *options,
                       const gbs_evidence *evidence)
{
    const gbs_summary_about about = {
        .size = sizeof about, .options = options, .observed = evidence};
    gbs_output *output = NULL;
    gbs_error err = {GBS_OK, ""};
    gbs_status status = gbs_output_open_memory(&output, &err);
    if (status >= 0) {
        status = gbs_run_summary(run, &about, output, &err);
    }
    return core_written(status, output, &err);
}

/* @return {"p", "mcse", "ess", "rhat"}, or None if the run keeps no marginals. */
static PyObject *marginals_of(const gbs_run *run, const gbs_model *model)
{
    static const char *const name[4] = {"p", "mcse", "ess", "rhat"};
    const size_t n = gbs_model_state_offsets(model)[gbs_model_n_variables(model)];
    gbs_error err = {GBS_OK, ""};
    double *x[4];
    PyObject *result = NULL;
    for (int i = 0; i < 4; i++) {
        x[i] = malloc(n * sizeof **x + 1);
    }
    gbs_status status = GBS_ERR_MEMORY;
    if (x[0] != NULL && x[1] != NULL && x[2] != NULL && x[3] != NULL) {
        status = gbs_run_marginals(run, x[0], x[1], x[2], x[3], &err);
    }
    if (status == GBS_OK) {
        result = PyDict_New();
    }
    for (int i = 0; i < 4; i++) {
        if (result == NULL) {
            free(x[i]);
            continue;
        }
        PyObject *array = core_vector(x[i], (Py_ssize_t)n);
        if (array == NULL || PyDict_SetItemString(result, name[i], array) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(array);
    }
    return result != NULL || PyErr_Occurred() != NULL ? result : Py_NewRef(Py_None);
}

/* @return (states, log densities), arrays of shapes (chains, draws, variables) and (chains, draws),
 * without a copy. Draws are in the order in which they were made. */
static PyObject *draws_of(collector *c, uint32_t chains)
{
    const Py_ssize_t n_draws = (Py_ssize_t)(c->n / chains);
    const Py_ssize_t row = (Py_ssize_t)c->n_kept * c->item;
    const Py_ssize_t shape[3] = {(Py_ssize_t)chains, n_draws, (Py_ssize_t)c->n_kept};
    const Py_ssize_t strides[3] = {row, row * (Py_ssize_t)chains, c->item};
    const Py_ssize_t plain[2] = {8, 8 * (Py_ssize_t)chains};
    PyObject *states =
        core_array(c->state, NULL, c->item == 1 ? "B" : "H", c->item, 3, shape, strides);
    PyObject *density =
        states == NULL ? NULL : core_array(c->log_density, NULL, "d", 8, 2, shape, plain);
    c->state = NULL;
    c->log_density = density == NULL && states == NULL ? c->log_density : NULL;
    if (density == NULL) {
        Py_XDECREF(states);
        return NULL;
    }
    return Py_BuildValue("(NN)", states, density);
}

/* ---- the calls ------------------------------------------------------------------------------- */

typedef struct request {
    PyObject *model_object, *evidence_object, *options_object, *progress;
    gbs_model *model;
    gbs_evidence *evidence;
    gbs_run_options options;
    uint32_t *about; /* [n_about] variables whose marginals are asked for; NULL: all variables */
    Py_ssize_t n_about;
    int observables; /* 1: observables of spin and Potts models are kept */
    gbs_run *run;
    gbs_status status;
    gbs_error err;
} request;

static int take(request *r)
{
    r->model = core_model(r->model_object);
    return r->model == NULL || core_evidence(r->evidence_object, &r->evidence) < 0 ||
                   core_options(r->options_object, &r->options) < 0
               ? -1
               : 0;
}

/* Before the first draw, counts the bytes of all draws that the options ask for. */
static gbs_status expect_draws(collector *c, const request *r, gbs_error *err)
{
    const uint64_t chains = gbs_run_report(r->run)->chains;
    const uint64_t each = r->options.sweeps / (r->options.thin > 0 ? r->options.thin : 1);
    c->run = r->run;
    c->expected = chains > 0 && each > UINT64_MAX / chains ? UINT64_MAX : each * chains;
    return c->item == 0 ? GBS_OK : count_draws(c, c->expected, err);
}

/* Makes and executes the run without the interpreter's lock. @return -1 with an exception. */
static int execute(request *r, collector *c, int for_draws)
{
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks,
                                         .context = c,
                                         .progress = on_run_progress,
                                         .draw = c->item > 0 || c->joint != NULL ? on_draw : NULL};
    const gbs_run_setup setup = {.size = sizeof setup,
                                 .model = r->model,
                                 .evidence = r->evidence,
                                 .options = &r->options,
                                 .task = for_draws ? GBS_RUN_DRAWS : GBS_RUN_MARGINALS,
                                 .query = for_draws ? NULL : r->about,
                                 .n_query = for_draws || r->about == NULL ? 0 : (size_t)r->n_about,
                                 .observables = r->observables != 0};
    core_unlock(&c->watch, r->progress);
    r->status = gbs_run_new_with(&setup, &r->run, &r->err);
    if (r->status >= 0) {
        r->status = expect_draws(c, r, &r->err);
    }
    if (r->status >= 0) {
        r->status = gbs_run_execute(r->run, &callbacks, &r->err);
    }
    core_lock(&c->watch);
    return core_settle(&c->watch, r->status, &r->err);
}

/* @return whether all numbers are numbers of variables; if not, a ValueError is set. */
static int are_below(const uint32_t *id, Py_ssize_t n, uint32_t n_variables)
{
    Py_ssize_t i = 0;
    while (i < n && id[i] < n_variables) {
        i++;
    }
    if (i < n) {
        PyErr_SetString(PyExc_ValueError, "expected numbers of variables");
    }
    return i == n;
}

static void settle_item(collector *c, const gbs_model *model)
{
    c->item = 1;
    for (uint32_t i = 0; i < c->n_kept; i++) {
        if (gbs_model_arity(model, c->kept == NULL ? i : c->kept[i]) > 256) {
            c->item = 2;
        }
    }
}

/* run(model, evidence, options, progress, kept, about, observables): kept is None for no draws, or
 * the variables whose draws are kept; about is None, or the variables whose marginals are asked
 * for. Marginals of other variables may be NaN. Returns a dict: summary, stopped, marginals, draws.
 */
static PyObject *run_model(PyObject *self, PyObject *arguments)
{
    request r = {.status = GBS_OK};
    collector c = {.item = 0};
    PyObject *kept = NULL;
    PyObject *about = NULL;
    PyObject *result = NULL;
    uint32_t *ids = NULL;
    Py_ssize_t n_kept = 0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOOp", &r.model_object, &r.evidence_object,
                          &r.options_object, &r.progress, &kept, &about, &r.observables) ||
        take(&r) < 0) {
        return NULL;
    }
    if (about != Py_None) {
        r.about = core_ids(about, &r.n_about);
        if (r.about == NULL) {
            return NULL;
        }
    }
    c.n_variables = gbs_model_n_variables(r.model);
    if (kept != Py_None) {
        ids = core_ids(kept, &n_kept);
        if (ids == NULL || !are_below(ids, n_kept, c.n_variables)) {
            PyMem_Free(ids);
            PyMem_Free(r.about);
            return NULL;
        }
        c.kept = ids;
        c.n_kept = (uint32_t)n_kept;
        settle_item(&c, r.model);
    }
    if (execute(&r, &c, kept != Py_None) == 0) {
        PyObject *summary = core_summary(r.run, &r.options, r.evidence);
        PyObject *marginals = summary == NULL ? NULL : marginals_of(r.run, r.model);
        const uint32_t chains = gbs_run_report(r.run)->chains;
        PyObject *draws = marginals == NULL ? NULL
                          : c.item > 0      ? draws_of(&c, chains > 0 ? chains : 1)
                                            : Py_NewRef(Py_None);
        if (draws != NULL) {
            result = Py_BuildValue("{s:O,s:O,s:O,s:O}", "summary", summary, "marginals", marginals,
                                   "draws", draws, "stopped",
                                   r.status == GBS_STOPPED ? Py_True : Py_False);
        }
        Py_XDECREF(summary);
        Py_XDECREF(marginals);
        Py_XDECREF(draws);
    }
    gbs_run_free(r.run);
    PyMem_Free(r.about);
    PyMem_Free(ids);
    free(c.state);
    free(c.log_density);
    return result;
}

static PyObject *table_of(const gbs_joint_estimate *estimate, size_t n, gbs_error *err)
{
    static const char *const name[4] = {"p", "mcse", "ess", "rhat"};
    double *x[4];
    PyObject *result = PyDict_New();
    for (int i = 0; i < 4; i++) {
        x[i] = malloc(n * sizeof **x + 1);
    }
    if (result == NULL || x[0] == NULL || x[1] == NULL || x[2] == NULL || x[3] == NULL) {
        (void)PyErr_NoMemory();
        Py_CLEAR(result);
    } else {
        const gbs_status status = gbs_joint_estimate_read(estimate, x[0], x[1], x[2], x[3], err);
        if (status < 0) {
            (void)core_fail(status, err);
            Py_CLEAR(result);
        }
    }
    for (int i = 0; i < 4; i++) {
        PyObject *array = result == NULL ? NULL : core_vector(x[i], (Py_ssize_t)n);
        if (result == NULL) {
            free(x[i]);
        } else if (array == NULL || PyDict_SetItemString(result, name[i], array) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(array);
    }
    return result;
}

/* Estimates a joint table from the draws of a run. */
static PyObject *sample_joint(request *r, uint32_t n, const uint32_t *query, size_t n_cells)
{
    collector c = {.item = 0};
    const uint32_t chains = (uint32_t)(r->options.chains > 0 ? r->options.chains : 1);
    PyObject *result = NULL;
    const gbs_status status =
        gbs_joint_estimate_new(r->model, r->evidence, n, query, chains, 0, &c.joint, &r->err);
    if (status < 0) {
        return core_fail(status, &r->err);
    }
    if (execute(r, &c, 1) == 0) {
        PyObject *table = table_of(c.joint, n_cells, &r->err);
        PyObject *summary = table == NULL ? NULL : core_summary(r->run, &r->options, r->evidence);
        if (summary != NULL) {
            result = Py_BuildValue("{s:O,s:O,s:O}", "summary", summary, "table", table, "stopped",
                                   r->status == GBS_STOPPED ? Py_True : Py_False);
        }
        Py_XDECREF(table);
        Py_XDECREF(summary);
    }
    gbs_joint_estimate_free(c.joint);
    return result;
}

/* joint(model, evidence, options, progress, query): a joint table, exact if a junction tree is
 * within the limits, else by draws. Returns a dict with two entries: the table (p and standard
 * errors), and the summary of the run or None. */
static PyObject *joint(PyObject *self, PyObject *arguments)
{
    request r = {.status = GBS_OK};
    PyObject *query = NULL;
    PyObject *result = NULL;
    Py_ssize_t n = 0;
    size_t n_cells = 1;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &r.model_object, &r.evidence_object,
                          &r.options_object, &r.progress, &query) ||
        take(&r) < 0) {
        return NULL;
    }
    uint32_t *ids = core_ids(query, &n);
    if (ids == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n && n_cells <= GBS_JOINT_MAX_STATES; i++) {
        n_cells *= gbs_model_arity(r.model, ids[i]);
    }
    double *p = n_cells <= GBS_JOINT_MAX_STATES ? malloc(n_cells * sizeof *p + 1) : NULL;
    const gbs_exact_options limits = {
        .size = sizeof limits,
        .memory_limit = r.options.memory_limit,
        .threads = r.options.threads,
        .most_s = r.options.method == GBS_METHOD_EXACT ? 0.0 : 0.5 * r.options.budget_s};
    core_watch watch;
    core_unlock(&watch, Py_None);
    gbs_status status =
        p == NULL ? GBS_ERR_MEMORY
        : r.options.method == GBS_METHOD_SAMPLE
            ? GBS_ERR_LIMIT
            : gbs_exact_joint(r.model, r.evidence, &limits, (uint32_t)n, ids, p, &r.err);
    core_lock(&watch);
    if (status == GBS_OK) {
        PyObject *array = core_vector(p, (Py_ssize_t)n_cells);
        result = array == NULL ? NULL
                               : Py_BuildValue("{s:O,s:{s:N},s:O}", "summary", Py_None, "table",
                                               "p", array, "stopped", Py_False);
        p = NULL;
    } else if (p != NULL && status == GBS_ERR_LIMIT && r.options.method != GBS_METHOD_EXACT) {
        r.err = (gbs_error){GBS_OK, ""};
        result = sample_joint(&r, (uint32_t)n, ids, n_cells);
    } else if (p == NULL) {
        PyErr_SetString(PyExc_ValueError, "the table has more than 2^24 entries");
    } else {
        (void)core_fail(status, &r.err);
    }
    free(p);
    gbs_run_free(r.run);
    PyMem_Free(ids);
    return result;
}

PyMethodDef core_run_methods[] = {
    {"run", run_model, METH_VARARGS,
     "run(model, evidence, options, progress, kept, about, observables)"},
    {"joint", joint, METH_VARARGS, "joint(model, evidence, options, progress, query)"},
    {NULL, NULL, 0, NULL}};
