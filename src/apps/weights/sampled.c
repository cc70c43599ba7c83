/* SPDX-License-Identifier: Apache-2.0 */
/* Stochastic approximation with the chains' own covariance as its matrix (Gu & Kong 1998, PNAS
 * 95:7270-7274): w moves by g (N C)^-1 times the sampled gradient. Here g is the size of the step,
 * N the weight of all rows, and C the covariance of the features. If there are many weights, a
 * diagonal takes the place of C (sampled_diagonal.c). After a quarter, a half and all of the steps
 * w is held at its average. From the chains at these weights, one step of Newton's method leads to
 * an estimate of the maximum. Learning ends if the average and this estimate agree. Each row with
 * missing values has its own chain, in which the observed values are fixed, as in Younes (1989) and
 * DimmWitted.
 *
 * The result has the same bits on any number of threads: one thread draws each chain, with random
 * numbers of the chain's own. One thread computes each sum over chains, and each row of a matrix of
 * such sums. */
#include "weights/sampled_climbing.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "learn/equations.h"
#include "learn/split_rhat.h"
#include "rng/philox.h"
#include "simd/math.h"

#define FASTEST  0.5 /* largest size g of a step */
#define FARTHEST 0.5 /* largest change of a weight in one step */
#define QUARTER  4u  /* steps are not shortened in the first 1 / QUARTER of all steps */
/* in later steps g is FASTEST / (1 + SLOWING * the share of all steps taken since that quarter) */
#define SLOWING 10.0
#define PIVOT   1e-9
/* largest last step of Newton's method, in standard errors, with which learning has converged */
#define FARTHEST_FROM_MAXIMUM 1.0
/* learning may end early if the error by chance is below this share of a standard error */
#define MOST_CHANCE 0.5

/* ---- chains ---------------------------------------------------------------------------------- */

static uint32_t *state_of(const gbsi_climbing *c, size_t chain)
{
    return c->state + chain * c->n_variables;
}

/* Writes the states of a row to x; missing values become 0. */
static void fill(const gbsi_climbing *c, size_t row, uint32_t *x)
{
    const gbs_data *d = c->pseudo->data;
    memset(x, 0, c->n_variables * sizeof *x);
    for (uint32_t k = 0; k < d->n_columns; ++k) {
        const uint16_t state = d->state[row * d->n_columns + k];
        x[d->column[k]] = state == GBSI_MISSING ? 0 : state;
    }
}

/* Marks the variables whose values the row has. @param clamped [n_variables] out. @return whether
 * the row lacks a variable that has several states. */
static bool mark(const gbsi_climbing *c, size_t row, uint8_t *clamped)
{
    const gbs_data *d = c->pseudo->data;
    bool lacks = false;
    memset(clamped, 0, c->n_variables);
    for (uint32_t k = 0; k < d->n_columns; ++k) {
        clamped[d->column[k]] = d->state[row * d->n_columns + k] != GBSI_MISSING;
    }
    for (size_t v = 0; v < c->n_variables; ++v) {
        lacks = lacks || (!clamped[v] && c->pseudo->model->arity[v] > 1);
    }
    return lacks;
}

static gbs_status check_start(const gbsi_climbing *c, size_t row, const uint32_t *x, gbs_error *err)
{
    return gbs_model_log_density(c->pseudo->model, x) > -INFINITY
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_NOT_FOUND,
                           "row %" PRIu64
                           ": found no state of positive weight where its missing values are "
                           "state 0, from which chains could start, or none at all",
                           c->pseudo->data->first[row] + 1);
}

/* Adds the features of complete rows, and makes chains for incomplete rows. Free chains start from
 * rows. */
static gbs_status take_rows(gbsi_climbing *c, gbs_error *err)
{
    const gbs_data *d = c->pseudo->data;
    for (size_t row = 0; row < d->n_distinct; ++row) {
        uint32_t *x = state_of(c, c->options->chains + c->n_partial);
        c->n_rows += d->weight[row];
        GBSI_PASS(gbsi_watch_work(c->pseudo->watch, c->n + 4 * c->pseudo->model->factors.n_factors,
                                  "learning", err));
        fill(c, row, x);
        GBSI_PASS(check_start(c, row, x, err));
        if (mark(c, row, c->clamped)) {
            c->partial[c->n_partial++] = row;
            continue;
        }
        memset(c->step, 0, c->n * sizeof *c->step);
        gbsi_pseudo_features(c->pseudo, x, c->step);
        for (size_t k = 0; k < c->n; ++k) {
            c->complete[k] += d->weight[row] * c->step[k];
        }
    }
    for (uint64_t chain = 0; chain < c->options->chains; ++chain) {
        fill(c, chain % d->n_distinct, state_of(c, chain));
    }
    return GBS_OK;
}

