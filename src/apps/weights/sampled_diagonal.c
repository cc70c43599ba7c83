/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled maximum likelihood of so many weights that no matrix of covariances is made [M67]. A step
 * is the gradient divided by P, the diagonal of N C + l2, and by the largest eigenvalue L of P^-1/2
 * (N C + l2) P^-1/2. L is large if features move together; a step along any direction is then no
 * longer than with the whole matrix. L is found by power iteration: each step multiplies by the
 * matrix of its draws, and the products are averaged over the steps (Oja & Karhunen 1985, J. Math.
 * Anal. Appl. 106:69-84). Chance makes L too large, which shortens steps. Features are summed when
 * they are drawn, chains in their order; each thread therefore needs the memory of a few vectors
 * only. */
#include "weights/sampled_climbing.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "learn/split_rhat.h"
#include "weights/learning.h"

#define OF_MEMBER 3u    /* number of scratch vectors of each thread */
#define SAME      1e-12 /* share of the mean square that rounding may give to a variance of 0 */

/* Arrays [n] of sums over chains in a step. */
enum {
    MEAN,   /* mean features of free chains, */
    SQUARE, /* mean squares of the features of free chains, */
    ROWS,   /* weighted features of rows that lack values, */
    ALONG,  /* products of the features with the chain's sum along a direction */
    N_OF_STEP
};

/* Arrays [n] of sums over chains at weights that are held still. */
enum {
    HALVES = ALONG, /* squared means over halves of free chains, */
    CHANCE,         /* variances by chance of each chain's contribution to the gradient, */
    OF_ROWS,        /* weighted variances given the observed values of rows */
    N_SUMS
};

typedef struct looking {
    const gbsi_climbing *climbing;
    uint64_t n_half, pass;
} looking;

gbs_status gbsi_diagonal_new(gbsi_climbing *c, gbs_error *err)
{
    const size_t n_scratch = OF_MEMBER * (size_t)gbsi_pool_size(c->pseudo->pool);
    c->feature = gbsi_alloc_array(n_scratch, c->n * sizeof *c->feature);
    c->variance = gbsi_alloc_array_zero(4 * c->n, sizeof *c->variance);
    GBSI_PASS(GBSI_HAVE(err, "features", c->feature, c->variance));
    c->scale = c->variance + c->n;
    c->towards = c->variance + 2 * c->n;
    c->along = c->variance + 3 * c->n;
    gbsi_diagonal_scale(c);
    return GBS_OK;
}

void gbsi_diagonal_free(gbsi_climbing *c)
{
    gbsi_free(c->variance);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void find_scale(gbsi_climbing *c)
{
    double most = 0.0;
    for (size_t k = 0; k < c->n; ++k) {
        most = c->variance[k] > most ? c->variance[k] : most;
    }
    const double more = c->options->l2 + 1e-6 * c->n_rows * most + 1e-9;
    for (size_t k = 0; k < c->n; ++k) {
        c->scale[k] = c->n_rows * c->variance[k] + more;
    }
}

void gbsi_diagonal_scale(gbsi_climbing *c)
{
    double square = 0.0;
    find_scale(c);
    for (size_t k = 0; k < c->n; ++k) {
        square += c->towards[k] * c->towards[k];
    }
    c->longest = gbsi_sqrt(square);
    for (size_t k = 0; k < c->n; ++k) {
        c->along[k] =
            c->longest > 0.0 ? c->towards[k] / (c->longest * gbsi_sqrt(c->scale[k])) : 1.0;
    }
    c->longest = c->longest > 1.0 ? c->longest : 1.0;
}

static double product_of(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; ++k) {
        sum += a[k] * b[k];
    }
    return sum;
}

