/* SPDX-License-Identifier: Apache-2.0 */
/* A junction tree that answers many cases. All cases observe the same variables, in different
 * states, and ask for the same variables. Factors are multiplied into the tables of the cliques
 * once. A case then takes only the messages between observed and queried variables [M22].
 *
 * GBSI_CASE_LANES cases are answered side by side. The operations for a case do not depend on the
 * other cases that are answered at the same time. An observed state enters as a message with a 1
 * for this state and 0 for all other states, as in Lauritzen & Spiegelhalter (1988), JRSS B
 * 50(2):157-224. Messages are scaled by powers of two, so that scaling causes no rounding. */
#ifndef GBSI_CASES_CASE_TREE_H
#define GBSI_CASES_CASE_TREE_H

#include "trees/junction_tree.h"

#define GBSI_CASE_LANES 8u

typedef struct gbsi_case_tree gbsi_case_tree;     /* a finished tree, which threads share */
typedef struct gbsi_case_worker gbsi_case_worker; /* the messages of one thread */

/* The variables of a query: one variable, or several free variables in the scope of one factor. */
typedef struct gbsi_case_scope {
    const uint32_t *variable; /* [n] variables in the user's numbering; in joint states, the first
                                 varies slowest */
    uint32_t n;
    const size_t
        *without; /* NULL, or a factor of `whole` that is left out of the answer. The scope of this
                     factor must be the variables of the query in the same order. The answer is then
                     proportional to the derivatives of the sum over all states by the factor's
                     entries (Darwiche 2003, J ACM 50(3):280-305). */
} gbsi_case_scope;

/* @param watch  borrowed or NULL; may stop the call, which then returns GBS_ERR_STOPPED. @param
 * tree   a junction tree of all of `whole`, without maximised variables. `tree` and `whole` may be
 * freed afterwards.
 * @param column [n_columns] distinct user variables that cases may observe.
 * @param query  [n_query] sets of variables whose joint distributions are asked for. */
gbs_status gbsi_case_tree_new(const gbsi_conditioned *whole, const gbsi_tree *tree,
                              uint32_t n_columns, const uint32_t *column, uint32_t n_query,
                              const gbsi_case_scope *query, gbsi_watch *watch, gbsi_case_tree **out,
                              gbs_error *err);
void gbsi_case_tree_free(gbsi_case_tree *cases);

/* gbsi_case_tree_operations() returns the largest number of multiplications of a batch, and
 * gbsi_case_worker_bytes() the bytes of a worker. */
uint64_t gbsi_case_tree_operations(const gbsi_case_tree *cases);
uint64_t gbsi_case_worker_bytes(const gbsi_case_tree *cases);

/* @param like  NULL, or another worker of the tree; to save time, messages that do not depend on
 * cases are copied from this worker.
 * @param watch borrowed or NULL; may stop the call, which then returns GBS_ERR_STOPPED. */
gbs_status gbsi_case_worker_new(const gbsi_case_tree *cases, const gbsi_case_worker *like,
                                gbsi_watch *watch, gbsi_case_worker **out, gbs_error *err);
void gbsi_case_worker_free(gbsi_case_worker *worker);

typedef enum gbsi_case_end {
    GBSI_CASE_DONE,
    GBSI_CASE_IMPOSSIBLE, /* no state has positive weight */
    GBSI_CASE_UNSURE,     /* weights are too far apart for doubles; the case must be answered in
                             logarithms */
} gbsi_case_end;

typedef struct gbsi_case {
    const uint32_t *state; /* [n_columns] state of each column's variable, in the user's numbering;
                              UINT32_MAX: the variable is not observed in this case */
    double *p; /* out, if `end` is GBSI_CASE_DONE: probabilities of the joint states of each query,
                  one query after the other */
    double log_sum;    /* out: ln of the sum over all states, if `end` is GBSI_CASE_DONE */
    gbsi_case_end end; /* out: how the case ended */
} gbsi_case;

/* Answers n <= GBSI_CASE_LANES cases.
 * @param watch borrowed or NULL. The batch adds steps to the watch if `spends` is set; otherwise it
 * only checks whether the watch has stopped. After a stop, answers are undefined. */
void gbsi_case_batch(gbsi_case_worker *worker, gbsi_case *cases, uint32_t n, gbsi_watch *watch,
                     bool spends);

#endif