/* Restarts every chain. The chain of a row takes the values of the row. Free chains take rows at
 * equal distances in the cumulative weight of the rows, from a random point on. */
static void restart(gbsi_climbing *c)
{
    const gbs_data *d = c->pseudo->data;
    uint32_t word[4];
    size_t row = 0;
    double before = 0.0; /* sum of the weights of the rows before the current row */
    gbsi_philox(c->options->seed, 0, c->pass, 0, GBSI_PURPOSE_START, word);
    const double u = gbsi_uniform(word[0], word[1]);
    for (uint64_t chain = 0; chain < c->options->chains; ++chain) {
        const double at = ((double)chain + u) / (double)c->options->chains * c->n_rows;
        while (row + 1 < d->n_distinct && before + d->weight[row] <= at) {
            before += d->weight[row++];
        }
        fill(c, row, state_of(c, chain));
    }
    for (size_t i = 0; i < c->n_partial; ++i) {
        fill(c, c->partial[i], state_of(c, c->options->chains + i));
    }
}

void gbsi_climbing_draw_chain(const gbsi_climbing *c, uint32_t member, size_t chain, uint64_t pass,
                              double *feature)
{
    uint32_t *x = state_of(c, chain);
    uint8_t *clamped = NULL;
    if (chain >= c->options->chains) {
        clamped = c->clamped + member * c->n_variables;
        (void)mark(c, c->partial[chain - c->options->chains], clamped);
    }
    for (uint64_t k = 0; k < c->options->sweeps && !gbsi_climbing_stopped(c); ++k) {
        gbsi_pseudo_sweep(c->pseudo, member, c->at, &c->how->scan->order, clamped, c->options->seed,
                          (uint32_t)chain, pass * c->options->sweeps + k, x);
    }
    memset(feature, 0, c->n * sizeof *feature);
    gbsi_pseudo_features(c->pseudo, x, feature);
}

static void draw_chains(void *context, uint32_t member)
{
    gbsi_climbing *c = context;
    size_t chain = 0;
    while ((chain = c->next++) < c->options->chains + c->n_partial && !gbsi_climbing_stopped(c)) {
        gbsi_climbing_draw_chain(c, member, chain, c->pass, c->feature + chain * c->n);
    }
}

void gbsi_climbing_draw(gbsi_climbing *c, const double *w)
{
    c->at = w;
    c->next = 0;
    gbsi_pool_run(c->pseudo->pool, draw_chains, c);
    ++c->pass;
}

/* Adds up the mean of the free chains, the sums of the rows, and the products of the free
 * chains. */
static void add_features(void *context, uint32_t member)
{
    gbsi_climbing *c = context;
    const size_t n = c->n;
    const double share = 1.0 / (double)c->options->chains;
    size_t k = 0;
    while ((k = c->next++) < n &&
           !gbsi_pseudo_stops(c->pseudo, member, k * c->options->chains / 2)) {
        const double *feature = c->feature;
        c->mean[k] = 0.0;
        c->rows[k] = c->complete[k];
        memset(c->second + k * n, 0, n * sizeof *c->second);
        for (size_t chain = 0; chain < c->options->chains; ++chain, feature += n) {
            c->mean[k] += share * feature[k];
            gbsi_add_products(feature, k, share, c->second + k * n);
        }
        for (size_t i = 0; i < c->n_partial; ++i, feature += n) {
            c->rows[k] += c->pseudo->data->weight[c->partial[i]] * feature[k];
        }
    }
}

/* Draws all chains once, and computes the mean and covariance of the free chains and the sums of
 * the rows. */
static gbs_status sweep(gbsi_climbing *c, gbs_error *err)
{
    const double fresh = gbsi_climbing_fresh(c);
    if (c->many) {
        return gbsi_diagonal_sweep(c, err);
    }
    gbsi_climbing_draw(c, c->w);
    c->next = 0;
    gbsi_pool_run(c->pseudo->pool, add_features, c);
    if (gbsi_climbing_stopped(c)) {
        return gbsi_watch_fail(err, "learning");
    }
    for (size_t k = 0; k < c->n; ++k) {
        for (size_t j = 0; j <= k; ++j) {
            const size_t at = k * c->n + j;
            c->second[at] -= c->mean[k] * c->mean[j];
            c->covariance[at] += fresh * (c->second[at] - c->covariance[at]);
        }
    }
    return GBS_OK;
}

