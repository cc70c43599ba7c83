/* SPDX-License-Identifier: Apache-2.0 */
/* Discretised herding of variables of two states [M32]; Yamashita & Suzuki (2019), algorithm 5, and
 * the rule of their image code. With the bin b of p:
 *     post   u[b] += P, x = carry
 *     pre    x = [w[b] > 0], w[b] += p - x
 * With either rule, p = 0 and p = 1 determine the value, and no weight changes. */
#include "draw/binned_lanes.h"

/* Draws the values of one place of sixteen chains by rule post. @return the values. */
GBSI_INLINE vu post_row16(uint32_t *phase, vu chance, vu bin, const bool one_bin)
{
    const vu at = one_bin ? vu_iota() : vu_add(vu_shl(bin, 4), vu_iota());
    const vu u = vu_add(one_bin ? vu_load(phase) : vu_gather(phase, at), chance);
    if (one_bin) {
        vu_store(phase, u);
    } else {
        vu_scatter(phase, at, u);
    }
    return vu_select(vu_lt(u, chance), vu_set1(1), vu_set1(0));
}

/* Whether a row has sixteen places of one chain whose weights lie side by side. */
GBSI_INLINE bool side_by_side(const gbsi_herd *herd, const gbsi_tile *tile, uint32_t row)
{
    const uint32_t slot = tile->first_slot + GBSI_LANES * row;
    return tile->contiguous && gbsi_lanes_of_row(tile, row) == GBSI_LANES &&
           herd->cell[slot + GBSI_LANES - 1] - herd->cell[slot] ==
               (size_t)(GBSI_LANES - 1) * herd->how.n_bins;
}

/* The weights of a single chain are prefetched this many rows ahead, because no cache holds all
 * weights. With up to 16 bins, all weights of the next sixteen places are prefetched, which takes
 * one cache line per bin. */
#define AHEAD 4u

GBSI_INLINE void ask_for(const gbsi_herd *herd, const gbsi_tile *tile, uint32_t row)
{
    if (row >= tile->n_rows || !tile->contiguous || herd->how.n_bins > GBSI_LANES) {
        return;
    }
    const uint32_t *phase =
        herd->group[tile->group].phase + herd->cell[tile->first_slot + GBSI_LANES * row];
    for (uint32_t at = 0; at < GBSI_LANES * herd->how.n_bins; at += GBSI_LANES) {
        __builtin_prefetch(phase + at, 1);
    }
}

GBSI_INLINE vu post_slice(gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, vu chance, vu bin)
{
    uint32_t *phase =
        herd->group[tile->group].phase + herd->cell[tile->first_slot + GBSI_LANES * row];
    const vu at = vu_add(vu_mul(vu_iota(), vu_set1(herd->how.n_bins)), bin);
    const vu u = vu_add(vu_gather(phase, at), chance);
    vu_scatter(phase, at, u);
    return vu_select(vu_lt(u, chance), vu_set1(1), vu_set1(0));
}

/* Draws the values of up to sixteen places of one chain by rule post. @return the values. */
GBSI_INLINE vu post_row1(gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, vu chance, vu bin)
{
    uint32_t p[GBSI_LANES];
    uint32_t b[GBSI_LANES];
    uint32_t value[GBSI_LANES] = {0};
    if (side_by_side(herd, tile, row)) {
        ask_for(herd, tile, row + AHEAD);
        return post_slice(herd, tile, row, chance, bin);
    }
    vu_store(p, chance);
    vu_store(b, bin);
    for (uint32_t lane = 0; lane < gbsi_lanes_of_row(tile, row); ++lane) {
        uint32_t *u = herd->group[tile->group].phase + gbsi_bin_at(herd, tile, row, lane, b[lane]);
        *u += p[lane];
        value[lane] = *u < p[lane];
    }
    return vu_load(value);
}

/* Draws the values of a row by rule pre. @param open bit l is set if the weight of lane l changes.
 * @return the values. */
