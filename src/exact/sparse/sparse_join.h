/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the states of a clique that no operand makes impossible, in lexicographic order. The method
 * is a join of prefix trees that proceeds axis by axis (Veldhuizen 2014, Leapfrog Triejoin, ICDT,
 * section 3). The work of a join is counted in look-ups. */
#ifndef GBSI_SPARSE_SPARSE_JOIN_H
#define GBSI_SPARSE_SPARSE_JOIN_H

#include "sparse/sparse_trie.h"

/* One axis of one operand of a join. */
typedef struct gbsi_join_step {
    const gbsi_trie_level *level;
    const double *value; /* log-weights of the operand's rows if this is the last axis of the
                            operand; else NULL */
    uint32_t axis;       /* number of the axis in the clique */
    uint32_t from; /* index in gbsi_join.node of the operand's current node on this level; the node
                      of the next level comes after it */
} gbsi_join_step;

typedef struct gbsi_join {
    gbsi_watch *watch; /* borrowed or NULL */
    uint64_t n_steps;  /* look-ups so far */
    double most_steps; /* limit on n_steps */
    double
        a_state; /* number of further steps that each finished joint state of the clique allows */
    uint64_t paid_steps; /* number of steps that were already reported to the watch */
    uint32_t n_axes;
    uint32_t at; /* the axis on which the search continues */
    uint32_t
        changed; /* the slowest axis on which the current entry differs from the previous entry */
    uint32_t begin[GBSI_TREE_AXES],
        end[GBSI_TREE_AXES]; /* range of the states that the join tries on each axis */
    uint32_t try[GBSI_TREE_AXES];
    uint32_t x[GBSI_TREE_AXES]; /* states of the current entry */
    double sum[GBSI_TREE_AXES +
               1]; /* [k] sum of the log-weights of the operands whose last axis is before axis k */
    uint32_t first_step[GBSI_TREE_AXES + 1]; /* start of the steps of each axis in `step` */
    gbsi_join_step *step;
    gbsi_join_step *added; /* steps in the order in which they were added */
    uint32_t *node; /* for each operand: its current node on each level, then its current row */
    size_t step_capacity, added_capacity, node_capacity;
    size_t n_added, n_nodes;
    bool stopped; /* whether the join ended because the steps were used up or the watch stopped */
} gbsi_join;

void gbsi_join_free(gbsi_join *join);

/* Removes all operands, and sets the ranges of states so that all states of each axis are tried. */
void gbsi_join_clear(gbsi_join *join, uint32_t n_axes, const uint32_t *arity);
/* Adds an operand that has at least one row. @param axis [rows->n_axes] ascending. @param value
 * NULL, or [rows->n]. @param row out or NULL: index in join->node of the operand's current row. */
gbs_status gbsi_join_add(gbsi_join *join, const gbsi_trie *rows, const uint32_t *axis,
                         const double *value, uint32_t *row, gbs_error *err);
/* Starts the join. Must be called after the last operand was added, and again after the ranges of
 * states were changed. */
gbs_status gbsi_join_begin(gbsi_join *join, gbs_error *err);

/* Finds the next entry and writes its states to join->x. @return false after the last entry, or if
 * the join was stopped. */
bool gbsi_join_next(gbsi_join *join);

/* Reports to the watch the steps since the last call of gbsi_join_pay(). @return whether to stop.
 */
bool gbsi_join_pay(gbsi_join *join);

/* Returns the sum of the log-weights of all operands at the current entry. */
static inline double gbsi_join_value(const gbsi_join *join)
{
    return join->sum[join->n_axes];
}

/* Makes the join continue with the next state of axis k, so that entries which differ only on later
 * axes are skipped. */
static inline void gbsi_join_leave(gbsi_join *join, uint32_t k)
{
    join->at = k;
}

#endif
