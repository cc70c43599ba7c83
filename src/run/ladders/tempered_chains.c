/* SPDX-License-Identifier: Apache-2.0 */
/* The chains of a tempered run: the model on which they run, and the transfer of their states when
 * this model changes. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "chains/run_options.h"
#include "condition/soften.h"
#include "ladders/tempered_inside.h"
#include "options/options.h"
#include "rng/philox.h"

#define PENALTY 12.0 /* penalty of a violated hard zero at the beginning, in nats */
/* The weight of a softened zero is at least exp(-DEPTH) times the largest weight of the same
 * factor. */
#define DEPTH 5.0
/* Number of levels times number of ladders, unless the user sets these numbers. If ln Z is
 * estimated, the ladder is not cut at the hot end, and needs twice as many levels. */
#define LANES          32u
#define LANES_OF_LOG_Z 64u

/* Limits on the bytes of blocks: per variable and factor, once for the plans and once for sixteen
 * lanes, and in total. The limits are three to ten times the memory that the tested models needed.
 * If a model needs more, no blocks are used. */
#define BLOCKS_EACH      (UINT64_C(96) << 10)
#define BLOCK_LANES_EACH (UINT64_C(64) << 10)
#define MOST_BLOCKS      (UINT64_C(64) << 20)

/* ---- options --------------------------------------------------------------------------------- */

static uint32_t levels_of(const gbs_run_options *o)
{
    return o->temper == GBS_TEMPER_AUTO ? GBSI_TEMPERED_LEVELS : (uint32_t)o->temper;
}

