/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the chains for their first pass: decides whether the support is connected, compiles the
 * scan, sets the threshold of the drawing method, and finds starts. */
#include "choose/trial.h"
#include "drive/runners.h"
#include "reference/enumerate.h"

static gbs_status find_support(gbsi_report *report, gbsi_problem *problem, gbsi_drive *drive,
                               gbs_error *err)
{
    return report->public.has_zeros
               ? gbsi_components_support(problem->components, problem->exact, &drive->watch,
                                         GBSI_ENUMERATE_AUTO_STATES, &problem->support, err)
               : GBS_OK;
}

/* Settles the scan if the user left the choice open: compiles the scan that the pilot chose, and
 * takes memory. */
static gbs_status settle_scan(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    uint64_t bytes = 0; /* bytes that the trials of the pilot took */
    if (!run->sampling.engine.undecided) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_run_choose_scan(run, drive,
                                   gbsi_run_least_passes(&run->task.options, &run->task.purpose,
                                                         &run->report,
                                                         run->task.problem.part->n_variables),
                                   &bytes, err));
    if (r->chosen > 0) {
        GBSI_PASS(gbsi_run_rescan(run, gbsi_scan_with(GBSI_SCAN_CANDIDATE), &drive->watch, err));
    }
    drive->share = 1.0;
    if (bytes > r->predicted_bytes) {
        r->predicted_bytes = bytes;
    }
    return gbsi_run_take_memory(run, err);
}

gbs_status gbsi_chains_decide(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    GBSI_PASS(settle_scan(run, drive, err));
    gbsi_executor_watch(&run->sampling.engine.executor, drive->callbacks->splash,
                        drive->callbacks->context);
    if (run->task.problem.support == GBSI_SUPPORT_DISCONNECTED &&
        gbsi_executor_may_connect(&run->sampling.engine.executor)) {
        run->task.problem.support = GBSI_SUPPORT_UNKNOWN; /* the result from before was for updates
                                                             of single variables only */
    }
    return gbsi_run_find_threshold(run, drive, err);
}

gbs_status gbsi_chains_start(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    GBSI_PASS(find_support(&run->report, &run->task.problem, drive, err));
    GBSI_PASS(gbsi_chains_decide(run, drive, err));
    return gbsi_run_set_starts(&run->task, &run->sampling.engine, &run->report, drive, err);
}
