/* SPDX-License-Identifier: Apache-2.0 */
/* Annealed importance sampling (Neal 2001, Statistics and Computing 11:125-139) [M40]. Chains go
 * from the uniform distribution, whose partition function is known, to the model. A ladder of
 * inverse temperatures leads from one to the other, with one sweep at each temperature. The weight
 * of a chain is an unbiased estimate of Z.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ask/inspect.h"
#include "base/memory.h"
#include "base/plural.h"
#include "chains/density.h"
#include "estimate/beta.h"
#include "ladders/ladder.h"
#include "rng/philox.h"
#include "simd/math.h"

#define PILOT        64u /* number of temperatures of the pilot */
#define ROUND_GROWTH 4u
#define MOST_ROUNDS  28u /* largest number of rounds; 64 * 4^28 temperatures are never reached */
#define AGREE        3.0 /* standard errors by which successive estimates may differ */

/* The estimate of ln Z from the weights of one annealing. */
typedef struct estimate {
    double log_z, error, ess;
    uint64_t n; /* number of temperatures; 0 if no estimate exists yet */
    uint64_t
        pilot; /* 1 if the estimate comes from the pilot, whose temperatures were not adapted */
} estimate;

/* The progress of the estimate: numbers of 8 bytes, which are saved unchanged. */
typedef struct standing {
    uint64_t rounds; /* number of annealings that are done */
    uint64_t t;      /* number of finished temperatures of the present annealing */
    estimate last, before;
} standing;

typedef struct annealing {
    gbs_run *run;
    gbsi_drive *drive;
    gbsi_ladder ladder;
    double *density;   /* [n_groups * lanes] E of every chain of this rank */
    double *weight;    /* [n_chains] log-weights */
    double *all;       /* [n_all] the values of `density` or `weight` for the chains of all ranks */
    uint32_t *x;       /* [part variables] scratch */
    double log_states; /* ln of the number of states of the sampled part */
    double log_exact;  /* ln of the sum over the states of the exact components */
    double target;
    standing at;
} annealing;

static void annealing_free(annealing *a)
{
    GBSI_FREE(a->density, a->weight, a->all, a->x);
}

/* ---- one annealing --------------------------------------------------------------------------- */

/* Draws independent uniform states, as at inverse temperature 0. */
static void start(annealing *a)
{
    gbs_run *run = a->run;
    const uint32_t first = run->sampling.engine.executor.first_chain;
    for (uint32_t chain = 0; chain < run->sampling.engine.executor.n_chains; ++chain) {
        for (uint32_t v = 0; v < run->task.problem.part->n_variables; ++v) {
            uint32_t word[4];
            gbsi_philox(run->task.options.seed, first + chain, a->at.rounds, v,
                        GBSI_PURPOSE_UNIFORM, word);
            a->x[v] = gbsi_below(word[0], word[1], run->task.problem.part->arity[v]);
        }
        gbsi_executor_set(&run->sampling.engine.executor, chain, a->x);
        a->weight[chain] = a->log_states;
    }
    gbsi_executor_ready(&run->sampling.engine.executor);
}

/* The standard deviation over chains, computed from each chain's difference from the first chain.
 */
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

/* Corrects the weights if hard zeros were softened during the annealing: forbidden states get
 * weight zero. */
static void harden(annealing *a)
{
    const gbs_run *run = a->run;
    if (run->task.problem.soft == NULL) {
        return;
    }
    gbsi_executor_log_density(&run->sampling.engine.executor, a->density);
    for (uint32_t chain = 0; chain < run->sampling.engine.executor.n_chains; ++chain) {
        gbsi_executor_get(&run->sampling.engine.executor, chain, a->x);
        a->weight[chain] +=
            gbsi_conditioned_log_density(run->task.problem.part, a->x) - a->density[chain];
    }
}

/* Runs the remaining steps of a ladder of n steps; each step is one sweep. The weights are complete
 * unless the run was stopped. By equation 6 of Neal with f_t = exp(beta_t E): ln w = ln (number of
 * states)
 * + sum over t = 1 .. n of (beta_t - beta_(t-1)) E(x_(t-1)). */
