/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates in the user's numbering, how far they can be trusted, and the digest of both. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "sampler/run.h"

gbs_status gbsi_run_warn(gbs_run *run, gbs_error *err, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t n = run->report.n_warnings;
    char *copy = gbsi_alloc(strlen(text) + 1);
    char **grown = copy == NULL ? NULL : gbsi_realloc_array(run->warning, n + 1, sizeof *grown);
    if (grown == NULL) {
        gbsi_free(copy);
        return gbsi_no_memory(err, "warnings", sizeof text);
    }
    memcpy(copy, text, strlen(text) + 1);
    run->warning = grown;
    run->warning[n] = copy;
    run->report.warning = (const char *const *)run->warning;
    run->report.n_warnings = n + 1;
    return GBS_OK;
}

static void put(double *out, size_t i, double value)
{
    if (out != NULL) {
        out[i] = value;
    }
}

/* @param v of the whole, sampled. */
static uint32_t slot_of(const gbs_run *run, uint32_t v)
{
    const uint32_t of_part = run->problem.part_of == NULL ? v : run->problem.part_of[v];
    return run->engine.plan == NULL ? of_part : run->engine.plan->slot_of[of_part];
}

/* Where one of the user's variables gets its numbers from. */
static void variable_marginal(const gbs_run *run, uint32_t u, double *scratch, double *p,
                              double *mcse, double *ess, double *rhat)
{
    const gbsi_conditioned *whole = run->problem.whole;
    const uint32_t v = whole->free_variable[u];
    const size_t at = run->problem.model->state_offset[u];
    for (uint32_t a = 0; a < run->problem.model->arity[u]; ++a) {
        put(p, at + a, v == GBSI_NONE && whole->fixed_state[u] == a ? 1.0 : 0.0);
        put(mcse, at + a, 0.0);
        put(ess, at + a, NAN);
        put(rhat, at + a, NAN);
    }
    if (v == GBSI_NONE) {
        return;
    }
    const bool omitted = run->problem.part_of != NULL && run->problem.part_of[v] == GBSI_NONE &&
                         !run->problem.exact[run->problem.components->of[v]];
    if (omitted) {
        for (uint32_t a = 0; a < run->problem.model->arity[u]; ++a) {
            put(p, at + a, NAN);
            put(mcse, at + a, NAN);
        }
        return;
    }
    const uint32_t k = whole->arity[v];
    const uint32_t *state = whole->user_state + whole->state_offset[v];
    if (run->problem.part_of != NULL && run->problem.part_of[v] == GBSI_NONE) {
        for (uint32_t a = 0; a < k; ++a) {
            put(p, at + state[a], run->estimates.exact_p[whole->state_offset[v] + a]);
            put(mcse, at + state[a], gbsi_run_is_mean_field(run) ? NAN : 0.0);
        }
        return;
    }
    double *own[4] = {scratch, scratch + k, scratch + 2 * (size_t)k, scratch + 3 * (size_t)k};
    gbsi_estimate_slot(run->estimates.estimate, slot_of(run, v), own[0], own[1], own[2], own[3]);
    for (uint32_t a = 0; a < k; ++a) {
        put(p, at + state[a], own[0][a]);
        put(mcse, at + state[a], own[1][a]);
        put(ess, at + state[a], own[2][a]);
        put(rhat, at + state[a], own[3][a]);
    }
}

gbs_status gbs_run_marginals(const gbs_run *run, double *p, double *mcse, double *ess, double *rhat,
                             gbs_error *err)
{
    const bool sampled = run->problem.part != NULL;
    if (run->executed && !run->answering) {
        return gbsi_fail(err, GBS_ERR_STATE, "the run failed, or has no answer yet");
    }
    if (!run->executed || (sampled && run->estimates.estimate != NULL &&
                           gbsi_estimate_n_passes(run->estimates.estimate) == 0)) {
        return gbsi_fail(err, GBS_ERR_STATE, "no draw was kept: there is nothing to estimate from");
    }
    if (sampled && run->estimates.estimate == NULL) {
        return gbsi_fail(err, GBS_ERR_STATE, "traces alone were kept: there are no marginals");
    }
    double *scratch = gbsi_alloc_array(4 * (size_t)GBS_MAX_ARITY, sizeof *scratch);
    if (scratch == NULL) {
        return gbsi_no_memory(err, "marginals", 4 * (size_t)GBS_MAX_ARITY * sizeof *scratch);
    }
    for (uint32_t u = 0; u < run->problem.model->n_variables; ++u) {
        variable_marginal(run, u, scratch, p, mcse, ess, rhat);
    }
    gbsi_free(scratch);
    return GBS_OK;
}

