/* SPDX-License-Identifier: Apache-2.0 */
/* Herded Gibbs of variables of two states with finite log-odds, sixteen chains at a time [M19]:
 *     key from the states of the neighbours,     u[key] += P[key],     x = carry.
 * With few keys every row of weights is gone through and those of other keys masked; with more they
 * are gathered and scattered. */
#include "draw/herd.h"
#include "simd/lanes.h"

#define INLINE static inline __attribute__((always_inline))

#define FEW_KEYS 8u

INLINE vu code16(const gbsi_keys *keys, const gbsi_key_slot *s, const gbsi_tile *tile)
{
    const uint32_t *link = keys->link + s->link;
    const uint32_t *step = keys->step + s->link;
    if (s->coding == GBSI_CODE_RADIX || tile->value_bytes != 1) {
        vu code = vu_set1(s->offset);
        for (uint32_t i = 0; i < s->n_links; ++i) {
            const size_t at = (size_t)link[i] * GBSI_LANES;
            const vu x = tile->value_bytes == 1 ? vu_load_u8((const uint8_t *)tile->state + at)
                                                : vu_load_u16((const uint16_t *)tile->state + at);
            code = vu_add(code, vu_mul(x, vu_set1(step[i])));
        }
        return code;
    }
    const uint8_t *state = tile->state;
    const bool bits = s->coding == GBSI_CODE_BITS;
    vb code = vb_set1(0);
    for (uint32_t i = s->n_links; i-- > 0;) {
        code = bits ? vb_add(code, code) : code;
        code = vb_add(code, vb_load(state + (size_t)link[i] * GBSI_LANES));
    }
    return vb_widen(code);
}

INLINE void store_value(const gbsi_tile *tile, uint32_t row, vu value)
{
    if (tile->value_bytes == 1) {
        vu_store_u8((uint8_t *)tile->value + (size_t)row * GBSI_LANES, value);
    } else {
        vu_store_u16((uint16_t *)tile->value + (size_t)row * GBSI_LANES, value);
    }
}

/* One row for each key; lanes of other keys add nothing. */
INLINE vu few_keys(uint32_t *phase, const uint32_t *chance, uint32_t n_keys, vu key)
{
    vm carry = vm_none();
    for (uint32_t i = 0; i < n_keys; ++i) {
        const vu p = vu_select(vu_eq(key, vu_set1(i)), vu_set1(chance[i]), vu_set1(0));
        const vu u = vu_add(vu_load(phase + (size_t)i * GBSI_LANES), p);
        vu_store(phase + (size_t)i * GBSI_LANES, u);
        carry = vm_or(carry, vu_lt(u, p));
    }
    return vu_select(carry, vu_set1(1), vu_set1(0));
}

INLINE vu many_keys(uint32_t *phase, const uint32_t *chance, vu key)
{
    const vu at = vu_add(vu_shl(key, 4), vu_iota());
    const vu p = vu_gather(chance, key);
    const vu u = vu_add(vu_gather(phase, at), p);
    vu_scatter(phase, at, u);
    return vu_select(vu_lt(u, p), vu_set1(1), vu_set1(0));
}

INLINE void place16(gbsi_herd *herd, gbsi_tile *tile, uint32_t i, const gbsi_key_slot *s)
{
    const gbsi_keys *keys = &herd->keys;
    uint32_t *phase = herd->group[tile->group].phase + s->cell * GBSI_LANES;
    const uint32_t *chance = keys->chance + s->cell;
    vu key = code16(keys, s, tile);
    if (s->lut != GBSI_NO_LUT) {
        key = vu_gather(keys->lut + s->lut, key);
    }
    const vu value = s->n_keys <= FEW_KEYS ? few_keys(phase, chance, s->n_keys, key)
                                           : many_keys(phase, chance, key);
    store_value(tile, i, value);
    if (tile->p != NULL) {
        const vf p = vf_mul(vf_from_vu(vu_gather(chance, key)), vf_set1(0x1p-32F));
        vf_store(tile->p + (size_t)i * GBSI_LANES, p);
    }
}

/* ---- one chain ---------------------------------------------------------------------------------
 */

INLINE vu slice_code(const gbsi_herd_slices *slices, const gbsi_herd_slice *s, uint32_t slot,
                     const gbsi_tile *tile, const bool wide)
{
    const uint32_t *link = slices->link + s->link;
    const uint32_t *step = slices->step + s->link;
    const bool radix = s->coding == GBSI_CODE_RADIX;
    const bool bits = s->coding == GBSI_CODE_BITS;
    vu code = radix ? vu_load(slices->offset + slot) : vu_set1(0);
    for (uint32_t d = s->width; d-- > 0;) {
        const vu at = vu_load(link + (size_t)GBSI_LANES * d);
        const vu x = wide ? vu_gather_u16(tile->state, at) : vu_gather_u8(tile->state, at);
        code = bits ? vu_add(code, code) : code;
        code = vu_add(code, radix ? vu_mul(x, vu_load(step + (size_t)GBSI_LANES * d)) : x);
    }
    return code;
}