static gbs_status anneal(annealing *a, uint64_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = a->run;
    float beta = a->at.t == 0 ? 0.0F : gbsi_ladder_beta(&a->ladder, a->at.t, n);
    if (a->at.t == 0) {
        start(a);
    }
    while (a->at.t < n && a->drive->stop == GBSI_GO_ON) {
        const uint64_t t = a->at.t + 1;
        const float next = gbsi_ladder_beta(&a->ladder, t, n);
        gbsi_executor_log_density(&run->sampling.engine.executor, a->density);
        for (uint32_t chain = 0; chain < run->sampling.engine.executor.n_chains; ++chain) {
            a->weight[chain] += ((double)next - (double)beta) * a->density[chain];
        }
        GBSI_TRY(
            gbsi_run_gather_f64(run->task.spread, &run->sampling.engine, a->density, a->all, err));
        gbsi_ladder_tell(&a->ladder, t, n, spread(a->all, run->sampling.engine.executor.n_all));
        beta = next;
        GBSI_TRY(gbsi_executor_heat(&run->sampling.engine.executor, beta, err));
        GBSI_TRY(gbsi_run_pass(&run->task, &run->sampling, &run->checkpoints, &run->report,
                               a->drive, false, err));
        if (a->drive->stop == GBSI_STOP_FAILED) {
            return GBS_OK;
        }
        ++run->report.public.sweeps;
        a->at.t = t;
        GBSI_TRY(gbsi_run_keep(run, a->drive, GBSI_AFTER_PASS, err));
    }
cleanup:
    return status;
}

/* Computes ln of the mean weight, the standard error of this ln by the delta method, and (sum w)^2
 * / sum w^2.
 * @param weight [m] log-weights of all chains. */
static estimate summarise(const double *weight, uint32_t m, uint64_t n)
{
    double most = -INFINITY;
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t chain = 0; chain < m; ++chain) {
        most = weight[chain] > most ? weight[chain] : most;
    }
    if (most == -INFINITY) {
        return (estimate){.log_z = -INFINITY, .error = NAN, .ess = NAN, .n = n};
    }
    for (uint32_t chain = 0; chain < m; ++chain) {
        const double w = gbsi_exp(weight[chain] - most);
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
    const uint32_t m = a->run->sampling.engine.executor.n_all;
    return m >= 4 && e->n > 0 && e->pilot == 0 && e->ess >= 0.5 * m;
}

static bool agree(const estimate *a, const estimate *b)
{
    return fabs(a->log_z - b->log_z) <= AGREE * sqrt(a->error * a->error + b->error * b->error);
}

/* Returns the first reason why the estimate is not reliable, or NULL. */
static const char *doubt(const annealing *a, char *text, size_t size)
{
    const uint32_t m = a->run->sampling.engine.executor.n_all;
    const estimate *e = &a->at.last;
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
        gbsi_say(text, size, "the weights are worth %.1f of %u chain%s: try more --sweeps", e->ess,
                 m, gbsi_plural(m));
        return text;
    }
    if (!(e->error <= a->target)) {
        gbsi_say(text, size, "the standard error of ln Z is %.2g, above %.2g", e->error, a->target);
        return text;
    }
    if (!trusted(a, &a->at.before)) {
        return "no annealing with fewer temperatures was good enough to compare with";
    }
    if (!agree(e, &a->at.before)) {
        gbsi_say(text, size, "%llu temperature%s gave %.9g, which differs too much",
                 (unsigned long long)a->at.before.n, gbsi_plural(a->at.before.n),
                 a->at.before.log_z + a->log_exact);
        return text;
    }
    return NULL;
}

/* The number of temperatures of the next annealing; 0 if there is no next annealing. The first
 * annealing is the pilot. */