GBSI_INLINE vu pre_row(gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, vu chance, vu bin,
                       unsigned open)
{
    uint32_t p[GBSI_LANES];
    uint32_t b[GBSI_LANES];
    uint32_t value[GBSI_LANES] = {0};
    vu_store(p, chance);
    vu_store(b, bin);
    for (uint32_t lane = 0; lane < gbsi_lanes_of_row(tile, row); ++lane) {
        int64_t *w = herd->group[tile->group].balance + gbsi_bin_at(herd, tile, row, lane, b[lane]);
        value[lane] = *w > 0;
        if ((open >> lane & 1u) != 0) {
            *w += (int64_t)p[lane] - ((int64_t)value[lane] << 32);
        }
    }
    return vu_load(value);
}

/* Returns 32 - log2(B) if B is a power of two above 1, else 0. */
static int shift_of(uint32_t n_bins)
{
    int shift = 32;
    for (uint32_t b = n_bins; b > 1; b /= 2) {
        shift -= 1;
    }
    return n_bins > 1 && (n_bins & (n_bins - 1)) == 0 ? shift : 0;
}

GBSI_INLINE void odds_rows(gbsi_herd *herd, gbsi_tile *tile, const bool linear, const bool one_bin)
{
    const uint32_t n_bins = herd->how.n_bins;
    const int shift = shift_of(n_bins);
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const gbsi_chances c = gbsi_chances_of_odds(tile, row, linear);
        const vu bin =
            one_bin ? vu_set1(0) : gbsi_bin_of(c.chance, n_bins, shift, herd->how.left_edge);
        if (!herd->how.post) {
            gbsi_store_values(tile, row, pre_row(herd, tile, row, c.chance, bin, 0xFFFF));
        } else if (tile->lanes == 1) {
            gbsi_store_values(tile, row, post_row1(herd, tile, row, c.chance, bin));
        } else {
            uint32_t *phase =
                herd->group[tile->group].phase + herd->cell[gbsi_tile_slot(tile, row)] * GBSI_LANES;
            gbsi_store_values(tile, row, post_row16(phase, c.chance, bin, one_bin));
        }
        if (tile->p != NULL) {
            vf_store(tile->p + (size_t)row * GBSI_LANES, c.p[1]);
        }
    }
}

static void binary(void *state, gbsi_tile *tile)
{
    gbsi_herd *herd = state;
    if (tile->linear && herd->how.n_bins == 1) {
        odds_rows(herd, tile, true, true);
    } else if (tile->linear) {
        odds_rows(herd, tile, true, false);
    } else {
        odds_rows(herd, tile, false, herd->how.n_bins == 1);
    }
}

/* Draws variables of two states with hard zeros: where p is 0 or 1, the value is p and no weight
 * changes. */
static void two_states(void *state, gbsi_tile *tile)
{
    gbsi_herd *herd = state;
    const uint32_t n_bins = herd->how.n_bins;
    const int shift = shift_of(n_bins);
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const gbsi_chances c = gbsi_chances_of_pair(tile, row);
        vu bin = gbsi_bin_of(c.chance, n_bins, shift, herd->how.left_edge);
        bin = vu_select(c.open, bin, vu_set1(0));
        const vu chance = vu_select(c.open, c.chance, vu_set1(0));
        uint32_t *phase = herd->group[tile->group].phase;
        const vu value =
            !herd->how.post ? pre_row(herd, tile, row, chance, bin, vm_bits(c.open))
            : tile->lanes == 1
                ? post_row1(herd, tile, row, chance, bin)
                : post_row16(phase + herd->cell[gbsi_tile_slot(tile, row)] * GBSI_LANES, chance,
                             bin, false);
        gbsi_put_pair(tile, row, &c, value);
    }
}

static void categorical(void *state, gbsi_tile *tile)
{
    if (tile->arity == 2) {
        two_states(state, tile);
    } else {
        gbsi_more_states(state, tile);
    }
}

const gbsi_draw GBSI_V(gbsi_draw_binned) = {
    .name = "discretized",
    .reference = "Yamashita & Suzuki (2019), Convergence analysis of herded-Gibbs-type sampling "
                 "algorithms, Statistics and Computing 29:1035-1053",
    .traits = GBSI_DRAW_HERDS,
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