/* Sixteen consecutive slots of one chain. */
INLINE void slice_row(gbsi_herd *herd, gbsi_tile *tile, uint32_t row, const gbsi_herd_slice *s)
{
    const gbsi_herd_slices *slices = &herd->slices;
    const uint32_t slot = tile->first_slot + GBSI_LANES * row;
    const uint32_t *chance = herd->keys.chance + s->cell;
    uint32_t *phase = herd->group[tile->group].phase + s->cell;
    vu key = tile->value_bytes == 1 ? slice_code(slices, s, slot, tile, false)
                                    : slice_code(slices, s, slot, tile, true);
    if (s->lut != GBSI_NO_LUT) {
        key = vu_gather(herd->keys.lut + s->lut, vu_add(key, vu_load(slices->lut + slot)));
    }
    const vu at = vu_add(key, vu_load(slices->cell + slot));
    const vu p = vu_gather(chance, at);
    const vu u = vu_add(vu_gather(phase, at), p);
    vu_scatter(phase, at, u);
    store_value(tile, row, vu_select(vu_lt(u, p), vu_set1(1), vu_set1(0)));
    if (tile->p != NULL) {
        vf_store(tile->p + (size_t)row * GBSI_LANES, vf_mul(vf_from_vu(p), vf_set1(0x1p-32F)));
    }
}

static void rows_of_one(gbsi_herd *herd, gbsi_tile *tile)
{
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const uint32_t first = GBSI_LANES * row;
        const uint32_t slot = tile->first_slot + first;
        const bool whole =
            tile->contiguous && slot % GBSI_LANES == 0 && first + GBSI_LANES <= tile->n_places;
        if (whole && herd->slices.slice[slot / GBSI_LANES].regular) {
            slice_row(herd, tile, row, &herd->slices.slice[slot / GBSI_LANES]);
            continue;
        }
        for (uint32_t i = first; i < first + GBSI_LANES && i < tile->n_places; ++i) {
            gbsi_herded_place(herd, tile, i);
        }
    }
}

static void binary(void *state, gbsi_tile *tile)
{
    gbsi_herd *herd = state;
    if (tile->lanes == 1) {
        rows_of_one(herd, tile);
        return;
    }
    for (uint32_t i = 0; i < tile->n_places; ++i) {
        const uint32_t slot = gbsi_tile_slot(tile, i);
        const gbsi_key_slot *s = &herd->keys.slot[slot];
        if (s->coding == GBSI_CODE_HASHED) {
            gbsi_herded_place(herd, tile, i);
        } else {
            place16(herd, tile, i, s);
        }
    }
}

const gbsi_draw GBSI_V(gbsi_draw_herded) = {
    .name = "herded",
    .reference = "Chen, Bornn, de Freitas, Eskelin, Fang & Welling (2016), Herded Gibbs sampling, "
                 "JMLR 17(10):1-29",
    .traits = GBSI_DRAW_CONTEXT | GBSI_DRAW_TABLED,
    .extra_edges = gbsi_herded_extra_edges,
    .bytes = gbsi_herded_bytes,
    .init = gbsi_herded_init,
    .begin_pass = gbsi_herd_begin_pass,
    .binary = binary,
    .categorical = gbsi_herded_places,
    .n_weights = gbsi_herd_n_weights,
    .save = gbsi_herd_save,
    .load = gbsi_herd_load,
    .free = gbsi_herd_free,
};

/* Bounded herding on keys that decide: at random where no weight is large, one place at a time. */
const gbsi_draw GBSI_V(gbsi_draw_bounded) = {
    .name = "bounded-error",
    .reference = "Yamashita & Suzuki (2019), Convergence analysis of herded-Gibbs-type sampling "
                 "algorithms, Statistics and Computing 29:1035-1053, algorithms 7 and 8",
    .traits = GBSI_DRAW_CONTEXT | GBSI_DRAW_TABLED,
    .n_words = 1,
    .extra_edges = gbsi_herded_extra_edges,
    .bytes = gbsi_herded_bytes,
    .init = gbsi_herded_init,
    .begin_pass = gbsi_herd_begin_pass,
    .binary = gbsi_herded_places,
    .categorical = gbsi_herded_places,
    .n_weights = gbsi_herd_n_weights,
    .save = gbsi_herd_save,
    .load = gbsi_herd_load,
    .free = gbsi_herd_free,
};
