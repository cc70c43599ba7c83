/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how often variables have changed, over all chains, between successive passes whose draws
 * are kept [M9]. Counts stop at GBSI_ENOUGH_MOVES; a variable that has reached this limit is no
 * longer compared. */
#ifndef GBSI_CHAINS_MOVES_H
#define GBSI_CHAINS_MOVES_H

#include "chains/executor.h"

#define GBSI_ENOUGH_MOVES 20u

typedef struct gbsi_moves {
    uint32_t n_slots; /* 0 if changes are not counted */
    uint8_t *n;       /* [n_slots] number of changes in the chains of this rank */
    uint32_t n_slow;
    uint32_t *slow;  /* [n_slow] slots with fewer than GBSI_ENOUGH_MOVES changes, ascending */
    size_t row;      /* bytes of the states of a slot in all chains */
    uint8_t *before; /* [n_slow][row] states of the slots in `slow` after the last pass */
    bool begun;      /* whether `before` holds states */
    uint8_t *still;  /* [n_slots] 1 if the slot hardly moved, as gbsi_run_find_still() last found */
} gbsi_moves;

/* @param plan NULL if the pass keeps states in its own form. */
uint64_t gbsi_moves_bytes(const gbsi_plan *plan, uint32_t n_chains);
/* Takes memory for the moves of the executor's chains, which must have a plan. */
gbs_status gbsi_moves_take(const gbsi_executor *x, gbsi_moves *moves, gbs_error *err);
void gbsi_moves_free(gbsi_moves *moves); /* frees the members, not the struct itself */

/* Called before and after a pass whose draws are kept. */
void gbsi_moves_begin(const gbsi_executor *x, gbsi_moves *moves);
void gbsi_moves_count(const gbsi_executor *x, gbsi_moves *moves);

/* Save and load the counts between two passes. Called on all ranks. @param ranks NULL if there is
 * one process. */
gbs_status gbsi_moves_save(const gbsi_moves *moves, const gbsi_executor *x, const gbsi_sink *sink,
                           gbs_error *err);
gbs_status gbsi_moves_load(gbsi_moves *moves, const gbsi_executor *x, const gbsi_source *source,
                           gbs_error *err);
/* Adds up the counts of the chains of all ranks. If ranks share the model, only slots of this rank
 * are counted. @param n [n_slots] out. */
gbs_status gbsi_moves_of_all(const gbsi_moves *moves, const gbsi_executor *x, uint8_t *n,
                             gbs_error *err);

struct gbsi_engine;
struct gbsi_estimates;
struct gbsi_report;
struct gbsi_shared;
/* still.c: finds the variables that hardly moved, marks them in moves.still, and counts them in the
 * report. Called on all ranks. */
gbs_status gbsi_run_find_still(const struct gbsi_shared *shared, const struct gbsi_engine *engine,
                               struct gbsi_estimates *estimates, struct gbsi_report *report,
                               gbs_error *err);
/* Unmarks slots that have one almost certain state, which means a proof that the total probability
 * of their other states is at most the target error. @param mark [slots] in and out: 1 if the slot
 * hardly moved. @param n_marked in and out: number of marks. */
gbs_status gbsi_run_leave_settled(const struct gbsi_engine *engine,
                                  const struct gbsi_report *report, uint8_t *mark,
                                  uint32_t *n_marked, gbs_error *err);

#endif
