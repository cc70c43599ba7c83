/* SPDX-License-Identifier: Apache-2.0 */
/* The work between the sweeps of a search: maxima over blocks raise the states of the chains, and
 * block draws lead to other states. */
#include "search/anneal.h"

#define A_MOMENT_NS 1e8 /* least time of a quench of all chains, in nanoseconds */

/* Raises sixteen states, and compares each with the best state. @param operations limit in
 * nanoseconds. */
static gbs_status raise_states(gbsi_search *s, double operations, gbs_error *err)
{
    gbsi_search_mark(s);
    gbsi_quench_run(s->quench, operations, s->drive.stop == GBSI_GO_ON ? &s->drive.watch : NULL);
    if (s->drive.stop != GBSI_GO_ON) {
        GBSI_PASS(gbsi_search_keep(s, err));
    }
    s->raising = false;
    for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
        gbsi_quench_get(s->quench, lane, s->x);
        GBSI_PASS(gbsi_search_consider(s, s->quench->density[lane], err));
    }
    return GBS_OK;
}

/* Adapts the share of time of block draws. If block draws found a better state than the sweeps
 * before them, the share grows fourfold. Otherwise, if the sweeps found a better state, the share
 * falls to a quarter, but not below 1. @param most largest share. */
static void share_time(gbsi_search_standing *at, double most)
{
    if (at->best > at->swept) {
        at->block_share *= 4.0;
    } else if (at->swept > at->before) {
        at->block_share = at->block_share > 4.0 ? 0.25 * at->block_share : 1.0;
    }
    at->block_share = at->block_share < most ? at->block_share : most;
}

static void set_lanes(gbsi_search *s)
{
    const gbsi_executor *x = &s->run->sampling.engine.executor;
    const uint32_t first = (uint32_t)s->at.first;
    for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
        const bool is_best = first + lane + 1 >= x->n_chains;
        if (!is_best) {
            gbsi_executor_get(x, first + lane, s->x);
        }
        gbsi_quench_set(s->quench, lane, is_best ? s->best_x : s->x);
    }
}

static gbs_status cool(gbsi_search *s, gbs_error *err)
{
    const gbsi_quench_schedule schedule = {.tau0 = s->at.tau0,
                                           .n_draws = s->at.cool_draws,
                                           .seed = s->run->task.options.seed,
                                           .pass = s->at.cool_pass,
                                           .chain = (uint32_t)s->at.first};
    const uint64_t n = gbsi_quench_steps(s->quench, schedule.n_draws);
    while (s->at.cool_steps < n && s->drive.stop == GBSI_GO_ON) {
        ++s->at.cool_steps;
        s->at.n_draws += gbsi_quench_cool(s->quench, &schedule, s->at.cool_steps, &s->drive.watch);
        GBSI_PASS(gbsi_search_keep(s, err));
    }
    return GBS_OK;
}

/* Raises and cools the states of sixteen chains. @param operations nanoseconds of each
 * maximisation. */
static gbs_status quench_lanes(gbsi_search *s, double operations, gbs_error *err)
{
    if (s->at.stage == GBSI_STAGE_RAISE) {
        set_lanes(s);
        GBSI_PASS(raise_states(s, operations, err));
        s->at.swept = s->at.best;
        if (s->drive.stop != GBSI_GO_ON || s->at.cool_draws == 0) {
            return GBS_OK;
        }
        s->at.stage = GBSI_STAGE_COOL;
        s->at.cool_steps = 0;
    }
    GBSI_PASS(cool(s, err));
    GBSI_PASS(raise_states(s, operations, err));
    share_time(&s->at, s->run->task.options.block_time);
    s->at.stage = GBSI_STAGE_RAISE;
    return GBS_OK;
}

/* Improves the states of the chains by maxima over blocks. The best state until now replaces the
 * state of the last chain. After the time limit, states are raised only if one turn of all plans
 * takes at most A_MOMENT_NS. Afterwards, block draws with a falling temperature move the states,
 * and the search goes on from the new states. @param operations counted nanoseconds of the sweeps
 * before. */
gbs_status gbsi_search_quench(gbsi_search *s, double operations, gbs_error *err)
{
    gbsi_search_standing *at = &s->at;
    const uint32_t n_chains = s->run->sampling.engine.executor.n_chains;
    if (s->may_quench &&
        s->drive.stop == GBSI_GO_ON) { /* if the plans take long, a state can be reported */
        GBSI_PASS(gbsi_search_plan(s, err));
        if (s->drive.stop != GBSI_GO_ON) {
            GBSI_PASS(gbsi_search_keep(s, err));
        }
        at->has_plans = s->quench != NULL;
    }
    if (s->quench == NULL) {
        at->stage = GBSI_STAGE_OVER;
        return GBS_OK;
    }
    const double groups = (double)n_chains / GBSI_BLOCK_LANES + 1.0;
    const double turn = gbsi_quench_operations(s->quench);
    const double each = (operations > A_MOMENT_NS ? operations : A_MOMENT_NS) / groups;
    if (s->drive.stop != GBSI_GO_ON && turn * groups > A_MOMENT_NS) {
        return GBS_OK;
    }
    if (at->stage == GBSI_STAGE_SWEEP) {
        at->stage = GBSI_STAGE_RAISE;
        at->first = 0;
        at->cool_draws =
            (uint64_t)(at->block_share * operations / groups / turn * s->quench->blocks->n_plans);
        at->cool_pass = at->n_draws;
    }
    for (; at->first < n_chains; at->first += GBSI_BLOCK_LANES) {
        GBSI_PASS(quench_lanes(s, each, err));
    }
    at->stage = GBSI_STAGE_OVER;
    return GBS_OK;
}
