/* SPDX-License-Identifier: Apache-2.0 */
#include "block/block.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "block/block_inside.h"
#include "rng/words.h"
#include "simd/math.h"

/* The loops of a block draw, which block_loops_lanes.c defines once per instruction set. */
#define DECLARE(set, SET) extern const gbsi_block_loops gbsi_block_loops_##set;
#define ROW(set, SET)     [GBSI_SIMD_##SET] = &gbsi_block_loops_##set,

GBSI_SIMD_SETS(DECLARE)

static const gbsi_block_loops *loops_of(gbsi_simd level)
{
    static const gbsi_block_loops *const of_set[GBSI_N_SIMD] = {GBSI_SIMD_SETS(ROW)};
    return of_set[level];
}

#define MOST_HELD 2 /* largest useful number of held variables per drawn variable */

/* ---- plans ---------------------------------------------------------------------------------- */

/* Assigns rows of b's tables to all factors that are small enough for a clique. */
static void place_tables(gbsi_blocks *b)
{
    const gbsi_factors *f = &b->model->factors;
    for (size_t i = 0; i < f->n_factors; ++i) {
        uint64_t entries = 1;
        for (size_t k = f->scope_start[i]; k < f->scope_start[i + 1]; ++k) {
            entries *= entries <= GBSI_BLOCK_MOST ? b->model->arity[f->scope[k]] : 1;
        }
        b->table[i] = entries <= GBSI_BLOCK_MOST ? b->n_table_rows : SIZE_MAX;
        b->n_table_rows += entries <= GBSI_BLOCK_MOST ? (size_t)entries : 0;
    }
    for (uint32_t v = 0; v < b->model->n_variables; ++v) {
        b->most_arity = b->model->arity[v] > b->most_arity ? b->model->arity[v] : b->most_arity;
    }
}

/* Whether a plan is worth making. A plan is useless if it holds most variables, as plans of dense
 * graphs do, or if it draws no two variables together. */
static bool is_useful(const gbsi_block_plan *p)
{
    for (uint32_t k = 0; p->n_held <= MOST_HELD * p->n_buckets && k < p->n_buckets; ++k) {
        if (p->bucket[k].n_neighbours > 0) {
            return true;
        }
    }
    return false;
}

static gbs_status make_plans(gbsi_blocks *b, uint32_t entries, uint64_t seed, uint32_t n_plans,
                             gbsi_watch *watch, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = b->model->n_variables;
    gbsi_block_graph graph = {0};
    gbsi_block_order order = {0};
    GBSI_TRY(gbsi_block_graph_init(b->model, entries, &graph, err));
    GBSI_TRY(gbsi_block_order_init(n, &order, err));
    bool holds = true;
    bool useful = true;
    for (uint32_t i = 0; i < n_plans && holds && useful; ++i) {
        gbsi_block_plan *p = &b->plan[b->n_plans++];
        GBSI_TRY(gbsi_block_order_make(&graph, b->model->arity, seed, i, &order, err));
        GBSI_TRY(gbsi_block_plan_make(b, &order, p, err));
        b->n_message_rows =
            p->n_message_rows > b->n_message_rows ? p->n_message_rows : b->n_message_rows;
        b->n_slice_rows = p->n_slice_rows > b->n_slice_rows ? p->n_slice_rows : b->n_slice_rows;
        for (uint32_t k = 0; k < p->n_buckets; ++k) {
            b->most_items =
                p->bucket[k].n_items > b->most_items ? p->bucket[k].n_items : b->most_items;
        }
        holds = p->n_held > 0;
        useful = is_useful(p);
        if (gbsi_watch_spend(watch, (uint64_t)n * n / 4 + p->n_offsets)) {
            GBSI_TRY(gbsi_watch_fail(err, "blocks"));
        }
    }

cleanup:
    gbsi_block_graph_free(&graph);
    gbsi_block_order_free(&order);
    return status;
}

