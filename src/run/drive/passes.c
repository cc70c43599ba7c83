/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one pass of all chains, and then checks the time and the number of updates. */
#include "chains/run.h"

/* Combines the results that ranks have after a pass. */
static gbs_status bring_together(const gbsi_task *task, const gbsi_engine *engine,
                                 gbsi_report *report, gbsi_estimate *estimate, gbs_error *err)
{
    uint64_t n_updates = 0;
    GBSI_PASS(gbsi_run_count_updates(task, engine, &n_updates, err));
    report->public.updates += n_updates * engine->executor.n_all;
    if (estimate != NULL) {
        GBSI_PASS(gbsi_estimate_meet(estimate, engine->pool, err));
    }
    return GBS_OK;
}

static gbs_status run_once(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                           gbsi_drive *drive, gbsi_estimate *estimate, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const bool answering = report->answering;
    if ((sampling->engine.scan_traits & (GBSI_SCAN_REPEATS | GBSI_SCAN_BLOCKS)) == 0) {
        gbsi_sequence sequence = {0};
        GBSI_TRY(sampling->engine.scan->next_pass(sampling->engine.scan_state, drive->pass,
                                                  &sequence, err));
        GBSI_TRY(gbsi_plan_level(sampling->engine.plan, sequence.variable, sequence.n,
                                 &sampling->engine.schedule, err));
    }
    if (task->options.restarts) {
        GBSI_TRY(gbsi_run_restart(task, &sampling->engine, report, drive, err));
    }
    gbsi_drive_go_whole(drive, estimate != NULL);
    sampling->engine.executor.watch = &drive->watch;
    report->answering =
        false; /* progress reports must not read the estimates while a pass changes them */
    status = gbsi_executor_pass(&sampling->engine.executor, &sampling->engine.schedule, drive->pass,
                                estimate, sampling->estimates.rao_blackwell, err);
    report->answering = answering;
    GBSI_TRY(status);
    ++drive->pass;
    const gbs_status brought = bring_together(task, &sampling->engine, report, estimate, err);
    status = brought < 0 ? brought
                         : status; /* the value of `status` shows whether the pass was cut short */
cleanup:
    return status;
}

gbs_status gbsi_run_advance(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbsi_estimate *estimate, gbs_error *err)
{
    const gbs_status status = run_once(task, sampling, report, drive, estimate, err);
    if (status >= 0) {
        gbsi_run_watch(&task->options, report, drive, estimate != NULL);
        const gbs_status agreed = gbsi_drive_agree(task->ranks, drive, err);
        return agreed < 0 ? agreed : status;
    }
    return status;
}

/* Runs one pass. A kept pass writes no estimate if only traces are kept. */
gbs_status gbsi_run_pass(gbsi_task *task, gbsi_sampling *sampling,
                         const gbsi_checkpoints *checkpoints, gbsi_report *report,
                         gbsi_drive *drive, bool keep, gbs_error *err)
{
    if (keep) {
        gbsi_moves_begin(&sampling->engine.executor, &sampling->estimates.moves);
        gbsi_stays_begin(&sampling->engine.executor, &sampling->estimates.stays);
    }
    const gbs_status status =
        run_once(task, sampling, report, drive, keep ? sampling->estimates.estimate : NULL, err);
    if (status >= 0 && keep) {
        gbsi_moves_count(&sampling->engine.executor, &sampling->estimates.moves);
        gbsi_stays_count(&sampling->engine.executor, &sampling->estimates.stays);
    }
    if (status == GBS_STOPPED && keep) {
        const gbs_status warned = gbsi_report_warn(
            report, err, "the last sweep was stopped early by --time or a signal: %s",
            sampling->estimates.estimate == NULL
                ? "nothing of it is in the estimates"
                : "its updates are in the estimates, but it is not counted as a sweep");
        return warned < 0 ? warned : status;
    }
    if (status >= 0 && keep) {
        ++report->public.sweeps;
        if (sampling->estimates.trace != NULL) {
            gbsi_traces_put(&sampling->estimates, &sampling->engine);
        }
        gbsi_monitor_pass(&task->problem, &sampling->engine, &sampling->monitor, report);
        GBSI_PASS(gbsi_observed_pass(&sampling->observed, &task->problem, &sampling->engine,
                                     drive->callbacks, report->public.sweeps - 1, err));
    }
    if (status >= 0) {
        gbsi_run_watch(&task->options, report, drive, keep);
        if (drive->pass == checkpoints->stop_after) {
            drive->stop = GBSI_STOP_SIGNAL;
        }
        const gbs_status agreed = gbsi_drive_agree(task->ranks, drive, err);
        return agreed < 0 ? agreed : status;
    }
    if (task->purpose.up_only) { /* for gbs_log_z(), ranks meet at the end of the run */
        drive->stop = GBSI_STOP_FAILED;
        (void)gbsi_drive_agree(task->ranks, drive, NULL);
    }
    return status;
}
