/* SPDX-License-Identifier: Apache-2.0 */
/* Junction trees [M22]. Their nodes are the cliques of an elimination, each with a table over its
 * variables.
 *
 * The axes of a table follow the order of elimination: the variable that is eliminated last varies
 * slowest. The separator of a clique (the variables that it shares with its parent) is eliminated
 * after the clique's own variables. A table therefore has one row per state of the separator, rows
 * are contiguous, and a message has one number per row. After the upward half of calibration, each
 * row of a table is proportional to p(own | separator). Backward sampling and the downward half
 * need only these rows. Messages are stored on one stack, and are dropped after use.
 *
 * Tables hold weights, scaled so that the largest weight of each factor and message is 1. If the
 * weights of a clique may be too far apart for doubles, its table has logarithms instead
 * (upward.c). */
#ifndef GBSI_TREES_JUNCTION_TREE_H
#define GBSI_TREES_JUNCTION_TREE_H

#include "base/watch.h"
#include "graph/elimination.h"
#include "parallel/pool.h"

/* The largest number of variables of a clique. A clique of more variables would exceed every limit
 * on table entries. */
#define GBSI_TREE_AXES 64

typedef struct gbsi_clique {
    size_t first; /* index in gbsi_tree.variable of the clique's first variable; variables are
                     listed slowest first, those of the separator before the own ones */
    uint32_t n_separator; /* number of separator variables */
    uint32_t n_own;       /* number of own variables: 0 for a hub, else 1 or more */
    uint32_t parent;      /* parent of the clique; GBSI_NONE if the clique is the root of a tree */
    uint32_t size;   /* number of cliques of the clique's subtree, which consists of this clique and
                        the size - 1 cliques before it */
    bool in_branch;  /* whether the clique is in a branch. The message of such a clique has a place
                        of its own behind the stack */
    bool maximise;   /* whether the own variables of the clique are maximised out instead of summed
                        out */
    uint32_t stream; /* number of the clique's stream of random numbers: the number that the clique
                        has in a tree of all components */
    size_t n_rows;   /* number of joint states of the separator */
    size_t n_columns; /* number of joint states of the clique's own variables (for a hub, of its
                         variables outside the separator) */
    size_t table;     /* offset of the clique's table among the tables of its tree */
    size_t kept;      /* offset of the clique's message, if all messages of its tree are kept */
    size_t message;   /* offset of the clique's message on the stack */
} gbsi_clique;

/* Consecutive subtrees that are small enough for one thread to compute all of them. */
typedef struct gbsi_branch {
    uint32_t begin, end; /* range of cliques */
} gbsi_branch;

typedef struct gbsi_tree {
    const gbsi_conditioned *model; /* the model of the tree: borrowed, or equal to `chains` */
    gbsi_conditioned
        *chains; /* the model with chains, owned; NULL if the model has no long factors */
    uint32_t n_cliques;
    gbsi_clique *clique;  /* cliques, children before parents, tree after tree */
    uint32_t *variable;   /* variables of all cliques, clique after clique */
    size_t n_variables;   /* length of the array `variable` */
    size_t *factor_start; /* [n_cliques + 1] start of each clique's factors in `factor` */
    size_t *factor;       /* factors of each clique, ascending; each factor belongs to one clique */
    uint32_t *child_start; /* [n_cliques + 1] start of each clique's children in `child` */
    uint32_t *child;
    uint32_t n_trees;
    uint32_t
        *tree_end; /* [n_trees] end of each tree's cliques; the last clique of a tree is its root */
    gbsi_branch *branch;
    uint32_t *branch_start; /* [n_trees + 1] start of each tree's branches in `branch`; branches are
                               in ascending order */
    size_t n_tables;        /* number of table entries of the largest tree */
    size_t n_largest;       /* number of table entries of the largest clique */
    size_t n_kept;          /* largest number of message entries of one tree */
    size_t n_messages;      /* number of message entries of all trees */
    size_t n_rows;          /* largest number of rows of one message */
    size_t n_stack;     /* largest number of message entries that are on the stack at the same time,
                           plus the number of message entries of branches */
    size_t n_factor;    /* number of entries of the largest factor */
    uint64_t n_entries; /* number of table entries of all trees */
} gbsi_tree;

