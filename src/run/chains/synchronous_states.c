/* SPDX-License-Identifier: Apache-2.0 */
/* Makes synchronous chains from chromatic chains (Gonzalez, Low, Gretton & Guestrin 2011, theorem
 * 3.2; [M34]). The chromatic chains 2c (Y) and 2c + 1 (Z) have two classes, of which class 1 is
 * updated first. They give X^(2p - 1) = (class 1 of Z, class 2 of Y) after pass p, and X^(2p) =
 * (class 1 of Y after pass p + 1, class 2 of Z after pass p). All of X^(t + 1) is drawn given
 * X^(t). A pass makes two steps, and the user gets the state after the odd one. If the updates of a
 * plan read the states before the pass, each of the two chains is synchronous already. */
#include "chains/run.h"

double gbsi_recombine(const gbsi_engine *engine, const gbsi_conditioned *part, uint32_t chain,
                      uint32_t *x, uint32_t *other)
{
    const gbsi_plan *plan = engine->plan;
    gbsi_executor_get(&engine->executor, 2 * chain, x);
    if (plan->at_once) { /* the state of one of the two synchronous chains */
        return gbsi_conditioned_log_density(part, x);
    }
    gbsi_executor_get(&engine->executor, 2 * chain + 1, other);
    for (uint32_t slot = 0; slot < plan->level_start[1]; ++slot) {
        x[plan->variable_of[slot]] = other[plan->variable_of[slot]];
    }
    return gbsi_conditioned_log_density(part, x);
}

void gbsi_part_user_state(const gbsi_conditioned *part, const uint32_t *x, uint32_t *user)
{
    for (uint32_t v = 0; v < part->n_variables; ++v) {
        user[part->user_variable[v]] = gbsi_conditioned_states(part, v)[x[v]];
    }
}

void gbsi_run_user_state(const gbsi_engine *engine, const gbsi_problem *problem, uint32_t chain,
                         uint32_t *x, uint32_t *user)
{
    gbsi_executor_get(&engine->executor, chain, x);
    gbsi_part_user_state(problem->part, x, user);
}
