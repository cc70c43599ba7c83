/* SPDX-License-Identifier: Apache-2.0 */
/* The problem that a run solves: the model given evidence, its components, the choice of exact
 * components, and the part that is sampled. */
#ifndef GBSI_CHOOSE_PROBLEM_H
#define GBSI_CHOOSE_PROBLEM_H

#include "choose/barren.h"
#include "codewords/codewords.h"
#include "cutset/cutset.h"
#include "gibbsite/run.h"
#include "graph/graph.h"
#include "reference/exact_components.h"
#include "sparse/sparse.h"
#include "trees/junction_tree.h"

typedef struct gbsi_problem {
    const gbs_model *model;  /* borrowed */
    uint32_t *start;         /* [model variables] user's start; NULL if starts are drawn */
    gbsi_conditioned *whole; /* the model conditioned on the evidence */
    uint32_t n_pruned; /* number of free variables that were removed from `whole` because no queried
                          variable depends on them */
    uint32_t n_skipped; /* number of variables of components that are left without an answer because
                           no query needs them */
    uint8_t *asked;     /* [whole variables] 1 if the variable is queried; NULL if all variables are
                           queried */
    gbsi_barren *barren; /* variables removed from the whole model, which are drawn given exact
                            draws of all other variables; NULL if there are none */
    gbsi_graph
        *whole_graph; /* graph of `whole`; NULL for a lattice, as are `components` and `part_of` */
    gbsi_components *components;
    uint8_t *exact;            /* [components] 1 if the component is answered exactly */
    uint8_t *enumerated;       /* [components] 1 if enumeration answers the component */
    gbsi_tree *tree;           /* junction tree of the exact components; NULL if there is none */
    gbsi_codewords *codewords; /* codewords of exact components that have no tree; NULL: none */
    /* Sparse tables of exact components that have no tree; NULL if there are none. */
    gbsi_sparse *sparse;
    gbsi_cutset *cutset; /* cutsets of exact components that have nothing else;
                            NULL if there are none */
    bool late; /* whether the time for finding exact answers ran out; no component is then exact */
    gbsi_keep keep;       /* the data that are kept when the tree is calibrated */
    uint64_t exact_bytes; /* bytes of the tree and its tables */
    /* The model of the sampled components; equal to `whole` if all components are sampled, NULL if
     * no component is sampled. */
    gbsi_conditioned *part;
    uint32_t n_sampled; /* number of variables of the part, over all ranks that share it */
    gbsi_conditioned *
        soft; /* for gbs_log_z(): `part` with softened hard zeros, on which chains run; else NULL */
    uint32_t *part_of; /* [whole variables] number of each variable in `part`; GBSI_NONE if it is
                          not in `part` */
    gbsi_graph *graph; /* graph of `part` */
    uint8_t *target;   /* [part variables] 1 for a variable whose marginal a run with restarts
                          estimates; NULL if all visited variables are targets */
    double penalty;    /* penalty of a violated hard zero while a search goes on, in nats; 0 keeps
                          zeros hard */
    gbsi_support
        support; /* knowledge about the support, which is connected if there are no hard zeros */
} gbsi_problem;

/* Removes the variables from `whole` on which no queried variable depends. @param user [n] queried
 * variables. @param skip whether components without a queried variable need no answer. */
gbs_status gbsi_problem_ask(gbsi_problem *p, size_t n, const uint32_t *user, bool skip,
                            gbsi_watch *watch, gbs_error *err);
/* Whether a component needs an answer. It does if it has a queried variable, or hard zeros, which
 * may leave it without any state. */
bool gbsi_problem_asks(const gbsi_problem *p, uint32_t component);
/* Makes the graph of `whole` and its components. */
gbs_status gbsi_problem_take_graph(gbsi_problem *p, gbs_error *err);
/* Makes the sampled part and its graph; p->exact must be set. The part has all components that are
 * not exact; with a partial scan, it has only those of their variables that the scan visits. @param
 * report the function writes the numbers of variables to the report. */
gbs_status gbsi_problem_take_part(gbsi_problem *p, const gbs_run_options *options,
                                  gbs_report *report, gbs_error *err);
/* Frees the components and the map from variables of `whole` to variables of `part`, which only
 * exact answers need. */
void gbsi_problem_forget_components(gbsi_problem *problem);
/* Frees trees, codewords, sparse tables and cutsets. */
void gbsi_problem_forget_tables(gbsi_problem *p);
/* Marks all components as not exact, and frees their tables. The model given evidence and its
 * barren variables are kept. */
void gbsi_problem_choose_again(gbsi_problem *p);
void gbsi_problem_free(gbsi_problem *p); /* frees the members, not the struct itself */

#endif
