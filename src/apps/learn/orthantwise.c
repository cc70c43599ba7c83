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

#include <string.h>

#include "base/memory.h"
#include "learn/climb.h"

typedef struct climbing {
    gbsi_orthantwise *o;
    double *w;    /* [n] weights of the last iteration */
    bool rounded; /* whether a direction was NaN because the remembered steps were too small */
    gbs_status status;
    gbs_error *err;
} climbing;

static bool are_finite(const double *w, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; ++k) {
        sum += w[k] - w[k]; /* NaN if w[k] is NaN or infinite */
    }
    return sum == 0.0;
}

static double evaluate(void *context, const double *w, double *gradient)
{
    climbing *c = context;
    const gbsi_orthantwise *o = c->o;
    double objective = 0.0;
    c->rounded = c->rounded || !are_finite(w, o->n);
    if (c->status >= 0 && !c->rounded) {
        c->status = o->evaluate(o->context, w, &objective, gradient, c->err);
    }
    if (c->status < 0 || c->rounded) {
        memset(gradient, 0, o->n * sizeof *gradient);
        return INFINITY;
    }
    for (size_t k = 0; k < o->n; ++k) {
        gradient[k] = -gradient[k] / o->scale;
    }
    return -objective / o->scale;
}

static bool advance(void *context, const gbsi_climb_point *at)
{
    climbing *c = context;
    const gbsi_orthantwise *o = c->o;
    double change = 0.0;
    for (size_t k = 0; k < o->n; ++k) {
        const double away = fabs(at->x[k] - c->w[k]);
        change = away > change ? away : change;
    }
    memcpy(c->w, at->x, o->n * sizeof *at->x);
    if (c->status >= 0) {
        c->status = o->tell(o->context, at->iteration, at->x, -at->objective * o->scale,
                            at->slope * o->scale, change, c->err);
    }
    return c->status >= 0 && !gbsi_watch_stopped(o->watch);
}

gbs_status gbsi_orthantwise_maximise(gbsi_orthantwise *o, double *w, gbs_error *err)
{
    climbing c = {.o = o, .w = w, .err = err};
    gbsi_climb climb = {.n = o->n,
                        .iterations = o->iterations,
                        .tolerance = o->tolerance,
                        .l1 = o->l1 / o->scale,
                        .context = &c,
                        .evaluate = evaluate,
                        .advance = advance};
    double *tried = gbsi_alloc_lanes(o->n + GBSI_CLIMB_PADDING, sizeof *tried);
    GBSI_PASS(GBSI_HAVE(err, "OWL-QN", tried));
    memcpy(tried, w, o->n * sizeof *w);
    const bool ran = gbsi_climb_run(&climb, tried);
    gbsi_free(tried);
    o->converged = c.rounded || climb.converged || climb.rounded;
    return !ran                           ? gbsi_no_memory(err, "OWL-QN", gbsi_climb_bytes(o->n))
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
