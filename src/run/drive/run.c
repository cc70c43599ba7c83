/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a run: starts, burn-in, passes until a stop, all decided by counts (the clock only ends
 * a run early, and the count it reached reproduces it). */
#include "chains/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "choose/exact_part.h"
#include "choose/pilot.h"
#include "drive/draws.h"
#include "reference/enumerate.h"

/* ---- the memory limit ------------------------------------------------------------------------ */

void gbsi_run_enter(gbs_run *run)
{
    run->budget.before = gbsi_budget_enter(&run->budget.own);
    run->budget.entered = true;
}

void gbsi_run_leave(gbs_run *run)
{
    if (run->budget.entered) {
        gbsi_budget_leave(run->budget.before);
        run->budget.entered = false;
    }
}

gbs_status gbs_run_count_bytes(gbs_run *run, size_t bytes, const char *what, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_NEED(run);
    gbsi_budget *before = gbsi_budget_current();
    gbsi_budget_set(&run->budget.own);
    gbsi_budget_give(run->budget.callers);
    if (gbsi_budget_take(bytes)) {
        run->budget.callers = bytes;
    } else {
        gbsi_budget_count(run->budget.callers);
        status = gbsi_no_memory(err, what == NULL ? "the caller" : what, bytes);
    }
    gbsi_budget_set(before);
    return status;
}

void gbs_run_free(gbs_run *run)
{
    if (run == NULL) {
        return;
    }
    gbsi_tempered_free(run->tempered);
    gbsi_checkpoints_free(&run->checkpoints);
    gbsi_monitor_free(&run->monitor);
    gbsi_free(run->burn_in.density);
    gbsi_estimates_free(&run->estimates);
    gbsi_shared_free(run);
    gbsi_engine_free(&run->engine);
    gbsi_problem_free(&run->problem);
    gbsi_report_free(&run->report);
    gbsi_run_leave(run);
    gbsi_free(run);
}

#define MANY_SPINS (UINT64_C(1) << 20)

/* Checks fall at 64 * 2^(k/2) sweeps: floor, exact in double. */
static uint64_t check_after(unsigned k)
{
    const double base = k % 2 == 0 ? 64.0 : 90.50966799187809;
    return k >= 100 ? UINT64_MAX : (uint64_t)(base * (double)(UINT64_C(1) << (k / 2)));
}

/* Standard errors cost as much as some sweeps: they are computed only for a decision, or to be
 * shown. With many spins in bits they cost as much as dozens of sweeps, and are not computed to be
 * shown. */
static gbs_status check_target(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    const bool decides = run->report.public.target_error != 0.0 && drive->stop == GBSI_GO_ON &&
                         gbsi_run_long_enough(run);
    const bool costly = run->engine.spins != NULL && gbsi_run_n_places(run) >= MANY_SPINS;
    const bool shown = drive->callbacks->progress != NULL && !costly;
    if (!decides && !shown && run->ranks == NULL) {
        return GBS_OK;
    }
    const gbs_status status = gbsi_run_report_errors(run, err);
    drive->worst_error = run->report.public.max_mcse;
    drive->rhat = run->report.public.max_rhat;
    if (status < 0 || !decides) {
        return status;
    }
    const bool stuck = gbsi_run_is_stuck(run, drive, run->report.public.max_rhat);
    const gbs_status turned = gbsi_run_turn_to_ladders(run, drive, stuck, err);
    if (turned < 0 || drive->stop != GBSI_GO_ON) {
        return turned;
    }
    if (run->report.public.max_mcse <= run->report.public.target_error &&
        gbsi_run_chains_agree(run) && gbsi_run_has_wandered(run)) {
        drive->stop = GBSI_STOP_TARGET;
    } else if (run->problem.support == GBSI_SUPPORT_DISCONNECTED) {
        drive->stop = GBSI_STOP_SUPPORT; /* what more sweeps cannot cross they cannot cross */
    }
    return status;
}

/* Whether the sweeps so far are enough, before another. @param k of the next check. */
static gbs_status decide(gbs_run *run, gbsi_drive *drive, unsigned *k, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t sweeps = run->report.public.sweeps;
    if (sweeps == check_after(*k)) {
        ++*k;
        GBSI_TRY(check_target(run, drive, err));
    }
    if (run->options.sweeps > 0 && sweeps == run->options.sweeps) {
        drive->stop = GBSI_STOP_SWEEPS;
    }
cleanup:
    return status;
}

