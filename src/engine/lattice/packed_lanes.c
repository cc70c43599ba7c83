/* SPDX-License-Identifier: Apache-2.0 */
/* Heat bath of sixteen sites in each of 32 chains at a time, by bitwise logic alone [M16]. */
#include "lattice/bits_lanes.h"
#include "lattice/packed_sweep.h"

/* ---- tall counters -------------------------------------------------------------------------- */

enum { TALL = 40 };

/* A counter for every bit of a row of words, stored in bit planes. Level k has a plane of sums, and
 * may have a plane that waits for a partner. The two planes have the weight 2^k. */
typedef struct tall {
    vu sum[TALL], waiting[TALL];
    bool full[TALL];
    uint32_t n; /* number of levels in use */
} tall;

INLINE void tall_add(tall *t, uint32_t level, vu plane)
{
    for (;; ++level) {
        for (; t->n <= level; ++t->n) {
            t->sum[t->n] = vu_set1(0);
            t->full[t->n] = false;
        }
        if (!t->full[level]) {
            break;
        }
        const vu sum = t->sum[level];
        t->sum[level] = vu_xor3(sum, t->waiting[level], plane);
        plane = vu_majority(sum, t->waiting[level], plane);
        t->full[level] = false;
    }
    t->waiting[level] = plane;
    t->full[level] = true;
}

/* Counts, for each chain (a bit of a word), the words among sixteen in which the chain's bit is
 * set, and adds the number to the counter of the chain. */
INLINE void count_plane(vu plane, vu count[2])
{
    static const uint32_t low[GBSI_PACKED_LANES] = {
        1u << 0, 1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
        1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15};
    const vu bit[2] = {vu_load(low), vu_shl(vu_load(low), 16)};
    uint32_t word[GBSI_PACKED_LANES];
    vu_store(word, plane);
    for (uint32_t i = 0; i < GBSI_PACKED_LANES; ++i) {
        for (uint32_t half = 0; half < 2; ++half) {
            const vm set = vu_eq(vu_and(vu_set1(word[i]), bit[half]), bit[half]);
            count[half] = vu_add(count[half], vu_select(set, vu_set1(1), vu_set1(0)));
        }
    }
}

/* Adds up the counters of each chain over the lanes, and adds the sum to the chain's element of
 * `total`. @param stride distance in `total` between the elements of two chains. */
static void tall_give(const tall *t, int64_t *total, size_t stride)
{
    uint32_t each[GBSI_PACKED_CHAINS];
    for (uint32_t level = 0; level < t->n; ++level) {
        vu count[2] = {vu_set1(0), vu_set1(0)};
        count_plane(t->sum[level], count);
        if (t->full[level]) {
            count_plane(t->waiting[level], count);
        }
        vu_store(each, count[0]);
        vu_store(each + GBSI_PACKED_LANES, count[1]);
        for (uint32_t c = 0; c < GBSI_PACKED_CHAINS; ++c) {
            total[c * stride] += (int64_t)each[c] << level;
        }
    }
}

/* ---- one row -------------------------------------------------------------------------------- */

/* The spins of up to six neighbours of sixteen sites; missing neighbours are 0. */
typedef struct neighbours {
    vu y[GBSI_SPIN_NEIGHBOURS];     /* the spins of the neighbours times the signs of the couplings,
                                       as bits */
    vu lower[GBSI_SPIN_NEIGHBOURS]; /* all bits if the neighbour has a lower colour, else 0 */
} neighbours;

INLINE void load_neighbours(const uint32_t *state, const uint32_t *index, uint32_t n,
                            const uint32_t room, neighbours *found)
{
    const vu none = vu_set1(0);
    for (uint32_t k = 0; k < room; ++k) {
        found->y[k] = none;
        found->lower[k] = none;
        if (k < n) {
            const vu at = vu_load(index + (size_t)k * GBSI_PACKED_LANES);
            const vu slot = vu_and(at, vu_set1(GBSI_PACKED_SLOT));
            const vu sign = vu_sub(none, vu_shr(at, 31));
            found->y[k] = vu_xor(vu_gather(state, slot), sign);
            found->lower[k] = vu_sub(none, vu_and(vu_shr(at, 30), vu_set1(1)));
        }
    }
}

