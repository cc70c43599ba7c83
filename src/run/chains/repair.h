/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a state that violates hard zeros into a state that violates none. Variables that share a
 * hard factor belong to one component, and each component is searched separately. The first method
 * assigns one variable after the other, keeps the hard factors arc consistent, refutes decisions
 * that fail, and restarts after a limited number of backtracks. The second method is a random walk
 * (Balint & Schoening 2012, SAT 2012, LNCS 7317:16-29). If both fail, hard parities are solved by
 * elimination (satisfy/parity.h); the last method is a search that learns clauses
 * (satisfy/satisfy.h). */
#ifndef GBSI_CHAINS_REPAIR_H
#define GBSI_CHAINS_REPAIR_H

#include "base/watch.h"
#include "condition/condition.h"
#include "satisfy/satisfy.h"

typedef struct gbsi_repair gbsi_repair;

typedef enum gbsi_repaired {
    GBSI_REPAIRED,   /* no hard factor of the component is violated */
    GBSI_UNREPAIRED, /* the search gave up; x holds the last attempt */
    GBSI_NO_STATE,   /* the search was complete and showed that no state has positive weight */
} gbsi_repaired;

/* @param model borrowed. @param watch borrowed; NULL if the search is never stopped. Once the watch
 * has stopped, the remaining components are not changed. */
gbs_status gbsi_repair_new(const gbsi_conditioned *model, uint64_t seed, gbsi_watch *watch,
                           gbsi_repair **repair, gbs_error *err);
void gbsi_repair_free(gbsi_repair *repair);

uint32_t gbsi_repair_n_components(const gbsi_repair *repair);

/* Lists up to n violated factors of a component in ascending order. @param factor [n], out. @return
 * the number of factors listed. */
uint32_t gbsi_repair_violated(const gbsi_repair *repair, uint32_t component, const uint32_t *x,
                              size_t *factor, uint32_t n);

/* Gives the variables of a component new states, which depend only on the model, the seed, `chain`
 * and x.
 * @param x [n_variables] free states, in and out. @param n_repairs in and out: number of values
 * tried; the function adds its own. */
gbsi_repaired gbsi_repair_component(gbsi_repair *repair, uint32_t chain, uint32_t component,
                                    uint32_t *x, uint64_t *n_repairs);

/* Gives the variables of a component the states that solve its hard parities, if it has no other
 * hard factors. Otherwise takes the states that a search with learnt clauses finds, or that longer
 * random walks find if a first part of this search decides nothing. The states depend only
 * on the model, the chain, and x. Once the search has proved that no state exists, each later call
 * gives this result.
 * @param x as in gbsi_repair_component().
 * @return GBS_STOPPED if the watch stopped the search. */
gbs_status gbsi_repair_learn(gbsi_repair *repair, uint32_t chain, uint32_t component, uint32_t *x,
                             uint64_t *n_repairs, gbsi_repaired *result, gbs_error *err);

/* Returns whether some call of gbsi_repair_learn() gave the state of the first search, because a
 * search near x found none within its limit. */
bool gbsi_repair_repeats(const gbsi_repair *repair);

/* Finds factors of a component that contradict one another. @param set as in
 * gbsi_find_conflict_set(). */
gbs_status gbsi_repair_contradiction(const gbsi_repair *repair, uint32_t component,
                                     gbsi_conflict_set *set, gbs_error *err);

#endif
