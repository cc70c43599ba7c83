/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled tree that case_tree.c makes and case_batch.c runs. */
#ifndef GBSI_CASES_CASE_TREE_INSIDE_H
#define GBSI_CASES_CASE_TREE_INSIDE_H

#include "cases/case_tree.h"

#define GBSI_CASE_LEAST 0x1p-1000 /* doubles hold larger products with full precision */

/* A message as a clique reads or writes it. A step along an axis of the clique's table moves the
 * row of the message by the stride of this axis. */
typedef struct case_operand {
    uint32_t message;
    size_t stride; /* index in gbsi_case_tree.stride of the message's strides, one for each axis of
                      the clique */
} case_operand;

typedef struct case_node {
    uint32_t parent; /* parent of the clique; GBSI_NONE if the clique is a root */
    uint32_t n_axes, n_separator;
    size_t axis;  /* index in gbsi_case_tree.arity of the arities of the clique's n_axes axes,
                     slowest axis first; the axes of the separator come first */
    size_t table; /* index in gbsi_case_tree.table of the n_entries entries of the clique's table */
    size_t n_entries;
    double least; /* lower bound of the table's positive entries, which are at most 1; 0 if entries
                     may have been lost to underflow */
    size_t operand; /* index in gbsi_case_tree.operand of the first message that is multiplied into
                       the table */
    uint32_t n_operands;
    case_operand up;   /* message to the parent; the message of a root has one row */
    case_operand down; /* message from the parent; its number is GBSI_NONE for a root */
    bool observed;     /* whether the subtree of the clique contains a column's variable */
    bool asked;        /* whether the subtree of the clique contains a queried variable */
} case_node;

/* Place of a message: its first row and its number of rows; a row has a value for each lane. */
typedef struct case_message {
    size_t row;
    size_t n_rows;
} case_message;

typedef struct case_column {
    uint32_t message; /* GBSI_NONE: the variable is fixed */
    size_t state;   /* index in gbsi_case_tree.state of an array with the row of each user's state,
                       [arity]; GBSI_NONE if the state is ruled out */
    uint32_t arity; /* number of states of the user's variable */
} case_column;

typedef struct case_query {
    uint32_t node; /* GBSI_NONE: the variable is fixed */
    case_operand target;
    uint32_t without; /* the message of the factor that is left out; GBSI_NONE if no factor is left
                         out */
    size_t p;         /* index of the query's first joint state in gbsi_case.p */
    size_t n_states;  /* number of joint states in the user's numbering */
    size_t state; /* index in gbsi_case_tree.state of an array: the user's number of each remaining
                     joint state; for a fixed variable, of its only state */
} case_query;

struct gbsi_case_tree {
    uint32_t n_nodes;
    case_node *node; /* cliques, children before parents */
    uint32_t n_messages;
    case_message *message; /* [n_messages] first the messages of columns, then messages to parents,
                              from parents, of queries, and of factors */
    size_t n_rows;         /* number of rows of all messages together */
    uint32_t n_columns, n_query;
    uint32_t first_factor; /* number of the first message of a factor; these are the factors that
                              some query leaves out */
    double *weight;        /* rows of these factors' messages, one message after the other */
    case_column *column;
    case_query *query;
    uint32_t most_operands, most_axes;
    uint64_t n_operations;
    double log_constant; /* log constant of the model, plus ln of the numbers by which tables were
                            divided */
    double *table;
    uint32_t *arity;
    size_t *stride;
    case_operand *operand;
    uint32_t *state;
};

#endif
