/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a tempered run. Burn-in consists of rounds; the ladder adapts after each of them. After
 * burn-in, iterations are kept. Counts decide when a run stops. The clock only ends a run early,
 * and a run limited to the counts reached gives the same bits. If the run has not converged after
 * three windows of kept iterations, the first window becomes burn-in. Windows therefore double in
 * length, and at most a third of the iterations is lost. */

#include <math.h>

#include "base/clock.h"
#include "chains/density.h"
#include "chains/run_options.h"
#include "choose/exact_part.h"
#include "drive/runners.h"
#include "ladders/tempered_inside.h"

#define WINDOW 1024u /* number of kept iterations before the first verdict */
/* Number of kept iterations without a state of positive weight after which a run without a limit of
 * its own ends. */
#define FRUITLESS 8192u
#define HARDER    3.0 /* nats that are added to the penalty of a violated zero */
/* Seconds, by counted operations, after which plain chains that still disagree are called stuck. */
#define TRIED_S 1.0
/* Share of --time after which plain chains that still disagree are called stuck. */
#define TRIED_SHARE 0.05

/* If the chains agree but some variables hardly moved, the chains go on for a while: 1 / STILL of
 * the time after which they would be called stuck. A variable that moves moderately often will move
 * in this time. A wait for rarer moves would take too long. */
#define STILL 8.0

/* Share of the remaining time that the burn-in of ladders may take. */
#define SHARE_OF_TIME 0.5

/* Number of iterations at the final levels from which the ratios of Z are estimated. */
#define LEARNT   16u
#define OBSERVED 32u /* number of iterations that are observed before the ladder is cut */

/* Number of iterations of each round. Levels move after a round; the ladder is cut after round CUT.
 */
static const uint16_t round_length[] = {32, 64, 128, 256, 512, 256, 512};
enum { N_ROUNDS = sizeof round_length / sizeof round_length[0], CUT = 4 };
_Static_assert(N_ROUNDS == GBSI_TEMPERED_ROUNDS, "as a checkpoint expects them");

/* ---- one iteration --------------------------------------------------------------------------- */

/* Copies the states of one core variable in all lanes. */
static void states_of(const gbsi_tempered *t, uint32_t v, uint32_t *lane_state)
{
    const gbsi_executor *x = &t->executor;
    const size_t at = (size_t)t->plan->slot_of[v] * x->lanes;
    for (uint32_t lane = 0; lane < x->n_chains; ++lane) {
        lane_state[lane] = gbsi_state_at(x->group[lane / x->lanes].state, at + lane % x->lanes,
                                         t->plan->value_bytes);
    }
}

static gbs_status local_moves(gbsi_tempered *t, gbsi_report *report, gbsi_drive *drive, bool keep,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_executor *x = &t->executor;
    gbsi_drive_go_whole(drive, keep);
    x->watch = &drive->watch;
    if (t->blocks.used) {
        gbsi_tempered_draw_blocks(t);
    }
    for (unsigned s = 0; s < (t->blocks.used ? 1 : GBSI_TEMPERED_SWEEPS); ++s) {
        const uint64_t pass = t->iteration * GBSI_TEMPERED_SWEEPS + s;
        GBSI_TRY(gbsi_executor_pass(x, &t->schedule, pass, NULL, false, err));
        report->public.updates += x->n_updates * x->n_chains;
    }
    gbsi_executor_log_density(x, t->density);
cleanup:
    return status;
}

static void swap_lanes(void *context, uint32_t a, uint32_t b)
{
    gbsi_executor_swap(context, a, b);
}

