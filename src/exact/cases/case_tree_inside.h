/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled tree that case_tree.c makes and case_batch.c runs. */
#ifndef GBSI_CASES_CASE_TREE_INSIDE_H
#define GBSI_CASES_CASE_TREE_INSIDE_H

#include "cases/case_tree.h"

#define GBSI_CASE_LEAST 0x1p-1000 /* doubles hold larger products with full precision */

/* A message used in a clique. The row of the message that belongs to a state of the clique moves by
 * one stride for each axis of the clique's table. */
typedef struct case_operand {
    uint32_t message;
    size_t
        stride; /* start of the message's strides in gbsi_case_tree.stride: [axes of the clique] */
} case_operand;

typedef struct case_node {
    uint32_t parent; /* parent of the clique; GBSI_NONE if the clique is a root */
    uint32_t n_axes, n_separator;
    size_t axis;  /* start of the clique's arities in gbsi_case_tree.arity: [n_axes], slowest axis
                     first, separator first */
    size_t table; /* start of the clique's table in gbsi_case_tree.table: [n_entries] */
    size_t n_entries;
    double least; /* lower bound of the positive entries, which are at most 1; 0 if entries may have
                     been lost */
    size_t operand; /* start, in gbsi_case_tree.operand, of the messages that are multiplied into
                       the table */
    uint32_t n_operands;
    case_operand up;   /* message to the parent; the message of a root has one row */
    case_operand down; /* message from the parent; its number is GBSI_NONE for a root */
    bool observed;     /* the subtree of the clique holds a column's variable */
    bool asked;        /* the subtree of the clique holds a queried variable */
} case_node;

/* The values of a message for all lanes: rows of [GBSI_CASE_LANES]. */
typedef struct case_message {
    size_t row;
    size_t n_rows;
} case_message;

typedef struct case_column {
    uint32_t message; /* GBSI_NONE: the variable is fixed */
    size_t state;   /* start in gbsi_case_tree.state of an array: [arity] row of each user's state;
                       GBSI_NONE if the state is ruled out */
    uint32_t arity; /* number of the user's states */
} case_column;

typedef struct case_query {
    uint32_t node; /* GBSI_NONE: the variable is fixed */
    case_operand target;
    uint32_t without; /* the message of the factor that is left out; GBSI_NONE if no factor is left
                         out */
    size_t p;         /* start of the query's joint states in gbsi_case.p */
    size_t n_states;  /* number of joint states in the user's numbering */
    size_t state; /* start in gbsi_case_tree.state of an array: [remaining joint states] the user's
                     numbers of these states; for a fixed variable, its only state */
} case_query;

struct gbsi_case_tree {
    uint32_t n_nodes;
    case_node *node; /* cliques, children before parents */
    uint32_t n_messages;
    case_message *message; /* [n_messages] in this order: of columns, to parents, from parents, of
                              queries, of factors */
    size_t n_rows;         /* rows of all messages together */
    uint32_t n_columns, n_query;
    uint32_t
        first_factor; /* number of the first message that is a factor which some query leaves out */
    double *weight;   /* rows of these factors' messages, one message after the other */
    case_column *column;
    case_query *query;
    uint32_t most_operands, most_axes;
    uint64_t n_operations;
    double log_constant; /* log constant of the model, plus ln of the numbers that tables were
                            divided by */
    double *table;
    uint32_t *arity;
    size_t *stride;
    case_operand *operand;
    uint32_t *state;
};

#endif
