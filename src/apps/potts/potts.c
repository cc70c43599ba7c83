/* SPDX-License-Identifier: Apache-2.0 */
/* Learns a dense Potts model from rows [M62]. */
#include "base/plural.h"
#include "config.h"

#include "base/sized.h"
#include "potts/potts.h"

#ifdef GBSI_HAVE_LBFGS

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "learn/climb.h"
#include "learn/orthantwise.h"
#include "learn/rates.h"
#include "options/questions.h"
#include "potts/potts_draws.h"
#include "simd/dispatch.h"
#include "simd/math.h"

typedef struct learning {
    gbs_potts_options options;
    gbsi_work work;
    gbsi_potts potts;
    double *tried; /* [n] parameters at which L-BFGS evaluates the objective */
    double *x;     /* [n] parameters after the last iteration of L-BFGS: the result */
    gbs_potts_report report;
} learning;

/* @return the number of parameters before the first coupling. */
static size_t n_fields(const learning *l)
{
    return (size_t)l->potts.n_sites * l->potts.n_states;
}

/* ---- maximum pseudo-likelihood --------------------------------------------------------------- */

static double evaluate(void *context, const double *x, double *gradient)
{
    learning *l = context;
    l->report.evaluations++;
    return gbsi_potts_objective(&l->potts, x, l->options.l2, gradient);
}

static bool advance(void *context, const gbsi_climb_point *at)
{
    learning *l = context;
    double square = 0.0;
    for (size_t k = 0; k < l->potts.n; ++k) {
        const double slope = k < n_fields(l)
                                 ? at->gradient[k]
                                 : gbsi_orthantwise_left(at->x[k], -at->gradient[k], l->options.l1);
        square += slope * slope;
    }
    memcpy(l->x, at->x, l->potts.n * sizeof *at->x);
    l->report.iterations = at->iteration;
    l->report.objective = at->objective;
    l->report.gradient_norm = gbsi_sqrt(square);
    l->work.progress.pass = at->iteration;
    if (l->options.method == GBS_POTTS_PL) {
        gbsi_potts_tell(&l->potts, &l->options, at->iteration, at->x, at->objective,
                        l->report.gradient_norm);
    }
    return !gbsi_watch_stopped(&l->work.watch);
}

/* Optimises all sites together. */
static gbs_status optimise_together(learning *l, gbs_error *err)
{
    gbsi_climb climb = {.n = l->potts.n,
                        .iterations = l->options.iterations,
                        .window = GBSI_CLIMB_WINDOW,
                        .tolerance = l->options.tolerance,
                        .l1 = l->options.l1, /* penalty of the couplings */
                        .l1_first = n_fields(l),
                        .context = l,
                        .evaluate = evaluate,
                        .advance = advance};
    if (!gbsi_climb_run(&climb, l->tried)) {
        return gbsi_no_memory(err, "L-BFGS", gbsi_climb_bytes(climb.n));
    }
    l->report.converged = climb.converged || climb.rounded;
    if (l->report.iterations == 0) {
        l->report.objective = climb.objective;
    }
    if (!gbsi_watch_stopped(&l->work.watch)) {
        return GBS_OK;
    }
    return l->report.iterations > 0 ? GBS_STOPPED : gbsi_watch_fail(err, "learning");
}

