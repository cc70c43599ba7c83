/* SPDX-License-Identifier: Apache-2.0 */
/* Generalised arc consistency over the factors with hard zeros (Mackworth 1977, "Consistency in
 * networks of relations", AI 8:99-118). Tables are revised by one sweep over the combinations that
 * remain, and logical factors by counting literals. A Potts factor that forbids equal states is
 * revised when one of its variables has only one state left.
 *
 * A gbsi_propagation says which factors constrain which variables; it is read-only and may be
 * shared. A gbsi_propagator holds domains and, if asked for, a trail. A search calls mark,
 * assign, run and undo in a loop, none of which allocates. Any factor store will do: the user's
 * model while it is conditioned, or a conditioned model while a start is searched for. */
#ifndef GBSI_CONDITION_PROPAGATE_H
#define GBSI_CONDITION_PROPAGATE_H

#include "base/watch.h"
#include "store/factors.h"

typedef struct gbsi_propagation {
    const gbsi_factors *factors; /* borrowed */
    const uint32_t *arity;       /* [n_variables] borrowed */
    uint32_t n_variables;
    size_t *word_start; /* [n_variables + 1] words of each domain */
    size_t n_hard;
    size_t *hard;           /* [n_hard] factors with zeros, ascending */
    size_t *incident_start; /* [n_variables + 1] */
    size_t *incident;       /* places in hard[] of the hard factors of each variable, ascending */
    uint32_t max_scope;     /* largest scope of a hard table */
    size_t max_states;      /* largest sum of arities in the scope of a hard table */
} gbsi_propagation;

/* One word of the bit set of a variable's domain, before and after a change: removed = before &
 * ~after. */
typedef struct gbsi_trail_entry {
    uint32_t variable;
    uint32_t word;
    uint64_t removed;
} gbsi_trail_entry;

typedef struct gbsi_propagator {
    const gbsi_propagation *of; /* borrowed */
    gbsi_watch *watch;          /* borrowed, NULL: never stops; see gbsi_propagator_run() */
    uint64_t *word;             /* state a of v: bit a % 64 of word[word_start[v] + a / 64] */
    uint32_t *size;             /* [n_variables] states left, never 0 */
    size_t *queue;              /* [n_hard] ring of places in hard[] */
    size_t queue_head, queue_length;
    uint8_t *queued;         /* [n_hard] */
    gbsi_trail_entry *trail; /* NULL: not kept */
    size_t trail_length;
    uint32_t *state;    /* scratch of a table sweep: [max_states] states left, in rows */
    uint64_t *support;  /* scratch: [max_states / 64 + max_scope] supported states, in rows */
    size_t *scope_work; /* scratch: [6 * max_scope] */
} gbsi_propagator;

/* @param factors, arity  borrowed, outlive the result; arity by variable id of the store.
 * @param has_zeros [n_factors] as in gbsi_conditioned; NULL: this function finds them.
 * @param watch NULL: never stops. If it stops the work, the result can only be freed. */
gbs_status gbsi_propagation_new(const gbsi_factors *factors, const uint32_t *arity,
                                uint32_t n_variables, const uint8_t *has_zeros, gbsi_watch *watch,
                                gbsi_propagation **propagation, gbs_error *err);
void gbsi_propagation_free(gbsi_propagation *propagation);

/* Makes a propagator with full domains and an empty queue. @param trail whether undo will be used:
 * 16 bytes per state. */
gbs_status gbsi_propagator_new(const gbsi_propagation *propagation, bool trail,
                               gbsi_propagator **propagator, gbs_error *err);
void gbsi_propagator_free(gbsi_propagator *propagator);

bool gbsi_propagator_has(const gbsi_propagator *propagator, uint32_t variable, uint32_t state);
/* Finds the lowest remaining state >= from; GBSI_NONE if no such state remains. For walking a
 * domain. */
uint32_t gbsi_propagator_next(const gbsi_propagator *propagator, uint32_t variable, uint32_t from);

/* Take a state away, or all except one; hard factors of the variable are queued if its domain
 * changed.
 * @return false, and nothing changed, if no state would be left. */
bool gbsi_propagator_remove(gbsi_propagator *propagator, uint32_t variable, uint32_t state);
bool gbsi_propagator_assign(gbsi_propagator *propagator, uint32_t variable, uint32_t state);

/* Queue every hard factor. A first run needs this unless the store is known to be consistent. */
void gbsi_propagator_queue_all(gbsi_propagator *propagator);

/* Revise queued factors to the fixed point.
 * @return SIZE_MAX, or the factor that forbids every combination left: then the queue is empty and
 *         the domains are somewhere on the way: undo, reset or give up. If the watch
 *         stopped, the factor need not be the cause. */
size_t gbsi_propagator_run(gbsi_propagator *propagator);

/* The current length of the trail; undo restores the states removed since then, and empties the
 * queue. */
size_t gbsi_propagator_mark(const gbsi_propagator *propagator);
void gbsi_propagator_undo(gbsi_propagator *propagator, size_t mark);

/* Shared by propagate.c and revise.c: keeps the states of `keep` (words like the domain's) and
 * queues the factors except the one at place `except`; false if no state would be left. */
bool gbsi_propagator_keep(gbsi_propagator *propagator, uint32_t variable, const uint64_t *keep,
                          size_t except);
bool gbsi_propagator_keep_one(gbsi_propagator *propagator, uint32_t variable, uint32_t state,
                              size_t except);
bool gbsi_propagator_drop_one(gbsi_propagator *propagator, uint32_t variable, uint32_t state,
                              size_t except);
/* Revise the factor hard[place] once: afterwards every state left has a support in it. */
bool gbsi_propagator_revise(gbsi_propagator *propagator, size_t place);

#endif
