/* SPDX-License-Identifier: Apache-2.0 */
/* Annealed importance sampling (Neal 2001, Statistics and Computing 11:125-139) [M40]: chains go
 * from the uniform law, whose partition function is known, to the model by a ladder of inverse
 * temperatures with a sweep at each, and a chain's weight is an unbiased estimate of Z. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/student.h"
#include "rng/philox.h"
#include "sampler/density.h"
#include "sampler/ladder.h"
#include "sampler/log_z.h"
#include "simd/math.h"

#define PILOT        64u /* temperatures */
#define ROUND_GROWTH 4u
#define AGREE        3.0 /* standard errors between one annealing and the next */

/* What the weights of one annealing come to. */
typedef struct estimate {
    double log_z, error, ess;
    uint64_t n; /* temperatures; 0: there is none */
    bool pilot; /* its temperatures lay anywhere */
} estimate;

typedef struct annealing {
    gbs_run *run;
    gbsi_drive *drive;
    gbsi_ladder ladder;
    double *density;   /* [n_groups * lanes] E of every chain */
    double *weight;    /* [n_chains] ln */
    uint32_t *x;       /* [part variables] scratch */
    double log_states; /* ln of the number of states of the part */
    double log_exact;  /* ln of the sum over the exact components */
    double target;
    uint64_t rounds;
    estimate last, before;
} annealing;

static void annealing_free(annealing *a)
{
    gbsi_free(a->density);
    gbsi_free(a->weight);
    gbsi_free(a->x);
}

/* ---- one annealing --------------------------------------------------------------------------- */

/* Independent uniform states: the law at inverse temperature 0. */
static void start(annealing *a)
{
    gbs_run *run = a->run;
    for (uint32_t chain = 0; chain < run->engine.executor.n_chains; ++chain) {
        for (uint32_t v = 0; v < run->problem.part->n_variables; ++v) {
            uint32_t word[4];
            gbsi_philox(run->options.seed, chain, a->rounds, v, GBSI_PURPOSE_UNIFORM, word);
            a->x[v] = gbsi_below(word[0], word[1], run->problem.part->arity[v]);
        }
        gbsi_executor_set(&run->engine.executor, chain, a->x);
        a->weight[chain] = a->log_states;
    }
    gbsi_executor_ready(&run->engine.executor);
}

/* Standard deviation over chains, by their differences from the first. */
static double spread(const double *value, uint32_t n)
{
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t chain = 1; chain < n; ++chain) {
        const double d = value[chain] - value[0];
        sum += d;
        squares += d * d;
    }
    const double variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0.0;
    return variance > 0.0 ? sqrt(variance) : 0.0;
}

/* Where hard zeros were softened on the way: what is forbidden has weight zero after all. */
static void harden(annealing *a)
{
    const gbs_run *run = a->run;
    if (run->problem.soft == NULL) {
        return;
    }
    gbsi_executor_log_density(&run->engine.executor, a->density);
    for (uint32_t chain = 0; chain < run->engine.executor.n_chains; ++chain) {
        gbsi_executor_get(&run->engine.executor, chain, a->x);
        a->weight[chain] +=
            gbsi_conditioned_log_density(run->problem.part, a->x) - a->density[chain];
    }
}

/* n steps of a ladder, each a sweep; weights are complete if nothing stopped it. Equation 6 of Neal
 * with f_t = exp(beta_t E):
 *     ln w = ln (number of states) + sum over t = 1 .. n of (beta_t - beta_(t-1)) E(x_(t-1)) */
