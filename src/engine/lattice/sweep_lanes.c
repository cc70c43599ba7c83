/* SPDX-License-Identifier: Apache-2.0 */
/* Heat bath of 512 sites at a time, by bitwise logic alone [M16].
 *
 * Bitwise adders count neighbours (Friedberg & Cameron 1970, J. Chem. Phys. 52:6049). Each site
 * then has the threshold t of its local value, and is in its less likely state if and only if u < t
 * for a uniform u of 32 bits. u comes as planes of bits, most significant first, with one word of
 * random bits for 32 sites. A site is decided by the first plane in which u and t differ. About
 * log2(512) + 1 or + 2 planes usually decide all sites of a row of lanes; at most 32 planes are
 * needed. */
#include <string.h>

#include "lattice/averages.h"
#include "lattice/bits_lanes.h"
#include "lattice/sweep.h"

/* ---- one row of lanes ----------------------------------------------------------------------- */

/* Sixteen words, and the addresses of their neighbours. */
typedef struct row {
    const gbsi_lattice *lattice;
    const plane_source *random;
    const uint32_t *source[GBSI_LATTICE_NEIGHBOURS];
    uint32_t *target;
    uint32_t w;
} row;

typedef struct tally {
    vu agree[GBSI_SPIN_GROUPS]; /* for each group and lane: number of agreeing neighbours */
    vu up[GBSI_SPIN_FIELDS];
    bool energy;
    /* if the lattice has one group: bits of the number of neighbours up of the sites of the latest
     * row */
    vu neighbours[3];
} tally;

/* Counts, in each lane, the neighbours that agree with the new states of the sites. */
INLINE vu agreement(const vu *y, const uint32_t n, vu state, vu mask)
{
    vu same[GBSI_LATTICE_NEIGHBOURS];
    vu bits[3];
    for (uint32_t k = 0; k < n; ++k) {
        same[k] = vu_and_same(mask, y[k], state);
    }
    count_bits(same, n, bits);
    return vu_add(vu_popcount(bits[0]),
                  vu_add(vu_shl(vu_popcount(bits[1]), 1), vu_shl(vu_popcount(bits[2]), 2)));
}

/* Replaces the bits of c by the bits of n - c at the sites in `turned`; n is 4 or 6. */
INLINE void turn_count(const vu bits[3], const uint32_t n, vu turned, vu out[3])
{
    const vu b1 = n == 4 ? bits[0] : vu_andnot(vu_set1(UINT32_MAX), bits[0]);
    const vu b2 = n == 4 ? vu_or(bits[0], bits[1]) : vu_and(bits[0], bits[1]);
    out[0] = bits[0];
    out[1] = vu_xor(bits[1], vu_and(b1, turned));
    out[2] = vu_xor(bits[2], vu_andnot(turned, b2));
}

/* Updates plain sites. `n`, `folded` and `mirrored` are compile-time constants where this function
 * is inlined. A site in the opposite field behaves like a site of the plain kind if its spin and
 * the spins of its neighbours are turned round.
 * @param open sites to update. */
INLINE vu update_plain(const row *r, vu open, const uint32_t n, const bool folded,
                       const bool mirrored, tally *t)
{
    const gbsi_lattice *l = r->lattice;
    const vu turned = mirrored ? vu_load(l->kind_mask[l->mirror_kind] + r->w) : vu_set1(0);
    vu y[GBSI_LATTICE_NEIGHBOURS];
    vu bits[3];
    vu is[GBSI_LATTICE_FOLDED];
    vu flip = vu_set1(0);
    for (uint32_t k = 0; k < n; ++k) {
        y[k] = vu_load(r->source[k]);
        y[k] = mirrored ? vu_xor(y[k], turned) : y[k];
    }
    count_bits(y, n, bits);
    turn_count(bits, n, turned, t->neighbours);
    one_hot(bits, n, is);
    for (uint32_t c = 0; c <= n; ++c) {
        flip = vu_or_and(flip, is[c], vu_set1(l->plain_flip[c]));
    }
    for (uint32_t c = 0; folded && c < n / 2; ++c) {
        is[c] = vu_or(is[c], is[n - c]);
    }
    const vu less = decide(r->random, r->w, is, folded ? n / 2 + 1 : n + 1, l->plain_bit[0],
                           GBSI_LATTICE_FOLDED, open);
    const vu turned_state = vu_xor(less, flip);
    const vu state = vu_and(mirrored ? vu_xor(turned_state, turned) : turned_state, open);
    const uint32_t field = l->kind[l->plain_kind].field;
    if (mirrored) {
        const uint32_t opposite = l->kind[l->mirror_kind].field;
        t->up[opposite] = vu_add(t->up[opposite], vu_popcount(vu_and(state, turned)));
        t->up[field] = vu_add(t->up[field], vu_popcount(vu_andnot(state, turned)));
    } else {
        t->up[field] = vu_add(t->up[field], vu_popcount(state));
    }
    if (t->energy) {
        t->agree[0] = vu_add(t->agree[0], agreement(y, n, turned_state, open));
    }
    return state;
}

