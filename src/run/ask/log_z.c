/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the partition function: first of the exact components, then of the other components, by
 * ladders of temperatures [M50] or annealing [M40]. */
#include "ask/inspect.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/sized.h"
#include "chains/run_options.h"
#include "choose/exact_part.h"
#include "estimate/beta.h"
#include "simd/math.h"

/* Penalty of a violated hard factor at the end of an annealing: each violated factor multiplies the
 * weight of a state by exp(-PENALTY). Weights are unbiased for every penalty. */
#define PENALTY 10.0

static gbs_status check(const gbs_run_options *options, gbs_error *err)
{
    if (gbsi_options_approximate(options) || options->estimator == GBS_ESTIMATOR_TRACES) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--method: for a partition function choose auto, exact or sample");
    }
    if ((gbsi_draw_traits(options) & GBSI_DRAW_INDEPENDENT) == 0) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "an estimate of ln Z needs --draw random, since the weights of other draws are biased");
    }
    if (gbsi_options_anneal(options)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--schedule and --tau0 apply to map only");
    }
    if (options->start != NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--start cannot apply: chains start from the uniform distribution");
    }
    return GBS_OK;
}

/* Whether ladders may be used. Ladders update by colours; if the user names another scan, chains
 * are annealed. */
static bool may_climb(const gbs_run_options *o)
{
    const bool by_colours = gbsi_scan_choice_of(o->scan) != GBSI_CHOICE_NAMED ||
                            o->scan == gbsi_scan_with(GBSI_SCAN_BASE);
    return o->temper > GBS_TEMPER_OFF || (o->temper == GBS_TEMPER_AUTO && by_colours);
}

/* ---- ladders --------------------------------------------------------------------------------- */

/* Estimates ln Z = ln (number of states of the core) + ln (Z_1 / Z_0), where Z_b is the sum at
 * inverse temperature b. The interval is that of Student's t distribution. The degrees of freedom
 * are the number of round trips or the number of batches, whichever is smaller. */
gbs_status gbsi_log_z_by_ladders(gbs_run *run, gbsi_drive *drive, double log_exact,
                                 gbs_log_z_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_report *r = &run->report.public;
    gbsi_tempered_log_z found;
    run->checkpoints.log_exact = log_exact;
    run->checkpoints.best = NAN;
    if (run->checkpoints.from != NULL) {
        GBSI_TRY(gbsi_ranks_meet(run->task.ranks, gbsi_run_take_up(run, drive, err), err));
        GBSI_TRY(gbsi_drive_agree(run->task.ranks, drive, err));
    }
    GBSI_TRY(gbsi_run_tempered(run, drive, err));
    if (r->sweeps > 0) {
        GBSI_TRY(run->task.runner->errors(run, err));
    }
    found = gbsi_tempered_ask_log_z(run->sampling.tempered);
    const double half = gbsi_student_quantile(0.975, found.freedom) * found.error;
    report->chains = r->chains;
    report->temperatures = r->temperatures;
    report->log_z = found.log_z + log_exact;
    report->error = found.error;
    report->low = report->log_z - half;
    report->high = report->log_z + half;
    report->lower_bound = report->ess = NAN;
    report->sweeps = r->sweeps;
    report->burn_in = r->burn_in;
    report->round_trips = r->round_trips;
    report->barrier = r->barrier;
    report->valid_share = r->valid_share;
    report->tempered = 1;
    report->converged = !gbsi_run_doubt(run, report->verdict, sizeof report->verdict);
    if (report->converged) {
        gbsi_say(report->verdict, sizeof report->verdict,
                 "converged: standard error %.2g, at least %llu round trips of each ladder",
                 found.error, (unsigned long long)r->round_trips);
    }
cleanup:
    return status;
}

static bool too_large_to_climb(const gbs_run_options *options, const gbsi_problem *problem)
{
    return options->temper == GBS_TEMPER_AUTO && problem->part != NULL &&
           problem->part->n_variables > GBSI_MOST_CLIMBING;
}

/* ---- the call -------------------------------------------------------------------------------- */

static void report_exact(double log_exact, gbs_log_z_report *r)
{
    r->log_z = r->low = r->high = r->lower_bound = log_exact;
    r->error = 0.0;
    r->ess = NAN;
    r->converged = 1;
    (void)snprintf(r->verdict, sizeof r->verdict, "exact");
}

/* Reports that no chain met a state of positive weight. ln Z would be minus infinity if no such
 * state existed, which is not proved. */
