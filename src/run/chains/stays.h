/* SPDX-License-Identifier: Apache-2.0 */
/* How long variables of small models stay in one state, where that is long: modes that chains met
 * in few visits hold them so [M8]. Every eighth pass is looked at, and stays that are shorter than
 * GBSI_LONG_STAY looks are not counted. */
#ifndef GBSI_CHAINS_STAYS_H
#define GBSI_CHAINS_STAYS_H

#include <string.h>

#include "chains/executor.h"

#define GBSI_MOST_STAYS 4096u /* slots of a model that is looked at */

typedef struct gbsi_stays {
    uint32_t n_slots; /* 0: stays are not counted */
    size_t n_cells;
    size_t row;         /* lanes of a slot, in all groups of this rank */
    bool begun;         /* `before` holds the states after the last pass */
    uint64_t pass;      /* kept so far */
    size_t *cell;       /* [n_slots + 1] where the cells of each begin in the estimate */
    uint8_t *before;    /* [n_slots][row] states, each of this many bytes as the plan has */
    uint8_t *lasted;    /* [n_slots][row] looks since the last change, at most GBSI_LONG_STAY */
    uint64_t *since;    /* [n_slots][row] the pass of that change, once `lasted` is at its limit */
    gbsi_cell_stays *n; /* [n_cells] of long stays that have ended, in the chains of this rank */
    gbsi_cell_stays *all; /* [n_cells] stays including those that have not ended, in all chains */
} gbsi_stays;

/* @param plan NULL: chains are in a form of their own. */
uint64_t gbsi_stays_bytes(const gbsi_plan *plan, uint32_t n_chains);
/* @param n_whole slots of the whole model, which ranks may share. */
gbs_status gbsi_stays_take(const gbsi_executor *x, uint64_t n_whole, gbsi_stays *stays,
                           gbs_error *err);
void gbsi_stays_free(gbsi_stays *stays); /* what it owns, not the struct */

/* Before and after a pass that is kept. */
void gbsi_stays_begin(const gbsi_executor *x, gbsi_stays *stays);
void gbsi_stays_count(const gbsi_executor *x, gbsi_stays *stays);
/* Sums up stays->all; on all ranks that share the chains. */
gbs_status gbsi_stays_sum_up(const gbsi_executor *x, gbsi_stays *stays, gbs_error *err);

/* Sets the state last seen in a lane. @param at slot times row, plus lane. @param bytes bytes of a
 * state.
 */
static inline void gbsi_stays_set_state(const gbsi_stays *stays, size_t at, uint32_t bytes,
                                        uint16_t state)
{
    if (bytes == 1) {
        stays->before[at] = (uint8_t)state;
    } else {
        memcpy(stays->before + 2 * at, &state, sizeof state);
    }
}

#endif