static uint64_t next_length(const annealing *a)
{
    const uint64_t sweeps = a->run->task.options.sweeps;
    const uint64_t quarters = sweeps >= ROUND_GROWTH ? 1 : 0;
    uint64_t n = PILOT;
    if (a->at.rounds > 0 && sweeps > 0) {
        return a->at.rounds == quarters       ? sweeps / ROUND_GROWTH
               : a->at.rounds == quarters + 1 ? sweeps
                                              : 0;
    }
    for (uint64_t k = 0; k < a->at.rounds; ++k) {
        n *= ROUND_GROWTH;
    }
    return n;
}

/* Runs one annealing, and keeps its estimate unless the run was stopped. */
static gbs_status round_of(annealing *a, uint64_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(anneal(a, n, err));
    if (a->drive->stop != GBSI_GO_ON) {
        return GBS_OK;
    }
    harden(a);
    GBSI_TRY(
        gbsi_run_gather_f64(a->run->task.spread, &a->run->sampling.engine, a->weight, a->all, err));
    a->at.before = a->at.last;
    a->at.last = summarise(a->all, a->run->sampling.engine.executor.n_all, n);
    a->at.last.pilot = a->at.rounds == 0;
    a->run->checkpoints.best = a->at.last.log_z + a->log_exact;
    a->drive->worst_error = a->run->report.public.max_mcse = a->at.last.error;
    ++a->at.rounds;
    a->at.t = 0;
    gbsi_ladder_even(&a->ladder);
cleanup:
    return status;
}

/* Decides, before another annealing, whether the estimate is good enough. The limit on updates does
 * not end the pilot, because without a pilot the call has no answer. The time limit does end the
 * pilot, because users rely on the time limit. */
static void decide(annealing *a, uint64_t most_updates)
{
    gbs_run_options *o = &a->run->task.options;
    char text[128];
    o->max_updates = a->at.rounds == 0 ? UINT64_MAX : most_updates;
    if (a->drive->stop != GBSI_GO_ON) {
        return;
    }
    if ((o->sweeps == 0 || o->target_error > 0.0) && doubt(a, text, sizeof text) == NULL) {
        a->drive->stop = GBSI_STOP_TARGET;
    } else if (next_length(a) == 0) {
        a->drive->stop = GBSI_STOP_SWEEPS;
    }
}

static gbs_status rounds(annealing *a, uint64_t most_updates, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (;;) {
        decide(a, most_updates);
        if (a->drive->stop != GBSI_GO_ON) {
            break;
        }
        GBSI_TRY(round_of(a, next_length(a), err));
    }
    if (a->drive->stop != GBSI_STOP_FAILED) {
        GBSI_TRY(gbsi_run_keep(a->run, a->drive, GBSI_AFTER_PASSES, err));
    }
cleanup:
    return status;
}

/* ---- saved ----------------------------------------------------------------------------------- */

enum { NUMBER = 8 };

static gbs_status save_weights(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const annealing *a = object;
    return gbsi_put_numbers(sink, a->weight, a->run->sampling.engine.executor.n_chains,
                            sizeof *a->weight, err);
}

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const annealing *a = object;
    GBSI_PASS(gbsi_put_numbers(sink, &a->at, sizeof a->at / NUMBER, NUMBER, err));
    GBSI_PASS(gbsi_put_numbers(sink, &a->ladder, sizeof a->ladder / NUMBER, NUMBER, err));
    return gbsi_ranks_save(a->run->task.ranks, a, save_weights, sink, err);
}

