/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum likelihood of a dense Potts model by persistent chains (Tieleman 2008) [M62]. Results
 * have the same bits on any number of threads: one thread draws each chain, with random numbers of
 * the chain's own. One thread computes the counts and weights of each table. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "learn/keep.h"
#include "learn/rates.h"
#include "learn/split_rhat.h"
#include "potts/potts_draws.h"
#include "rng/philox.h"
#include "simd/math.h"

typedef struct chains {
    gbsi_potts *potts;
    gbs_potts_options options;
    size_t n;
    uint8_t *state; /* [n][n_sites] states of the chains */
    uint8_t *draws; /* [gbsi_potts_most_draws()][n][n_sites] draws taken while the weights are held
                       still */
    double *blocks; /* [n_sites][n_block] blocks of all sites */
    double *data;   /* [potts->n] frequencies P(x_i) and P(x_i, x_j) in the rows */
    double *sum; /* [potts->n] sum of the weights after each step of the second half of all steps */
    double
        *moving; /* [potts->n] copy of the weights, kept while the chains are drawn at their mean */
    double
        *square; /* [n_sites] sum of squares that move() returned for each site in the last step */
    double *x;
    double rate, shrink, total;
    gbs_potts_report *report;
    gbsi_keep keep;
    uint8_t *kept;        /* [n][n_sites] states of the chains between two steps, for checkpoints */
    uint64_t kept_pass;   /* number of sweeps that the kept chains have made */
    const double *kept_x; /* weights that belong to the kept chains */
    uint64_t n_summed;    /* number of steps whose weights are in c->sum */
    uint32_t round; /* number of rounds that follow the current round, from GBSI_ROUNDS - 1 to 0 */
    uint64_t step;
    uint64_t pass; /* number of sweeps that each chain has made */
    bool sums;     /* whether this step is in the second half of all steps */
    _Atomic uint32_t next;
} chains;

static bool stops(const chains *c, uint32_t member, uint64_t n_operations)
{
    gbsi_watch *watch = &c->potts->work->watch;
    return member == 0 ? gbsi_watch_spend(watch, n_operations) : gbsi_watch_stopped(watch);
}

/* ---- what is observed ------------------------------------------------------------------------ */

/* Counts the weighted frequencies of the states of site i, and of its pairs with later sites. */
static void count_site(const chains *c, uint32_t i)
{
    const gbsi_potts *p = c->potts;
    const gbs_rows *rows = p->rows;
    const size_t q = p->n_states;
    for (size_t b = 0; b < rows->n; ++b) {
        const uint8_t *x = gbsi_row(rows, b);
        const double share = rows->weight[b] / c->total;
        c->data[i * q + x[i]] += share;
        for (uint32_t j = i + 1; j < p->n_sites; ++j) {
            c->data[gbsi_potts_pair(p, i, j) + x[i] * q + x[j]] += share;
        }
    }
}

static void count_data(void *context, uint32_t member)
{
    chains *c = context;
    uint32_t i = 0;
    while ((i = c->next++) < c->potts->n_sites &&
           !stops(c, member, 4 * c->potts->rows->n * c->potts->n_sites)) {
        count_site(c, i);
    }
}

/* ---- a sweep --------------------------------------------------------------------------------- */

static void gather(void *context, uint32_t member)
{
    chains *c = context;
    const gbsi_potts *p = c->potts;
    uint32_t i = 0;
    while ((i = c->next++) < p->n_sites && !stops(c, member, p->n_block)) {
        gbsi_potts_gather(p, c->x, i, c->blocks + i * p->n_block);
    }
}

static uint32_t draw(const double *p, uint32_t n_states, double u)
{
    uint32_t a = 0;
    for (; a + 1 < n_states && u >= p[a]; ++a) {
        u -= p[a];
    }
    return a;
}

