/* SPDX-License-Identifier: Apache-2.0 */
/* Joint draws of blocks as the local move of a tempered run (block/block.h); they are used if they
 * make chains forget more per operation than sweeps do. The messages of the cold lanes are used a
 * second time, for additional draws at the cold end. */
#include <math.h>

#include "base/budget.h"
#include "base/memory.h"
#include "chains/counted_operations.h"
#include "ladders/tempered_inside.h"
#include "parallel/pool.h"
#include "rng/philox.h"
#include "simd/math.h"

enum {
    LANES = GBSI_BLOCK_LANES,
    ENTRIES = 256, /* most entries of a clique; with 1024, draws take three times as long and forget
                      little more */
};

/* The cost of an iteration without its moves, that is of densities, swaps and counting, in
 * nanoseconds for each variable and lane. */
#define OVERHEAD_NS 10.0
/* The factor by which sixteen additional states, redrawn at the cold level, raise the value of an
 * iteration. On grids, pedigrees and diagnosis networks, iterations with redrawn states gave
 * standard errors for which iterations without redrawn states had to be two to five times as many.
 */
#define REDRAWN 2.0

void gbsi_tempered_free_blocks(gbsi_tempered *t)
{
    gbsi_tempered_blocks *b = &t->blocks;
    for (uint32_t g = 0; b->lanes != NULL && g < b->n_groups; ++g) {
        gbsi_block_lanes_free(b->lanes[g]);
    }
    GBSI_FREE(b->lanes, b->x, b->redrawn);
    gbsi_blocks_free(b->plans);
    *b = (gbsi_tempered_blocks){0};
}

static gbs_status take_memory(gbsi_tempered *t, gbsi_watch *watch, gbs_error *err)
{
    gbsi_tempered_blocks *b = &t->blocks;
    const size_t n = (size_t)t->core->n_variables * LANES;
    GBSI_PASS(gbsi_blocks_new(t->soft, ENTRIES, t->options.seed, GBSI_BLOCK_PLANS, watch, &b->plans,
                              err));
    if (b->plans == NULL) {
        return GBS_OK;
    }
    b->n_groups = t->executor.n_groups;
    b->lanes = gbsi_alloc_array_zero(b->n_groups, sizeof(gbsi_block_lanes *));
    b->x = gbsi_alloc_lanes(n * b->n_groups, sizeof *b->x);
    b->redrawn = gbsi_alloc_lanes(n, sizeof *b->redrawn);
    GBSI_PASS(GBSI_HAVE(err, "blocks", b->lanes, b->x, b->redrawn));
    for (uint32_t g = 0; g < b->n_groups; ++g) {
        GBSI_PASS(gbsi_block_lanes_new(b->plans, gbsi_simd_level(), &b->lanes[g], err));
    }
    return GBS_OK;
}

/* Makes blocks. Blocks have a memory budget of their own, of at most `bytes`. */
gbs_status gbsi_tempered_take_blocks(gbsi_tempered *t, uint64_t bytes, gbsi_watch *watch,
                                     gbs_error *err)
{
    gbsi_budget *outer = gbsi_budget_current();
    gbsi_budget own;
    if (t->executor.lanes != LANES || t->exchange->n_ladders > LANES) {
        return GBS_OK;
    }
    gbsi_budget_init(&own, bytes, 0);
    if (outer != NULL && outer->room - outer->held < own.room) {
        own.room = outer->room > outer->held ? outer->room - outer->held : 0;
    }
    gbsi_budget_set(&own);
    gbs_status status = take_memory(t, watch, err);
    if (status < 0) {
        gbsi_tempered_free_blocks(t);
    }
    gbsi_budget_set(outer);
    gbsi_budget_count((size_t)own.held);
    return status == GBS_ERR_LIMIT ? GBS_OK : status;
}

void gbsi_tempered_heat_blocks(gbsi_tempered *t)
{
    gbsi_tempered_blocks *b = &t->blocks;
    if (b->plans == NULL || !b->used) {
        return;
    }
    b->plans->model = t->soft; /* plans stay valid when the penalty changes */
    for (uint32_t g = 0; g < b->n_groups; ++g) {
        gbsi_block_heat(b->lanes[g], t->executor.beta + (size_t)g * LANES);
    }
}

/* ---- states ---------------------------------------------------------------------------------- */

static void load(const gbsi_tempered *t, uint32_t g, uint32_t *x)
{
    const gbsi_plan *plan = t->plan;
    const void *state = t->executor.group[g].state;
    for (uint32_t v = 0; v < t->core->n_variables; ++v) {
        const size_t at = (size_t)plan->slot_of[v] * LANES;
        for (uint32_t l = 0; l < LANES; ++l) {
            x[(size_t)v * LANES + l] = gbsi_state_at(state, at + l, plan->value_bytes);
        }
    }
}