/* Loads the neighbours' spins times the signs of their bonds, as bits; 0 if there is no bond. */
INLINE void load_bonds(const row *r, vu *y)
{
    const gbsi_lattice *l = r->lattice;
    for (uint32_t k = 0; k < l->n_neighbours; ++k) {
        y[k] = vu_load(r->source[k]);
        if (l->present[0] != NULL) {
            y[k] = vu_xor(y[k], vu_load(l->negative[k] + r->w));
            y[k] = vu_and(y[k], vu_load(l->present[k] + r->w));
        }
    }
}

/* Calls count_bits() with a constant n. */
INLINE void count_group(const vu *y, uint32_t n, vu bits[3])
{
    if (n == 4) {
        count_bits(y, 4, bits);
    } else if (n == 2) {
        count_bits(y, 2, bits);
    } else {
        count_bits(y, 6, bits);
    }
}

/* Finds the sites of each threshold. @return the sites whose more likely state is 1. */
INLINE vu sort_sites(const row *r, vu is[GBSI_SPIN_GROUPS][GBSI_LATTICE_FOLDED], vu *mask)
{
    const gbsi_lattice *l = r->lattice;
    vu flip = vu_set1(0);
    for (uint32_t i = 0; i < l->n_thresholds; ++i) {
        mask[i] = vu_set1(0);
    }
    for (uint32_t i = 0; i < l->n_kinds; ++i) {
        const gbsi_lattice_kind *kind = &l->kind[i];
        const vu own = l->n_kinds == 1 ? vu_set1(UINT32_MAX) : vu_load(l->kind_mask[i] + r->w);
        if (!vu_any(own)) {
            continue;
        }
        for (uint32_t j = kind->first_level; j < kind->first_level + kind->n_levels; ++j) {
            const gbsi_lattice_level *level = &l->level[j];
            vu sites = vu_and(own, is[0][level->count[0]]);
            for (uint32_t g = 1; g < l->spins.n_groups; ++g) {
                sites = vu_and(sites, is[g][level->count[g]]);
            }
            mask[level->threshold] = vu_or(mask[level->threshold], sites);
            flip = level->flip ? vu_or(flip, sites) : flip;
        }
    }
    return flip;
}

/* Counts the sites that are up, by field. */
INLINE void tally_up(const row *r, vu state, tally *t)
{
    const gbsi_lattice *l = r->lattice;
    if (l->spins.n_fields == 1) {
        t->up[0] = vu_add(t->up[0], vu_popcount(state));
    }
    for (uint32_t i = 0; l->spins.n_fields > 1 && i < l->n_kinds; ++i) {
        const vu own = vu_and(state, vu_load(l->kind_mask[i] + r->w));
        const uint32_t field = l->kind[i].field;
        t->up[field] = vu_add(t->up[field], vu_popcount(own));
    }
}

