/* SPDX-License-Identifier: Apache-2.0 */
/* Answers some cases by propagation in trees, or by a run for each case. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ask/cases.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "chains/run.h"

#define PROGRESS_S 0.1

/* ---- one call -------------------------------------------------------------------------------- */

typedef struct calling {
    gbs_cases *cases;
    size_t n;
    const uint32_t *state;
    const gbs_run_callbacks *callbacks;
    gbs_case_answers *answers;
    gbsi_watch watch;
    size_t *first;  /* [n] for each case, the number of the first case that equals this case */
    size_t *unique; /* [n_unique] numbers of cases that differ from all earlier cases */
    size_t n_unique;
    gbsi_case *batch; /* [n_unique] */
    double *p;        /* [n_unique][n_states] */
} calling;

static bool look(void *context)
{
    calling *call = context;
    gbs_cases *c = call->cases;
    const double now_s = gbsi_clock_s();
    if (call->callbacks == NULL || call->callbacks->progress == NULL ||
        now_s - c->told_s < PROGRESS_S) {
        return false;
    }
    const gbs_progress progress = {.size = sizeof progress,
                                   .pass = c->n_answered,
                                   .elapsed_s = now_s - c->begun_s,
                                   .worst_error = NAN};
    c->told_s = now_s;
    return call->callbacks->progress(call->callbacks->context, &progress) != 0;
}

static gbs_status check_states(const gbs_cases *c, size_t n, const uint32_t *state, gbs_error *err)
{
    for (size_t i = 0; i < n * c->n_columns; ++i) {
        const uint32_t v = c->column[i % c->n_columns];
        if (state[i] != GBS_UNOBSERVED && state[i] >= c->model->arity[v]) {
            return gbsi_fail(
                err, GBS_ERR_ARGUMENT,
                "case %zu: variable %" PRIu32 " has %" PRIu32 " state%s, found state %" PRIu32,
                i / c->n_columns, v, c->model->arity[v], gbsi_plural(c->model->arity[v]), state[i]);
        }
    }
    return GBS_OK;
}

static size_t hash_of(const uint32_t *state, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; ++i) { /* mixes the bits by the finaliser of SplitMix64 */
        h = (h ^ state[i]) * UINT64_C(0xBF58476D1CE4E5B9);
        h ^= h >> 29;
    }
    return (size_t)h;
}

/* Finds equal cases, with a hash table. */
static gbs_status find_equal(calling *call, gbs_error *err)
{
    const uint32_t n_columns = call->cases->n_columns;
    size_t n_slots = 16;
    while (n_slots < 2 * call->n) {
        n_slots *= 2;
    }
    size_t *slot = gbsi_alloc_array(n_slots, sizeof *slot);
    call->first = gbsi_alloc_array(call->n, sizeof *call->first);
    call->unique = gbsi_alloc_array(call->n, sizeof *call->unique);
    if (slot == NULL || call->first == NULL || call->unique == NULL) {
        gbsi_free(slot);
        return gbsi_no_memory(err, "cases", n_slots * sizeof *slot);
    }
    memset(slot, 0xff, n_slots * sizeof *slot);
    for (size_t i = 0; i < call->n; ++i) {
        const uint32_t *row = call->state + i * n_columns;
        size_t k = hash_of(row, n_columns) & (n_slots - 1);
        while (slot[k] != SIZE_MAX &&
               memcmp(call->state + slot[k] * n_columns, row, n_columns * sizeof *row) != 0) {
            k = (k + 1) & (n_slots - 1);
        }
        if (slot[k] == SIZE_MAX) {
            slot[k] = i;
            call->unique[call->n_unique++] = i;
        }
        call->first[i] = slot[k];
    }
    gbsi_free(slot);
    return GBS_OK;
}

/* Writes the answers of case i to the caller's arrays. */
static void put_case(const calling *call, size_t i, const double *p, const double *mcse,
                     double log_p, int converged)
{
    const gbs_case_answers *a = call->answers;
    const size_t n = call->cases->n_states;
    for (size_t k = 0; k < n; ++k) {
        if (a->p != NULL) {
            a->p[i * n + k] = p == NULL ? (double)NAN : p[k];
        }
        if (a->mcse != NULL) {
            a->mcse[i * n + k] = p == NULL ? (double)NAN : mcse == NULL ? 0.0 : mcse[k];
        }
    }
    if (a->log_p != NULL) {
        a->log_p[i] = log_p;
    }
    if (a->converged != NULL) {
        a->converged[i] = converged;
    }
}

