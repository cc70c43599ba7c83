/* SPDX-License-Identifier: Apache-2.0 */
/* Mean field as a method of a run: iterates until no probability moves any more, or until
 * --iterations, --max-updates, --time or the user ends it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "variational/mean_field.h"

/* A fixed point: an iteration that moves no probability by more than this. */
#define TOLERANCE  1e-10
#define PROGRESS_S 0.1

bool gbsi_run_is_mean_field(const gbsi_task *task)
{
    return task->options.method == GBS_METHOD_MEAN_FIELD;
}

static gbs_status check_memory(const gbsi_problem *problem, const gbs_run_options *options,
                               gbs_error *err)
{
    const uint64_t bytes = gbs_model_bytes(problem->model) +
                           gbsi_conditioned_bytes(problem->whole) +
                           gbsi_mean_field_bytes(problem->whole);
    const uint64_t limit = gbsi_options_memory_limit(options);
    if (bytes <= limit) {
        return GBS_OK;
    }
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "mean field would take %" PRIu64 " bytes, the limit is %" PRIu64
                     ": try a larger --memory-limit",
                     bytes, limit);
}

static void tell_progress(const gbs_run_options *options, const gbsi_report *report,
                          gbsi_drive *drive, double moved, double now_s)
{
    const gbs_progress progress = {.size = sizeof progress,
                                   .pass = report->public.iterations,
                                   .passes = options->iterations,
                                   .updates = report->public.updates,
                                   .elapsed_s = now_s - drive->started_s,
                                   .worst_error = moved,
                                   .target_error = TOLERANCE};
    drive->last_progress_s = now_s;
    if (drive->callbacks->progress(drive->callbacks->context, &progress) != 0) {
        drive->stop = GBSI_STOP_SIGNAL;
    }
}

/* The clock only decides when to stop: --iterations with the same count gives the same numbers. */
static void look_at_clock(const gbs_run_options *options, const gbsi_report *report,
                          gbsi_drive *drive, double moved)
{
    const double now_s = gbsi_clock_s();
    if (drive->callbacks->progress != NULL && now_s - drive->last_progress_s > PROGRESS_S) {
        tell_progress(options, report, drive, moved, now_s);
    }
    gbsi_drive_end_in_time(options, drive, now_s);
}

gbs_status gbsi_run_mean_field(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                               gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_mean_field *m = NULL;
    const gbs_run_options *options = &task->options;
    sampling->estimates.exact_mcse = NAN;
    if (task->problem.whole->n_variables == 0) {
        drive->stop = GBSI_STOP_FIXED_POINT;
        report->public.residual = 0.0;
        report->public.log_z_bound = task->problem.whole->log_constant;
        return GBS_OK;
    }
    GBSI_TRY(check_memory(&task->problem, &task->options, err));
    GBSI_TRY(gbsi_mean_field_new(task->problem.whole,
                                 (gbs_mean_field_schedule)options->mean_field_schedule,
                                 options->damping, &drive->watch, &m, err));
    while (drive->stop == GBSI_GO_ON) {
        const double moved = gbsi_mean_field_step(m);
        if (gbsi_watch_stopped(&drive->watch)) {
            break;
        }
        report->public.updates += task->problem.whole->n_variables;
        if (++report->public.iterations == options->iterations) {
            drive->stop = GBSI_STOP_ITERATIONS;
        } else if (report->public.updates >= options->max_updates) {
            drive->stop = GBSI_STOP_UPDATES;
        } else {
            look_at_clock(&task->options, report, drive, moved);
        }
        if (moved <= TOLERANCE) {
            drive->stop = GBSI_STOP_FIXED_POINT;
        }
    }
    gbsi_drive_finish(drive);
    report->public.residual = gbsi_mean_field_residual(m);
    report->public.log_z_bound = gbsi_mean_field_bound(m);
    memcpy(sampling->estimates.exact_p, gbsi_mean_field_q(m),
           task->problem.whole->state_offset[task->problem.whole->n_variables] *
               sizeof *sampling->estimates.exact_p);

cleanup:
    gbsi_mean_field_free(m);
    return status;
}
