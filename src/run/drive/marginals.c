/* SPDX-License-Identifier: Apache-2.0 */
/* The estimates in the user's numbering, and their digest. */
#include "drive/runners.h"

#include <math.h>

#include "base/extremes.h"
#include "base/memory.h"

gbs_status gbsi_no_draw_kept(gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_STATE, "no draw was kept: there is nothing to estimate from");
}

double gbsi_one_nan(double value)
{
    return isnan(value) ? NAN : value;
}

/* ---- one variable ---------------------------------------------------------------------------- */

typedef struct marginals_job {
    const gbs_run *run;
    uint32_t first, end;      /* range of the user's variables */
    double *out[GBSI_N_ROWS]; /* estimates of the variables in this range; NULL for a row that the
                                 caller does not need */
    uint32_t n_members;
    size_t n_scratch; /* p, mcse, ess and rhat of each state of a variable */
    double *scratch;  /* [n_members][n_scratch] */
} marginals_job;

/* Sets the estimates of a state whose probability does not come from draws. If the variable has no
 * estimate, all its states get NAN, including those that evidence rules out. */
static void put_known(const marginals_job *job, size_t at, double p, double mcse)
{
    const double value[GBSI_N_ROWS] = {p, mcse, NAN, NAN};
    for (unsigned r = 0; r < GBSI_N_ROWS; ++r) {
        if (job->out[r] != NULL) {
            job->out[r][at] = value[r];
        }
    }
}

static void put_sampled(const marginals_job *job, size_t at, double *const row[GBSI_N_ROWS],
                        const uint32_t *state, uint32_t n_states)
{
    for (unsigned r = 0; r < GBSI_N_ROWS; ++r) {
        for (uint32_t a = 0; a < n_states && job->out[r] != NULL; ++a) {
            job->out[r][at + state[a]] = row[r][a];
        }
    }
}

/* Writes the marginal of a variable that was pruned from the model. If the variable is drawn given
 * exact draws of the other variables, its marginal is estimated; otherwise the marginal is NAN. */
static void put_pruned(const marginals_job *job, uint32_t u, size_t at)
{
    const gbsi_barren *b = job->run->task.problem.barren;
    const uint32_t v = b == NULL ? GBSI_NONE : b->full->free_variable[u];
    for (uint32_t a = 0; b == NULL && a < job->run->task.problem.model->arity[u]; ++a) {
        put_known(job, at + a, NAN, NAN);
    }
    for (uint32_t a = 0; b != NULL && a < b->full->arity[v]; ++a) {
        const size_t state = at + gbsi_conditioned_states(b->full, v)[a];
        double mcse = 0.0;
        const double p = gbsi_barren_p(b, v, a, &mcse);
        put_known(job, state, p, mcse);
        if (job->out[GBSI_ESS] != NULL) {
            job->out[GBSI_ESS][state] = p * (1.0 - p) / (mcse * mcse);
        }
    }
}

