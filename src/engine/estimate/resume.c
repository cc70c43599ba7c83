/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads estimates. Saved data are the numbers of the shape, the number of passes, and
 * then all arrays. The state of the batches is computed from the number of passes. */
#include <inttypes.h>
#include <string.h>

#include "estimate/estimate_internal.h"

enum { N_SHAPE = 8 };

/* Largest number of passes of a saved estimate: more than any run reaches, and small enough that no
 * count overflows. */
#define MOST_PASSES (UINT64_C(1) << 60)

/* Numbers that describe the shape of an estimate of all chains and slots, on all ranks. */
static void shape_numbers(const gbsi_estimate *e, uint64_t out[N_SHAPE])
{
    const gbsi_estimate *summed = e->spread == NULL ? e : e->spread->share;
    const gbsi_weave *weave = e->shape.weave;
    const uint64_t number[N_SHAPE] = {weave == NULL ? e->shape.n_slots : weave->n_whole,
                                      summed->shape.n_chains,
                                      e->shape.lanes,
                                      weave == NULL ? e->n_cells : e->shape.n_all_cells,
                                      (uint64_t)e->shape.kind,
                                      e->counted,
                                      summed->split,
                                      weave == NULL ? e->n_runs : e->shape.n_all_runs};
    memcpy(out, number, sizeof number);
}

static void *array_at(const gbsi_estimate_array *a)
{
    void *memory = NULL;
    memcpy(&memory, a->pointer, sizeof memory);
    return memory;
}

/* ---- models that ranks share ----------------------------------------------------------------- */

typedef struct part {
    const gbsi_estimate *estimate;
    gbsi_per per;
} part;

static gbsi_span span_of(const void *context, uint32_t slot)
{
    const part *p = context;
    const gbsi_estimate *e = p->estimate;
    const size_t first = gbsi_offset(&e->cell_start, slot);
    const size_t n = gbsi_offset(&e->cell_start, slot + (size_t)1) - first;
    const size_t lanes = p->per == GBSI_PER_PLACE ? e->shape.lanes : 1;
    return p->per == GBSI_PER_SLOT ? (gbsi_span){slot, 1} : (gbsi_span){first * lanes, n * lanes};
}

static gbs_status weave_array(const gbsi_estimate *e, const gbsi_estimate_array *array,
                              const gbsi_sink *sink, const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const part p = {e, array->per};
    const uint32_t n_groups = array->per == GBSI_PER_PLACE ? e->shape.n_groups : 1;
    for (uint32_t g = 0; g < n_groups && status >= 0; ++g) {
        unsigned char *memory =
            (unsigned char *)array_at(array) + array->n / n_groups * g * array->size;
        gbsi_woven woven = {memory, array->size, &p, span_of};
        const gbsi_rows rows = gbsi_rows_of_array(&woven);
        status = gbsi_weave_rows(e->shape.weave, &rows, sink, source, err);
    }
    return status;
}

/* ---- saving and loading ---------------------------------------------------------------------- */

static gbs_status save_array(const gbsi_estimate *e, const gbsi_estimate_array *array,
                             const gbsi_sink *sink, gbs_error *err)
{
    return e->spread != NULL ? gbsi_spread_save(e, array, sink, err)
           : e->shape.weave != NULL
               ? weave_array(e, array, sink, NULL, err)
               : gbsi_put_numbers(sink, array_at(array), array->n, array->size, err);
}

static gbs_status load_array(gbsi_estimate *e, const gbsi_estimate_array *array,
                             const gbsi_source *source, gbs_error *err)
{
    return e->spread != NULL ? gbsi_spread_load(e, array, source, err)
           : e->shape.weave != NULL
               ? weave_array(e, array, NULL, source, err)
               : gbsi_take_numbers(source, array_at(array), array->n, array->size, err);
}

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_estimate *estimate = object;
    const gbsi_spread *spread = estimate->spread;
    /* a copy of the struct, because gbsi_estimate_arrays() takes addresses of its members */
    gbsi_estimate copy = spread == NULL ? *estimate : *spread->share;
    gbsi_estimate_array arrays[GBSI_ESTIMATE_ARRAYS];
    const size_t n = gbsi_estimate_arrays(&copy, arrays);
    uint64_t shape[N_SHAPE];
    shape_numbers(estimate, shape);
    if (spread != NULL) {
        GBSI_PASS(gbsi_spread_bring(estimate, false, err));
    }
    GBSI_PASS(gbsi_put_numbers(sink, shape, N_SHAPE, sizeof shape[0], err));
    GBSI_PASS(gbsi_put_numbers(sink, &estimate->n_passes, 1, sizeof estimate->n_passes, err));
    for (size_t i = 0; i < n; ++i) {
        if (arrays[i].saved) {
            GBSI_PASS(save_array(estimate, &arrays[i], sink, err));
        }
    }
    return GBS_OK;
}

gbs_status gbsi_estimate_save(const gbsi_estimate *estimate, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_put_sealed(sink, estimate, save, err);
}

static gbs_status load(void *object, const gbsi_source *source, gbs_error *err)
{
    gbsi_estimate *e = object;
    gbsi_estimate *summed = e->spread == NULL ? e : e->spread->share;
    gbsi_estimate_array arrays[GBSI_ESTIMATE_ARRAYS];
    const size_t n = gbsi_estimate_arrays(summed, arrays);
    uint64_t shape[N_SHAPE];
    uint64_t n_passes = 0;
    shape_numbers(e, shape);
    GBSI_PASS(gbsi_take_expected(source, shape, N_SHAPE, "estimates", err));
    GBSI_PASS(gbsi_take_numbers(source, &n_passes, 1, sizeof n_passes, err));
    if (n_passes > MOST_PASSES) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "estimates: the saved number of passes, %" PRIu64 ", is damaged",
                         n_passes);
    }
    for (size_t i = 0; i < n; ++i) {
        if (arrays[i].saved) {
            GBSI_PASS(load_array(e, &arrays[i], source, err));
        }
    }
    gbsi_estimate_start(summed, n_passes);
    e->n_passes = n_passes;
    return GBS_OK;
}

gbs_status gbsi_estimate_load(gbsi_estimate *e, const gbsi_source *source, gbs_error *err)
{
    return gbsi_take_sealed(source, e, load, "estimates", err);
}
