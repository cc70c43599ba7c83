/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the factors, variables, slots and places that each rank holds, and the ranks that see each
 * variable. With these lists, the time for making a share is proportional to the size of the share.
 */
#ifndef GBSI_RANKS_DEAL_H
#define GBSI_RANKS_DEAL_H

#include "condition/condition.h"
#include "plan/plan.h"

/* The kinds of objects that are dealt out to ranks. A rank holds all factors of its own variables,
 * all variables of these factors, and the slots and places of these variables. */
typedef enum gbsi_dealt {
    GBSI_DEALT_FACTORS,
    GBSI_DEALT_VARIABLES,
    GBSI_DEALT_SLOTS,
    GBSI_DEALT_PLACES,
    GBSI_N_DEALT,
} gbsi_dealt;

typedef struct gbsi_deal {
    uint32_t n_ranks;
    uint64_t *seen; /* [n_seen] (variable << 32) | rank that sees the variable and does not own it,
                       ascending */
    size_t n_seen, seen_capacity;
    uint8_t *is_seen; /* [n_variables] 1 if a rank other than the owner sees the variable */
    size_t *start[GBSI_N_DEALT];       /* [n_ranks + 1] index of the first series of each rank */
    gbsi_series *series[GBSI_N_DEALT]; /* the series of all ranks, one rank after the other, in
                                          ascending order within each rank */
} gbsi_deal;

/* The whole model whose objects are dealt out; borrowed for the call. */
typedef struct gbsi_deal_source {
    const gbsi_conditioned *part;
    const gbsi_plan *plan;
    const gbsi_schedule *schedule; /* schedule that must have a list of slots */
    const uint32_t
        *owner; /* [part->n_variables] number of the rank that owns each variable, below n_ranks */
    uint32_t n_ranks;
} gbsi_deal_source;

/* @param deal zeroed. */
gbs_status gbsi_deal_init(gbsi_deal *deal, const gbsi_deal_source *source, gbs_error *err);
void gbsi_deal_free(gbsi_deal *deal);

static inline gbsi_series_list gbsi_deal_of(const gbsi_deal *deal, gbsi_dealt what, uint32_t rank)
{
    const size_t first = deal->start[what][rank];
    return (gbsi_series_list){deal->series[what] + first, deal->start[what][rank + 1] - first};
}

/* Sorts numbers and removes repeated numbers. @return the number of distinct numbers. */
size_t gbsi_sort_once(uint64_t *number, size_t n);

/* Index in `seen` of the first entry of a variable; n_seen if only the owner sees the variable. */
size_t gbsi_deal_first_seen(const gbsi_deal *deal, uint32_t variable);

#endif
