/* SPDX-License-Identifier: Apache-2.0 */
/* The problem that a run solves: the model given evidence, its components, which of them are
 * answered exactly, and the part that is sampled. */
#ifndef GBSI_CHOOSE_PROBLEM_H
#define GBSI_CHOOSE_PROBLEM_H

#include "choose/barren.h"
#include "cutset/cutset.h"
#include "gibbsite/run.h"
#include "graph/graph.h"
#include "reference/exact_components.h"
#include "sparse/sparse.h"
#include "trees/junction_tree.h"

typedef struct gbsi_problem {
    const gbs_model *model;  /* borrowed */
    uint32_t *start;         /* [model variables] user's start, NULL: drawn */
    gbsi_conditioned *whole; /* the model given evidence */
    uint32_t n_pruned; /* free variables that the whole has lost: nothing asked for needs them */
    uint32_t
        n_skipped;  /* variables of components that are not answered, because no query needs them */
    uint8_t *asked; /* [whole variables] 1: asked for; NULL: all are */
    gbsi_barren *barren;     /* variables removed from the whole model, which are drawn given exact
                                draws of all other variables; NULL: there are none */
    gbsi_graph *whole_graph; /* NULL for a lattice, as components and part_of */
    gbsi_components *components;
    uint8_t *exact;       /* [components] 1: answered by a tree, by sparse tables or by a cutset */
    uint8_t *enumerated;  /* [components] 1: answered by enumeration */
    gbsi_tree *tree;      /* of the exact components; NULL: there are none */
    gbsi_sparse *sparse;  /* sparse tables of exact components that have no tree; NULL: there are
                             none */
    gbsi_cutset *cutset;  /* cutsets of exact components that have neither tree nor sparse tables;
                             NULL: there are none */
    bool late;            /* the time for finding exact answers was over: none is */
    gbsi_keep keep;       /* how its tables are calibrated */
    uint64_t exact_bytes; /* bytes of the tree and its tables */
    gbsi_conditioned *part; /* the sampled components: whole if all are, NULL if none is */
    uint32_t n_sampled;     /* variables of the part, on all ranks that share it */
    gbsi_conditioned *soft; /* NULL, or part with its hard zeros softened, which is what chains run
                               on: gbs_log_z() */
    uint32_t *part_of;      /* [whole variables] variable of part, GBSI_NONE */
    gbsi_graph *graph;      /* of part */
    uint8_t *target;        /* [part variables] 1: target variable of a run with restarts; NULL: all
                               visited */
    double penalty;         /* penalty of hard zeros on the way, nats; 0: they stay hard */
    gbsi_support support;   /* known of it; connected where no hard zeros remain */
} gbsi_problem;

/* Leaves out of the whole what bears on none of the user's variables that are asked for.
 * @param skip whether components without any of them need no answer. */
gbs_status gbsi_problem_ask(gbsi_problem *p, size_t n, const uint32_t *user, bool skip,
                            gbsi_watch *watch, gbs_error *err);
/* Whether a component holds a variable that is asked for, or holds zeros, so that it may have no
 * state. */
bool gbsi_problem_asks(const gbsi_problem *p, uint32_t component);
/* The graph of the whole and its components. */
gbs_status gbsi_problem_take_graph(gbsi_problem *p, gbs_error *err);
/* The sampled part and its graph, once p->exact is known: all components that are not exact, or
 * what a partial scan visits of them. @param report the numbers of variables in it are filled in.
 */
gbs_status gbsi_problem_take_part(gbsi_problem *p, const gbs_run_options *options,
                                  gbs_report *report, gbs_error *err);
/* Frees the components and the map from variables of the whole to those of the part: only exact
 * answers need them. */
void gbsi_problem_forget_components(gbsi_problem *problem);
/* Frees trees, sparse tables and cutsets. */
void gbsi_problem_forget_tables(gbsi_problem *p);
/* Forgets which components are exact and what was made of them. The model given evidence stays,
 * with its barren variables. */
void gbsi_problem_choose_again(gbsi_problem *p);
void gbsi_problem_free(gbsi_problem *p); /* frees the members, not the struct itself */

#endif
