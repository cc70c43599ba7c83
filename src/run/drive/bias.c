/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the bias of a drawing method that is not exact, by comparing it with the random draw.
 * After the run, the chains go on with the random draw for 1 / SHARE as many passes, but for at
 * least LEAST_PASSES. If marginals differ by more than their standard errors explain, the bias is
 * at least the remaining difference [M33]. The standard errors of this short run have a second use:
 * they predict the errors of the random draw in a run as long as this one, and show which of the
 * two methods is better. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "chains/run.h"
#include "draw/herding.h"
#include "drive/run_memory.h"
#include "simd/math.h"

#define LEAST_PASSES 64u /* least number of passes from which standard errors can be computed */
#define SHARE        4u

/* The results of the comparison over all marginals. */
typedef struct comparison {
    double bias;       /* lower bound of the bias; NAN if no marginal has standard errors from both
                          methods */
    double at_most;    /* upper bound of the bias, which includes chance; NAN if `bias` is NAN */
    uint32_t variable; /* variable with the largest bias, in the user's numbering */
    double random_error; /* largest standard error of a marginal from the random draw */
    double passes;       /* number of passes with the random draw */
} comparison;

static void compare_slot(const gbsi_problem *problem, const gbsi_sampling *sampling,
                         const gbsi_estimate *other, uint32_t slot, double z, double *scratch,
                         comparison *c)
{
    const uint32_t k = gbsi_plan_arity(sampling->engine.plan, slot);
    double *own[2] = {scratch, scratch + k};
    double *random[2] = {scratch + 2 * (size_t)k, scratch + 3 * (size_t)k};
    gbsi_estimate_slot(sampling->estimates.estimate, slot, own[0], own[1], NULL, NULL);
    gbsi_estimate_slot(other, slot, random[0], random[1], NULL, NULL);
    for (uint32_t a = 0; a < k; ++a) {
        const double apart = fabs(own[0][a] - random[0][a]);
        const double known =
            z * gbsi_sqrt(gbsi_known_square(own[1][a]) + gbsi_known_square(random[1][a]));
        const double error = gbsi_sqrt(own[1][a] * own[1][a] + random[1][a] * random[1][a]);
        c->at_most = apart + known <= c->at_most ? c->at_most : apart + known;
        if (isnan(error)) {
            continue;
        }
        const double beyond = apart - z * error;
        if (isnan(c->bias) || beyond > c->bias) {
            c->bias = beyond > 0.0 ? beyond : 0.0;
            c->variable = problem->part->user_variable[sampling->engine.plan->variable_of[slot]];
        }
        c->random_error = random[1][a] > c->random_error ? random[1][a] : c->random_error;
    }
}

static gbs_status compare(const gbsi_task *task, const gbsi_sampling *sampling,
                          const gbsi_estimate *other, comparison *c, gbs_error *err)
{
    const bool shares = gbsi_runner_shares(task->plain);
    size_t n = shares ? task->shared.share->facts.n_states : 0;
    double *scratch =
        gbsi_alloc_array(4 * (size_t)sampling->engine.plan->max_arity, sizeof *scratch);
    GBSI_PASS(GBSI_HAVE(err, "comparison", scratch));
    for (uint32_t slot = 0; !shares && slot < sampling->engine.plan->n_slots; ++slot) {
        n += gbsi_plan_arity(sampling->engine.plan, slot);
    }
    for (uint32_t slot = 0; slot < sampling->engine.plan->n_slots; ++slot) {
        if (task->shared.own_slot == NULL || task->shared.own_slot[slot] != 0) {
            compare_slot(&task->problem, sampling, other, slot, gbsi_most_deviations(n), scratch,
                         c);
        }
    }
    gbsi_free(scratch);
    return GBS_OK;
}

/* Combines the comparisons of ranks that share the model: finds the largest bias, and the first
 * variable that has this bias. */
static gbs_status compare_ranks(const gbs_ranks *ranks, comparison *c, gbs_error *err)
{
    double most[3] = {isnan(c->bias) ? -1.0 : c->bias, c->random_error,
                      isnan(c->at_most) ? -1.0 : c->at_most};
    GBSI_PASS(gbsi_ranks_combine(ranks, GBS_COMBINE_MAX_F64, most, 3, err));
    uint64_t from_end = c->bias == most[0] ? UINT32_MAX - c->variable : 0;
    GBSI_PASS(gbsi_ranks_combine(ranks, GBS_COMBINE_MAX_U64, &from_end, 1, err));
    c->bias = most[0] < 0.0 ? (double)NAN : most[0];
    c->random_error = most[1];
    c->at_most = most[2] < 0.0 ? (double)NAN : most[2];
    c->variable = UINT32_MAX - (uint32_t)from_end;
    return GBS_OK;
}