static void sweep(void *context, uint32_t member)
{
    chains *c = context;
    const gbsi_potts *p = c->potts;
    gbsi_potts_site site = {.n_sites = p->n_sites, .n_states = p->n_states, .width = p->width};
    double weight[GBSI_POTTS_MOST_WIDTH];
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(c->n, 1, member, gbsi_pool_size(p->work->pool), &first, &end);
    for (uint32_t i = 0; i < p->n_sites; ++i) {
        site.site = i;
        site.block = c->blocks + i * p->n_block;
        for (size_t k = first; k < end; ++k) {
            uint8_t *x = c->state + k * p->n_sites;
            uint32_t word[4];
            gbsi_philox(c->options.seed, (uint32_t)k, c->pass, i / 2, GBSI_PURPOSE_MACHINE, word);
            const double u = gbsi_uniform(word[i % 2 * 2], word[i % 2 * 2 + 1]);
            const double sum = gbsi_potts_conditional(&site, x, weight);
            x[i] = (uint8_t)draw(weight, p->n_states, u * sum);
            if (stops(c, member, (uint64_t)p->n_sites * p->width / 8 + 64)) {
                return;
            }
        }
    }
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* x += rate (P_data - P_chains - shrink x). @param count [n]. @return the sum of the squared
 * differences P_data - P_chains - shrink x */
static double move(const chains *c, size_t at, size_t n, const uint32_t *count)
{
    double square = 0.0;
    for (size_t k = 0; k < n; ++k) {
        const double difference = c->data[at + k] - (double)count[k] / (double)c->n;
        c->x[at + k] += c->rate * (difference - c->shrink * c->x[at + k]);
        c->sum[at + k] += c->sums ? c->x[at + k] : 0.0;
        square += difference * difference;
    }
    return square;
}

static void move_sites(void *context, uint32_t member)
{
    chains *c = context;
    const gbsi_potts *p = c->potts;
    const size_t q = p->n_states;
    uint32_t *count =
        (uint32_t *)(void *)(p->scratch +
                             3 * member * p->n_block); /* [q][q] counts of pairs of states */
    uint32_t i = 0;
    while ((i = c->next++) < p->n_sites) {
        memset(count, 0, q * sizeof *count);
        for (size_t k = 0; k < c->n; ++k) {
            ++count[c->state[k * p->n_sites + i]];
        }
        (void)move(c, i * q, q, count);
        c->square[i] = 0.0;
        for (uint32_t j = i + 1; j < p->n_sites; ++j) {
            memset(count, 0, q * q * sizeof *count);
            for (size_t k = 0; k < c->n; ++k) {
                const uint8_t *x = c->state + k * p->n_sites;
                ++count[x[i] * q + x[j]];
            }
            c->square[i] += move(c, gbsi_potts_pair(p, i, j), q * q, count);
        }
    }
}

static void run(chains *c, void (*job)(void *context, uint32_t member))
{
    c->next = 0;
    gbsi_pool_run(c->potts->work->pool, job, c);
}

/* Makes a sweep of every chain at the weights c->x. */
static void sweep_all(chains *c)
{
    run(c, sweep);
    ++c->pass;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const chains *c = object;
    const gbs_potts_report *r = c->report;
    const uint64_t count[] = {c->step,  c->kept_pass,  c->n_summed,
                              c->round, r->iterations, r->evaluations};
    const double number[] = {r->objective, r->gradient_norm, r->moment_error, r->iteration_s};
    GBSI_PASS(gbsi_put_numbers(sink, count, sizeof count / sizeof count[0], sizeof count[0], err));
    GBSI_PASS(
        gbsi_put_numbers(sink, number, sizeof number / sizeof number[0], sizeof number[0], err));
    GBSI_PASS(gbsi_put_numbers(sink, c->kept_x, c->potts->n, sizeof *c->x, err));
    GBSI_PASS(gbsi_put_numbers(sink, c->sum, c->potts->n, sizeof *c->sum, err));
    return sink->put(sink->context, c->kept, c->n * c->potts->n_sites, err);
}

static gbs_status load(chains *c, const gbsi_source *source, gbs_error *err)
{
    gbs_potts_report *r = c->report;
    uint64_t count[6];
    double number[4];
    GBSI_PASS(gbsi_take_numbers(source, count, 6, sizeof count[0], err));
    GBSI_PASS(gbsi_take_numbers(source, number, 4, sizeof number[0], err));
    GBSI_PASS(gbsi_take_numbers(source, c->x, c->potts->n, sizeof *c->x, err));
    GBSI_PASS(gbsi_take_numbers(source, c->sum, c->potts->n, sizeof *c->sum, err));
    GBSI_PASS(source->take(source->context, c->state, c->n * c->potts->n_sites, err));
    bool right = count[0] <= c->options.steps && count[3] < GBSI_ROUNDS;
    for (size_t k = 0; k < c->n * c->potts->n_sites; ++k) {
        right = right && c->state[k] < c->potts->n_states;
    }
    if (!right) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: found steps, rounds or states out of range",
                         c->keep.files->resume);
    }
    c->step = r->steps = count[0];
    c->pass = count[1];
    c->n_summed = count[2];
    c->round = (uint32_t)count[3];
    r->iterations = count[4];
    r->evaluations = count[5];
    r->objective = number[0];
    r->gradient_norm = number[1];
    r->moment_error = number[2];
    r->iteration_s = number[3];
    return GBS_OK;
}

