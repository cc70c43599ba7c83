/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a run with the functions of its runner. All stops except those of the clock and the user
 * are decided by counts. The clock only ends a run early: a run limited to the counts reached gives
 * the same bits. */
#include "chains/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "drive/runners.h"

/* ---- the memory limit ------------------------------------------------------------------------ */

void gbsi_run_enter(gbsi_run_budget *budget)
{
    budget->before = gbsi_budget_enter(&budget->own);
    budget->entered = true;
}

void gbsi_run_leave(gbsi_run_budget *budget)
{
    if (budget->entered) {
        gbsi_budget_leave(budget->before);
        budget->entered = false;
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
    gbsi_tempered_free(run->sampling.tempered);
    gbsi_checkpoints_free(&run->checkpoints);
    gbsi_monitor_free(&run->sampling.monitor);
    gbsi_observed_free(&run->sampling.observed);
    gbsi_free(run->sampling.burn_in.density);
    gbsi_estimates_free(&run->sampling.estimates);
    if (run->task.plain != NULL && run->task.plain->free != NULL) {
        run->task.plain->free(&run->task, &run->sampling);
    }
    gbsi_engine_free(&run->sampling.engine);
    gbsi_problem_free(&run->task.problem);
    gbsi_report_free(&run->report);
    gbsi_run_leave(&run->budget);
    gbsi_free(run);
}

static const char *const stop_name[] = {
    [GBSI_GO_ON] = "",
    [GBSI_STOP_TARGET] = "target",
    [GBSI_STOP_SWEEPS] = "sweeps",
    [GBSI_STOP_EXACT] = "exact",
    [GBSI_STOP_FIXED_POINT] = "fixed point",
    [GBSI_STOP_SETTLED] = "settled",
    [GBSI_STOP_BOUND] = "bound",
    [GBSI_STOP_ITERATIONS] = "iterations",
    [GBSI_STOP_NO_PROGRESS] = "no progress",
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

/* Does all work that is needed before the first pass. If the checkpoint is of a run that turned to
 * ladders, the runner changes to the runner of ladders. */
static gbs_status start(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    if (run->task.runner->start == NULL) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_ranks_compare_files(run, err));
    GBSI_PASS(gbsi_monitor_begin(&run->task.problem, &run->sampling.monitor, &run->report, err));
    GBSI_PASS((run->checkpoints.from != NULL ? gbsi_run_take_up
                                             : run->task.runner->start)(run, drive, err));
    return gbsi_drive_agree(run->task.ranks, drive, err);
}

/* Whether belief propagation gives the answer: sampling has none, because the time was over or a
 * signal came, but belief propagation has one. */
static bool is_empty_handed(const gbs_run *run, const gbsi_drive *drive, gbs_status status)
{
    const gbs_report *r = &run->report.public;
    return run->sampling.estimates.first_p != NULL && drive->stop >= GBSI_STOP_TIME &&
           (status == GBS_ERR_STOPPED || (status >= 0 && (r->sweeps == 0 || r->in_burn_in)));
}

/* @param timed whether gbsi_run_may_give_up() returned true. */
static gbs_status answer(gbs_run *run, bool timed, gbsi_drive *drive, gbs_error *err)
{
    GBSI_PASS(run->task.runner->begin(&run->task, &run->sampling, &run->report, drive, err));
    if (timed && drive->callbacks->draw == NULL) {
        GBSI_PASS(gbsi_run_answer_first(&run->task, &run->sampling, drive, err));
    }
    run->report.answering = true;
    GBSI_PASS(start(run, drive, err));
    return run->task.runner->advance == NULL ? GBS_OK : run->task.runner->advance(run, drive, err);
}

gbs_status gbsi_run_tell_late(gbsi_report *report, gbs_error *err)
{
    char predicted[64] = "";
    if (report->late_share == 0.0) {
        return GBS_OK;
    }
    if (isfinite(report->late_times) && report->late_times > 0.0) {
        (void)snprintf(predicted, sizeof predicted, ", and would have taken %.2g times --time",
                       report->late_times);
    }
    return gbsi_report_warn(report, err, "%s after %.0f %% of --time%s: %s",
                            report->late_search ? "the search for exact answers was given up"
                                                : "exact answers were not there",
                            100.0 * report->late_share, predicted,
                            report->in_hand
                                ? "the answer is by belief propagation, as sampling had "
                                  "none in the rest"
                                : "sampled instead, as by --method sample");
}

static gbs_status execute(gbs_run *run, const gbs_run_callbacks *callbacks, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    gbsi_drive drive;
    gbsi_drive_begin(&drive, run, callbacks);
    const bool timed = gbsi_run_may_give_up(run);
    drive.exact_share = timed ? GBSI_EXACT_SHARE : 1.0;
    gbs_status status = answer(run, timed, &drive, err);
    if (status == GBS_ERR_STOPPED &&
        drive.stop == GBSI_GO_ON) { /* the share of --time for exact answers is used up */
        GBSI_PASS(gbsi_run_sample_instead(run, &drive, err));
        status = answer(run, timed, &drive, err);
    }
    if (is_empty_handed(run, &drive, status)) {
        run->task.runner = &gbsi_runner_first_answer;
        run->report.in_hand = true;
        status = GBS_OK;
    }
    GBSI_PASS(status);
    GBSI_PASS(gbsi_run_tell_late(&run->report, err));
    r->sampling_s = run->checkpoints.before_s + gbsi_clock_s() - drive.started_s;
    r->updates_per_s = r->sampling_s > 0.0 ? (double)r->updates / r->sampling_s : 0.0;
    (void)snprintf(r->stop, sizeof r->stop, "%s", stop_name[drive.stop]);
    GBSI_PASS(run->task.runner->judge(run, err));
    return drive.stop >= GBSI_STOP_TIME ? GBS_STOPPED : GBS_OK;
}

gbs_status gbs_run_execute(gbs_run *run, const gbs_run_callbacks *callbacks, gbs_error *err)
{
    GBSI_NEED(run);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    static const gbs_run_callbacks none = {0};
    if (run->report.executed) {
        return gbsi_fail(err, GBS_ERR_STATE, "this run was executed before: make a new run");
    }
    if (run->report.public.n_pruned > 0 && callbacks != NULL && callbacks->draw != NULL) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "a run about some variables has no draws of the others: "
                         "make it with task GBS_RUN_DRAWS");
    }
    if (run->checkpoints.draws != NULL && (callbacks == NULL || callbacks->draw == NULL)) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "draws are to be kept, and there is no callbacks.draw");
    }
    run->report.executed = true;
    gbsi_run_enter(&run->budget);
    const gbs_status status = execute(run, callbacks == NULL ? &none : callbacks, err);
    gbsi_run_leave(&run->budget);
    gbsi_kept_lock_release(&run->checkpoints.lock);
    run->report.answering = status >= 0;
    return status;
}

const gbs_report *gbs_run_report(const gbs_run *run)
{
    return run == NULL ? NULL : &run->report.public;
}
