/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled tree that case_tree.c makes and case_batch.c runs. */
#ifndef GBSI_CASES_CASE_TREE_INSIDE_H
#define GBSI_CASES_CASE_TREE_INSIDE_H

#include "cases/case_tree.h"

#define GBSI_CASE_LEAST 0x1p-1000 /* products above it are held with all their digits */

/* A message seen from a clique: the row that belongs to a state of the clique moves by a stride
 * along each axis of its table. */
typedef struct case_operand {
    uint32_t message;
    size_t stride; /* into gbsi_case_tree.stride: [axes of the clique] */
} case_operand;

typedef struct case_node {
    uint32_t parent; /* GBSI_NONE: a root */
    uint32_t n_axes, n_separator;
    size_t axis;  /* into gbsi_case_tree.arity: [n_axes], slowest first, the separator's first */
    size_t table; /* into gbsi_case_tree.table: [n_entries] */
    size_t n_entries;
    double least;   /* no positive entry is less, none is above 1; 0: some may be lost */
    size_t operand; /* index into gbsi_case_tree.operand of the tables multiplied into the clique's
                       table */
    uint32_t n_operands;
    case_operand up;   /* message to the parent, of one row without a parent */
    case_operand down; /* message from the parent; GBSI_NONE without a parent */
    bool observed;     /* a column's variable is in its subtree */
    bool asked;        /* a variable of the query is */
} case_node;

/* The values of a message for all lanes: rows of [GBSI_CASE_LANES]. */
typedef struct case_message {
    size_t row;
    size_t n_rows;
} case_message;

typedef struct case_column {
    uint32_t message; /* GBSI_NONE: the variable is fixed */
    size_t state;     /* into gbsi_case_tree.state: [user's arity] row, GBSI_NONE: ruled out */
    uint32_t arity;   /* the user's */
} case_column;

typedef struct case_query {
    uint32_t node; /* GBSI_NONE: the variable is fixed */
    case_operand target;
    uint32_t without; /* the message of the factor that is left out; GBSI_NONE: none is left out */
    size_t p;         /* start of its joint states in gbsi_case.p */
    size_t n_states;  /* joint ones, as the user has them */
    size_t state;     /* into gbsi_case_tree.state: [joint states left] the user's; of a fixed
                         variable its state */
} case_query;

struct gbsi_case_tree {
    uint32_t n_nodes;
    case_node *node; /* children before parents */
    uint32_t n_messages;
    case_message *message; /* [n_messages]: columns', up, down, queries', factors' */
    size_t n_rows;         /* of all messages */
    uint32_t n_columns, n_query;
    uint32_t first_factor; /* messages from here on are factors that some query leaves out */
    double *weight;        /* the rows of all messages, one message after the other */
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
