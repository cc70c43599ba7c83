/* SPDX-License-Identifier: Apache-2.0 */
/* Number of codes that a slot can have, from its factors and neighbours, and whether the sum of its
 * neighbours determines its conditional. The sizes of keys and of their tables follow from these
 * two answers. */
#ifndef GBSI_DRAW_KEY_CODES_H
#define GBSI_DRAW_KEY_CODES_H

#include "draw/surroundings.h"
#include "plan/draw.h"

typedef enum gbsi_by_sum { GBSI_SUM_UNKNOWN, GBSI_SUM_NO, GBSI_SUM_YES } gbsi_by_sum;

typedef struct gbsi_key_maker {
    const gbsi_draw_job *job;
    const gbsi_plan *plan;
    int scheme;            /* gbs_keys_kind */
    gbsi_surroundings own; /* surroundings that the maker found itself; empty if the caller lent its
                              surroundings */
    const gbsi_conditionals *conditionals; /* borrowed, or those of `own` */
    /* neighbours by slot; NULL for keys COMPLETE, which have no links */
    const gbsi_context *context;
    void *state;      /* [n_slots] scratch, all 0 between uses */
    double *logw;     /* [max_arity] */
    double *coupling; /* [n_slots] scratch, all 0 between uses */
    uint64_t n_looks; /* for tests: number of factors that were read so far */
    /* [n_slots] gbsi_by_sum: whether the sum of the neighbours determines the conditional;
     * GBSI_SUM_UNKNOWN until asked */
    uint8_t *by_sum;
    uint64_t most_codes;
    uint64_t whole_codes; /* number of states of the whole model; GBSI_MANY_CODES if 2^63 or more */
} gbsi_key_maker;

/* The object must not be moved while it is in use. @param around factors and neighbours of the
 * plan's slots, borrowed; NULL if the maker must find them itself. */
gbs_status gbsi_key_maker_new(const gbsi_draw_job *job, int scheme, const gbsi_surroundings *around,
                              gbsi_key_maker *m, gbs_error *err);
void gbsi_key_maker_free(gbsi_key_maker *m);

/* Number of neighbours whose states form the key of a slot. */
size_t gbsi_key_links(const gbsi_key_maker *m, uint32_t slot);

void gbsi_key_maker_put(const gbsi_key_maker *m, uint32_t slot, uint32_t state);
gbsi_view gbsi_key_maker_view(const gbsi_key_maker *m);

/* Number of codes that a dense table of a slot would have. @param sum out: whether codes are sums
 * of neighbours. @param sign [links] out, may be NULL: for sums, 1 in the low bit if the neighbour
 * counts in state 0, else 0. */
uint64_t gbsi_key_codes(gbsi_key_maker *m, uint32_t slot, bool *sum, uint8_t *sign);

#endif