/* Computes a digest of all inputs that determine the result. */
static gbs_status find_digest(chains *c, gbs_error *err)
{
    const gbs_potts_options *o = &c->options;
    const gbs_rows *rows = c->potts->rows;
    const uint64_t count[] = {rows->n_states, o->iterations, o->seed, o->chains, o->steps};
    const double number[] = {o->l2, o->tolerance, o->rate, o->rate_last};
    gbsi_digest *digest = NULL;
    const gbs_status status =
        gbsi_keep_digest("potts", rows->n, rows->n_sites, rows->weight, &digest, err);
    if (status >= 0) {
        gbsi_digest_u8(digest, rows->state, rows->n * rows->n_sites);
        gbsi_digest_u64(digest, count, sizeof count / sizeof count[0]);
        gbsi_digest_f64(digest, number, sizeof number / sizeof number[0]);
        gbsi_digest_text(digest, c->keep.digest);
    }
    gbsi_digest_free(digest);
    return status;
}

/* Starts the chains at rows, or at the states of a checkpoint. @param resumed out: whether there
 * was a checkpoint. */
static gbs_status begin(chains *c, bool *resumed, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n_sites = c->potts->n_sites;
    gbsi_kept *kept = NULL;
    c->round = GBSI_ROUNDS - 1;
    for (size_t k = 0; k < c->n; ++k) {
        memcpy(c->state + k * n_sites, gbsi_row(c->potts->rows, k % c->potts->rows->n), n_sites);
    }
    GBSI_TRY(find_digest(c, err));
    GBSI_TRY(gbsi_keep_open(&c->keep, &kept, err));
    *resumed = kept != NULL;
    if (kept != NULL) {
        const gbsi_source source = gbsi_kept_source(kept);
        GBSI_TRY(load(c, &source, err));
    }
    memcpy(c->kept, c->state, c->n * n_sites);
    c->kept_pass = c->pass;
    c->kept_x = c->x;
    GBSI_TRY(gbsi_keep_first(&c->keep, err));

cleanup:
    gbsi_kept_close(kept);
    return status;
}