typedef struct sums {
    tall agree[GBSI_SPIN_GROUPS];
    tall up[GBSI_SPIN_FIELDS];
} sums;

INLINE void tally_bonds(const neighbours *at, const uint32_t room, vu state, vu valid, tall *agree)
{
    vu same[GBSI_SPIN_NEIGHBOURS];
    vu bits[3];
    for (uint32_t k = 0; k < room; ++k) {
        same[k] = vu_and_same(vu_and(at->lower[k], valid), at->y[k], state);
    }
    count_bits(same, room, bits);
    tall_add(agree, 0, bits[0]);
    tall_add(agree, 1, bits[1]);
    if (room > 3) {
        tall_add(agree, 2, bits[2]);
    }
}

/* Finds the sites of each threshold of the kind. @return the sites whose more likely state is 1. */
INLINE vu sort_sites(const gbsi_packed *p, const gbsi_packed_kind *kind,
                     vu is[GBSI_SPIN_GROUPS][GBSI_SPIN_NEIGHBOURS + 1], vu *mask)
{
    vu flip = vu_set1(0);
    for (uint32_t i = 0; i < kind->n_thresholds; ++i) {
        mask[i] = vu_set1(0);
    }
    for (uint32_t j = 0; j < kind->n_levels; ++j) {
        const gbsi_packed_level *level = &p->level[kind->first_level + j];
        vu sites = is[0][level->count[0]];
        for (uint32_t g = 1; g < p->spins.n_groups; ++g) {
            sites = vu_and(sites, is[g][level->count[g]]);
        }
        mask[level->threshold] = vu_or(mask[level->threshold], sites);
        flip = level->flip ? vu_or(flip, sites) : flip;
    }
    return flip;
}

/* Returns the bits that are chains in lanes that have a site, and 0 in the other lanes. */
INLINE vu valid_bits(const gbsi_packed_sweep *s, const gbsi_packed_row *row)
{
    const vu chains = vu_set1(s->chains);
    return row->n_sites == GBSI_PACKED_LANES
               ? chains
               : vu_select(vu_lt(vu_iota(), vu_set1(row->n_sites)), chains, vu_set1(0));
}

INLINE vu draw(const gbsi_packed_sweep *s, const plane_source *random, uint32_t r,
               vu is[GBSI_SPIN_GROUPS][GBSI_SPIN_NEIGHBOURS + 1])
{
    const gbsi_packed *p = s->packed;
    const gbsi_packed_kind *kind = &p->kind[p->row[r].kind];
    vu mask[GBSI_PACKED_THRESHOLDS];
    const vu flip = sort_sites(p, kind, is, mask);
    const vu valid = valid_bits(s, &p->row[r]);
    const vu less = decide(random, r * GBSI_PACKED_LANES, mask, kind->n_thresholds,
                           p->bit + kind->first_threshold, p->n_thresholds, valid);
    return vu_and(vu_xor(less, flip), valid);
}

/* Updates a row whose neighbours form one group. @param room constant 2, 4 or 6, at least the
 * number of neighbours. */
INLINE vu update_one_group(const gbsi_packed_sweep *s, const plane_source *random, uint32_t r,
                           const uint32_t room, sums *t)
{
    const gbsi_packed_row *row = &s->packed->row[r];
    neighbours at;
    vu bits[3];
    vu is[GBSI_SPIN_GROUPS][GBSI_SPIN_NEIGHBOURS + 1];
    load_neighbours(s->state, s->packed->neighbour + (size_t)row->first_block * GBSI_PACKED_LANES,
                    s->packed->kind[row->kind].degree[0], room, &at);
    count_bits(at.y, room, bits);
    one_hot(bits, room, is[0]);
    const vu state = draw(s, random, r, is);
    /* rows of the first colour have no neighbours of a lower colour */
    if (r >= s->packed->color_row[1]) {
        tally_bonds(&at, room, state, valid_bits(s, row), &t->agree[0]);
    }
    return state;
}

