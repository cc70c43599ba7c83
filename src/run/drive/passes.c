/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one pass of all chains, and checks time and updates after it. */
#include "chains/run.h"

/* Combines the results of a pass from all ranks. */
static gbs_status bring_together(gbs_run *run, gbsi_estimate *estimate, gbs_error *err)
{
    uint64_t n_updates = 0;
    GBSI_PASS(gbsi_run_count_updates(run, &n_updates, err));
    run->report.public.updates += n_updates * run->sampling.engine.executor.n_all;
    if (estimate != NULL) {
        GBSI_PASS(gbsi_estimate_meet(estimate, run->sampling.engine.pool, err));
    }
    return GBS_OK;
}

static gbs_status run_once(gbs_run *run, gbsi_drive *drive, gbsi_estimate *estimate, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const bool answering = run->report.answering;
    if ((run->sampling.engine.scan_traits & (GBSI_SCAN_REPEATS | GBSI_SCAN_BLOCKS)) == 0) {
        gbsi_sequence sequence = {0};
        GBSI_TRY(run->sampling.engine.scan->next_pass(run->sampling.engine.scan_state, drive->pass,
                                                      &sequence, err));
        GBSI_TRY(gbsi_plan_level(run->sampling.engine.plan, sequence.variable, sequence.n,
                                 &run->sampling.engine.schedule, err));
    }
    if (run->task.options.restarts) {
        GBSI_TRY(gbsi_run_restart(run, drive, err));
    }
    gbsi_drive_go_whole(drive, estimate != NULL);
    run->sampling.engine.executor.watch = &drive->watch;
    run->report.answering = false; /* estimates are in the making while progress is told */
    status = gbsi_executor_pass(&run->sampling.engine.executor, &run->sampling.engine.schedule,
                                drive->pass, estimate, run->sampling.estimates.rao_blackwell, err);
    run->report.answering = answering;
    GBSI_TRY(status);
    ++drive->pass;
    const gbs_status brought = bring_together(run, estimate, err);
    status = brought < 0 ? brought : status; /* which says whether the pass was cut short */
cleanup:
    return status;
}

gbs_status gbsi_run_advance(gbs_run *run, gbsi_drive *drive, gbsi_estimate *estimate,
                            gbs_error *err)
{
    const gbs_status status = run_once(run, drive, estimate, err);
    if (status >= 0) {
        gbsi_run_watch(&run->task.options, &run->report, drive, estimate != NULL);
        const gbs_status agreed = gbsi_drive_agree(run->task.ranks, drive, err);
        return agreed < 0 ? agreed : status;
    }
    return status;
}

/* With traces alone a pass that is kept has no estimate. */
gbs_status gbsi_run_pass(gbs_run *run, gbsi_drive *drive, bool keep, gbs_error *err)
{
    if (keep) {
        gbsi_moves_begin(&run->sampling.engine.executor, &run->sampling.estimates.moves);
    }
    const gbs_status status =
        run_once(run, drive, keep ? run->sampling.estimates.estimate : NULL, err);
    if (status >= 0 && keep) {
        gbsi_moves_count(&run->sampling.engine.executor, &run->sampling.estimates.moves);
    }
    if (status == GBS_STOPPED && keep) {
        const gbs_status warned = gbsi_report_warn(
            &run->report, err, "the last sweep was stopped early by --time or a signal: %s",
            run->sampling.estimates.estimate == NULL
                ? "nothing of it is in the estimates"
                : "its updates are in the estimates, but it is not counted as a sweep");
        return warned < 0 ? warned : status;
    }
    if (status >= 0 && keep) {
        ++run->report.public.sweeps;
        if (run->sampling.estimates.trace != NULL) {
            gbsi_traces_put(&run->sampling.estimates, &run->sampling.engine);
        }
        gbsi_monitor_pass(run);
    }
    if (status >= 0) {
        gbsi_run_watch(&run->task.options, &run->report, drive, keep);
        if (drive->pass == run->checkpoints.stop_after) {
            drive->stop = GBSI_STOP_SIGNAL;
        }
        const gbs_status agreed = gbsi_drive_agree(run->task.ranks, drive, err);
        return agreed < 0 ? agreed : status;
    }
    if (run->task.purpose.up_only) { /* whose ranks meet in the end */
        drive->stop = GBSI_STOP_FAILED;
        (void)gbsi_drive_agree(run->task.ranks, drive, NULL);
    }
    return status;
}
