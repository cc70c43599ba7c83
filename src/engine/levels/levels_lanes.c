/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of sixteen sites at a time, level by level [M75]. The weight of level a is exp(l_a - max
 * l), with l_a = seen_a - sum over neighbours of c min((a - x_j)^2, t). If `multiplies` is set, the
 * weight is a product of factors. The conditional probabilities are the weights divided by the sum
 * of the weights. In single precision the relative error of a probability is about 1e-6. The draw
 * takes the first level whose cumulative weight exceeds u times the total, where u < 1 is a random
 * multiple of 2^-24. A level of weight 0 is never drawn. The frequency of every other level differs
 * from its computed probability by at most 2^-24. */
#include <math.h>
#include <stdbool.h>

#include "levels/levels_row.h"
#include "simd/math_lanes.h"

#define INLINE static inline __attribute__((always_inline))

enum { BLOCK = GBSI_LEVELS_BLOCK, WORDS = GBSI_LEVELS_WORDS, MOST_LEVELS = GBSI_LEVELS_MOST };

/* For each level of sixteen sites: the log-weight (or weight) given the observed value, the sum of
 * the conditionals from which chains drew, and the weight in the current draw. */
typedef struct block_rows {
    float seen[MOST_LEVELS][BLOCK];
    float sum[MOST_LEVELS][BLOCK];
    float weight[MOST_LEVELS][BLOCK];
} block_rows;

typedef struct neighbours {
    vf level[GBSI_LEVELS_NEIGHBOURS];
    vf weight[GBSI_LEVELS_NEIGHBOURS];
} neighbours;

/* Numbers that are compile-time constants in the loops. */
typedef struct loop_kind {
    uint32_t n; /* number of neighbours */
    bool multiplies;
} loop_kind;

INLINE void load_neighbours(const gbsi_levels_row *row, const uint8_t *state, uint32_t first,
                            const uint32_t n, neighbours *out)
{
    for (uint32_t k = 0; k < n; ++k) {
        out->level[k] = vf_from_small(vu_load_u8(state + first + row->neighbour[k].at));
        out->weight[k] = vf_load(row->neighbour[k].weight + first);
    }
}

/* sum over neighbours of c min((a - x_j)^2, t) */
INLINE vf distance_to(const neighbours *near, const uint32_t n, vf a, vf truncation)
{
    vf sum = vf_set1(0.0F);
    for (uint32_t k = 0; k < n; ++k) {
        const vf d = vf_sub(a, near->level[k]);
        sum = vf_fma(near->weight[k], vf_min(vf_mul(d, d), truncation), sum);
    }
    return sum;
}

/* Computes the log-weights of all levels. @return their maximum. */
INLINE vf weigh(const gbsi_levels *l, const neighbours *near, const uint32_t n, block_rows *rows)
{
    const vf truncation = vf_set1(l->truncation);
    vf top = vf_set1(-INFINITY);
    for (uint32_t a = 0; a < l->n_levels; ++a) {
        const vf d = distance_to(near, n, vf_set1((float)a), truncation);
        const vf logw = vf_sub(vf_load(rows->seen[a]), d);
        vf_store(rows->weight[a], logw);
        top = vf_max(top, logw);
    }
    return top;
}

INLINE vf exponentiate(uint32_t n_levels, vf top, block_rows *rows)
{
    vf total = vf_set1(0.0F);
    for (uint32_t a = 0; a < n_levels; ++a) {
        const vf w = vf_exp_low(vf_sub(vf_load(rows->weight[a]), top));
        vf_store(rows->weight[a], w);
        total = vf_add(total, w);
    }
    return total;
}

/* Draws a level in each lane from one word per lane. The cumulative weights are the partial sums of
 * `total`, so that the last one equals `total`. The last one exceeds u * total, because u <= 1 -
 * 2^-24. */
INLINE vu draw(uint32_t n_levels, vf total, vu word, const block_rows *rows)
{
    const vf u = vf_mul(vf_from_small(vu_shr(word, 8)), vf_set1(0x1p-24F));
    const vf target = vf_mul(u, total);
    vf sum = vf_set1(0.0F);
    vu level = vu_set1(0);
    for (uint32_t a = 0; a < n_levels; ++a) {
        sum = vf_add(sum, vf_load(rows->weight[a]));
        level = vu_select(vf_le(sum, target), vu_set1(a + 1), level);
    }
    return level;
}

