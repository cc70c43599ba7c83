/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one rank's share of a lattice: first the variables of its block and their neighbours, then
 * their factors. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ranks/lattice.h"
#include "ranks/making.h"

typedef struct taking {
    gbsi_making making;
    const gbsi_share_lattice *from;
    gbsi_block block;
    uint32_t *halo; /* [n_halo] variables of the halo, ascending */
    size_t n_halo, halo_capacity;
    uint32_t *row; /* [rows of the block] number in the share of the first variable of each row */
} taking;

static uint32_t extent(const gbsi_block *block, unsigned d)
{
    return block->to[d] - block->from[d];
}

static bool is_inside(const gbsi_block *block, const uint32_t at[3])
{
    bool inside = true;
    for (unsigned d = 0; d < 3; ++d) {
        inside &= at[d] >= block->from[d] && at[d] < block->to[d];
    }
    return inside;
}

static uint32_t variable_at(const gbsi_share_lattice *l, const uint32_t at[3])
{
    return (at[2] * l->shape.side[1] + at[1]) * l->shape.side[0] + at[0];
}

/* Moves one site on in direction d, or one site back if `back` is set.
 * @return false at the end of a lattice that is open in this direction. */
static bool step(const gbsi_share_lattice *l, const uint32_t at[3], unsigned d, bool back,
                 uint32_t to[3])
{
    const uint32_t side = l->shape.side[d];
    const bool at_end = back ? at[d] == 0 : at[d] + 1 == side;
    memcpy(to, at, 3 * sizeof *to);
    to[d] = (at[d] + (back ? side - 1 : 1)) % side;
    return !at_end || l->shape.torus[d];
}

/* ---- variables ----------------------------------------------------------------------------- */

