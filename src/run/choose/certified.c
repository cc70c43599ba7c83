/* SPDX-License-Identifier: Apache-2.0 */
/* A proved burn-in [M38]: the smallest number of passes after which the marginal of every sampled
 * variable is within the requested distance of its limit, from any start. The bound follows, one by
 * one, the updates of the passes that the run will make. It also holds for random and permuted
 * scans with the given seed, because their sequence of updates does not depend on the states. */
#include <inttypes.h>

#include "base/memory.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "dobrushin/variation.h"

#define MOST_PASSES ((uint64_t)1 << 20)
#define MOST_WORK   ((uint64_t)1 << 34) /* largest number of updates times neighbours in a search */
#define STALLED \
    (1.0 -      \
     1e-9) /* a search ends if its bound does not fall below this multiple of the bound before */
#define LEAST_DOUBLING 16u

static gbs_status check(const gbs_run_options *o, const gbsi_engine *engine, gbs_error *err)
{
    const char *base = gbsi_scan_base_name();
    if ((gbsi_draw_traits(o) & GBSI_DRAW_INDEPENDENT) == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--certified: only the random draw has a certificate");
    }
    if ((engine->scan_traits & (GBSI_SCAN_SPLITS | GBSI_SCAN_BLOCKS | GBSI_SCAN_CLUSTERS)) != 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--certified: only scans that update one variable at a time have a "
                         "certificate: try --scan %s",
                         base);
    }
    if (o->burn_in != GBS_BURN_IN_AUTO) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--certified computes the burn-in: leave out --burn-in");
    }
    if (o->restarts || o->partial_scan) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--certified cannot apply with --restarts or --partial-scan, which have "
                         "no burn-in");
    }
    return GBS_OK;
}

static double largest(const double *b, uint32_t n)
{
    double most = 0.0;
    for (uint32_t i = 0; i < n; ++i) {
        most = b[i] > most ? b[i] : most;
    }
    return most;
}

static gbs_status no_certificate(const gbs_run_options *options, double bound, uint64_t passes,
                                 gbs_error *err)
{
    return gbsi_fail(
        err, GBS_ERR_UNSUPPORTED,
        "--certified: no certificate for %g: after %" PRIu64
        " passes the bound on a marginal's error is %.3g, and it no longer falls or would take "
        "too long; leave out the option, and see 'gibbsite certify'",
        options->certified, passes, bound);
}

static gbs_status out_of_time(gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_STOPPED,
                     "out of time while bounding how long the start is remembered: there is no "
                     "result yet; try a longer --time");
}

/* Finds the burn-in. @param b [n] bounds of the distances of all variables, which are 1 before the
 * first pass. */
static gbs_status find(gbs_run_options *options, const gbsi_engine *engine, gbsi_report *report,
                       const gbsi_influences *c, double *b, gbsi_watch *watch, gbs_error *err)
{
    const double entries = (double)gbsi_influences_row(c, c->n);
    double compared = 1.0;
    double bound = 1.0;
    double work = 0.0;
    uint64_t k = 0;
    while (bound > options->certified) {
        gbsi_sequence sequence = {0};
        if (k == MOST_PASSES || work > (double)MOST_WORK) {
            return no_certificate(options, bound, k, err);
        }
        GBSI_PASS(engine->scan->next_pass(engine->scan_state, k, &sequence, err));
        if (!gbsi_variation_follow(c, sequence.variable, sequence.n, b, watch) ||
            gbsi_watch_spend(watch, c->n)) {
            return out_of_time(err);
        }
        work += (double)sequence.n * (1.0 + entries / c->n);
        bound = largest(b, c->n);
        if (++k >= LEAST_DOUBLING && (k & (k - 1)) == 0) {
            if (bound > STALLED * compared && bound > options->certified) {
                return no_certificate(options, bound, k, err);
            }
            compared = bound;
        }
    }
    options->burn_in = k;
    report->public.certified = bound;
    return GBS_OK;
}

/* Bounds the distance of the estimated marginals from the target after one pass. @param b [n]
 * bounds of the distances of all variables, which are 1 before the pass. */
static gbs_status bound_pass(const gbsi_problem *problem, const gbsi_engine *engine,
                             gbsi_report *report, const gbsi_influences *c, double *b,
                             gbsi_watch *watch, gbs_error *err)
{
    gbsi_sequence sequence = {0};
    double bound = 0.0;
    GBSI_PASS(engine->scan->next_pass(engine->scan_state, 0, &sequence, err));
    if (!gbsi_variation_follow(c, sequence.variable, sequence.n, b, watch)) {
        return out_of_time(err);
    }
    for (size_t t = 0; t < sequence.n; ++t) {
        const uint32_t v = sequence.variable[t];
        const bool asked = problem->target == NULL || problem->target[v] != 0;
        bound = asked && b[v] > bound ? b[v] : bound;
    }
    report->public.bias_estimate = bound < 1.0 ? bound : 1.0;
    return GBS_OK;
}

gbs_status gbsi_run_certify(gbs_run_options *options, const gbsi_problem *problem,
                            const gbsi_engine *engine, gbsi_report *report, gbsi_watch *watch,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_influences *c = NULL;
    double *b = NULL;
    if (options->certified == 0.0 && !options->restarts) {
        return GBS_OK;
    }
    if (options->certified > 0.0) {
        GBSI_TRY(check(options, engine, err));
    }
    status = gbsi_influences_new(problem->graph, GBS_INFLUENCE_AUTO,
                                 gbsi_options_memory_limit(options), watch, &c, err);
    GBSI_TRY(gbsi_watch_stopped(watch) ? out_of_time(err) : status);
    b = gbsi_alloc_array(c->n, sizeof *b);
    GBSI_TRY(GBSI_HAVE(err, "certificate", b));
    gbsi_variation_begin(c, b);
    status = options->restarts ? bound_pass(problem, engine, report, c, b, watch, err)
                               : find(options, engine, report, c, b, watch, err);

cleanup:
    gbsi_free(b);
    gbsi_influences_free(c);
    return status;
}
