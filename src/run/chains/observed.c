/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the states of all chains after a pass. */
#include "chains/observed.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "chains/cluster_tiles.h"
#include "chains/density.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "lattice/bits.h"

/* ---- checks and memory ----------------------------------------------------------------------- */

gbs_status gbsi_observed_check(const gbs_model *model, const gbs_run_options *o, gbs_error *err)
{
    const char *with = !gbsi_options_sample(o)      ? "--method sample or auto"
                       : o->temper > GBS_TEMPER_OFF ? "--temper off"
                       : o->partial_scan            ? "a scan of all variables"
                                                    : NULL;
    if (with != NULL) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "observables are kept with %s only", with);
    }
    if ((gbsi_scan_traits(o->scan) & GBSI_SCAN_SPLITS) != 0) {
        return gbsi_fail(
            err, GBS_ERR_UNSUPPORTED,
            "observables are not kept with --scan %s, whose states are no draws of the "
            "joint distribution",
            gbsi_scan_of(o->scan)->name);
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (model->arity[v] != model->arity[0] || model->arity[v] < 2) {
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "observables: variable %u has %u state%s, expected %u: all variables "
                             "must have the same number of states, at least 2",
                             v, model->arity[v], gbsi_plural(model->arity[v]),
                             model->arity[0] < 2 ? 2 : model->arity[0]);
        }
    }
    return GBS_OK;
}

uint64_t gbsi_observed_bytes(const gbsi_task *task)
{
    const uint64_t n_chains = gbsi_options_chains(&task->options) + GBSI_LANES;
    const uint64_t n_states = task->problem.model->arity[0];
    const uint64_t n_variables = task->problem.part->n_variables;
    return gbsi_observables_bytes((uint32_t)task->options.chains) +
           GBSI_LANES * n_states * sizeof(uint32_t) +
           n_chains * (sizeof(double) + sizeof(gbs_observed)) +
           gbsi_clusters_measure_bytes((uint32_t)n_variables, (uint32_t)task->options.chains,
                                       gbsi_options_threads(&task->options));
}

/* Whether some variable lacks states that the user's variable has. */
static bool labels_differ(const gbsi_conditioned *part, uint32_t n_states)
{
    for (uint32_t v = 0; v < part->n_variables; ++v) {
        if (part->arity[v] != n_states) {
            return true;
        }
    }
    return false;
}

gbs_status gbsi_observed_take(const gbsi_task *task, const gbsi_engine *engine,
                              gbsi_observed *observed, gbs_error *err)
{
    const gbsi_conditioned *part = task->problem.part;
    const gbsi_executor *x = &engine->executor;
    gbsi_observed *o = observed;
    o->n_states = task->problem.model->arity[0];
    o->labels_differ = labels_differ(part, o->n_states);
    o->count = gbsi_alloc_array((size_t)x->lanes * o->n_states, sizeof *o->count);
    o->density = gbsi_alloc_array((size_t)x->n_groups * x->lanes, sizeof *o->density);
    o->n_chains = (uint32_t)task->options.chains;
    o->last = gbsi_alloc_array(o->n_chains, sizeof *o->last);
    GBSI_PASS(GBSI_HAVE(err, "observables", o->count, o->density, o->last));
    if (x->pass == &gbsi_pass_clusters) {
        GBSI_PASS(gbsi_clusters_measure(gbsi_cluster_tiles_clusters(x->pass_state), err));
    }
    return gbsi_observables_new(o->n_chains, o->n_states, part->n_variables, &o->sums, err);
}

void gbsi_observed_free(gbsi_observed *o)
{
    gbsi_observables_free(o->sums);
    GBSI_FREE(o->count, o->density, o->last);
}

/* ---- counts of states ------------------------------------------------------------------------ */

/* Sums of the bytes of each of sixteen lanes, which are 0 or 1. Bytes hold the sums of 255 slots.
 */
static void add_lanes(const uint8_t *state, uint32_t n_slots, uint32_t sum[GBSI_LANES])
{
    for (uint32_t first = 0; first < n_slots; first += UINT8_MAX) {
        const uint32_t end = n_slots - first < UINT8_MAX ? n_slots : first + UINT8_MAX;
        uint8_t part[GBSI_LANES] = {0};
        for (uint32_t slot = first; slot < end; ++slot) {
            for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
                part[lane] = (uint8_t)(part[lane] + state[(size_t)slot * GBSI_LANES + lane]);
            }
        }
        for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
            sum[lane] += part[lane];
        }
    }
}

/* Counts the states of sixteen chains of variables of two states. */
static void count_two(const gbsi_observed *o, const gbsi_plan *plan, const uint8_t *state)
{
    uint32_t up[GBSI_LANES] = {0};
    add_lanes(state, plan->n_slots, up);
    for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
        o->count[2 * lane] = plan->n_slots - up[lane];
        o->count[2 * lane + 1] = up[lane];
    }
}

