/* SPDX-License-Identifier: Apache-2.0 */
/* Herding by bins with random choices: randomly-discretized herding (Yamashita & Suzuki 2019,
 * algorithm 9) and bounded-error herding by bins (algorithm 8 of the paper), for any number of
 * states [M28] [M29]. */
#include "draw/binned_lanes.h"

/* Rounds p at random to an edge b / B of its bin: b is floor(p B) + 1 with probability p B -
 * floor(p B), which is the low half of the product P B, and floor(p B) otherwise. The weight of the
 * edge then herds the constant probability b / B. At the edges 0 and 1 the value is certain, and no
 * weight is used. */
GBSI_INLINE vu rounded_row(gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, vu p,
                           unsigned open)
{
    const uint32_t n_bins = herd->how.n_bins;
    const vu scale = vu_set1(n_bins);
    const vu word = vu_load(tile->word + (size_t)row * GBSI_LANES);
    const vm up = vu_lt(word, vu_mul(p, scale));
    const vu low = vu_mul_hi(p, scale);
    uint32_t *phase = herd->group[tile->group].phase;
    uint32_t edge[GBSI_LANES];
    uint32_t value[GBSI_LANES] = {0};
    vu_store(edge, vu_select(up, vu_add(low, vu_set1(1)), low));
    for (uint32_t lane = 0; lane < gbsi_lanes_of_row(tile, row); ++lane) {
        if ((open >> lane & 1u) == 0 || edge[lane] == 0 || edge[lane] == n_bins) {
            value[lane] = edge[lane] != 0;
            continue;
        }
        const uint64_t whole = (uint64_t)edge[lane] << 32;
        const uint32_t chance = (uint32_t)((whole + n_bins / 2) / n_bins);
        uint32_t *u = phase + gbsi_bin_at(herd, tile, row, lane, edge[lane]);
        *u += chance;
        value[lane] = *u < chance;
    }
    return vu_load(value);
}

/* Draws x by the weight w if w is beyond the threshold, else by the random word; then w += p - x.
 */
GBSI_INLINE vu bounded_row(gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, vu p,
                           unsigned open)
{
    uint32_t chance[GBSI_LANES];
    uint32_t bin[GBSI_LANES];
    uint32_t value[GBSI_LANES] = {0};
    const uint32_t *word = tile->word + (size_t)row * GBSI_LANES;
    vu_store(chance, p);
    vu_store(bin, gbsi_bin_of(p, herd->how.n_bins, 0, herd->how.left_edge));
    for (uint32_t lane = 0; lane < gbsi_lanes_of_row(tile, row); ++lane) {
        if ((open >> lane & 1u) != 0) {
            int64_t *w =
                herd->group[tile->group].balance + gbsi_bin_at(herd, tile, row, lane, bin[lane]);
            value[lane] = gbsi_bounded_value(&herd->how, *w, chance[lane], word[lane]);
            *w += (int64_t)chance[lane] - ((int64_t)value[lane] << 32);
        }
    }
    return vu_load(value);
}

GBSI_INLINE vu row_of(gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, vu p, unsigned open)
{
    return herd->how.rounded ? rounded_row(herd, tile, row, p, open)
                             : bounded_row(herd, tile, row, p, open);
}

static void binary(void *state, gbsi_tile *tile)
{
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const gbsi_chances c = gbsi_chances_of_odds(tile, row, tile->linear != 0);
        gbsi_store_values(tile, row, row_of(state, tile, row, c.chance, 0xFFFFu));
        if (tile->p != NULL) {
            vf_store(tile->p + (size_t)row * GBSI_LANES, c.p[1]);
        }
    }
}

/* Draws a row of two states with hard zeros: where p is 0 or 1, the value is p and no weight
 * changes. */
GBSI_INLINE void pair_row(gbsi_herd *herd, gbsi_tile *tile, uint32_t row)
{
    const gbsi_chances c = gbsi_chances_of_pair(tile, row);
    const vu value = row_of(herd, tile, row, c.chance, vm_bits(c.open));
    gbsi_put_pair(tile, row, &c, value);
}

static void categorical(void *state, gbsi_tile *tile)
{
    if (tile->arity > 2) {
        gbsi_more_states(state, tile);
    }
    for (uint32_t row = 0; tile->arity == 2 && row < tile->n_rows; ++row) {
        pair_row(state, tile, row);
    }
}

#define REFERENCE                                                                    \
    "Yamashita & Suzuki (2019), Convergence analysis of herded-Gibbs-type sampling " \
    "algorithms, Statistics and Computing 29:1035-1053"

const gbsi_draw GBSI_V(gbsi_draw_rounded) = {
    .name = "randomly-discretized",
    .reference = REFERENCE,
    .traits = GBSI_DRAW_ROUNDS | GBSI_DRAW_HERDS,
    .n_words = 1,
    .options = gbsi_herding_options,
    .bytes = gbsi_binned_bytes,
    .init = gbsi_binned_init,
    .begin_pass = gbsi_herd_begin_pass,
    .expect = gbsi_herd_expect,
    .binary = binary,
    .categorical = categorical,
    .advise = gbsi_herding_advise,
    .n_weights = gbsi_herd_n_weights,
    .save = gbsi_herd_save,
    .load = gbsi_herd_load,
    .skip = gbsi_herd_skip,
    .weave = gbsi_herd_weave,
    .free = gbsi_herd_free,
};

const gbsi_draw GBSI_V(gbsi_draw_binned_bounded) = {
    .name = "bounded-error",
    .reference = REFERENCE,
    .traits = GBSI_DRAW_THRESHOLD | GBSI_DRAW_HERDS,
    .n_words = 1,
    .options = gbsi_bounded_options,
    .bytes = gbsi_binned_bytes,
    .init = gbsi_binned_init,
    .begin_pass = gbsi_herd_begin_pass,
    .expect = gbsi_herd_expect,
    .binary = binary,
    .categorical = categorical,
    .advise = gbsi_herding_advise,
    .n_weights = gbsi_herd_n_weights,
    .save = gbsi_herd_save,
    .load = gbsi_herd_load,
    .skip = gbsi_herd_skip,
    .weave = gbsi_herd_weave,
    .free = gbsi_herd_free,
};
