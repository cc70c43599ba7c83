/* SPDX-License-Identifier: Apache-2.0 */
/* Discretised herding of variables of two states [M20]; Yamashita & Suzuki (2019), algorithm 5, and
 * the rule of their image code. With the bin b of p:
 *     post   u[b] += P, x = carry
 *     pre    x = [w[b] > 0], w[b] += p - x
 * In both p = 0 and p = 1 decide by themselves and move nothing. */
#include <math.h>

#include "draw/binned.h"
#include "draw/chance_lanes.h"

#define INLINE static inline __attribute__((always_inline))

/* What a row of a tile holds: a place of sixteen chains, or up to sixteen places of one. */
INLINE uint32_t lanes_of_row(const gbsi_tile *tile, uint32_t row)
{
    const uint32_t left = tile->lanes == 1 ? tile->n_places - GBSI_LANES * row : GBSI_LANES;
    return left < GBSI_LANES ? left : GBSI_LANES;
}

INLINE uint32_t slot_of(const gbsi_tile *tile, uint32_t place)
{
    return tile->contiguous ? tile->first_slot + place : tile->slot[place];
}

/* Where the weight of a lane stands. */
INLINE size_t at_lane(const gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, uint32_t lane,
                      uint32_t bin)
{
    const uint32_t slot = slot_of(tile, tile->lanes == 1 ? GBSI_LANES * row + lane : row);
    return tile->lanes == 1 ? herd->cell[slot] + bin : (herd->cell[slot] + bin) * GBSI_LANES + lane;
}

INLINE vu post_row(gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, vu chance, vu bin)
{
    uint32_t *phase = herd->group[tile->group].phase;
    if (tile->lanes != 1) {
        phase += herd->cell[slot_of(tile, row)] * GBSI_LANES;
        const vu at = vu_add(vu_shl(bin, 4), vu_iota());
        const vu u = vu_add(vu_gather(phase, at), chance);
        vu_scatter(phase, at, u);
        return vu_select(vu_lt(u, chance), vu_set1(1), vu_set1(0));
    }
    uint32_t p[GBSI_LANES];
    uint32_t b[GBSI_LANES];
    uint32_t value[GBSI_LANES] = {0};
    vu_store(p, chance);
    vu_store(b, bin);
    for (uint32_t lane = 0; lane < lanes_of_row(tile, row); ++lane) {
        uint32_t *u = phase + at_lane(herd, tile, row, lane, b[lane]);
        *u += p[lane];
        value[lane] = *u < p[lane];
    }
    return vu_load(value);
}

INLINE vu pre_row(gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, const gbsi_chances *c,
                  vu bin)
{
    uint32_t p[GBSI_LANES];
    uint32_t b[GBSI_LANES];
    uint32_t value[GBSI_LANES] = {0};
    const unsigned open = vm_bits(c->open);
    vu_store(p, c->chance);
    vu_store(b, bin);
    for (uint32_t lane = 0; lane < lanes_of_row(tile, row); ++lane) {
        int64_t *w = herd->group[tile->group].balance + at_lane(herd, tile, row, lane, b[lane]);
        value[lane] = *w > 0;
        if ((open >> lane & 1u) != 0) {
            *w += (int64_t)p[lane] - ((int64_t)value[lane] << 32);
        }
    }
    return vu_load(value);
}

INLINE void tell(gbsi_tile *tile, uint32_t row, const gbsi_chances *c)
{
    float *p = tile->p + (size_t)row * (tile->odds ? 1 : 2) * GBSI_LANES;
    if (tile->odds) {
        vf_store(p, c->p[1]);
    } else {
        vf_store(p, c->p[0]);
        vf_store(p + GBSI_LANES, c->p[1]);
    }
}

static __attribute__((noinline)) void flag(gbsi_tile *tile, uint32_t row)
{
    if (tile->flags == 0) {
        tile->flag_place = tile->lanes == 1 ? GBSI_LANES * row : row;
    }
    tile->flags |= GBSI_IMPOSSIBLE;
}

static void two_states(void *state, gbsi_tile *tile)
{
    gbsi_herd *herd = state;
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        gbsi_chances c = gbsi_chances_of_row(tile, row);
        if (vm_any(c.dead)) {
            flag(tile, row);
        }
        c.chance = vu_select(c.open, c.chance, vu_set1(0));
        const vu bin = vu_select(
            c.open, gbsi_bin_of(c.chance, herd->how.n_bins, herd->how.left_edge), vu_set1(0));
        vu value = herd->how.post ? post_row(herd, tile, row, c.chance, bin)
                                  : pre_row(herd, tile, row, &c, bin);
        value = vu_select(c.open, value, vu_select(c.one, vu_set1(1), vu_set1(0)));
        if (tile->value_bytes == 1) {
            vu_store_u8((uint8_t *)tile->value + (size_t)row * GBSI_LANES, value);
        } else {
            vu_store_u16((uint16_t *)tile->value + (size_t)row * GBSI_LANES, value);
        }
        if (tile->p != NULL) {
            tell(tile, row, &c);
        }
    }
}

const gbsi_draw GBSI_V(gbsi_draw_binned) = {
    .name = "discretized",
    .reference = "Yamashita & Suzuki (2019), Convergence analysis of herded-Gibbs-type sampling "
                 "algorithms, Statistics and Computing 29:1035-1053",
    .traits = 0,
    .bytes = gbsi_binned_bytes,
    .init = gbsi_binned_init,
    .binary = two_states,
    .categorical = two_states,
    .save = gbsi_herd_save,
    .load = gbsi_herd_load,
    .free = gbsi_herd_free,
};
