/* SPDX-License-Identifier: Apache-2.0 */
/* Junction trees of the entries that are not zero [M51]. Where the factors of a component have many
 * hard zeros, most entries of its cliques are zero too. Semi-joins, up the tree and down again,
 * find the states of separators that can have weight (a full reducer: Yannakakis 1981, Algorithms
 * for acyclic database schemes, VLDB, section 3). Afterwards every entry of a clique that agrees
 * with the rows of its separators has positive probability, and only these entries are visited. The
 * number of rows, the time and the memory are known before calibration.
 *
 * Messages are log-weights by row of the separator. One thread does all the work, so that the bits
 * do not depend on the number of threads. */
#ifndef GBSI_SPARSE_SPARSE_H
#define GBSI_SPARSE_SPARSE_H

#include "reference/exact_components.h"
#include "sparse/sparse_join.h"
#include "trees/exact_plan.h"

/* The time of a look-up in one prefix tree, in nanoseconds of one thread. */
#define GBSI_SPARSE_NS 4.0
/* Entries of dense tables from which on sparse ones are worth looking for. */
#define GBSI_SPARSE_LEAST (UINT64_C(1) << 18)

typedef struct gbsi_sparse_factor {
    gbsi_trie rows;
    double *value;  /* [rows.n] log-weights */
    uint32_t *axis; /* [rows.n_axes] axes of its clique, ascending */
} gbsi_sparse_factor;

typedef struct gbsi_sparse {
    const gbsi_components *components; /* borrowed */
    uint32_t component;
    gbsi_tree *tree;            /* the tree of the component, without hubs; its model may have been
                                   freed */
    uint32_t n_variables;       /* of the tree's model */
    uint32_t *arity;            /* [n_variables] */
    gbsi_sparse_factor *factor; /* as in tree->factor */
    gbsi_trie *rows;            /* [cliques] of the separator */
    size_t *first_row;          /* [cliques + 1] offsets of an array by clique and row */
    uint64_t *n_entries_of;     /* [cliques] */
    double n_entries;           /* of all cliques, nonzero */
    double n_steps;             /* look-ups of one pass over all entries, at most */
    double ns;                  /* predicted for the answer asked for */
    uint64_t bytes;             /* bytes of the object, of making it, and of the work on it */
    bool impossible;            /* nothing has weight */
    struct gbsi_sparse *next;   /* owned: that of another component */
} gbsi_sparse;

typedef struct gbsi_sparse_limits {
    double ns;      /* nanoseconds of one thread that all components together may take */
    uint64_t bytes; /* bytes that sparse tables and the work on them may take */
    uint64_t least; /* entries of dense tables from which on it is worth looking */
    bool one_way;   /* ln Z or a most probable state is all that is asked for */
    bool draws;     /* marginals and draws are asked for */
    gbsi_watch *watch;
} gbsi_sparse_limits;

/* Finds the nonzero entries of components that have hard zeros and many entries. A component has
 * sparse tables if these are predicted to be quicker than dense ones, or dense ones do not fit.
 *
 * @param limits    for all of them together.
 * @param dense     [components] 1: dense tables fit, and take this many nanoseconds an entry.
 * @param dense_ns  an entry.
 * @param out the first set of tables found, by component; NULL: none was found. */
gbs_status gbsi_sparse_new(const gbsi_components *components, const gbsi_exact_plan *plan,
                           const gbsi_sparse_limits *limits, const uint8_t *dense, double dense_ns,
                           gbsi_sparse **out, gbs_error *err);
/* Sets to[component] for this one and those after it. */
void gbsi_sparse_mark(const gbsi_sparse *sparse, uint8_t mark, uint8_t *to);
/* Gives all cliques, of the sparse trees and of the dense tree, the random numbers that they would
 * have in one tree of all components. A draw is then the same whichever components are sparse.
 * @param plan all its components have an order. @param dense NULL or in and out. */
gbs_status gbsi_sparse_streams(const gbsi_exact_plan *plan, gbsi_tree *dense, gbsi_sparse *sparse,
                               gbs_error *err);
/* Frees this one and those after it. */
void gbsi_sparse_free(gbsi_sparse *sparse);

