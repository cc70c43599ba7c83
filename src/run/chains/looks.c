/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when to look at the clock and at the user's stop flag: after each pass, and inside work
 * that may be long. The clock can only end a run early, and a later run with the number of sweeps
 * reached gives the same bits. A pass whose draws are kept is therefore finished if finishing takes
 * no longer than GRACE_S. */
#include <math.h>

#include "base/clock.h"
#include "chains/run.h"

#define PROGRESS_S 0.1
#define GRACE_S    0.3 /* seconds allowed to finish a pass whose draws are kept */
/* Exact work is measured for this share of --time before its end is predicted. */
#define MEASURED 0.1
/* Exact work is given up if the rest of it, by its rate so far, takes this many times the time that
 * is left for it. The rate of tables differs by less than this between parts of a tree. */
#define MARGIN 2.0

/* @return the share of the exact work under way that is done; NAN if not known. */
static double exact_share_done(const gbsi_drive *drive)
{
    const gbsi_expected *e = &drive->expected;
    const double done = (double)(drive->watch.before + drive->watch.spent - e->before);
    return e->operations == 0.0 ? NAN : done < e->operations ? done / e->operations : 1.0;
}

static void tell_progress(const gbs_run_options *options, const gbsi_report *report,
                          gbsi_drive *drive, bool keep, double now_s)
{
    const uint64_t sweeps = options->sweeps;
    const bool auto_burn_in = options->burn_in == GBS_BURN_IN_AUTO;
    const gbs_progress progress = {.size = sizeof progress,
                                   .burning_in = !keep,
                                   .pass = keep ? report->public.sweeps : report->public.burn_in,
                                   .passes = keep ? sweeps : (auto_burn_in ? 0 : options->burn_in),
                                   .updates = report->public.updates,
                                   .elapsed_s = now_s - drive->started_s,
                                   .worst_error = drive->worst_error,
                                   .target_error = report->public.target_error,
                                   .rhat = drive->rhat,
                                   .work = drive->expected.work,
                                   .share = exact_share_done(drive)};
    if (drive->callbacks->progress(drive->callbacks->context, &progress) != 0) {
        drive->stop = GBSI_STOP_SIGNAL;
    }
}

double gbsi_drive_spent_s(const gbsi_drive *drive, double now_s)
{
    const double before_s = drive->prepares ? 0.0 : drive->run->report.public.compile_s;
    return before_s + now_s - drive->started_s;
}

void gbsi_drive_end_in_time(const gbs_run_options *options, gbsi_drive *drive, double now_s)
{
    gbsi_watch_look(&drive->outer);
    if (gbsi_watch_stopped(&drive->outer) ||
        (options->time_s > 0.0 && gbsi_drive_spent_s(drive, now_s) > options->time_s)) {
        drive->stop = GBSI_STOP_TIME;
    }
}

void gbsi_run_watch(const gbs_run_options *options, const gbsi_report *report, gbsi_drive *drive,
                    bool keep)
{
    const double now_s = gbsi_clock_s();
    if (drive->callbacks->progress != NULL && now_s - drive->last_progress_s > PROGRESS_S) {
        drive->last_progress_s = now_s;
        tell_progress(options, report, drive, keep, now_s);
    }
    gbsi_drive_end_in_time(options, drive, now_s);
    if (report->public.updates >= options->max_updates) {
        drive->stop = GBSI_STOP_UPDATES;
    }
}

void gbsi_drive_expect(gbsi_drive *drive, const char *work, double operations, uint32_t n_threads)
{
    drive->expected = (gbsi_expected){.work = work,
                                      .operations = operations / n_threads,
                                      .before = drive->watch.before + drive->watch.spent,
                                      .begun_s = gbsi_clock_s()};
}

/* Predicts when the exact work under way ends: its rate is the number of operations for each second
 * of the clock, which already contains the share of the processor that this process gets.
 * @return whether the work would end too late and is given up. */