static gbs_status iterate(const gbsi_task *task, gbsi_tempered *t,
                          const gbsi_checkpoints *checkpoints, gbsi_report *report,
                          gbsi_drive *drive, bool keep, gbs_error *err)
{
    gbsi_exchange *e = t->exchange;
    const uint32_t lanes = t->executor.n_chains;
    for (uint32_t v = 0; t->observed != NULL && v < t->core->n_variables; ++v) {
        states_of(t, v, t->before + (size_t)v * lanes);
    }
    GBSI_PASS(gbsi_tempered_tell(t, local_moves(t, report, drive, keep, err), err));
    if (t->ratios != NULL && !keep) {
        gbsi_ratios_learn(t->ratios, t->density);
    }
    for (uint32_t v = 0; t->observed != NULL && v < t->core->n_variables; ++v) {
        states_of(t, v, t->row);
        gbsi_overlap_add(t->observed, e, v, t->before + (size_t)v * lanes, t->row);
    }
    for (uint32_t r = 0; r < e->n_ladders; ++r) {
        t->trips[r] = e->n_trips[r];
    }
    gbsi_tempered_count(t);
    gbsi_exchange_step(e, t->options.seed, t->iteration, t->density, swap_lanes, &t->executor);
    for (uint32_t r = 0; r < e->n_ladders; ++r) {
        t->trips[r] = e->n_trips[r] - t->trips[r];
    }
    ++t->iteration;
    if (keep) {
        gbsi_means_end(t->means, t->counted, t->trips);
        ++report->public.sweeps;
    } else {
        ++report->public.burn_in;
    }
    gbsi_run_watch(&task->options, report, drive, keep);
    if (t->iteration == checkpoints->stop_after) {
        drive->stop = GBSI_STOP_SIGNAL;
    }
    return gbsi_drive_agree(task->ranks, drive, err);
}

/* ---- burn-in --------------------------------------------------------------------------------- */

/* Number of levels of a ladder for a given barrier; it is at most the number of lanes. */
static uint32_t levels_for(double barrier, uint32_t lanes)
{
    const uint32_t n = barrier <= 1.5 ? 4 : barrier <= 4.5 ? 8 : barrier <= 12.0 ? 16 : 32;
    return n < lanes / 2 ? n : lanes / 2;
}

/* Removes levels at the hot end of the ladder. Levels at which local moves alone forget quickly are
 * useless. All levels are kept if ln Z is estimated, because ln Z is known at b = 0. */
static gbs_status cut(gbsi_tempered *t, gbs_error *err)
{
    const gbsi_exchange *e = t->exchange;
    const bool swept = t->blocks.plans != NULL && !t->blocks.used;
    const double found =
        t->ratios != NULL
            ? 0.0
            : gbsi_overlap_hot_end(swept ? t->overlap_of_sweeps : t->overlap, GBSI_TEMPERED_MEMORY);
    const double first = found < e->n_levels - 2 ? found : e->n_levels - 2;
    const uint32_t lanes = t->executor.n_chains;
    uint32_t n_levels = e->n_levels;
    if (t->chooses_levels) {
        n_levels = levels_for(gbsi_exchange_barrier_from(e, first), lanes);
    }
    return gbsi_tempered_respace(t, first, n_levels, lanes / n_levels, err);
}

static gbs_status adapt(gbsi_tempered *t, gbsi_engine *engine, uint64_t round, gbs_error *err)
{
    if (t->ratios != NULL && round + 1 == N_ROUNDS) {
        return GBS_OK;
    }
    const bool violated = (double)t->n_valid < GBSI_LEAST_SHARE * (double)t->n_cold;
    if (round < CUT && violated && t->penalty < GBSI_TEMPERED_MOST_PENALTY) {
        GBSI_PASS(gbsi_tempered_harden(t, engine->pool, t->penalty + HARDER, err));
    }
    if (t->blocks.plans != NULL && round + 1 == CUT) {
        t->blocks.used = true; /* blocks are drawn in one round, which compares them with sweeps */
    } else if (t->blocks.used && round == CUT) {
        t->blocks.used = gbsi_tempered_prefers_blocks(t);
    }
    GBSI_PASS(round == CUT ? cut(t, err)
                           : gbsi_tempered_respace(t, 0, t->exchange->n_levels,
                                                   t->exchange->n_ladders, err));
    t->n_valid = t->n_cold = 0;
    return GBS_OK;
}

/* Whether burn-in is over: its time is used up, or the requested iterations are done.
 * @param until_s time limit of automatic burn-in. */
static gbs_status burnt_in(const gbsi_task *task, const gbsi_tempered *t, const gbsi_report *report,
                           const gbsi_drive *drive, double until_s, bool *is_so, gbs_error *err)
{
    const gbs_run_options *o = &task->options;
    const gbsi_ratios *ratios = t->ratios;
    if (drive->stop == GBSI_GO_ON && ratios != NULL && ratios->n_rows < LEARNT) {
        *is_so = false;
        return GBS_OK;
    }
    const bool automatic = o->burn_in == GBS_BURN_IN_AUTO;
    const bool observing = t->observed != NULL && t->in_round < OBSERVED;
    bool late = gbsi_clock_s() > until_s && !observing;
    if (automatic && o->time_s > 0.0) {
        GBSI_PASS(gbsi_run_any(task->ranks, &late, err));
    } else {
        late = false;
    }
    *is_so = drive->stop != GBSI_GO_ON || late ||
             (automatic ? t->round == N_ROUNDS : report->public.burn_in >= o->burn_in);
    return GBS_OK;
}