static gbs_status sample(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const bool draws = drive->callbacks->draw != NULL;
    const bool splits = (run->engine.scan_traits & GBSI_SCAN_SPLITS) != 0;
    unsigned k = 0;
    gbsi_giving g = {0};
    if (draws) {
        GBSI_TRY(gbsi_giving_take(run, splits, &g, err));
    }
    while (check_after(k) < run->report.public.sweeps) {
        ++k;
    }
    for (;;) {
        GBSI_TRY(decide(run, drive, &k, err));
        if (drive->stop != GBSI_GO_ON) {
            break;
        }
        GBSI_TRY(gbsi_run_pass(run, drive, true, err));
        if (status == GBS_STOPPED) {
            break;
        }
        if (draws && run->report.public.sweeps % run->options.thin == 0) {
            gbsi_executor_fetch(&run->engine.executor, run->estimates.estimate);
            GBSI_TRY(gbsi_giving_give(run, drive, &g, err));
        }
        GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASS, err));
    }
cleanup:
    gbsi_giving_free(&g);
    return status;
}

/* `sample` of a model whose variables are all fixed: one state, given as often as asked. */
static gbs_status sample_fixed(gbs_run *run, const gbs_run_callbacks *callbacks, gbs_error *err)
{
    if (callbacks->draw == NULL || run->problem.whole->n_variables > 0 || !gbsi_run_speaks(run)) {
        return GBS_OK;
    }
    gbs_status status = GBS_OK;
    run->report.public.sweeps = run->options.sweeps;
    for (uint64_t draw = 0; draw < run->options.sweeps / run->options.thin; ++draw) {
        for (uint32_t chain = 0; chain < run->report.public.chains && status >= 0; ++chain) {
            status =
                callbacks->draw(callbacks->context, draw, chain, run->problem.whole->log_constant,
                                run->problem.whole->fixed_state, err);
        }
    }
    return status;
}

/* A run that the clock or a signal ended during burn-in has one sweep as its estimate: the same
 * bits as a run with so long a burn-in and one sweep. Draws have no such mark, and are not given.
 */
static gbs_status keep_one_sweep(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    const gbsi_stop stop = drive->stop;
    const bool ended = stop == GBSI_STOP_TIME || stop == GBSI_STOP_SIGNAL;
    if (!ended || run->report.public.sweeps > 0 || run->report.public.burn_in == 0 ||
        run->estimates.estimate == NULL || drive->callbacks->draw != NULL) {
        return GBS_OK;
    }
    drive->stop = GBSI_GO_ON; /* that sweep has a moment of its own */
    const gbs_status status = gbsi_run_pass(run, drive, true, err);
    drive->stop = stop;
    run->report.public.in_burn_in = status >= 0;
    return status;
}

static const char *const stop_name[] = {
    [GBSI_GO_ON] = "",
    [GBSI_STOP_TARGET] = "target",
    [GBSI_STOP_SWEEPS] = "sweeps",
    [GBSI_STOP_EXACT] = "exact",
    [GBSI_STOP_FIXED_POINT] = "fixed point",
    [GBSI_STOP_SETTLED] = "settled",
    [GBSI_STOP_ITERATIONS] = "iterations",
    [GBSI_STOP_TO_TEMPER] = "",
    [GBSI_STOP_TIME] = "time",
    [GBSI_STOP_UPDATES] = "updates",
    [GBSI_STOP_SIGNAL] = "signal",
    [GBSI_STOP_SUPPORT] = "support",
    [GBSI_STOP_FAILED] = "",
};

const char *gbsi_stop_text(gbsi_stop stop)
{
    return stop_name[stop];
}

static gbs_status find_support(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    if (run->shared.share != NULL) {
        return GBS_OK; /* the partition has found it */
    }
    if (gbsi_run_wants_temper(run)) {
        run->problem.support = GBSI_SUPPORT_CONNECTED; /* of soft zeros */
        return GBS_OK;
    }
    return run->report.public.has_zeros
               ? gbsi_components_support(run->problem.components, run->problem.exact, &drive->watch,
                                         GBSI_ENUMERATE_AUTO_STATES, &run->problem.support, err)
               : GBS_OK;
}

/* The scan, where that is open: the pilot's choice is compiled, and memory is taken. */
static gbs_status settle_scan(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_report *r = &run->report.public;
    uint64_t bytes = 0; /* of trials */
    if (!run->engine.undecided) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_run_choose_scan(
        run, drive, gbsi_run_least_passes(run, run->problem.part->n_variables), &bytes, err));
    if (r->chosen > 0) {
        GBSI_TRY(gbsi_run_rescan(run, gbsi_scan_with(GBSI_SCAN_CANDIDATE), &drive->watch, err));
    }
    drive->share = 1.0;
    if (bytes > r->predicted_bytes) {
        r->predicted_bytes = bytes;
    }
    GBSI_TRY(gbsi_run_take_memory(run, err));
cleanup:
    return status;
}

