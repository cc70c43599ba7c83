/* SPDX-License-Identifier: Apache-2.0 */
/* The estimates in the user's numbering, how far they can be trusted, and the digest of both. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "chains/run.h"
#include "drive/run_memory.h"
#include "levels/levels_pass.h"

static void put(double *out, size_t i, double value)
{
    if (out != NULL) {
        out[i] = value;
    }
}

/* @param value untouched where it is not asked for. */
static void put_own(double *out, size_t i, const double *value)
{
    if (out != NULL) {
        out[i] = *value;
    }
}

/* The part's number of a variable of the whole that is sampled. */
static uint32_t part_of(const gbsi_problem *problem, uint32_t v)
{
    return problem->part_of == NULL ? v : problem->part_of[v];
}

static bool kept_nothing(const gbsi_estimate *estimate, const gbsi_tempered *tempered)
{
    return tempered != NULL ? !gbsi_tempered_has_draws(tempered)
                            : estimate != NULL && gbsi_estimate_n_passes(estimate) == 0;
}

/* Sets all states of a variable to "no estimate", also those that evidence rules out, so that a
 * variable has all estimates or none. */
static void no_estimate(uint32_t arity, size_t at, double *p, double *mcse)
{
    for (uint32_t a = 0; a < arity; ++a) {
        put(p, at + a, NAN);
        put(mcse, at + a, NAN);
    }
}

/* The marginal of a site of a picture; only sites that are watched have errors.
 * @param own rows for p, mcse, ess and rhat of k levels. */
static void level_marginal(const gbs_run *run, uint32_t v, uint32_t k, double *const own[4])
{
    const uint32_t slot = gbsi_engine_slot(&run->engine, &run->options, v);
    gbsi_levels_marginal(run->engine.executor.pass_state, v, own[0]);
    for (uint32_t a = 0; a < k; ++a) {
        own[1][a] = own[2][a] = own[3][a] = NAN;
    }
    if (slot != UINT32_MAX) {
        gbsi_estimate_slot(run->estimates.estimate, slot, NULL, own[1], own[2], own[3]);
    }
}

/* Fills the estimates of one of the user's variables. @param at where its states begin. */
static void variable_marginal(const gbs_run *run, uint32_t u, size_t at, double *scratch, double *p,
                              double *mcse, double *ess, double *rhat)
{
    const gbsi_problem *problem = &run->problem;
    const gbsi_conditioned *whole = problem->whole;
    const uint32_t v = whole->free_variable[u];
    const uint32_t arity = problem->model->arity[u];
    for (uint32_t a = 0; a < arity; ++a) {
        put(p, at + a, v == GBSI_NONE && whole->fixed_state[u] == a ? 1.0 : 0.0);
        put(mcse, at + a, 0.0);
        put(ess, at + a, NAN);
        put(rhat, at + a, NAN);
    }
    if (v == GBSI_NONE) {
        return;
    }
    const uint32_t of_part = part_of(problem, v);
    if (of_part == GBSI_NONE && !problem->exact[problem->components->of[v]]) {
        no_estimate(arity, at, p, mcse); /* omitted */
        return;
    }
    const uint32_t k = whole->arity[v];
    const uint32_t *state = gbsi_conditioned_states(whole, v);
    if (of_part == GBSI_NONE) {
        for (uint32_t a = 0; a < k; ++a) {
            put(p, at + state[a], run->estimates.exact_p[whole->state_offset[v] + a]);
            put(mcse, at + state[a], gbsi_run_is_mean_field(run) ? NAN : 0.0);
        }
        return;
    }
    double *own[4] = {scratch, scratch + k, scratch + 2 * (size_t)k, scratch + 3 * (size_t)k};
    if (run->tempered != NULL) {
        gbsi_tempered_marginal(run->tempered, of_part, own[0], own[1], own[2], own[3]);
    } else if (run->engine.levels != NULL) {
        level_marginal(run, of_part, k, own);
    } else {
        gbsi_estimate_slot(run->estimates.estimate,
                           gbsi_engine_slot(&run->engine, &run->options, of_part), own[0],
                           mcse == NULL ? NULL : own[1], ess == NULL ? NULL : own[2],
                           rhat == NULL ? NULL : own[3]);
    }
    if (isnan(own[0][0])) {
        no_estimate(arity, at, p, mcse); /* not visited */
        return;
    }
    for (uint32_t a = 0; a < k; ++a) {
        put_own(p, at + state[a], own[0] + a);
        put_own(mcse, at + state[a], own[1] + a);
        put_own(ess, at + state[a], own[2] + a);
        put_own(rhat, at + state[a], own[3] + a);
    }
}

