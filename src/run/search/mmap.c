/* SPDX-License-Identifier: Apache-2.0 */
/* Marginal MAP for models in which no elimination order that sums first is small enough. It is an
 * iterated local search over the states of the query, each weighed by an exact sum over the other
 * variables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "chains/run_options.h"
#include "gibbsite/map.h"
#include "rng/philox.h"
#include "solve/mmap.h"
#include "store/model.h"

/* Number of successive rounds without a better state after which the search ends. */
#define MOST_FAILURES 8u
/* Nanoseconds per variable and factor that a sum takes in addition to its operations. */
#define OVERHEAD_NS 1000.0
#define PROGRESS_S  0.1
/* The bound is taken as reached if the best value is at most this far below, relative to 1 +
 * |bound|. */
#define TOLERANCE   1e-9
#define START_SHARE 0.25 /* share of the remaining time for finding the start */
#define LEAST_S     1e-3 /* least number of seconds for finding the start */
#define EXACT_SHARE 0.5  /* share of the whole time after which the exact answer is given up */
#define BOUND_SHARE 0.75 /* share of the whole time after which the bound is given up */

typedef struct search {
    const gbs_model *model;
    gbs_evidence evidence; /* the user's evidence and the present state of the query; the
                              likelihoods are borrowed */
    gbs_run_options options;
    gbs_exact_options exact;
    const gbs_map_callbacks *callbacks;
    uint32_t n;
    const uint32_t *query;
    uint8_t *fixed;  /* [n] 1 if a variable of the query is observed */
    uint32_t *now;   /* [n] present states of the query */
    uint32_t *best;  /* [n] best states of the query */
    uint32_t *whole; /* [n_variables] state of all variables from which the search starts */
    double log_now, log_best, log_bound;
    double left_ns;
    uint64_t n_sums;
    double begun_s, told_s;
    gbsi_watch watch;
    bool signalled;
} search;

static bool look(void *context)
{
    search *s = context;
    const double now_s = gbsi_clock_s();
    if (s->callbacks->progress != NULL && now_s - s->told_s > PROGRESS_S) {
        const gbs_progress progress = {.size = sizeof progress,
                                       .elapsed_s = now_s - s->begun_s,
                                       .worst_error = NAN,
                                       .target_error = NAN};
        s->told_s = now_s;
        s->signalled = s->callbacks->progress(s->callbacks->context, &progress) != 0;
    }
    return s->signalled;
}

/* Sets the time limit of the following work to a share of the time limit of the whole call. */
static void allow(search *s, double share)
{
    s->watch = gbsi_watch_of(look, s, s->begun_s, share * s->options.time_s);
}

static void search_free(search *s)
{
    GBSI_FREE(s->evidence.state, s->fixed, s->now, s->best, s->whole);
}

static gbs_status take_room(search *s, const gbs_evidence *evidence, gbs_error *err)
{
    const size_t n = s->model->n_variables;
    s->evidence.model = s->model;
    s->evidence.state = gbsi_alloc_array(n, sizeof *s->evidence.state);
    s->fixed = gbsi_alloc_array_zero(s->n, 1);
    s->now = gbsi_alloc_array(s->n, sizeof *s->now);
    s->best = gbsi_alloc_array(s->n, sizeof *s->best);
    s->whole = gbsi_alloc_array(n, sizeof *s->whole);
    GBSI_PASS(GBSI_HAVE(err, "query", s->evidence.state, s->fixed, s->now, s->best, s->whole));
    memset(s->evidence.state, 0xff, n * sizeof *s->evidence.state); /* GBSI_NONE */
    if (evidence != NULL) {
        memcpy(s->evidence.state, evidence->state, n * sizeof *evidence->state);
        s->evidence.n_observed = evidence->n_observed;
        s->evidence.log_likelihood = evidence->log_likelihood;
    }
    return GBS_OK;
}

/* ---- one state ------------------------------------------------------------------------------- */

/* Computes the logarithm of the sum over the other variables, for the current state of the query.
 * The result is minus infinity if the state has no weight, or if the search was stopped. @return
 * GBS_ERR_LIMIT if the sum is too large. */