/* Makes passes with the random draw in place of the run's own drawing method. */
static gbs_status run_random(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                             gbsi_drive *drive, gbsi_estimate *other, uint64_t passes,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_draw *draw = sampling->engine.executor.draw;
    const gbs_run_options options =
        gbsi_draw_instead(&task->options, gbsi_draw_with(GBSI_DRAW_INDEPENDENT));
    sampling->engine.executor.draw = gbsi_draw_of(&options, sampling->engine.executor.level);
    for (uint64_t pass = 0; pass < passes + passes / SHARE; ++pass) {
        GBSI_TRY(gbsi_run_advance(task, sampling, report, drive,
                                  pass < passes / SHARE ? NULL : other, err));
        if (drive->stop != GBSI_GO_ON) {
            break;
        }
    }
cleanup:
    sampling->engine.executor.draw = draw;
    return status;
}

/* Whether the marginals of herding converge to the target. Herding converges if it keeps a weight
 * for every state of all other variables and the order of updates is fixed (Chen et al. 2016,
 * theorem 3) [M80]. */
static bool converges(const gbs_run_options *options, const gbsi_engine *engine)
{
    const bool fixed = (engine->scan_traits & GBSI_SCAN_REPEATS) != 0 &&
                       (engine->scan_traits & GBSI_SCAN_AT_ONCE) == 0;
    return fixed && (gbsi_draw_traits(options) & GBSI_DRAW_HERDS) != 0 &&
           gbsi_draw_completes(options);
}

/* ---- which draw to use: the three periods of Yamashita & Suzuki (2019), figure 2 ------------ */

/* Mean number of weights per variable. */
static double weights_each(const gbsi_report *report, const gbsi_engine *engine)
{
    return report->public.n_weights / (double)engine->plan->n_slots;
}

/* The error that herding itself causes. A variable has |Y| keys, and the count of each key is off
 * by the difference between the present weight and the weight at the start, two numbers of variance
 * 1/12 each. Equation (10) of Yamashita & Suzuki (2019) adds up the worst cases instead. */
static double herding_error(const gbsi_report *report, const gbsi_engine *engine)
{
    return gbsi_sqrt(weights_each(report, engine) / (6.0 * (double)report->public.chains)) /
           (double)report->public.sweeps;
}

static int advised(const gbsi_engine *engine, const gbs_run_options *options, double weights)
{
    const gbsi_draw *draw = engine->executor.draw;
    const int other =
        draw->advise == NULL ? -1 : draw->advise(options, engine->plan->n_slots, weights);
    return other < 0 ? gbsi_draw_with(GBSI_DRAW_INDEPENDENT) : other;
}

/* Reports the period of herding and the advised drawing method. @param random_error the error that
 * the random draw would have in a run of this length. */
static void judge(const gbs_run_options *options, const gbsi_engine *engine, gbsi_report *report,
                  double bias, double random_error)
{
    gbs_report *r = &report->public;
    if (bias > random_error) {
        r->period = "plateau";
        r->advised_draw = gbsi_draw_name(gbsi_draw_with(GBSI_DRAW_INDEPENDENT));
    } else if (herding_error(report, engine) >= random_error) {
        r->period = "gibbs-like";
        r->advised_draw = gbsi_draw_name(advised(engine, options, weights_each(report, engine)));
    } else {
        r->period = "fast";
        r->advised_draw = gbsi_draw_name(options->draw);
    }
}