static void add_chains(void *context, uint32_t member, size_t first, size_t end, double *sum)
{
    const gbsi_climbing *c = context;
    const size_t n = c->n;
    double *feature = c->feature + OF_MEMBER * member * n;
    for (size_t chain = first; chain < end && !gbsi_pseudo_stops(c->pseudo, member, n); ++chain) {
        gbsi_climbing_draw_chain(c, member, chain, c->pass, feature);
        if (chain >= c->options->chains) {
            const double weight = c->pseudo->data->weight[c->partial[chain - c->options->chains]];
            for (size_t k = 0; k < n; ++k) {
                sum[ROWS * n + k] += weight * feature[k];
            }
            continue;
        }
        const double along = product_of(feature, c->along, n);
        for (size_t k = 0; k < n; ++k) {
            sum[MEAN * n + k] += feature[k];
            sum[SQUARE * n + k] += feature[k] * feature[k];
            sum[ALONG * n + k] += feature[k] * along;
        }
    }
}

/* Adds the covariance of a sweep to the average: its diagonal, and its product with c->along. */
static void add_covariance(gbsi_climbing *c, const double *sum)
{
    const size_t n = c->n;
    const double share = 1.0 / (double)c->options->chains;
    const double fresh = gbsi_climbing_fresh(c);
    const double mean_along = product_of(c->mean, c->along, n);
    double square = 0.0;
    for (size_t k = 0; k < n; ++k) {
        const double variance = share * sum[SQUARE * n + k] - c->mean[k] * c->mean[k];
        c->variance[k] += fresh * ((variance > 0.0 ? variance : 0.0) - c->variance[k]);
    }
    find_scale(c);
    for (size_t k = 0; k < n; ++k) {
        square += c->along[k] * c->along[k] * c->scale[k];
    }
    for (size_t k = 0; k < n; ++k) {
        const double covariance = share * sum[ALONG * n + k] - c->mean[k] * mean_along;
        const double product = c->n_rows * covariance + c->options->l2 * c->along[k];
        c->towards[k] += fresh * (product / gbsi_sqrt(square * c->scale[k]) - c->towards[k]);
    }
}

gbs_status gbsi_diagonal_sweep(gbsi_climbing *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    double *sum = NULL;
    const gbsi_blocks blocks = {.n = (size_t)c->options->chains + c->n_partial,
                                .of_block = 1,
                                .n_sums = N_OF_STEP * c->n,
                                .context = c,
                                .add = add_chains};
    c->at = c->w;
    GBSI_TRY(gbsi_blocks_sum(&blocks, c->pseudo->pool, &sum, err));
    ++c->pass;
    if (gbsi_climbing_stopped(c)) {
        GBSI_TRY(gbsi_watch_fail(err, "learning"));
    }
    for (size_t k = 0; k < c->n; ++k) {
        c->mean[k] = sum[MEAN * c->n + k] / (double)c->options->chains;
        c->rows[k] = c->complete[k] + sum[ROWS * c->n + k];
    }
    add_covariance(c, sum);

cleanup:
    gbsi_free(sum);
    return status;
}

/* ---- at weights that are held still ---------------------------------------------------------- */

/* Draws a chain at weights held still, and computes its means over the two halves. @param square
 * [n] += share of the squares of the features. @param half [2][n] out. @param feature [n] scratch.
 */
static void draw_halves(const looking *l, uint32_t member, size_t chain, double share,
                        double *square, double *half, double *feature)
{
    const gbsi_climbing *c = l->climbing;
    const size_t n = c->n;
    const double n_half = (double)l->n_half;
    memset(half, 0, 2 * n * sizeof *half);
    for (uint64_t t = 0; t < 2 * l->n_half && !gbsi_pseudo_stops(c->pseudo, member, n); ++t) {
        double *mean = half + (t < l->n_half ? 0 : n);
        gbsi_climbing_draw_chain(c, member, chain, l->pass + t, feature);
        for (size_t k = 0; k < n; ++k) {
            mean[k] += feature[k] / n_half;
            square[k] += share * feature[k] * feature[k] / (2.0 * n_half);
        }
    }
}