gbs_status gbsi_blocks_new(const gbsi_conditioned *model, uint32_t entries, uint64_t seed,
                           uint32_t n_plans, gbsi_watch *watch, gbsi_blocks **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    *out = NULL;
    if (model->n_variables > GBSI_BLOCK_VARIABLES) {
        return GBS_OK;
    }
    gbsi_blocks *b = gbsi_alloc_zero(sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "blocks", b));
    b->model = model;
    b->table = gbsi_alloc_array(model->factors.n_factors, sizeof *b->table);
    b->plan = gbsi_alloc_array_zero(n_plans, sizeof *b->plan);
    GBSI_TRY(GBSI_HAVE(err, "blocks", b->table, b->plan));
    place_tables(b);
    GBSI_TRY(make_plans(b, entries, seed, n_plans, watch, err));
    if (b->n_plans > 0 && is_useful(&b->plan[b->n_plans - 1])) {
        *out = b;
        b = NULL;
    }

cleanup:
    gbsi_blocks_free(b);
    return status;
}

void gbsi_blocks_free(gbsi_blocks *blocks)
{
    if (blocks == NULL) {
        return;
    }
    for (uint32_t i = 0; i < blocks->n_plans; ++i) {
        gbsi_block_plan_free(&blocks->plan[i]);
    }
    GBSI_FREE(blocks->table, blocks->plan, blocks);
}

double gbsi_blocks_operations(const gbsi_blocks *b)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < b->n_plans; ++i) {
        sum += b->plan[i].operations;
    }
    return sum / b->n_plans;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* Returns the number of random words of a draw: two for each variable, rounded up because Philox
 * makes four at a time. */
static size_t n_words(const gbsi_blocks *b)
{
    return ((size_t)b->model->n_variables + 1) / 2 * 4 * GBSI_BLOCK_LANES;
}

gbs_status gbsi_block_lanes_new(const gbsi_blocks *b, gbsi_simd level, gbsi_block_lanes **out,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t row = GBSI_BLOCK_LANES * sizeof(double);
    gbsi_block_lanes *lanes = gbsi_alloc_zero(sizeof *lanes);
    GBSI_PASS(GBSI_HAVE(err, "blocks", lanes));
    lanes->blocks = b;
    lanes->level = level;
    lanes->weight = gbsi_alloc_lanes(b->n_table_rows, row);
    lanes->slice = gbsi_alloc_lanes(b->n_slice_rows, row);
    lanes->message = gbsi_alloc_lanes(b->n_message_rows, row);
    lanes->sum = gbsi_alloc_lanes(b->most_arity, row);
    lanes->word = gbsi_alloc_lanes(n_words(b), sizeof *lanes->word);
    lanes->row = gbsi_alloc_array_zero(b->most_items, sizeof *lanes->row);
    lanes->offset = gbsi_alloc_array_zero(b->most_items, sizeof *lanes->offset);
    GBSI_TRY(GBSI_HAVE(err, "blocks", lanes->weight, lanes->slice, lanes->message, lanes->sum,
                       lanes->word, lanes->row, lanes->offset));
    *out = lanes;
    lanes = NULL;

cleanup:
    gbsi_block_lanes_free(lanes);
    return status;
}

void gbsi_block_lanes_free(gbsi_block_lanes *lanes)
{
    if (lanes == NULL) {
        return;
    }
    GBSI_FREE(lanes->weight, lanes->slice, lanes->message, lanes->sum, lanes->word, lanes->row,
              lanes->offset, lanes);
}

/* Writes the log-weights of a factor to the first lane of the factor's rows. @return the largest
 * log-weight. */