/* Limits on the work of finding the nonzero entries. */
typedef struct gbsi_sparse_effort {
    const gbsi_conditioned *model; /* of the tree */
    double steps;                  /* limit on look-ups */
    double a_state; /* further look-ups allowed for each finished entry of dense tables, so that
                       sparse tables are soon given up if few entries are zero */
    uint64_t bytes;
    gbsi_watch *watch; /* borrowed or NULL */
} gbsi_sparse_effort;

/* Finds the rows of all cliques of sparse->tree, and counts the nonzero entries.
 * @param done out: false if it would take more effort; then the rows mean nothing. */
gbs_status gbsi_sparse_reduce(gbsi_sparse *sparse, const gbsi_sparse_effort *effort, bool *done,
                              gbs_error *err);

/* Scratch of a pass over the cliques. */
typedef struct gbsi_sparse_scratch {
    gbsi_join join;
    uint32_t *axis_of; /* [variables of the tree's model] axis in the clique being processed */
    uint32_t *row;     /* [cliques] places in join.node of the rows of children, as listed */
    uint32_t own_row;  /* place in join.node of the clique's own row */
} gbsi_sparse_scratch;

gbs_status gbsi_sparse_scratch_take(const gbsi_sparse *s, gbsi_watch *watch,
                                    gbsi_sparse_scratch *scratch, gbs_error *err);
void gbsi_sparse_scratch_free(gbsi_sparse_scratch *scratch);

/* Begins a join of the factors of clique i and the rows of its children. The caller may add more,
 * and calls gbsi_join_begin().
 * @param value NULL: which entries there are is all that matters; else [rows of all cliques]
 *              messages of children. */
gbs_status gbsi_sparse_join_clique(const gbsi_sparse *s, uint32_t i, const double *value,
                                   gbsi_sparse_scratch *scratch, gbs_error *err);
/* Adds the clique's own rows. @param value NULL, or as above. */
gbs_status gbsi_sparse_join_own(const gbsi_sparse *s, uint32_t i, const double *value,
                                gbsi_sparse_scratch *scratch, gbs_error *err);

/* ln of the sum over all states of the component (the maximum, where its plan maximises),
 * log_constant left out; minus infinity if none has weight.
 * @param watch borrowed or NULL; once stopped, results are undefined.
 * @param p NULL, or [states of the whole model] out: marginals of the component's variables, none
 *          of which is maximised over. */
gbs_status gbsi_sparse_sum(const gbsi_sparse *sparse, gbsi_watch *watch, double *p, double *log_z,
                           gbs_error *err);

/* Sums and maximises as gbsi_sparse_sum() does, and finds the states of the variables that are
 * maximised over. If all variables are, *log_weight is ln of the weight of a most probable state.
 * @param x [whole variables] out: the states of the component's variables, 0 of those summed. */
gbs_status gbsi_sparse_maximise(const gbsi_sparse *sparse, gbsi_watch *watch, uint32_t *x,
                                double *log_weight, gbs_error *err);

/* The running sums of p(own | separator) over all nonzero entries, to draw states from. */
typedef struct gbsi_sparse_draws {
    const gbsi_sparse *sparse; /* borrowed */
    size_t *begin;             /* [rows of all cliques + 1] entries of a row */
    double *sum;               /* [entries] running sums of each row */
    size_t *column;            /* [entries] states of the clique's own variables */
    struct gbsi_sparse_draws *next;
} gbsi_sparse_draws;

/* Makes draws for this tree and those after it, all of which must have a state of positive weight.
 * @param watch borrowed or NULL; once stopped, results are undefined. */
gbs_status gbsi_sparse_draws_new(const gbsi_sparse *sparse, gbsi_watch *watch,
                                 gbsi_sparse_draws **out, gbs_error *err);
/* Frees this one and those after it. */
void gbsi_sparse_draws_free(gbsi_sparse_draws *draws);
/* Draws a state of these components, as gbsi_tree_draw() does.
 * @param x [variables of the tree's model] out: those of the components. */
void gbsi_sparse_draw(const gbsi_sparse_draws *draws, uint64_t seed, uint32_t chain, uint64_t draw,
                      uint32_t *x);

#endif