/* Counts agreements by group. @param y from load_bonds(). */
INLINE void tally_bonds(const row *r, const vu *y, vu state, vu open, const bool forward_only,
                        tally *t)
{
    const gbsi_lattice *l = r->lattice;
    uint32_t k = 0;
    for (uint32_t g = 0; g < l->spins.n_groups; ++g) {
        for (uint32_t end = k + l->group_size[g]; k < end; ++k) {
            const vu mask = l->present[0] == NULL ? open : vu_load(l->present[k] + r->w);
            const vu same = vu_and_same(mask, y[k], state);
            if (l->forward[k] || !forward_only) {
                t->agree[g] = vu_add(t->agree[g], vu_popcount(same));
            }
        }
    }
}

/* Updates a row of sites of any kinds. */
static vu update_mixed(const row *r, vu open, tally *t)
{
    const gbsi_lattice *l = r->lattice;
    vu y[GBSI_LATTICE_NEIGHBOURS];
    vu is[GBSI_SPIN_GROUPS][GBSI_LATTICE_FOLDED];
    vu mask[GBSI_LATTICE_THRESHOLDS];
    load_bonds(r, y);
    for (uint32_t g = 0, k = 0; g < l->spins.n_groups; k += l->group_size[g++]) {
        vu bits[3];
        count_group(y + k, l->group_size[g], bits);
        one_hot(bits, 6, is[g]);
        memcpy(t->neighbours, bits, sizeof bits);
    }
    const vu flip = sort_sites(r, is, mask);
    const vu less =
        decide(r->random, r->w, mask, l->n_thresholds, l->bit[0], GBSI_LATTICE_THRESHOLDS, open);
    const vu state = vu_and(vu_xor(less, flip), open);
    tally_up(r, state, t);
    if (t->energy) {
        tally_bonds(r, y, state, open, false, t);
    }
    return state;
}

/* ---- rows ----------------------------------------------------------------------------------- */

INLINE vu update(const row *r, vu open, tally *t)
{
    const gbsi_lattice *l = r->lattice;
    if (l->plain_kind == UINT32_MAX ||
        (l->plain != NULL && l->plain[r->w / GBSI_LATTICE_LANES] == 0)) {
        return update_mixed(r, open, t);
    }
    if (l->mirror_kind != UINT32_MAX) {
        return l->n_neighbours == 4 ? update_plain(r, open, 4, false, true, t)
                                    : update_plain(r, open, 6, false, true, t);
    }
    if (l->n_neighbours == 4) {
        return l->folded ? update_plain(r, open, 4, true, false, t)
                         : update_plain(r, open, 4, false, false, t);
    }
    return l->folded ? update_plain(r, open, 6, true, false, t)
                     : update_plain(r, open, 6, false, false, t);
}

/* A copy of the sixteen words of neighbours, of which one word lies across the end of the row. */
typedef struct corner {
    uint32_t word[GBSI_LATTICE_LANES];
} corner;

/* Loads the neighbours in the row itself, which are at word x + shift of the closed row, where
 * shift is -1, 0 or 1. The word across the end of the row has the other colour or, across a seam,
 * the colour of the row. */
INLINE const uint32_t *around(const gbsi_lattice *l, const uint32_t *words, const uint32_t *own,
                              bool forward, int shift, uint32_t x, corner *copy)
{
    const uint32_t *from = words + x + shift;
    const uint32_t *across = l->seam[0] ? own : words;
    const bool low = shift < 0 && x == 0;
    const bool high = (shift > 0 || (l->seam[0] && forward)) && x + GBSI_LATTICE_LANES >= l->width;
    if (!low && !high) {
        return from;
    }
    vu_store(copy->word, vu_load(from));
    if (low) {
        copy->word[0] = across[l->width - 1];
    } else {
        copy->word[l->width - 1 - x] = across[0];
    }
    return copy->word;
}

static size_t row_start(const gbsi_lattice *l, uint32_t color, uint32_t layer_plus_1, uint32_t y)
{
    return color * l->color_words + ((size_t)layer_plus_1 * l->n_rows + y) * l->row_words +
           GBSI_LATTICE_LANES;
}

/* Number, within its block, of the layer of the last site. */
static uint32_t last_layer(const gbsi_lattice *l)
{
    return l->side[2] - 1 - (l->n_blocks - 1) * l->height;
}