gbs_status gbsi_run_report_errors(gbs_run *run, gbs_error *err)
{
    if (run->engine.spins != NULL) {
        gbsi_executor_fetch_visits(&run->engine.executor, run->estimates.estimate);
        gbsi_run_report_lattice(run);
        if (run->estimates.estimate == NULL) {
            return GBS_OK;
        }
    }
    gbsi_estimate_worst worst;
    gbs_status status = gbsi_estimate_find_worst(run->estimates.estimate, &worst, err);
    if (status == GBS_OK) {
        run->report.max_mcse = worst.max_mcse;
        run->report.max_rhat = worst.max_rhat;
        run->report.min_ess = worst.min_ess;
        run->report.n_constant = worst.n_constant;
    }
    return status;
}

static double one_nan(double value)
{
    return isnan(value) ? NAN : value; /* whatever its sign */
}

static gbs_status digest_traces(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report;
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

static gbs_status take_digest(gbs_run *run, gbs_error *err)
{
    if (run->problem.part != NULL && run->estimates.estimate == NULL) {
        return digest_traces(run, err);
    }
    gbs_status status = GBS_OK;
    gbsi_digest *digest = NULL;
    const size_t n = run->problem.model->state_offset[run->problem.model->n_variables];
    double *p = gbsi_alloc_array(n, sizeof *p);
    double *mcse = gbsi_alloc_array(n, sizeof *mcse);
    if (p == NULL || mcse == NULL) {
        status = gbsi_no_memory(err, "digest", 2 * n * sizeof *p);
        goto cleanup;
    }
    GBSI_TRY(gbs_run_marginals(run, p, mcse, NULL, NULL, err));
    for (size_t i = 0; i < n; ++i) {
        mcse[i] = one_nan(mcse[i]);
        p[i] = one_nan(p[i]);
    }
    GBSI_TRY(gbsi_digest_new(&digest, err));
    gbsi_digest_f64(digest, p, n);
    gbsi_digest_f64(digest, mcse, n);
    gbsi_digest_text(digest, run->report.digest);
cleanup:
    gbsi_digest_free(digest);
    gbsi_free(p);
    gbsi_free(mcse);
    return status;
}

static double target_of(const gbs_report *r)
{
    return r->target_error > 0.0 ? r->target_error : GBSI_DEFAULT_TARGET;
}

bool gbsi_run_chains_agree(const gbs_run *run)
{
    return isnan(run->report.max_rhat) || run->report.max_rhat < GBSI_RHAT_LIMIT;
}

/* Of all chains: so many independent ones have the target as standard error at p = 1/2. */
static double least_draws(const gbs_run *run)
{
    const double target = target_of(&run->report);
    return 0.25 / (target * target);
}

double gbsi_run_least_passes(const gbs_run *run)
{
    const double chains = run->report.chains;
    const double by_updates =
        (double)GBSI_LEAST_UPDATES / ((double)run->problem.part->n_variables * chains);
    const double by_draws = least_draws(run) / chains;
    return by_updates > by_draws ? by_updates : by_draws;
}

bool gbsi_run_long_enough(const gbs_run *run)
{
    const double draws = (double)run->report.sweeps * run->report.chains;
    const double updates = (double)run->engine.schedule.n_places * draws;
    const bool many = updates >= (double)GBSI_LEAST_UPDATES || run->options.restarts;
    return many && draws >= least_draws(run); /* with restarts they are independent */
}

/* What the estimates themselves say against them, or NULL. */
static const char *statistical_doubt(const gbs_run *run, char *text, size_t size)
{
    const gbs_report *r = &run->report;
    const double target = target_of(r);
    if (r->n_constant > 0) {
        (void)snprintf(text, size, "%llu variables never moved in any chain",
                       (unsigned long long)r->n_constant);
        return text;
    }
    if (!gbsi_run_chains_agree(run)) {
        (void)snprintf(text, size, "the chains disagree: R-hat is %.3g, above %.2f", r->max_rhat,
                       GBSI_RHAT_LIMIT);
        return text;
    }
    if (isnan(r->max_mcse)) {
        return "too few passes for standard errors";
    }
    if (!(r->max_mcse <= target)) {
        (void)snprintf(text, size, "the largest standard error is %.2g, above %.2g", r->max_mcse,
                       target);
        return text;
    }
    return NULL;
}

/* Against passes that start afresh: how far each can be from the truth. */
static const char *short_doubt(const gbs_run *run, char *text, size_t size)
{
    const double target = target_of(&run->report);
    if (run->report.bias_estimate <= target) {
        return NULL;
    }
    (void)snprintf(
        text, size,
        "a pass that starts afresh may be off by %.2g, above %.2g: a longer scan is needed",
        run->report.bias_estimate, target);
    return text;
}

/* The first reason not to trust a sampled answer, or NULL; gibbsite-marginals(1), "converged". */
static const char *doubt(const gbs_run *run, char *text, size_t size)
{
    if (run->problem.support == GBSI_SUPPORT_DISCONNECTED) {
        return "hard zeros split the support: updates of single variables cannot cross it";
    }
    if (run->problem.support == GBSI_SUPPORT_UNKNOWN && run->engine.executor.splash != NULL) {
        if (!gbsi_splash_connects(run->engine.executor.splash)) {
            return "hard zeros remain and no splash held all that they touch: the support was not "
                   "shown connected";
        }
    } else if (run->problem.support == GBSI_SUPPORT_UNKNOWN) {
        return "hard zeros remain and the support was not shown connected under updates of single "
               "variables";
    }
    const char *reason = statistical_doubt(run, text, size);
    if (reason != NULL) {
        return reason;
    }
    const gbsi_draw *draw = run->engine.executor.draw; /* NULL: a lattice, drawn at random */
    if (draw != NULL && (draw->traits & GBSI_DRAW_EXACT) == 0) {
        (void)snprintf(text, size,
                       "standard errors meet their target, but draw %s has a bias that they do not "
                       "show",
                       gbsi_draw_name(run->options.draw));
        return text;
    }
    if (run->split_draws) {
        return "the two colours of a synchronous draw are independent: averages that mix them are "
               "biased";
    }
    if (!gbsi_run_long_enough(run)) {
        (void)snprintf(text, size,
                       "%llu sweeps are too few to vouch for states that no chain has met yet",
                       (unsigned long long)run->report.sweeps);
        return text;
    }
    if (run->options.restarts) {
        return short_doubt(run, text, size);
    }
    if (run->report.n_omitted > 0) {
        (void)snprintf(text, size,
                       "the scan omits %u variables, which keep the states they started in",
                       run->report.n_omitted);
        return text;
    }
    if (run->options.certified > 0.0) {
        return NULL; /* proved from any start, of one chain as of many */
    }
    if (!run->starts_dispersed) {
        return "all chains started from one given state";
    }
    if (run->engine.executor.n_chains < 4) { /* a synchronous chain is two */
        return "fewer than 4 chains: one that is stuck looks like one that has converged: try "
               "--chains 16";
    }
    return NULL;
}

/* Nobody knows how far a fixed point is from the marginals. */
static void mean_field_verdict(gbs_report *r)
{
    r->method = "mean-field";
    r->n_exact_variables = 0;
    r->converged = r->n_free_variables == 0;
    (void)snprintf(
        r->verdict, sizeof r->verdict,
        "not converged: mean field is an approximation whose error is not known; %s after "
        "%llu iterations (residual %.2g), ln Z >= %.9g",
        strcmp(r->stop, "fixed point") == 0 ? "at a fixed point" : "no fixed point",
        (unsigned long long)r->iterations, r->residual, r->log_z_bound);
    if (r->converged) {
        (void)snprintf(r->verdict, sizeof r->verdict, "exact");
    }
}

gbs_status gbsi_run_verdict(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report;
    gbs_status status = GBS_OK;
    const bool some_exact = r->n_exact_variables > 0 || run->problem.part == NULL;
    r->method = run->problem.part == NULL ? "exact" : (some_exact ? "exact+sampled" : "sampled");
    if (gbsi_run_is_mean_field(run)) {
        mean_field_verdict(r);
        return take_digest(run, err);
    }
    if (run->problem.part == NULL) {
        r->converged = 1;
        r->max_mcse = 0.0;
        (void)snprintf(r->verdict, sizeof r->verdict, "exact");
        return take_digest(run, err);
    }
    if (r->sweeps == 0) {
        (void)snprintf(r->verdict, sizeof r->verdict, "not converged: no pass was kept");
        return GBS_OK;
    }
    GBSI_TRY(gbsi_run_report_errors(run, err));
    char text[160];
    const char *reason = doubt(run, text, sizeof text);
    r->converged = reason == NULL;
    if (reason == NULL) {
        (void)snprintf(r->verdict, sizeof r->verdict,
                       "converged: largest standard error %.2g, R-hat %.4f", r->max_mcse,
                       r->max_rhat);
    } else {
        (void)snprintf(r->verdict, sizeof r->verdict, "not converged: %s", reason);
    }
    if (run->options.locking == GBS_LOCKING_BLANKET) {
        GBSI_TRY(gbsi_run_warn(run, err,
                               "locking blanket: splashes competed for variables, so that another "
                               "run with this seed may give other bits"));
    }
    if (!run->burn_in_agreed) {
        GBSI_TRY(gbsi_run_warn(run, err,
                               "burn-in ended after %llu passes with the chains still apart in log "
                               "density: the start may show in the estimates",
                               (unsigned long long)r->burn_in));
    }
    if (run->engine.plan != NULL && run->engine.plan->n_of_class[GBSI_CLASS_PRECISE] > 0) {
        GBSI_TRY(gbsi_run_warn(run, err,
                               "%u variables have log-weights so large that their sums run in "
                               "double, which is slower",
                               run->engine.plan->n_of_class[GBSI_CLASS_PRECISE]));
    }
    GBSI_TRY(take_digest(run, err));
cleanup:
    return status;
}
