/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of an estimate, and the work of an estimate in each pass. */
#include <assert.h>

#include "base/memory.h"
#include "estimate/estimate_internal.h"

/* ---- layout ---- */

typedef struct layout {
    size_t n_cells, n_runs;
    size_t n_places;    /* groups * cells * lanes */
    size_t start_bytes; /* bytes of `cell_start` */
    bool counted, split, rao_blackwell;
} layout;

static gbs_status too_big(gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "estimates: their size exceeds the address space of this machine");
}

static size_t cells_of(uint32_t arity)
{
    return arity == 2 ? 1 : arity;
}

static void assert_shape(const gbsi_estimate_shape *shape)
{
    (void)shape;
    assert(shape->lanes == GBSI_LANES || shape->lanes == 1);
    assert(shape->n_chains > 0 || shape->feeds);
    assert((uint64_t)shape->n_groups * shape->lanes >= shape->n_chains);
    assert((uint64_t)shape->n_groups * shape->lanes < (uint64_t)shape->n_chains + shape->lanes);
    assert(shape->value_bytes == 1 || shape->value_bytes == 2);
    assert(!shape->held || (shape->lanes == 1 && shape->arity == NULL && shape->same_arity == 2 &&
                            shape->each_once && shape->kind == GBS_ESTIMATOR_RAO_BLACKWELL &&
                            shape->n_slots % GBSI_SLOTS_HELD == 0 && !shape->feeds));
}

static gbs_status find_layout(const gbsi_estimate_shape *shape, layout *out, gbs_error *err)
{
    assert_shape(shape);
    layout l = {0};
    bool equal = true;
    for (size_t slot = 0; slot < shape->n_slots; slot++) {
        const uint32_t arity = gbsi_shape_arity(shape, slot);
        assert(arity >= 1 && (shape->value_bytes == 2 || arity <= 256));
        equal &= cells_of(arity) == cells_of(gbsi_shape_arity(shape, 0));
        if (!gbsi_add_size(l.n_cells, cells_of(arity), &l.n_cells)) {
            return too_big(err);
        }
        l.n_runs += slot == 0 || arity != gbsi_shape_arity(shape, slot - 1);
    }
    if (!gbsi_mul_size(l.n_cells, shape->lanes, &l.n_places) ||
        !gbsi_mul_size(l.n_places, shape->n_groups, &l.n_places)) {
        return too_big(err);
    }
    l.start_bytes =
        equal ? 0 : ((size_t)shape->n_slots + 1) * (l.n_cells <= UINT32_MAX ? 4 : sizeof(size_t));
    l.rao_blackwell = shape->kind == GBS_ESTIMATOR_RAO_BLACKWELL;
    /* Whether slots have their own numbers of updates. The counting estimator needs none, because
     * it reads each state once per pass. */
    l.counted = l.rao_blackwell && !shape->each_once;
    l.split = shape->n_chains < 4 && !shape->feeds;
    *out = l;
    return GBS_OK;
}

