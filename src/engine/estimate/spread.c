/* SPDX-License-Identifier: Apache-2.0 */
/* An estimate whose chains are on several ranks. Each rank has the fast sums of its own chains for
 * all slots. Each rank also has a share, which is an ordinary estimate of all chains for some of
 * the slots. Whenever the end of a pass reads the fast sums of a share, the other ranks first send
 * the fast sums of their chains. The results for these slots equal those of an estimate on one
 * rank, bit by bit. */
#include <string.h>

#include "base/memory.h"
#include "estimate/estimate_internal.h"

uint32_t gbsi_first_group(uint32_t n_groups, uint32_t n_ranks, uint32_t rank)
{
    return (uint32_t)(((uint64_t)rank * n_groups + n_ranks - 1) / n_ranks);
}

static uint32_t first_slot(const gbsi_estimate_shape *shape, uint32_t n_ranks, uint32_t rank)
{
    return (uint32_t)((uint64_t)shape->n_slots * rank / n_ranks);
}

/* Shape of the estimate that this rank feeds: its own chains and all slots. */
static gbsi_estimate_shape shape_of_own(const gbs_ranks *ranks, const gbsi_estimate_shape *shape)
{
    gbsi_estimate_shape own = *shape;
    const uint32_t first = gbsi_first_group(shape->n_groups, ranks->n_ranks, ranks->rank);
    const uint32_t end = gbsi_first_group(shape->n_groups, ranks->n_ranks, ranks->rank + 1);
    own.n_groups = end - first;
    own.n_chains = end == shape->n_groups && end > first ? shape->n_chains - first * shape->lanes
                                                         : own.n_groups * shape->lanes;
    own.feeds = true;
    return own;
}

/* Shape of the share of this rank: all chains and the slots whose sums this rank keeps. */
static gbsi_estimate_shape shape_of_share(const gbs_ranks *ranks, const gbsi_estimate_shape *shape)
{
    gbsi_estimate_shape share = *shape;
    const uint32_t first = first_slot(shape, ranks->n_ranks, ranks->rank);
    share.n_slots = first_slot(shape, ranks->n_ranks, ranks->rank + 1) - first;
    share.arity = shape->arity == NULL ? NULL : shape->arity + first;
    return share;
}

gbs_status gbsi_estimate_spread_bytes(const gbs_ranks *ranks, const gbsi_estimate_shape *shape,
                                      size_t *bytes, gbs_error *err)
{
    if (ranks == NULL) {
        return gbsi_estimate_bytes(shape, bytes, err);
    }
    const gbsi_estimate_shape own = shape_of_own(ranks, shape);
    const gbsi_estimate_shape share = shape_of_share(ranks, shape);
    size_t of_own = 0;
    size_t of_share = 0;
    size_t n_cells = 0;
    GBSI_PASS(gbsi_estimate_bytes(&own, &of_own, err));
    GBSI_PASS(gbsi_estimate_bytes(&share, &of_share, err));
    for (uint32_t slot = 0; slot < shape->n_slots; ++slot) {
        n_cells += gbsi_shape_arity(shape, slot);
    }
    *bytes = 2 * of_own + of_share + n_cells * sizeof(gbsi_cell_summary);
    return GBS_OK;
}

/* ---- life ---- */

static gbs_status take_tables(gbsi_spread *s, uint32_t n_ranks, gbs_error *err)
{
    const size_t n = (size_t)n_ranks + 1;
    s->first_slot = gbsi_alloc_array(n, sizeof *s->first_slot);
    s->first_cell = gbsi_alloc_array(n, sizeof *s->first_cell);
    s->first_group = gbsi_alloc_array(n, sizeof *s->first_group);
    s->out = gbsi_alloc_array(n_ranks, sizeof *s->out);
    s->in = gbsi_alloc_array(n_ranks, sizeof *s->in);
    return GBSI_HAVE(err, "estimates", s->first_slot, s->first_cell, s->first_group, s->out, s->in);
}

static size_t fast_size(const gbsi_estimate *e)
{
    return e->fast_sum != NULL ? sizeof *e->fast_sum : sizeof *e->fast_count;
}