typedef struct marginals_job {
    const gbs_run *run;
    uint32_t first, end;           /* the user's variables ... */
    double *p, *mcse, *ess, *rhat; /* ... from the states of the first one on; NULL: not asked */
    uint32_t n_members;
    size_t n_scratch; /* four numbers for each state of a variable */
    double *scratch;  /* [n_members][n_scratch] */
} marginals_job;

static void marginals_share(void *context, uint32_t member)
{
    const marginals_job *job = context;
    uint64_t first = 0;
    uint64_t end = 0;
    const size_t *offset = job->run->problem.model->state_offset;
    gbsi_pool_share(job->end - job->first, 64, member, job->n_members, &first, &end);
    for (uint64_t u = job->first + first; u < job->first + end; ++u) {
        variable_marginal(job->run, (uint32_t)u, offset[u] - offset[job->first],
                          job->scratch + member * job->n_scratch, job->p, job->mcse, job->ess,
                          job->rhat);
    }
}

static size_t scratch_of(const gbs_model *model)
{
    return 4 * (size_t)gbsi_largest(model->arity, model->n_variables);
}

static gbs_status share_marginals(marginals_job job, gbsi_pool *pool, gbs_error *err)
{
    job.n_members = gbsi_pool_size(pool);
    const size_t n = job.n_members * job.n_scratch;
    job.scratch = gbsi_alloc_array(n, sizeof *job.scratch);
    if (job.scratch == NULL) {
        return gbsi_no_memory(err, "marginals", n * sizeof *job.scratch);
    }
    gbsi_pool_run(pool, marginals_share, &job);
    gbsi_free(job.scratch);
    return GBS_OK;
}

/* Whether there is anything to read. */
static gbs_status check_marginals(const gbs_run *run, gbs_error *err)
{
    const bool sampled = run->problem.part != NULL;
    if (run->report.executed && !run->report.answering) {
        return gbsi_fail(
            err, GBS_ERR_STATE,
            "the run failed or is in the middle of a pass: there are no marginals to read");
    }
    if (!run->report.executed ||
        (sampled && kept_nothing(run->estimates.estimate, run->tempered))) {
        return gbsi_fail(err, GBS_ERR_STATE, "no draw was kept: there is nothing to estimate from");
    }
    if (sampled && run->tempered == NULL && gbsi_chains_are_spread(run) &&
        !gbsi_estimate_has_told(run->estimates.estimate)) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "on several ranks marginals can be read once gbs_run_execute() has ended");
    }
    if (sampled && run->estimates.estimate == NULL) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "the estimator traces keeps no marginals: use rao-blackwell or count");
    }
    return GBS_OK;
}

gbs_status gbs_run_marginals(const gbs_run *run, double *p, double *mcse, double *ess, double *rhat,
                             gbs_error *err)
{
    GBSI_NEED(run);
    GBSI_NEED(p);
    if (run->shared.share != NULL) {
        return gbsi_shared_marginals(run, p, mcse, ess, rhat, err);
    }
    return gbs_run_marginals_of(run, 0, run->problem.model->n_variables, p, mcse, ess, rhat, err);
}