static void add_halves(void *context, uint32_t member, size_t first, size_t end, double *sum)
{
    const looking *l = context;
    const gbsi_climbing *c = l->climbing;
    const size_t n = c->n;
    double *half = c->feature + OF_MEMBER * member * n;
    for (size_t chain = first; chain < end && !gbsi_climbing_stopped(c); ++chain) {
        const bool is_of_row = chain >= c->options->chains;
        const double weight =
            is_of_row ? c->pseudo->data->weight[c->partial[chain - c->options->chains]] : 1.0;
        const double share = is_of_row ? weight : c->n_rows / (double)c->options->chains;
        draw_halves(l, member, chain, weight, sum + (is_of_row ? OF_ROWS : SQUARE) * n, half,
                    half + 2 * n);
        for (size_t k = 0; k < n; ++k) {
            const double mean = 0.5 * (half[k] + half[n + k]);
            const double apart = 0.5 * share * (half[k] - half[n + k]);
            sum[(is_of_row ? ROWS : MEAN) * n + k] += weight * mean;
            sum[OF_ROWS * n + k] -= is_of_row ? weight * mean * mean : 0.0;
            sum[HALVES * n + k] += is_of_row ? 0.0 : half[k] * half[k] + half[n + k] * half[n + k];
            sum[CHANCE * n + k] += apart * apart;
        }
    }
}

/* Computes R-hat of the features, and the misfit. The misfit is the length of the gradient g, minus
 * the part that chance adds, in standard errors of the gradient of the rows. The squares of these
 * standard errors are the diagonal of the information [M66]. */
static void judge(const gbsi_climbing *c, const looking *l, const double *w, const double *sum,
                  gbsi_climbed *found)
{
    const size_t n = c->n;
    const double n_chains = (double)c->options->chains;
    const double n_half = (double)l->n_half;
    double square = 0.0;
    double of_rows = 0.0;
    found->rhat = 1.0;
    for (size_t k = 0; k < n; ++k) {
        const double mean = sum[MEAN * n + k] / n_chains;
        const double mean_square = sum[SQUARE * n + k] / n_chains;
        const double of_halves = sum[HALVES * n + k] / (2.0 * n_chains);
        const double least = SAME * mean_square; /* smaller variances are due to rounding */
        const double within = mean_square - of_halves;
        const double between = (of_halves - mean * mean) * 2.0 * n_chains / (2.0 * n_chains - 1.0);
        const double rhat = gbsi_rhat(within > least ? within * n_half / (n_half - 1.0) : 0.0,
                                      between > least ? between : 0.0, n_half);
        const double rows = c->complete[k] + sum[ROWS * n + k];
        const double slope = rows - c->n_rows * mean - c->options->l2 * w[k];
        square += slope * slope - sum[CHANCE * n + k];
        of_rows += c->n_rows * (mean_square - mean * mean) - sum[OF_ROWS * n + k];
        found->rhat = rhat > found->rhat ? rhat : found->rhat;
    }
    found->misfit = square <= 0.0   ? 0.0
                    : of_rows > 0.0 ? gbsi_sqrt(square / of_rows)
                                    : (double)INFINITY;
}

gbs_status gbsi_diagonal_finish(gbsi_climbing *c, const double *w, gbsi_climbed *found,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    double *sum = NULL;
    looking l = {.climbing = c, .n_half = c->n_steps / 4 + 2, .pass = c->pass};
    const gbsi_blocks blocks = {.n = (size_t)c->options->chains + c->n_partial,
                                .of_block = 1,
                                .n_sums = N_SUMS * c->n,
                                .context = &l,
                                .add = add_halves};
    c->at = w;
    GBSI_TRY(gbsi_blocks_sum(&blocks, c->pseudo->pool, &sum, err));
    if (gbsi_climbing_stopped(c)) {
        GBSI_TRY(gbsi_watch_fail(err, "learning"));
    }
    c->pass += 2 * l.n_half;
    judge(c, &l, w, sum, found);

cleanup:
    gbsi_free(sum);
    return status;
}
