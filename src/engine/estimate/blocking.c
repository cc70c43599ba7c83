/* SPDX-License-Identifier: Apache-2.0 */
/* A block of level k is the sum of 2^k consecutive values of a chain. Two blocks of a level make a
 * block of the next level. Chains are added in ascending order. */
#include "estimate/blocking.h"

#include <math.h>

#include "base/memory.h"
#include "simd/math.h"

enum { LEVELS = 40 };
/* A tau is computed from blocks of at least WINDOW tau and of at least LEAST_LENGTH passes, in runs
 * of at least LEAST_TIMES tau over all chains (Sokal (1997), Monte Carlo methods in statistical
 * mechanics, sec. 3). */
#define WINDOW       5.0
#define LEAST_LENGTH 4.0
#define LEAST_TIMES  1000.0

struct gbsi_blocking {
    uint32_t n_chains, n_series;
    uint64_t n_passes;
    size_t n_numbers;
    double *sum;     /* [LEVELS][n_series] sums of blocks; the arrays below follow in memory */
    double *product; /* [LEVELS][n_series][n_series] sums of products, for series i <= j */
    double *pending; /* [LEVELS][n_chains][n_series] block that waits for the next one */
};

static size_t n_numbers(uint32_t n_chains, uint32_t n_series)
{
    return (size_t)LEVELS * n_series * (1 + (size_t)n_series + n_chains);
}

uint64_t gbsi_blocking_bytes(uint32_t n_chains, uint32_t n_series)
{
    return sizeof(gbsi_blocking) + n_numbers(n_chains, n_series) * sizeof(double);
}

gbs_status gbsi_blocking_new(uint32_t n_chains, uint32_t n_series, gbsi_blocking **out,
                             gbs_error *err)
{
    gbsi_blocking *b = gbsi_alloc_zero(sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "blocking", b));
    *b = (gbsi_blocking){
        .n_chains = n_chains, .n_series = n_series, .n_numbers = n_numbers(n_chains, n_series)};
    b->sum = gbsi_alloc_array_zero(b->n_numbers, sizeof *b->sum);
    if (b->sum == NULL) {
        gbsi_blocking_free(b);
        return gbsi_no_memory(err, "blocking", n_numbers(n_chains, n_series) * sizeof(double));
    }
    b->product = b->sum + (size_t)LEVELS * n_series;
    b->pending = b->product + (size_t)LEVELS * n_series * n_series;
    *out = b;
    return GBS_OK;
}

void gbsi_blocking_free(gbsi_blocking *b)
{
    if (b != NULL) {
        GBSI_FREE(b->sum, b);
    }
}

static void add_block(gbsi_blocking *b, uint32_t level, const double *block)
{
    const uint32_t n = b->n_series;
    double *sum = b->sum + (size_t)level * n;
    double *product = b->product + (size_t)level * n * n;
    for (uint32_t i = 0; i < n; ++i) {
        sum[i] += block[i];
        for (uint32_t j = i; j < n; ++j) {
            product[i * n + j] += block[i] * block[j];
        }
    }
}

static double *pending_of(const gbsi_blocking *b, uint32_t level, uint32_t chain)
{
    return b->pending + ((size_t)level * b->n_chains + chain) * b->n_series;
}

void gbsi_blocking_put(gbsi_blocking *b, uint32_t chain, const double *value)
{
    const double *block = value;
    for (uint32_t level = 0; level < LEVELS; ++level) {
        double *first = pending_of(b, level, chain);
        add_block(b, level, block);
        if ((b->n_passes >> level & 1) == 0) { /* this block is the first of two */
            for (uint32_t i = 0; i < b->n_series; ++i) {
                first[i] = block[i];
            }
            return;
        }
        for (uint32_t i = 0; i < b->n_series; ++i) {
            first[i] += block[i];
        }
        block = first; /* the block of the next level; read before the next pair begins */
    }
}

void gbsi_blocking_end_pass(gbsi_blocking *b)
{
    ++b->n_passes;
}

/* ---- autocorrelation times ------------------------------------------------------------------- */

static double n_blocks(const gbsi_blocking *b, uint32_t level)
{
    return (double)(b->n_passes >> level) * b->n_chains;
}