/* The object that measures, in this round, how fast local moves forget their start; NULL in rounds
 * without this measurement. The ladder is cut as the better of sweeps and blocks requires. */
static gbsi_overlap *observed(const gbsi_tempered *t)
{
    return t->round == CUT                                  ? t->overlap
           : t->round == CUT - 1 && t->blocks.plans != NULL ? t->overlap_of_sweeps
                                                            : NULL;
}

static gbs_status burn_in(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tempered *t = run->sampling.tempered;
    const double now_s = gbsi_clock_s();
    const double left_s = drive->started_s + run->task.options.time_s - now_s;
    bool ended = false;
    t->observed = observed(t);
    for (;;) {
        GBSI_TRY(burnt_in(&run->task, run->sampling.tempered, &run->report, drive,
                          now_s + SHARE_OF_TIME * left_s, &ended, err));
        if (ended) {
            break;
        }
        GBSI_TRY(iterate(&run->task, run->sampling.tempered, &run->checkpoints, &run->report, drive,
                         false, err));
        if (t->round < N_ROUNDS && ++t->in_round >= round_length[t->round]) {
            GBSI_TRY(gbsi_ranks_meet(
                run->task.ranks,
                adapt(run->sampling.tempered, &run->sampling.engine, t->round, err), err));
            ++t->round;
            t->in_round = 0;
            t->observed = observed(t);
        }
        GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASS, err));
    }
    /* If burn-in was cut short in the middle of a round, the ladder is cut only if the round had
     * OBSERVED iterations.
     */
    if (drive->stop == GBSI_GO_ON && t->observed != NULL && t->in_round >= OBSERVED &&
        t->ratios == NULL) {
        GBSI_TRY(gbsi_ranks_meet(
            run->task.ranks, adapt(run->sampling.tempered, &run->sampling.engine, CUT, err), err));
    }
    if (drive->stop != GBSI_GO_ON) {
        GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASSES, err));
    }
    t->observed = NULL;
cleanup:
    return status;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* Whether it is time for a verdict. The first verdict comes after WINDOW kept iterations; later
 * verdicts come whenever eight or twelve batches are full. */
static bool is_due(const gbsi_means *m)
{
    return m->open == 0 && m->n >= WINDOW && (m->n_full == 8 || m->n_full == 12);
}

static gbs_status errors(gbs_run *run, gbs_error *err)
{
    (void)err;
    gbsi_tempered_report(run->sampling.tempered, &run->report, &run->checkpoints);
    return GBS_OK;
}

/* Whether neither --sweeps nor --time limits the run, and it has met no state of positive weight
 * for so long that none is expected. */
static bool is_fruitless(const gbs_run *run)
{
    const gbs_run_options *o = &run->task.options;
    return o->sweeps == 0 && o->time_s == 0.0 && run->sampling.tempered->means->n >= FRUITLESS &&
           run->report.public.valid_share == 0.0;
}

static gbs_status check(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_tempered *t = run->sampling.tempered;
    char text[sizeof run->report.public.verdict];
    GBSI_TRY(errors(run, err));
    drive->worst_error = run->report.public.max_mcse;
    if (drive->stop != GBSI_GO_ON) {
        return status;
    }
    if (run->report.public.target_error > 0.0 && !gbsi_run_doubt(run, text, sizeof text)) {
        drive->stop = GBSI_STOP_TARGET;
    } else if (is_fruitless(run)) {
        drive->stop = GBSI_STOP_NO_PROGRESS;
    } else if (run->task.options.sweeps == 0 && t->user == NULL && t->means->n == t->drop_at) {
        const uint64_t dropped = gbsi_means_drop(t->means);
        run->report.public.burn_in += dropped;
        run->report.public.sweeps -= dropped;
        t->drop_at = 3 * t->means->n;
    }
cleanup:
    return status;
}