static void report_nothing(gbs_log_z_report *r)
{
    r->log_z = r->error = r->low = r->high = r->lower_bound = r->ess = NAN;
    (void)snprintf(r->verdict, sizeof r->verdict,
                   "unknown: no state of positive weight was found, and none may exist: try more "
                   "--sweeps, or map to search for one");
}

/* Opens a run and takes its memory. @param ladders whether ladders are used. */
static gbs_status open_run(const gbs_ranks *ranks, const gbs_model *model,
                           const gbs_evidence *evidence, const gbs_run_options *options,
                           bool *ladders, gbs_run **out, gbs_error *err)
{
    /* variables that affect no queried variable are summed exactly here, unlike with method sample
     */
    gbsi_run_purpose purpose = {.limited = true,
                                .anneals = true,
                                .up_only = true,
                                .asks = options->method != GBS_METHOD_SAMPLE,
                                .ranks = ranks};
    gbs_run *run = NULL;
    if (*ladders) {
        GBSI_PASS(gbsi_run_open(model, evidence, options, &purpose, &run, err));
        *ladders = !too_large_to_climb(&run->task.options, &run->task.problem);
    }
    if (!*ladders) {
        gbs_run_free(run);
        run = NULL;
        purpose.penalty = PENALTY + gbsi_log(1.0 + (double)model->factors.n_factors);
        GBSI_PASS(gbsi_run_open(model, evidence, options, &purpose, &run, err));
    }
    if (options->target_error == 0.0 && options->sweeps == 0) {
        run->report.public.target_error = GBSI_LOG_Z_TARGET;
    }
    *out = run;
    return gbsi_run_note_inputs(&run->task.problem, &run->checkpoints, evidence, options, err);
}

/* Does the work before sampling: takes the checkpoint files, and sums the exact components, on
 * every rank. */
static gbs_status prepare(gbs_run *run, gbsi_drive *drive, const gbs_checkpoint_files *files,
                          double *log_exact, gbs_error *err)
{
    GBSI_PASS(gbsi_run_take_files(run, files, err));
    drive->share = gbsi_run_may_give_up(run) ? GBSI_EXACT_SHARE : 1.0;
    if (run->report.public.n_exact_variables > 0) {
        GBSI_PASS(gbsi_run_exact_log_z(&run->task, &run->sampling.engine, &run->sampling.estimates,
                                       drive, log_exact, err));
    }
    drive->share = 1.0;
    return GBS_OK;
}

/* Replaces the run by a run with --method sample. Called if the exact answers were not ready
 * in time. */
static gbs_status sample_instead(const gbs_model *model, const gbs_evidence *evidence,
                                 const gbs_run_options *options, const gbs_checkpoint_files *files,
                                 gbsi_drive *drive, bool *ladders, gbs_run **run, gbs_error *err)
{
    gbs_run_options sampled = *options;
    double log_exact = 0.0;
    gbsi_watch watch = gbsi_watch_of(NULL, NULL, drive->started_s, options->time_s);
    sampled.method = GBS_METHOD_SAMPLE;
    gbs_run_free(*run);
    *run = NULL;
    drive->run = NULL;
    gbsi_watch *before = gbsi_watch_enter(&watch);
    const gbs_status status = open_run(NULL, model, evidence, &sampled, ladders, run, err);
    gbsi_watch_leave(before);
    GBSI_PASS(status);
    gbsi_drive_note_late(drive, &(*run)->report);
    drive->run = *run;
    gbsi_drive_go_on(drive, false);
    return prepare(*run, drive, files, &log_exact, err);
}

static gbs_status answer(gbs_run *run, gbsi_drive *drive, double log_exact, bool ladders,
                         gbs_log_z_report *found, gbs_error *err)
{
    const gbs_report *r = &run->report.public;
    gbs_status status = GBS_OK;
    found->n_free_variables = r->n_free_variables;
    found->n_exact_variables =
        r->n_exact_variables + r->n_pruned; /* pruned variables were summed exactly as well */
    if (run->task.problem.part == NULL) {
        drive->stop = GBSI_STOP_EXACT;
        report_exact(log_exact + run->task.problem.whole->log_constant, found);
    } else {
        status = (ladders ? gbsi_log_z_by_ladders : gbsi_log_z_by_annealing)(run, drive, log_exact,
                                                                             found, err);
        if (found->log_z == -INFINITY) {
            report_nothing(found);
        }
    }
    if (status >= 0) {
        status = gbsi_run_tell_late(&run->report, err);
    }
    found->exact = r->exact;
    found->updates = r->updates;
    found->seconds = run->checkpoints.before_s + gbsi_clock_s() - drive->started_s;
    if (r->n_warnings > 0) {
        (void)snprintf(found->warning, sizeof found->warning, "%s", r->warning[r->n_warnings - 1]);
    }
    (void)snprintf(found->stop, sizeof found->stop, "%s", gbsi_stop_text(drive->stop));
    return status;
}