static gbs_status optimise(learning *l, gbs_error *err)
{
    const double begun_s = gbsi_clock_s();
    const gbs_status status = l->options.method == GBS_POTTS_ASYMMETRIC
                                  ? gbsi_potts_sites(&l->potts, &l->options, l->x, &l->report, err)
                                  : optimise_together(l, err);
    if (l->report.iterations > 0) {
        l->report.iteration_s = (gbsi_clock_s() - begun_s) / (double)l->report.iterations;
    }
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* @return the largest number of bytes that learning needs at one time, apart from the program and
 * the data. This is the largest of three numbers: bytes of L-BFGS and the gradient (of all sites,
 * or of one site for each thread), bytes of the chains, and bytes of the weights with the model
 * that is built from them. */
static double predict_bytes(const learning *l)
{
    const gbsi_potts *p = &l->potts;
    const double array = (double)p->n * sizeof(double);
    const double block = (double)p->n_block * sizeof(double);
    const double members = gbsi_pool_size(l->work.pool);
    const bool alone = l->options.method == GBS_POTTS_ASYMMETRIC;
    const double maximum =
        alone ? 2.0 * array + members * (block + (double)gbsi_climb_bytes(p->n_block))
              : 3.0 * array + (double)gbsi_climb_bytes(p->n);
    const double chains = l->options.method == GBS_POTTS_PCD
                              ? array * 6.0 + block * p->n_sites +
                                    (double)l->options.chains * p->n_sites *
                                        (double)(2 + gbsi_potts_most_draws(l->options.steps))
                              : 0.0;
    return 3.0 * members * block + gbsi_larger(gbsi_larger(maximum, chains), 3.0 * array);
}

static gbs_status take_memory(learning *l, gbs_error *err)
{
    l->report.predicted_bytes = predict_bytes(l);
    const size_t predicted =
        l->report.predicted_bytes < 1e18 ? (size_t)l->report.predicted_bytes : SIZE_MAX / 2;
    if (!gbsi_budget_take(predicted)) {
        return gbsi_no_memory(err, "a dense Potts model", predicted);
    }
    gbsi_budget_give(predicted);
    const bool alone = l->options.method == GBS_POTTS_ASYMMETRIC;
    GBSI_PASS(gbsi_potts_take_memory(&l->potts, true, err));
    l->tried = gbsi_alloc_lanes((alone ? 0 : l->potts.n) + GBSI_CLIMB_PADDING, sizeof *l->tried);
    l->x = gbsi_alloc_array_zero(l->potts.n, sizeof *l->x);
    return GBSI_HAVE(err, "parameters", l->tried, l->x);
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status take_options(learning *l, const gbs_potts_options *options, gbs_error *err)
{
    gbs_potts_options *o = &l->options;
    gbs_status status = gbsi_question_settle("learn potts", options, o, err);
    if (status < 0) {
        return status;
    }
    GBSI_IN_STRUCT(o->checkpoints, gbs_checkpoint_files);
    if (o->checkpoints != NULL && o->method != GBS_POTTS_PCD) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_potts_options: found checkpoints, expected none but with "
                         "GBS_POTTS_PCD");
    }
    if (o->point != NULL && o->method == GBS_POTTS_ASYMMETRIC) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_potts_options: found point with GBS_POTTS_ASYMMETRIC, which learns "
                         "one site after the other, expected all sites together");
    }
    status = gbsi_settle_rates("gbs_potts_options", &o->rate, &o->rate_last, err);
    return status < 0 ? status : gbsi_simd_check(err);
}

static gbs_status check_rows(const gbs_rows *rows, const gbs_rows *held_out, gbs_error *err)
{
    if (rows->n == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found no rows, expected some");
    }
    if (held_out != NULL &&
        (held_out->n_sites != rows->n_sites || held_out->n_states > rows->n_states)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "held-out rows: found %" PRIu32 " site%s of %" PRIu32
                         " state%s, expected %" PRIu32 " site%s of at most %" PRIu32,
                         held_out->n_sites, gbsi_plural(held_out->n_sites), held_out->n_states,
                         gbsi_plural(held_out->n_states), rows->n_sites, gbsi_plural(rows->n_sites),
                         rows->n_states);
    }
    return GBS_OK;
}

/* Computes ln PL of the rows and of the held-out rows under the result. @return false if the watch
 * stopped the work. */
static bool judge(learning *l)
{
    gbs_potts_report *r = &l->report;
    const gbs_rows *held_out = l->potts.held_out;
    const gbsi_watch *watch = &l->work.watch;
    r->pseudo_log_likelihood = gbsi_potts_log_pl(&l->potts, l->x);
    if (held_out != NULL && !gbsi_watch_stopped(watch)) {
        r->held_out_weight = gbs_rows_weight(held_out);
        r->held_out_pl = gbsi_potts_held_out_pl(&l->potts, l->x);
    }
    return !gbsi_watch_stopped(watch);
}

/* @return ln PL from the objective of the last iteration of all sites together, without another
 * pass over the rows. */
