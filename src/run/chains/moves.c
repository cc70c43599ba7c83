/* SPDX-License-Identifier: Apache-2.0 */
/* Counts changes of state. The states of a slot after a pass are compared with its states after the
 * previous pass, until the slot has moved often enough. After a few passes, most slots have moved
 * often enough and take no more time. */
#include "chains/moves.h"

#include <string.h>

#include "base/memory.h"

_Static_assert(GBSI_HELD_OFTEN <= GBSI_ENOUGH_MOVES, "they are saved alike");

static size_t row_of(const gbsi_executor *x)
{
    return (size_t)x->n_groups * x->lanes * x->plan->value_bytes;
}

uint64_t gbsi_moves_bytes(const gbsi_plan *plan, uint32_t n_chains)
{
    if (plan == NULL) {
        return 0;
    }
    const uint32_t lanes = gbsi_lanes_of(n_chains);
    const uint64_t row = (uint64_t)lanes * gbsi_groups_of(n_chains) * plan->value_bytes;
    return plan->n_slots * (row + sizeof(uint32_t) + 2);
}

gbs_status gbsi_moves_take(const gbsi_executor *x, gbsi_moves *m, gbs_error *err)
{
    const uint32_t n = x->plan->n_slots;
    m->row = row_of(x);
    m->n = gbsi_alloc_array_zero(n, 1);
    m->still = gbsi_alloc_array_zero(n, 1);
    m->slow = gbsi_alloc_array(n, sizeof *m->slow);
    m->before = gbsi_alloc_array(n, m->row);
    GBSI_PASS(GBSI_HAVE(err, "moves", m->n, m->still, m->slow, m->before));
    m->n_slots = n;
    return GBS_OK;
}

void gbsi_moves_free(gbsi_moves *m)
{
    GBSI_FREE(m->n, m->still, m->slow, m->before);
    *m = (gbsi_moves){0};
}

static const uint8_t *states_of(const gbsi_executor *x, uint32_t g, uint32_t slot, size_t bytes)
{
    return (const uint8_t *)x->group[g].state + slot * bytes;
}

static void copy_row(const gbsi_executor *x, uint32_t slot, uint8_t *row)
{
    const size_t bytes = (size_t)x->lanes * x->plan->value_bytes;
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        memcpy(row + g * bytes, states_of(x, g, slot, bytes), bytes);
    }
}

void gbsi_moves_begin(const gbsi_executor *x, gbsi_moves *m)
{
    if (m->begun) {
        return;
    }
    m->n_slow = 0;
    for (uint32_t slot = 0; slot < m->n_slots; ++slot) {
        if (m->n[slot] < GBSI_ENOUGH_MOVES) {
            copy_row(x, slot, m->before + m->n_slow * m->row);
            m->slow[m->n_slow++] = slot;
        }
    }
    m->begun = true;
}

/* Number of lanes of a group that are chains rather than padding. */
static uint32_t real_lanes(const gbsi_executor *x, uint32_t g)
{
    const uint32_t left = x->n_chains - g * x->lanes;
    return left < x->lanes ? left : x->lanes;
}

/* Number of chains in which the state of a slot differs from `before`. */
static uint32_t count_changes(const gbsi_executor *x, uint32_t slot, const uint8_t *before)
{
    const uint32_t each = x->plan->value_bytes;
    const size_t bytes = (size_t)x->lanes * each;
    uint32_t n = 0;
    for (uint32_t g = 0; g < x->n_groups; ++g, before += bytes) {
        const uint8_t *now = states_of(x, g, slot, bytes);
        if (memcmp(now, before, bytes) == 0) {
            continue;
        }
        for (uint32_t lane = 0; lane < real_lanes(x, g); ++lane) {
            n += memcmp(now + lane * each, before + lane * each, each) != 0;
        }
    }
    return n;
}

void gbsi_moves_count(const gbsi_executor *x, gbsi_moves *m)
{
    uint32_t n_slow = 0;
    for (uint32_t i = 0; i < m->n_slow; ++i) {
        const uint32_t slot = m->slow[i];
        const uint32_t n = m->n[slot] + count_changes(x, slot, m->before + i * m->row);
        m->n[slot] = (uint8_t)(n < GBSI_ENOUGH_MOVES ? n : GBSI_ENOUGH_MOVES);
        if (n < GBSI_ENOUGH_MOVES) {
            copy_row(x, slot, m->before + n_slow * m->row);
            m->slow[n_slow++] = slot;
        }
    }
    m->n_slow = n_slow;
}