/* Warns if some iterations gave no draws. */
static gbs_status tell_missing(const gbs_run_options *options, const gbsi_tempered *t,
                               gbsi_report *report, gbs_error *err)
{
    const uint64_t wanted = report->public.sweeps / options->thin;
    if (t->user == NULL || t->n_given == wanted) {
        return GBS_OK;
    }
    return gbsi_report_warn(report, err,
                            "%llu draws of each ladder in place of %llu: in the other iterations "
                            "the cold state of a ladder violated a hard zero",
                            (unsigned long long)t->n_given, (unsigned long long)wanted);
}

/* Decides, before each iteration, whether the run has enough iterations. */
static gbs_status decide(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    const gbs_status status =
        is_due(run->sampling.tempered->means) ? check(run, drive, err) : GBS_OK;
    if (run->task.options.sweeps > 0 && run->report.public.sweeps == run->task.options.sweeps) {
        drive->stop = GBSI_STOP_SWEEPS;
    }
    return status;
}

/* Gives one draw of every ladder, if the cold states of all ladders are valid in this iteration.
 * Ladders are independent. The cold state of a ladder in such an iteration has the law of the valid
 * states. If ladders were considered one by one, they would give different numbers of draws. */
static gbs_status give(const gbs_ranks *ranks, gbsi_tempered *t, gbsi_checkpoints *checkpoints,
                       gbsi_report *report, const gbsi_drive *drive, gbs_error *err)
{
    if (!gbsi_tempered_has_cold(t)) {
        return GBS_OK;
    }
    for (uint32_t ladder = 0; gbsi_run_speaks(ranks) && ladder < t->exchange->n_ladders; ++ladder) {
        const double density = gbsi_tempered_draw(t, ladder);
        GBSI_PASS(gbsi_run_give_draw(checkpoints, report, drive, t->n_given, ladder, density,
                                     t->user, err));
    }
    ++t->n_given;
    return GBS_OK;
}

static gbs_status sample(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbsi_tempered *t = run->sampling.tempered;
    const bool begins = drive->stop == GBSI_GO_ON;
    if (t->means == NULL) {
        GBSI_PASS(gbsi_ranks_meet(run->task.ranks, gbsi_tempered_take_means(t, err), err));
        t->drop_at = 3 * WINDOW;
    }
    for (;;) {
        GBSI_PASS(decide(run, drive, err));
        if (drive->stop != GBSI_GO_ON) {
            break;
        }
        GBSI_PASS(iterate(&run->task, run->sampling.tempered, &run->checkpoints, &run->report,
                          drive, true, err));
        if (t->user != NULL && run->report.public.sweeps % run->task.options.thin == 0) {
            GBSI_PASS(give(run->task.ranks, run->sampling.tempered, &run->checkpoints, &run->report,
                           drive, err));
        }
        GBSI_PASS(gbsi_run_keep(run, drive, GBSI_AFTER_PASS, err));
    }
    if (begins) {
        GBSI_PASS(gbsi_run_keep(run, drive, GBSI_AFTER_PASSES, err));
    }
    return tell_missing(&run->task.options, run->sampling.tempered, &run->report, err);
}

/* ---- whether a run changes to ladders -------------------------------------------------------- */

/* Whether the run may change to ladders. The user must have set no option that ladders do not
 * support, and ladders must fit the memory. */
static bool may_temper(const gbsi_task *task, const gbsi_engine *engine,
                       const gbsi_run_memory *memory, const gbsi_drive *drive)
{
    const gbs_run_options *o = &task->options;
    const bool open = o->temper == GBS_TEMPER_AUTO && o->sweeps == 0 && !task->purpose.observes &&
                      o->burn_in == GBS_BURN_IN_AUTO && drive->callbacks->draw == NULL &&
                      drive->callbacks->splash == NULL;
    const bool fits = open && memory->peak + gbsi_run_tempered_bytes(task, engine) <=
                                  gbsi_options_memory_limit(o);
    return fits && !engine->named && (task->plain->traits & GBSI_RUNNER_SCANS) != 0 &&
           (gbsi_draw_traits(o) & GBSI_DRAW_INDEPENDENT) != 0 &&
           o->estimator == GBS_ESTIMATOR_RAO_BLACKWELL && o->start == NULL && o->certified == 0.0 &&
           !o->restarts && !o->partial_scan;
}

/* Number of operations after which plain chains that disagree are called stuck. */
static double operations_tried(const gbs_run_options *options)
{
    const double share_s = TRIED_SHARE * options->time_s;
    return 1e9 * (share_s > 0.0 && share_s < TRIED_S ? share_s : TRIED_S);
}