/* Keeps a copy of the state between two steps. */
static void keep_step(chains *c)
{
    if (gbsi_keep_writes(&c->keep)) {
        memcpy(c->kept, c->state, c->n * c->potts->n_sites);
        c->kept_pass = c->pass;
        gbsi_keep_if_due(&c->keep);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Takes steps up to step `end`, or until the call is stopped. A step that is stopped before it
 * moves the weights leaves no trace. The weights of each step in the second half of all steps are
 * added to c->sum. */
static void take_steps(chains *c, uint64_t end)
{
    const gbsi_potts *p = c->potts;
    gbs_potts_report *report = c->report;
    for (; c->step < end; ++c->step) {
        double square = 0.0;
        keep_step(c);
        c->rate = gbsi_rate(c->options.rate, c->options.rate_last,
                            (double)c->step / (double)c->options.steps);
        c->sums = c->step >= end / 2;
        run(c, gather);
        sweep_all(c);
        if (gbsi_watch_stopped(&p->work->watch)) {
            return;
        }
        run(c, move_sites);
        c->n_summed += c->sums;
        for (uint32_t i = 0; i < p->n_sites; ++i) {
            square += c->square[i];
        }
        const double n_entries = (double)(p->n - (size_t)p->n_sites * p->n_states);
        report->moment_error = n_entries > 0.0 ? gbsi_sqrt(square / n_entries) : 0.0;
        report->steps = c->step + 1;
        p->work->progress.pass++;
        gbsi_potts_tell(c->potts, &c->options, report->steps, c->x, (double)NAN,
                        report->moment_error);
    }
    keep_step(c);
}

/* Makes half as many sweeps as steps were taken, at the weights c->x, and keeps the states of the
 * chains after some of these sweeps. */
static gbs_status hold_still(chains *c, gbs_potts_report *report, gbs_error *err)
{
    const gbsi_potts *p = c->potts;
    const uint64_t n_sweeps = c->step / 2;
    const size_t n_draws = gbsi_potts_most_draws(c->step);
    const uint64_t apart = n_sweeps < n_draws ? 1 : n_sweeps / n_draws;
    const size_t n_bytes = c->n * p->n_sites;
    const gbsi_potts_draws draws = {.potts = c->potts,
                                    .state = c->draws,
                                    .n_draws = n_draws,
                                    .n_chains = c->n,
                                    .data = c->data,
                                    .x = c->x,
                                    .shrink = c->shrink,
                                    .weight = c->total};
    run(c, gather);
    for (size_t t = 0; t < n_draws; ++t) {
        for (uint64_t k = 0; k < apart && !gbsi_watch_stopped(&p->work->watch); ++k) {
            sweep_all(c);
        }
        memcpy(c->draws + t * n_bytes, c->state, n_bytes);
    }
    double rhat = (double)NAN;
    double misfit = (double)NAN;
    const gbs_status status = gbsi_potts_judge_draws(&draws, &rhat, &misfit, err);
    if (status >= 0 && !gbsi_watch_stopped(&p->work->watch)) {
        report->rhat = rhat;
        report->misfit = misfit;
        report->converged = rhat <= GBSI_MOST_RHAT && misfit <= GBSI_MOST_MISFIT;
    }
    return status;
}

/* Takes rounds of steps and checks their mean after each round, until the mean is the maximum or
 * the steps are used up. c->x becomes the mean. */
static gbs_status climb(chains *c, bool resumed, gbs_error *err)
{
    const gbsi_watch *watch = &c->potts->work->watch;
    const size_t n = c->potts->n;
    c->report->converged = 0;
    for (;; --c->round, resumed = false) {
        const uint64_t end = c->options.steps >> c->round;
        if (end == 0) {
            continue;
        }
        if (!resumed) {
            memset(c->sum, 0, n * sizeof *c->sum);
            c->n_summed = 0;
        }
        take_steps(c, end);
        memcpy(c->moving, c->x, n * sizeof *c->x);
        c->kept_x = c->moving;
        for (size_t k = 0; c->n_summed > 0 && k < n; ++k) {
            c->x[k] = c->sum[k] / (double)c->n_summed;
        }
        if (!gbsi_watch_stopped(watch)) {
            GBSI_PASS(hold_still(c, c->report, err));
        }
        if (c->round == 0 || c->report->converged || gbsi_watch_stopped(watch)) {
            break;
        }
        memcpy(c->x, c->moving, n * sizeof *c->x);
        c->kept_x = c->x;
    }
    gbsi_keep_last(&c->keep);
    return GBS_OK;
}

static gbs_status take_memory(chains *c, gbs_error *err)
{
    const gbsi_potts *p = c->potts;
    const size_t n_blocks = p->n_sites * p->n_block;
    c->state = gbsi_alloc_array(c->n, p->n_sites);
    c->kept = gbsi_alloc_array(c->n, p->n_sites);
    c->blocks = gbsi_alloc_array_zero(n_blocks, sizeof *c->blocks);
    c->data = gbsi_alloc_array_zero(p->n, sizeof *c->data);
    c->sum = gbsi_alloc_array_zero(p->n, sizeof *c->sum);
    c->moving = gbsi_alloc_array(p->n, sizeof *c->moving);
    c->draws = gbsi_alloc_array(gbsi_potts_most_draws(c->options.steps), c->n * p->n_sites);
    c->square = gbsi_alloc_array_zero(p->n_sites, sizeof *c->square);
    return GBSI_HAVE(err, "chains", c->state, c->kept, c->blocks, c->data, c->sum, c->moving,
                     c->draws, c->square);
}

gbs_status gbsi_potts_chains(gbsi_potts *potts, const gbs_potts_options *options, double *x,
                             gbs_potts_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool resumed = false;
    chains c = {.potts = potts, .options = *options, .x = x, .report = report};
    c.keep = (gbsi_keep){.files = options->checkpoints,
                         .every_s = options->checkpoint_every_s,
                         .object = &c,
                         .save = save};
    c.n = (size_t)options->chains;
    c.total = gbs_rows_weight(potts->rows);
    c.shrink = options->l2 / c.total;
    GBSI_TRY(take_memory(&c, err));
    GBSI_TRY(begin(&c, &resumed, err));
    potts->work->progress.passes = potts->work->progress.pass + c.options.steps;
    potts->work->progress.pass += c.step;
    run(&c, count_data);
    GBSI_TRY(climb(&c, resumed, err));
    report->n_unwritten = c.keep.n_failed;
    status = gbsi_watch_stopped(&potts->work->watch) ? GBS_STOPPED : GBS_OK;

cleanup:
    gbsi_keep_end(&c.keep);
    GBSI_FREE(c.state, c.kept, c.blocks, c.data, c.sum, c.moving, c.draws, c.square);
    return status;
}