/* ---- climbing -------------------------------------------------------------------------------- */

/* Factorises root root^T = scale * covariance + l2, plus a multiple of the unit matrix if the
 * factorisation needs it. */
static void factorise(gbsi_climbing *c, double scale)
{
    double most = 0.0;
    if (c->many) {
        gbsi_diagonal_scale(c);
        return;
    }
    for (size_t k = 0; k < c->n; ++k) {
        for (size_t j = 0; j <= k; ++j) {
            c->root[k * c->n + j] = scale * c->covariance[k * c->n + j];
        }
        most = c->root[k * c->n + k] > most ? c->root[k * c->n + k] : most;
    }
    double more = c->options->l2 + 1e-6 * most + 1e-9;
    while (!gbsi_cholesky(c->root, c->n, more, PIVOT, c->root, c->pseudo->watch) &&
           !gbsi_climbing_stopped(c)) {
        for (size_t k = 0; k < c->n; ++k) { /* restore the entries that were overwritten */
            for (size_t j = 0; j <= k; ++j) {
                c->root[k * c->n + j] = scale * c->covariance[k * c->n + j];
            }
        }
        more *= 10.0;
    }
}

double gbsi_climbing_step(gbsi_climbing *c, const double *w, const double *rows, const double *mean)
{
    double square = 0.0;
    for (size_t k = 0; k < c->n; ++k) {
        c->step[k] = rows[k] - c->n_rows * mean[k] - c->options->l2 * w[k];
        square += c->step[k] * c->step[k];
        c->step[k] /= c->many ? c->longest * c->scale[k] : 1.0;
    }
    if (!c->many) {
        gbsi_cholesky_solve(c->root, c->n, c->step);
    }
    return gbsi_sqrt(square);
}

static double length_of(const gbsi_climbing *c)
{
    const double n_steps = (double)c->options->steps;
    const double past = (double)c->n_steps - n_steps / QUARTER;
    return past <= 0.0 ? FASTEST : FASTEST / (1.0 + SLOWING * past / n_steps);
}

/* Draws the chains of a step and computes their sums, unless they come from a checkpoint. */
static gbs_status draw_step(gbsi_climbing *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (c->drawn) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_learning_scan_follow(c->how->scan, c->w, err));
    if (c->options->method == GBS_LEARN_RESTARTED) {
        restart(c);
    }
    GBSI_TRY(sweep(c, err));
    c->drawn = true;
    gbsi_climbing_keep(c);

cleanup:
    return status;
}

/* @return the number of steps at the end of the round. The average is taken over the second half of
 * these steps. */
static uint64_t end_of(const gbsi_climbing *c)
{
    return c->options->steps >> c->round;
}

static void move(gbsi_climbing *c)
{
    const uint64_t first = end_of(c) / 2;
    for (size_t i = 0; i < c->n; ++i) {
        const double step = length_of(c) * c->step[i];
        c->w[i] += step > FARTHEST ? FARTHEST : step < -FARTHEST ? -FARTHEST : step;
        c->average[i] +=
            c->n_steps < first ? 0.0 : (c->w[i] - c->average[i]) / (double)(c->n_steps - first + 1);
    }
    ++c->n_steps;
    c->drawn = false;
}

/* Takes the steps of a round. If a step is stopped, only the chains have changed, and a copy of the
 * chains exists. @param w out: mean of the weights over the second half of the steps. */
static gbs_status take_steps(gbsi_climbing *c, double *w, gbs_error *err)
{
    gbs_status status = GBS_OK;
    while (c->n_steps < end_of(c)) {
        GBSI_TRY(draw_step(c, err));
        factorise(c, c->n_rows);
        if (gbsi_climbing_stopped(c)) {
            GBSI_TRY(gbsi_watch_fail(err, "learning"));
        }
        const double length = gbsi_climbing_step(c, c->w, c->rows, c->mean);
        GBSI_TRY(c->how->tell(c->how->tell_context, c->n_steps, c->w, (double)NAN, length, err));
        move(c);
    }

cleanup:
    if (status == GBS_OK || status == GBS_ERR_STOPPED) {
        gbsi_keep_last(&c->keep);
    }
    memcpy(w, c->n_steps > end_of(c) / 2 ? c->average : c->w, c->n * sizeof *w);
    return status;
}