/* Index, in a state, of the layer above a given layer. Layers have indices from 1 on: 0 is below
 * the first layer, height + 1 is above the last layer, and height + 2 is above the layer of the
 * last site. */
static uint32_t layer_above(const gbsi_lattice *l, uint32_t layer)
{
    const bool elsewhere = layer == last_layer(l) && layer + 1 < l->height;
    return elsewhere ? l->height + 2 : layer + 2;
}

static row open_row(const gbsi_lattice_sweep *s, const plane_source *random, uint32_t layer,
                    uint32_t y)
{
    const gbsi_lattice *l = s->lattice;
    const uint32_t *other = s->state + row_start(l, 1 - s->color, 0, 0);
    const uint32_t *own = s->state + row_start(l, s->color, 0, 0);
    const size_t layer_words = l->n_rows * l->row_words;
    row r = {.lattice = l,
             .random = random,
             .target = s->state + row_start(l, s->color, layer + 1, y),
             .w = ((s->color * l->height + layer) * l->n_rows + y) * l->padded};
    for (uint32_t k = 0; k < l->n_neighbours; ++k) {
        const bool up = l->forward[k];
        const uint32_t *words = other;
        uint32_t at = layer + 1;
        uint32_t line = y;
        if (l->direction[k] == 2) {
            at = up ? layer_above(l, layer) : layer;
        } else if (l->direction[k] == 1) {
            line = up ? (y + 1) % l->n_rows : (y + l->n_rows - 1) % l->n_rows;
            words = l->seam[1] && (up ? line == 0 : y == 0) ? own : other;
        }
        r.source[k] = words + at * layer_words + line * l->row_words;
    }
    return r;
}

/* Sets the addresses of sixteen words from x on, and of their neighbours. */
INLINE void point_at(const gbsi_lattice_sweep *s, const row *r, uint32_t layer, uint32_t y,
                     uint32_t x, corner copy[2], row *here)
{
    const gbsi_lattice *l = s->lattice;
    /* The site at x has place 2 x + odd in its row; its neighbours in the row have places 2 x' + 1
     * - odd. */
    const int odd = (int)((s->color + layer + y) % 2);
    for (uint32_t k = 0; k < l->n_neighbours; ++k) {
        const bool up = l->forward[k];
        here->source[k] = l->direction[k] == 0 ? around(l, r->source[k], r->target, up,
                                                        up ? odd : odd - 1, x, &copy[up])
                                               : r->source[k] + x;
    }
    here->w = r->w + x;
}

INLINE vu valid_sites(const gbsi_lattice *l, uint32_t w)
{
    return l->valid == NULL ? vu_set1(UINT32_MAX) : vu_load(l->valid + w);
}

/* Stores the number of neighbours that were up when the row was updated. */
INLINE void keep_neighbours(const gbsi_lattice_sweep *s, uint32_t w, const vu neighbours[3])
{
    uint32_t *plane = s->visits + gbsi_lattice_kept(w / GBSI_LATTICE_LANES, s->n_counted - 1);
    for (uint32_t i = 0; i < 3; ++i) {
        vu_store(plane + (size_t)i * GBSI_LATTICE_LANES, neighbours[i]);
    }
}

static void sweep_row(gbsi_lattice_sweep *s, const row *r, uint32_t layer, uint32_t y,
                      uint32_t first, uint32_t end, tally *t)
{
    row here = *r;
    for (uint32_t x = first; x < end; x += GBSI_LATTICE_LANES) {
        corner copy[2];
        point_at(s, r, layer, y, x, copy, &here);
        const vu state = update(&here, valid_sites(s->lattice, here.w), t);
        vu_store(r->target + x, state);
        if (s->visits == NULL) {
            continue;
        }
        if (s->keep == GBSI_SPIN_KEEP_NEIGHBOURS) {
            keep_neighbours(s, here.w, t->neighbours);
        } else {
            count_visits(s->visits + here.w, 2 * (size_t)s->lattice->n_words, s->n_counted, state);
        }
    }
}

