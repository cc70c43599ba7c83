/* SPDX-License-Identifier: Apache-2.0 */
/* Junction trees [M22]: the cliques of an elimination, each with a table over its variables.
 *
 * The axes of a table are in the order of elimination, the variable eliminated last being the
 * slowest. The variables shared with the parent (the separator) are eliminated after the clique's
 * own variables. A table therefore has one row per state of the separator, rows are contiguous, and
 * a message has one number per row. After the upward half of calibration each row of a table is in
 * proportion to p(own | separator), which is all that backward sampling and the downward half need;
 * messages are dropped after use, and fit on one stack.
 *
 * Tables are made of weights, the largest of each factor and message being 1. Where the weights of
 * a clique may be too far apart for doubles, its table is made in logarithms (upward.c). */
#ifndef GBSI_TREES_JUNCTION_TREE_H
#define GBSI_TREES_JUNCTION_TREE_H

#include "base/watch.h"
#include "graph/elimination.h"
#include "parallel/pool.h"

/* A clique of more variables than this exceeds every limit on table entries. */
#define GBSI_TREE_AXES 64

typedef struct gbsi_clique {
    size_t first;         /* into gbsi_tree.variable: separator, then own; slowest first */
    uint32_t n_separator; /* variables */
    uint32_t n_own;       /* 0 for a hub, else 1 or more */
    uint32_t parent;      /* GBSI_NONE: the root of a tree */
    uint32_t size;        /* cliques of its subtree, which are those up to itself */
    bool in_branch;       /* and its message is stored separately, behind the stack */
    bool maximise;        /* the own variables of the clique are maximised over, not summed */
    uint32_t stream;      /* number of the stream of random numbers: its number in a tree of all
                             components */
    size_t n_rows;        /* states of the separator */
    size_t n_columns;     /* states of the clique's own variables (for a hub, of the others) */
    size_t table;         /* offset among the tables of its tree */
    size_t kept;          /* offset of its message if all messages of its tree are kept */
    size_t message;       /* offset of its message on the stack */
} gbsi_clique;

/* Some subtrees side by side that are so small that one thread computes all of them. */
typedef struct gbsi_branch {
    uint32_t begin, end; /* cliques */
} gbsi_branch;

typedef struct gbsi_tree {
    const gbsi_conditioned *model; /* borrowed, or chains */
    gbsi_conditioned *chains;      /* owned; NULL: the model has no long factors */
    uint32_t n_cliques;
    gbsi_clique *clique;   /* children come before parents, and trees follow one another */
    uint32_t *variable;    /* variables of the cliques */
    size_t n_variables;    /* length of the array variable */
    size_t *factor_start;  /* [n_cliques + 1] */
    size_t *factor;        /* factors of each clique, ascending; each is in one clique */
    uint32_t *child_start; /* [n_cliques + 1] */
    uint32_t *child;
    uint32_t n_trees;
    uint32_t *tree_end; /* [n_trees] end of the cliques of each tree; its root is the last one */
    gbsi_branch *branch;
    uint32_t *branch_start; /* [n_trees + 1] branches of each tree, ascending */
    size_t n_tables;        /* entries of the largest tree */
    size_t n_largest;       /* entries of the largest clique */
    size_t n_kept;          /* entries of all messages of one tree, at most */
    size_t n_messages;      /* entries of all messages of all trees */
    size_t n_rows;          /* rows of one message, at most */
    size_t n_stack;     /* most message entries needed at the same time, and those of branches */
    size_t n_factor;    /* entries of the largest factor */
    uint64_t n_entries; /* entries of all trees */
} gbsi_tree;

/**
 * @param take     [elimination->n_parts] 1: this component, which must be eliminated, gets a tree.
 * @param maximise NULL, or [n_variables] 1: the variable is maximised over. Maximised variables
 * must be eliminated last in their component (gbsi_elimination_limits.late), and never in one step
 * with a variable that is summed out.
 * @param hubs     whether large cliques get hubs, which dense tables want.
 */
gbs_status gbsi_tree_new(const gbsi_conditioned *model, const gbsi_elimination *elimination,
                         const uint8_t *take, const uint8_t *maximise, bool hubs, gbsi_tree **out,
                         gbs_error *err);
void gbsi_tree_free(gbsi_tree *tree);

/* The bytes of the tree itself, with its chains for long factors. */
uint64_t gbsi_tree_bytes(const gbsi_tree *tree);

/* The tables and messages that stay in memory during a calibration. The choice does not change the
 * bits of results. */
typedef enum gbsi_keep {
    GBSI_KEEP_STACK,    /* one table at a time, and the messages that are still needed: enough for
                           gbsi_tree_up() */
    GBSI_KEEP_MESSAGES, /* one table at a time, and all messages of a tree: each table is made again
                           on the way back, which takes as long as the way up */
    GBSI_KEEP_ALL_MESSAGES, /* one table at a time, and the messages of all trees: samples need one
                               row of each table, which is made again for each sample */
    GBSI_KEEP_TABLES,       /* the tables of one tree */
    GBSI_KEEP_ALL,          /* the tables of all trees, for samples */
} gbsi_keep;

/* Bytes that calibration takes in addition to the tree itself, saturating. */
uint64_t gbsi_tree_work_bytes(const gbsi_tree *tree, gbsi_keep keep);

/* ---- calibration ------------------------------------------------------------------------- */

