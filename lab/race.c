/* SPDX-License-Identifier: Apache-2.0 */
/* Scans on large models: runs and measurements. */
#include "lab/race.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "chains/run.h"
#include "parallel/pool.h"
#include "simd/math.h"

#define REPEATS 3

static uint64_t sweeps_of(const laboratory *lab, const lab_racer *r)
{
    return lab->options->quick ? r->sweeps_quick : r->sweeps;
}

static size_t teams_of(const laboratory *lab)
{
    const uint64_t most =
        lab->options->threads > 0 ? lab->options->threads : (uint64_t)gbsi_pool_cores();
    size_t n = 1;
    while (n < LAB_MAX_TEAMS && UINT64_C(1) << n <= most) {
        n++;
    }
    return n;
}

double lab_race_updates(const laboratory *lab, const lab_race *race)
{
    double sweeps = 0.0;
    for (size_t i = 0; i < race->n_racers; i++) {
        const lab_racer *r = &race->racer[i];
        sweeps += (double)sweeps_of(lab, r) + (double)(REPEATS * teams_of(lab) * r->sweeps_timed);
    }
    return sweeps * race->n_chains * gbs_model_n_variables(race->model);
}

static gbs_run_options options_of(const laboratory *lab, const lab_race *race, const lab_racer *r,
                                  uint64_t sweeps)
{
    gbs_run_options options = lab_options(lab, race->n_chains, sweeps);
    options.scan = r->scan;
    if (r->width > 0) {
        options.width = r->width;
        options.splashes = 8;
        options.splash_size = 1 + gbs_model_n_variables(race->model) / 40;
    }
    return options;
}

/* ---- results after each checkpoint -------------------------------------------------------- */

typedef struct watcher {
    uint32_t n, n_chains;
    uint32_t *sum; /* [n_chains][n] sums of the states so far */
    lab_trail *trail;
} watcher;

/* Mean over the variables of the variance between the chains' mean states over this many sweeps. */
static double variance_of(const watcher *w, double sweeps)
{
    double total = 0.0;
    for (size_t v = 0; v < w->n; v++) {
        double mean = 0.0;
        double squares = 0.0;
        for (size_t c = 0; c < w->n_chains; c++) {
            mean += w->sum[c * w->n + v];
        }
        mean /= w->n_chains;
        for (size_t c = 0; c < w->n_chains; c++) {
            const double off = w->sum[c * w->n + v] - mean;
            squares += off * off;
        }
        total += squares;
    }
    return total / (sweeps * sweeps * (w->n_chains - 1.0) * w->n);
}

static gbs_status watch(void *context, uint64_t draw, uint32_t chain, double log_density,
                        const uint32_t *state, gbs_error *err)
{
    const watcher *w = context;
    lab_trail *t = w->trail;
    uint32_t *sum = w->sum + (size_t)chain * w->n;
    (void)err;
    for (size_t v = 0; v < w->n; v++) {
        sum[v] += state[v];
    }
    if (draw + 1 != UINT64_C(1) << t->n) {
        return GBS_OK;
    }
    const size_t k = t->n;
    t->density[k] += log_density / w->n_chains;
    t->low[k] = chain == 0 || log_density < t->low[k] ? log_density : t->low[k];
    t->high[k] = chain == 0 || log_density > t->high[k] ? log_density : t->high[k];
    if (chain + 1 == w->n_chains) {
        t->variance[k] = variance_of(w, (double)(draw + 1));
        t->n++;
    }
    return GBS_OK;
}

