/* SPDX-License-Identifier: Apache-2.0 */
/* Finds variables that hardly moved although they could have moved. For such a variable, the
 * estimates of the chains and their agreement prove nothing [M9]. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "chains/run.h"
#include "graph/graph.h"
#include "simd/math.h"

#define MOST_STATES 16u /* largest number of states of a variable that is examined */
/* Largest number of entries of a factor that is examined. */
#define MOST_ENTRIES (UINT64_C(1) << 16)

/* For pairs of states j, k of a variable: a lower bound of ln p(j | rest) - ln p(k | rest) that
 * holds for all states of the rest, the other variables. */
typedef struct least_odds {
    uint32_t n; /* number of states of the variable */
    double sum[MOST_STATES][MOST_STATES];
} least_odds;

/* Moves `at` to the next combination of states of a scope; the variable at place `fixed` is not
 * changed.
 * @return false after the last combination. */
static bool next_rest(uint32_t *at, const uint32_t *scope, const uint32_t *arity, uint32_t n,
                      uint32_t fixed)
{
    for (uint32_t i = n; i-- > 0;) {
        if (i != fixed && ++at[i] < arity[scope[i]]) {
            return true;
        }
        at[i] = 0;
    }
    return false;
}

static uint64_t entries_of(const uint32_t *scope, const uint32_t *arity, uint32_t n)
{
    uint64_t entries = 1;
    for (uint32_t i = 0; i < n && entries <= MOST_ENTRIES; ++i) {
        entries *= arity[scope[i]];
    }
    return entries;
}

/* Returns the difference of two log-weights. If the second state is impossible, the result is plus
 * infinity, which leaves a minimum of differences as it was. */
static double odds_of(double j, double k)
{
    return k == -(double)INFINITY ? (double)INFINITY : j - k;
}

/* Adds the bounds that one factor gives. @param place position of the variable in the scope of the
 * factor.
 * @return whether the factor is small enough to be examined. */
static bool add_factor(const gbsi_conditioned *model, size_t f, uint32_t place, least_odds *odds)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const uint32_t n = (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
    uint32_t at[32] = {0}; /* 2^16 entries have at most 16 variables */
    double least[MOST_STATES][MOST_STATES];
    double value[MOST_STATES];
    if (entries_of(scope, model->arity, n) > MOST_ENTRIES) {
        return false;
    }
    for (uint32_t j = 0; j < odds->n; ++j) {
        for (uint32_t k = 0; k < odds->n; ++k) {
            least[j][k] = (double)INFINITY;
        }
    }
    do {
        for (at[place] = 0; at[place] < odds->n; ++at[place]) {
            value[at[place]] = gbsi_factor_value_at(factors, model->arity, f, at);
        }
        at[place] = 0;
        for (uint32_t j = 0; j < odds->n; ++j) {
            for (uint32_t k = 0; k < odds->n; ++k) {
                const double found = odds_of(value[j], value[k]);
                least[j][k] = found < least[j][k] ? found : least[j][k];
            }
        }
    } while (next_rest(at, scope, model->arity, n, place));
    for (uint32_t j = 0; j < odds->n; ++j) {
        for (uint32_t k = 0; k < odds->n; ++k) {
            const bool never = odds->sum[j][k] == (double)INFINITY ||
                               least[j][k] == (double)INFINITY; /* state k is impossible */
            odds->sum[j][k] = never ? (double)INFINITY : odds->sum[j][k] + least[j][k];
        }
    }
    return true;
}

/* Whether a proof shows that all states of v except one have a total probability of at most `most`.
 * The proof rests on this fact: if p(k | rest) <= u for every state of the rest, then P(k) <= u. */
static bool is_settled(const gbsi_conditioned *model, const gbsi_incident_factors *incident,
                       uint32_t v, double most)
{
    least_odds odds = {.n = model->arity[v]};
    if (odds.n > MOST_STATES) {
        return false;
    }
    for (size_t i = gbsi_offset(&incident->start, v);
         i < gbsi_offset(&incident->start, v + (size_t)1); ++i) {
        const uint32_t place = gbsi_incident_position(incident, &model->factors, i, v);
        if (!add_factor(model, incident->factor[i], place, &odds)) {
            return false;
        }
    }
    for (uint32_t j = 0; j < odds.n; ++j) {
        double others = 0.0;
        for (uint32_t k = 0; k < odds.n; ++k) {
            others += k == j ? 0.0 : 1.0 / (1.0 + gbsi_exp(odds.sum[j][k]));
        }
        if (others <= most) {
            return true;
        }
    }
    return false;
}