static gbs_status anneal(annealing *a, uint64_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = a->run;
    float beta = 0.0F;
    start(a);
    for (uint64_t t = 1; t <= n && a->drive->stop == GBSI_GO_ON; ++t) {
        const float next = gbsi_ladder_beta(&a->ladder, t, n);
        gbsi_executor_log_density(&run->engine.executor, a->density);
        for (uint32_t chain = 0; chain < run->engine.executor.n_chains; ++chain) {
            a->weight[chain] += ((double)next - (double)beta) * a->density[chain];
        }
        gbsi_ladder_tell(&a->ladder, t, n, spread(a->density, run->engine.executor.n_chains));
        beta = next;
        GBSI_TRY(gbsi_executor_heat(&run->engine.executor, beta, err));
        GBSI_TRY(gbsi_run_pass(run, a->drive, false, err));
        ++run->report.public.sweeps;
    }
    harden(a);
    ++a->rounds;
cleanup:
    return status;
}

/* ln of the mean weight, its standard error by the delta method, and (sum w)^2 / sum w^2. */
static estimate summarise(const annealing *a, uint64_t n)
{
    const uint32_t m = a->run->engine.executor.n_chains;
    double most = -INFINITY;
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t chain = 0; chain < m; ++chain) {
        most = a->weight[chain] > most ? a->weight[chain] : most;
    }
    if (most == -INFINITY) {
        return (estimate){.log_z = -INFINITY, .error = NAN, .ess = NAN, .n = n};
    }
    for (uint32_t chain = 0; chain < m; ++chain) {
        const double w = gbsi_exp(a->weight[chain] - most);
        sum += w;
        squares += w * w;
    }
    const double mean = sum / m;
    const double variance = m > 1 ? (squares - sum * mean) / (m - 1) : NAN;
    return (estimate){.log_z = most + gbsi_log(mean),
                      .error =
                          sqrt((variance > 0.0 || isnan(variance) ? variance : 0.0) / m) / mean,
                      .ess = sum * sum / squares,
                      .n = n};
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static bool trusted(const annealing *a, const estimate *e)
{
    const uint32_t m = a->run->engine.executor.n_chains;
    return m >= 4 && e->n > 0 && !e->pilot && e->ess >= 0.5 * m;
}

static bool agree(const estimate *a, const estimate *b)
{
    return fabs(a->log_z - b->log_z) <= AGREE * sqrt(a->error * a->error + b->error * b->error);
}

/* The first reason not to trust the estimate, or NULL. */
static const char *doubt(const annealing *a, char *text, size_t size)
{
    const uint32_t m = a->run->engine.executor.n_chains;
    const estimate *e = &a->last;
    if (e->n == 0) {
        return "stopped before the first annealing was finished";
    }
    if (e->log_z == -INFINITY) {
        return "no chain ended in a state of positive weight";
    }
    if (m < 4) {
        return "with fewer than 4 chains the error cannot be estimated";
    }
    if (!trusted(a, e)) {
        (void)snprintf(text, size, "the weights are worth %.1f of %u chains: try more --sweeps",
                       e->ess, m);
        return text;
    }
    if (!(e->error <= a->target)) {
        (void)snprintf(text, size, "the standard error of ln Z is %.2g, above %.2g", e->error,
                       a->target);
        return text;
    }
    if (!trusted(a, &a->before)) {
        return "no annealing with fewer temperatures was good enough to compare with";
    }
    if (!agree(e, &a->before)) {
        (void)snprintf(text, size, "%llu temperatures gave %.9g, which differs too much",
                       (unsigned long long)a->before.n, a->before.log_z + a->log_exact);
        return text;
    }
    return NULL;
}

/* An annealing, whose estimate is kept if nothing stopped it. */
static gbs_status round_of(annealing *a, uint64_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char text[128];
    GBSI_TRY(anneal(a, n, err));
    if (a->drive->stop != GBSI_GO_ON) {
        return GBS_OK;
    }
    a->before = a->last;
    a->last = summarise(a, n);
    a->drive->worst_error = a->last.error;
    const gbs_run_options *o = &a->run->options;
    if ((o->sweeps == 0 || o->target_error > 0.0) && doubt(a, text, sizeof text) == NULL) {
        a->drive->stop = GBSI_STOP_TARGET;
    }
    gbsi_ladder_even(&a->ladder);
cleanup:
    return status;
}

