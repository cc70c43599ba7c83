/* SPDX-License-Identifier: Apache-2.0 */
/* A share that is being made, before its schedule and the lists of values to send exist: private to
 * src/run/ranks. */
#ifndef GBSI_RANKS_MAKING_H
#define GBSI_RANKS_MAKING_H

#include "ranks/share.h"

typedef struct gbsi_making {
    gbs_share *share;           /* facts, rank; all of its variables, factors and slots */
    const gbsi_schedule *whole; /* batches and pieces of the whole; borrowed */
    uint32_t *owner;            /* [share variables] the ranks that own them */
    uint32_t *slot;             /* [share variables] slot of each variable in the share */
    uint64_t *seen;             /* [n_seen] own variable << 32 | rank that sees it, ascending */
    size_t n_seen, seen_capacity;
    uint64_t *event;    /* [n_events] place << 32 | variable, of own ones and halo, ascending */
    uint32_t *position; /* [n_events] of gbsi_schedule */
    size_t n_events;
    uint32_t *index_of;               /* [n_ranks] among the neighbours; GBSI_NONE */
    size_t out_capacity, in_capacity; /* of lists */
    size_t n_out, n_in;
} gbsi_making;

/* A new share with the model of no variables. */
gbs_status gbsi_making_init(gbsi_making *m, const gbsi_share_facts *facts, uint32_t rank,
                            gbs_error *err);
/* Allocates the arrays with one entry per variable of the share, except those of the part. */
gbs_status gbsi_making_reserve(gbsi_making *m, uint32_t n, gbs_error *err);
gbs_status gbsi_making_reserve_events(gbsi_making *m, size_t n, gbs_error *err);
gbs_status gbsi_making_see(gbsi_making *m, uint32_t u, uint32_t rank, gbs_error *err);
/* Makes the neighbours, the schedule and the lists from the other members. @param out the share; m
 * gives it up. */
gbs_status gbsi_making_finish(gbsi_making *m, gbs_share **out, gbs_error *err);
void gbsi_making_free(gbsi_making *m);

#endif
