/* SPDX-License-Identifier: Apache-2.0 */
/* Burn-in: passes whose draws are thrown away. The number of passes is given, or burn-in lasts
 * until the chains agree on the log density. The trace of log densities holds at most 64 values per
 * chain: the value of every s-th pass, where s doubles when the trace is full. After 64, 128, 256,
 * ... passes, split R-hat [M9] of the second half of the trace decides whether burn-in ends. */
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "chains/density.h"
#include "chains/run.h"

#define TRACE GBSI_BURN_IN_VALUES
#define TOLD  8u /* number of further recorded values after which R-hat is reported */

/* Records the log density of every chain. @return GBS_STOPPED if the watch stopped the
 * computation; no densities are recorded then. */
static gbs_status record(const gbs_ranks *spread, const gbsi_engine *engine, gbsi_burn_in *t,
                         gbsi_watch *watch, gbs_error *err)
{
    const gbsi_executor *x = &engine->executor;
    double *all = t->now + x->n_all;
    double density[GBSI_LANES];
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        gbsi_executor_group_density(x, g, watch, density);
        for (uint32_t lane = 0; lane < x->lanes && g * x->lanes + lane < x->n_chains; ++lane) {
            t->now[g * x->lanes + lane] = density[lane];
        }
        if (gbsi_watch_spend(watch, GBSI_LANES)) {
            return GBS_STOPPED;
        }
    }
    const gbs_status status = gbsi_run_gather_f64(spread, engine, t->now, all, err);
    for (uint32_t chain = 0; chain < x->n_all; ++chain) {
        t->density[(size_t)chain * TRACE + t->n] = all[chain];
    }
    ++t->n;
    return status;
}

/* The split R-hat of the second half of the recorded densities. */
static double rhat_of(const gbsi_engine *engine, const gbsi_burn_in *t)
{
    const size_t half = t->n / 2;
    return gbsi_split_rhat(t->density + (t->n - half), engine->executor.n_all, half, TRACE);
}

/* Keeps every second recorded value, and doubles the number of passes between values. */
static void thin(uint32_t n_chains, gbsi_burn_in *t)
{
    for (uint32_t chain = 0; chain < n_chains; ++chain) {
        double *value = t->density + (size_t)chain * TRACE;
        for (size_t i = 0; i < TRACE / 2; ++i) {
            value[i] = value[2 * i + 1];
        }
    }
    t->n = TRACE / 2;
    t->stride *= 2;
}

/* The largest number of passes of automatic burn-in: the number of sweeps if the options give it,
 * else half of max_updates. */
static uint64_t most_passes(const gbsi_task *task, const gbsi_engine *engine)
{
    const uint64_t per_pass =
        gbsi_run_n_places(task->plain, &task->shared, engine) * engine->executor.n_all;
    const uint64_t most = task->options.sweeps > 0
                              ? task->options.sweeps
                              : task->options.max_updates / 2 / (per_pass == 0 ? 1 : per_pass);
    const bool hopeless =
        task->problem.support ==
        GBSI_SUPPORT_DISCONNECTED; /* chains in separate parts of the support cannot agree */
    return hopeless && most > TRACE ? TRACE : most;
}

static gbs_status until_mixed(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_burn_in *t = &run->sampling.burn_in;
    t->most = most_passes(
        &run->task, &run->sampling.engine); /* computed from the options of this run, which may
                                               differ from the options in the checkpoint */
    t->stride = t->stride == 0 ? 1 : t->stride;
    GBSI_TRY(gbsi_burn_in_take(&run->sampling.burn_in, &run->sampling.engine, err));
    while (run->report.public.burn_in < t->most && drive->stop == GBSI_GO_ON) {
        GBSI_TRY(gbsi_run_pass(&run->task, &run->sampling, &run->checkpoints, &run->report, drive,
                               false, err));
        const uint64_t done = ++run->report.public.burn_in;
        if (done % t->stride == 0) {
            GBSI_TRY(record(run->task.spread, &run->sampling.engine, &run->sampling.burn_in,
                            &drive->watch, err));
            if (status == GBS_STOPPED) {
                status = GBS_OK;
                break;
            }
        }
        if (done % t->stride == 0 && t->n % TOLD == 0) {
            drive->rhat = rhat_of(&run->sampling.engine, t);
        }
        if (t->n == TRACE) { /* after 64 * 2^k passes */
            const double rhat = drive->rhat;
            if (rhat < GBSI_BURN_IN_RHAT) {
                run->report.burn_in_agreed = true;
                break;
            }
            GBSI_TRY(gbsi_run_turn_to_ladders(
                run->task.plain, run->task.ranks, &run->report, drive,
                gbsi_run_is_stuck(&run->task, &run->sampling.engine, &run->memory, drive, rhat),
                err));
            thin(run->sampling.engine.executor.n_all, t);
        }
        /* The clock only ends burn-in: a run with the number of passes in the report gives the same
         * bits. */
        bool late = run->task.options.time_s > 0.0 &&
                    gbsi_clock_s() - drive->started_s > run->task.options.time_s / 2;
        GBSI_TRY(gbsi_run_any(run->task.ranks, &late, err));
        if (late) {
            break;
        }
        GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASS, err));
    }
    run->report.slow_passes = t->stride > 1 ? run->report.public.burn_in : 0;
    if (drive->stop == GBSI_GO_ON || run->report.burn_in_agreed ||
        run->report.public.burn_in >= t->most) {
        run->sampling.phase = GBSI_PHASE_SAMPLING;
    }
cleanup:
    return status;
}

static gbs_status by_number(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t most =
        run->task.options.restarts ? 0 : run->task.options.burn_in; /* restarts need no burn-in */
    run->report.burn_in_agreed = true; /* the user has chosen the length of burn-in */
    while (run->report.public.burn_in < most && drive->stop == GBSI_GO_ON) {
        GBSI_TRY(gbsi_run_pass(&run->task, &run->sampling, &run->checkpoints, &run->report, drive,
                               false, err));
        ++run->report.public.burn_in;
        GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASS, err));
    }
    if (run->report.public.burn_in >= most) {
        run->sampling.phase = GBSI_PHASE_SAMPLING;
    }
cleanup:
    return status;
}

gbs_status gbsi_run_burn_in(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    const bool automatic =
        run->task.options.burn_in == GBS_BURN_IN_AUTO && !run->task.options.restarts;
    const gbs_status status = (automatic ? until_mixed : by_number)(run, drive, err);
    if (run->sampling.phase != GBSI_PHASE_BURN_IN) {
        gbsi_free(run->sampling.burn_in.density);
        run->sampling.burn_in.density = NULL;
    }
    return status;
}

gbs_status gbsi_burn_in_warn(const gbsi_task *task, const gbsi_engine *engine,
                             const gbsi_burn_in *burn_in, gbsi_report *report, gbs_error *err)
{
    const unsigned long long taken = report->public.burn_in;
    const unsigned long long most = most_passes(task, engine);
    if (burn_in->most > 0 && taken >= burn_in->most && taken < most) {
        return gbsi_report_warn(report, err,
                                "the chains did not agree when burn-in ended, after %llu sweeps, "
                                "as the --sweeps or --max-updates that the run began with allowed "
                                "no more; begun with those it has now it would burn in for up to "
                                "%llu: begin again, or give --burn-in then",
                                taken, most);
    }
    return gbsi_report_warn(report, err,
                            "the chains did not agree when burn-in ended, after %llu sweeps: try "
                            "more --sweeps or a longer --burn-in",
                            taken);
}
