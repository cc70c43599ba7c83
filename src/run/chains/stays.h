/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long variables of small models stay in one state, if they stay long. A mode that the
 * chains visit only a few times shows itself by variables that stay for long [M8]. States are
 * compared after every eighth pass; each comparison is a look. Stays shorter than GBSI_LONG_STAY
 * looks are not counted.
 */
#ifndef GBSI_CHAINS_STAYS_H
#define GBSI_CHAINS_STAYS_H

#include <string.h>

#include "chains/executor.h"

#define GBSI_MOST_STAYS 4096u /* largest number of slots of a model whose stays are measured */

typedef struct gbsi_stays {
    uint32_t n_slots; /* number of slots; 0 if stays are not counted */
    size_t n_cells;
    size_t row;    /* number of lanes in all groups of this rank; each slot has this many states */
    bool begun;    /* whether `before` holds the states after the last pass */
    uint64_t pass; /* number of passes so far whose draws were kept */
    size_t *cell;  /* [n_slots + 1] index of the first cell of each slot among the cells of the
                      estimate */
    /* [n_slots][row] states at the last look; a state has as many bytes as in the states of the
     * chains. */
    uint8_t *before;
    /* [n_slots][row] number of looks since the last change, at most GBSI_LONG_STAY. */
    uint8_t *lasted;
    /* [n_slots][row] number of the pass of the last change, set once `lasted` has reached its
     * limit. */
    uint64_t *since;
    gbsi_cell_stays *n; /* [n_cells] long stays that have ended, in the chains of this rank */
    /* [n_cells] long stays in all chains, including those that have not ended. */
    gbsi_cell_stays *all;
} gbsi_stays;

/* @param plan NULL if the pass keeps states in its own form. */
uint64_t gbsi_stays_bytes(const gbsi_plan *plan, uint32_t n_chains);
/* @param n_whole number of slots of the whole model, which ranks may share. */
gbs_status gbsi_stays_take(const gbsi_executor *x, uint64_t n_whole, gbsi_stays *stays,
                           gbs_error *err);
void gbsi_stays_free(gbsi_stays *stays); /* frees the members, not the struct itself */

/* Called before and after a pass whose draws are kept. */
void gbsi_stays_begin(const gbsi_executor *x, gbsi_stays *stays);
void gbsi_stays_count(const gbsi_executor *x, gbsi_stays *stays);
/* Sums up the stays on all ranks that share the chains; the sums are in stays->all. Every rank must
 * call the function. */
gbs_status gbsi_stays_sum_up(const gbsi_executor *x, gbsi_stays *stays, gbs_error *err);

/* Sets the state that was seen last in a lane of a slot. @param at slot number times stays->row,
 * plus the number of the lane. @param bytes number of bytes of one state. */
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