/**
 * @param take [elimination->n_parts] 1 if the component gets a tree; the component must then have
 * an elimination order.
 * @param maximise NULL, or [n_variables] 1 if the variable is maximised over. Maximised variables
 * must be eliminated last in their component (gbsi_elimination_limits.late), and never in the same
 * step of the elimination as a variable that is summed out.
 * @param hubs whether large cliques get hubs, which make the work on large tables faster. */
gbs_status gbsi_tree_new(const gbsi_conditioned *model, const gbsi_elimination *elimination,
                         const uint8_t *take, const uint8_t *maximise, bool hubs, gbsi_tree **out,
                         gbs_error *err);
void gbsi_tree_free(gbsi_tree *tree);

/* Returns the bytes of the tree itself, including its model with chains. */
uint64_t gbsi_tree_bytes(const gbsi_tree *tree);

/* The tables and messages that stay in memory during a calibration. The choice does not change the
 * bits of any result. */
typedef enum gbsi_keep {
    GBSI_KEEP_STACK, /* one table at a time, and only the messages that are still needed; suffices
                        for gbsi_tree_up() */
    GBSI_KEEP_MESSAGES, /* one table at a time, and all messages of a tree; each table is made again
                           on the way back, which takes as long as the way up */
    GBSI_KEEP_ALL_MESSAGES, /* one table at a time, and the messages of all trees; each sample makes
                               the row that it needs of each table again */
    GBSI_KEEP_TABLES,       /* the tables of one tree */
    GBSI_KEEP_ALL,          /* the tables of all trees, for samples */
} gbsi_keep;

/* Returns the number of bytes that calibration takes in addition to the tree; UINT64_MAX if the
 * number does not fit 64 bits. */
uint64_t gbsi_tree_work_bytes(const gbsi_tree *tree, gbsi_keep keep);
/* Returns the least number of operations that calibration reports to the watch, on all threads
 * together. @param down whether messages are also passed back, for marginals. */
double gbsi_tree_operations(const gbsi_tree *tree, gbsi_keep keep, bool down);

/* ---- calibration ------------------------------------------------------------------------- */

/* The memory of a calibration: tables, messages and scratch. */
typedef struct gbsi_tables {
    const gbsi_tree *tree;
    gbsi_keep keep;
    gbsi_pool *pool;   /* borrowed; NULL if one thread does all work */
    gbsi_watch *watch; /* borrowed; NULL if nothing stops the calibration. After a stop, tables are
                          undefined */
    size_t base;       /* index in `table` of the first table of the current tree */
    size_t kept_base;  /* index in `stack` of the current tree's messages, if the messages of all
                          trees are kept */
    double *table;
    double *stack;  /* messages of the cliques */
    double *remade; /* with GBSI_KEEP_MESSAGES: copy of a clique's message while the clique's table
                       is made again */
    double *factor; /* scratch for the values of factors */
    uint32_t *axis_of; /* [n_variables] axis of each variable in the current clique */
    uint32_t *map;     /* scratch for the offsets of the operands of a batch within a block */
    double *partial;   /* scratch for the partial sums of long arrays, one for each piece */
    bool *weights;     /* [n_cliques] whether the clique's table has weights, not logarithms */
    double *spread;    /* [n_cliques] ln of (largest weight / smallest positive weight) of each
                          clique's message; infinity if the message has logarithms */
    double *top;       /* [factors] the largest log-weight of each factor of tree->factor */
    double *log_scale; /* [2 n_cliques] ln of the number by which each message was divided, as a sum
                          of two numbers */
    /* scratch memory of the threads that compute branches; NULL if the calling thread computes all
     * branches */
    struct gbsi_branch_workers *workers;
} gbsi_tables;

/* @param pool borrowed or NULL. */
gbs_status gbsi_tables_new(const gbsi_tree *tree, gbsi_keep keep, gbsi_pool *pool,
                           gbsi_tables **out, gbs_error *err);
void gbsi_tables_free(gbsi_tables *tables);