static double log_pl_of_objective(const learning *l)
{
    double penalty = 0.0;
    for (size_t k = 0; k < l->potts.n; ++k) {
        penalty += 0.5 * l->options.l2 * l->x[k] * l->x[k];
        penalty += k < n_fields(l) ? 0.0 : l->options.l1 * fabs(l->x[k]);
    }
    return l->options.method == GBS_POTTS_PL ? penalty - l->report.objective : (double)NAN;
}

/* @return the number of pairs of sites with a coupling. */
static uint64_t count_coupled(const learning *l)
{
    const size_t size = (size_t)l->potts.n_states * l->potts.n_states;
    uint64_t n = 0;
    for (size_t at = n_fields(l); at < l->potts.n; at += size) {
        size_t k = 0;
        while (k < size && l->x[at + k] == 0.0) {
            ++k;
        }
        n += k < size;
    }
    return n;
}

static gbs_status learn(learning *l, gbs_model **model, gbs_error *err)
{
    gbs_status ended = GBS_OK;
    gbs_potts_report *r = &l->report;
    GBSI_PASS(take_memory(l, err));
    l->work.progress.passes = l->options.iterations;
    r->rhat = r->misfit = (double)NAN;
    if (l->options.checkpoints == NULL || l->options.checkpoints->resume == NULL) {
        GBSI_PASS(ended = optimise(l, err));
    }
    gbsi_free(l->tried);
    l->tried = NULL;
    if (l->options.method == GBS_POTTS_PCD && ended == GBS_OK) {
        GBSI_PASS(ended = gbsi_potts_chains(&l->potts, &l->options, l->x, r, err));
    }
    if (!judge(l)) {
        ended = GBS_STOPPED;
        r->pseudo_log_likelihood = log_pl_of_objective(l);
        r->held_out_pl = (double)NAN;
    }
    if (l->options.l1 == 0.0) {
        gbsi_potts_to_gauge(&l->potts, l->x);
    }
    r->n_coupled = count_coupled(l);
    gbsi_free(l->potts.other); /* free memory for the model */
    l->potts.other = NULL;
    GBSI_PASS(gbsi_potts_model(&l->potts, l->x, model, err));
    r->size = sizeof *r;
    r->n_rows = l->potts.rows->n;
    r->n_sites = l->potts.n_sites;
    r->n_states = l->potts.n_states;
    r->n_parameters = l->potts.n;
    r->weight = gbs_rows_weight(l->potts.rows);
    r->seconds = gbsi_clock_s() - l->work.begun_s;
    return ended;
}

gbs_status gbs_potts_learn(const gbs_rows *rows, const gbs_rows *held_out,
                           const gbs_potts_options *options, const gbs_run_callbacks *callbacks,
                           gbs_model **model, gbs_potts_report *report, gbs_error *err)
{
    GBSI_NEED(rows, model);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_potts_report);
    gbs_status status = GBS_OK;
    gbs_model *learnt = NULL;
    learning l = {0};
    GBSI_TRY(take_options(&l, options, err));
    GBSI_TRY(check_rows(rows, held_out, err));
    const gbs_label_options work = {.size = sizeof work,
                                    .time_s = l.options.time_s,
                                    .threads = l.options.threads,
                                    .memory_limit = l.options.memory_limit};
    GBSI_TRY(gbsi_work_begin(&l.work, &work, callbacks, 0, err));
    GBSI_TRY(gbsi_potts_init(rows, &l.work, &l.potts, err));
    l.potts.held_out = held_out;
    GBSI_TRY(learn(&l, &learnt, err));
    gbsi_struct_give(report, &l.report, sizeof l.report);
    *model = learnt;

cleanup:
    gbsi_potts_free(&l.potts);
    GBSI_FREE(l.tried, l.x);
    gbsi_work_end(&l.work);
    return status;
}

#else

gbs_status gbs_potts_learn(const gbs_rows *rows, const gbs_rows *held_out,
                           const gbs_potts_options *options, const gbs_run_callbacks *callbacks,
                           gbs_model **model, gbs_potts_report *report, gbs_error *err)
{
    (void)held_out;
    GBSI_NEED(rows, model);
    GBSI_IN_STRUCT(options, gbs_potts_options);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_potts_report);
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "built without libLBFGS, which learning needs: install liblbfgs-dev and build "
                     "again");
}

#endif