/* Tables, messages and scratch. */
typedef struct gbsi_tables {
    const gbsi_tree *tree;
    gbsi_keep keep;
    gbsi_pool *pool;   /* borrowed; NULL: one thread */
    gbsi_watch *watch; /* borrowed; NULL: cannot be stopped. Once stopped, tables are undefined */
    size_t base;       /* start of the tables of the current tree */
    size_t kept_base;  /* start of its messages, if the messages of all trees are kept */
    double *table;
    double *stack;     /* messages */
    double *remade;    /* GBSI_KEEP_MESSAGES: a message that was there before */
    double *factor;    /* values of factors */
    uint32_t *axis_of; /* [n_variables] axis in the clique being processed */
    uint32_t *map;     /* offsets of some operands within a block */
    double *partial;   /* partial sums of long arrays, by piece */
    bool *weights;     /* [n_cliques] the table is made of weights, not in logarithms */
    double *spread;    /* [n_cliques] ln of the message's largest weight over the smallest positive
                          one; infinity: the message is in logarithms */
    double *top;       /* [factors] the largest log-weight of each one of tree->factor */
    double *log_scale; /* [2 n_cliques] ln of what a message was divided by, in two parts */
    struct gbsi_branch_workers *workers; /* NULL: branches are done by the caller */
} gbsi_tables;

/* @param pool borrowed or NULL. */
gbs_status gbsi_tables_new(const gbsi_tree *tree, gbsi_keep keep, gbsi_pool *pool,
                           gbsi_tables **out, gbs_error *err);
void gbsi_tables_free(gbsi_tables *tables);

/* Whether all messages of a tree are kept, and none of its tables. */
static inline bool gbsi_keeps_messages(gbsi_keep keep)
{
    return keep == GBSI_KEEP_MESSAGES || keep == GBSI_KEEP_ALL_MESSAGES;
}

/* The table of a clique of the current tree, and its message. */
static inline double *gbsi_table_of(const gbsi_tables *tables, const gbsi_clique *c)
{
    return tables->table + (tables->keep < GBSI_KEEP_TABLES ? 0 : tables->base + c->table);
}
static inline double *gbsi_message_of(const gbsi_tables *tables, const gbsi_clique *c)
{
    return tables->stack +
           (gbsi_keeps_messages(tables->keep) ? tables->kept_base + c->kept : c->message);
}

/* Passes messages to the root of tree t. Afterwards the rows of summed cliques' tables are in
 * proportion to p(own | separator), maximised cliques hold log-weights.
 * @param log_z out: ln of the sum (or maximum) over the tree, minus infinity if nothing has weight.
 */
void gbsi_tree_up(gbsi_tables *tables, uint32_t t, double *log_z);

/* If all trees are kept: tables or messages of the next tree go after those of tree t. */
void gbsi_tables_next(gbsi_tables *tables, uint32_t t);

/* With GBSI_KEEP_MESSAGES, makes the table of clique i again, as gbsi_tree_up() left it: the
 * messages of its children must still be there. */
void gbsi_clique_remake(gbsi_tables *tables, uint32_t i);

/* Passes messages from the root, after gbsi_tree_up() without maximised variables; this overwrites
 * the tables.
 * @param p    [state_offset[n_variables]] of the model, out: entries of this tree's variables.
 * @param home [n_variables] from gbsi_tree_homes(). */
void gbsi_tree_down(gbsi_tables *tables, uint32_t t, const uint32_t *home, double *p);

/* Finds the smallest clique that holds each variable. @param home [n_variables] out; GBSI_NONE for
 * variables in no tree. A caller may set GBSI_NONE for variables whose marginal is not needed. */
void gbsi_tree_homes(const gbsi_tree *tree, uint32_t *home);

/* Turns a row of log-weights of summed clique c into p(own | separator), as gbsi_tree_up() does. */
void gbsi_clique_finish_row(gbsi_tables *tables, const gbsi_clique *c, double *row);

/* The maximising states x of the maximised variables of tree t, after gbsi_tree_up(); among equal
 * maxima the first in the order of the table. */
void gbsi_tree_trace(gbsi_tables *tables, uint32_t t, uint32_t *x);

/* Sets the states of clique c's own variables. @param column number of the joint state of the own
 * variables, the last one varying fastest. */
void gbsi_clique_set_column(const gbsi_tree *tree, const uint32_t *arity, const gbsi_clique *c,
                            size_t column, uint32_t *x);

/* The column that u in [0, 1] draws: the first of the running sums above u times the total. */
size_t gbsi_draw_column(const double *sum, size_t n, double u);

/* Turns the rows of all trees, if they are kept, into running sums. Call it after gbsi_tree_up() of
 * each tree. */
void gbsi_tree_accumulate(gbsi_tables *tables);
/* Draws a state of all trees, which is a function of seed, chain and draw alone. All tables or all
 * messages must be kept.
 * @param x [n_variables] out. */
void gbsi_tree_draw(gbsi_tables *tables, uint64_t seed, uint32_t chain, uint64_t draw, uint32_t *x);

/* Asserts the invariants of a junction tree, once it is made. Does nothing in builds without
 * asserts. */

#ifdef NDEBUG
static inline void gbsi_tree_check(const gbsi_tree *tree)
{
    (void)tree;
}
#else
void gbsi_tree_check(const gbsi_tree *tree);
#endif

#endif
