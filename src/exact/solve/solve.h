/* SPDX-License-Identifier: Apache-2.0 */
/* A model given evidence, with the junction trees of its components. All public functions of this
 * folder use a gbsi_solver. */
#ifndef GBSI_SOLVE_SOLVE_H
#define GBSI_SOLVE_SOLVE_H

#include "base/budget.h"
#include "codewords/codewords.h"
#include "cutset/cutset.h"
#include "gibbsite/exact.h"
#include "reference/exact_components.h"
#include "reference/local.h"
#include "sparse/sparse.h"
#include "trees/exact_plan.h"

typedef struct gbsi_solver {
    gbsi_conditioned *whole;
    gbsi_graph *graph;
    gbsi_components *components;
    double most_s;  /* limit on the predicted seconds for one component; infinite: no limit */
    uint64_t bytes; /* limit on the bytes of the trees and of the work on the trees */
    uint8_t
        *take; /* [components] 1: the component has a tree, codewords, sparse tables or a cutset */
    gbsi_tree *tree;
    gbsi_codewords *codewords; /* codewords of components that have no dense tree; NULL: none */
    gbsi_sparse
        *sparse; /* sparse tables of components that have no dense tree; NULL: no sparse tables */
    gbsi_cutset *cutset; /* cutsets of components that have none of the three;
                            NULL: no cutsets */
    gbsi_tables *tables;
    gbsi_pool *pool;
    uint32_t n_threads;
    gbsi_budget budget; /* the memory budget that is in force from gbsi_solver_init() to
                           gbsi_solver_free() */
    gbsi_budget *budget_before;
    bool in_budget;
} gbsi_solver;

/* Conditions the model on the evidence. The solver must be zeroed before the call, and freed after
 * it even if the call fails.
 * @param options NULL for the defaults.
 * @return GBS_ERR_IMPOSSIBLE if conditioning shows that the evidence has probability zero. */
gbs_status gbsi_solver_init(gbsi_solver *solver, const gbs_model *model,
                            const gbs_evidence *evidence, const gbs_exact_options *options,
                            gbs_error *err);
/* Conditions the model for a question about some variables. Variables that do not affect the answer
 * are left out. @param query [n] variables in the user's numbering, each less than
 * model->n_variables.
 * @param only  whether components that have no queried variable and no hard zeros are left out as
 * well. Pass true if the answer is not a sum over all components. */
gbs_status gbsi_solver_init_about(gbsi_solver *solver, const gbs_model *model,
                                  const gbs_evidence *evidence, const gbs_exact_options *options,
                                  size_t n, const uint32_t *query, bool only, gbs_error *err);
/* Makes the trees of all components, or of the components that fit. @param limits limits on the
 * trees; this function sets limits->entries and limits->bytes itself. @param all whether the call
 * fails if one component does not fit. */
gbs_status gbsi_solver_plan(gbsi_solver *solver, gbsi_exact_limits limits, bool all,
                            gbs_error *err);
/* Makes one tree of all components, without tables; fails if a component does not fit. The caller
 * fills the tree with other weights, or passes it to gbsi_case_tree_new(). @param watch borrowed or
 * NULL; may stop the call. @param user [free variables] variable ids for error messages; NULL: the
 * ids of the model. */
gbs_status gbsi_solver_plan_tree(gbsi_solver *solver, const uint32_t *user, gbsi_watch *watch,
                                 gbs_error *err);
/* Adds up, over all components, ln of the sum (or maximum) of the component. @param x NULL, or out:
 * states of the maximised variables. */
gbs_status gbsi_solve_all(gbsi_solver *solver, gbsi_sum *total, uint32_t *x, gbs_error *err);
void gbsi_solver_free(gbsi_solver *solver);

/* Does the work of gbs_exact_log_z(). @param watch borrowed or NULL; after a stop log_z is
 * undefined.
 * @param ns out: the predicted nanoseconds of the computation on one thread; set before the sums
 * are computed. */
gbs_status gbsi_exact_sum(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_exact_options *options, gbsi_watch *watch, double *log_z,
                          double *ns, gbs_error *err);

/* Returns the log density of a state, by a compensated sum. The order of the factors affects only
 * the last rounding. @param x [n_variables] */
double gbsi_exact_log_density(const gbsi_conditioned *whole, const uint32_t *x);

#endif
