/* SPDX-License-Identifier: Apache-2.0 */
/* Plain chains: the way of running that suits every model that is sampled. Burn-in and passes
 * continue up to a stop, whose time depends on counts only. */
#include "base/plural.h"
#include "choose/exact_part.h"
#include "drive/draws.h"
#include "drive/runners.h"

/* ---- passes ---------------------------------------------------------------------------------- */

#define MANY_SPINS (UINT64_C(1) << 20)

/* Number of sweeps before the k-th check: 64 * 2^(k/2), rounded down; arithmetic in double is exact
 * here. */
static uint64_t check_after(unsigned k)
{
    const double base = k % 2 == 0 ? 64.0 : 90.50966799187809;
    return k >= 100 ? UINT64_MAX : (uint64_t)(base * (double)(UINT64_C(1) << (k / 2)));
}

/* Computes standard errors only when they are needed for a decision or for display, because they
 * take as long as some sweeps. For many spins in bits, they take as long as dozens of sweeps, and
 * are computed only for a decision. */
static gbs_status check_target(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    const bool decides = run->report.public.target_error != 0.0 && drive->stop == GBSI_GO_ON &&
                         gbsi_run_long_enough(&run->task, &run->sampling.engine, &run->report);
    const bool costly =
        run->task.plain->bits != 0 &&
        gbsi_run_n_places(run->task.plain, &run->task.shared, &run->sampling.engine) >= MANY_SPINS;
    const bool shown = drive->callbacks->progress != NULL && !costly;
    bool wanted = decides || shown;
    GBSI_PASS(gbsi_run_any(run->task.ranks, &wanted, err));
    if (!wanted) {
        return GBS_OK;
    }
    GBSI_PASS(run->task.runner->errors(run, err));
    drive->worst_error = run->report.public.max_mcse;
    drive->rhat = run->report.public.max_rhat;
    if (!decides) {
        return GBS_OK;
    }
    const bool reached = run->report.public.max_mcse <= run->report.public.target_error &&
                         gbsi_run_chains_agree(run->task.runner, &run->report) &&
                         gbsi_run_has_wandered(&run->task, &run->report);
    const bool still = reached && run->report.public.n_hardly_moved > 0;
    bool stops =
        reached && !(still && gbsi_run_may_climb(&run->task, &run->sampling.engine, &run->memory,
                                                 &run->report, drive, false));
    const bool climbs = gbsi_run_is_stuck(&run->task, &run->sampling.engine, &run->memory, drive,
                                          run->report.public.max_rhat) ||
                        (still && gbsi_run_may_climb(&run->task, &run->sampling.engine,
                                                     &run->memory, &run->report, drive, true));
    const gbs_status turned = gbsi_run_turn_to_ladders(run->task.plain, run->task.ranks,
                                                       &run->report, drive, climbs, err);
    if (turned < 0 || drive->stop != GBSI_GO_ON) {
        return turned;
    }
    GBSI_PASS(gbsi_run_any(run->task.ranks, &stops, err));
    if (stops) {
        drive->stop = GBSI_STOP_TARGET;
    } else if (run->task.problem.support == GBSI_SUPPORT_DISCONNECTED) {
        drive->stop = GBSI_STOP_SUPPORT; /* the run stops if more sweeps cannot cross these zeros */
    }
    return GBS_OK;
}

/* Decides, before each sweep, whether the run has enough sweeps. @param k number of the next
 * check. */
static gbs_status decide(gbs_run *run, gbsi_drive *drive, unsigned *k, gbs_error *err)
{
    const uint64_t sweeps = run->report.public.sweeps;
    if (sweeps == check_after(*k)) {
        ++*k;
        GBSI_PASS(check_target(run, drive, err));
    }
    if (run->task.options.sweeps > 0 && sweeps == run->task.options.sweeps) {
        drive->stop = GBSI_STOP_SWEEPS;
    }
    return GBS_OK;
}

