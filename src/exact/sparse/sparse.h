/* SPDX-License-Identifier: Apache-2.0 */
/* Junction trees that store only nonzero entries [M51]. If the factors of a component have many
 * hard zeros, most entries of the component's cliques are zero too. Semi-joins find the states of
 * separators that can have positive weight. They run up the tree and down again, and form a full
 * reducer (Yannakakis 1981, Algorithms for acyclic database schemes, VLDB, section 3). Afterwards
 * every entry of a clique that agrees with the rows of its separators has positive probability.
 * Only these entries are visited. The number of rows, the time and the memory are known before
 * calibration.
 *
 * A message has a log-weight for each row of the separator. One thread does all the work, so that
 * the bits of results do not depend on the number of threads. */
#ifndef GBSI_SPARSE_SPARSE_H
#define GBSI_SPARSE_SPARSE_H

#include "reference/exact_components.h"
#include "sparse/sparse_join.h"
#include "trees/exact_plan.h"

/* Time of one look-up in one prefix tree, in nanoseconds of one thread. */
#define GBSI_SPARSE_NS 4.0
/* Least number of dense entries of a component for which sparse tables are searched. */
#define GBSI_SPARSE_LEAST (UINT64_C(1) << 18)
/* Mark of a component that is answered in another way and gets no sparse tables. */
#define GBSI_SPARSE_SKIP 2

typedef struct gbsi_sparse_factor {
    gbsi_trie rows;
    double *value;  /* [rows.n] log-weights */
    uint32_t *axis; /* [rows.n_axes] axes of the factor's variables in the clique, ascending */
} gbsi_sparse_factor;

typedef struct gbsi_sparse {
    const gbsi_components *components; /* borrowed */
    uint32_t component;
    gbsi_tree *tree; /* tree of the component, without hubs; the model of the tree may have been
                        freed already */
    uint32_t n_variables;       /* number of variables of the model of the tree */
    uint32_t *arity;            /* [n_variables] arities of the tree's model */
    gbsi_sparse_factor *factor; /* nonzero entries of each factor, in the order of tree->factor */
    gbsi_trie *rows;   /* [cliques] rows of each clique, which are the states of its separator that
                          can have positive weight */
    size_t *first_row; /* [cliques + 1] start of each clique's rows in arrays over the rows of all
                          cliques */
    uint64_t *n_entries_of; /* [cliques] number of nonzero entries of each clique */
    double n_entries;       /* number of nonzero entries of all cliques */
    double n_steps;         /* upper bound on the look-ups of one pass over all entries */
    double ns;              /* predicted nanoseconds for the answer that is wanted */
    uint64_t
        bytes; /* number of bytes that the object, its making and the work on it take together */
    bool impossible;          /* no state has positive weight */
    struct gbsi_sparse *next; /* owned: tables of another component */
} gbsi_sparse;

typedef struct gbsi_sparse_limits {
    double ns; /* limit on the predicted nanoseconds of all components together, on one thread */
    uint64_t bytes; /* limit on the bytes of sparse tables and of the work on these tables */
    uint64_t least; /* least number of dense entries of a component for which sparse tables are
                       searched */
    bool one_way;   /* whether only ln Z or a most probable state is wanted */
    bool draws;     /* whether draws are wanted in addition to marginals */
    gbsi_watch *watch;
} gbsi_sparse_limits;

/* Finds the nonzero entries of components that have hard zeros and many entries. A component gets
 * sparse tables if they are predicted to be quicker than dense tables, or if no dense tables fit.
 *
 * @param limits    limits for all components together.
 * @param dense     [components] 1: dense tables of the component fit; GBSI_SPARSE_SKIP: the
 * component gets no sparse tables.
 * @param dense_ns  nanoseconds that one entry of dense tables takes.
 * @param out list of the sparse tables found, by component; NULL: none was found. */
gbs_status gbsi_sparse_new(const gbsi_components *components, const gbsi_exact_plan *plan,
                           const gbsi_sparse_limits *limits, const uint8_t *dense, double dense_ns,
                           gbsi_sparse **out, gbs_error *err);
/* Sets to[c] = mark for each component c of `sparse` and of the objects after it in the list. */
void gbsi_sparse_mark(const gbsi_sparse *sparse, uint8_t mark, uint8_t *to);
/* Gives each clique, in the sparse trees and in the dense tree, the stream of random numbers that
 * the clique would have in one tree of all components. Draws then do not depend on which components
 * are sparse. @param plan a plan in which all components have an elimination order. @param dense
 * NULL, or the dense tree, in and out. */
gbs_status gbsi_sparse_streams(const gbsi_exact_plan *plan, gbsi_tree *dense, gbsi_sparse *sparse,
                               gbs_error *err);