static gbs_status advise(const gbs_run_options *options, const gbsi_engine *engine,
                         gbsi_report *report, const comparison *c, double random_error,
                         gbs_error *err)
{
    const gbs_report *r = &report->public;
    const char *name = gbsi_draw_name(options->draw);
    const double ratio = random_error / c->bias;
    const double turn =
        ratio * ratio *
        (double)
            r->sweeps; /* number of sweeps at which the error of the random draw equals the bias */
    char bias[256] = "";
    if (c->bias > 0.0) {
        gbsi_say(bias, sizeof bias,
                 "is biased by at least %.2g at variable %" PRIu32
                 "; at this length the random draw has standard errors of %.2g, and from "
                 "%.2g sweeps on they are below that bias",
                 c->bias, c->variable, random_error, turn);
    } else {
        gbsi_say(bias, sizeof bias,
                 "has no guarantee of convergence here; %.0f sweeps of the random draw show "
                 "no bias beyond their standard error of %.2g",
                 c->passes, c->random_error);
    }
    if (strcmp(r->period, "gibbs-like") == 0) {
        return gbsi_report_warn(
            report, err,
            "draw %s %s; with %.4g weights per variable it is not yet better than "
            "random draws after %.4g sweeps: use --draw %s or more sweeps",
            name, bias, weights_each(report, engine), (double)r->sweeps, r->advised_draw);
    }
    return gbsi_report_warn(report, err, "draw %s %s: %s --draw %s", name, bias,
                            strcmp(r->period, "fast") == 0 ? "keep" : "use", r->advised_draw);
}

/* @param proved whether a theorem says that the drawing method converges. */
static gbs_status tell(gbs_run_options *options, gbsi_engine *engine, gbsi_report *report,
                       const comparison *c, bool proved, gbs_error *err)
{
    const double at_length = c->random_error * gbsi_sqrt(c->passes / (double)report->public.sweeps);
    report->public.bias_estimate = c->bias;
    report->proved = c->bias == 0.0 && proved;
    report->bias_at_most = report->proved ? 0.0 : c->at_most;
    if (isnan(c->bias)) {
        return GBS_OK;
    }
    judge(options, engine, report, c->bias, at_length);
    return report->proved ? GBS_OK : advise(options, engine, report, c, at_length, err);
}

/* Reports the mean number of weights of a chain, over all groups of chains on all ranks. The
 * numbers of weights are summed as whole numbers. */
static gbs_status count_weights(const gbs_ranks *ranks, const gbs_ranks *spread,
                                const gbsi_engine *engine, gbsi_report *report, gbs_error *err)
{
    const gbsi_executor *x = &engine->executor;
    double sum[2] = {0.0, x->n_groups};
    gbs_status status = GBS_OK;
    if (x->draw->n_weights == NULL) {
        report->public.n_weights = 0.0;
        return GBS_OK;
    }
    sum[0] = x->n_groups == 0 ? 0.0 : floor(x->draw->n_weights(x->draw_state) * sum[1] + 0.5);
    /* if ranks share the model, every rank has all groups */
    status = gbsi_ranks_combine(ranks, GBS_COMBINE_SUM_F64, sum, spread != NULL ? 2 : 1, err);
    report->public.n_weights = sum[0] / sum[1];
    return status;
}

gbs_status gbsi_run_compare(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_estimate *other = NULL;
    const gbsi_stop stop = drive->stop;
    uint64_t passes = report->public.sweeps / SHARE;
    passes = passes < LEAST_PASSES ? LEAST_PASSES : passes;
    const gbsi_draw *draw =
        sampling->engine.executor
            .draw; /* NULL for a lattice, whose only method is the random draw */
    if (draw == NULL || (draw->traits & GBSI_DRAW_EXACT) != 0 || stop >= GBSI_STOP_TIME) {
        return GBS_OK;
    }
    comparison c = {.bias = NAN, .at_most = NAN, .passes = (double)passes};
    drive->stop = GBSI_GO_ON;
    GBSI_TRY(count_weights(task->ranks, task->spread, &sampling->engine, report, err));
    GBSI_TRY(gbsi_run_new_estimate(task, &sampling->engine, &other, err));
    GBSI_TRY(run_random(task, sampling, report, drive, other, passes, err));
    if (drive->stop == GBSI_GO_ON) { /* a run that was cut short is not compared */
        GBSI_TRY(gbsi_estimate_tell(sampling->estimates.estimate, err));
        GBSI_TRY(gbsi_estimate_tell(other, err));
        GBSI_TRY(compare(task, sampling, other, &c, err));
        GBSI_TRY(compare_ranks(task->shared.ranks, &c, err));
        GBSI_TRY(tell(&task->options, &sampling->engine, report, &c,
                      converges(&task->options, &sampling->engine), err));
    }
    drive->stop = drive->stop == GBSI_STOP_SIGNAL ? GBSI_STOP_SIGNAL : stop;
cleanup:
    gbsi_estimate_free(other);
    return status;
}
