/* SPDX-License-Identifier: Apache-2.0 */
/* Visits all states depth first, the last variable fastest. A factor is added as soon as the last
 * variable of its scope has a state, and the log density of a state is built up along its path.
 * Nothing is ever subtracted, so that the log density of a state depends only on the state. States
 * that begin with a prefix of weight zero are skipped. The work for each state is little more than
 * evaluating the factors of the last variable. A Gray code would take as little work, but its
 * running sum would accumulate errors.
 *
 * Weights are summed along the same paths. A block is the set of states that begin with a prefix,
 * and its sum is the sum over the blocks of the longer prefixes. On its way to the total, a weight
 * is part of n_variables sums, each of few numbers. The marginal of state a of variable v is the
 * sum of all blocks whose prefix ends with this state. This long sum is compensated (Neumaier 1974,
 * ZAMM 54:39-51). */
#include "reference/enumerate.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/plural.h"
#include "reference/local.h"
#include "satisfy/satisfy.h"

typedef struct walk {
    gbsi_local *local;
    gbsi_sum *sums; /* [state_offset[n_variables]] sums of weights for each state of each variable;
                       or NULL */
    gbsi_visit *visit;
    void *context;
    gbsi_watch *watch;
} walk;

uint64_t gbsi_n_states(const gbsi_conditioned *model, const uint8_t *keep)
{
    uint64_t n = 1;
    for (uint32_t v = 0; v < model->n_variables; v++) {
        if (keep != NULL && keep[v] == 0) {
            continue;
        }
        if (n > UINT64_MAX / model->arity[v]) {
            return UINT64_MAX;
        }
        n *= model->arity[v];
    }
    return n;
}

/* Returns the sum of the weights of all states that begin with x[0..v-1]. The recursion is at most
 * GBSI_LOCAL_DEPTH deep. @param logw sum of the log factors that depend only on x[0..v-1]. @param
 * index number of this block among the blocks of depth v. */
static double walk_block(walk *w, uint32_t v, gbsi_sum logw, uint64_t index)
{
    const gbsi_conditioned *model = w->local->model;
    if (v == model->n_variables) {
        return w->visit(w->context, index, logw.high + logw.low);
    }
    const uint32_t arity = model->arity[v];
    gbsi_sum *sums = w->sums == NULL ? NULL : w->sums + model->state_offset[v];
    gbsi_sum total = {0};
    gbsi_local_begin(w->local, v);
    const size_t n_groups = w->local->group_start[v + 1] - w->local->group_start[v];
    if (gbsi_watch_spend(w->watch, (n_groups + 1) * arity)) {
        return 0.0;
    }
    for (uint32_t a = 0; a < arity; a++) {
        w->local->x[v] = a;
        const gbsi_sum below = gbsi_local_extend(w->local, v, logw);
        if (below.high == -INFINITY) {
            continue;
        }
        const gbsi_sum block = {.high = walk_block(w, v + 1, below, index * arity + a)};
        total = gbsi_sum_add(total, block);
        if (sums != NULL) {
            sums[a] = gbsi_sum_add(sums[a], block);
        }
    }
    return total.high + total.low;
}

gbs_status gbsi_walk(const gbsi_conditioned *model, gbsi_watch *watch, gbsi_visit *visit,
                     void *context, double *sums, double *total, gbs_error *err)
{
    gbs_status status = GBS_OK;
    walk w = {.visit = visit, .context = context, .watch = watch};
    const uint64_t n_states = gbsi_n_states(model, NULL);
    const size_t n_sums = model->state_offset[model->n_variables];
    if (n_states > GBSI_ENUMERATE_MAX_STATES) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT,
                           "enumeration: found %s%" PRIu64 " state%s, the limit is %" PRIu64,
                           n_states == UINT64_MAX ? "at least " : "", n_states,
                           gbsi_plural(n_states), GBSI_ENUMERATE_MAX_STATES));
    }
    GBSI_TRY(gbsi_local_new(model, &w.local, err));
    if (sums != NULL) {
        w.sums = gbsi_alloc_array_zero(n_sums, sizeof *w.sums);
        GBSI_TRY(GBSI_HAVE(err, "enumeration", w.sums));
    }
    const double sum = walk_block(&w, 0, (gbsi_sum){0}, 0);
    if (gbsi_watch_stopped(watch)) {
        GBSI_TRY(gbsi_watch_fail(err, "enumerating the states of a component"));
    }
    if (total != NULL) {
        *total = sum;
    }
    for (size_t i = 0; sums != NULL && i < n_sums; i++) {
        sums[i] = w.sums[i].high + w.sums[i].low;
    }

cleanup:
    gbsi_local_free(w.local);
    gbsi_free(w.sums);
    return status;
}

static double visit_max(void *context, uint64_t index, double logw)
{
    (void)index;
    double *max = context;
    *max = logw > *max ? logw : *max;
    return 0.0;
}

gbs_status gbsi_walk_max(const gbsi_conditioned *model, gbsi_watch *watch, double *max,
                         gbs_error *err)
{
    double most = -INFINITY;
    GBSI_PASS(gbsi_walk(model, watch, visit_max, &most, NULL, NULL, err));
    if (most == -INFINITY || model->log_constant == -INFINITY) {
        return gbsi_impossible(model, err);
    }
    assert(most < INFINITY); /* log-weights are at most GBS_MAX_LOG_WEIGHT */
    *max = most;
    return GBS_OK;
}