/* Adds the conditionals to their sums. @param p [n_levels][16] out: the conditionals; may be NULL.
 */
INLINE void keep(uint32_t n_levels, vf total, float *p, block_rows *rows)
{
    const vf scale = vf_div(vf_set1(1.0F), total);
    for (uint32_t a = 0; a < n_levels; ++a) {
        const vf own = vf_mul(vf_load(rows->weight[a]), scale);
        vf_store(rows->sum[a], vf_add(vf_load(rows->sum[a]), own));
        if (p != NULL) {
            vf_store(p + (size_t)a * BLOCK, own);
        }
    }
}

/* Whether the k-th neighbour of eight, in order of rows and columns, is a diagonal one. */
INLINE uint32_t is_diagonal(uint32_t k, const uint32_t n)
{
    return n == 8 && (k == 0 || k == 2 || k == 5 || k == 7);
}

/* Computes the weights of all levels as products of factors. @return the sum of the weights. */
INLINE vf multiply(const gbsi_levels_row *row, const uint8_t *state, uint32_t first,
                   const uint32_t n, block_rows *rows)
{
    const gbsi_levels *l = row->levels;
    vf total = vf_set1(0.0F);
    vu level[GBSI_LEVELS_NEIGHBOURS];
    for (uint32_t k = 0; k < n; ++k) {
        const vf weight = vf_load(row->neighbour[k].weight + first);
        level[k] = vu_select(vf_eq(weight, vf_set1(0.0F)), vu_set1(GBSI_LEVELS_ABSENT),
                             vu_load_u8(state + first + row->neighbour[k].at));
    }
    for (uint32_t a = 0; a < l->n_levels; ++a) {
        const vf factor[2] = {vf_load(l->factor[0][a]), vf_load(l->factor[1][a])};
        vf w = vf_load(rows->seen[a]);
        for (uint32_t k = 0; k < n; ++k) {
            w = vf_mul(w, vf_permute16(factor[is_diagonal(k, n)], level[k]));
        }
        vf_store(rows->weight[a], w);
        total = vf_add(total, w);
    }
    return total;
}

/* Computes the weights of all levels as exponentials of distances. @return the sum of the weights.
 */
INLINE vf exponentials(const gbsi_levels_row *row, const uint8_t *state, uint32_t first,
                       const uint32_t n, block_rows *rows)
{
    neighbours near;
    load_neighbours(row, state, first, n, &near);
    const vf top = weigh(row->levels, &near, n, rows);
    return exponentiate(row->levels->n_levels, top, rows);
}

/* Updates one block in chains [chain, end). @param word [chain][WORDS] random words of the block.
 * @param p out: probabilities of the block, laid out as in gbsi_levels_row; NULL if the block is
 * not watched. */
INLINE void update_chains(const gbsi_levels_row *row, const loop_kind kind, uint32_t first,
                          uint32_t chain, uint32_t end, const uint32_t *word, float *p,
                          block_rows *rows)
{
    const gbsi_levels *l = row->levels;
    const size_t cells = (size_t)l->n_levels * BLOCK;
    for (uint32_t c = chain; c < end; ++c) {
        uint8_t *state = row->state + c * row->stride;
        const vf total = kind.multiplies ? multiply(row, state, first, kind.n, rows)
                                         : exponentials(row, state, first, kind.n, rows);
        const vu drawn =
            draw(l->n_levels, total, vu_load(word + (size_t)(c - chain) * WORDS), rows);
        vu_store_u8(state + first, drawn);
        if (row->sum != NULL) {
            keep(l->n_levels, total, p == NULL ? NULL : p + c * cells, rows);
        }
    }
}

static void see(const gbsi_levels_row *row, uint32_t first, block_rows *rows)
{
    const gbsi_levels *l = row->levels;
    const float *seen = l->multiplies ? l->weight_seen : l->seen;
    const vu value = vu_load_u16(row->value + first);
    for (uint32_t a = 0; a < l->n_levels; ++a) {
        vf_store(rows->seen[a], vf_gather(seen + (size_t)a * l->n_values, value));
        vf_store(rows->sum[a], vf_set1(0.0F));
    }
}