static vu update_groups(const gbsi_packed_sweep *s, const plane_source *random, uint32_t r, sums *t)
{
    const gbsi_packed *p = s->packed;
    const gbsi_packed_row *row = &p->row[r];
    const uint32_t *index = p->neighbour + (size_t)row->first_block * GBSI_PACKED_LANES;
    neighbours at[GBSI_SPIN_GROUPS];
    vu is[GBSI_SPIN_GROUPS][GBSI_SPIN_NEIGHBOURS + 1];
    for (uint32_t g = 0; g < p->spins.n_groups; ++g) {
        const uint32_t degree = p->kind[row->kind].degree[g];
        vu bits[3];
        load_neighbours(s->state, index, degree, 6, &at[g]);
        index += (size_t)degree * GBSI_PACKED_LANES;
        count_bits(at[g].y, 6, bits);
        one_hot(bits, 6, is[g]);
    }
    const vu state = draw(s, random, r, is);
    for (uint32_t g = 0; r >= p->color_row[1] && g < p->spins.n_groups; ++g) {
        tally_bonds(&at[g], 6, state, valid_bits(s, row), &t->agree[g]);
    }
    return state;
}

/* Updates spins without any coupling, whose conditionals are all equal. */
static vu update_alone(const gbsi_packed_sweep *s, const plane_source *random, uint32_t r)
{
    vu is[GBSI_SPIN_GROUPS][GBSI_SPIN_NEIGHBOURS + 1];
    is[0][0] = vu_set1(UINT32_MAX);
    return draw(s, random, r, is);
}

INLINE vu update(const gbsi_packed_sweep *s, const plane_source *random, uint32_t r, sums *t)
{
    const gbsi_packed *p = s->packed;
    if (p->spins.n_groups > 1) {
        return update_groups(s, random, r, t);
    }
    const uint32_t degree = p->spins.n_groups == 0 ? 0 : p->kind[p->row[r].kind].degree[0];
    if (degree == 0) {
        return update_alone(s, random, r);
    }
    return degree <= 2   ? update_one_group(s, random, r, 2, t)
           : degree <= 4 ? update_one_group(s, random, r, 4, t)
                         : update_one_group(s, random, r, 6, t);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void open_sums(const gbsi_packed *p, sums *t)
{
    for (uint32_t g = 0; g < p->spins.n_groups; ++g) {
        t->agree[g].n = 0;
    }
    for (uint32_t f = 0; f < p->spins.n_fields; ++f) {
        t->up[f].n = 0;
    }
}

static void give_sums(const gbsi_packed *p, const sums *t, gbsi_spin_sums *out)
{
    const size_t stride = sizeof *out / sizeof(int64_t);
    for (uint32_t g = 0; g < p->spins.n_groups; ++g) {
        tall_give(&t->agree[g], &out->agree[g], stride);
    }
    for (uint32_t f = 0; f < p->spins.n_fields; ++f) {
        tall_give(&t->up[f], &out->up[f], stride);
    }
}

void GBSI_V(gbsi_packed_sweep)(const gbsi_packed_sweep *s);

void GBSI_V(gbsi_packed_sweep)(const gbsi_packed_sweep *s)
{
    const gbsi_packed *p = s->packed;
    const plane_source random = open_source(s->seed, s->group, s->pass);
    sums t;
    open_sums(p, &t);
    for (uint32_t r = s->first_row; r < s->end_row; ++r) {
        const vu state = update(s, &random, r, &t);
        vu_store(s->state + (size_t)r * GBSI_PACKED_LANES, state);
        tall_add(&t.up[p->kind[p->row[r].kind].field], 0, state);
        if (s->visits != NULL) {
            count_visits(s->visits + (size_t)r * GBSI_PACKED_LANES, p->n_slots, s->n_counted,
                         state);
        }
    }
    give_sums(p, &t, s->sums);
}