/* Number of bytes of the fast sums of one cell in one group. */
static size_t cell_bytes(const gbsi_estimate *e)
{
    return e->shape.lanes * fast_size(e);
}

static unsigned char *fast_of(const gbsi_estimate *e)
{
    return e->fast_sum != NULL ? (unsigned char *)e->fast_sum : e->fast_count;
}

gbs_status gbsi_estimate_spread(const gbs_ranks *ranks, const gbsi_estimate_shape *shape,
                                gbsi_simd level, gbsi_estimate **estimate, gbs_error *err)
{
    if (ranks == NULL) {
        return gbsi_estimate_new(shape, level, estimate, err);
    }
    gbs_status status = GBS_OK;
    const gbsi_estimate_shape own = shape_of_own(ranks, shape);
    const gbsi_estimate_shape share = shape_of_share(ranks, shape);
    gbsi_estimate *e = NULL;
    GBSI_TRY(gbsi_estimate_new(&own, level, &e, err));
    gbsi_spread *s = gbsi_alloc_zero(sizeof *s);
    GBSI_TRY(GBSI_HAVE(err, "estimates", s));
    e->spread = s;
    s->ranks = ranks;
    GBSI_TRY(take_tables(s, ranks->n_ranks, err));
    GBSI_TRY(gbsi_estimate_new(&share, level, &s->share, err));
    for (uint32_t rank = 0; rank <= ranks->n_ranks; ++rank) {
        s->first_slot[rank] = first_slot(shape, ranks->n_ranks, rank);
        s->first_cell[rank] = gbsi_offset(&e->cell_start, s->first_slot[rank]);
        s->first_group[rank] = gbsi_first_group(shape->n_groups, ranks->n_ranks, rank);
    }
    const size_t n = own.n_groups * e->n_cells;
    s->packed = gbsi_alloc_array(n, cell_bytes(e));
    GBSI_TRY(GBSI_HAVE(err, "estimates", s->packed));
    *estimate = e;
    e = NULL;
cleanup:
    gbsi_estimate_free(e);
    return status;
}

void gbsi_spread_free(gbsi_spread *s)
{
    if (s != NULL) {
        gbsi_estimate_free(s->share);
        GBSI_FREE(s->first_slot, s->first_cell, s->first_group, s->packed, s->out, s->in, s->told,
                  s);
    }
}

/* ---- sending fast sums ---- */

static gbs_status exchange(const gbsi_spread *s, size_t n_out, size_t n_in, gbs_error *err)
{
    const gbs_ranks *ranks = s->ranks;
    GBSI_PASS(ranks->begin(ranks->context, s->out, n_out, s->in, n_in, err));
    return ranks->finish(ranks->context, err);
}

/* Copies, group by group, the fast sums of the cells that a given rank keeps. @param to
 * [n_groups][cells of the rank][lanes] */
static void pack(const gbsi_estimate *e, uint32_t rank, unsigned char *to)
{
    const gbsi_spread *s = e->spread;
    const size_t each = cell_bytes(e);
    const size_t n = (s->first_cell[rank + 1] - s->first_cell[rank]) * each;
    for (uint32_t g = 0; g < e->shape.n_groups && n > 0; ++g) {
        memcpy(to + g * n, fast_of(e) + (g * e->n_cells + s->first_cell[rank]) * each, n);
    }
}

/* Address, in the share of this rank, of the fast sums of the chains of a given rank. */
static unsigned char *place_of(const gbsi_spread *s, uint32_t rank)
{
    return fast_of(s->share) + s->first_group[rank] * s->share->n_cells * cell_bytes(s->share);
}

static gbs_status bring_sums(const gbsi_estimate *e, gbs_error *err)
{
    gbsi_spread *s = e->spread;
    const uint32_t own = s->ranks->rank;
    const size_t each = cell_bytes(e);
    size_t n = 0;
    for (uint32_t rank = 0; rank < s->ranks->n_ranks; ++rank) {
        if (rank == own) {
            continue;
        }
        unsigned char *packed = s->packed + s->first_cell[rank] * e->shape.n_groups * each;
        const size_t n_cells = s->first_cell[rank + 1] - s->first_cell[rank];
        const size_t n_groups = s->first_group[rank + 1] - s->first_group[rank];
        pack(e, rank, packed);
        s->out[n] = (gbs_message){rank, packed, n_cells * e->shape.n_groups * each};
        s->in[n] = (gbs_message){rank, place_of(s, rank), n_groups * s->share->n_cells * each};
        ++n;
    }
    pack(e, own, place_of(s, own));
    return exchange(s, n, n, err);
}