static bool comes_too_late(gbsi_drive *drive, double time_s, double spent_s, double now_s)
{
    gbsi_expected *e = &drive->expected;
    const double measured_s = now_s - e->begun_s;
    const double done = (double)(drive->watch.before - e->before);
    if (e->operations == 0.0 || drive->share == 1.0 || measured_s < MEASURED * time_s ||
        done >= e->operations) {
        return false;
    }
    const double rest_s = done > 0.0 ? measured_s * (e->operations - done) / done : INFINITY;
    if (rest_s <= MARGIN * (drive->share * time_s - spent_s)) {
        return false;
    }
    e->operations = 0.0;
    e->given_up = spent_s / time_s;
    e->times = (spent_s + rest_s) / time_s;
    return true;
}

void gbsi_drive_note_late(const gbsi_drive *drive, gbsi_report *report)
{
    const gbsi_expected *e = &drive->expected;
    report->late_share = e->given_up > 0.0 ? e->given_up : GBSI_EXACT_SHARE;
    report->late_times = e->times;
}

/* Called by the watch inside a pass, or before the first pass. A progress report that is made here
 * does not delay the next report after a pass, from which marginals can be read. @return whether to
 * cut the work short. */
static bool look(void *context)
{
    gbsi_drive *drive = context;
    const double now_s = gbsi_clock_s();
    const double time_s = drive->run->task.options.time_s;
    const gbsi_stop before = drive->stop;
    if (drive->callbacks->progress != NULL && now_s - drive->last_progress_s > PROGRESS_S &&
        now_s - drive->last_look_s > PROGRESS_S) {
        drive->last_look_s = now_s;
        tell_progress(&drive->run->task.options, &drive->run->report, drive, drive->keeping, now_s);
    }
    gbsi_drive_end_in_time(&drive->run->task.options, drive, now_s);
    if (before == GBSI_GO_ON && drive->stop != GBSI_GO_ON) {
        drive->stopped_s = now_s;
    }
    if (drive->whole) {
        return false;
    }
    if (drive->stop == GBSI_GO_ON) {
        const double spent_s = gbsi_drive_spent_s(drive, now_s);
        return !drive->keeping && time_s > 0.0 &&
               (spent_s > drive->share * time_s || comes_too_late(drive, time_s, spent_s, now_s));
    }
    /* If counts ended the run, its pass is finished even if finishing takes long, because the bits
     * of the run must not depend on the clock. */
    const bool hurries = drive->stop == GBSI_STOP_TIME || drive->stop == GBSI_STOP_SIGNAL;
    return !drive->keeping || (hurries && now_s - drive->stopped_s > GRACE_S);
}

void gbsi_drive_begin(gbsi_drive *drive, const gbs_run *run, const gbs_run_callbacks *callbacks)
{
    const double now_s = gbsi_clock_s();
    *drive = (gbsi_drive){.run = run,
                          .callbacks = callbacks,
                          .started_s = now_s,
                          .last_progress_s = now_s,
                          .worst_error = NAN,
                          .share = 1.0,
                          .exact_share = 1.0,
                          .prepares = run == NULL};
    drive->watch.look = look;
    drive->watch.context = drive;
    drive->outer = gbsi_watch_of(NULL, NULL, 0.0, 0.0);
}

void gbsi_drive_go_on(gbsi_drive *drive, bool keep)
{
    drive->keeping = keep;
    drive->whole = false;
    drive->expected.work = NULL;
    drive->expected.operations = 0.0;
    atomic_store(&drive->watch.stopped, drive->stop != GBSI_GO_ON);
}

void gbsi_drive_go_whole(gbsi_drive *drive, bool keep)
{
    gbsi_drive_go_on(drive, keep);
    drive->whole = drive->run->checkpoints.path != NULL || drive->run->task.ranks != NULL;
}

void gbsi_drive_finish(gbsi_drive *drive)
{
    drive->keeping = true;
    drive->stopped_s = gbsi_clock_s();
    atomic_store(&drive->watch.stopped, false);
}

gbs_status gbsi_stopped_early(const gbsi_drive *drive, const char *doing, gbs_error *err)
{
    const bool by_signal = drive->stop == GBSI_STOP_SIGNAL;
    return gbsi_fail(err, GBS_ERR_STOPPED, "%s after %.1f s while %s: there is no result yet%s",
                     by_signal ? "stopped by a signal" : "out of time",
                     gbsi_clock_s() - drive->started_s, doing,
                     by_signal ? "" : "; try a longer --time");
}