static double target_of(const gbsi_report *report)
{
    const double target = report->public.target_error;
    return target > 0.0 ? target : GBSI_DEFAULT_TARGET;
}

/* Marks those slots of this rank that moved too little. A slot is not marked if blocks that hold
 * the slot and all its neighbours were drawn often (GBSI_HELD_OFTEN). @return the number of marks.
 */
static uint32_t mark(const gbsi_shared *shared, const gbsi_engine *engine,
                     gbsi_estimates *estimates, const uint8_t *n)
{
    gbsi_moves *m = &estimates->moves;
    const gbsi_executor *x = &engine->executor;
    uint32_t n_still = 0;
    for (uint32_t slot = 0; slot < m->n_slots; ++slot) {
        const bool own = shared->own_slot == NULL || shared->own_slot[slot] != 0;
        const bool whole =
            x->pass->held != NULL && x->pass->held(x->pass_state, slot) >= GBSI_HELD_OFTEN;
        m->still[slot] = own && n[slot] < GBSI_ENOUGH_MOVES && !whole;
        n_still += m->still[slot];
    }
    return n_still;
}

gbs_status gbsi_run_leave_settled(const gbsi_engine *engine, const gbsi_report *report,
                                  uint8_t *mark, uint32_t *n_marked, gbs_error *err)
{
    const gbsi_plan *plan = engine->plan;
    const gbsi_conditioned *model = plan->model;
    gbsi_incident_factors incident = {0};
    const gbs_status status =
        gbsi_incident_factors_init(&model->factors, model->n_variables, 1, &incident, err);
    for (uint32_t slot = 0; status >= 0 && slot < plan->n_slots; ++slot) {
        if (mark[slot] &&
            is_settled(model, &incident, plan->variable_of[slot], target_of(report))) {
            mark[slot] = 0;
            --*n_marked;
        }
    }
    gbsi_incident_factors_free(&incident);
    return status;
}

gbs_status gbsi_run_find_still(const gbsi_shared *shared, const gbsi_engine *engine,
                               gbsi_estimates *estimates, gbsi_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_moves *m = &estimates->moves;
    uint32_t n_still = 0;
    uint8_t *n = NULL;
    report->public.n_hardly_moved = 0;
    if (m->n_slots == 0 && shared->share == NULL) {
        return GBS_OK;
    }
    n = gbsi_alloc_array(m->n_slots, 1);
    GBSI_PASS(GBSI_HAVE(err, "moves", n));
    GBSI_TRY(gbsi_moves_of_all(m, &engine->executor, n, err));
    n_still = mark(shared, engine, estimates, n);
    GBSI_TRY(n_still > 0 ? gbsi_run_leave_settled(engine, report, m->still, &n_still, err)
                         : GBS_OK);
    uint64_t n_all = n_still;
    if (shared->ranks != NULL) {
        GBSI_TRY(
            shared->ranks->combine(shared->ranks->context, GBS_COMBINE_SUM_U64, &n_all, 1, err));
    }
    report->public.n_hardly_moved = n_all;
cleanup:
    gbsi_free(n);
    return status;
}

gbs_status gbs_run_hardly_moved(const gbs_run *run, uint8_t *hardly, gbs_error *err)
{
    GBSI_NEED(run, hardly);
    const gbsi_moves *m = &run->sampling.estimates.moves;
    const gbsi_plan *plan = run->sampling.engine.plan;
    if (gbsi_runner_shares(run->task.plain)) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "the model is on several ranks: none of them knows all of its variables");
    }
    memset(hardly, 0, run->task.problem.model->n_variables);
    for (uint32_t slot = 0; !gbsi_runner_climbs(run->task.runner) && slot < m->n_slots; ++slot) {
        hardly[run->task.problem.part->user_variable[plan->variable_of[slot]]] = m->still[slot];
    }
    return GBS_OK;
}
