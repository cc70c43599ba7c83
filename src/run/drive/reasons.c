/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the first row of verdict.def that applies to a run, and makes the sentence that is printed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "cluster/cluster.h"

static double target_of(const gbsi_report *report, const gbsi_run_purpose *purpose)
{
    const gbs_report *r = &report->public;
    return r->target_error > 0.0 ? r->target_error
           : purpose->up_only    ? GBSI_LOG_Z_TARGET
           : r->temperatures > 0 ? GBSI_TEMPERED_TARGET
                                 : GBSI_DEFAULT_TARGET;
}

/* Whether the verdict depends on the standard errors. The verdict of a run for draws depends on
 * errors only if the user gave a target. */
static bool judges_errors(const gbsi_run_purpose *purpose, const gbs_run_options *options)
{
    return !purpose->draws || options->target_error > 0.0;
}

/* Whether the chains agree. For ladders, the standard error decides, because it includes the
 * differences between ladders. */
bool gbsi_run_chains_agree(const gbsi_runner *runner, const gbsi_report *report)
{
    return gbsi_runner_climbs(runner) || isnan(report->public.max_rhat) ||
           report->public.max_rhat < GBSI_RHAT_LIMIT;
}

/* The number of draws, of all chains together, that the verdict needs. With this number of
 * independent draws at p = 1/2, the standard error equals the target error. */
static double least_draws(const gbsi_report *report, const gbsi_run_purpose *purpose)
{
    const double target = target_of(report, purpose);
    return 0.25 / (target * target);
}

double gbsi_run_least_passes(const gbs_run_options *options, const gbsi_run_purpose *purpose,
                             const gbsi_report *report, double updates_per_pass)
{
    const double chains = report->public.chains;
    const double by_draws = least_draws(report, purpose) / chains;
    const double by_updates = (double)GBSI_LEAST_UPDATES / (updates_per_pass * chains);
    return by_updates > by_draws && !options->restarts ? by_updates : by_draws;
}

/* Number of updates of one chain in a pass. For a ladder, through whose levels states move, it is
 * the number of updates at all levels. */
static double updates_per_pass(const gbsi_runner *plain, const gbsi_shared *shared,
                               const gbsi_engine *engine, const gbsi_report *report)
{
    const uint32_t levels = report->public.temperatures;
    return (double)gbsi_run_n_places(plain, shared, engine) * (levels > 0 ? levels : 1);
}

bool gbsi_run_long_enough(const gbsi_task *task, const gbsi_engine *engine,
                          const gbsi_report *report)
{
    const double draws = (double)report->public.sweeps * report->public.chains;
    const bool many = updates_per_pass(task->plain, &task->shared, engine, report) * draws >=
                          (double)GBSI_LEAST_UPDATES ||
                      task->options.restarts;
    return many &&
           draws >=
               least_draws(
                   report,
                   &task->purpose); /* with restarts, all draws are independent of one another */
}

/* Whether a theorem bounds the error from every start; the bound then holds even for a single
 * chain. */
static bool is_proved(const gbs_run_options *options)
{
    return options->certified > 0.0 || options->restarts;
}

/* Number of visits that all chains together make to a slow state. The probability of a slow state
 * equals the target error. Chains leave this state as slowly as they forgot their starts. [M9] */
static double visits_of_slow_states(const gbsi_run_purpose *purpose, const gbsi_runner *runner,
                                    const gbsi_report *report)
{
    const gbs_report *r = &report->public;
    const double slow = gbsi_runner_climbs(runner) ? 0.0 : (double)report->slow_passes;
    const double draws = (double)r->sweeps * r->chains;
    return slow > 0.0 ? target_of(report, purpose) * draws / slow : (double)INFINITY;
}

static double visits_needed(const gbsi_report *report, const gbsi_problem *problem)
{
    return report->slow_passes >= GBSI_SLOW_PASSES && problem->n_sampled <= GBSI_MOST_CLIMBING
               ? GBSI_SURE_VISITS
               : GBSI_LEAST_VISITS;
}

bool gbsi_run_has_wandered(const gbsi_task *task, const gbsi_report *report)
{
    return is_proved(&task->options) ||
           visits_of_slow_states(&task->purpose, task->runner, report) >=
               visits_needed(report, &task->problem);
}

