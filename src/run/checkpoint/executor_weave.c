/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the chains of a model that ranks share; the bytes equal those that one process would write.
 */
#include <assert.h>
#include <string.h>

#include "chains/executor.h"
#include "ranks/ranks.h"

/* The states of one group. */
typedef struct states {
    const gbsi_executor *x;
    uint32_t g;
} states;

static uint64_t width(const void *object, uint32_t slot)
{
    const gbsi_executor *x = ((const states *)object)->x;
    (void)slot;
    return (uint64_t)x->lanes * x->woven_bytes;
}

/* Writes the states of one slot. If all variables on this rank are small, its plan has one byte for
 * a state, even if the plan of the whole model has two. */
static gbs_status put(const void *object, uint32_t slot, const gbsi_sink *sink, gbs_error *err)
{
    const states *s = object;
    const gbsi_executor *x = s->x;
    const uint32_t bytes = x->plan->value_bytes;
    const unsigned char *state = x->group[s->g].state;
    uint16_t wide[GBSI_LANES];
    if (bytes == x->woven_bytes) {
        return gbsi_put_numbers(sink, state + (size_t)slot * x->lanes * bytes, x->lanes, bytes,
                                err);
    }
    for (uint32_t lane = 0; lane < x->lanes; ++lane) {
        wide[lane] = state[(size_t)slot * x->lanes + lane];
    }
    return gbsi_put_numbers(sink, wide, x->lanes, sizeof wide[0], err);
}

static gbs_status take(void *object, uint32_t slot, const gbsi_source *source, gbs_error *err)
{
    const states *s = object;
    const gbsi_executor *x = s->x;
    const uint32_t bytes = x->plan->value_bytes;
    unsigned char *state = x->group[s->g].state;
    uint16_t wide[GBSI_LANES];
    if (bytes == x->woven_bytes) {
        GBSI_PASS(gbsi_take_numbers(source, state + (size_t)slot * x->lanes * bytes, x->lanes,
                                    bytes, err));
    } else {
        GBSI_PASS(gbsi_take_numbers(source, wide, x->lanes, sizeof wide[0], err));
        for (uint32_t lane = 0; lane < x->lanes;
             ++lane) { /* a value that is too large for a byte is too large for a state, and an
                          invalid state takes its place */
            state[(size_t)slot * x->lanes + lane] =
                (uint8_t)(wide[lane] > UINT8_MAX ? UINT8_MAX : wide[lane]);
        }
    }
    return gbsi_executor_check_states(x, s->g, slot, err);
}

/* ---- data of passes: numbers of updates, added up over ranks; loaded by rank 0 -------------- */

static gbs_status keep(void *context, const void *bytes, size_t n, gbs_error *err)
{
    (void)err;
    assert(n == sizeof(uint64_t));
    memcpy(context, bytes, n);
    return GBS_OK;
}

static gbs_status give(void *context, void *bytes, size_t n, gbs_error *err)
{
    (void)err;
    assert(n == sizeof(uint64_t));
    memcpy(bytes, context, n);
    return GBS_OK;
}

static gbs_status weave_pass(const gbsi_executor *x, const gbsi_sink *sink,
                             const gbsi_source *source, gbs_error *err)
{
    const gbs_ranks *ranks = x->weave->ranks;
    unsigned char bytes[sizeof(uint64_t)];
    const gbsi_sink kept = {bytes, keep};
    const gbsi_source given = {bytes, give};
    uint64_t n = 0;
    if (sink != NULL) {
        GBSI_PASS(x->pass->save(x->pass_state, &kept, err));
        GBSI_PASS(gbsi_take_numbers(&given, &n, 1, sizeof n, err));
        GBSI_PASS(ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, &n, 1, err));
        GBSI_PASS(gbsi_put_numbers(sink, &n, 1, sizeof n, err));
    } else {
        GBSI_PASS(gbsi_take_numbers(source, &n, 1, sizeof n, err));
        n = ranks->rank == 0 ? n : 0;
        GBSI_PASS(gbsi_put_numbers(&kept, &n, 1, sizeof n, err));
        GBSI_PASS(x->pass->load(x->pass_state, &given, err));
    }
    return GBS_OK;
}

/* ---- data of passes in turns: length and data of each rank; only data if there is one rank -- */

static gbs_status count_bytes(void *context, const void *bytes, size_t n, gbs_error *err)
{
    (void)bytes;
    (void)err;
    *(uint64_t *)context += n;
    return GBS_OK;
}

static gbs_status put_turns(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_executor *x = object;
    uint64_t n = 0;
    const gbsi_sink counted = {&n, count_bytes};
    if (x->turns->n_ranks > 1) {
        GBSI_PASS(x->pass->save(x->pass_state, &counted, err));
        GBSI_PASS(gbsi_put_numbers(sink, &n, 1, sizeof n, err));
    }
    return x->pass->save(x->pass_state, sink, err);
}

static gbs_status take_turns(const gbsi_executor *x, const gbsi_source *source, gbs_error *err)
{
    for (uint32_t rank = 0; rank < x->turns->n_ranks; ++rank) {
        uint64_t n = 0;
        if (x->turns->n_ranks > 1) {
            GBSI_PASS(gbsi_take_numbers(source, &n, 1, sizeof n, err));
        }
        GBSI_PASS(rank == x->turns->rank ? x->pass->load(x->pass_state, source, err)
                                         : gbsi_skip_bytes(source, n, err));
    }
    return GBS_OK;
}

static gbs_status weave_turns(const gbsi_executor *x, const gbsi_sink *sink,
                              const gbsi_source *source, gbs_error *err)
{
    return sink != NULL ? gbsi_ranks_save(x->weave->ranks, x, put_turns, sink, err)
                        : take_turns(x, source, err);
}

gbs_status gbsi_executor_weave(const gbsi_executor *x, const gbsi_sink *sink,
                               const gbsi_source *source, gbs_error *err)
{
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        states s = {x, g};
        const gbsi_rows rows = {
            .object = &s, .all = true, .width = width, .put = put, .take = take};
        GBSI_PASS(gbsi_weave_rows(x->weave, &rows, sink, source, err));
    }
    if (x->draw->weave != NULL) {
        GBSI_PASS(x->draw->weave(x->draw_state, x->weave, sink, source, err));
    }
    if (x->pass->save != NULL) {
        GBSI_PASS((x->turns != NULL ? weave_turns : weave_pass)(x, sink, source, err));
    }
    return GBS_OK;
}
