/* SPDX-License-Identifier: Apache-2.0 */
/* Herded Gibbs of variables of two states with finite log-odds, sixteen chains at a time [M19]:
 *     key from the states of the neighbours,     u[key] += P[key],     x = carry.
 * If a slot has few keys, the weights of every key are read, and lanes whose key is another one are
 * masked out. If a slot has more keys, weights are gathered and scattered. The gather instructions
 * for floats then move the bits of the integers. */
#include "draw/herded.h"
#include "draw/tile_lanes.h"

#define FEW_KEYS 8u

GBSI_INLINE vu code16(const gbsi_keys *keys, const gbsi_key_slot *s, const gbsi_tile *tile)
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

/* Looks up table[index] for n entries. Tables of up to sixteen entries are looked up in a register.
 * @param readable number of entries that may be read, at least n. */
GBSI_INLINE vu look_up(const uint32_t *table, size_t readable, uint32_t n, vu index)
{
    if (n <= GBSI_LANES && readable >= GBSI_LANES) {
        return vf_bits(vf_permute16(vf_from_bits(vu_load(table)), index));
    }
    return vu_gather(table, index);
}

/* Updates the weights of each key; lanes with other keys are masked out. */
GBSI_INLINE vu few_keys(uint32_t *phase, uint32_t n_keys, vu p, vu key)
{
    vu own = vu_set1(0);
    for (uint32_t i = 0; i < n_keys; ++i) {
        const vm here = vu_eq(key, vu_set1(i));
        const vu before = vu_load(phase + (size_t)i * GBSI_LANES);
        const vu u = vu_select(here, vu_add(before, p), before);
        vu_store(phase + (size_t)i * GBSI_LANES, u);
        own = vu_select(here, u, own);
    }
    return own;
}

GBSI_INLINE vu many_keys(uint32_t *phase, vu p, vu key)
{
    const vu at = vu_add(vu_shl(key, 4), vu_iota());
    const vu u = vu_add(vu_gather(phase, at), p);
    vu_scatter(phase, at, u);
    return u;
}

GBSI_INLINE void place16(gbsi_herd *herd, gbsi_tile *tile, uint32_t i, const gbsi_key_slot *s)
{
    const gbsi_keys *keys = &herd->keys;
    uint32_t *phase = herd->group[tile->group].phase + s->cell * GBSI_LANES;
    vu key = code16(keys, s, tile);
    if (s->lut != GBSI_NO_LUT) {
        key = look_up(keys->lut + s->lut, keys->n_lut - s->lut, s->n_codes, key);
    }
    const vu p = look_up(keys->chance + s->cell, keys->n_phases - s->cell, s->n_keys, key);
    const vu u =
        s->n_keys <= FEW_KEYS ? few_keys(phase, s->n_keys, p, key) : many_keys(phase, p, key);
    gbsi_store_values(tile, i, vu_select(vu_lt(u, p), vu_set1(1), vu_set1(0)));
    if (tile->p != NULL) {
        vf_store(tile->p + (size_t)i * GBSI_LANES, vf_mul(vf_from_vu(p), vf_set1(0x1p-32F)));
    }
}

/* ---- one chain ------------------------------------------------------------------------------- */

