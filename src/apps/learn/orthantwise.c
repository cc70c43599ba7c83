/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "learn/orthantwise.h"

#include <math.h>

#include "simd/math.h"

double gbsi_orthantwise_slope(const gbsi_orthantwise *o, const double *w, const double *gradient)
{
    double square = 0.0;
    for (size_t k = 0; k < o->n; ++k) {
        const double left = gbsi_orthantwise_left(w[k], gradient[k], o->l1);
        square += left * left;
    }
    return gbsi_sqrt(square);
}

#ifdef GBSI_HAVE_LBFGS

#include <limits.h>
#include <string.h>

#include <lbfgs.h>

#include "base/budget.h"
#include "base/memory.h"

enum {
    REMEMBERED = 6, /* steps */
    PADDING = 16,   /* weights that libLBFGS may read beyond the last one */
};

typedef struct climbing {
    gbsi_orthantwise *o;
    double *w;    /* [n] of the last iteration */
    bool rounded; /* a step had a direction of NaN: those remembered were too small to tell one */
    gbs_status status;
    gbs_error *err;
} climbing;

static bool are_finite(const double *w, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; ++k) {
        sum += w[k] - w[k]; /* NaN of infinity, too */
    }
    return sum == 0.0;
}

/* libLBFGS minimises. */
static double evaluate(void *context, const double *w, double *gradient, int n, double step)
{
    climbing *c = context;
    const gbsi_orthantwise *o = c->o;
    double objective = 0.0;
    (void)step;
    c->rounded = c->rounded || !are_finite(w, o->n);
    if (c->status >= 0 && !c->rounded) {
        c->status = o->evaluate(o->context, w, &objective, gradient, c->err);
    }
    if (c->status < 0 || c->rounded) {
        memset(gradient, 0, (size_t)n * sizeof *gradient);
        return INFINITY;
    }
    for (size_t k = 0; k < o->n; ++k) {
        gradient[k] = -gradient[k] / o->scale;
    }
    return -objective / o->scale;
}

static int advance(void *context, const double *w, const double *gradient, double objective,
                   double w_norm, double slope, double step, int n, int iteration,
                   int n_evaluations)
{
    climbing *c = context;
    const gbsi_orthantwise *o = c->o;
    double change = 0.0;
    (void)gradient;
    (void)w_norm;
    (void)step;
    (void)n;
    (void)n_evaluations;
    for (size_t k = 0; k < o->n; ++k) {
        const double away = fabs(w[k] - c->w[k]);
        change = away > change ? away : change;
    }
    memcpy(c->w, w, o->n * sizeof *w);
    if (c->status >= 0) {
        c->status = o->tell(o->context, (uint64_t)iteration, w, -objective * o->scale,
                            slope * o->scale, change, c->err);
    }
    return c->status < 0 || gbsi_watch_stopped(o->watch);
}

gbs_status gbsi_orthantwise_maximise(gbsi_orthantwise *o, double *w, gbs_error *err)
{
    const size_t bytes = (2 * REMEMBERED + 5) * (o->n + PADDING) * sizeof *w;
    climbing c = {.o = o, .w = w, .err = err};
    lbfgs_parameter_t parameters;
    double objective = 0.0;
    int ended = LBFGSERR_OUTOFMEMORY;
    lbfgs_parameter_init(&parameters);
    parameters.m = REMEMBERED;
    parameters.epsilon = o->tolerance;
    parameters.max_iterations = o->iterations > INT_MAX ? 0 : (int)o->iterations; /* 0: no limit */
    parameters.orthantwise_c = o->l1 / o->scale;
    parameters.orthantwise_end = (int)o->n;
    parameters.linesearch = LBFGS_LINESEARCH_BACKTRACKING;
    double *tried = gbsi_alloc_lanes(o->n + PADDING, sizeof *tried);
    if (tried != NULL && gbsi_budget_take(bytes)) {
        memcpy(tried, w, o->n * sizeof *w);
        ended = lbfgs((int)o->n, tried, &objective, evaluate, advance, &c, &parameters);
        gbsi_budget_give(bytes);
    }
    gbsi_free(tried);
    o->converged = c.rounded || ended == LBFGS_SUCCESS || ended == LBFGS_STOP ||
                   ended == LBFGS_ALREADY_MINIMIZED || ended == LBFGSERR_ROUNDING_ERROR;
    return ended == LBFGSERR_OUTOFMEMORY  ? gbsi_no_memory(err, "OWL-QN", bytes)
           : c.status < 0                 ? c.status
           : gbsi_watch_stopped(o->watch) ? gbsi_watch_fail(err, "learning")
                                          : GBS_OK;
}

#else

gbs_status gbsi_orthantwise_maximise(gbsi_orthantwise *o, double *w, gbs_error *err)
{
    (void)o;
    (void)w;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "built without libLBFGS, which learning with l1 needs: install liblbfgs-dev "
                     "and build again");
}

#endif