bool gbsi_run_may_climb(const gbsi_task *task, const gbsi_engine *engine,
                        const gbsi_run_memory *memory, const gbsi_report *report,
                        const gbsi_drive *drive, bool now)
{
    const gbsi_executor *x = &engine->executor;
    const double operations = x->pass->operations(x->pass_state, x->n_all);
    const double updates = (double)report->public.updates;
    const bool tried = STILL * operations >= operations_tried(&task->options) ||
                       updates >= TRIED_SHARE * (double)task->options.max_updates;
    return may_temper(task, engine, memory, drive) && tried == now;
}

bool gbsi_run_is_stuck(const gbsi_task *task, const gbsi_engine *engine,
                       const gbsi_run_memory *memory, const gbsi_drive *drive, double rhat)
{
    const gbsi_executor *x = &engine->executor;
    const gbsi_support support = task->problem.support;
    const bool unproved = support == GBSI_SUPPORT_UNKNOWN && !gbsi_executor_connects(x);
    return may_temper(task, engine, memory, drive) &&
           (support == GBSI_SUPPORT_DISCONNECTED ||
            ((rhat > GBSI_STUCK_RHAT || unproved) &&
             x->pass->operations(x->pass_state, x->n_all) >= operations_tried(&task->options)));
}

/* Whether, after the burn-in of ladders, at least as many updates and as much time remain for
 * sampling. */
static bool may_burn_in(const gbsi_task *task, const gbsi_engine *engine, const gbsi_report *report)
{
    const gbs_report *r = &report->public;
    const gbsi_executor *x = &engine->executor;
    const double sweeps = (double)GBSI_LADDER_BURN_IN * GBSI_TEMPERED_SWEEPS *
                          GBSI_TEMPERED_LEVELS * gbsi_run_ladders(task);
    const double updates = sweeps * (double)engine->schedule.n_places;
    const double operations =
        sweeps * x->pass->operations(x->pass_state, 1) / (double)(r->burn_in + 1);
    return updates <= SHARE_OF_TIME * (double)(task->options.max_updates - r->updates) &&
           (task->options.time_s == 0.0 ||
            operations <= 1e9 * SHARE_OF_TIME * task->options.time_s);
}

bool gbsi_run_is_slow(const gbsi_task *task, const gbsi_engine *engine,
                      const gbsi_run_memory *memory, const gbsi_report *report,
                      const gbsi_drive *drive)
{
    return drive->stop == GBSI_GO_ON && report->slow_passes >= GBSI_SLOW_PASSES &&
           task->problem.n_sampled <= GBSI_MOST_CLIMBING &&
           may_temper(task, engine, memory, drive) && may_burn_in(task, engine, report);
}

bool gbsi_run_is_contradicted(const gbsi_task *task, const gbsi_engine *engine,
                              const gbsi_run_memory *memory, const gbsi_report *report,
                              const gbsi_drive *drive)
{
    return report->contradiction.beyond > 0.0 && may_temper(task, engine, memory, drive);
}

static gbsi_found_before keep_found(const gbsi_report *report, const gbsi_problem *problem)
{
    const gbs_report *r = &report->public;
    return (gbsi_found_before){.burn_in = r->burn_in,
                               .sweeps = r->sweeps,
                               .chains = r->chains,
                               .target_error = r->target_error,
                               .support = problem->support,
                               .starts_dispersed = report->starts_dispersed};
}

/* Goes back to the answer of the plain chains, and drops the ladders. */
static void answer_with(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                        const gbsi_found_before *found)
{
    gbs_report *r = &report->public;
    gbsi_tempered_free(sampling->tempered);
    sampling->tempered = NULL;
    task->runner = task->plain;
    r->burn_in = found->burn_in;
    r->sweeps = found->sweeps;
    r->chains = (uint32_t)found->chains;
    r->target_error = found->target_error;
    task->problem.support = (gbsi_support)found->support;
    report->starts_dispersed = found->starts_dispersed != 0;
}