gbs_status gbs_run_marginals_of(const gbs_run *run, uint32_t first, uint32_t n, double *p,
                                double *mcse, double *ess, double *rhat, gbs_error *err)
{
    GBSI_NEED(run);
    GBSI_NEED(p);
    if (run->shared.share != NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "the model is on several ranks: use gbs_run_each_marginal()");
    }
    const uint32_t n_all = run->problem.model->n_variables;
    if (first > n_all || n > n_all - first) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found variables from %u on, %u of them, expected some of %u", first, n,
                         n_all);
    }
    const gbs_status status = check_marginals(run, err);
    const marginals_job job = {.run = run,
                               .first = first,
                               .end = first + n,
                               .p = p,
                               .mcse = mcse,
                               .ess = ess,
                               .rhat = rhat,
                               .n_scratch = scratch_of(run->problem.model)};
    /* Only this thread works: callers may read a run from several threads. */
    return status < 0 ? status : share_marginals(job, NULL, err);
}

static gbs_status tell_all(const gbs_run *run, const double *value, size_t n, gbs_on_marginal *on,
                           void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_model *model = run->problem.model;
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
    GBSI_NEED(on_marginal);
    gbs_status status = GBS_OK;
    if (run->shared.share != NULL) {
        return gbsi_shared_each_marginal(run, on_marginal, context, err);
    }
    const size_t n = run->problem.model->state_offset[run->problem.model->n_variables];
    double *value = gbsi_alloc_array(n, 4 * sizeof *value);
    if (value == NULL) {
        return gbsi_no_memory(err, "marginals", n * 4 * sizeof *value);
    }
    GBSI_TRY(gbs_run_marginals(run, value, value + n, value + 2 * n, value + 3 * n, err));
    GBSI_TRY(tell_all(run, value, n, on_marginal, context, err));
cleanup:
    gbsi_free(value);
    return status;
}

static double one_nan(double value)
{
    return isnan(value) ? NAN : value; /* whatever its sign */
}

static gbs_status digest_traces(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    const double value[] = {r->energy,
                            r->magnetisation,
                            r->abs_magnetisation,
                            one_nan(r->energy_mcse),
                            one_nan(r->magnetisation_mcse),
                            one_nan(r->abs_magnetisation_mcse)};
    gbsi_digest *digest = NULL;
    const gbs_status status = gbsi_digest_new(&digest, err);
    if (status >= 0) {
        gbsi_digest_f64(digest, value, sizeof value / sizeof value[0]);
        gbsi_digest_text(digest, r->digest);
    }
    gbsi_digest_free(digest);
    return status;
}

/* With fewer states one thread has finished before the others have woken up. */
#define LEAST_SHARED 4096u
/* Variables at a time: all numbers of a large model would take more than its states. */
#define WINDOW (UINT32_C(1) << 16)

static uint32_t window_end(const gbs_model *model, uint32_t first)
{
    const uint32_t left = model->n_variables - first;
    return first + (left < WINDOW ? left : WINDOW);
}

/* All probabilities, or all standard errors. @param value [states of the largest window] */
static gbs_status digest_numbers(const gbs_run *run, bool errors, double *value,
                                 gbsi_digest *digest, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_model *model = run->problem.model;
    const bool shared =
        run->tempered == NULL && model->state_offset[model->n_variables] >= LEAST_SHARED;
    const size_t n_scratch = scratch_of(model);
    for (uint32_t first = 0; first < model->n_variables && status >= 0;) {
        const uint32_t end = window_end(model, first);
        const size_t n = model->state_offset[end] - model->state_offset[first];
        const marginals_job job = {.run = run,
                                   .first = first,
                                   .end = end,
                                   .p = errors ? NULL : value,
                                   .mcse = errors ? value : NULL,
                                   .n_scratch = n_scratch};
        status = share_marginals(job, shared ? run->engine.pool : NULL, err);
        for (size_t i = 0; i < n && status >= 0; ++i) {
            value[i] = one_nan(value[i]);
        }
        gbsi_digest_f64(digest, value, status >= 0 ? n : 0);
        first = end;
    }
    return status;
}