#define ROW(pointer, what, hot, saved)                                                         \
    (gbsi_estimate_array)                                                                      \
    {                                                                                          \
        &(pointer), count[GBSI_PER_##what], sizeof *(pointer), (saved), GBSI_PER_##what, (hot) \
    }
#define ARRAY(pointer, what, hot) ROW(pointer, what, hot, true)

static size_t list_arrays(const gbsi_estimate_shape *shape, const layout *l, gbsi_estimate *e,
                          gbsi_estimate_array out[GBSI_ESTIMATE_ARRAYS])
{
    const size_t count[] = {[GBSI_PER_RUN] = l->n_runs,
                            [GBSI_PER_PLACE] = l->n_places,
                            [GBSI_PER_CELL] = l->n_cells,
                            [GBSI_PER_SLOT] = shape->n_slots};
    size_t n = 0;
    gbsi_batches *b = &e->batches;
    out[n++] = ROW(e->run, RUN, false, false);
    if (shape->held) {
        out[n++] = ARRAY(e->held_total, PLACE, false);
        out[n++] = ARRAY(e->held_open, PLACE, false);
    } else if (l->rao_blackwell) {
        out[n++] = ARRAY(e->fast_sum, PLACE, true);
    } else {
        out[n++] = ARRAY(e->fast_count, PLACE, true);
    }
    if (shape->feeds) {
        if (l->counted) {
            out[n++] = ARRAY(e->updates, SLOT, false);
        }
        return n;
    }
    if (!l->rao_blackwell) {
        out[n++] = ARRAY(e->early, PLACE, true);
    }
    if (!shape->held) {
        out[n++] = ARRAY(e->total, PLACE, l->rao_blackwell);
        out[n++] = ARRAY(e->open, PLACE, false);
    }
    if (!l->split) {
        out[n++] = ARRAY(b->start_total, CELL, false);
    }
    out[n++] = ARRAY(b->square, CELL, false);
    out[n++] = ARRAY(b->rate, CELL, false);
    if (l->counted) {
        out[n++] = ARRAY(b->cross, CELL, false);
        out[n++] = ARRAY(e->updates, SLOT, false);
        out[n++] = ARRAY(b->updates_open, SLOT, false);
        out[n++] = ARRAY(b->updates_start, SLOT, false);
        out[n++] = ARRAY(b->n_sum, SLOT, false);
        out[n++] = ARRAY(b->n_square, SLOT, false);
    }
    if (!l->counted) {
        out[n++] = ROW(e->in_cut, SLOT, false, false);
    }
    for (int i = 0; l->split && i < 2; i++) {
        gbsi_half_time *half = &e->half[i];
        out[n++] = ARRAY(half->total, PLACE, false);
        if (l->counted) {
            out[n++] = ARRAY(half->updates, SLOT, false);
        }
    }
    assert(n <= GBSI_ESTIMATE_ARRAYS);
    return n;
}

/* Computes the bytes requested for an array. gbsi_alloc_lanes() rounds this number up to cache
 * lines and adds one line. */
static bool array_bytes(const gbsi_estimate_array *a, size_t *bytes)
{
    if (!gbsi_mul_size(a->n, a->size, bytes)) {
        return false;
    }
    const size_t line = 64;
    if (a->hot) {
        if (!gbsi_add_size(*bytes, 2 * line - 1, bytes)) {
            return false;
        }
        *bytes = *bytes / line * line;
    }
    return true;
}

static gbs_status sum_bytes(const layout *l, const gbsi_estimate_array *arrays, size_t n,
                            size_t *bytes, gbs_error *err)
{
    size_t sum = sizeof(gbsi_estimate) + l->start_bytes;
    for (size_t i = 0; i < n; i++) {
        size_t own = 0;
        if (!array_bytes(&arrays[i], &own) || !gbsi_add_size(sum, own, &sum)) {
            return too_big(err);
        }
    }
    *bytes = sum;
    return GBS_OK;
}

gbs_status gbsi_estimate_bytes(const gbsi_estimate_shape *shape, size_t *bytes, gbs_error *err)
{
    layout l;
    gbsi_estimate nothing = {0};
    gbsi_estimate_array arrays[GBSI_ESTIMATE_ARRAYS];
    GBSI_PASS(find_layout(shape, &l, err));
    const size_t n = list_arrays(shape, &l, &nothing, arrays);
    return sum_bytes(&l, arrays, n, bytes, err);
}

/* ---- life ---- */

static gbs_status take_arrays(gbsi_estimate *e, const layout *l, gbs_error *err)
{
    gbsi_estimate_array arrays[GBSI_ESTIMATE_ARRAYS];
    const size_t n = list_arrays(&e->shape, l, e, arrays);
    size_t all = 0;
    GBSI_PASS(sum_bytes(l, arrays, n, &all, err));
    e->bytes = sizeof *e + l->start_bytes;
    for (size_t i = 0; i < n; i++) {
        const gbsi_estimate_array *a = &arrays[i];
        size_t bytes = 0;
        (void)array_bytes(a, &bytes);
        void *memory =
            a->hot ? gbsi_alloc_lanes(a->n, a->size) : gbsi_alloc_array_zero(a->n, a->size);
        GBSI_PASS(GBSI_HAVE(err, "estimates", memory));
        memcpy(a->pointer, &memory, sizeof memory);
        e->bytes += bytes;
    }
    return GBS_OK;
}

static gbs_status fill_cells(gbsi_estimate *e, gbs_error *err)
{
    const size_t n_slots = e->shape.n_slots;
    size_t cell = 0;
    size_t n_runs = 0;
    uint32_t *size = gbsi_alloc_array(n_slots + 1, sizeof *size);
    GBSI_PASS(GBSI_HAVE(err, "estimates", size));
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        const uint32_t arity = gbsi_shape_arity(&e->shape, slot);
        size[slot] = (uint32_t)cells_of(arity);
        if (slot == 0 || arity != gbsi_shape_arity(&e->shape, slot - 1)) {
            e->run[n_runs++] = (gbsi_arity_run){slot, 0, arity, cell};
        }
        e->run[n_runs - 1].n_slots++;
        cell += size[slot];
    }
    assert(cell == e->n_cells && n_runs == e->n_runs);
    return gbsi_offsets_take(size, n_slots, &e->cell_start, "estimates", err);
}