/* Receives the numbers of updates of slots from rank 0, which has the first group of all. */
static gbs_status bring_updates(const gbsi_estimate *e, gbs_error *err)
{
    gbsi_spread *s = e->spread;
    const uint32_t n_own = s->share->shape.n_slots;
    size_t n = 0;
    if (s->ranks->rank > 0) {
        s->in[0] = (gbs_message){0, s->share->updates, n_own * sizeof *e->updates};
        return exchange(s, 0, 1, err);
    }
    for (uint32_t rank = 1; rank < s->ranks->n_ranks; ++rank) {
        s->out[n++] =
            (gbs_message){rank, e->updates + s->first_slot[rank],
                          (s->first_slot[rank + 1] - s->first_slot[rank]) * sizeof *e->updates};
    }
    memcpy(s->share->updates, e->updates, n_own * sizeof *e->updates);
    return exchange(s, n, 0, err);
}

gbs_status gbsi_spread_bring(const gbsi_estimate *e, bool taken, gbs_error *err)
{
    GBSI_PASS(bring_sums(e, err));
    if (e->counted) {
        GBSI_PASS(bring_updates(e, err));
    }
    if (taken) {
        memset(fast_of(e), 0, e->shape.n_groups * e->n_cells * cell_bytes(e));
    }
    return GBS_OK;
}

gbs_status gbsi_estimate_meet(gbsi_estimate *e, gbsi_pool *pool, gbs_error *err)
{
    if (e->spread == NULL) {
        return GBS_OK;
    }
    gbsi_estimate *share = e->spread->share;
    const gbsi_end end = gbsi_estimate_next_end(share);
    if (end != GBSI_END_LEAVES) {
        GBSI_PASS(gbsi_spread_bring(e, end == GBSI_END_TAKES, err));
    }
    gbsi_estimate_end_pass(share, pool);
    return GBS_OK;
}

/* ---- sending estimates ---- */

static void tell_share(const gbsi_estimate *share, gbsi_cell_summary *told)
{
    for (uint32_t slot = 0; slot < share->shape.n_slots; ++slot) {
        const bool constant = gbsi_is_constant(share, slot);
        const size_t end = gbsi_offset(&share->cell_start, slot + (size_t)1);
        for (size_t cell = gbsi_offset(&share->cell_start, slot); cell < end; ++cell) {
            told[cell] = gbsi_told_cell(share, slot, cell, constant);
        }
    }
}

gbs_status gbsi_estimate_tell(gbsi_estimate *e, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_spread *s = e->spread;
    gbsi_cell_summary *own = NULL;
    size_t *n_of = NULL;
    if (s == NULL) {
        return GBS_OK;
    }
    const gbs_ranks *ranks = s->ranks;
    const size_t n_own = s->share->n_cells;
    s->told = s->told == NULL ? gbsi_alloc_array(e->n_cells, sizeof *s->told) : s->told;
    own = gbsi_alloc_array(n_own, sizeof *own);
    n_of = gbsi_alloc_array(ranks->n_ranks, sizeof *n_of);
    GBSI_TRY(GBSI_HAVE(err, "estimates", s->told, own, n_of));
    for (uint32_t rank = 0; rank < ranks->n_ranks; ++rank) {
        n_of[rank] = (s->first_cell[rank + 1] - s->first_cell[rank]) * sizeof *own;
    }
    GBSI_TRY(gbsi_spread_bring(e, false, err));
    tell_share(s->share, own);
    GBSI_TRY(ranks->gather(ranks->context, own, n_own * sizeof *own, s->told, n_of, err));
    GBSI_TRY(ranks->broadcast(ranks->context, 0, s->told, e->n_cells * sizeof *own, err));
cleanup:
    GBSI_FREE(own, n_of);
    return status;
}