static gbs_status sample(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const bool draws = drive->callbacks->draw != NULL;
    const bool splits = (run->sampling.engine.scan_traits & GBSI_SCAN_SPLITS) != 0;
    unsigned k = 0;
    gbsi_giving g = {0};
    if (draws) {
        GBSI_TRY(
            gbsi_giving_take(&run->task, &run->sampling.engine, &run->report, splits, &g, err));
    }
    while (check_after(k) < run->report.public.sweeps) {
        ++k;
    }
    for (;;) {
        GBSI_TRY(decide(run, drive, &k, err));
        if (drive->stop != GBSI_GO_ON) {
            break;
        }
        GBSI_TRY(gbsi_run_pass(&run->task, &run->sampling, &run->checkpoints, &run->report, drive,
                               true, err));
        if (status == GBS_STOPPED) {
            break;
        }
        if (draws && run->report.public.sweeps % run->task.options.thin == 0) {
            gbsi_executor_fetch(&run->sampling.engine.executor, run->sampling.estimates.estimate);
            GBSI_TRY(gbsi_giving_give(run, drive, &g, err));
        }
        GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASS, err));
    }
cleanup:
    gbsi_giving_free(&g);
    return status;
}

/* Keeps one sweep if the clock or a signal ended the run during burn-in. The estimates then have
 * the bits of a run with this length of burn-in and one sweep. If the user wants draws, no sweep is
 * kept, because a draw cannot say that burn-in was cut short. */
static gbs_status keep_one_sweep(gbsi_task *task, gbsi_sampling *sampling,
                                 const gbsi_checkpoints *checkpoints, gbsi_report *report,
                                 gbsi_drive *drive, gbs_error *err)
{
    const gbsi_stop stop = drive->stop;
    const bool ended = stop == GBSI_STOP_TIME || stop == GBSI_STOP_SIGNAL;
    if (!ended || report->public.sweeps > 0 || report->public.burn_in == 0 ||
        sampling->estimates.estimate == NULL || drive->callbacks->draw != NULL) {
        return GBS_OK;
    }
    drive->stop = GBSI_GO_ON; /* allows one more sweep after the stop */
    const gbs_status status = gbsi_run_pass(task, sampling, checkpoints, report, drive, true, err);
    drive->stop = stop;
    report->public.in_burn_in = status >= 0;
    return status;
}

gbs_status gbsi_chains_advance(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_executor_watch(&run->sampling.engine.executor, drive->callbacks->splash,
                        drive->callbacks->context); /* the callback is set again, because the search
                                                       for starts made new blocks */
    GBSI_TRY(gbsi_run_keep(run, drive, GBSI_BEFORE_PASSES, err));
    if (run->sampling.phase == GBSI_PHASE_BURN_IN) {
        GBSI_TRY(gbsi_run_burn_in(run, drive, err));
    }
    if (run->report.public.sweeps == 0) {
        GBSI_TRY(gbsi_run_turn_to_ladders(
            run->task.plain, run->task.ranks, &run->report, drive,
            gbsi_run_is_slow(&run->task, &run->sampling.engine, &run->memory, &run->report, drive),
            err));
    }
    GBSI_TRY(sample(run, drive, err));
    GBSI_TRY(gbsi_run_control(run, drive, err));
    GBSI_TRY(gbsi_run_turn_to_ladders(run->task.plain, run->task.ranks, &run->report, drive,
                                      gbsi_run_is_contradicted(&run->task, &run->sampling.engine,
                                                               &run->memory, &run->report, drive),
                                      err));
    run->sampling.phase =
        drive->stop == GBSI_STOP_TO_TEMPER ? GBSI_PHASE_STUCK : run->sampling.phase;
    GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASSES, err));
    GBSI_TRY(keep_one_sweep(
        &run->task, &run->sampling, &run->checkpoints, &run->report, drive,
        err)); /* a run that resumes from this checkpoint does not use the last sweep */
    GBSI_TRY(gbsi_run_compare(&run->task, &run->sampling, &run->report, drive, err));
    GBSI_TRY(gbsi_monitor_gather(run->task.ranks, run->task.spread, &run->sampling.engine,
                                 &run->sampling.monitor, err));
    run->report.connected = gbsi_executor_connects(&run->sampling.engine.executor);
    if (drive->stop == GBSI_STOP_TO_TEMPER) {
        drive->stop = GBSI_GO_ON;
        GBSI_TRY(gbsi_run_tempered(run, drive, err));
    }