uint32_t gbsi_run_ladders(const gbsi_task *task)
{
    gbs_run_options asked = task->options;
    const uint32_t lanes = task->purpose.up_only ? LANES_OF_LOG_Z : LANES;
    asked.chains = task->chains_asked;
    if (!gbsi_option_is_default(&asked, "chains")) {
        return (uint32_t)task->options.chains;
    }
    const uint32_t n = lanes / levels_of(&task->options);
    return n > 2 ? n : 2;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void free_chains(gbsi_tempered *t)
{
    gbsi_tempered_free_told(t);
    gbsi_executor_free(&t->executor);
    gbsi_schedule_free(&t->schedule);
    t->schedule = (gbsi_schedule){0};
    gbsi_plan_free(t->plan);
    if (t->scan_state != NULL) {
        gbsi_scan_of(t->options.scan)->free(t->scan_state);
        t->scan_state = NULL;
    }
    gbsi_softened_free(t->soft);
    t->plan = NULL;
    t->soft = NULL;
}

void gbsi_tempered_free(gbsi_tempered *t)
{
    if (t == NULL) {
        return;
    }
    gbsi_tempered_free_blocks(t);
    free_chains(t);
    gbsi_exchange_free(t->exchange);
    gbsi_ratios_free(t->ratios);
    gbsi_overlap_free(t->overlap);
    gbsi_overlap_free(t->overlap_of_sweeps);
    gbsi_means_free(t->means);
    gbsi_graph_free(t->graph);
    gbsi_collapse_free(t->collapse);
    GBSI_FREE(t->density, t->before, t->row, t->hard, t->one, t->state, t->p, t->word, t->counted,
              t->trips, t->drawn, t->user, t);
}

/* ---- the chains ------------------------------------------------------------------------------ */

void gbsi_tempered_set_temperatures(gbsi_tempered *t)
{
    const gbsi_exchange *e = t->exchange;
    for (uint32_t level = 0; level < e->n_levels; ++level) {
        for (uint32_t ladder = 0; ladder < e->n_ladders; ++ladder) {
            t->executor.beta[gbsi_exchange_lane(e, ladder, level)] = (float)e->beta[level];
        }
    }
    gbsi_tempered_heat_blocks(t);
}

/* Compiles the model with soft zeros to a plan by colours, and makes chains that have no states
 * yet. */
static gbs_status compile(gbsi_tempered *t, gbsi_pool *pool, gbsi_watch *watch, gbs_error *err)
{
    const gbsi_scan *scan = gbsi_scan_of(t->options.scan);
    unsigned traits = scan->traits;
    gbsi_sequence sequence = {0};
    const gbsi_own_chains moved = gbsi_chains_of(t->ranks, t->ranks == NULL ? 0 : t->ranks->rank,
                                                 (uint32_t)t->options.chains);
    free_chains(t);
    GBSI_PASS(gbsi_soften(t->core, DEPTH, t->penalty, &t->soft, err));
    GBSI_PASS(scan->init(t->graph, &t->options, watch, &t->scan_state, &traits, err));
    GBSI_PASS(scan->next_pass(t->scan_state, 0, &sequence, err));
    GBSI_PASS(gbsi_plan_new(t->soft, t->graph, sequence.variable, sequence.n,
                            (gbsi_plan_options){.repeats = true, .heated = true, .coarse = true},
                            &t->plan, err));
    GBSI_PASS(gbsi_plan_level(t->plan, sequence.variable, sequence.n, &t->schedule, err));
    const gbsi_executor_setting setting = {.pass = gbsi_pass_of(t->options.scan),
                                           .plan = t->plan,
                                           .options = &t->options,
                                           .level = gbsi_simd_level(),
                                           .pool = pool,
                                           .moved = moved};
    GBSI_PASS(gbsi_executor_init(&t->executor, &setting, err));
    GBSI_PASS(gbsi_executor_heat(&t->executor, 1.0F, err));
    return gbsi_tempered_take_told(t, err);
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Copies the states of all lanes. @return [lanes][variables]; NULL if there is no memory. */
static uint32_t *take_states(const gbsi_tempered *t, gbs_error *err)
{
    const size_t n = t->core->n_variables;
    uint32_t *states = gbsi_alloc_array(n * t->executor.n_chains, sizeof *states);
    for (uint32_t lane = 0; states != NULL && lane < t->executor.n_chains; ++lane) {
        gbsi_executor_get(&t->executor, lane, states + lane * n);
    }
    if (states == NULL) {
        (void)gbsi_no_memory(err, "chains", n * t->executor.n_chains * sizeof *states);
    }
    return states;
}

gbs_status gbsi_tempered_harden(gbsi_tempered *t, gbsi_pool *pool, double penalty, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = t->core->n_variables;
    uint32_t *states = take_states(t, err);
    if (states == NULL) {
        return GBS_ERR_MEMORY;
    }
    t->penalty = penalty;
    GBSI_TRY(compile(t, pool, NULL, err));
    for (uint32_t lane = 0; lane < t->executor.n_chains; ++lane) {
        gbsi_executor_set(&t->executor, lane, states + lane * n);
    }
    gbsi_executor_ready(&t->executor);
    gbsi_tempered_set_temperatures(t);
cleanup:
    gbsi_free(states);
    return status;
}

/* The level of a ladder whose inverse temperature is nearest to `beta`. */
static uint32_t nearest(const gbsi_exchange *e, double beta)
{
    uint32_t best = 0;
    for (uint32_t t = 1; t < e->n_levels; ++t) {
        best = fabs(e->beta[t] - beta) < fabs(e->beta[best] - beta) ? t : best;
    }
    return best;
}

gbs_status gbsi_tempered_respace(gbsi_tempered *t, double first, uint32_t n_levels,
                                 uint32_t n_ladders, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = t->core->n_variables;
    gbsi_exchange *old = t->exchange;
    gbsi_exchange *next = NULL;
    gbsi_ratios *ratios = NULL;
    uint32_t *states = NULL;
    GBSI_TRY(gbsi_exchange_remade(old, first, n_levels, n_ladders, &next, err));
    if (t->ratios != NULL) {
        GBSI_TRY(gbsi_ratios_new(next, &ratios, err));
        gbsi_ratios_free(t->ratios);
        t->ratios = ratios;
    }
    if (n_levels != old->n_levels) {
        states = take_states(t, err);
        if (states == NULL) {
            status = GBS_ERR_MEMORY;
            goto cleanup;
        }
        for (uint32_t level = 0; level < n_levels; ++level) {
            for (uint32_t ladder = 0; ladder < n_ladders; ++ladder) {
                const uint32_t from = gbsi_exchange_lane(old, ladder % old->n_ladders,
                                                         nearest(old, next->beta[level]));
                gbsi_executor_set(&t->executor, gbsi_exchange_lane(next, ladder, level),
                                  states + from * n);
            }
        }
        gbsi_executor_ready(&t->executor);
    }
    t->exchange = next;
    next = old;
    gbsi_tempered_set_temperatures(t);
cleanup:
    gbsi_free(states);
    gbsi_exchange_free(next);
    return status;
}

gbs_status gbsi_tempered_reshape(gbsi_tempered *t, gbsi_pool *pool, uint32_t n_levels,
                                 uint32_t n_ladders, double penalty, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exchange *exchange = NULL;
    gbsi_ratios *ratios = NULL;
    if (n_levels < 1 || n_ladders < 1 || n_ladders > t->executor.n_chains / n_levels ||
        !(penalty >= PENALTY && penalty <= GBSI_TEMPERED_MOST_PENALTY)) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT,
                           "the saved ladders are damaged: %u ladders of %u temperatures for %u "
                           "chains",
                           n_ladders, n_levels, t->executor.n_chains));
    }
    GBSI_TRY(gbsi_exchange_new(n_levels, n_ladders, &exchange, err));
    if (t->ratios != NULL) {
        GBSI_TRY(gbsi_ratios_new(exchange, &ratios, err));
        gbsi_ratios_free(t->ratios);
        t->ratios = ratios;
    }
    gbsi_exchange_free(t->exchange);
    t->exchange = exchange;
    exchange = NULL;
    if (penalty != t->penalty) {
        GBSI_TRY(gbsi_tempered_harden(t, pool, penalty, err));
    }