gbs_status gbsi_estimate_new(const gbsi_estimate_shape *shape, gbsi_simd level,
                             gbsi_estimate **estimate, gbs_error *err)
{
    gbs_status status = GBS_OK;
    layout l;
    gbsi_estimate *e = NULL;
    GBSI_TRY(find_layout(shape, &l, err));
    e = gbsi_alloc_zero(sizeof *e);
    GBSI_TRY(GBSI_HAVE(err, "estimates", e));
    e->shape = *shape;
    e->lanes = gbsi_accumulate_of(level);
    e->counted = l.counted;
    e->split = l.split;
    e->n_cells = l.n_cells;
    e->n_runs = l.n_runs;
    GBSI_TRY(take_arrays(e, &l, err));
    GBSI_TRY(fill_cells(e, err));
    if (!shape->feeds) {
        gbsi_estimate_start(e, 0);
    }
    *estimate = e;
    e = NULL;

cleanup:
    gbsi_estimate_free(e);
    return status;
}

size_t gbsi_estimate_arrays(gbsi_estimate *e, gbsi_estimate_array out[GBSI_ESTIMATE_ARRAYS])
{
    const layout l = {.n_cells = e->n_cells,
                      .n_runs = e->n_runs,
                      .n_places = e->n_cells * e->shape.lanes * e->shape.n_groups,
                      .counted = e->counted,
                      .split = e->split,
                      .rao_blackwell = e->shape.kind == GBS_ESTIMATOR_RAO_BLACKWELL};
    return list_arrays(&e->shape, &l, e, out);
}

void gbsi_estimate_free(gbsi_estimate *e)
{
    if (e == NULL) {
        return;
    }
    gbsi_estimate_array arrays[GBSI_ESTIMATE_ARRAYS];
    const size_t n = gbsi_estimate_arrays(e, arrays);
    for (size_t i = 0; i < n; i++) {
        void *memory = NULL;
        memcpy(&memory, arrays[i].pointer, sizeof memory);
        gbsi_free(memory);
    }
    gbsi_offsets_free(&e->cell_start);
    gbsi_spread_free(e->spread);
    gbsi_free(e);
}

/* ---- passes ---- */

static size_t group_start(const gbsi_estimate *e, uint32_t group)
{
    return (size_t)group * e->n_cells * e->shape.lanes;
}

gbsi_fast gbsi_estimate_fast(const gbsi_estimate *e, uint32_t group)
{
    const size_t at = group_start(e, group);
    return (gbsi_fast){e->fast_sum == NULL ? NULL : e->fast_sum + at,
                       e->fast_count == NULL ? NULL : e->fast_count + at};
}

uint32_t gbsi_estimate_real_lanes(const gbsi_estimate *e, uint32_t group)
{
    const uint32_t left = e->shape.n_chains - group * e->shape.lanes;
    return left < e->shape.lanes ? left : e->shape.lanes;
}

/* Counts updates in the first group only, because all groups have equal schedules. */
static void count_updates(uint64_t *updates, const gbsi_tile *tile)
{
    for (uint32_t place = 0; place < tile->n_places; place++) {
        updates[gbsi_tile_slot(tile, place)]++;
    }
}

/* Half of the size of a typical L2 cache. */
#define FAR_BYTES ((size_t)1 << 20)

static size_t fast_bytes(const gbsi_estimate *e)
{
    return e->fast_sum != NULL ? sizeof *e->fast_sum : sizeof *e->fast_count;
}

bool gbsi_estimate_each_once(const gbsi_estimate *e)
{
    return e->shape.each_once;
}

bool gbsi_estimate_is_far(const gbsi_estimate *e)
{
    return e->n_cells * e->shape.lanes * fast_bytes(e) > FAR_BYTES;
}

void gbsi_estimate_ahead(const gbsi_estimate *e, uint32_t group, uint32_t first, uint32_t end)
{
    const gbsi_fast fast = gbsi_estimate_fast(e, group);
    const char *byte = fast.sum != NULL ? (const char *)fast.sum : (const char *)fast.count;
    const size_t each = e->shape.lanes * fast_bytes(e);
    const size_t last = gbsi_offset(&e->cell_start, end) * each;
    for (size_t i = gbsi_offset(&e->cell_start, first) * each; i < last; i += 64) {
        __builtin_prefetch(byte + i, 1); /* one cache line */
    }
}