/* @param ranks NULL if this process is alone. @param options already copied. */
static gbs_status log_z(const gbs_ranks *ranks, const gbs_model *model,
                        const gbs_evidence *evidence, const gbs_run_options *options,
                        const gbs_checkpoint_files *files, const gbs_run_callbacks *callbacks,
                        gbs_log_z_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbsi_drive drive;
    double log_exact = 0.0;
    bool ladders = may_climb(options);
    gbs_log_z_report found = {0};
    gbsi_drive_begin(&drive, NULL, callbacks);
    status = open_run(ranks, model, evidence, options, &ladders, &run, err);
    GBSI_TRY(gbsi_ranks_meet(ranks, status, err));
    drive.run = run;
    GBSI_TRY(gbsi_ranks_compare(run, err));
    status = prepare(run, &drive, files, &log_exact, err);
    if (status == GBS_ERR_STOPPED &&
        drive.stop == GBSI_GO_ON) { /* the share of --time for exact answers is used up */
        ladders = may_climb(options);
        log_exact = 0.0;
        status = sample_instead(model, evidence, options, files, &drive, &ladders, &run, err);
    }
    GBSI_TRY(gbsi_ranks_meet(ranks, status, err));
    GBSI_TRY(gbsi_ranks_meet(ranks, gbsi_ranks_compare_files(run, err), err));
    status = answer(run, &drive, log_exact, ladders, &found, err);
    GBSI_TRY(gbsi_ranks_meet(ranks, status, err));
    gbsi_struct_give(report, &found, sizeof found);
    status = drive.stop >= GBSI_STOP_TIME ? GBS_STOPPED : GBS_OK;
cleanup:
    gbs_run_free(run);
    if (status == GBS_ERR_LIMIT && ladders &&
        options->temper == GBS_TEMPER_AUTO) { /* annealing takes less memory */
        gbs_run_options annealing = *options;
        annealing.temper = GBS_TEMPER_OFF;
        return log_z(ranks, model, evidence, &annealing, files, callbacks, report, err);
    }
    return status;
}

gbs_status gbs_log_z_with(const gbs_ranks *ranks, const gbs_model *model,
                          const gbs_evidence *evidence, const gbs_run_options *options,
                          const gbs_checkpoint_files *files, const gbs_run_callbacks *callbacks,
                          gbs_log_z_report *report, gbs_error *err)
{
    GBSI_NEED(model, report);
    GBSI_IN_STRUCT(files, gbs_checkpoint_files);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_log_z_report);
    static const gbs_run_callbacks nobody = {0};
    gbs_run_options chosen;
    ranks = ranks != NULL && ranks->n_ranks > 1 ? ranks : NULL;
    gbs_status status = gbsi_options_take(options, &chosen, err);
    status = status < 0 ? status : check(&chosen, err);
    GBSI_TRY(gbsi_ranks_meet(ranks, status, err));
    chosen.lattice = GBS_LATTICE_NEVER; /* lattices in bits have no temperatures */
    status = log_z(ranks, model, evidence, &chosen, files, callbacks == NULL ? &nobody : callbacks,
                   report, err);
cleanup:
    return status;
}

gbs_status gbs_log_z(const gbs_model *model, const gbs_evidence *evidence,
                     const gbs_run_options *options, const gbs_run_callbacks *callbacks,
                     gbs_log_z_report *report, gbs_error *err)
{
    return gbs_log_z_with(NULL, model, evidence, options, NULL, callbacks, report, err);
}

gbs_status gbs_log_z_bound(const gbs_model *model, const gbs_evidence *evidence,
                           const gbs_run_options *options, const gbs_run_callbacks *callbacks,
                           double *bound, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbs_run_options asked;
    gbs_run_options taken = gbs_run_options_default();
    GBSI_NEED(bound);
    GBSI_TRY(gbsi_options_take(options, &asked, err));
    taken.method = GBS_METHOD_MEAN_FIELD;
    taken.iterations = asked.iterations;
    taken.mean_field_schedule = asked.mean_field_schedule;
    taken.damping = asked.damping;
    taken.time_s = asked.time_s;
    taken.memory_limit = asked.memory_limit;
    GBSI_TRY(gbs_run_new(model, evidence, &taken, &run, err));
    GBSI_TRY(gbs_run_execute(run, callbacks, err));
    *bound = gbs_run_report(run)->log_z_bound;
    status = GBS_OK;
cleanup:
    gbs_run_free(run);
    return status;
}