static void put_copy(const calling *call, size_t i)
{
    const gbs_case_answers *a = call->answers;
    const size_t n = call->cases->n_states;
    const size_t from = call->first[i];
    put_case(call, i, a->p == NULL ? NULL : a->p + from * n,
             a->mcse == NULL ? NULL : a->mcse + from * n, a->log_p == NULL ? NAN : a->log_p[from],
             a->converged == NULL ? 0 : a->converged[from]);
}

/* ---- a case as a run ------------------------------------------------------------------------- */

/* Adds the observations of case i to the evidence. @return GBS_ERR_IMPOSSIBLE if they contradict
 * the common evidence. */
static gbs_status observe(const calling *call, size_t i, gbs_evidence *evidence, gbs_error *err)
{
    const gbs_cases *c = call->cases;
    gbs_status status = GBS_OK;
    for (uint32_t k = 0; k < c->n_columns && status >= 0; ++k) {
        const uint32_t state = call->state[i * c->n_columns + k];
        const uint32_t known = evidence->state[c->column[k]];
        if (state != GBS_UNOBSERVED && known != GBSI_NONE && known != state) {
            return GBS_ERR_IMPOSSIBLE;
        }
        if (state != GBS_UNOBSERVED) {
            status = gbs_evidence_observe(evidence, c->column[k], state, err);
        }
    }
    return status;
}

static gbs_status put_run(const calling *call, size_t i, const gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_cases *c = call->cases;
    const gbs_report *r = gbs_run_report(run);
    const size_t n = c->model->state_offset[c->model->n_variables];
    double *own = NULL;
    if (c->marginal == NULL) {
        c->marginal = gbsi_alloc_array(2 * n, sizeof *c->marginal);
    }
    own = gbsi_alloc_array(2 * c->n_states, sizeof *own);
    GBSI_TRY(GBSI_HAVE(err, "cases", c->marginal, own));
    GBSI_TRY(gbs_run_marginals(run, c->marginal, c->marginal + n, NULL, NULL, err));
    size_t at = 0;
    for (uint32_t k = 0; k < c->n_query; ++k) {
        for (size_t s = c->model->state_offset[c->query[k]];
             s < c->model->state_offset[c->query[k] + (size_t)1]; ++s, ++at) {
            own[at] = c->marginal[s];
            own[c->n_states + at] = c->marginal[n + s];
        }
    }
    put_case(call, i, own, own + c->n_states, r->log_z - c->log_base, r->converged);

cleanup:
    gbsi_free(own);
    return status;
}

/* Whether one of its own limits, and not a signal, ended a run early. The run then has estimates,
 * and the next case can be answered. */
static bool has_estimates(const gbs_run *run)
{
    const gbs_report *r = gbs_run_report(run);
    return r != NULL && strcmp(r->stop, gbsi_stop_text(GBSI_STOP_SIGNAL)) != 0;
}

/* @param method gbs_method of the run. @param n_left number of cases that share the remaining
 * time, including this case. @return GBS_STOPPED if a signal stopped the run. */
static gbs_status answer_by_run(calling *call, size_t i, int method, size_t n_left, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_cases *c = call->cases;
    gbs_run_options options = c->options;
    gbs_run *run = NULL;
    gbs_evidence *evidence = NULL;
    options.method = method;
    if (options.time_s > 0.0) {
        const double left_s = options.time_s - (gbsi_clock_s() - c->begun_s);
        options.time_s = left_s / (double)n_left > 1e-3 ? left_s / (double)n_left : 1e-3;
    }
    GBSI_TRY(gbsi_evidence_copy(c->model, c->evidence, &evidence, err));
    status = observe(call, i, evidence, err);
    if (status >= 0) {
        const gbs_run_setup setup = {.model = c->model,
                                     .evidence = evidence,
                                     .options = &options,
                                     .query = c->n_query == 0 ? NULL : c->query,
                                     .n_query = c->n_query};
        status = gbs_run_new_with(&setup, &run, err);
    }
    if (status >= 0) {
        status = gbs_run_execute(run, call->callbacks, err);
    }
    if (status == GBS_ERR_IMPOSSIBLE) {
        status = GBS_OK;
        put_case(call, i, NULL, NULL, -INFINITY, 1);
    } else if (status == GBS_OK || (status == GBS_STOPPED && has_estimates(run))) {
        status = put_run(call, i, run, err);
    }
    const bool last = n_left == 1; /* the time is over if this run was stopped */
    if (status == GBS_ERR_STOPPED && last && call->n_unique > 1) {
        status = GBS_STOPPED;
    } else if (status == GBS_ERR_NOT_FOUND || (status == GBS_ERR_STOPPED && !last) ||
               (status == GBS_ERR_STATE && call->n_unique > 1)) {
        status = GBS_OK; /* no draw was kept, or no state of positive weight was found */
        put_case(call, i, NULL, NULL, NAN, 0);
    }

cleanup:
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    return status;
}