/* Stores the current number of neighbours up for sites that this pass will not update. */
static void keep_row(const gbsi_lattice_sweep *s, const row *r, uint32_t layer, uint32_t y,
                     uint32_t first, uint32_t end)
{
    row here = *r;
    for (uint32_t x = first; x < end; x += GBSI_LATTICE_LANES) {
        corner copy[2];
        vu neighbour[GBSI_LATTICE_NEIGHBOURS];
        vu bits[3];
        point_at(s, r, layer, y, x, copy, &here);
        load_bonds(&here, neighbour);
        count_group(neighbour, s->lattice->n_neighbours, bits);
        keep_neighbours(s, here.w, bits);
    }
}

/* ---- seams ---------------------------------------------------------------------------------- */

/* Sites of sixteen words that lie on exactly `n_seams` seams. */
INLINE vu sites_on_seams(const gbsi_lattice_sweep *s, uint32_t layer, uint32_t y, uint32_t x)
{
    const gbsi_lattice *l = s->lattice;
    const vu none = vu_set1(0);
    const vu all = vu_set1(UINT32_MAX);
    const bool row_is_last = l->seam[1] && y + 1 == l->n_rows;
    const bool layer_is_last = l->seam[2] && layer == last_layer(l);
    const vm word_is_last = vu_eq(vu_iota(), vu_set1(l->width - 1 - x));
    const vu on_x = l->seam[0] ? vu_select(word_is_last, all, none) : none;
    const vu on_z = layer_is_last ? vu_set1(UINT32_C(1) << (l->n_blocks - 1)) : none;
    switch ((int)s->n_seams - row_is_last) {
    case 0:
        return vu_andnot(all, vu_or(on_x, on_z));
    case 1:
        return vu_xor(on_x, on_z);
    case 2:
        return vu_and(on_x, on_z);
    default:
        return none;
    }
}

/* A call of update() that is not inlined, because speed matters less for seams. */
static __attribute__((noinline)) vu update_any(const row *r, vu open, tally *t)
{
    return update(r, open, t);
}

/* Updates the sites of a row that lie on s->n_seams seams, or, with count_only, adds the row to the
 * sums and visits. */
static void sweep_row_with_seams(gbsi_lattice_sweep *s, const row *r, uint32_t layer, uint32_t y,
                                 uint32_t first, uint32_t end, tally *t)
{
    row here = *r;
    for (uint32_t x = first; x < end; x += GBSI_LATTICE_LANES) {
        corner copy[2];
        point_at(s, r, layer, y, x, copy, &here);
        const vu before = vu_load(r->target + x);
        const vu valid = valid_sites(s->lattice, here.w);
        if (s->count_only) {
            vu neighbour[GBSI_LATTICE_NEIGHBOURS];
            load_bonds(&here, neighbour);
            tally_up(&here, before, t);
            tally_bonds(&here, neighbour, before, valid, true, t);
            if (s->visits != NULL) {
                count_visits(s->visits + here.w, 2 * (size_t)s->lattice->n_words, s->n_counted,
                             before);
            }
            continue;
        }
        const vu open = vu_and(valid, sites_on_seams(s, layer, y, x));
        if (vu_any(open)) {
            vu_store(r->target + x, vu_or(update_any(&here, open, t), vu_andnot(before, open)));
        }
    }
}

/* ---- layers --------------------------------------------------------------------------------- */

/* Makes the additional layers of the other colour, in the columns of this sweep. They are copies of
 * layers, shifted by one block. If the side is closed, the last site is below the first site.
 * Across a seam, the copies have the colour of the sites that are updated. */