static gbs_status load(void *object, const gbsi_source *source, gbs_error *err)
{
    annealing *a = object;
    const gbsi_executor *x = &a->run->sampling.engine.executor;
    GBSI_PASS(gbsi_take_numbers(source, &a->at, sizeof a->at / NUMBER, NUMBER, err));
    GBSI_PASS(gbsi_take_numbers(source, &a->ladder, sizeof a->ladder / NUMBER, NUMBER, err));
    GBSI_PASS(gbsi_take_numbers(source, a->all, x->n_all, sizeof *a->all, err));
    memcpy(a->weight, a->all + x->first_chain, x->n_chains * sizeof *a->weight);
    if (a->at.rounds > MOST_ROUNDS || !gbsi_ladder_ascends(&a->ladder) ||
        (a->at.t > 0 && a->at.t > next_length(a))) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "the saved annealing is damaged");
    }
    return GBS_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status begin(annealing *a, gbs_error *err)
{
    const gbs_run *run = a->run;
    const gbsi_executor *x = &run->sampling.engine.executor;
    const size_t n = (size_t)x->n_groups * x->lanes;
    a->density = gbsi_alloc_array(n, sizeof *a->density);
    a->weight = gbsi_alloc_array(n, sizeof *a->weight);
    a->all = gbsi_alloc_array(x->n_all, sizeof *a->all);
    a->x = gbsi_alloc_array(run->task.problem.part->n_variables, sizeof *a->x);
    GBSI_PASS(GBSI_HAVE(err, "log_z", a->density, a->weight, a->all, a->x));
    for (uint32_t v = 0; v < run->task.problem.part->n_variables; ++v) {
        a->log_states += gbsi_log((double)run->task.problem.part->arity[v]);
    }
    gbsi_ladder_init(&a->ladder);
    return GBS_OK;
}

static void report_estimate(const annealing *a, gbs_log_z_report *r)
{
    const double ln40 = 3.6888794541139363; /* P(mean weight > 40 Z) <= 1 / 40 */
    const estimate *e = &a->at.last;
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
        gbsi_say(r->verdict, sizeof r->verdict,
                 "converged: standard error %.2g, weights worth %.1f of %u chain%s", e->error,
                 e->ess, r->chains, gbsi_plural(r->chains));
    } else {
        (void)snprintf(r->verdict, sizeof r->verdict, "not converged: %s", reason);
    }
}

/* Does all work that is needed before the first pass. */
static gbs_status set_off(annealing *a, uint64_t most_updates, gbs_error *err)
{
    gbs_run *run = a->run;
    gbsi_checkpoints *c = &run->checkpoints;
    GBSI_PASS(begin(a, err));
    if (c->from != NULL) {
        GBSI_PASS(gbsi_run_take_up(run, a->drive, err));
        c->best = a->at.last.n == 0 ? (double)NAN : a->at.last.log_z + a->log_exact;
        if (a->at.rounds > 0 && run->report.public.updates >= most_updates) {
            a->drive->stop = GBSI_STOP_UPDATES;
        }
    }
    return gbsi_executor_heat(&run->sampling.engine.executor, 0.0F, err);
}

gbs_status gbsi_log_z_by_annealing(gbs_run *run, gbsi_drive *drive, double log_exact,
                                   gbs_log_z_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    annealing a = {.run = run,
                   .drive = drive,
                   .log_exact = log_exact,
                   .target = run->task.options.target_error > 0.0 ? run->task.options.target_error
                                                                  : GBSI_LOG_Z_TARGET};
    gbsi_checkpoints *c = &run->checkpoints;
    const uint64_t most_updates = run->task.options.max_updates;
    c->more = (gbsi_more){.name = "annealing", .object = &a, .save = save, .load = load};
    c->best = NAN;
    run->sampling.phase = GBSI_PHASE_SAMPLING;
    run->task.options.max_updates =
        UINT64_MAX; /* decide() sets the limit on updates after the pilot */
    GBSI_TRY(gbsi_ranks_meet(run->task.ranks, set_off(&a, most_updates, err), err));
    GBSI_TRY(gbsi_drive_agree(run->task.ranks, drive, err));
    status = gbsi_run_keep(run, drive, GBSI_BEFORE_PASSES, err);
    GBSI_TRY(gbsi_ranks_meet(run->task.ranks, status, err));
    GBSI_TRY(rounds(&a, most_updates, err));
    report->chains = run->report.public.chains;
    report->rounds = a.at.rounds + (a.at.t > 0 ? 1 : 0);
    report_estimate(&a, report);
cleanup:
    annealing_free(&a);
    return status;
}