static void store(const gbsi_tempered *t, uint32_t g, const uint32_t *x)
{
    const gbsi_plan *plan = t->plan;
    void *state = t->executor.group[g].state;
    for (uint32_t v = 0; v < t->core->n_variables; ++v) {
        const size_t at = (size_t)plan->slot_of[v] * LANES;
        for (uint32_t l = 0; l < LANES; ++l) {
            const uint32_t value = x[(size_t)v * LANES + l];
            if (plan->value_bytes == 1) {
                ((uint8_t *)state)[at + l] = (uint8_t)value;
            } else {
                ((uint16_t *)state)[at + l] = (uint16_t)value;
            }
        }
    }
    if (plan->n_counters > 0) {
        gbsi_counters_init(plan, LANES, &t->executor.group[g]);
    }
}

/* ---- draws ----------------------------------------------------------------------------------- */

bool gbsi_tempered_redraws(const gbsi_tempered *t)
{
    return t->blocks.used && t->means != NULL && t->ratios == NULL;
}

/* Draws of all groups that take fewer predicted nanoseconds are not shared: they would end before a
 * second thread has woken up. */
#define LEAST_SHARED 5e4

typedef struct job {
    gbsi_tempered *tempered;
    uint32_t plan;
    uint32_t n_members;
} job;

static void draw_groups(void *context, uint32_t member)
{
    const job *j = context;
    gbsi_tempered *t = j->tempered;
    gbsi_tempered_blocks *b = &t->blocks;
    const gbsi_executor *executor = &t->executor;
    const uint32_t end = executor->first_moved + executor->n_moved;
    for (uint32_t g = executor->first_moved + member; g < end; g += j->n_members) {
        uint32_t *x = b->x + (size_t)g * t->core->n_variables * LANES;
        gbsi_block_draw draw = {.seed = t->options.seed,
                                .pass = t->iteration,
                                .chain = g * LANES,
                                .purpose = GBSI_PURPOSE_BLOCK};
        load(t, g, x);
        gbsi_block_up(b->lanes[g], j->plan, x);
        gbsi_block_spare(b->lanes[g], x);
        if (g == 0 && gbsi_tempered_redraws(t)) { /* the lanes of the cold level come first */
            uint32_t from[LANES];
            for (uint32_t l = 0; l < LANES; ++l) {
                from[l] = l % t->exchange->n_ladders;
            }
            draw.purpose = GBSI_PURPOSE_REDRAW;
            draw.from = from;
            gbsi_block_down(b->lanes[g], &draw, x, b->redrawn);
            draw.purpose = GBSI_PURPOSE_BLOCK;
            draw.from = NULL;
        }
        gbsi_block_down(b->lanes[g], &draw, x, x);
        store(t, g, x);
    }
}

void gbsi_tempered_draw_blocks(gbsi_tempered *t)
{
    const double ns = gbsi_blocks_operations(t->blocks.plans) * t->executor.n_moved;
    gbsi_pool *pool = ns < LEAST_SHARED ? NULL : t->executor.pool;
    job j = {.tempered = t, .n_members = gbsi_pool_size(pool)};
    uint32_t word[4];
    gbsi_philox(t->options.seed, UINT32_MAX, t->iteration, 0, GBSI_PURPOSE_PLAN, word);
    j.plan = gbsi_below(word[0], word[1], t->blocks.plans->n_plans);
    gbsi_pool_run(pool, draw_groups, &j);
}

/* ---- which move ------------------------------------------------------------------------------ */

/* The value of a move per operation: how much the move makes the colder levels forget, times the
 * square of the resulting rate of round trips. Hotter levels forget with every kind of move. The
 * rate is squared for this reason: a barrier of half the height needs half as many levels, which
 * leaves room for twice as many ladders. */
static double worth(const gbsi_tempered *t, const gbsi_overlap *overlap, double operations)
{
    const uint32_t n_levels = t->exchange->n_levels;
    const double hot = gbsi_overlap_hot_end(overlap, GBSI_TEMPERED_MEMORY);
    const double trips = 1.0 / (1.0 + gbsi_exchange_barrier_from(t->exchange, hot));
    double sum = 0.0;
    for (uint32_t level = n_levels / 2; level < n_levels; ++level) {
        const double memory = gbsi_overlap_memory(overlap, level);
        sum -= gbsi_log(memory < 0.01 ? 0.01 : memory > 0.999 ? 0.999 : memory);
    }
    return sum * trips * trips / operations;
}

bool gbsi_tempered_prefers_blocks(const gbsi_tempered *t)
{
    const double sweep = gbsi_operations_single(t->plan, t->executor.n_chains, INFINITY);
    const double draw = gbsi_blocks_operations(t->blocks.plans) * t->blocks.n_groups;
    const double rest = OVERHEAD_NS * t->part->n_variables * t->executor.n_chains;
    return REDRAWN * worth(t, t->overlap, rest + draw + sweep) >
           worth(t, t->overlap_of_sweeps, rest + GBSI_TEMPERED_SWEEPS * sweep);
}

uint32_t gbsi_tempered_block_variables(const gbsi_tempered *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; t->blocks.used && i < t->blocks.plans->n_plans; ++i) {
        sum += t->blocks.plans->plan[i].n_buckets;
    }
    return t->blocks.used ? (uint32_t)(sum / t->blocks.plans->n_plans) : 0;
}