/* ---- used by the conditions and figures of verdict.def --------------------------------------- */

enum { ENDED_SIZE = 200 };

/* Makes the text that says how an approximation ended. @param change name of the residual of the
 * approximation. */
static const char *how_it_ended(const gbs_report *r, const char *change, char text[ENDED_SIZE])
{
    const unsigned long long n = r->iterations;
    char last[64] = ""; /* the approximation has no residual until all messages have been sent */
    if (isfinite(r->residual)) {
        gbsi_say(last, sizeof last, " (%s %.2g)", change, r->residual);
    }
    if (strcmp(r->stop, "fixed point") == 0) {
        gbsi_say(text, ENDED_SIZE, "at a fixed point after %llu iteration%s%s", n, gbsi_plural(n),
                 last);
    } else if (strcmp(r->stop, "no progress") == 0) {
        gbsi_say(
            text, ENDED_SIZE,
            "no fixed point: given up after %llu iterations, as the last %u brought no smaller "
            "change%s",
            n, GBSI_PATIENCE, last);
    } else if (strcmp(r->stop, "iterations") == 0) {
        gbsi_say(text, ENDED_SIZE, "no fixed point within %llu iteration%s%s", n, gbsi_plural(n),
                 last);
    } else {
        gbsi_say(text, ENDED_SIZE, "stopped before a fixed point, after %llu iteration%s%s", n,
                 gbsi_plural(n), last);
    }
    return text;
}

/* Whether ladders, run as a control, contradict the chains whose answer is reported. */
static bool has_missed(const gbsi_task *task, const gbsi_report *report)
{
    return !gbsi_runner_climbs(task->runner) && report->contradiction.beyond > 0.0;
}

static bool support_unknown(const gbsi_problem *problem)
{
    return problem->support == GBSI_SUPPORT_UNKNOWN;
}

static bool has_splashes(const gbsi_engine *engine)
{
    return gbsi_executor_may_connect(&engine->executor);
}

static bool draw_is_exact(const gbsi_engine *engine)
{
    const gbsi_draw *draw =
        engine->executor.draw; /* NULL for a lattice, whose only method is the random draw */
    return draw == NULL || (draw->traits & GBSI_DRAW_EXACT) != 0;
}

/* Whether the user could have run this task with ladders. */
static bool takes_ladders(const gbsi_task *task)
{
    gbs_run_options o = task->options;
    o.temper = 16;
    return !gbsi_runner_shares(task->plain) && !task->purpose.draws && !task->purpose.up_only &&
           gbsi_options_check(&o, NULL) >= 0;
}

/* Whether ladders may help a run without ladders. They may help if R-hat of the chains is above the
 * limit at which `auto` would try ladders. */
static bool ladders_may_help(const gbsi_task *task, const gbsi_report *report)
{
    return report->public.max_rhat > GBSI_STUCK_RHAT && !gbsi_runner_climbs(task->runner) &&
           takes_ladders(task);
}

/* The scan of blocks that the advice in verdict.def names. */
static const char *block_scan(void)
{
    return gbsi_scan_of(gbsi_scan_with(GBSI_SCAN_CANDIDATE))->name;
}

/* Text for the option that makes blocks larger: "a larger --width" if the run has splashes, else
 * "--scan ", to which scan_unless_used() adds the name of the scan: a scan of clusters if the model
 * suits it, else the scan of blocks. */
static const char *larger_blocks(const gbs_run *run)
{
    return has_splashes(&run->sampling.engine) ? "a larger --width" : "--scan ";
}

static const char *scan_unless_used(const gbs_run *run)
{
    const unsigned clusters = GBSI_SCAN_CLUSTERS;
    const bool suits =
        run->sampling.engine.scan != NULL && (run->sampling.engine.scan_traits & clusters) == 0 &&
        (gbsi_draw_traits(&run->task.options) & GBSI_DRAW_INDEPENDENT) != 0 &&
        run->task.problem.part != NULL && gbsi_bonds_favour_equal(run->task.problem.part);
    return has_splashes(&run->sampling.engine) ? ""
           : suits                             ? gbsi_scan_of(gbsi_scan_with(clusters))->name
                                               : block_scan();
}

