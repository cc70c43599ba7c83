/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates saved, loaded and added up: numbers of the shape, of batches, then all arrays. */
#include <string.h>

#include "estimate/estimate_internal.h"

enum { N_SHAPE = 8, N_COUNTS = 9 };

static void shape_numbers(const gbsi_estimate *e, uint64_t out[N_SHAPE])
{
    const uint64_t number[N_SHAPE] = {
        e->shape.n_slots,        e->shape.n_chains, e->shape.lanes, e->n_cells,
        (uint64_t)e->shape.kind, e->counted,        e->split,       e->n_runs};
    memcpy(out, number, sizeof number);
}

static void take_counts(const gbsi_estimate *e, uint64_t out[N_COUNTS])
{
    const gbsi_batches *b = &e->batches;
    const uint64_t number[N_COUNTS] = {e->n_passes,  b->length,       b->start,
                                       b->block_end, b->n_closed,     b->open_used,
                                       b->has_rate,  e->half[0].pass, e->half[1].pass};
    memcpy(out, number, sizeof number);
}

static void put_counts(gbsi_estimate *e, const uint64_t number[N_COUNTS])
{
    gbsi_batches *b = &e->batches;
    e->n_passes = number[0];
    b->length = number[1];
    b->start = number[2];
    b->block_end = number[3];
    b->n_closed = number[4];
    b->open_used = number[5] != 0;
    b->has_rate = number[6] != 0;
    e->half[0].pass = number[7];
    e->half[1].pass = number[8];
}

static void *array_at(const gbsi_estimate_array *a)
{
    void *memory = NULL;
    memcpy(&memory, a->pointer, sizeof memory);
    return memory;
}

gbs_status gbsi_estimate_save(const gbsi_estimate *estimate, const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_estimate copy = *estimate; /* of the pointers: arrays are listed by their addresses */
    gbsi_estimate_array arrays[GBSI_ESTIMATE_ARRAYS];
    const size_t n = gbsi_estimate_arrays(&copy, arrays);
    uint64_t shape[N_SHAPE];
    uint64_t counts[N_COUNTS];
    shape_numbers(estimate, shape);
    take_counts(estimate, counts);
    GBSI_TRY(gbsi_put_numbers(sink, shape, N_SHAPE, sizeof shape[0], err));
    GBSI_TRY(gbsi_put_numbers(sink, counts, N_COUNTS, sizeof counts[0], err));
    for (size_t i = 1; i < n; ++i) {
        GBSI_TRY(gbsi_put_numbers(sink, array_at(&arrays[i]), arrays[i].n, arrays[i].size, err));
    }
cleanup:
    return status;
}

gbs_status gbsi_estimate_load(gbsi_estimate *e, const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_estimate_array arrays[GBSI_ESTIMATE_ARRAYS];
    const size_t n = gbsi_estimate_arrays(e, arrays);
    uint64_t own[N_SHAPE];
    uint64_t shape[N_SHAPE];
    uint64_t counts[N_COUNTS];
    shape_numbers(e, own);
    GBSI_TRY(gbsi_take_numbers(source, shape, N_SHAPE, sizeof shape[0], err));
    if (memcmp(shape, own, sizeof own) != 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "estimates: the saved estimates are from another run");
    }
    GBSI_TRY(gbsi_take_numbers(source, counts, N_COUNTS, sizeof counts[0], err));
    for (size_t i = 1; i < n; ++i) {
        GBSI_TRY(gbsi_take_numbers(source, array_at(&arrays[i]), arrays[i].n, arrays[i].size, err));
    }
    put_counts(e, counts);
cleanup:
    return status;
}

/* ---- added up -------------------------------------------------------------------------------- */

#define ADD(type)                                                            \
    for (size_t i = 0; i < n; ++i) {                                         \
        ((type *)to)[i] = (type)(((type *)to)[i] + ((const type *)from)[i]); \
    }

/* Of these sizes each belongs to one type, but 4 and 8 to two: in those of 8 bytes counts of
 * updates are told from sums by where they stand. */
static void add_array(void *to, const void *from, size_t n, size_t size, bool whole)
{
    if (size == sizeof(uint8_t)) {
        ADD(uint8_t)
    } else if (size == sizeof(uint16_t)) {
        ADD(uint16_t)
    } else if (size == sizeof(float)) {
        ADD(float)
    } else if (whole) {
        ADD(uint64_t)
    } else {
        ADD(double)
    }
}

static bool is_whole(const gbsi_estimate *e, const void *pointer)
{
    return pointer == &e->updates || pointer == &e->batches.updates_open ||
           pointer == &e->batches.updates_start || pointer == &e->half[0].updates ||
           pointer == &e->half[1].updates;
}

gbs_status gbsi_estimate_reduce(gbsi_estimate *e, const gbsi_estimate *other, gbs_error *err)
{
    gbsi_estimate copy = *other;
    gbsi_estimate_array to[GBSI_ESTIMATE_ARRAYS];
    gbsi_estimate_array from[GBSI_ESTIMATE_ARRAYS];
    uint64_t shape[2][N_SHAPE];
    uint64_t counts[2][N_COUNTS];
    shape_numbers(e, shape[0]);
    shape_numbers(other, shape[1]);
    take_counts(e, counts[0]);
    take_counts(other, counts[1]);
    if (memcmp(shape[0], shape[1], sizeof shape[0]) != 0 ||
        memcmp(counts[0], counts[1], sizeof counts[0]) != 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "estimates of different variables, chains or passes cannot be added");
    }
    const size_t n = gbsi_estimate_arrays(e, to);
    (void)gbsi_estimate_arrays(&copy, from);
    for (size_t i = 1; i < n; ++i) {
        add_array(array_at(&to[i]), array_at(&from[i]), to[i].n, to[i].size,
                  is_whole(e, to[i].pointer));
    }
    return GBS_OK;
}
