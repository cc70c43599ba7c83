/* SPDX-License-Identifier: Apache-2.0 */
/* How often variables have changed, over all chains, from one pass that is kept to the next [M9].
 * Counts stop at GBSI_ENOUGH_MOVES, and what has moved so often is not looked at again. */
#ifndef GBSI_CHAINS_MOVES_H
#define GBSI_CHAINS_MOVES_H

#include "chains/executor.h"

#define GBSI_ENOUGH_MOVES 20u

typedef struct gbsi_moves {
    uint32_t n_slots; /* 0: changes are not counted */
    uint8_t *n;       /* [n_slots] changes in the chains of this rank */
    uint32_t n_slow;
    uint32_t *slow;  /* [n_slow] slots with fewer than enough, ascending */
    size_t row;      /* bytes of a slot in all chains */
    uint8_t *before; /* [n_slow][row] states of slow variables after the last pass */
    bool begun;      /* `before` holds them */
    uint8_t *still;  /* [n_slots] 1: hardly moved, as still.c found when last asked */
} gbsi_moves;

/* @param plan NULL: chains are in a form of their own. */
uint64_t gbsi_moves_bytes(const gbsi_plan *plan, uint32_t n_chains);
/* Takes the moves of the executor's chains, which must have a plan. */
gbs_status gbsi_moves_take(const gbsi_executor *x, gbsi_moves *moves, gbs_error *err);
void gbsi_moves_free(gbsi_moves *moves); /* frees the members, not the struct itself */

/* Before and after a pass that is kept. */
void gbsi_moves_begin(const gbsi_executor *x, gbsi_moves *moves);
void gbsi_moves_count(const gbsi_executor *x, gbsi_moves *moves);

/* Between two passes: saves and loads the counts, by all ranks. @param ranks NULL: there is one
 * process. */
gbs_status gbsi_moves_save(const gbsi_moves *moves, const gbsi_executor *x, const gbsi_sink *sink,
                           gbs_error *err);
gbs_status gbsi_moves_load(gbsi_moves *moves, const gbsi_executor *x, const gbsi_source *source,
                           gbs_error *err);
/* The counts of the chains of all ranks; where ranks share the model, of the slots of this one.
 * @param n [n_slots] out. */
gbs_status gbsi_moves_of_all(const gbsi_moves *moves, const gbsi_executor *x, uint8_t *n,
                             gbs_error *err);

struct gbsi_engine;
struct gbsi_estimates;
struct gbsi_report;
struct gbsi_shared;
/* still.c: finds the variables that hardly moved and marks them in moves.still;
 * report.n_hardly_moved. Called on all ranks. */
gbs_status gbsi_run_find_still(const struct gbsi_shared *shared, const struct gbsi_engine *engine,
                               struct gbsi_estimates *estimates, struct gbsi_report *report,
                               gbs_error *err);
/* Takes the marks of slots away whose states but one are proved to be rarer together than the
 * target. @param mark [slots] in, out. @param n_marked likewise. */
gbs_status gbsi_run_leave_settled(const struct gbsi_engine *engine,
                                  const struct gbsi_report *report, uint8_t *mark,
                                  uint32_t *n_marked, gbs_error *err);

#endif