/* Variance of the sums of blocks, divided by the length of a block:
 * v(L) = v(1) (1 + 2 sum over lags t < L of (1 - t / L) rho(t)). */
static double variance_of(const gbsi_blocking *b, const double *gradient, uint32_t level)
{
    const uint32_t n = b->n_series;
    const double *sum = b->sum + (size_t)level * n;
    const double *product = b->product + (size_t)level * n * n;
    const double blocks = n_blocks(b, level);
    double total = 0.0;
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t j = i; j < n; ++j) {
            const double covariance = product[i * n + j] - sum[i] / blocks * sum[j];
            total += (i == j ? 1.0 : 2.0) * gradient[i] * gradient[j] * covariance;
        }
    }
    return total / ((blocks - 1.0) * (double)(UINT64_C(1) << level));
}

double gbsi_blocking_variance(const gbsi_blocking *b, uint32_t series)
{
    const double n = n_blocks(b, 0);
    const double sum = b->sum[series];
    const double square = b->product[(size_t)series * b->n_series + series];
    const double variance = n < 2.0 ? 0.0 : (square - sum / n * sum) / (n - 1.0);
    return variance > 0.0 ? variance : 0.0;
}

/* With the blocks of lengths L and 2 L, 2 v(2 L) - v(L) weights the lags t <= L with 1 and the lags
 * from L to 2 L with 2 - t / L, a flat-top window (Politis & Romano (1995), Bias-corrected
 * nonparametric spectral estimation, J. Time Ser. Anal. 16:67):
 *     tau = (2 v(2 L) - v(L)) / (2 v(1)).
 * For values so far apart that blocks are independent normals, the variances of v(L) and v(2 L) are
 * 2 L / n and 4 L / n times v^2, their covariance is 2 L / n times v^2, and the relative variance
 * of tau is 10 L / n. */
gbsi_tau gbsi_blocking_tau(const gbsi_blocking *b, const double *gradient)
{
    const gbsi_tau unknown = {NAN, NAN};
    const double n = n_blocks(b, 0);
    if (n < 2.0) {
        return unknown;
    }
    const double variance = variance_of(b, gradient, 0);
    if (!(variance > 0.0)) {
        return unknown;
    }
    for (uint32_t level = 0; level + 1 < LEVELS && n_blocks(b, level + 1) >= 2.0; ++level) {
        const double length = (double)(UINT64_C(1) << level);
        const double wide = variance_of(b, gradient, level + 1);
        const double tau = (2.0 * wide - variance_of(b, gradient, level)) / (2.0 * variance);
        if (length >= LEAST_LENGTH && length >= WINDOW * tau) {
            const bool is_long = tau > 0.0 && n >= LEAST_TIMES * tau;
            return is_long ? (gbsi_tau){tau, tau * gbsi_sqrt(10.0 * length / n)} : unknown;
        }
    }
    return unknown;
}

/* ---- saving and loading ---------------------------------------------------------------------- */

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_blocking *b = object;
    const uint64_t head[] = {b->n_chains, b->n_series, b->n_passes};
    GBSI_PASS(gbsi_put_numbers(sink, head, 3, sizeof head[0], err));
    return gbsi_put_numbers(sink, b->sum, b->n_numbers, sizeof *b->sum, err);
}

gbs_status gbsi_blocking_save(const gbsi_blocking *b, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_put_sealed(sink, b, save, err);
}

static gbs_status load(void *object, const gbsi_source *source, gbs_error *err)
{
    gbsi_blocking *b = object;
    const uint64_t shape[] = {b->n_chains, b->n_series};
    GBSI_PASS(gbsi_take_expected(source, shape, 2, "blocking", err));
    GBSI_PASS(gbsi_take_numbers(source, &b->n_passes, 1, sizeof b->n_passes, err));
    return gbsi_take_numbers(source, b->sum, b->n_numbers, sizeof *b->sum, err);
}

gbs_status gbsi_blocking_load(gbsi_blocking *b, const gbsi_source *source, gbs_error *err)
{
    return gbsi_take_sealed(source, b, load, "blocking", err);
}