/* Counts the states of all chains of a group: count[lane][state]. */
static void count_group(const gbsi_observed *o, const gbsi_engine *engine,
                        const gbsi_conditioned *part, uint32_t g)
{
    const gbsi_executor *x = &engine->executor;
    const gbsi_plan *plan = x->plan;
    const uint32_t lanes = x->lanes;
    if (o->n_states == 2 && lanes == GBSI_LANES) { /* free variables have both states */
        count_two(o, plan, x->group[g].state);
        return;
    }
    memset(o->count, 0, (size_t)lanes * o->n_states * sizeof *o->count);
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const uint32_t *label =
            o->labels_differ ? gbsi_conditioned_states(part, plan->variable_of[slot]) : NULL;
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            const uint32_t state =
                gbsi_state_at(x->group[g].state, (size_t)slot * lanes + lane, plan->value_bytes);
            ++o->count[lane * o->n_states + (label == NULL ? state : label[state])];
        }
    }
}

static void put(const gbsi_observed *o, const gbsi_executor *x, uint32_t chain, double log_density,
                const uint32_t *count)
{
    gbsi_seen seen = {.log_density = log_density, .count = count, .square = NAN, .fourth = NAN};
    if (x->pass == &gbsi_pass_clusters) {
        gbsi_clusters_moments(gbsi_cluster_tiles_clusters(x->pass_state), chain, &seen.square,
                              &seen.fourth);
    }
    o->last[chain] = gbsi_observables_put(o->sums, chain, &seen);
}

/* Chains with a plan. */
static void observe_groups(const gbsi_observed *o, const gbsi_engine *engine,
                           const gbsi_conditioned *part)
{
    const gbsi_executor *x = &engine->executor;
    gbsi_executor_log_density(x, o->density);
    for (uint32_t chain = 0; chain < x->n_chains; ++chain) {
        const uint32_t lane = chain % x->lanes;
        if (lane == 0) {
            count_group(o, engine, part, chain / x->lanes);
        }
        put(o, x, chain, o->density[chain], o->count + (size_t)lane * o->n_states);
    }
}

/* Spins in bits, whose sums over sites and bonds are integers. */
static void observe_spins(const gbsi_observed *o, const gbsi_engine *engine)
{
    const gbsi_spins *spins = engine->spins;
    const gbsi_spin_chains *chains = gbsi_bits_chains(engine->executor.pass_state);
    for (uint32_t chain = 0; chain < engine->executor.n_chains; ++chain) {
        const gbsi_spin_sums *sums = &chains->sums[chain];
        const int64_t up = (gbsi_spins_total(spins, sums) + spins->n_sites) / 2;
        const uint32_t count[2] = {spins->n_sites - (uint32_t)up, (uint32_t)up};
        put(o, &engine->executor, chain, gbsi_spins_log_density(spins, sums), count);
    }
}

/* Gives the quantities of all chains to the user. */
static gbs_status tell(const gbsi_observed *o, const gbs_run_callbacks *callbacks, uint64_t sweep,
                       gbs_error *err)
{
    for (uint32_t chain = 0; chain < o->n_chains && callbacks->observed != NULL; ++chain) {
        GBSI_PASS(callbacks->observed(callbacks->context, sweep, chain, &o->last[chain], err));
    }
    return GBS_OK;
}

gbs_status gbsi_observed_pass(gbsi_observed *o, const gbsi_problem *problem,
                              const gbsi_engine *engine, const gbs_run_callbacks *callbacks,
                              uint64_t sweep, gbs_error *err)
{
    if (o->sums == NULL) {
        return GBS_OK;
    }
    if (engine->spins != NULL) {
        observe_spins(o, engine);
    } else {
        observe_groups(o, engine, problem->part);
    }
    gbsi_observables_end_pass(o->sums);
    return tell(o, callbacks, sweep, err);
}

/* ---- asked for ------------------------------------------------------------------------------- */

uint32_t gbs_run_n_observables(const gbs_run *run)
{
    return run == NULL || !run->report.executed
               ? 0
               : gbsi_observables_count(run->sampling.observed.sums);
}

gbs_status gbs_run_observable(const gbs_run *run, uint32_t i, gbs_observable *observable,
                              gbs_error *err)
{
    GBSI_NEED(run);
    GBSI_NEED(observable);
    GBSI_OUT_STRUCT(observable, gbs_observable);
    const uint32_t n = gbs_run_n_observables(run);
    if (i >= n) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "the run has %u observable%s, found number %u", n,
                         gbsi_plural(n), i);
    }
    const gbs_observable own = gbsi_observables_tell(run->sampling.observed.sums, i);
    gbsi_struct_give(observable, &own, sizeof own);
    return GBS_OK;
}

uint64_t gbs_run_observables_batch(const gbs_run *run)
{
    return run == NULL ? 0 : gbsi_observables_batch(run->sampling.observed.sums);
}