GBSI_INLINE vu slice_code(const gbsi_key_slices *slices, const gbsi_key_slice *s, uint32_t slot,
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

/* The weights of a single chain are prefetched this many rows ahead, because no cache holds all
 * weights. The keys of these rows are known, since states around a batch do not change while the
 * batch is drawn. */
#define AHEAD 4u

typedef struct waiting {
    uint32_t at[AHEAD][GBSI_LANES]; /* for each row that waits, at the row's number modulo AHEAD:
                                       indices of its pairs of phase and chance */
} waiting;

/* Slice of keys for a row of a tile; NULL if the row is not a regular slice. */
GBSI_INLINE const gbsi_key_slice *slice_of(const gbsi_herd *herd, const gbsi_tile *tile,
                                           uint32_t row)
{
    const uint32_t first = GBSI_LANES * row;
    const uint32_t slot = tile->first_slot + first;
    const bool whole =
        tile->contiguous && slot % GBSI_LANES == 0 && first + GBSI_LANES <= tile->n_places;
    const gbsi_key_slice *s = whole ? &herd->slices.slice[slot / GBSI_LANES] : NULL;
    return s != NULL && s->regular ? s : NULL;
}

GBSI_INLINE uint32_t *pairs_of(const gbsi_herd *herd, const gbsi_tile *tile,
                               const gbsi_key_slice *s)
{
    return herd->group[tile->group].phase + gbsi_herd_phase_at(herd, s->cell);
}

GBSI_INLINE void ask_for(const gbsi_herd *herd, const gbsi_tile *tile, uint32_t row, waiting *w)
{
    const gbsi_key_slices *slices = &herd->slices;
    const gbsi_key_slice *s = row < tile->n_rows ? slice_of(herd, tile, row) : NULL;
    const uint32_t slot = tile->first_slot + GBSI_LANES * row;
    // cppcheck-suppress ctuuninitvar ; an address, nothing is read yet
    uint32_t *at = w->at[row % AHEAD];
    if (s == NULL) {
        return;
    }
    vu key = tile->value_bytes == 1 ? slice_code(slices, s, slot, tile, false)
                                    : slice_code(slices, s, slot, tile, true);
    if (s->lut != GBSI_NO_LUT) {
        key = vu_gather(herd->keys.lut + s->lut, vu_add(key, vu_load(slices->lut + slot)));
    }
    vu_store(at, vu_shl(vu_add(key, vu_load(slices->cell + slot)), 1));
    const uint32_t *pair = pairs_of(herd, tile, s);
    for (uint32_t i = 0; i < GBSI_LANES; ++i) {
        __builtin_prefetch(pair + at[i], 1);
    }
}

/* Draws sixteen consecutive slots of one chain. */
GBSI_INLINE void slice_row(gbsi_herd *herd, gbsi_tile *tile, uint32_t row, const gbsi_key_slice *s,
                           const waiting *w)
{
    uint32_t *pair = pairs_of(herd, tile, s);
    const vu at = vu_load(w->at[row % AHEAD]);
    /* bits of a phase and a chance */
    const vf2 both = vf_gather2((const float *)(const void *)pair, at);
    const vu p = vf_bits(both.second);
    const vu u = vu_add(vf_bits(both.first), p);
    vu_scatter(pair, at, u);
    gbsi_store_values(tile, row, vu_select(vu_lt(u, p), vu_set1(1), vu_set1(0)));
    if (tile->p != NULL) {
        vf_store(tile->p + (size_t)row * GBSI_LANES, vf_mul(vf_from_vu(p), vf_set1(0x1p-32F)));
    }
}

static void rows_of_one(gbsi_herd *herd, gbsi_tile *tile)
{
    waiting w;
    for (uint32_t row = 0; row < AHEAD; ++row) {
        ask_for(herd, tile, row, &w);
    }
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const uint32_t first = GBSI_LANES * row;
        const gbsi_key_slice *s = slice_of(herd, tile, row);
        if (s != NULL) {
            slice_row(herd, tile, row, s, &w);
        }
        for (uint32_t i = first; s == NULL && i < first + GBSI_LANES && i < tile->n_places; ++i) {
            gbsi_herded_place(herd, tile, i);
        }
        ask_for(herd, tile, row + AHEAD, &w);
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

/* Draws with keys by bins of the probability are in binned_lanes.c and rounded_lanes.c. */
extern const gbsi_draw GBSI_V(gbsi_draw_binned);
extern const gbsi_draw GBSI_V(gbsi_draw_binned_bounded);

const gbsi_draw GBSI_V(gbsi_draw_herded) = {
    .name = "herded",
    .reference = "Chen, Bornn, de Freitas, Eskelin, Fang & Welling (2016), Herded Gibbs sampling, "
                 "JMLR 17(10):1-29",
    .traits = GBSI_DRAW_CONTEXT | GBSI_DRAW_TABLED | GBSI_DRAW_HERDS,
    .options = gbsi_herding_options,
    .by_bins = &GBSI_V(gbsi_draw_binned),
    .extra_edges = gbsi_herded_extra_edges,
    .bytes = gbsi_herded_bytes,
    .init = gbsi_herded_init,
    .begin_pass = gbsi_herded_begin_pass,
    .binary = binary,
    .categorical = gbsi_herded_places,
    .advise = gbsi_herding_advise,
    .n_weights = gbsi_herd_n_weights,
    .save = gbsi_herd_save,
    .load = gbsi_herd_load,
    .skip = gbsi_herd_skip,
    .weave = gbsi_herd_weave,
    .free = gbsi_herd_free,
};

/* Bounded herding with keys that determine the conditional. Places are drawn one at a time. If no
 * weight of a place exceeds the threshold, the value is drawn at random. */
const gbsi_draw GBSI_V(gbsi_draw_bounded) = {
    .name = "bounded-error",
    .reference = "Yamashita & Suzuki (2019), Convergence analysis of herded-Gibbs-type sampling "
                 "algorithms, Statistics and Computing 29:1035-1053, algorithms 7 and 8",
    .traits = GBSI_DRAW_CONTEXT | GBSI_DRAW_TABLED | GBSI_DRAW_THRESHOLD | GBSI_DRAW_HERDS,
    .n_words = 1,
    .options = gbsi_bounded_options,
    .by_bins = &GBSI_V(gbsi_draw_binned_bounded),
    .extra_edges = gbsi_herded_extra_edges,
    .bytes = gbsi_herded_bytes,
    .init = gbsi_herded_init,
    .begin_pass = gbsi_herded_begin_pass,
    .binary = gbsi_herded_places,
    .categorical = gbsi_herded_places,
    .advise = gbsi_herding_advise,
    .n_weights = gbsi_herd_n_weights,
    .save = gbsi_herd_save,
    .load = gbsi_herd_load,
    .skip = gbsi_herd_skip,
    .weave = gbsi_herd_weave,
    .free = gbsi_herd_free,
};