/* @return whether the chains agree at weights that were held still. Before the last round, the
 * error by chance must also be small. */
static bool has_converged(const gbsi_climbing *c, const gbsi_climbed *found)
{
    const bool near = c->many ? found->misfit <= GBSI_MOST_MISFIT
                              : found->has_errors && found->share <= FARTHEST_FROM_MAXIMUM;
    return found->rhat <= GBSI_MOST_RHAT && near &&
           (c->many || c->round == 0 || found->error <= MOST_CHANCE);
}

/* Takes rounds of steps and checks their mean after each round, until the mean is near the maximum
 * or the steps are used up. */
static gbs_status climb(gbsi_climbing *c, double *w, gbsi_climbed *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    while (end_of(c) == 0) {
        --c->round;
    }
    for (;;) {
        found->has_errors = false;
        found->rhat = found->share = found->error = found->misfit = (double)NAN;
        GBSI_TRY(take_steps(c, w, err));
        GBSI_TRY(gbsi_learning_scan_follow(c->how->scan, w, err));
        GBSI_TRY(c->many ? gbsi_diagonal_finish(c, w, found, err)
                         : gbsi_climbing_finish(c, w, found, err));
        found->converged = has_converged(c, found);
        if (found->converged || c->round == 0) {
            break;
        }
        --c->round;
        gbsi_climbing_keep(c);
    }

cleanup:
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status take_matrix(gbsi_climbing *c, gbs_error *err)
{
    const size_t n_features = (size_t)c->options->chains + c->n_partial;
    if (c->many) {
        return gbsi_diagonal_new(c, err);
    }
    c->feature = gbsi_alloc_array(n_features, c->n * sizeof *c->feature);
    c->covariance = gbsi_alloc_array_zero(3 * c->n * c->n, sizeof *c->covariance);
    GBSI_PASS(GBSI_HAVE(err, "features", c->feature, c->covariance));
    c->root = c->covariance + c->n * c->n;
    c->second = c->root + c->n * c->n;
    return GBS_OK;
}

static gbs_status take_memory(gbsi_climbing *c, gbs_error *err)
{
    const size_t n_chains = c->options->chains + c->pseudo->data->n_distinct + 1;
    c->state = gbsi_alloc_array(n_chains, c->n_variables * sizeof *c->state);
    c->partial = gbsi_alloc_array(c->pseudo->data->n_distinct, sizeof *c->partial);
    c->clamped = gbsi_alloc_array(gbsi_pool_size(c->pseudo->pool), c->n_variables);
    c->complete = gbsi_alloc_array_zero(6 * c->n, sizeof *c->complete);
    GBSI_PASS(GBSI_HAVE(err, "chains", c->state, c->partial, c->clamped, c->complete));
    c->mean = c->complete + c->n;
    c->rows = c->complete + 2 * c->n;
    c->step = c->complete + 3 * c->n;
    c->average = c->complete + 4 * c->n;
    c->w = c->complete + 5 * c->n;
    return GBS_OK;
}

gbs_status gbsi_climb_likelihood(gbsi_pseudo *pseudo, const gbsi_climb *how, double *w,
                                 gbsi_climbed *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_climbing c = {.pseudo = pseudo,
                       .how = how,
                       .options = how->options,
                       .n = pseudo->learnt->n,
                       .n_variables = pseudo->model->n_variables,
                       .many = pseudo->learnt->n > GBS_MAX_LEARNT_WEIGHTS,
                       .round = GBSI_ROUNDS - 1};
    GBSI_TRY(take_memory(&c, err));
    memcpy(c.w, w, c.n * sizeof *w);
    GBSI_TRY(take_rows(&c, err));
    GBSI_TRY(take_matrix(&c, err));
    GBSI_TRY(gbsi_climbing_resume(&c, err));
    GBSI_TRY(climb(&c, w, found, err));

cleanup:
    found->steps = c.n_steps;
    found->n_unwritten = c.keep.n_failed;
    gbsi_keep_end(&c.keep);
    GBSI_FREE(c.state, c.kept, c.partial, c.clamped, c.complete, c.feature, c.covariance);
    gbsi_diagonal_free(&c);
    return status;
}
