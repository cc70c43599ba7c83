/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the states of a clique that no operand makes impossible, in lexicographic order. This is a
 * join of prefix trees, axis by axis (Veldhuizen 2014, Leapfrog Triejoin, ICDT, section 3). The
 * work of a join is counted in look-ups. */
#ifndef GBSI_SPARSE_SPARSE_JOIN_H
#define GBSI_SPARSE_SPARSE_JOIN_H

#include "sparse/sparse_trie.h"

/* One axis of one operand of a join. */
typedef struct gbsi_join_step {
    const gbsi_trie_level *level;
    const double *value; /* log-weights of the operand's rows, at its last axis; else NULL */
    uint32_t axis;       /* of the clique */
    uint32_t from;       /* place of its node in gbsi_join.node; that of the next level follows */
} gbsi_join_step;

typedef struct gbsi_join {
    gbsi_watch *watch;   /* borrowed or NULL */
    uint64_t n_steps;    /* look-ups so far */
    double most_steps;   /* step at which to stop */
    double a_state;      /* more steps allowed for each finished state of the clique */
    uint64_t paid_steps; /* steps already reported to the watch */
    uint32_t n_axes;
    uint32_t at;      /* the axis whose next state is tried next */
    uint32_t changed; /* the slowest axis on which an entry differs from the previous entry */
    uint32_t begin[GBSI_TREE_AXES], end[GBSI_TREE_AXES]; /* states to try */
    uint32_t try[GBSI_TREE_AXES];
    uint32_t x[GBSI_TREE_AXES];     /* the entry */
    double sum[GBSI_TREE_AXES + 1]; /* sums of the values of operands whose last axis is before this
                                       one */
    uint32_t first_step[GBSI_TREE_AXES + 1]; /* by axis */
    gbsi_join_step *step;
    gbsi_join_step *added; /* as they were added */
    uint32_t *node;        /* current node by operand and level; behind the last level the row */
    size_t step_capacity, added_capacity, node_capacity;
    size_t n_added, n_nodes;
    bool stopped; /* out of steps, or by the watch */
} gbsi_join;

void gbsi_join_free(gbsi_join *join);

/* Forgets operands; all states will be tried. */
void gbsi_join_clear(gbsi_join *join, uint32_t n_axes, const uint32_t *arity);
/* Adds an operand with a row at least. @param axis [rows->n_axes] ascending. @param value NULL, or
 * [rows->n]. @param row out or NULL: the place in join->node of the operand's row. */
gbs_status gbsi_join_add(gbsi_join *join, const gbsi_trie *rows, const uint32_t *axis,
                         const double *value, uint32_t *row, gbs_error *err);
/* Begins, after the last operand was added or to try other states. */
gbs_status gbsi_join_begin(gbsi_join *join, gbs_error *err);

/* Finds the next entry, in join->x. @return false after the last row, or if it was stopped. */
bool gbsi_join_next(gbsi_join *join);

/* Tells the watch of the steps since the last time. @return whether to stop. */
bool gbsi_join_pay(gbsi_join *join);

/* ln of the product of the values of an entry. */
static inline double gbsi_join_value(const gbsi_join *join)
{
    return join->sum[join->n_axes];
}

/* Goes on with the next state of axis k, which is not that of the first axes alone. */
static inline void gbsi_join_leave(gbsi_join *join, uint32_t k)
{
    join->at = k;
}

#endif