/* Frees `sparse` and all objects after it in the list. */
void gbsi_sparse_free(gbsi_sparse *sparse);

/* Limits on the work of finding the nonzero entries. */
typedef struct gbsi_sparse_effort {
    const gbsi_conditioned *model; /* model of the tree */
    double steps;                  /* limit on look-ups */
    double a_state; /* number of further look-ups that each finished entry of dense tables allows.
                       Because of this limit, the search ends early if few entries are zero */
    uint64_t bytes;
    gbsi_watch *watch; /* borrowed or NULL */
} gbsi_sparse_effort;

/* Finds the rows of all cliques of sparse->tree, and counts the nonzero entries.
 * @param done out: false if the limits of `effort` were reached; the rows are then undefined. */
gbs_status gbsi_sparse_reduce(gbsi_sparse *sparse, const gbsi_sparse_effort *effort, bool *done,
                              gbs_error *err);

/* Scratch memory of a pass over the cliques. */
typedef struct gbsi_sparse_scratch {
    gbsi_join join;
    uint32_t *axis_of; /* [variables of the tree's model] axis of each variable in the clique that
                          is processed */
    uint32_t *row; /* [cliques] index in join.node of the row number of each child, in the order of
                      tree->child */
    uint32_t own_row; /* index in join.node of the row number of the clique itself */
} gbsi_sparse_scratch;

gbs_status gbsi_sparse_scratch_take(const gbsi_sparse *s, gbsi_watch *watch,
                                    gbsi_sparse_scratch *scratch, gbs_error *err);
void gbsi_sparse_scratch_free(gbsi_sparse_scratch *scratch);

/* Sets up a join of the factors of clique i and the rows of its children. The caller may add more
 * operands, and must then call gbsi_join_begin().
 * @param value [rows of all cliques] messages of all cliques, from which those of the children are
 * read; NULL if only the set of entries is wanted. */
gbs_status gbsi_sparse_join_clique(const gbsi_sparse *s, uint32_t i, const double *value,
                                   gbsi_sparse_scratch *scratch, gbs_error *err);
/* Adds the rows of clique i's own separator to the join as an operand. @param value as for
 * gbsi_sparse_join_clique(). */
gbs_status gbsi_sparse_join_own(const gbsi_sparse *s, uint32_t i, const double *value,
                                gbsi_sparse_scratch *scratch, gbs_error *err);

/* Computes ln of the sum over all states of the component, without log_constant. Variables that the
 * plan maximises over are maximised out instead of summed out. The result is minus infinity if no
 * state has positive weight. @param watch borrowed or NULL; after a stop, results are undefined.
 * @param p NULL, or [states of the whole model] out: marginals of the component's variables; only
 * for components without maximised variables. */
gbs_status gbsi_sparse_sum(const gbsi_sparse *sparse, gbsi_watch *watch, double *p, double *log_z,
                           gbs_error *err);

/* Does the work of gbsi_sparse_sum(), and finds the maximising states of the variables that are
 * maximised out. If all variables are maximised, *log_weight is ln of the weight of a most probable
 * state.
 * @param x [whole variables] out: the states of the component's variables; 0 for variables that are
 * summed out. */
gbs_status gbsi_sparse_maximise(const gbsi_sparse *sparse, gbsi_watch *watch, uint32_t *x,
                                double *log_weight, gbs_error *err);

/* Running sums of p(own | separator) over all nonzero entries, from which states are drawn. */
typedef struct gbsi_sparse_draws {
    const gbsi_sparse *sparse; /* borrowed */
    size_t *begin;  /* [rows of all cliques + 1] start of the entries of each row in `sum` and
                       `column` */
    double *sum;    /* [entries] running sums of each row */
    size_t *column; /* [entries] number of the joint state of the clique's own variables */
    struct gbsi_sparse_draws *next;
} gbsi_sparse_draws;

/* Makes an object for draws from `sparse` and from each object after it in the list. Each of these
 * components must have a state of positive weight. @param watch borrowed or NULL; after a stop,
 * results are undefined. */
gbs_status gbsi_sparse_draws_new(const gbsi_sparse *sparse, gbsi_watch *watch,
                                 gbsi_sparse_draws **out, gbs_error *err);
/* Frees `draws` and all objects after it in the list. */
void gbsi_sparse_draws_free(gbsi_sparse_draws *draws);
/* Draws states for the components of `draws` and of all objects after it in the list, as
 * gbsi_tree_draw() does. @param x [variables of the tree's model] out: states of the components'
 * variables. */
void gbsi_sparse_draw(const gbsi_sparse_draws *draws, uint64_t seed, uint32_t chain, uint64_t draw,
                      uint32_t *x);

#endif
