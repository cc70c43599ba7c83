/* SPDX-License-Identifier: Apache-2.0 */
/* A share that is not finished: its schedule and its lists of values to send are still missing;
 * used only in src/run/ranks. */
#ifndef GBSI_RANKS_MAKING_H
#define GBSI_RANKS_MAKING_H

#include "ranks/share.h"

typedef struct gbsi_making {
    gbs_share *share; /* the share, whose facts, rank, variables, factors and slots are set */
    const gbsi_schedule
        *whole;      /* batches and pieces of the schedule of the whole model; borrowed */
    uint32_t *owner; /* [share variables] the rank that owns each variable */
    uint32_t *slot;  /* [share variables] slot of each variable in the share */
    uint64_t *seen;  /* [n_seen] (own variable << 32) | rank that sees the variable, ascending */
    size_t n_seen, seen_capacity;
    uint64_t *event; /* [n_events] place << 32 | variable, for the updates of own variables and of
                        variables of the halo, ascending */
    uint32_t *position; /* [n_events] gbsi_schedule.position of each update */
    size_t n_events;
    uint32_t *index_of; /* [n_ranks] index of each rank in `neighbour`, or GBSI_NONE */
    size_t out_capacity, in_capacity; /* numbers of entries for which the lists have memory */
    size_t n_out, n_in;
} gbsi_making;

/* Makes a new share, whose model has no variables. */
gbs_status gbsi_making_init(gbsi_making *m, const gbsi_share_facts *facts, uint32_t rank,
                            gbs_error *err);
/* Allocates the arrays with one entry per variable of the share, except the arrays of the part. */
gbs_status gbsi_making_reserve(gbsi_making *m, uint32_t n, gbs_error *err);
gbs_status gbsi_making_reserve_events(gbsi_making *m, size_t n, gbs_error *err);
gbs_status gbsi_making_see(gbsi_making *m, uint32_t u, uint32_t rank, gbs_error *err);
/* Makes the neighbours, the schedule and the lists from the other members. @param out the finished
 * share, which `m` no longer owns. */
gbs_status gbsi_making_finish(gbsi_making *m, gbs_share **out, gbs_error *err);
void gbsi_making_free(gbsi_making *m);

#endif
