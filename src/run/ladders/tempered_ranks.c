/* SPDX-License-Identifier: Apache-2.0 */
/* Ladders on several ranks. Every rank has the states of all lanes, but makes the local moves of
 * only some groups of lanes. It sends the new states to all other ranks. All ranks then swap, adapt
 * and count in the same way. A level may therefore swap with a level that another rank has moved,
 * and a checkpoint equals the checkpoint of one process. */
#include <string.h>

#include "base/memory.h"
#include "ladders/tempered_inside.h"

enum { HEAD = 8 }; /* bytes for a number that is 1 if the local moves of the rank failed */

/* ---- one group ------------------------------------------------------------------------------- */

static size_t state_bytes(const gbsi_tempered *t)
{
    return (size_t)t->plan->n_slots * t->executor.lanes * t->plan->value_bytes;
}

static size_t counter_bytes(const gbsi_tempered *t)
{
    return (size_t)t->plan->n_counters * t->executor.lanes * sizeof(uint32_t);
}

static size_t density_bytes(const gbsi_tempered *t)
{
    return t->executor.lanes * sizeof *t->density;
}

static unsigned char *put(unsigned char *at, const void *own, size_t n)
{
    if (n > 0) {
        memcpy(at, own, n);
    }
    return at + n;
}

static const unsigned char *take(const unsigned char *at, void *own, size_t n)
{
    if (n > 0) {
        memcpy(own, at, n);
    }
    return at + n;
}

static unsigned char *put_group(const gbsi_tempered *t, uint32_t g, unsigned char *at)
{
    const gbsi_group *group = &t->executor.group[g];
    at = put(at, group->state, state_bytes(t));
    at = put(at, group->counter, counter_bytes(t));
    return put(at, t->density + (size_t)g * t->executor.lanes, density_bytes(t));
}

static const unsigned char *take_group(gbsi_tempered *t, uint32_t g, const unsigned char *at)
{
    const gbsi_group *group = &t->executor.group[g];
    at = take(at, group->state, state_bytes(t));
    at = take(at, group->counter, counter_bytes(t));
    return take(at, t->density + (size_t)g * t->executor.lanes, density_bytes(t));
}

/* ---- all that a rank tells ------------------------------------------------------------------ */

/* The first group of a rank. The groups of the rank end before the first group of the next rank. */
static uint32_t first_of(const gbsi_tempered *t, uint32_t rank)
{
    return gbsi_first_group(t->executor.n_groups, t->ranks->n_ranks, rank);
}

static size_t redrawn_bytes(const gbsi_tempered *t)
{
    return (size_t)t->core->n_variables * GBSI_BLOCK_LANES * sizeof *t->blocks.redrawn;
}

/* Number of bytes that a rank sends. The group with the cold level belongs to rank 0. */
static size_t told_bytes(const gbsi_tempered *t, uint32_t rank, bool redraws)
{
    const size_t each = state_bytes(t) + counter_bytes(t) + density_bytes(t);
    return HEAD + (first_of(t, rank + 1) - first_of(t, rank)) * each +
           (redraws && rank == 0 ? redrawn_bytes(t) : 0);
}

static void put_all(const gbsi_tempered *t, bool failed, unsigned char *at)
{
    const uint32_t rank = t->ranks->rank;
    const uint64_t head = failed;
    at = put(at, &head, HEAD);
    for (uint32_t g = first_of(t, rank); g < first_of(t, rank + 1); ++g) {
        at = put_group(t, g, at);
    }
    if (rank == 0 && gbsi_tempered_redraws(t)) {
        (void)put(at, t->blocks.redrawn, redrawn_bytes(t));
    }
}

/* Takes over the data that another rank has sent. @return whether the local moves of that rank
 * failed. */
static bool take_all(gbsi_tempered *t, uint32_t rank, const unsigned char *at)
{
    uint64_t head = 0;
    at = take(at, &head, HEAD);
    for (uint32_t g = first_of(t, rank); g < first_of(t, rank + 1); ++g) {
        at = take_group(t, g, at);
    }
    if (rank == 0 && gbsi_tempered_redraws(t)) {
        (void)take(at, t->blocks.redrawn, redrawn_bytes(t));
    }
    return head != 0;
}

/* ---- together -------------------------------------------------------------------------------- */

gbs_status gbsi_tempered_take_told(gbsi_tempered *t, gbs_error *err)
{
    size_t n = 0;
    gbsi_tempered_free_told(t);
    if (t->ranks == NULL) {
        return GBS_OK;
    }
    const uint32_t n_ranks = t->ranks->n_ranks;
    t->told.message = gbsi_alloc_array_zero(2 * (size_t)n_ranks, sizeof *t->told.message);
    t->told.start = gbsi_alloc_array(n_ranks, sizeof *t->told.start);
    for (uint32_t rank = 0; t->told.start != NULL && rank < n_ranks; ++rank) {
        t->told.start[rank] = n;
        n += told_bytes(t, rank, true);
    }
    t->told.bytes = gbsi_alloc(n);
    return GBSI_HAVE(err, "states of all ranks", t->told.message, t->told.start, t->told.bytes);
}

void gbsi_tempered_free_told(gbsi_tempered *t)
{
    GBSI_FREE(t->told.message, t->told.start, t->told.bytes);
    t->told = (gbsi_tempered_told){0};
}

gbs_status gbsi_tempered_tell(gbsi_tempered *t, gbs_status moved, gbs_error *err)
{
    const gbs_ranks *ranks = t->ranks;
    const gbsi_tempered_told *told = &t->told;
    const bool redraws = gbsi_tempered_redraws(t);
    bool failed = moved < 0;
    size_t n = 0;
    if (ranks == NULL) {
        return moved;
    }
    gbs_message *out = told->message;
    gbs_message *in = told->message + ranks->n_ranks;
    unsigned char *own = told->bytes + told->start[ranks->rank];
    put_all(t, failed, own);
    for (uint32_t rank = 0; rank < ranks->n_ranks; ++rank) {
        if (rank != ranks->rank) {
            out[n] = (gbs_message){rank, own, told_bytes(t, ranks->rank, redraws)};
            in[n++] =
                (gbs_message){rank, told->bytes + told->start[rank], told_bytes(t, rank, redraws)};
        }
    }
    GBSI_PASS(ranks->begin(ranks->context, out, n, in, n, err));
    GBSI_PASS(ranks->finish(ranks->context, err));
    for (size_t i = 0; i < n; ++i) {
        failed = take_all(t, in[i].rank, in[i].bytes) || failed;
    }
    return failed ? gbsi_ranks_meet(ranks, moved, err) : moved;
}
