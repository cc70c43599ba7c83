/* SPDX-License-Identifier: Apache-2.0 */
/* A model given evidence, with the junction trees of its components; shared by the public calls. */
#ifndef GBSI_SOLVE_SOLVE_H
#define GBSI_SOLVE_SOLVE_H

#include "base/budget.h"
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
    double most_s;  /* seconds that a component may be predicted to take; infinite: no limit */
    uint64_t bytes; /* bytes that trees and the work on them may take */
    uint8_t *take;  /* [components] 1: it has a tree, sparse tables or a cutset */
    gbsi_tree *tree;
    gbsi_sparse *sparse; /* sparse tables of components that have no tree; NULL: there are none */
    gbsi_cutset *cutset; /* cutsets of components that have neither tree nor sparse tables; NULL:
                            there are none */
    gbsi_tables *tables;
    gbsi_pool *pool;
    uint32_t n_threads;
    gbsi_budget budget; /* in force from gbsi_solver_init() to gbsi_solver_free() */
    gbsi_budget *budget_before;
    bool in_budget;
} gbsi_solver;

/* Conditions the model on the evidence. The solver must be zeroed before, and freed in any case.
 * @param options NULL for the defaults.
 * @return GBS_ERR_IMPOSSIBLE if conditioning shows that the evidence has probability zero. */
gbs_status gbsi_solver_init(gbsi_solver *solver, const gbs_model *model,
                            const gbs_evidence *evidence, const gbs_exact_options *options,
                            gbs_error *err);
/* Conditions the model for a question about some variables: leaves out variables that do not affect
 * them.
 * @param query [n] the user's variables, each below the model's number of them.
 * @param only  whether components that hold none of them, and no zeros, are left out as well: set
 *              it if the answer is not a sum over all components. */
gbs_status gbsi_solver_init_about(gbsi_solver *solver, const gbs_model *model,
                                  const gbs_evidence *evidence, const gbs_exact_options *options,
                                  size_t n, const uint32_t *query, bool only, gbs_error *err);
/* Makes the trees of all components (failing if one does not fit), or of those that fit.
 * @param limits the members entries and bytes are set here. */
gbs_status gbsi_solver_plan(gbsi_solver *solver, gbsi_exact_limits limits, bool all,
                            gbs_error *err);
/* Makes one tree of all components (failing if one does not fit), without tables: to be filled with
 * other weights, or for gbsi_case_tree_new().
 * @param watch NULL, or may stop it.
 * @param user [free variables] the ids that messages use for them; NULL: the ids of the model. */
gbs_status gbsi_solver_plan_tree(gbsi_solver *solver, const uint32_t *user, gbsi_watch *watch,
                                 gbs_error *err);
/* Adds up the log sums (or maxima) of all components.
 * @param x NULL, or out: states of the variables maximised over. */
gbs_status gbsi_solve_all(gbsi_solver *solver, gbsi_sum *total, uint32_t *x, gbs_error *err);
void gbsi_solver_free(gbsi_solver *solver);

/* As gbs_exact_log_z(). @param watch NULL; else log_z is undefined once it has stopped.
 * @param ns out: the predicted time, nanoseconds of one thread, also where that is all there is. */
gbs_status gbsi_exact_sum(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_exact_options *options, gbsi_watch *watch, double *log_z,
                          double *ns, gbs_error *err);

/* The log density of a state, in a compensated sum: it does not depend on the order of the factors,
 * except for the last rounding. @param x [n_variables] */
double gbsi_exact_log_density(const gbsi_conditioned *whole, const uint32_t *x);

/* Fails with the message that the evidence has probability zero. */
gbs_status gbsi_impossible(gbs_error *err);

#endif