cleanup:
    return status;
}

/* ---- judged and read ------------------------------------------------------------------------- */

gbs_status gbsi_chains_errors(gbs_run *run, gbs_error *err)
{
    GBSI_PASS(
        gbsi_stays_sum_up(&run->sampling.engine.executor, &run->sampling.estimates.stays, err));
    GBSI_PASS(gbsi_estimates_report(&run->sampling.estimates, run->sampling.engine.pool,
                                    &run->report.public, err));
    return gbsi_run_find_still(&run->task.shared, &run->sampling.engine, &run->sampling.estimates,
                               &run->report, err);
}

gbs_status gbsi_chains_remark(gbs_run *run, gbs_error *err)
{
    if (!run->report.burn_in_agreed) {
        GBSI_PASS(gbsi_burn_in_warn(&run->task, &run->sampling.engine, &run->sampling.burn_in,
                                    &run->report, err));
    }
    if (run->report.n_precise > 0) {
        GBSI_PASS(gbsi_report_warn(
            &run->report, err,
            "%u variable%s so large log-weights that the sums run in double, "
            "which is slower",
            run->report.n_precise, gbsi_plural_of(run->report.n_precise, " has", "s have")));
    }
    if (run->sampling.estimates.estimate != NULL) {
        GBSI_PASS(gbsi_estimate_tell(run->sampling.estimates.estimate, err));
    }
    return GBS_OK;
}

gbs_status gbsi_chains_check(const gbs_run *run, gbs_error *err)
{
    const gbsi_estimate *estimate = run->sampling.estimates.estimate;
    if (estimate == NULL) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "the estimator traces keeps no marginals: use rao-blackwell or count");
    }
    if (gbsi_estimate_n_passes(estimate) == 0) {
        return gbsi_no_draw_kept(err);
    }
    return gbsi_estimate_has_told(estimate)
               ? GBS_OK
               : gbsi_fail(
                     err, GBS_ERR_STATE,
                     "on several ranks marginals can be read once gbs_run_execute() has ended");
}

static void chains_marginal(const gbsi_sampling *sampling, uint32_t v,
                            double *const row[GBSI_N_ROWS])
{
    const uint32_t slot = sampling->engine.plan->slot_of[v];
    gbsi_estimate_slot(sampling->estimates.estimate, slot, row[GBSI_P], row[GBSI_MCSE],
                       row[GBSI_ESS], row[GBSI_RHAT]);
}

static bool suits(const gbsi_task *task)
{
    return task->problem.part != NULL;
}

const gbsi_runner gbsi_runner_chains = {
    .name = "chains",
    .traits = GBSI_RUNNER_SCANS,
    .suits = suits,
    .compile = gbsi_chains_compile,
    .shape = gbsi_chains_shape,
    .bytes = gbsi_chains_bytes,
    .prepare = gbsi_chains_prepare,
    .begin = gbsi_run_exactly,
    .start = gbsi_chains_start,
    .advance = gbsi_chains_advance,
    .parts = gbsi_chains_parts,
    .errors = gbsi_chains_errors,
    .judge = gbsi_judge_sampled,
    .remark = gbsi_chains_remark,
    .check = gbsi_chains_check,
    .marginal = chains_marginal,
    .digest = gbsi_marginals_digest,
};
