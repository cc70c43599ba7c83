/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/climb.h"

#include <limits.h>

#include <lbfgs.h>

#include "base/budget.h"

enum { REMEMBERED = 6 }; /* number of past steps that L-BFGS remembers */

static double evaluate(void *context, const double *x, double *gradient, int n, double step)
{
    const gbsi_climb *c = context;
    (void)n;
    (void)step;
    return c->evaluate(c->context, x, gradient);
}

static int advance(void *context, const double *x, const double *gradient, double objective,
                   double x_norm, double slope, double step, int n, int iteration,
                   int n_evaluations)
{
    const gbsi_climb *c = context;
    const gbsi_climb_point at = {x, gradient, objective, slope, (uint64_t)iteration};
    (void)x_norm;
    (void)step;
    (void)n;
    (void)n_evaluations;
    return c->advance(c->context, &at) ? 0 : LBFGS_STOP;
}

size_t gbsi_climb_bytes(size_t n)
{
    return (2 * REMEMBERED + 5) * n * sizeof(double);
}

bool gbsi_climb_run(gbsi_climb *climb, double *x)
{
    gbsi_climb *c = climb;
    const size_t bytes = gbsi_climb_bytes(c->n);
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = REMEMBERED;
    parameters.past = c->window;
    *(c->window > 0 ? &parameters.delta : &parameters.epsilon) = c->tolerance;
    parameters.max_iterations = c->iterations > INT_MAX ? 0 : (int)c->iterations; /* 0: no limit */
    if (c->l1 > 0.0) {
        parameters.orthantwise_c = c->l1;
        parameters.orthantwise_start = (int)c->l1_first;
        parameters.orthantwise_end = (int)c->n;
        parameters.linesearch = LBFGS_LINESEARCH_BACKTRACKING;
    }
    if (!gbsi_budget_take(bytes)) {
        return false;
    }
    const int ended = lbfgs((int)c->n, x, &c->objective, evaluate, advance, c, &parameters);
    gbsi_budget_give(bytes);
    c->rounded = ended == LBFGSERR_ROUNDING_ERROR;
    c->converged =
        ended == LBFGS_SUCCESS || ended == LBFGS_STOP || ended == LBFGS_ALREADY_MINIMIZED;
    return ended != LBFGSERR_OUTOFMEMORY;
}