static gbs_status follow(laboratory *lab, lab_race *race, size_t i, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const lab_racer *r = &race->racer[i];
    const uint64_t sweeps = sweeps_of(lab, r);
    const gbs_run_options options = options_of(lab, race, r, sweeps);
    gbs_run *run = NULL;
    lab_trail *t = &race->trail[i];
    watcher w = {.n = gbs_model_n_variables(race->model), .n_chains = race->n_chains, .trail = t};
    assert(race->n_racers <= LAB_MAX_RACERS && sweeps < UINT64_C(1) << 24);
    *t = (lab_trail){0};
    w.sum = gbsi_alloc_array_zero(w.n, race->n_chains * sizeof *w.sum);
    GBSI_PASS(GBSI_HAVE(err, r->name, w.sum));
    LAB_TRY(lab_run(lab, r->name, race->model, &options, watch, &w, &run, err));
    const gbs_report *report = gbs_run_report(run);
    race->n_free = report->n_free_variables;
    const gbsi_executor *executor = &run->sampling.engine.executor;
    t->work_rate = (double)report->updates * 1e9 /
                   executor->pass->operations(executor->pass_state, race->n_chains);
    for (size_t k = 0; k < t->n; k++) {
        t->updates[k] = (double)(UINT64_C(1) << k) / (double)sweeps * (double)report->updates /
                        ((double)race->n_free * race->n_chains);
        t->work[k] = t->updates[k] * race->n_free * race->n_chains / t->work_rate;
    }
cleanup:
    t->n = status == GBS_OK ? t->n : 0; /* a run that did not end has no results */
    gbs_run_free(run);
    gbsi_free(w.sum);
    return status;
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Measures the update rate of one run, which has no callbacks. */
static gbs_status clock_one(laboratory *lab, lab_race *race, size_t i, size_t team, gbs_error *err)
{
    const lab_racer *r = &race->racer[i];
    gbs_run_options options = options_of(lab, race, r, r->sweeps_timed);
    gbs_run *run = NULL;
    double *rate = &race->trail[i].rate[team];
    options.threads = (uint64_t)race->threads[team];
    const gbs_status status = lab_run(lab, r->name, race->model, &options, NULL, NULL, &run, err);
    if (status == GBS_OK) {
        const double found = gbs_run_report(run)->updates_per_s;
        *rate = found > *rate ? found : *rate;
    }
    gbs_run_free(run);
    return status;
}

static gbs_status clock_all(laboratory *lab, lab_race *race, gbs_error *err)
{
    gbs_status status = GBS_OK;
    race->n_teams = teams_of(lab);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        for (size_t team = 0; team < race->n_teams; team++) {
            race->threads[team] = (double)(UINT64_C(1) << team);
            for (size_t i = 0; i < race->n_racers; i++) {
                LAB_TRY(clock_one(lab, race, i, team, err));
            }
        }
    }
    for (size_t i = 0; i < race->n_racers; i++) {
        lab_trail *t = &race->trail[i];
        for (size_t k = 0; k < t->n; k++) {
            t->seconds[k] =
                t->updates[k] * race->n_free * race->n_chains / t->rate[race->n_teams - 1];
        }
    }
cleanup:
    return status;
}

gbs_status lab_race_run(laboratory *lab, lab_race *race, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab->evidence = race->evidence;
    for (size_t i = 0; i < race->n_racers; i++) {
        LAB_TRY(follow(lab, race, i, err));
    }
    LAB_TRY(clock_all(lab, race, err));
cleanup:
    lab->evidence = NULL;
    return status;
}

double lab_trail_at(const lab_trail *t, const double *x, const double *y, double at)
{
    size_t k = 0;
    if (at <= x[0]) {
        return y[0];
    }
    while (k + 1 < t->n && x[k + 1] < at) {
        k++;
    }
    if (k + 1 >= t->n) {
        return y[t->n - 1];
    }
    const double share = gbsi_log2(at / x[k]) / gbsi_log2(x[k + 1] / x[k]);
    return y[k] + share * (y[k + 1] - y[k]);
}

double lab_trail_reaches(const lab_trail *t, const double *x, const double *y, double value)
{
    const double sign = y[0] < value ? 1.0 : -1.0;
    size_t k = 0;
    while (k < t->n && sign * (y[k] - value) < 0.0) {
        k++;
    }
    if (k == t->n) {
        return INFINITY;
    }
    if (k == 0) {
        return x[0];
    }
    const double share = (value - y[k - 1]) / (y[k] - y[k - 1]);
    return x[k - 1] * gbsi_exp(share * gbsi_log(x[k] / x[k - 1]));
}