/* Without the pilot there is no answer at all, so that the number of updates does not end it. The
 * time does: it is a promise. */
static gbs_status pilot(annealing *a, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run_options *options = &a->run->options;
    const uint64_t max_updates = options->max_updates;
    options->max_updates = UINT64_MAX;
    GBSI_TRY(round_of(a, PILOT, err));
    a->last.pilot = true;
cleanup:
    options->max_updates = max_updates;
    return status;
}

static gbs_status rounds(annealing *a, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t sweeps = a->run->options.sweeps;
    GBSI_TRY(pilot(a, err));
    if (sweeps >= ROUND_GROWTH && a->drive->stop == GBSI_GO_ON) {
        GBSI_TRY(round_of(a, sweeps / ROUND_GROWTH, err));
    }
    if (sweeps > 0 && a->drive->stop == GBSI_GO_ON) {
        GBSI_TRY(round_of(a, sweeps, err));
        a->drive->stop = a->drive->stop == GBSI_GO_ON ? GBSI_STOP_SWEEPS : a->drive->stop;
    }
    for (uint64_t n = ROUND_GROWTH * PILOT; a->drive->stop == GBSI_GO_ON; n *= ROUND_GROWTH) {
        GBSI_TRY(round_of(a, n, err));
    }
cleanup:
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status begin(annealing *a, gbs_error *err)
{
    const gbs_run *run = a->run;
    const gbsi_executor *x = &run->engine.executor;
    const size_t n = (size_t)x->n_groups * x->lanes;
    a->density = gbsi_alloc_array(n, sizeof *a->density);
    a->weight = gbsi_alloc_array(n, sizeof *a->weight);
    a->x = gbsi_alloc_array(run->problem.part->n_variables, sizeof *a->x);
    if (a->density == NULL || a->weight == NULL || a->x == NULL) {
        return gbsi_no_memory(err, "log_z", run->problem.part->n_variables * sizeof *a->x);
    }
    for (uint32_t v = 0; v < run->problem.part->n_variables; ++v) {
        a->log_states += gbsi_log((double)run->problem.part->arity[v]);
    }
    gbsi_ladder_init(&a->ladder);
    return GBS_OK;
}

static void report_estimate(const annealing *a, gbs_log_z_report *r)
{
    const double ln40 = 3.6888794541139363; /* P(mean weight > 40 Z) <= 1 / 40 */
    const estimate *e = &a->last;
    const double half = gbsi_student_quantile(0.975, (double)(r->chains - 1)) * e->error;
    char text[128];
    const char *reason = doubt(a, text, sizeof text);
    r->log_z = e->n == 0 ? NAN : e->log_z + a->log_exact;
    r->error = e->error;
    r->low = r->log_z - half;
    r->high = r->log_z + half;
    r->lower_bound = r->log_z - ln40;
    r->ess = e->ess;
    r->temperatures = e->n;
    r->converged = reason == NULL;
    if (reason == NULL) {
        (void)snprintf(r->verdict, sizeof r->verdict,
                       "converged: standard error %.2g, weights worth %.1f of %u chains", e->error,
                       e->ess, r->chains);
    } else {
        (void)snprintf(r->verdict, sizeof r->verdict, "not converged: %s", reason);
    }
}

gbs_status gbsi_log_z_by_annealing(gbs_run *run, gbsi_drive *drive, double log_exact,
                                   gbs_log_z_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    annealing a = {.run = run,
                   .drive = drive,
                   .log_exact = log_exact,
                   .target = run->options.target_error > 0.0 ? run->options.target_error
                                                             : GBSI_LOG_Z_TARGET};
    GBSI_TRY(begin(&a, err));
    GBSI_TRY(rounds(&a, err));
    report->chains = run->report.public.chains;
    report->rounds = a.rounds;
    report_estimate(&a, report);
cleanup:
    annealing_free(&a);
    return status;
}