void gbsi_estimate_tile(gbsi_estimate *e, uint32_t group, const gbsi_tile *tile)
{
    if (e->fast_sum == NULL) {
        return; /* the counting estimator adds states, not tiles */
    }
    assert(tile->p != NULL && tile->lanes == e->shape.lanes && group < e->shape.n_groups);
    e->lanes->tile(gbsi_estimate_fast(e, group).sum, &e->cell_start, tile);
    if (e->counted && group == 0) {
        count_updates(e->updates, tile);
    }
}

/* Counts the slots of a run (consecutive slots of equal arity) that lie in [first, end). Only the
 * first and the last run of the range can have slots outside the range. */
static void count_run(gbsi_estimate *e, uint8_t *count, const gbsi_arity_run *run, uint32_t first,
                      uint32_t end, const gbsi_state_rows *rows)
{
    const uint32_t run_end = run->first_slot + run->n_slots;
    const uint32_t from = first > run->first_slot ? first : run->first_slot;
    const uint32_t to = end < run_end ? end : run_end;
    const gbsi_arity_run clipped = {from, to - from, run->arity, gbsi_offset(&e->cell_start, from)};
    e->lanes->state(count, &clipped, 1, rows);
}

/* Index of the last run that begins at or before a slot. */
static size_t find_run(const gbsi_estimate *e, uint32_t slot)
{
    size_t low = 0;
    size_t high = e->n_runs;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (e->run[middle].first_slot <= slot) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

void gbsi_estimate_state(gbsi_estimate *e, uint32_t group, const void *state, uint32_t first,
                         uint32_t end)
{
    if (e->fast_count == NULL || first >= end) {
        return; /* the Rao-Blackwell estimator adds tiles, not states */
    }
    assert(group < e->shape.n_groups && end <= e->shape.n_slots);
    const gbsi_state_rows rows = {
        .state = state,
        .value_bytes = e->shape.value_bytes,
        .lanes = e->shape.lanes,
        .n_real = gbsi_estimate_real_lanes(e, group),
    };
    uint8_t *count = gbsi_estimate_fast(e, group).count;
    const size_t from = find_run(e, first);
    const size_t to = find_run(e, end - 1);
    count_run(e, count, &e->run[from], first, end, &rows);
    if (to > from) {
        e->lanes->state(count, e->run + from + 1, to - from - 1, &rows);
        count_run(e, count, &e->run[to], first, end, &rows);
    }
}

bool gbsi_estimate_due(const gbsi_estimate *e)
{
    if (e->spread != NULL) {
        return gbsi_estimate_due(e->spread->share);
    }
    const uint64_t n = e->n_passes + 1;
    const uint64_t in_batch = n - e->batches.start;
    return in_batch == e->batches.length || in_batch % GBSI_PASSES_OF_COUNTS == 0 ||
           (e->split && (n & (n - 1)) == 0);
}

uint8_t *gbsi_estimate_visits(gbsi_estimate *e, uint32_t chain, size_t *stride)
{
    assert(e->fast_count != NULL && e->n_cells == e->shape.n_slots);
    *stride = e->shape.lanes;
    return gbsi_estimate_fast(e, chain / e->shape.lanes).count + chain % e->shape.lanes;
}

/* ---- work by slots ---- */

/* Smallest number of sums for which several threads share the work. With fewer sums one thread
 * finishes before the others have woken up. */
#define LEAST_SHARED 65536u

typedef struct slot_job {
    gbsi_estimate *e;
    uint32_t n_members;
    void (*work)(gbsi_estimate *e, uint32_t first, uint32_t end);
} slot_job;

static void run_slot_job(void *context, uint32_t member)
{
    const slot_job *job = context;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(job->e->shape.n_slots, job->e->shape.held ? GBSI_SLOTS_HELD : 64, member,
                    job->n_members, &first, &end);
    job->work(job->e, (uint32_t)first, (uint32_t)end);
}

void gbsi_estimate_share(gbsi_estimate *e, gbsi_pool *pool,
                         void (*work)(gbsi_estimate *e, uint32_t first, uint32_t end))
{
    if (e->n_cells * e->shape.lanes * e->shape.n_groups < LEAST_SHARED) {
        work(e, 0, e->shape.n_slots);
        return;
    }
    slot_job job = {e, gbsi_pool_size(pool), work};
    gbsi_pool_run(pool, run_slot_job, &job);
}

static void flush_open(gbsi_estimate *e, uint32_t first, uint32_t end)
{
    if (e->shape.held) {
        gbsi_held_flush(e, first, end);
        return;
    }
    const size_t at = gbsi_offset(&e->cell_start, first) * e->shape.lanes;
    const size_t n = gbsi_offset(&e->cell_start, end) * e->shape.lanes - at;
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        gbsi_fast fast = gbsi_estimate_fast(e, group);
        fast.sum = fast.sum == NULL ? NULL : fast.sum + at;
        fast.count = fast.count == NULL ? NULL : fast.count + at;
        e->lanes->flush(fast, e->open + group_start(e, group) + at, n);
    }
}

