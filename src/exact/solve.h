/* SPDX-License-Identifier: Apache-2.0 */
/* A model given evidence with the junction trees of its components: what the public calls share. */
#ifndef GBSI_EXACT_SOLVE_H
#define GBSI_EXACT_SOLVE_H

#include "base/budget.h"
#include "exact/exact_components.h"
#include "exact/exact_plan.h"
#include "gibbsite/exact.h"

typedef struct gbsi_solver {
    gbsi_conditioned *whole;
    gbsi_graph *graph;
    gbsi_components *components;
    uint64_t bytes; /* that trees and the work on them may take */
    uint8_t *take;  /* [components] 1: it has a tree */
    gbsi_tree *tree;
    gbsi_tables *tables;
    gbsi_pool *pool;
    uint32_t n_threads;
    gbsi_budget budget; /* in force from gbsi_solver_init() to gbsi_solver_free() */
    gbsi_budget *budget_before;
    bool in_budget;
} gbsi_solver;

/* Conditions; GBS_ERR_IMPOSSIBLE if that shows a probability of zero. Zero the solver before; free
 * it in any case. @param options NULL for the defaults. */
gbs_status gbsi_solver_init(gbsi_solver *solver, const gbs_model *model,
                            const gbs_evidence *evidence, const gbs_exact_options *options,
                            gbs_error *err);
/* Trees of all components, or of those that fit. @param limits entries and bytes are set here. */
gbs_status gbsi_solver_plan(gbsi_solver *solver, gbsi_exact_limits limits, bool all,
                            gbs_error *err);
/* Forgets the trees, for others. */
void gbsi_solver_forget(gbsi_solver *solver);
void gbsi_solver_free(gbsi_solver *solver);

/* "The evidence has probability zero". */
gbs_status gbsi_impossible(gbs_error *err);

#endif