/* Writes the estimates of one of the user's variables. */
static void variable_marginal(const marginals_job *job, uint32_t u, double *scratch)
{
    const gbsi_problem *problem = &job->run->task.problem;
    const gbsi_estimates *estimates = &job->run->sampling.estimates;
    const gbsi_conditioned *whole = problem->whole;
    const uint32_t v = whole->free_variable[u];
    const uint32_t arity = problem->model->arity[u];
    const size_t at = problem->model->state_offset[u] - problem->model->state_offset[job->first];
    for (uint32_t a = 0; a < arity; ++a) {
        put_known(job, at + a, v == GBSI_NONE && whole->fixed_state[u] == a ? 1.0 : 0.0, 0.0);
    }
    if (v == GBSI_NONE && whole->fixed_state[u] == GBSI_NONE) {
        put_pruned(job, u, at);
    }
    if (v == GBSI_NONE) {
        return;
    }
    const uint32_t of_part = problem->part_of == NULL ? v : problem->part_of[v];
    const uint32_t k = whole->arity[v];
    const uint32_t *state = gbsi_conditioned_states(whole, v);
    if (of_part == GBSI_NONE && problem->exact[problem->components->of[v]] != 0) {
        for (uint32_t a = 0; a < k; ++a) {
            put_known(job, at + state[a], estimates->exact_p[whole->state_offset[v] + a],
                      estimates->exact_mcse);
        }
        return;
    }
    double *row[GBSI_N_ROWS] = {scratch};
    for (unsigned r = GBSI_MCSE; r < GBSI_N_ROWS; ++r) {
        row[r] = job->out[r] == NULL ? NULL : scratch + r * (size_t)k;
    }
    row[GBSI_P][0] = NAN; /* the scan leaves out this variable */
    if (of_part != GBSI_NONE) {
        job->run->task.runner->marginal(&job->run->sampling, of_part, row);
    }
    if (!isnan(row[GBSI_P][0])) {
        put_sampled(job, at, row, state, k);
        return;
    }
    for (uint32_t a = 0; a < arity; ++a) {
        put_known(job, at + a, NAN, NAN); /* the scan never visits this variable */
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void marginals_share(void *context, uint32_t member)
{
    const marginals_job *job = context;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(job->end - job->first, 64, member, job->n_members, &first, &end);
    for (uint64_t u = job->first + first; u < job->first + end; ++u) {
        variable_marginal(job, (uint32_t)u, job->scratch + member * job->n_scratch);
    }
}

static gbs_status share_marginals(marginals_job job, gbsi_pool *pool, gbs_error *err)
{
    const gbs_model *model = job.run->task.problem.model;
    job.n_scratch = GBSI_N_ROWS * (size_t)gbsi_largest(model->arity, model->n_variables);
    job.n_members = gbsi_pool_size(pool);
    const size_t n = job.n_members * job.n_scratch;
    job.scratch = gbsi_alloc_array(n, sizeof *job.scratch);
    GBSI_PASS(GBSI_HAVE(err, "marginals", job.scratch));
    gbsi_pool_run(pool, marginals_share, &job);
    gbsi_free(job.scratch);
    return GBS_OK;
}

/* Fails if the marginals of the run cannot be read yet. */
static gbs_status check_marginals(const gbs_run *run, gbs_error *err)
{
    if (run->report.executed && !run->report.answering) {
        return gbsi_fail(
            err, GBS_ERR_STATE,
            "the run failed or is in the middle of a pass: there are no marginals to read");
    }
    if (!run->report.executed) {
        return gbsi_no_draw_kept(err);
    }
    return run->task.runner->check == NULL ? GBS_OK : run->task.runner->check(run, err);
}

gbs_status gbs_run_marginals(const gbs_run *run, double *p, double *mcse, double *ess, double *rhat,
                             gbs_error *err)
{
    GBSI_NEED(run, p);
    if (run->task.runner->marginals != NULL) {
        return run->task.runner->marginals(run, p, mcse, ess, rhat, err);
    }
    return gbs_run_marginals_of(run, 0, run->task.problem.model->n_variables, p, mcse, ess, rhat,
                                err);
}

gbs_status gbs_run_marginals_of(const gbs_run *run, uint32_t first, uint32_t n, double *p,
                                double *mcse, double *ess, double *rhat, gbs_error *err)
{
    GBSI_NEED(run, p);
    if (run->task.runner->marginals != NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "the model is on several ranks: use gbs_run_each_marginal()");
    }
    const uint32_t n_all = run->task.problem.model->n_variables;
    if (first > n_all || n > n_all - first) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found variables from %u on, %u of them, expected some of %u", first, n,
                         n_all);
    }
    const gbs_status status = check_marginals(run, err);
    const marginals_job job = {
        .run = run, .first = first, .end = first + n, .out = {p, mcse, ess, rhat}};
    /* One thread does the work, because several threads of the caller may read the run at once. */
    return status < 0 ? status : share_marginals(job, NULL, err);
}

