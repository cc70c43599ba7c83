/* SPDX-License-Identifier: Apache-2.0 */
/* Resumes a run from a checkpoint, which replaces the work before the first pass. */
#include "chains/run.h"
#include "checkpoint/checkpoint_text.h"
#include "drive/runners.h"

static void stand_there(gbsi_problem *problem, gbsi_sampling *sampling,
                        gbsi_checkpoints *checkpoints, gbsi_report *report, gbsi_drive *drive,
                        const gbsi_standing *s)
{
    gbs_report *r = &report->public;
    sampling->phase = (gbsi_phase)s->phase;
    drive->pass = s->pass;
    r->burn_in = s->burn_in;
    sampling->burn_in.most = s->burn_in_most;
    r->sweeps = s->sweeps;
    r->updates = s->updates;
    r->max_mcse = s->max_mcse;
    problem->support = (gbsi_support)s->support;
    report->slow_passes = s->slow_passes;
    report->burn_in_agreed = s->burn_in_agreed != 0;
    report->starts_dispersed = s->starts_dispersed != 0;
    checkpoints->before_s = s->seconds;
}

gbs_status gbsi_run_take_up(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_checkpoints *c = &run->checkpoints;
    const gbsi_source source = gbsi_kept_source(c->from);
    const int scan = run->task.options.scan;
    const double threshold = run->task.options.threshold;
    gbsi_standing s;
    GBSI_TRY(gbsi_text_standing("--resume", c->text, &s, err));
    GBSI_TRY(gbsi_text_decided("--resume", c->text, &run->task.options, err));
    if (run->task.options.scan != scan) {
        gbsi_drive_go_on(drive, false);
        GBSI_TRY(gbsi_run_rescan(run, run->task.options.scan, &drive->watch, err));
    }
    if (run->sampling.engine.undecided) {
        run->sampling.engine.undecided = false;
        GBSI_TRY(gbsi_run_take_memory(run, err));
    }
    if (run->task.options.threshold != threshold) {
        GBSI_TRY(gbsi_executor_redraw(&run->sampling.engine.executor, &run->task.options,
                                      run->memory.draw_room, err));
    }
    GBSI_TRY(gbsi_run_find_threshold(
        run, drive,
        err)); /* the threshold is known already; this call only writes the draw to the report */
    stand_there(&run->task.problem, &run->sampling, &run->checkpoints, &run->report, drive, &s);
    if (run->sampling.phase == GBSI_PHASE_CLIMBING) {
        GBSI_TRY(gbsi_tempered_begin(&run->task, &run->sampling.engine, &run->memory, &run->report,
                                     drive, &run->sampling.tempered, err));
        run->task.runner = &gbsi_runner_ladders;
    }
    GBSI_TRY(gbsi_run_load_parts(&run->task, &run->sampling, &run->checkpoints, &source, err));
    if (gbsi_kept_left(c->from) > 0) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT,
                           "the checkpoint is damaged: it holds more than "
                           "this run"));
    }
    if (c->draws != NULL) {
        GBSI_TRY(gbsi_draw_log_give_again(c->draws, drive, err));
    }
    if (run->sampling.phase == GBSI_PHASE_STUCK) {
        drive->stop = GBSI_STOP_TO_TEMPER;
    } else if (run->report.public.updates >= run->task.options.max_updates) {
        drive->stop = GBSI_STOP_UPDATES;
    }
cleanup:
    return status;
}