/* Returns whether all messages of a tree are kept, and only one table at a time. */
static inline bool gbsi_keeps_messages(gbsi_keep keep)
{
    return keep == GBSI_KEEP_MESSAGES || keep == GBSI_KEEP_ALL_MESSAGES;
}

/* gbsi_table_of() and gbsi_message_of() return the table and the message of a clique of the current
 * tree. */
static inline double *gbsi_table_of(const gbsi_tables *tables, const gbsi_clique *c)
{
    return tables->table + (tables->keep < GBSI_KEEP_TABLES ? 0 : tables->base + c->table);
}
static inline double *gbsi_message_of(const gbsi_tables *tables, const gbsi_clique *c)
{
    return tables->stack +
           (gbsi_keeps_messages(tables->keep) ? tables->kept_base + c->kept : c->message);
}

/* Passes messages to the root of tree t. Afterwards, the rows of the tables of summed cliques are
 * proportional to p(own | separator), and the tables of maximised cliques have log-weights.
 * @param log_z out: ln of the sum (or maximum) over the tree; minus infinity if no state has
 * positive weight. */
void gbsi_tree_up(gbsi_tables *tables, uint32_t t, double *log_z);

/* Moves on to the next tree. If the tables or messages of all trees are kept, those of the next
 * tree are stored after those of tree t. */
void gbsi_tables_next(gbsi_tables *tables, uint32_t t);

/* With GBSI_KEEP_MESSAGES, makes the table of clique i again, as gbsi_tree_up() left it. The
 * messages of its children must not be overwritten yet. */
void gbsi_clique_remake(gbsi_tables *tables, uint32_t i);

/* Passes messages from the root down. gbsi_tree_up() must have been called before, and the tree
 * must have no maximised variables. The function overwrites the tables.
 * @param p [state_offset[n_variables]] out: the marginals of the variables of tree t that have a
 * home; other entries do not change.
 * @param home [n_variables] result of gbsi_tree_homes(). */
void gbsi_tree_down(gbsi_tables *tables, uint32_t t, const uint32_t *home, double *p);

/* Finds the smallest clique that contains each variable. @param home [n_variables] out: this
 * clique; GBSI_NONE for variables in no tree. A caller may set home[v] = GBSI_NONE if the marginal
 * of v is not needed. */
void gbsi_tree_homes(const gbsi_tree *tree, uint32_t *home);

/* Turns a row of log-weights of summed clique c into p(own | separator), as gbsi_tree_up() does. */
void gbsi_clique_finish_row(gbsi_tables *tables, const gbsi_clique *c, double *row);

/* Finds the maximising states x of the maximised variables of tree t, after gbsi_tree_up(). If
 * several entries of a table are maximal, the first of them is chosen. */
void gbsi_tree_trace(gbsi_tables *tables, uint32_t t, uint32_t *x);

/* Sets the states of clique c's own variables. @param column number of the joint state of the own
 * variables, where the last variable varies fastest. */
void gbsi_clique_set_column(const gbsi_tree *tree, const uint32_t *arity, const gbsi_clique *c,
                            size_t column, uint32_t *x);

/* Returns the column that the uniform number u in [0, 1] draws: the first column whose running sum
 * exceeds u times the total. */
size_t gbsi_draw_column(const double *sum, size_t n, double u);

/* Turns the rows of all tables into running sums, if the tables are kept. gbsi_tree_up() must have
 * been called for each tree before. */
void gbsi_tree_accumulate(gbsi_tables *tables);
/* Draws a state of the variables of all trees. The state is a function of `seed`, `chain` and
 * `draw` only. The tables or the messages of all trees must be kept.
 * @param x [n_variables] out. */
void gbsi_tree_draw(gbsi_tables *tables, uint64_t seed, uint32_t chain, uint64_t draw, uint32_t *x);

/* Asserts the invariants of a finished junction tree. Does nothing in builds without asserts. */

#ifdef NDEBUG
static inline void gbsi_tree_check(const gbsi_tree *tree)
{
    (void)tree;
}
#else
void gbsi_tree_check(const gbsi_tree *tree);
#endif

#endif