static gbs_status tell_all(const gbs_model *model, const double *value, size_t n,
                           gbs_on_marginal *on, void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint32_t v = 0; v < model->n_variables && status >= 0; ++v) {
        const double *at = value + model->state_offset[v];
        status = on(context, v, model->arity[v], at, at + n, at + 2 * n, at + 3 * n, err);
    }
    return status;
}

gbs_status gbs_run_each_marginal(const gbs_run *run, gbs_on_marginal *on_marginal, void *context,
                                 gbs_error *err)
{
    GBSI_NEED(run);
    if (on_marginal == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: on_marginal is NULL", __func__);
    }
    gbs_status status = GBS_OK;
    if (run->task.runner->each != NULL) {
        return run->task.runner->each(run, on_marginal, context, err);
    }
    const size_t n = run->task.problem.model->state_offset[run->task.problem.model->n_variables];
    double *value = gbsi_alloc_array(n, GBSI_N_ROWS * sizeof *value);
    GBSI_PASS(GBSI_HAVE(err, "marginals", value));
    GBSI_TRY(gbs_run_marginals(run, value, value + n, value + 2 * n, value + 3 * n, err));
    GBSI_TRY(tell_all(run->task.problem.model, value, n, on_marginal, context, err));
cleanup:
    gbsi_free(value);
    return status;
}

/* ---- the digest ------------------------------------------------------------------------------ */

/* Number of states below which one thread does the work: it finishes before other threads have
 * woken up. */
#define LEAST_SHARED 4096u
/* Number of variables that are read at a time. In a large model, the estimates of all variables at
 * once would take more memory than the states. */
#define WINDOW (UINT32_C(1) << 16)

static uint32_t window_end(const gbs_model *model, uint32_t first)
{
    const uint32_t left = model->n_variables - first;
    return first + (left < WINDOW ? left : WINDOW);
}

static size_t largest_window(const gbs_model *model)
{
    size_t most = 0;
    for (uint32_t first = 0; first < model->n_variables;) {
        const uint32_t end = window_end(model, first);
        const size_t n = model->state_offset[end] - model->state_offset[first];
        most = n > most ? n : most;
        first = end;
    }
    return most;
}

gbs_status gbsi_marginals_add(const gbs_run *run, bool errors, gbsi_digest *digest, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_model *model = run->task.problem.model;
    const bool shared = model->state_offset[model->n_variables] >= LEAST_SHARED;
    const size_t n_window = largest_window(model);
    double *value = gbsi_alloc_array(n_window, sizeof *value);
    GBSI_PASS(GBSI_HAVE(err, "digest", value));
    for (uint32_t first = 0; first < model->n_variables && status >= 0;) {
        const uint32_t end = window_end(model, first);
        const size_t n = model->state_offset[end] - model->state_offset[first];
        marginals_job job = {.run = run, .first = first, .end = end};
        job.out[errors ? GBSI_MCSE : GBSI_P] = value;
        status = share_marginals(job, shared ? run->sampling.engine.pool : NULL, err);
        for (size_t i = 0; i < n && status >= 0; ++i) {
            value[i] = gbsi_one_nan(value[i]);
        }
        gbsi_digest_f64(digest, value, status >= 0 ? n : 0);
        first = end;
    }
    gbsi_free(value);
    return status;
}

gbs_status gbsi_marginals_digest(gbs_run *run, char *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_digest *digest = NULL;
    GBSI_TRY(check_marginals(run, err));
    GBSI_TRY(gbsi_digest_new(&digest, err));
    GBSI_TRY(gbsi_marginals_add(run, false, digest, err));
    GBSI_TRY(gbsi_marginals_add(run, true, digest, err));
    gbsi_digest_text(digest, text);
cleanup:
    gbsi_digest_free(digest);
    return status;
}