static double list_values(gbsi_block_lanes *lanes, const gbsi_conditioned *model, size_t f,
                          size_t *n)
{
    const size_t first = model->factors.scope_start[f];
    const uint32_t n_scope = (uint32_t)(model->factors.scope_start[f + 1] - first);
    double *row = lanes->weight + lanes->blocks->table[f] * GBSI_BLOCK_LANES;
    uint32_t at[GBSI_BLOCK_CLIQUE] = {0};
    double most = -INFINITY;
    assert(n_scope <= GBSI_BLOCK_CLIQUE);
    for (*n = 1;; ++*n, row += GBSI_BLOCK_LANES) {
        row[0] = gbsi_factor_value_at(&model->factors, model->arity, f, at);
        most = row[0] > most ? row[0] : most;
        uint32_t k = n_scope;
        while (k > 0 && ++at[k - 1] == model->arity[model->factors.scope[first + k - 1]]) {
            at[--k] = 0;
        }
        if (k == 0) {
            return most;
        }
    }
}

/* Fills the weights of a factor, exp(beta (t - max t)). No weight exceeds 1, and the constant
 * cancels in a draw. At beta = 0, hard zeros have weight 1 as well. */
static void heat_factor(gbsi_block_lanes *lanes, size_t f, const float *beta)
{
    size_t n = 0;
    const double most = list_values(lanes, lanes->blocks->model, f, &n);
    double *row = lanes->weight + lanes->blocks->table[f] * GBSI_BLOCK_LANES;
    for (size_t i = 0; i < n; ++i, row += GBSI_BLOCK_LANES) {
        const double t = row[0] - most;
        for (uint32_t l = 0; l < GBSI_BLOCK_LANES; ++l) {
            row[l] = beta[l] == 0.0f ? 1.0 : gbsi_exp((double)beta[l] * t);
        }
    }
}

void gbsi_block_heat(gbsi_block_lanes *lanes, const float *beta)
{
    const gbsi_blocks *b = lanes->blocks;
    const gbsi_factors *f = &b->model->factors;
    for (size_t i = 0; i < f->n_factors; ++i) {
        if (b->table[i] != SIZE_MAX) {
            heat_factor(lanes, i, beta);
        }
    }
}

void gbsi_block_cool(gbsi_block_lanes *lanes, const gbsi_conditioned *values)
{
    const gbsi_blocks *b = lanes->blocks;
    for (size_t f = 0; f < b->model->factors.n_factors; ++f) {
        size_t n = 0;
        if (b->table[f] == SIZE_MAX) {
            continue;
        }
        const double most = list_values(lanes, values, f, &n);
        double *row = lanes->weight + b->table[f] * GBSI_BLOCK_LANES;
        for (size_t i = 0; i < n; ++i, row += GBSI_BLOCK_LANES) {
            const double t = row[0] - most;
            for (uint32_t l = 0; l < GBSI_BLOCK_LANES; ++l) {
                row[l] = t;
            }
        }
    }
}

void gbsi_block_maximise(gbsi_block_lanes *lanes, uint32_t plan, uint32_t *x)
{
    assert(plan < lanes->blocks->n_plans);
    loops_of(lanes->level)->maximise(lanes, &lanes->blocks->plan[plan], x);
}

void gbsi_block_up(gbsi_block_lanes *lanes, uint32_t plan, const uint32_t *x)
{
    assert(plan < lanes->blocks->n_plans);
    lanes->plan = plan;
    loops_of(lanes->level)->up(lanes, &lanes->blocks->plan[plan], x);
}

void gbsi_block_spare(gbsi_block_lanes *lanes, const uint32_t *x)
{
    if (lanes->lost != 0) {
        loops_of(lanes->level)->spare(lanes, &lanes->blocks->plan[lanes->plan], x);
    }
}

void gbsi_block_down(gbsi_block_lanes *lanes, const gbsi_block_draw *draw, const uint32_t *x,
                     uint32_t *y)
{
    static const uint32_t own[GBSI_BLOCK_LANES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                   8, 9, 10, 11, 12, 13, 14, 15};
    const uint32_t *from = draw->from == NULL ? own : draw->from;
    assert(from == own || x != y);
    gbsi_words_of(lanes->level)
        ->lanes16(draw->seed, draw->chain, draw->pass, 0,
                  (lanes->blocks->model->n_variables + 1) / 2, draw->purpose, lanes->word);
    loops_of(lanes->level)->down(lanes, &lanes->blocks->plan[lanes->plan], from, x, y);
}