/* Makes the decisions before the first pass, and sets the starts of chains. */
static gbs_status begin_chains(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(find_support(run, drive, err));
    GBSI_TRY(settle_scan(run, drive, err));
    gbsi_executor_watch(&run->engine.executor, drive->callbacks->splash, drive->callbacks->context);
    if (run->problem.support == GBSI_SUPPORT_DISCONNECTED &&
        gbsi_executor_may_connect(&run->engine.executor)) {
        run->problem.support = GBSI_SUPPORT_UNKNOWN; /* that was about single variables */
    }
    GBSI_TRY(gbsi_run_find_threshold(run, drive, err));
    if (!gbsi_run_wants_temper(run)) {
        GBSI_TRY(run->shared.share != NULL ? gbsi_shared_starts(run, err)
                                           : gbsi_run_set_starts(run, drive, err));
    }
cleanup:
    return status;
}

static gbs_status run_chains(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(gbsi_ranks_compare_files(run, err));
    GBSI_TRY(gbsi_monitor_begin(run, err));
    GBSI_TRY((run->checkpoints.from != NULL ? gbsi_run_take_up : begin_chains)(run, drive, err));
    GBSI_TRY(gbsi_drive_agree(run, drive, err));
    gbsi_executor_watch(&run->engine.executor, drive->callbacks->splash,
                        drive->callbacks->context); /* again: the search made new blocks */
    const bool resumed = run->tempered != NULL;
    const bool tempers = resumed || gbsi_run_wants_temper(run);
    if (!tempers) {
        GBSI_TRY(gbsi_run_keep(run, drive, GBSI_BEFORE_PASSES, err));
        if (run->phase == GBSI_PHASE_BURN_IN) {
            GBSI_TRY(gbsi_run_burn_in(run, drive, err));
        }
        if (run->report.public.sweeps == 0) {
            GBSI_TRY(gbsi_run_turn_to_ladders(run, drive, gbsi_run_is_slow(run, drive), err));
        }
        GBSI_TRY(sample(run, drive, err));
        run->phase = drive->stop == GBSI_STOP_TO_TEMPER ? GBSI_PHASE_STUCK : run->phase;
        GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASSES, err));
        GBSI_TRY(keep_one_sweep(run, drive, err)); /* no part of what goes on */
        GBSI_TRY(gbsi_run_compare(run, drive, err));
        GBSI_TRY(gbsi_monitor_gather(run, err));
    }
    if (tempers || drive->stop == GBSI_STOP_TO_TEMPER) {
        drive->stop = resumed ? drive->stop : GBSI_GO_ON;
        GBSI_TRY(gbsi_run_tempered(run, drive, err));
    }
cleanup:
    return status;
}

static gbs_status execute(gbs_run *run, const gbs_run_callbacks *callbacks, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_drive drive;
    gbsi_drive_begin(&drive, run, callbacks);
    if (gbsi_run_is_mean_field(run)) {
        GBSI_TRY(gbsi_run_mean_field(run, &drive, err));
    } else if (run->estimates.exact_p != NULL) {
        GBSI_TRY(gbsi_run_exactly(run, &drive, err));
    } else if (run->problem.part == NULL) { /* nothing is free */
        run->report.public.log_z = run->problem.whole->log_constant;
    }
    run->report.answering = true;
    if (run->problem.part != NULL) {
        GBSI_TRY(run_chains(run, &drive, err));
    } else if (!gbsi_run_is_mean_field(run)) {
        GBSI_TRY(run->problem.tree != NULL || run->problem.sparse != NULL ||
                         run->problem.cutset != NULL
                     ? gbsi_run_sample_exactly(run, &drive, err)
                     : sample_fixed(run, drive.callbacks, err));
        drive.stop = drive.stop == GBSI_GO_ON ? GBSI_STOP_EXACT : drive.stop;
    }
    run->report.public.sampling_s = run->checkpoints.before_s + gbsi_clock_s() - drive.started_s;
    run->report.public.updates_per_s =
        run->report.public.sampling_s > 0.0
            ? (double)run->report.public.updates / run->report.public.sampling_s
            : 0.0;
    (void)snprintf(run->report.public.stop, sizeof run->report.public.stop, "%s",
                   stop_name[drive.stop]);
    GBSI_TRY(gbsi_run_verdict(run, err));
    status = drive.stop >= GBSI_STOP_TIME ? GBS_STOPPED : GBS_OK;
cleanup:
    return status;
}

gbs_status gbs_run_execute(gbs_run *run, const gbs_run_callbacks *callbacks, gbs_error *err)
{
    GBSI_NEED(run);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    static const gbs_run_callbacks none = {0};
    if (run->report.executed) {
        return gbsi_fail(err, GBS_ERR_STATE, "this run was executed before: make a new run");
    }
    if (run->checkpoints.draws != NULL && (callbacks == NULL || callbacks->draw == NULL)) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "draws are to be kept, and there is no callbacks.draw");
    }
    run->report.executed = true;
    gbsi_run_enter(run);
    const gbs_status status = execute(run, callbacks == NULL ? &none : callbacks, err);
    gbsi_run_leave(run);
    run->report.answering = status >= 0;
    return status;
}

const gbs_report *gbs_run_report(const gbs_run *run)
{
    return run == NULL ? NULL : &run->report.public;
}