static gbs_status answer_by_runs(calling *call, size_t *n_done, gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t n_left = call->n_unique;
    for (size_t i = 0; i < call->n && status == GBS_OK; ++i) {
        if (call->first[i] != i) {
            put_copy(call, i);
        } else {
            gbsi_watch_look(&call->watch);
            if (gbsi_watch_stopped(&call->watch)) {
                return GBS_STOPPED;
            }
            status = answer_by_run(call, i, call->cases->options.method, n_left--, err);
        }
        if (status == GBS_OK) {
            *n_done = i + 1;
            ++call->cases->n_answered;
        }
    }
    return status;
}

/* ---- cases in a tree ------------------------------------------------------------------------- */

static void answer_share(void *context, uint32_t member)
{
    calling *call = context;
    const gbs_cases *c = call->cases;
    const uint64_t n_batches = (call->n_unique + GBSI_CASE_LANES - 1) / GBSI_CASE_LANES;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(n_batches, 1, member, gbsi_pool_size(c->pool), &first, &end);
    for (uint64_t k = first; k < end && !gbsi_watch_stopped(&call->watch); ++k) {
        const size_t at = (size_t)k * GBSI_CASE_LANES;
        const size_t left = call->n_unique - at;
        gbsi_case_batch(c->worker[member], call->batch + at,
                        (uint32_t)(left < GBSI_CASE_LANES ? left : GBSI_CASE_LANES), &call->watch,
                        member == 0);
    }
}

static gbs_status answer_by_tree(calling *call, size_t *n_done, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_cases *c = call->cases;
    call->batch = gbsi_alloc_array(call->n_unique, sizeof *call->batch);
    call->p = gbsi_alloc_array(call->n_unique * c->n_states, sizeof *call->p);
    GBSI_PASS(GBSI_HAVE(err, "cases", call->batch, call->p));
    for (size_t k = 0; k < call->n_unique; ++k) {
        call->batch[k] = (gbsi_case){.state = call->state + call->unique[k] * c->n_columns,
                                     .p = call->p + k * c->n_states};
    }
    gbsi_pool_run(c->pool, answer_share, call);
    if (gbsi_watch_stopped(&call->watch)) {
        return GBS_STOPPED;
    }
    for (size_t k = 0; k < call->n_unique; ++k) {
        const gbsi_case *b = &call->batch[k];
        const size_t i = call->unique[k];
        if (b->end == GBSI_CASE_UNSURE) {
            GBSI_TRY(answer_by_run(call, i, GBS_METHOD_EXACT, 1, err));
            if (status == GBS_STOPPED) {
                return status;
            }
        } else if (b->end == GBSI_CASE_IMPOSSIBLE) {
            put_case(call, i, NULL, NULL, -INFINITY, 1);
        } else {
            put_case(call, i, b->p, NULL, b->log_sum - c->log_base, 1);
        }
    }
    for (size_t i = 0; i < call->n; ++i) {
        if (call->first[i] != i) {
            put_copy(call, i);
        }
    }
    *n_done = call->n;
    c->n_answered += call->n;

cleanup:
    return status;
}

gbs_status gbs_cases_answer(gbs_cases *cases, size_t n, const uint32_t *state,
                            const gbs_run_callbacks *callbacks, gbs_case_answers *answers,
                            size_t *n_done, gbs_error *err)
{
    GBSI_NEED(cases, answers);
    if (n > 0 && cases->n_columns > 0) {
        GBSI_NEED(state);
    }
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_IN_STRUCT(answers, gbs_case_answers);
    gbs_status status = GBS_OK;
    size_t done = 0;
    gbs_run_callbacks taken = {0};
    const uint32_t nothing = GBS_UNOBSERVED;
    if (callbacks != NULL) {
        taken = (gbs_run_callbacks){.context = callbacks->context, .progress = callbacks->progress};
    }
    calling call = {
        .cases = cases, .n = n, .state = state, .callbacks = &taken, .answers = answers};
    if (cases->n_columns == 0) {
        call.state = &nothing;
    }
    call.watch = gbsi_watch_of(look, &call, cases->begun_s, cases->options.time_s);
    GBSI_TRY(check_states(cases, n, state, err));
    GBSI_TRY(find_equal(&call, err));
    gbsi_watch_look(&call.watch);
    if (gbsi_watch_stopped(&call.watch)) {
        status = GBS_STOPPED;
    } else {
        GBSI_TRY((cases->tree != NULL ? answer_by_tree : answer_by_runs)(&call, &done, err));
    }

cleanup:
    if (n_done != NULL && status >= 0) {
        *n_done = done;
    }
    GBSI_FREE(call.first, call.unique, call.batch, call.p);
    return status;
}