static const char *independent_draw(void)
{
    return gbsi_draw_name(gbsi_draw_with(GBSI_DRAW_INDEPENDENT));
}

/* Rounds a number of sweeps up to two digits, for advice to the user. */
static double round_up(double sweeps)
{
    double unit = 1.0;
    while (sweeps / unit > 100.0) {
        unit *= 10.0;
    }
    const double whole = (double)(uint64_t)(sweeps / unit);
    return unit * (whole < sweeps / unit ? whole + 1.0 : whole);
}

/* The number of sweeps from which gbsi_run_long_enough() is true. */
static double least_sweeps(const gbsi_task *task, const gbsi_engine *engine,
                           const gbsi_report *report)
{
    return round_up(
        gbsi_run_least_passes(&task->options, &task->purpose, report,
                              updates_per_pass(task->plain, &task->shared, engine, report)));
}

/* The number of sweeps from which gbsi_run_has_wandered() is true. */
static double sweeps_to_wander(const gbsi_task *task, const gbsi_report *report)
{
    const double sweeps = (double)report->public.sweeps;
    return round_up(sweeps * visits_needed(report, &task->problem) /
                    visits_of_slow_states(&task->purpose, task->runner, report));
}

/* The number of sweeps needed for the target error; the error falls with the square root of this
 * number. */
static double sweeps_for_target(const gbsi_task *task, const gbsi_engine *engine,
                                const gbsi_report *report)
{
    const double ratio = report->public.max_mcse / target_of(report, &task->purpose);
    const double sweeps = round_up((double)report->public.sweeps * ratio * ratio);
    return sweeps > least_sweeps(task, engine, report) ? sweeps
                                                       : least_sweeps(task, engine, report);
}

/* Returns the number of sweeps for enough round trips: twice the number that the rate of round
 * trips so far predicts. If there was no round trip, half of the necessary number is assumed. */
static double sweeps_for_trips(const gbs_report *r)
{
    const double trips = r->round_trips > 0 ? (double)r->round_trips : 0.5 * GBSI_LEAST_TRIPS;
    return round_up(2.0 * (double)r->sweeps * GBSI_LEAST_TRIPS / trips);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define SAY(...) gbsi_say(text, size, __VA_ARGS__)
#define TRY(...) gbsi_say(text, size, __VA_ARGS__)
#define GBSI_REASON(name, condition, sentence, advice)                             \
    static bool name##_applies(const gbs_run *run)                                 \
    {                                                                              \
        const gbs_report *r = &run->report.public;                                 \
        const double target = target_of(&run->report, &run->task.purpose);         \
        const bool judged = judges_errors(&run->task.purpose, &run->task.options); \
        (void)r, (void)target, (void)judged;                                       \
        return condition;                                                          \
    }                                                                              \
    static void name##_say(const gbs_run *run, char *text, size_t size)            \
    {                                                                              \
        const gbs_report *r = &run->report.public;                                 \
        const double target = target_of(&run->report, &run->task.purpose);         \
        (void)r, (void)target;                                                     \
        sentence;                                                                  \
    }                                                                              \
    static void name##_advise(const gbs_run *run, char *text, size_t size)         \
    {                                                                              \
        (void)run;                                                                 \
        advice;                                                                    \
    }
#include "drive/verdict.def"
#undef GBSI_REASON
#undef SAY
#undef TRY

typedef struct reason {
    bool (*applies)(const gbs_run *run);
    void (*say)(const gbs_run *run, char *text, size_t size);
    void (*advise)(const gbs_run *run, char *text, size_t size);
} reason;

static const reason reasons[] = {
#define GBSI_REASON(name, ...) {name##_applies, name##_say, name##_advise},
#include "drive/verdict.def"
#undef GBSI_REASON
};

bool gbsi_run_doubt(const gbs_run *run, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; ++i) {
        if (reasons[i].applies(run)) {
            char sentence[192];
            char advice[96];
            reasons[i].say(run, sentence, sizeof sentence);
            reasons[i].advise(run, advice, sizeof advice);
            (void)snprintf(text, size, "not converged: %s: try %s", sentence, advice);
            return true;
        }
    }
    return false;
}
