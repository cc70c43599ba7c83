/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a state that hard zeros allow, or proves that none exists. The search assigns literals,
 * propagates the hard factors, and learns a clause from every conflict (Marques-Silva & Sakallah
 * 1999, "GRASP", IEEE Trans. Computers 48:506-521; Moskewicz, Madigan, Zhao, Zhang & Malik 2001,
 * "Chaff", DAC-38:530-535).
 *
 * The search is deterministic: it counts operations and reads no clock, except through the watch,
 * which can only stop the search. */
#ifndef GBSI_SATISFY_SATISFY_H
#define GBSI_SATISFY_SATISFY_H

#include "base/watch.h"
#include "condition/condition.h"

/* The variables and the hard factors of a search. */
typedef struct gbsi_hard_part {
    const gbsi_factors *factors;
    const uint32_t *arity; /* [variables of the store] numbers of states */
    const size_t *factor;  /* [n_factors] numbers of the factors that the state must not violate */
    size_t n_factors;
    const uint32_t *variable; /* [n_variables] all variables of these factors, each once */
    uint32_t n_variables;
    uint32_t *number; /* [variables of the store] scratch; each call overwrites the elements of
                         `variable` */
} gbsi_hard_part;

typedef enum gbsi_satisfied {
    GBSI_SATISFIED,    /* x violates no factor */
    GBSI_CONTRADICTED, /* no state violates no factor */
    GBSI_UNDECIDED,    /* the limit or the watch ended the search */
} gbsi_satisfied;

/* The search with its learnt clauses. */
typedef struct gbsi_satisfier gbsi_satisfier;

/* Prepares a search, and searches for a first state. Later searches of gbsi_satisfier_draw() start
 * with the clauses that this search has learnt.
 * @param part the arrays are borrowed, and must outlive the result.
 * @param watch NULL if only the limit ends the search.
 * @param limit number of operations after which the search gives up. @param result out.
 * @return GBS_ERR_MEMORY or GBS_ERR_LIMIT if memory is used up. */
gbs_status gbsi_satisfier_new(const gbsi_hard_part *part, gbsi_watch *watch, uint64_t limit,
                              gbsi_satisfier **satisfier, gbsi_satisfied *result, gbs_error *err);
void gbsi_satisfier_free(gbsi_satisfier *satisfier);

/* Goes on with the search for a first state that a limit ended. @param limit as before: number of
 * operations of all parts of the search together. */
gbs_status gbsi_satisfier_continue(gbsi_satisfier *satisfier, uint64_t limit,
                                   gbsi_satisfied *result, gbs_error *err);

/* Searches for a state near x: each decision takes the state of x if this state is still possible.
 * The result depends on the part and on x, not on earlier calls. If the search gives up, x becomes
 * the first state. The first search must have found a state.
 * @param x [variables of the store] in and out: states of the part's variables.
 * @param own out: whether the search found a state, so that x is not the first state.
 * @return GBS_STOPPED, with x unchanged, if the watch stopped the search. */
gbs_status gbsi_satisfier_draw(gbsi_satisfier *satisfier, uint64_t limit, uint32_t *x, bool *own,
                               gbs_error *err);

/* Returns the number of operations of all searches until now. */
uint64_t gbsi_satisfier_spent(const gbsi_satisfier *satisfier);

/* A set of hard factors that no state satisfies. */
typedef struct gbsi_conflict_set {
    size_t *factor; /* [n] ascending; NULL if none was found within the limit */
    size_t n;
    bool minimal; /* whether each factor is needed: without it, some state satisfies the others */
} gbsi_conflict_set;

/* Finds factors that contradict one another, in a part for which a search gave GBSI_CONTRADICTED.
 * If parities alone contradict one another, elimination (parity.h) gives the set. Otherwise the
 * proof of the contradiction gives a first set. Deletion then removes factors without which a
 * contradiction remains (Chinneck & Dravnieks 1991, ORSA J. Computing 3:157-168). The result is
 * minimal, but need not be the smallest set.
 * @param limit number of operations of all searches together.
 * @param set out: the caller must free the array `factor`; `n` is 0 if no set was found. */
gbs_status gbsi_find_conflict_set(const gbsi_hard_part *part, gbsi_watch *watch, uint64_t limit,
                                  gbsi_conflict_set *set, gbs_error *err);

/* Appends a text such as ", factor 12 (a, b, c)" to a list. @param size of `list`, in bytes. */
void gbsi_append_factor(const gbsi_conditioned *model, size_t factor, char *list, size_t size);

/* Fails with a message like "WHAT: 3 factors contradict one another, and each of them is needed for
 * the contradiction: factor 0 (a, b), ...". The message is `what` alone if the set is empty.
 * @return GBS_ERR_IMPOSSIBLE. */
gbs_status gbsi_fail_contradiction(const gbsi_conditioned *model, const gbsi_conflict_set *set,
                                   const char *what, gbs_error *err);

/* Fails because a model has no state of positive weight. The message names factors that contradict
 * one another, if they are found within a few milliseconds' worth of operations.
 * @return GBS_ERR_IMPOSSIBLE. */
gbs_status gbsi_impossible(const gbsi_conditioned *model, gbs_error *err);

#endif