cleanup:
    gbsi_exchange_free(exchange);
    return status;
}

/* Draws uniform starts. With soft zeros, a chain may start in every state. */
static void start(gbsi_tempered *t)
{
    for (uint32_t lane = 0; lane < t->executor.n_chains; ++lane) {
        for (uint32_t v = 0; v < t->core->n_variables; ++v) {
            uint32_t word[4];
            gbsi_philox(t->options.seed, lane, 0, v, GBSI_PURPOSE_UNIFORM, word);
            t->one[v] = gbsi_below(word[0], word[1], t->core->arity[v]);
        }
        gbsi_executor_set(&t->executor, lane, t->one);
    }
    gbsi_executor_ready(&t->executor);
}

/* ---- beginning ------------------------------------------------------------------------------- */

static gbs_status take_arrays(gbsi_tempered *t, gbs_error *err)
{
    const size_t n_factors = t->core->factors.n_factors;
    const size_t n_lanes = (size_t)t->executor.n_groups * t->executor.lanes;
    const size_t n = t->part->n_variables;
    t->density = gbsi_alloc_array_zero(n_lanes, sizeof *t->density);
    t->before = gbsi_alloc_array(t->core->n_variables * n_lanes, sizeof *t->before);
    t->row = gbsi_alloc_array(n_lanes, sizeof *t->row);
    t->hard = gbsi_alloc_array(n_factors, sizeof *t->hard);
    t->one = gbsi_alloc_array(t->core->n_variables, sizeof *t->one);
    t->state = gbsi_alloc_lanes(n * GBSI_COLLAPSE_LANES, sizeof *t->state);
    t->p = gbsi_alloc_lanes(t->part->state_offset[n] * GBSI_COLLAPSE_LANES, sizeof *t->p);
    t->word = gbsi_alloc_lanes(gbsi_recovery_words(t->collapse), sizeof *t->word);
    t->counted = gbsi_alloc_array_zero(n_lanes, sizeof *t->counted);
    t->trips = gbsi_alloc_array_zero(n_lanes, sizeof *t->trips);
    GBSI_PASS(GBSI_HAVE(err, "chains", t->density, t->before, t->row, t->hard, t->one, t->state,
                        t->p, t->word, t->counted, t->trips));
    for (size_t f = 0; f < n_factors; ++f) {
        if (t->core->has_zeros[f]) {
            t->hard[t->n_hard++] = f;
        }
    }
    return GBS_OK;
}

static gbs_status take_draws(gbsi_tempered *t, const gbsi_problem *problem, gbs_error *err)
{
    const uint32_t n = problem->model->n_variables;
    t->drawn = gbsi_alloc_array(t->part->n_variables, sizeof *t->drawn);
    t->user = gbsi_alloc_array(n, sizeof *t->user);
    GBSI_PASS(GBSI_HAVE(err, "draws", t->drawn, t->user));
    memcpy(t->user, problem->whole->fixed_state, n * sizeof *t->user);
    return GBS_OK;
}

/* Sums out the variables for which summing is cheap, unless no variable would remain to be sampled.
 */
static gbs_status take_core(gbsi_tempered *t, gbsi_watch *watch, gbs_error *err)
{
    GBSI_PASS(gbsi_collapse_new(t->part, GBSI_COLLAPSE_ENTRIES, watch, &t->collapse, err));
    if (t->collapse->core->n_variables == 0) {
        gbsi_collapse_free(t->collapse);
        t->collapse = NULL;
        GBSI_PASS(gbsi_collapse_new(t->part, 0, watch, &t->collapse, err));
    }
    t->core = t->collapse->core;
    return gbsi_graph_new(t->core, NULL, &t->graph, err);
}

/* Adds the memory of ladders to the prediction in the report, unless the prediction of the run
 * includes this memory.
 * @return the number of bytes that blocks may take. */
static uint64_t predict(const gbsi_task *task, const gbsi_engine *engine, gbsi_run_memory *memory,
                        gbsi_report *report)
{
    const uint64_t limit = gbsi_options_memory_limit(&task->options);
    if (!gbsi_runner_climbs(task->runner)) {
        memory->peak += gbsi_run_tempered_bytes(task, engine);
        const uint64_t left = limit > memory->peak ? limit - memory->peak : 0;
        memory->blocks = gbsi_run_block_bytes(task, left);
        memory->peak += memory->blocks;
        report->public.predicted_bytes = memory->peak;
    }
    return memory->blocks;
}