static gbs_status put_halo(taking *t, uint32_t v, gbs_error *err)
{
    void *pointer = t->halo;
    const gbs_status status = gbsi_reserve(&pointer, &t->halo_capacity, t->n_halo + 1,
                                           sizeof *t->halo, "share of a lattice", err);
    t->halo = pointer;
    if (status >= 0) {
        t->halo[t->n_halo++] = v;
    }
    return status;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Finds the halo: the planes of variables next to the block. A variable may be in two of these
 * planes. */
static gbs_status find_halo(taking *t, gbs_error *err)
{
    size_t n_kept = 0;
    for (unsigned side = 0; side < 6; ++side) {
        const unsigned d = side / 2;
        const bool back = side % 2 != 0;
        gbsi_block plane = t->block;
        uint32_t at[3];
        uint32_t to[3];
        plane.from[d] = back ? t->block.from[d] : t->block.to[d] - 1;
        plane.to[d] = plane.from[d] + 1;
        for (at[2] = plane.from[2]; at[2] < plane.to[2]; ++at[2]) {
            for (at[1] = plane.from[1]; at[1] < plane.to[1]; ++at[1]) {
                for (at[0] = plane.from[0]; at[0] < plane.to[0]; ++at[0]) {
                    if (step(t->from, at, d, back, to) && !is_inside(&t->block, to)) {
                        GBSI_PASS(put_halo(t, variable_at(t->from, to), err));
                    }
                }
            }
        }
    }
    if (t->n_halo > 0) { /* an empty array may be NULL */
        qsort(t->halo, t->n_halo, sizeof *t->halo, by_number);
    }
    for (size_t i = 0; i < t->n_halo; ++i) {
        if (i == 0 || t->halo[i] != t->halo[n_kept - 1]) {
            t->halo[n_kept++] = t->halo[i];
        }
    }
    t->n_halo = n_kept;
    return GBS_OK;
}

static void put_variable(taking *t, uint32_t v, bool own, uint32_t *u)
{
    const gbsi_share_lattice *l = t->from;
    gbs_share *share = t->making.share;
    uint32_t at[3];
    gbsi_lattice_at(l, v, at);
    t->making.owner[*u] =
        own ? share->rank : gbsi_grid_part(&l->shape, (uint32_t)share->facts.n_ranks, at);
    share->of_whole[*u] = v;
    share->user_arity[*u] = l->grid.arity;
    share->own[*u] = own;
    share->by_count[*u] = own && l->by_count;
    share->n_own += own;
    ++*u;
}

/* Lists the variables of the block, row by row, and of the halo, in ascending order. */
static void list_variables(taking *t)
{
    const gbsi_block *b = &t->block;
    uint32_t u = 0;
    size_t h = 0;
    uint32_t *row = t->row;
    for (uint32_t z = b->from[2]; z < b->to[2]; ++z) {
        for (uint32_t y = b->from[1]; y < b->to[1]; ++y) {
            const uint32_t first = variable_at(t->from, (uint32_t[3]){b->from[0], y, z});
            while (h < t->n_halo && t->halo[h] < first) {
                put_variable(t, t->halo[h++], false, &u);
            }
            *row++ = u;
            for (uint32_t x = 0; x < extent(b, 0); ++x) {
                put_variable(t, first + x, true, &u);
            }
        }
    }
    while (h < t->n_halo) {
        put_variable(t, t->halo[h++], false, &u);
    }
}

/* The number in the share of a variable of the block or the halo. */
static uint32_t number_of(const taking *t, const uint32_t at[3])
{
    const gbsi_block *b = &t->block;
    if (is_inside(b, at)) {
        return t->row[(size_t)(at[2] - b->from[2]) * extent(b, 1) + (at[1] - b->from[1])] + at[0] -
               b->from[0];
    }
    const uint32_t v = variable_at(t->from, at);
    const uint32_t *of_whole = t->making.share->of_whole;
    uint32_t low = 0;
    uint32_t high = t->making.share->n_own + (uint32_t)t->n_halo;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (of_whole[middle] < v) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    assert(of_whole[low] == v); /* a variable that is not in the block is in the halo */
    return low;
}

/* Finds the ranks that own neighbours of own variables. */
static gbs_status find_seen(taking *t, uint32_t n, gbs_error *err)
{
    gbsi_making *m = &t->making;
    for (uint32_t u = 0; u < n; ++u) {
        uint32_t at[3];
        uint32_t to[3];
        const size_t first = m->n_seen;
        gbsi_lattice_at(t->from, m->share->of_whole[u], at);
        for (unsigned side = 0; m->share->own[u] != 0 && side < 6; ++side) {
            if (step(t->from, at, side / 2, side % 2 != 0, to) && !is_inside(&t->block, to)) {
                const uint32_t rank = m->owner[number_of(t, to)];
                GBSI_PASS(gbsi_making_see(m, u, rank, err));
            }
        }
        m->n_seen = first + gbsi_sort_once(m->seen + first, m->n_seen - first);
    }
    return GBS_OK;
}

/* Lists the slots of the share, and the updates of a pass, in the order of the pieces of the whole
 * model. */
static void list_slots(taking *t, uint32_t n)
{
    gbsi_making *m = &t->making;
    uint32_t slot = 0;
    for (size_t p = 0; p < t->from->whole.n_pieces; ++p) {
        const gbsi_piece *piece = &t->from->piece[p];
        for (uint32_t u = 0; u < n; ++u) {
            const uint32_t v = m->share->of_whole[u];
            const uint32_t whole = gbsi_lattice_slot(t->from, v);
            if (whole >= piece->first_slot && whole - piece->first_slot < piece->n) {
                m->slot[u] = slot;
                m->share->order[slot] = u;
                m->share->whole_slot[slot] = whole;
                m->position[slot] = gbsi_lattice_position(t->from, v);
                m->event[slot++] = (uint64_t)whole << 32 | u;
            }
        }
    }
    assert(slot == n); /* each variable has one slot and one update */
    m->n_events = n;
}

/* ---- the part ------------------------------------------------------------------------------ */

/* Counters of factors, scope entries and table entries. If `part` is set, the factors and entries
 * are also written to `part`. */
typedef struct putting {
    gbsi_conditioned *part;
    size_t n_factors, n_scope, n_tables;
} putting;

static void put_factor(putting *p, gbs_factor_kind kind, uint64_t origin, double weight, size_t n,
                       const uint32_t *scope)
{
    if (p->part != NULL) {
        gbsi_factors *f = &p->part->factors;
        f->kind[p->n_factors] = (uint8_t)kind;
        f->weight[p->n_factors] = weight;
        f->aux[p->n_factors] = 0;
        f->scope_start[p->n_factors + 1] = p->n_scope + n;
        memcpy(f->scope + p->n_scope, scope, n * sizeof *scope);
        p->part->origin[p->n_factors] = origin;
    }
    ++p->n_factors;
    p->n_scope += n;
}

/* Writes the factor of one own variable: a weight, or a table. */
static void put_single(const taking *t, uint32_t u, putting *p)
{
    const gbsi_grid_model *grid = &t->from->grid;
    const uint32_t v = t->making.share->of_whole[u];
    double weight = 0.0;
    if (p->part != NULL) {
        gbsi_factors *f = &p->part->factors;
        weight = gbsi_grid_single(grid, v, f->table + p->n_tables * grid->n_entries);
    }
    put_factor(p, grid->single, grid->n_couplings + v, weight, 1, &u);
    if (p->part != NULL && grid->n_entries > 0) {
        gbsi_factors *f = &p->part->factors;
        f->aux[p->n_factors - 1] = (uint32_t)p->n_tables;
        f->table_start[p->n_tables + 1] = (p->n_tables + 1) * grid->n_entries;
    }
    p->n_tables += grid->n_entries > 0;
}

/* Writes the factors with an own variable, in the order of the whole model. */
static void put_factors(const taking *t, uint32_t n, putting *p)
{
    const gbsi_share_lattice *l = t->from;
    const gbs_share *share = t->making.share;
    const bool counts = p->part == NULL;
    for (uint32_t u = 0; u < n; ++u) {
        uint32_t at[3];
        uint32_t to[3];
        const uint32_t v = share->of_whole[u];
        gbsi_lattice_at(l, v, at);
        for (unsigned d = 0; d < 3; ++d) {
            if (step(l, at, d, false, to) && (share->own[u] != 0 || is_inside(&t->block, to))) {
                const uint32_t scope[2] = {u, counts ? 0 : number_of(t, to)};
                put_factor(p, l->grid.pair, counts ? 0 : gbsi_grid_coupling_number(&l->grid, v, d),
                           counts ? 0.0 : gbsi_grid_coupling(&l->grid, v, d), 2, scope);
            }
        }
    }
    for (uint32_t u = 0; gbsi_grid_has_singles(&l->grid) && u < n; ++u) {
        if (share->own[u] != 0) {
            put_single(t, u, p);
        }
    }
}

static gbs_status take_part(taking *t, uint32_t n, gbs_error *err)
{
    gbs_share *share = t->making.share;
    const gbsi_grid_model *grid = &t->from->grid;
    const size_t k = grid->arity;
    putting p = {0};
    put_factors(t, n, &p);
    const gbsi_part_sizes sizes = {.n_variables = n,
                                   .n_states = k * n,
                                   .n_factors = p.n_factors,
                                   .n_scope = p.n_scope,
                                   .n_tables = p.n_tables,
                                   .n_entries = p.n_tables * grid->n_entries};
    GBSI_PASS(gbsi_conditioned_new_alone(&sizes, &share->part, err));
    for (uint32_t u = 0; u < n; ++u) {
        share->part->arity[u] = grid->arity;
        share->part->state_offset[u + (size_t)1] = k * ((size_t)u + 1);
        share->part->user_variable[u] = share->of_whole[u];
        for (uint32_t a = 0; a < k; ++a) {
            share->part->user_state[k * u + a] = a;
        }
    }
    share->part->n_variables = n;
    memset(share->part->has_zeros, 0, p.n_factors);
    share->part->factors.n_factors = p.n_factors;
    share->part->factors.n_tables = p.n_tables;
    p = (putting){.part = share->part};
    put_factors(t, n, &p);
    assert(p.n_factors == sizes.n_factors && p.n_scope == sizes.n_scope);
    return GBS_OK;
}

gbs_status gbsi_share_of_lattice(const gbsi_share_lattice *lattice, uint32_t rank, gbs_share **out,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    taking t = {.from = lattice, .block = lattice->block[rank]};
    const size_t n_rows = (size_t)extent(&t.block, 1) * extent(&t.block, 2);
    GBSI_TRY(gbsi_making_init(&t.making, &lattice->facts, rank, err));
    t.making.whole = &lattice->whole;
    GBSI_TRY(find_halo(&t, err));
    const uint32_t n = (uint32_t)(n_rows * extent(&t.block, 0) + t.n_halo);
    t.row = gbsi_alloc_array(n_rows, sizeof *t.row);
    GBSI_TRY(GBSI_HAVE(err, "share of a lattice", t.row));
    GBSI_TRY(gbsi_making_reserve(&t.making, n, err));
    list_variables(&t);
    GBSI_TRY(take_part(&t, n, err));
    GBSI_TRY(find_seen(&t, n, err));
    GBSI_TRY(gbsi_making_reserve_events(&t.making, n, err));
    list_slots(&t, n);
    GBSI_TRY(gbsi_making_finish(&t.making, out, err));
cleanup:
    gbsi_making_free(&t.making);
    GBSI_FREE(t.halo, t.row);
    return status;
}
