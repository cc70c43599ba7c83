/* SPDX-License-Identifier: Apache-2.0 */
/* A junction tree that answers many cases: the same variables are observed in other states, the
 * same variables are asked for. Factors are multiplied into the tables of the cliques once; a case
 * then costs the messages between its observed variables and the queried ones [M22].
 *
 * GBSI_CASE_LANES cases are answered side by side. Each takes the same operations whichever cases
 * are beside it. An observed state is a message of zeros and one, as in Lauritzen & Spiegelhalter
 * (1988), JRSS B 50(2):157-224. Messages are scaled by powers of two, which rounds nothing. */
#ifndef GBSI_CASES_CASE_TREE_H
#define GBSI_CASES_CASE_TREE_H

#include "trees/junction_tree.h"

#define GBSI_CASE_LANES 8u

typedef struct gbsi_case_tree gbsi_case_tree;     /* shared by threads once made */
typedef struct gbsi_case_worker gbsi_case_worker; /* the messages of one thread */

/* One variable, or several free variables that are all in the scope of one factor. */
typedef struct gbsi_case_scope {
    const uint32_t *variable; /* [n] the user's, slowest first */
    uint32_t n;
    const size_t *without; /* NULL, or a factor of `whole` over these variables alone, in this
                              order, that is left out of what this scope is told: the distribution
                              is then the derivative of the sum over all states by the factor's
                              entries, in proportion, Darwiche (2003), J ACM 50(3):280-305 */
} gbsi_case_scope;

/* @param watch  NULL, or may stop it: GBS_ERR_STOPPED.
 * @param tree   a junction tree of all of `whole`, for sums; both may be freed afterwards.
 * @param column [n_columns] distinct variables of the user, observed in some cases.
 * @param query  [n_query] sets of variables whose joint distributions are asked for. */
gbs_status gbsi_case_tree_new(const gbsi_conditioned *whole, const gbsi_tree *tree,
                              uint32_t n_columns, const uint32_t *column, uint32_t n_query,
                              const gbsi_case_scope *query, gbsi_watch *watch, gbsi_case_tree **out,
                              gbs_error *err);
void gbsi_case_tree_free(gbsi_case_tree *cases);

/* Multiplications of a batch, at most; bytes of a worker. */
uint64_t gbsi_case_tree_operations(const gbsi_case_tree *cases);
uint64_t gbsi_case_worker_bytes(const gbsi_case_tree *cases);

/* @param like  NULL, or another of the tree, which saves time. @param watch NULL, or may stop it:
 * GBS_ERR_STOPPED. */
gbs_status gbsi_case_worker_new(const gbsi_case_tree *cases, const gbsi_case_worker *like,
                                gbsi_watch *watch, gbsi_case_worker **out, gbs_error *err);
void gbsi_case_worker_free(gbsi_case_worker *worker);

typedef enum gbsi_case_end {
    GBSI_CASE_DONE,
    GBSI_CASE_IMPOSSIBLE, /* no state has positive weight */
    GBSI_CASE_UNSURE,     /* weights too far apart for doubles: answer it in logarithms */
} gbsi_case_end;

typedef struct gbsi_case {
    const uint32_t *state; /* [n_columns] the user's; UINT32_MAX: not observed */
    double *p;             /* [joint states, query by query] out, if done */
    double log_sum;        /* out: ln of the sum over all states, if done */
    gbsi_case_end end;     /* out */
} gbsi_case;

/* Answers n <= GBSI_CASE_LANES cases.
 * @param watch NULL; spent if `spends`, else only asked. Once stopped, answers are undefined. */
void gbsi_case_batch(gbsi_case_worker *worker, gbsi_case *cases, uint32_t n, gbsi_watch *watch,
                     bool spends);

#endif