static void prepare_layers(const gbsi_lattice_sweep *s, uint32_t y, uint32_t first, uint32_t end)
{
    const gbsi_lattice *l = s->lattice;
    const uint32_t last = last_layer(l);
    const int top = (int)l->n_blocks - 1;
    uint32_t *base = s->state + row_start(l, 1 - s->color, 0, y);
    const uint32_t *across = l->seam[2] ? s->state + row_start(l, s->color, 0, y) : base;
    const size_t layer_words = l->n_rows * l->row_words;
    const bool elsewhere = last + 1 < l->height;
    for (uint32_t x = first; x < end; x += GBSI_LATTICE_LANES) {
        const vu bottom = vu_load(base + layer_words + x);
        const vu highest = vu_load(base + l->height * layer_words + x);
        const vu final = vu_load(across + (last + 1) * layer_words + x);
        const vu first_site = vu_shl(vu_and(vu_load(across + layer_words + x), vu_set1(1)), top);
        const vu last_site = vu_and(vu_shr(final, top), vu_set1(1));
        vu_store(base + x, vu_or(vu_shl(highest, 1), last_site));
        const vu above = vu_shr(bottom, 1);
        vu_store(base + (l->height + 1) * layer_words + x,
                 elsewhere ? above : vu_or(above, first_site));
        if (elsewhere) {
            const vu next = vu_load(base + (last + 2) * layer_words + x);
            const vu others = vu_andnot(next, vu_set1(UINT32_C(1) << top));
            vu_store(base + (l->height + 2) * layer_words + x, vu_or(others, first_site));
        }
    }
}

static int64_t add_lanes(vu a)
{
    uint32_t lane[16];
    int64_t sum = 0;
    vu_store(lane, a);
    for (int i = 0; i < 16; ++i) {
        sum += lane[i];
    }
    return sum;
}

/* The part of row y whose columns are swept: words [first, end) of the row. */
typedef struct stretch {
    uint32_t y, first, end;
} stretch;

static stretch stretch_at(const gbsi_lattice_sweep *s, uint32_t column)
{
    const uint32_t per_row = s->lattice->padded / GBSI_LATTICE_LANES;
    const uint32_t y = column / per_row;
    const uint32_t last = (y + 1) * per_row < s->end_column ? (y + 1) * per_row : s->end_column;
    return (stretch){y, (column - y * per_row) * GBSI_LATTICE_LANES,
                     (last - y * per_row) * GBSI_LATTICE_LANES};
}

static uint32_t n_columns_of(stretch part)
{
    return (part.end - part.first) / GBSI_LATTICE_LANES;
}

static void give_sums(const gbsi_lattice *l, const tally *t, gbsi_spin_sums *sums)
{
    for (uint32_t g = 0; g < l->spins.n_groups; ++g) {
        sums->agree[g] += add_lanes(t->agree[g]);
    }
    for (uint32_t f = 0; f < l->spins.n_fields; ++f) {
        sums->up[f] += add_lanes(t->up[f]);
    }
}

void GBSI_V(gbsi_lattice_sweep)(gbsi_lattice_sweep *s);

void GBSI_V(gbsi_lattice_sweep)(gbsi_lattice_sweep *s)
{
    const gbsi_lattice *l = s->lattice;
    const plane_source random = open_source(s->seed, s->chain, s->pass);
    tally t = {.energy = l->n_seams == 0 && s->color == 1};
    for (uint32_t g = 0; g < GBSI_SPIN_GROUPS; ++g) {
        t.agree[g] = vu_set1(0);
    }
    for (uint32_t f = 0; f < GBSI_SPIN_FIELDS; ++f) {
        t.up[f] = vu_set1(0);
    }
    for (uint32_t column = s->first_column; column < s->end_column;) {
        const stretch part = stretch_at(s, column);
        prepare_layers(s, part.y, part.first, part.end);
        column += n_columns_of(part);
    }
    for (uint32_t layer = 0; layer < l->height; ++layer) {
        for (uint32_t column = s->first_column; column < s->end_column;) {
            const stretch part = stretch_at(s, column);
            const row r = open_row(s, &random, layer, part.y);
            if (s->count_only && l->n_seams == 0) {
                keep_row(s, &r, layer, part.y, part.first, part.end);
            } else if (l->n_seams > 0) {
                sweep_row_with_seams(s, &r, layer, part.y, part.first, part.end, &t);
            } else {
                sweep_row(s, &r, layer, part.y, part.first, part.end, &t);
            }
            column += n_columns_of(part);
        }
    }
    if (l->n_seams == 0 || s->count_only) {
        give_sums(l, &t, &s->sums);
    }
}