static gbs_status weigh(search *s, double *log_p, gbs_error *err)
{
    double ns = 0.0;
    *log_p = -INFINITY;
    for (uint32_t i = 0; i < s->n; ++i) {
        s->evidence.state[s->query[i]] = s->now[i];
    }
    ++s->n_sums;
    const gbs_status status =
        gbsi_exact_sum(s->model, &s->evidence, &s->exact, &s->watch, log_p, &ns, err);
    s->left_ns -=
        ns + OVERHEAD_NS * ((double)s->model->n_variables + (double)s->model->factors.n_factors);
    if (status == GBS_ERR_IMPOSSIBLE || gbsi_watch_stopped(&s->watch)) {
        *log_p = -INFINITY;
        return GBS_OK;
    }
    return status;
}

static bool is_reached(const search *s)
{
    return s->log_best >= s->log_bound - TOLERANCE * (1.0 + fabs(s->log_bound));
}

static bool is_over(const search *s)
{
    return s->left_ns <= 0.0 || gbsi_watch_stopped(&s->watch) || is_reached(s);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Tries every other state of variable i of the query. @param better out: whether a state is better.
 */
static gbs_status try_variable(search *s, uint32_t i, bool *better, gbs_error *err)
{
    const uint32_t before = s->now[i];
    uint32_t most = before;
    for (uint32_t a = 0; a < s->model->arity[s->query[i]] && !is_over(s); ++a) {
        double log_p = -INFINITY;
        s->now[i] = a;
        const gbs_status status = a == before ? GBS_OK : weigh(s, &log_p, err);
        if (status < 0 && status != GBS_ERR_LIMIT) {
            return status;
        }
        if (status >= 0 && log_p > s->log_now) {
            s->log_now = log_p;
            most = a;
        }
    }
    s->now[i] = most;
    *better = *better || most != before;
    return GBS_OK;
}

/* Changes one variable after the other until no change improves the state; keeps the best state. */
static gbs_status ascend(search *s, bool *found, gbs_error *err)
{
    bool better = true;
    while (better && !is_over(s)) {
        better = false;
        for (uint32_t i = 0; i < s->n && !is_over(s); ++i) {
            if (s->fixed[i] == 0) {
                GBSI_PASS(try_variable(s, i, &better, err));
            }
            if (s->log_now > s->log_best) {
                s->log_best = s->log_now;
                memcpy(s->best, s->now, s->n * sizeof *s->best);
                *found = true;
            }
        }
    }
    return GBS_OK;
}

/* Restarts from the best state, with two to four variables drawn again at random. */
static void kick(search *s, uint64_t round)
{
    memcpy(s->now, s->best, s->n * sizeof *s->now);
    for (uint32_t k = 0; k < 2 + round % 3; ++k) {
        uint32_t word[4];
        gbsi_philox(s->options.seed, 0, round, k, GBSI_PURPOSE_QUERY, word);
        const uint32_t i = gbsi_below(word[0], word[1], s->n);
        if (s->fixed[i] == 0) {
            s->now[i] = gbsi_below(word[2], word[3], s->model->arity[s->query[i]]);
        }
    }
}

static gbs_status improve(search *s, gbs_error *err)
{
    bool found = false;
    uint32_t n_failures = 0;
    GBSI_PASS(ascend(s, &found, err));
    for (uint64_t round = 0; s->n > 0 && n_failures < MOST_FAILURES && !is_over(s); ++round) {
        found = false;
        kick(s, round);
        GBSI_PASS(weigh(s, &s->log_now, err));
        GBSI_PASS(ascend(s, &found, err));
        n_failures = found ? 0 : n_failures + 1;
    }
    return GBS_OK;
}

/* Finds the state in which the search starts: the query's part of a most probable state of all
 * variables. */
static gbs_status start(search *s, const gbs_evidence *evidence, gbs_error *err)
{
    gbs_run_options options = s->options;
    gbs_map_callbacks callbacks = {.size = sizeof callbacks,
                                   .context = s->callbacks->context,
                                   .progress = s->callbacks->progress};
    if (options.time_s > 0.0) {
        const double share_s = START_SHARE * (options.time_s - (gbsi_clock_s() - s->begun_s));
        options.time_s = share_s > LEAST_S ? share_s : LEAST_S;
    }
    options.least_chains = 1;
    const gbs_status status =
        gbs_map(s->model, evidence, &options, &callbacks, s->whole, NULL, err);
    for (uint32_t i = 0; i < s->n && status >= 0; ++i) {
        s->now[i] = s->whole[s->query[i]];
        s->best[i] = s->now[i];
        s->fixed[i] = s->evidence.state[s->query[i]] != GBSI_NONE;
        s->evidence.n_observed += s->fixed[i] == 0;
    }
    return status;
}

/* Runs the search. @param stop out: the reason why it ended. */
static gbs_status find(search *s, const gbs_evidence *evidence, const char **stop, gbs_error *err)
{
    gbs_status status = GBS_OK;
    allow(s, BOUND_SHARE);
    GBSI_TRY(gbsi_exact_mmap_bound(s->model, evidence, &s->exact, s->n, s->query, &s->watch,
                                   &s->log_bound, err));
    if (gbsi_watch_stopped(&s->watch)) {
        s->log_bound = INFINITY;
    }
    allow(s, 1.0);
    GBSI_TRY(start(s, evidence, err));
    status = weigh(s, &s->log_now, err);
    if (status == GBS_ERR_LIMIT) {
        s->log_best = NAN;
        *stop = "limit";
        return GBS_OK;
    }
    GBSI_TRY(status);
    s->log_best = s->log_now;
    GBSI_TRY(improve(s, err));
    *stop = s->signalled                    ? "signal"
            : gbsi_watch_stopped(&s->watch) ? "time"
            : is_reached(s)                 ? "bound"
            : s->left_ns <= 0.0             ? "budget"
                                            : "settled";

cleanup:
    return status;
}

/* Solves the query by an elimination order that sums first. If the tables of this order are too
 * large, or would take too long, runs the search instead. */
static gbs_status solve(search *s, const gbs_evidence *evidence, const char **stop, gbs_error *err)
{
    gbs_status status = GBS_ERR_LIMIT;
    if (s->options.method != GBS_METHOD_SAMPLE) {
        gbs_exact_options exact = s->exact;
        const bool may_search = s->options.method != GBS_METHOD_EXACT;
        exact.most_s = may_search ? 1e-9 * s->left_ns : 0.0;
        allow(s, may_search ? EXACT_SHARE : 1.0);
        status = gbsi_exact_mmap(s->model, evidence, &exact, s->n, s->query, &s->watch, s->best,
                                 &s->log_best, err);
    }
    if (status >= 0 && !gbsi_watch_stopped(&s->watch)) {
        *stop = "exact";
        s->log_bound = s->log_best;
        return status;
    }
    if (status < 0 && ((status != GBS_ERR_LIMIT && status != GBS_ERR_STOPPED) ||
                       s->options.method == GBS_METHOD_EXACT)) {
        return status;
    }
    return find(s, evidence, stop, err);
}

gbs_status gbs_mmap(const gbs_model *model, const gbs_evidence *evidence,
                    const gbs_run_options *options, const gbs_map_callbacks *callbacks, uint32_t n,
                    const uint32_t *query, uint32_t *state, gbs_mmap_report *report, gbs_error *err)
{
    GBSI_NEED(model);
    if (n > 0) {
        GBSI_NEED(query, state);
    }
    GBSI_IN_STRUCT(callbacks, gbs_map_callbacks);
    GBSI_OUT_STRUCT(report, gbs_mmap_report);
    static const gbs_map_callbacks nobody = {0};
    gbs_status status = GBS_OK;
    const char *stop = "";
    search s = {.model = model,
                .callbacks = callbacks == NULL ? &nobody : callbacks,
                .n = n,
                .query = query,
                .begun_s = gbsi_clock_s()};
    GBSI_TRY(gbsi_options_take(options, &s.options, err));
    s.exact = (gbs_exact_options){.size = sizeof s.exact,
                                  .memory_limit = s.options.memory_limit,
                                  .threads = s.options.threads};
    if (evidence != NULL &&
        evidence->model != model) { /* its states are copied, and must be of this model */
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "the evidence belongs to another model"));
    }
    s.left_ns = 0.5e9 * (s.options.time_s > 0.0 ? s.options.time_s : s.options.budget_s);
    GBSI_TRY(take_room(&s, evidence, err));
    GBSI_TRY(solve(&s, evidence, &stop, err));
    gbs_mmap_report found = {.log_p = s.log_best,
                             .log_bound = s.log_bound > s.log_best ? s.log_bound : s.log_best,
                             .n_sums = s.n_sums,
                             .seconds = gbsi_clock_s() - s.begun_s};
    found.log_bound = isnan(s.log_best) ? s.log_bound : found.log_bound;
    (void)snprintf(found.stop, sizeof found.stop, "%s", stop);
    if (n > 0) {
        memcpy(state, s.best, n * sizeof *state);
    }
    gbsi_struct_give(report, &found, sizeof found);
    status = gbsi_watch_stopped(&s.watch) ? GBS_STOPPED : GBS_OK;

cleanup:
    search_free(&s);
    return status;
}