/* Stores the totals after 2^j passes. They replace the older ones of the two sets of totals that
 * are stored. */
static void keep_half_time(gbsi_estimate *e, uint32_t first, uint32_t end)
{
    const size_t lanes = e->shape.lanes;
    const size_t first_cell = gbsi_offset(&e->cell_start, first);
    const size_t end_cell = gbsi_offset(&e->cell_start, end);
    gbsi_half_time *half = &e->half[1];
    for (uint32_t group = 0; group < e->shape.n_groups; group++) {
        for (size_t cell = first_cell; cell < end_cell; cell++) {
            for (uint32_t lane = 0; lane < lanes; lane++) {
                half->total[group_start(e, group) + cell * lanes + lane] =
                    (float)gbsi_estimate_chain_total(e, group, cell, lane);
            }
        }
    }
    if (e->counted) {
        memcpy(half->updates + first, e->updates + first, (end - first) * sizeof *half->updates);
    }
}

/* Number of passes after which the fast sums are full. */
static uint64_t flush_interval(const gbsi_estimate *e)
{
    return e->shape.held         ? GBSI_PASSES_HELD
           : e->fast_sum != NULL ? GBSI_SUM_TERMS
                                 : GBSI_PASSES_OF_COUNTS;
}

void gbsi_estimate_start(gbsi_estimate *e, uint64_t n_passes)
{
    uint64_t half = 1; /* the largest power of two that does not exceed n_passes */
    while (half <= n_passes / 2) {
        half *= 2;
    }
    e->n_passes = n_passes;
    gbsi_batches_start(e);
    e->batches.open_used = n_passes - e->batches.start >= flush_interval(e);
    e->n_held = e->shape.held ? (uint32_t)((n_passes - e->batches.start) % GBSI_PASSES_HELD) : 0;
    e->half[0].pass = e->split && n_passes > 0 ? half / 2 : 0;
    e->half[1].pass = e->split && n_passes > 0 ? half : 0;
}

void gbsi_estimate_cut(gbsi_estimate *e, uint32_t slot)
{
    assert(e->in_cut != NULL && slot < e->shape.n_slots);
    e->in_cut[slot] = 1;
    e->is_cut = true;
}

gbsi_end gbsi_estimate_next_end(const gbsi_estimate *e)
{
    const uint64_t n = e->n_passes + 1;
    const uint64_t in_batch = n - e->batches.start;
    if (in_batch == e->batches.length || in_batch % flush_interval(e) == 0) {
        return GBSI_END_TAKES;
    }
    return e->split && (n & (n - 1)) == 0 ? GBSI_END_READS : GBSI_END_LEAVES;
}

void gbsi_estimate_end_pass(gbsi_estimate *e, gbsi_pool *pool)
{
    if (e->is_cut) {
        return;
    }
    e->n_passes++;
    if (e->shape.feeds) {
        return; /* gbsi_estimate_meet(), which the caller must call next, does the rest */
    }
    const uint64_t in_batch = e->n_passes - e->batches.start;
    const bool takes = in_batch == e->batches.length || in_batch % flush_interval(e) == 0;
    e->n_held += e->shape.held;
    if (in_batch < e->batches.length && takes) {
        gbsi_estimate_share(e, pool, flush_open);
        e->batches.open_used = true;
    }
    gbsi_batches_end_pass(e, pool);
    if (takes && e->shape.held) {
        gbsi_held_forget(e);
    }
    if (e->split && (e->n_passes & (e->n_passes - 1)) == 0) {
        const gbsi_half_time oldest = e->half[0];
        e->half[0] = e->half[1];
        e->half[1] = oldest;
        e->half[1].pass = e->n_passes;
        gbsi_estimate_share(e, pool, keep_half_time);
    }
}

uint64_t gbsi_estimate_n_passes(const gbsi_estimate *e)
{
    return e->n_passes;
}

uint64_t gbsi_estimate_updates(const gbsi_estimate *e, uint32_t slot)
{
    return e->counted ? e->updates[slot] : e->n_passes + e->in_cut[slot];
}