/* Rows of slots whose sums chains hold, see gbsi_held: their probabilities, then their errors. */
enum { ROWS = 128 };

typedef struct row_job {
    const gbsi_estimate *estimate;
    uint32_t first, n_rows; /* slot, rows */
    uint32_t n_members;
    double *value; /* [n_rows][2][GBSI_SLOTS_HELD] */
} row_job;

static void tell_rows(void *context, uint32_t member)
{
    const row_job *job = context;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(job->n_rows, 1, member, job->n_members, &first, &end);
    for (uint64_t r = first; r < end; ++r) {
        gbsi_held_row row;
        double *p = job->value + 2 * r * GBSI_SLOTS_HELD;
        gbsi_estimate_held_row(job->estimate, job->first + (uint32_t)r * GBSI_SLOTS_HELD, &row);
        for (uint32_t i = 0; i < GBSI_SLOTS_HELD; ++i) {
            p[i] = one_nan(row.p[i]);
            p[GBSI_SLOTS_HELD + i] = row.constant[i] ? NAN : one_nan(row.mcse[i]);
        }
    }
}

/* Whether the digest is that of the slots in their own order: where all variables are sampled. */
static bool has_rows(const gbs_run *run)
{
    return run->tempered == NULL && run->problem.part != NULL &&
           gbsi_engine_holds(&run->engine, &run->options) &&
           run->problem.part->n_variables == run->problem.model->n_variables;
}

static gbs_status digest_rows(const gbs_run *run, gbsi_digest *digest, gbs_error *err)
{
    const uint32_t n_slots = gbsi_run_shape(run).n_slots;
    const size_t n = (size_t)2 * ROWS * GBSI_SLOTS_HELD;
    row_job job = {.estimate = run->estimates.estimate,
                   .n_members = gbsi_pool_size(run->engine.pool),
                   .value = gbsi_alloc_array(n, sizeof *job.value)};
    if (job.value == NULL) {
        return gbsi_no_memory(err, "digest", n * sizeof *job.value);
    }
    for (; job.first < n_slots; job.first += job.n_rows * GBSI_SLOTS_HELD) {
        const uint32_t left = (n_slots - job.first) / GBSI_SLOTS_HELD;
        job.n_rows = left < ROWS ? left : ROWS;
        gbsi_pool_run(run->engine.pool, tell_rows, &job);
        gbsi_digest_f64(digest, job.value, (size_t)2 * job.n_rows * GBSI_SLOTS_HELD);
    }
    gbsi_free(job.value);
    return GBS_OK;
}