/* Replaces the plain chains by ladders. */
static gbs_status begin(gbsi_task *task, gbsi_sampling *sampling, gbsi_run_memory *memory,
                        gbsi_report *report, gbsi_drive *drive, gbs_error *err)
{
    gbs_report *r = &report->public;
    const gbsi_found_before found = keep_found(report, &task->problem);
    gbs_status status = gbsi_tempered_begin(task, &sampling->engine, memory, report, drive,
                                            &sampling->tempered, err);
    GBSI_TRY(gbsi_ranks_meet(task->ranks, status, err));
    sampling->tempered->found = found;
    task->runner = &gbsi_runner_ladders;
    r->burn_in = r->sweeps = 0;
    sampling->phase = GBSI_PHASE_CLIMBING;
cleanup:
    if (status < 0) {
        gbsi_tempered_free(sampling->tempered);
        sampling->tempered = NULL;
    }
    return status;
}

/* Runs burn-in and sampling. */
static gbs_status climb(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    if (r->target_error > 0.0 && run->task.options.target_error == 0.0 &&
        !run->task.purpose.up_only) {
        r->target_error = GBSI_TEMPERED_TARGET;
    }
    run->task.problem.support =
        GBSI_SUPPORT_CONNECTED; /* the model of the ladders has soft zeros */
    run->report.starts_dispersed = true;
    const gbs_status kept = gbsi_run_keep(
        run, drive, run->checkpoints.begun ? GBSI_AFTER_PASS : GBSI_BEFORE_PASSES, err);
    GBSI_PASS(gbsi_ranks_meet(run->task.ranks, kept, err));
    if (run->sampling.tempered->means == NULL) {
        GBSI_PASS(burn_in(run, drive, err));
    }
    r->chains = run->sampling.tempered->exchange->n_ladders;
    return sample(run, drive, err);
}

gbs_status gbsi_run_tempered(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (drive->callbacks->splash != NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--temper runs no splashes to call back for: use --temper off");
    }
    if (run->sampling.tempered == NULL) {
        status = begin(&run->task, &run->sampling, &run->memory, &run->report, drive, err);
    }
    if (status ==
        GBS_ERR_STOPPED) { /* the watch stopped the work while the ladders were prepared */
        return gbsi_drive_agree(run->task.ranks, drive, err);
    }
    if (status >= 0) {
        status = climb(run, drive, err);
    }
    if (status >= 0 && run->sampling.tempered->found.sweeps > 0 &&
        !gbsi_tempered_has_draws(run->sampling.tempered)) {
        const gbsi_found_before found = run->sampling.tempered->found;
        answer_with(&run->task, &run->sampling, &run->report, &found);
    }
    return status;
}

/* ---- the way of running ---------------------------------------------------------------------- */

static gbs_status check_draws(const gbs_run *run, gbs_error *err)
{
    return gbsi_tempered_has_draws(run->sampling.tempered) ? GBS_OK : gbsi_no_draw_kept(err);
}

static void marginal(const gbsi_sampling *sampling, uint32_t v, double *const row[GBSI_N_ROWS])
{
    gbsi_tempered_marginal(sampling->tempered, v, row);
}

static gbs_status start(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    run->task.problem.support =
        GBSI_SUPPORT_CONNECTED; /* the model of the ladders has soft zeros */
    const gbs_status status = gbsi_chains_decide(run, drive, err);
    drive->stop = GBSI_GO_ON;
    return status;
}

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static gbs_status bytes(gbs_run *run, gbsi_run_memory *m, gbs_error *err)
{
    const uint64_t limit = gbsi_options_memory_limit(&run->task.options);
    const gbs_status status = run->task.plain->bytes(run, m, err);
    m->peak = more(m->peak, gbsi_run_tempered_bytes(&run->task, &run->sampling.engine));
    m->blocks = gbsi_run_block_bytes(&run->task, m->peak < limit ? limit - m->peak : 0);
    m->peak = more(m->peak, m->blocks);
    return status;
}

const gbsi_runner gbsi_runner_ladders = {
    .name = "ladders",
    .traits = GBSI_RUNNER_OVER_CHAINS,
    .suits = gbsi_run_wants_temper,
    .bytes = bytes,
    .begin = gbsi_run_exactly,
    .start = start,
    .advance = gbsi_run_tempered,
    .parts = gbsi_ladders_parts,
    .untraced = "a run of ladders of temperatures (--temper) has no traces; use gibbsite sample "
                "--monitor",
    .errors = errors,
    .judge = gbsi_judge_sampled,
    .check = check_draws,
    .marginal = marginal,
    .digest = gbsi_marginals_digest,
};
