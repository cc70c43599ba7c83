/* SPDX-License-Identifier: Apache-2.0 */
/* Passes thrown away: a number, or until the chains agree on the log density.
 *
 * The trace of log densities is thinned as it grows: at most 64 values per chain, every s-th pass
 * with s doubling. At 64, 128, 256, ... passes split R-hat [M9] of its second half decides. */
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "sampler/density.h"
#include "sampler/run.h"

#define TRACE 64u /* values per chain */

typedef struct trace {
    double *value; /* [n_chains][TRACE] */
    size_t n;
} trace;

/* @return false where the watch stopped it, with nothing recorded. */
static bool record(const gbsi_executor *x, gbsi_watch *watch, trace *t)
{
    const size_t n_factors = x->plan == NULL ? 0 : x->plan->model->factors.n_factors;
    const uint64_t work = n_factors == 0 ? 1 : x->plan->model->factors.scope_start[n_factors];
    double density[GBSI_LANES];
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        gbsi_executor_group_density(x, g, density);
        for (uint32_t lane = 0; lane < x->lanes && g * x->lanes + lane < x->n_chains; ++lane) {
            t->value[(size_t)(g * x->lanes + lane) * TRACE + t->n] = density[lane];
        }
        if (gbsi_watch_spend(watch, work)) {
            return false;
        }
    }
    ++t->n;
    return true;
}

/* Keep every second value: the stride has doubled. */
static void thin(uint32_t n_chains, trace *t)
{
    for (uint32_t chain = 0; chain < n_chains; ++chain) {
        double *value = t->value + (size_t)chain * TRACE;
        for (size_t i = 0; i < TRACE / 2; ++i) {
            value[i] = value[2 * i + 1];
        }
    }
    t->n = TRACE / 2;
}

/* The most that automatic burn-in may take: at most the sweeps asked for, or half of the updates.
 */
static uint64_t most_passes(const gbs_run *run)
{
    const uint64_t per_pass = run->engine.schedule.n_places * run->engine.executor.n_chains;
    const uint64_t most = run->options.sweeps > 0
                              ? run->options.sweeps
                              : run->options.max_updates / 2 / (per_pass == 0 ? 1 : per_pass);
    const bool hopeless = run->problem.support == GBSI_SUPPORT_DISCONNECTED; /* they cannot agree */
    return hopeless && most > TRACE ? TRACE : most;
}

static gbs_status until_mixed(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t most = most_passes(run);
    uint64_t stride = 1;
    trace t = {.value =
                   gbsi_alloc_array((size_t)run->engine.executor.n_chains * TRACE, sizeof(double))};
    if (t.value == NULL) {
        status = gbsi_no_memory(err, "burn-in", (size_t)run->engine.executor.n_chains * TRACE * 8);
        goto cleanup;
    }
    while (run->report.public.burn_in < most && drive->stop == GBSI_GO_ON) {
        GBSI_TRY(gbsi_run_pass(run, drive, false, err));
        const uint64_t done = ++run->report.public.burn_in;
        if (done % stride == 0 && !record(&run->engine.executor, &drive->watch, &t)) {
            break;
        }
        if (t.n == TRACE) { /* done = 64 * 2^k */
            const double rhat = gbsi_split_rhat(t.value + TRACE / 2, run->engine.executor.n_chains,
                                                TRACE / 2, TRACE);
            if (rhat < GBSI_BURN_IN_RHAT) {
                run->report.burn_in_agreed = true;
                break;
            }
            if (gbsi_run_is_stuck(run, drive, rhat)) {
                drive->stop = GBSI_STOP_TO_TEMPER;
            }
            thin(run->engine.executor.n_chains, &t);
            stride *= 2;
        }
        /* The clock only ends it: the count in the report reproduces the run. */
        if (run->options.time_s > 0.0 &&
            gbsi_clock_s() - drive->started_s > run->options.time_s / 2) {
            break;
        }
    }
    run->report.slow_passes = stride > 1 ? run->report.public.burn_in : 0;
    if (gbsi_run_is_slow(run, drive)) {
        drive->stop = GBSI_STOP_TO_TEMPER;
    }
cleanup:
    gbsi_free(t.value);
    return status;
}

gbs_status gbsi_run_burn_in(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    if (run->options.restarts) {
        run->report.burn_in_agreed = true; /* there is none */
        return GBS_OK;
    }
    if (run->options.burn_in == GBS_BURN_IN_AUTO) {
        return until_mixed(run, drive, err);
    }
    run->report.burn_in_agreed = true; /* the user's word */
    while (run->report.public.burn_in < run->options.burn_in && drive->stop == GBSI_GO_ON) {
        gbs_status status = gbsi_run_pass(run, drive, false, err);
        if (status < 0) {
            return status;
        }
        ++run->report.public.burn_in;
    }
    return GBS_OK;
}