/* Adds the errors of the watched sites of a picture to the digest. @param value [levels] */
static void digest_watched(const gbs_run *run, double *value, gbsi_digest *digest)
{
    const gbsi_levels *levels = run->engine.levels;
    for (uint32_t slot = 0; slot < gbsi_levels_n_slots(levels); ++slot) {
        gbsi_estimate_slot(run->estimates.estimate, slot, NULL, value, NULL, NULL);
        for (uint32_t a = 0; a < levels->n_levels; ++a) {
            value[a] = one_nan(value[a]);
        }
        gbsi_digest_f64(digest, value, levels->n_levels);
    }
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

static gbs_status take_digest(gbs_run *run, gbs_error *err)
{
    if (run->problem.part != NULL && run->estimates.estimate == NULL) {
        return digest_traces(run, err);
    }
    gbs_status status = GBS_OK;
    gbsi_digest *digest = NULL;
    const size_t n = largest_window(run->problem.model);
    double *value = gbsi_alloc_array(n, sizeof *value);
    if (value == NULL) {
        return gbsi_no_memory(err, "digest", n * sizeof *value);
    }
    GBSI_TRY(check_marginals(run, err));
    GBSI_TRY(gbsi_digest_new(&digest, err));
    if (has_rows(run)) {
        GBSI_TRY(digest_rows(run, digest, err));
    } else {
        GBSI_TRY(digest_numbers(run, false, value, digest, err));
    }
    if (run->engine.levels != NULL) {
        digest_watched(run, value, digest);
    } else if (!has_rows(run)) {
        GBSI_TRY(digest_numbers(run, true, value, digest, err));
    }
    gbsi_digest_text(digest, run->report.public.digest);
cleanup:
    gbsi_digest_free(digest);
    gbsi_free(value);
    return status;
}

/* The verdict of an exact answer or of mean field. */
static gbs_status say_unsampled(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    r->converged = !gbsi_run_is_mean_field(run) || r->n_free_variables == 0;
    if (r->converged) {
        (void)snprintf(r->verdict, sizeof r->verdict, "exact");
    } else {
        (void)gbsi_run_doubt(run, r->verdict, sizeof r->verdict);
    }
    if (!gbsi_run_is_mean_field(run)) {
        r->max_mcse = 0.0;
    }
    return take_digest(run, err);
}

/* Variables of class PRECISE, if not because of noisy factors, which need that class. */
static uint32_t count_precise(const gbs_run *run)
{
    const gbsi_plan *plan = run->engine.plan;
    if (run->shared.share != NULL) {
        return (uint32_t)run->shared.share->facts.n_precise;
    }
    return plan == NULL || plan->n_noisy > 0 ? 0 : plan->n_of_class[GBSI_CLASS_PRECISE];
}

gbs_status gbsi_run_verdict(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    gbs_status status = GBS_OK;
    const bool some_exact = r->n_exact_variables > 0 || run->problem.part == NULL;
    r->method = run->problem.part == NULL ? "exact" : (some_exact ? "exact+sampled" : "sampled");
    if (gbsi_run_is_mean_field(run)) {
        r->method = "mean-field";
        r->n_exact_variables = 0;
    }
    if (run->problem.part == NULL) {
        return say_unsampled(run, err);
    }
    if (r->sweeps > 0) {
        GBSI_TRY(gbsi_run_report_errors(run, err));
    }
    GBSI_TRY(gbsi_shared_connect(run, err));
    r->converged = !gbsi_run_doubt(run, r->verdict, sizeof r->verdict);
    r->chains_disagree = !gbsi_run_chains_agree(run);
    if (r->sweeps == 0) {
        return GBS_OK;
    }
    if (r->converged) {
        gbsi_say(r->verdict, sizeof r->verdict,
                 "converged: largest standard error %.2g, R-hat %.4f", r->max_mcse, r->max_rhat);
    }
    if (run->options.locking == GBS_LOCKING_BLANKET) {
        GBSI_TRY(
            gbsi_report_warn(&run->report, err,
                             "--locking blanket: splashes competed for variables, so another run "
                             "with this seed may give slightly different results"));
    }
    if (!run->report.burn_in_agreed && run->tempered == NULL) {
        GBSI_TRY(gbsi_burn_in_warn(run, err));
    }
    const uint32_t n_precise = count_precise(run);
    if (run->tempered == NULL && n_precise > 0) {
        GBSI_TRY(gbsi_report_warn(&run->report, err,
                                  "%u variables have log-weights so large that their sums run in "
                                  "double, which is slower",
                                  n_precise));
    }
    if (run->estimates.estimate != NULL && run->tempered == NULL) {
        GBSI_TRY(gbsi_estimate_tell(run->estimates.estimate, err));
    }
    if (run->shared.share != NULL) {
        GBSI_TRY(gbsi_shared_report(run, err));
        GBSI_TRY(gbsi_shared_digest(run, r->digest, err));
    } else {
        GBSI_TRY(take_digest(run, err));
    }
cleanup:
    return status;
}