bool gbsi_estimate_has_told(const gbsi_estimate *e)
{
    return e != NULL && (e->spread == NULL || e->spread->told != NULL);
}

/* ---- saving and loading ---------------------------------------------------------------------- */

/* Index of a rank's first item in a part of an array. A part is one group if the array has an
 * element per place, and otherwise the whole array. */
static size_t first_of(const gbsi_estimate *e, gbsi_per per, uint32_t rank)
{
    const gbsi_spread *s = e->spread;
    return per == GBSI_PER_SLOT    ? s->first_slot[rank]
           : per == GBSI_PER_PLACE ? s->first_cell[rank] * e->shape.lanes
                                   : s->first_cell[rank];
}

static uint32_t parts_of(const gbsi_estimate *e, gbsi_per per)
{
    return per == GBSI_PER_PLACE ? e->spread->share->shape.n_groups : 1;
}

static unsigned char *memory_of(const gbsi_estimate_array *array)
{
    unsigned char *memory = NULL;
    memcpy(&memory, array->pointer, sizeof memory);
    return memory;
}

gbs_status gbsi_spread_save(const gbsi_estimate *e, const gbsi_estimate_array *array,
                            const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_ranks *ranks = e->spread->ranks;
    const size_t n_all = first_of(e, array->per, ranks->n_ranks);
    const size_t n_own =
        first_of(e, array->per, ranks->rank + 1) - first_of(e, array->per, ranks->rank);
    unsigned char *all = gbsi_alloc_array(ranks->rank == 0 ? n_all : 0, array->size);
    size_t *n_of = gbsi_alloc_array(ranks->n_ranks, sizeof *n_of);
    GBSI_TRY(GBSI_HAVE(err, "estimates", all, n_of));
    for (uint32_t rank = 0; rank < ranks->n_ranks; ++rank) {
        n_of[rank] =
            (first_of(e, array->per, rank + 1) - first_of(e, array->per, rank)) * array->size;
    }
    for (uint32_t part = 0; part < parts_of(e, array->per); ++part) {
        const unsigned char *own = memory_of(array) + part * n_own * array->size;
        GBSI_TRY(ranks->gather(ranks->context, own, n_own * array->size, all, n_of, err));
        if (ranks->rank == 0) {
            GBSI_TRY(gbsi_put_numbers(sink, all, n_all, array->size, err));
        }
    }
cleanup:
    GBSI_FREE(all, n_of);
    return status;
}

/* Restores two arrays of the estimate that this rank feeds: the fast sums of its chains since they
 * were last taken, and the numbers of updates. */
static void feed_again(gbsi_estimate *e, const gbsi_estimate_array *array, uint32_t part,
                       const unsigned char *all, size_t bytes)
{
    const gbsi_spread *s = e->spread;
    const uint32_t rank = s->ranks->rank;
    if (memory_of(array) == fast_of(s->share) && part >= s->first_group[rank] &&
        part < s->first_group[rank + 1]) {
        memcpy(fast_of(e) + (part - s->first_group[rank]) * bytes, all, bytes);
    }
    if (e->counted && memory_of(array) == (unsigned char *)s->share->updates) {
        memcpy(e->updates, all, bytes);
    }
}

gbs_status gbsi_spread_load(gbsi_estimate *e, const gbsi_estimate_array *array,
                            const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t rank = e->spread->ranks->rank;
    const size_t first = first_of(e, array->per, rank);
    const size_t n_own = first_of(e, array->per, rank + 1) - first;
    const size_t n_all = first_of(e, array->per, e->spread->ranks->n_ranks);
    unsigned char *all = gbsi_alloc_array(n_all, array->size);
    GBSI_PASS(GBSI_HAVE(err, "estimates", all));
    for (uint32_t part = 0; part < parts_of(e, array->per); ++part) {
        GBSI_TRY(gbsi_take_numbers(source, all, n_all, array->size, err));
        memcpy(memory_of(array) + part * n_own * array->size, all + first * array->size,
               n_own * array->size);
        feed_again(e, array, part, all, n_all * array->size);
    }
cleanup:
    gbsi_free(all);
    return status;
}
