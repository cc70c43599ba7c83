/* SPDX-License-Identifier: Apache-2.0 */
/* Generalised arc consistency over the factors with hard zeros (Mackworth 1977, "Consistency in
 * networks of relations", AI 8:99-118). A table is revised by one pass over the remaining
 * combinations of states, and a logical factor by counting literals. A Potts factor that forbids
 * equal states is revised when one of its variables has only one state left.
 *
 * A gbsi_propagation says which factors constrain which variables; the structure is read-only
 * and may be shared. A gbsi_propagator holds domains and, if asked for, a trail. A search calls
 * mark, assign, run and undo in a loop; none of these functions allocates memory. The factors
 * may be those of the user's model during conditioning, or those of a conditioned model during
 * the search for a start. */
#ifndef GBSI_CONDITION_PROPAGATE_H
#define GBSI_CONDITION_PROPAGATE_H

#include "base/watch.h"
#include "store/factors.h"

typedef struct gbsi_propagation {
    const gbsi_factors *factors; /* borrowed */
    const uint32_t *arity;       /* [n_variables] numbers of states, borrowed */
    uint32_t n_variables;
    size_t *word_start; /* [n_variables + 1] offset of each variable's domain, in words */
    size_t n_hard;
    size_t *hard;           /* [n_hard] numbers of the factors with zeros, ascending */
    size_t *incident_start; /* [n_variables + 1] offsets of the variables in `incident` */
    size_t *incident;       /* the hard factors of each variable, as places in hard[], ascending */
    uint32_t max_scope;     /* largest scope of a hard table */
    size_t max_states;      /* largest sum of arities in the scope of a hard table */
} gbsi_propagation;

/* One entry of the trail: the states removed from one word of the bit set of a variable's domain.
 */
typedef struct gbsi_trail_entry {
    uint32_t variable;
    uint32_t word;
    uint64_t removed;
} gbsi_trail_entry;

typedef struct gbsi_propagator {
    const gbsi_propagation *of; /* borrowed */
    gbsi_watch *watch; /* borrowed; NULL if no watch stops the work; see gbsi_propagator_run() */
    uint64_t *word;    /* bit sets of remaining states: state a of v is bit a % 64 of
                          word[word_start[v] + a / 64] */
    uint32_t *size;    /* [n_variables] number of remaining states, never 0 */
    size_t *queue; /* [n_hard] queue of the factors to revise: ring buffer of places in hard[] */
    size_t queue_head, queue_length;
    uint8_t *queued;         /* [n_hard] 1 if the factor is in the queue */
    gbsi_trail_entry *trail; /* NULL if no trail is kept */
    size_t trail_length;
    uint32_t *state;    /* scratch for revising a table: [max_states] remaining states, one row per
                           variable */
    uint64_t *support;  /* scratch for revising a table: [max_states / 64 + max_scope] bit sets of
                           supported states, one row per variable */
    size_t *scope_work; /* scratch: [6 * max_scope] */
} gbsi_propagator;

/* @param factors borrowed; must outlive the result.
 * @param arity [n_variables of the factors] borrowed; must outlive the result.
 * @param has_zeros [n_factors] as in gbsi_conditioned; if NULL, this function searches for the
 * factors with zeros.
 * @param watch NULL if nothing may stop the work. If the watch stops the work, the result can only
 * be freed. */
gbs_status gbsi_propagation_new(const gbsi_factors *factors, const uint32_t *arity,
                                uint32_t n_variables, const uint8_t *has_zeros, gbsi_watch *watch,
                                gbsi_propagation **propagation, gbs_error *err);
void gbsi_propagation_free(gbsi_propagation *propagation);

/* Makes a propagator with full domains and an empty queue. @param trail whether to keep a trail,
 * which undo needs; a trail takes 16 bytes per state. */
gbs_status gbsi_propagator_new(const gbsi_propagation *propagation, bool trail,
                               gbsi_propagator **propagator, gbs_error *err);
void gbsi_propagator_free(gbsi_propagator *propagator);

bool gbsi_propagator_has(const gbsi_propagator *propagator, uint32_t variable, uint32_t state);
/* Returns the lowest remaining state >= from, or GBSI_NONE if no such state remains. Callers use
 * this function to walk through a domain. */
uint32_t gbsi_propagator_next(const gbsi_propagator *propagator, uint32_t variable, uint32_t from);

/* Remove a state, or all states except one. Hard factors of the variable are queued if its domain
 * changed.
 * @return false, with nothing changed, if no state would remain. */
bool gbsi_propagator_remove(gbsi_propagator *propagator, uint32_t variable, uint32_t state);
bool gbsi_propagator_assign(gbsi_propagator *propagator, uint32_t variable, uint32_t state);

/* Queues every hard factor. A first run needs this call unless the factors are known to be
 * consistent. */
void gbsi_propagator_queue_all(gbsi_propagator *propagator);

/* Revises queued factors to the fixed point.
 * @return SIZE_MAX, or the factor that forbids all remaining combinations. If a factor is returned,
 * the queue is empty and the domains are not at the fixed point: the caller must call undo or
 * reset, or give up. If the watch stopped the work, the factor need not be the cause. */
size_t gbsi_propagator_run(gbsi_propagator *propagator);

/* Returns the current length of the trail. Undo takes such a length, restores all states that were
 * removed since the trail had this length, and empties the queue. */
size_t gbsi_propagator_mark(const gbsi_propagator *propagator);
void gbsi_propagator_undo(gbsi_propagator *propagator, size_t mark);

/* Keeps only the states of `keep`, whose words are arranged like the domain's, and queues the
 * factors of the variable except the one at place `except`. Both propagate.c and revise.c use this
 * function.
 * @return false if no state would remain. */
bool gbsi_propagator_keep(gbsi_propagator *propagator, uint32_t variable, const uint64_t *keep,
                          size_t except);
bool gbsi_propagator_keep_one(gbsi_propagator *propagator, uint32_t variable, uint32_t state,
                              size_t except);
bool gbsi_propagator_drop_one(gbsi_propagator *propagator, uint32_t variable, uint32_t state,
                              size_t except);
/* Revises the factor hard[place] once; afterwards every remaining state of its variables has a
 * support in the factor. */
bool gbsi_propagator_revise(gbsi_propagator *propagator, size_t place);

#endif