static void add_sums(const gbsi_levels_row *row, uint32_t first, const block_rows *rows)
{
    float *sum = row->sum + (size_t)first * row->levels->n_levels;
    for (uint32_t a = 0; a < row->levels->n_levels; ++a, sum += BLOCK) {
        vf_store(sum, vf_add(vf_load(sum), vf_load(rows->sum[a])));
    }
}

INLINE void update_row(const gbsi_levels_row *row, const loop_kind kind)
{
    const gbsi_levels *l = row->levels;
    uint32_t word[GBSI_LEVELS_CHAINS][WORDS];
    block_rows rows;
    for (uint32_t chain = 0; chain < row->n_chains; chain += GBSI_LEVELS_CHAINS) {
        const uint32_t left = row->n_chains - chain;
        const uint32_t end = chain + (left < GBSI_LEVELS_CHAINS ? left : GBSI_LEVELS_CHAINS);
        uint32_t watched = 0;
        for (uint32_t first = 0; first < l->half; first += BLOCK) {
            const uint32_t block = row->first_block + first / BLOCK;
            for (uint32_t c = chain; c < end && first % WORDS == 0; ++c) {
                row->words->lanes1(row->seed, c, row->pass, row->first_word + first / 4, BLOCK,
                                   word[c - chain]);
            }
            const bool is_watched = watched < row->n_watched && row->watched[watched] == block;
            float *p = is_watched && row->p != NULL
                           ? row->p + (size_t)watched * row->n_chains * l->n_levels * BLOCK
                           : NULL;
            see(row, first, &rows);
            update_chains(row, kind, first, chain, end, word[0] + first % WORDS, p, &rows);
            if (row->sum != NULL) {
                add_sums(row, first, &rows);
            }
            watched += is_watched;
        }
    }
}

void GBSI_V(gbsi_levels_update)(const gbsi_levels_row *row);

void GBSI_V(gbsi_levels_update)(const gbsi_levels_row *row)
{
    const uint32_t n = row->levels->n_neighbours;
    if (row->levels->multiplies && n == 4) {
        update_row(row, (loop_kind){4, true});
    } else if (row->levels->multiplies) {
        update_row(row, (loop_kind){8, true});
    } else if (n == 4) {
        update_row(row, (loop_kind){4, false});
    } else {
        update_row(row, (loop_kind){8, false});
    }
}

double GBSI_V(gbsi_levels_log_density)(const gbsi_levels_row *row);

double GBSI_V(gbsi_levels_log_density)(const gbsi_levels_row *row)
{
    const gbsi_levels *l = row->levels;
    const uint32_t parity = row->first_block / (l->half / BLOCK) % 2;
    const float *is = gbsi_levels_weights(l, parity, GBSI_LEVELS_IS);
    const vf truncation = vf_set1(l->truncation);
    /* the neighbours that come after the site in order of rows and columns */
    gbsi_levels_row after = *row;
    for (uint32_t k = 0; k < l->n_neighbours / 2; ++k) {
        after.neighbour[k] = row->neighbour[l->n_neighbours / 2 + k];
    }
    vf sum = vf_set1(0.0F);
    for (uint32_t first = 0; first < l->half; first += BLOCK) {
        const vu level = vu_load_u8(row->state + first);
        const vu at = vu_add(vu_mul(level, vu_set1(l->n_values)), vu_load_u16(row->value + first));
        neighbours near;
        load_neighbours(&after, row->state, first, l->n_neighbours / 2, &near);
        const vf d = distance_to(&near, l->n_neighbours / 2, vf_from_small(level), truncation);
        const vf seen = vf_mul(vf_load(is + first), vf_gather(l->seen, at));
        sum = vf_add(sum, vf_sub(seen, d));
    }
    float lane[BLOCK];
    double total = 0.0;
    vf_store(lane, sum);
    for (uint32_t i = 0; i < BLOCK; ++i) {
        total += (double)lane[i];
    }
    return total;
}
