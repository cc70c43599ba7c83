/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates how far the maximum of the sampled likelihood is from weights that are held still
 * [M67]. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "learn/equations.h"
#include "learn/split_rhat.h"
#include "weights/sampled_climbing.h"

#define BATCHES 20u /* number of batches of the sums over rows, for their error by chance */

/* Sums at fixed weights. */
typedef struct looking {
    gbsi_climbing *climbing;
    double *chain;       /* [2 chains][n] means of the features over halves of chains */
    double *square;      /* [2 chains][n] means of the squared features over halves of chains */
    double *second;      /* [n][n] mean of products of two features, over all chains */
    double *batch;       /* [BATCHES][n] means of the sums over rows */
    double *of_row;      /* [n_partial][n] mean features of each row */
    double *products;    /* [n][n] weighted sum over rows of mean products */
    double *mean, *rows; /* [n] means over all draws: features of the free chains, sums over rows */
    uint64_t n_half;
    uint64_t t; /* number of the current draw, below 2 n_half */
} looking;

static void looking_free(looking *l)
{
    GBSI_FREE(l->chain, l->second, l->of_row, l->mean);
}

static gbs_status looking_new(gbsi_climbing *c, looking *l, gbs_error *err)
{
    const size_t n = c->n;
    const size_t halves = 2 * (size_t)c->options->chains * n;
    l->climbing = c;
    l->n_half = c->n_steps / 4 + 2;
    l->chain = gbsi_alloc_array_zero(2 * halves, sizeof *l->chain);
    l->second = gbsi_alloc_array_zero(2 * n * n, sizeof *l->second);
    l->of_row = gbsi_alloc_array_zero(c->n_partial * n, sizeof *l->of_row);
    l->mean = gbsi_alloc_array_zero((2 + BATCHES) * n, sizeof *l->mean);
    GBSI_PASS(GBSI_HAVE(err, "moments", l->chain, l->second, l->of_row, l->mean));
    l->square = l->chain + halves;
    l->products = l->second + n * n;
    l->rows = l->mean + n;
    l->batch = l->mean + 2 * n;
    return GBS_OK;
}

/* Adds the values of feature k in the free chains of this draw. */
static void add_free(const looking *l, size_t k)
{
    const gbsi_climbing *c = l->climbing;
    const size_t n = c->n;
    const double share = 1.0 / (double)(2 * l->n_half * c->options->chains);
    for (size_t chain = 0; chain < c->options->chains; ++chain) {
        const size_t half = 2 * chain + (l->t >= l->n_half);
        const double *feature = c->feature + chain * n;
        l->chain[half * n + k] += feature[k] / (double)l->n_half;
        l->square[half * n + k] += feature[k] * feature[k] / (double)l->n_half;
        l->mean[k] += feature[k] * share;
        gbsi_add_products(feature, k, share, l->second + k * n);
    }
}

/* Adds the values of feature k in the chains of rows. */
static void add_partial(const looking *l, size_t k)
{
    const gbsi_climbing *c = l->climbing;
    const size_t n = c->n;
    const double n_draws = 2.0 * (double)l->n_half;
    double *batch = l->batch + l->t * BATCHES / (2 * l->n_half) * n;
    for (size_t i = 0; i < c->n_partial; ++i) {
        const double weight = c->pseudo->data->weight[c->partial[i]];
        const double *feature = c->feature + (c->options->chains + i) * n;
        l->of_row[i * n + k] += feature[k] / n_draws;
        l->rows[k] += feature[k] * weight / n_draws;
        batch[k] += weight * feature[k] * BATCHES / n_draws;
        gbsi_add_products(feature, k, weight / n_draws, l->products + k * n);
    }
}

static void add_draws(void *context, uint32_t member)
{
    const looking *l = context;
    gbsi_climbing *c = l->climbing;
    const size_t n_chains = c->options->chains + c->n_partial;
    size_t k = 0;
    while ((k = c->next++) < c->n && !gbsi_pseudo_stops(c->pseudo, member, k * n_chains / 2)) {
        add_free(l, k);
        add_partial(l, k);
    }
}

static gbs_status look_around(gbsi_climbing *c, const double *w, looking *l, gbs_error *err)
{
    for (l->t = 0; l->t < 2 * l->n_half && !gbsi_climbing_stopped(c); ++l->t) {
        gbsi_climbing_draw(c, w);
        c->next = 0;
        gbsi_pool_run(c->pseudo->pool, add_draws, l);
    }
    return gbsi_climbing_stopped(c) ? gbsi_watch_fail(err, "learning") : GBS_OK;
}

/* @return the split R-hat of a feature (Gelman et al. 2013, Bayesian Data Analysis, section
 * 11.4). */