/* ---- of all ranks ---------------------------------------------------------------------------- */

#define TOGETHER 4096u /* number of counts that are added up at a time */

gbs_status gbsi_moves_of_all(const gbsi_moves *m, const gbsi_executor *x, uint8_t *n,
                             gbs_error *err)
{
    uint64_t sum[TOGETHER];
    memcpy(n, m->n, m->n_slots);
    for (uint32_t first = 0; x->ranks != NULL && x->weave == NULL && first < m->n_slots;
         first += TOGETHER) {
        const uint32_t left = m->n_slots - first;
        const uint32_t n_sums = left < TOGETHER ? left : TOGETHER;
        for (uint32_t i = 0; i < n_sums; ++i) {
            sum[i] = n[first + i];
        }
        GBSI_PASS(x->ranks->combine(x->ranks->context, GBS_COMBINE_SUM_U64, sum, n_sums, err));
        for (uint32_t i = 0; i < n_sums; ++i) {
            n[first + i] = (uint8_t)(sum[i] < GBSI_ENOUGH_MOVES ? sum[i] : GBSI_ENOUGH_MOVES);
        }
    }
    return GBS_OK;
}

static gbsi_span span_of(const void *context, uint32_t slot)
{
    (void)context;
    return (gbsi_span){slot, 1};
}

static gbs_status weave(const gbsi_executor *x, uint8_t *n, const gbsi_sink *sink,
                        const gbsi_source *source, gbs_error *err)
{
    gbsi_woven woven = {n, 1, NULL, span_of};
    const gbsi_rows rows = gbsi_rows_of_array(&woven);
    return gbsi_weave_rows(x->weave, &rows, sink, source, err);
}

/* Saves one byte for every slot of all ranks that share the model. @param n number of bytes of this
 * row. */
static gbs_status put_bytes(const gbsi_moves *m, const gbsi_executor *x, uint8_t *n,
                            const gbsi_sink *sink, gbs_error *err)
{
    return x->weave != NULL ? weave(x, n, sink, NULL, err)
                            : gbsi_put_numbers(sink, n, m->n_slots, 1, err);
}

static gbs_status take_bytes(const gbsi_moves *m, const gbsi_executor *x, uint8_t *n,
                             const gbsi_source *source, gbs_error *err)
{
    GBSI_PASS(x->weave != NULL ? weave(x, n, NULL, source, err)
                               : gbsi_take_numbers(source, n, m->n_slots, 1, err));
    for (uint32_t slot = 0; slot < m->n_slots; ++slot) {
        if (n[slot] > GBSI_ENOUGH_MOVES) {
            return gbsi_fail(err, GBS_ERR_FORMAT, "the saved counts of changes are damaged");
        }
    }
    return GBS_OK;
}

gbs_status gbsi_moves_save(const gbsi_moves *m, const gbsi_executor *x, const gbsi_sink *sink,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint8_t *n = gbsi_alloc_array(m->n_slots, 1);
    GBSI_PASS(GBSI_HAVE(err, "moves", n));
    GBSI_TRY(gbsi_moves_of_all(m, x, n, err));
    GBSI_TRY(put_bytes(m, x, n, sink, err));
    if (x->pass->held != NULL) {
        for (uint32_t slot = 0; slot < m->n_slots; ++slot) {
            n[slot] = x->pass->held(x->pass_state, slot);
        }
        GBSI_TRY(put_bytes(m, x, n, sink, err));
    }
cleanup:
    gbsi_free(n);
    return status;
}

gbs_status gbsi_moves_load(gbsi_moves *m, const gbsi_executor *x, const gbsi_source *source,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint8_t *n = gbsi_alloc_array_zero(m->n_slots, 1);
    GBSI_PASS(GBSI_HAVE(err, "moves", n));
    GBSI_TRY(take_bytes(m, x, n, source, err));
    if (x->ranks == NULL || x->weave != NULL ||
        x->ranks->rank == 0) { /* rank 0 has the counts of all ranks */
        memcpy(m->n, n, m->n_slots);
    }
    if (x->pass->held != NULL) {
        GBSI_TRY(take_bytes(m, x, n, source, err));
        for (uint32_t slot = 0; slot < m->n_slots; ++slot) {
            x->pass->set_held(x->pass_state, slot, n[slot]);
        }
    }
    m->begun = false;
cleanup:
    gbsi_free(n);
    return status;
}