gbs_status gbsi_tempered_begin(const gbsi_task *task, const gbsi_engine *engine,
                               gbsi_run_memory *memory, gbsi_report *report, gbsi_drive *drive,
                               gbsi_tempered **tempered, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_levels = levels_of(&task->options);
    const uint32_t n_ladders = gbsi_run_ladders(task);
    const uint64_t block_bytes = predict(task, engine, memory, report);
    gbsi_tempered *t = gbsi_alloc_zero(sizeof *t);
    GBSI_PASS(GBSI_HAVE(err, "chains", t));
    t->part = task->problem.part;
    t->ranks = task->ranks;
    t->options = task->options;
    t->options.scan = gbsi_scan_with(GBSI_SCAN_BASE);
    t->options.chains = (uint64_t)n_levels * n_ladders;
    t->chooses_levels =
        task->options.temper == GBS_TEMPER_AUTO && gbsi_option_is_default(&task->options, "chains");
    t->penalty = PENALTY;
    gbsi_drive_go_on(drive, false);
    GBSI_TRY(take_core(t, &drive->watch, err));
    GBSI_TRY(compile(t, engine->pool, &drive->watch, err));
    GBSI_TRY(gbsi_exchange_new(n_levels, n_ladders, &t->exchange, err));
    if (task->purpose.up_only) {
        GBSI_TRY(gbsi_ratios_new(t->exchange, &t->ratios, err));
    }
    GBSI_TRY(gbsi_overlap_new(t->core->n_variables, n_levels, &t->overlap, err));
    GBSI_TRY(gbsi_overlap_new(t->core->n_variables, n_levels, &t->overlap_of_sweeps, err));
    GBSI_TRY(gbsi_tempered_take_blocks(t, block_bytes, &drive->watch, err));
    GBSI_TRY(take_arrays(t, err));
    if (drive->callbacks->draw != NULL) {
        GBSI_TRY(take_draws(t, &task->problem, err));
    }
    start(t);
    gbsi_tempered_set_temperatures(t);
    *tempered = t;
    t = NULL;
cleanup:
    gbsi_tempered_free(t);
    return status;
}

uint64_t gbsi_run_tempered_bytes(const gbsi_task *task, const gbsi_engine *engine)
{
    const gbsi_conditioned *part = task->problem.part;
    const uint32_t n_levels = levels_of(&task->options);
    const uint32_t n_ladders = gbsi_run_ladders(task);
    const uint64_t lanes =
        ((uint64_t)n_levels * n_ladders + GBSI_LANES - 1) / GBSI_LANES * GBSI_LANES;
    /* If the ladder is cut, a quarter of the levels may remain, which makes room for more ladders.
     */
    const uint64_t most_ladders = lanes / 4 > n_ladders ? lanes / 4 : n_ladders;
    const uint64_t n = part->n_variables;
    const uint64_t states =
        n * (lanes + 16) * (2 + 2 * sizeof(uint32_t)) + /* states and copies of states */
        part->state_offset[n] * GBSI_COLLAPSE_LANES * sizeof(double);
    /* Summing out a variable makes a new factor and a table of conditional probabilities; each has
     * this number of entries. The new factor is stored four times: while it is made, in the core,
     * in the softened core, and in compiled form. */
    const uint64_t made = n * GBSI_COLLAPSE_ENTRIES * sizeof(double);
    const uint64_t core = 3 * gbsi_conditioned_bytes(part) + 4 * made;
    const gbsi_plan none = {0};
    const gbsi_plan *compiled = engine->plan == NULL ? &none : engine->plan;
    const uint64_t plan = compiled->bytes;
    const uint64_t counters = compiled->n_counters;
    const uint64_t told = task->ranks == NULL ? 0
                                              : lanes * (2 * n + 4 * counters + sizeof(double)) +
                                                    n * GBSI_BLOCK_LANES * sizeof(uint32_t);
    const uint64_t means = task->purpose.up_only ? 2 * (uint64_t)n_levels : part->state_offset[n];
    return core + 2 * (plan + made) + states + told +
           2 * gbsi_overlap_bytes(part->n_variables, n_levels) +
           2 * gbsi_exchange_bytes(n_levels, n_ladders) +
           2 * gbsi_ratios_bytes(n_levels, n_ladders) +
           gbsi_means_bytes((uint32_t)most_ladders, means);
}

uint64_t gbsi_run_block_bytes(const gbsi_task *task, uint64_t left)
{
    const gbsi_conditioned *part = task->problem.part;
    const uint64_t n_groups =
        ((uint64_t)levels_of(&task->options) * gbsi_run_ladders(task) + GBSI_LANES - 1) /
        GBSI_LANES;
    const uint64_t n = part->n_variables + part->factors.n_factors;
    const uint64_t wanted = n * (BLOCKS_EACH + n_groups * BLOCK_LANES_EACH);
    const uint64_t most = wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS;
    return most < left ? most : left;
}