static double rhat_of(const gbsi_climbing *c, const looking *l, size_t k)
{
    const size_t n_halves = 2 * (size_t)c->options->chains;
    const double n = (double)l->n_half;
    double within = 0.0;
    double between = 0.0;
    for (size_t h = 0; h < n_halves; ++h) {
        const double mean = l->chain[h * c->n + k];
        const double away = mean - l->mean[k];
        within += (l->square[h * c->n + k] - mean * mean) * n / (n - 1.0) / (double)n_halves;
        between += away * away / (double)(n_halves - 1);
    }
    return gbsi_rhat(within, between, n);
}

/* Computes the information: N times the covariance of the features in the model, minus the sum of
 * their covariances given each row [M66]. */
static bool find_information(gbsi_climbing *c, const looking *l)
{
    const size_t n = c->n;
    for (size_t k = 0; k < n; ++k) {
        for (size_t j = 0; j <= k; ++j) {
            double of_rows = l->products[k * n + j];
            for (size_t i = 0; i < c->n_partial; ++i) {
                of_rows -= c->pseudo->data->weight[c->partial[i]] * l->of_row[i * n + k] *
                           l->of_row[i * n + j];
            }
            c->second[k * n + j] =
                c->n_rows * (l->second[k * n + j] - l->mean[k] * l->mean[j]) - of_rows;
        }
    }
    return gbsi_cholesky(c->second, n, c->options->l2, 1e-6, c->root, c->pseudo->watch);
}

/* Adds the variance of the solution whose right side is a mean of independent terms. @param at
 * [count][n] the independent terms. */
static void add_chance(gbsi_climbing *c, const double *at, size_t count, size_t stride,
                       double scale, const double *mean, double *variance)
{
    for (size_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < c->n; ++k) {
            c->step[k] = scale * (at[i * stride + k] - mean[k]);
        }
        gbsi_cholesky_solve(c->root, c->n, c->step);
        for (size_t k = 0; k < c->n; ++k) {
            variance[k] += c->step[k] * c->step[k] / (double)(count * (count - 1));
        }
    }
}

/* Computes the variances of the weights that are due to the data and to the chance of the chains.
 * @param chance [n] scratch. */
static void find_variances(gbsi_climbing *c, looking *l, double *chance, gbsi_climbed *found)
{
    const size_t n = c->n;
    memset(chance, 0, n * sizeof *chance);
    for (size_t chain = 0; chain < c->options->chains;
         ++chain) { /* means over halves become means over whole chains */
        for (size_t k = 0; k < n; ++k) {
            double *half = l->chain + 2 * chain * n;
            half[k] = 0.5 * (half[k] + half[n + k]);
        }
    }
    add_chance(c, l->chain, c->options->chains, 2 * n, c->n_rows, l->mean, chance);
    if (c->n_partial > 0) {
        add_chance(c, l->batch, BATCHES, n, 1.0, l->rows, chance);
    }
    found->error = 0.0;
    for (size_t k = 0; k < n; ++k) {
        double square = 0.0;
        memset(c->step, 0, n * sizeof *c->step);
        c->step[k] = 1.0;
        gbsi_cholesky_solve(c->root, n, c->step);
        for (size_t i = 0; i < n; ++i) {
            square += c->step[i] * c->step[i];
        }
        const double of_data = c->step[k] - c->options->l2 * square;
        found->variance[k] = (of_data > 0.0 ? of_data : 0.0) + chance[k];
        const double share = gbsi_sqrt(chance[k] / found->variance[k]);
        found->error = share > found->error ? share : found->error;
    }
}

gbs_status gbsi_climbing_finish(gbsi_climbing *c, double *w, gbsi_climbed *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    looking l = {0};
    double *chance = gbsi_alloc_array(c->n, sizeof *chance);
    GBSI_PASS(GBSI_HAVE(err, "variances", chance));
    GBSI_TRY(looking_new(c, &l, err));
    GBSI_TRY(look_around(c, w, &l, err));
    found->rhat = 1.0;
    for (size_t k = 0; k < c->n; ++k) {
        const double rhat = rhat_of(c, &l, k);
        found->rhat = rhat > found->rhat ? rhat : found->rhat;
    }
    found->has_errors = find_information(c, &l);
    if (!found->has_errors) {
        goto cleanup;
    }
    find_variances(c, &l, chance, found);
    found->share = 0.0;
    for (size_t k = 0; k < c->n; ++k) {
        l.rows[k] += c->complete[k];
    }
    (void)gbsi_climbing_step(c, w, l.rows, l.mean);
    for (size_t k = 0; k < c->n; ++k) {
        const double share = fabs(c->step[k]) / gbsi_sqrt(found->variance[k]);
        found->share = share > found->share ? share : found->share;
    }
    for (size_t k = 0; k < c->n && found->share <= 1.0; ++k) {
        w[k] += c->step[k];
    }

cleanup:
    looking_free(&l);
    gbsi_free(chance);
    return status;
}
