/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics of draws [M58] by Vehtari et al. (2021); numbers of equations and sections refer to
 * this paper. All diagnostics come from two functions of sequences, R-hat and effective sample
 * size. A sequence is half of a chain. */
#include "gibbsite/diagnose.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "autocovariance.h"
#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "estimate/beta.h"
#include "simd/math.h"

/* Chains that are cut in halves. If the number of draws is odd, the middle draw is left out. */
typedef struct halves {
    size_t n_chains, n_draws, half;
    gbsi_autocovariance room; /* memory for series of `half` draws */
    double *covariance;       /* [half] sum of the autocovariances over sequences */
} halves;

typedef struct moments {
    double mean,
        variance; /* mean, and variance with divisor n - 1; the variance of one value is 0 */
} moments;

/* Computes mean and variance from differences to the first value; the variance of equal values is
 * then exactly 0. */
static moments moments_of(const double *x, size_t n)
{
    double shift = 0.0;
    double square = 0.0;
    for (size_t i = 0; i < n; ++i) {
        shift += x[i] - x[0];
    }
    shift /= (double)n;
    for (size_t i = 0; i < n; ++i) {
        const double d = (x[i] - x[0]) - shift;
        square += d * d;
    }
    return (moments){x[0] + shift, n > 1 ? square / (double)(n - 1) : 0.0};
}

/* @return the first draw of a sequence. Sequences 2 c and 2 c + 1 are the first and the second half
 * of chain c. */
static const double *sequence_of(const halves *h, const double *x, size_t sequence)
{
    const size_t skipped = sequence % 2 == 1 ? h->n_draws - h->half : 0;
    return x + sequence / 2 * h->n_draws + skipped;
}

/* Computes W, the mean over sequences of their variances, and B / n, the variance of their means.
 */
static void within_and_between(const halves *h, const double *x, double *within, double *between)
{
    const size_t n_sequences = 2 * h->n_chains;
    double first = 0.0;
    double sum = 0.0;
    double square = 0.0;
    *within = 0.0;
    for (size_t s = 0; s < n_sequences; ++s) {
        const moments m = moments_of(sequence_of(h, x, s), h->half);
        first = s == 0 ? m.mean : first;
        *within += m.variance / (double)n_sequences;
        sum += m.mean - first;
        square += (m.mean - first) * (m.mean - first);
    }
    *between = (square - sum * sum / (double)n_sequences) / (double)(n_sequences - 1);
}

/* @return R-hat, the square root of var+ / W (eqs 1 to 4). */
static double rhat_of(const halves *h, const double *x)
{
    double within = 0.0;
    double between = 0.0;
    if (h->half < 2) {
        return NAN;
    }
    within_and_between(h, x, &within, &between);
    const double n = (double)h->half;
    return gbsi_sqrt((between * n / within + n - 1.0) / n);
}

static bool all_equal(const double *x, size_t n)
{
    for (size_t i = 1; i < n; ++i) {
        if (x[i] != x[0]) {
            return false;
        }
    }
    return true;
}

/* @return 1 + 2 times the sum over t > 0 of rho_t, by Geyer's (1992) sequence of sums of pairs. The
 * sequence is cut before the first negative sum, and made to decrease. One additional even term
 * lowers the variance of the estimate for chains whose draws alternate (section 3.2). @param rho
 * [n], replaced. */
static double autocorrelation_time(double *rho, size_t n)
{
    size_t end = 0; /* number of terms that are added up */
    double even = 1.0;
    double odd = rho[1];
    while (end + 5 < n && even + odd > 0.0) {
        end += 2;
        even = rho[end];
        odd = rho[end + 1];
    }
    const double last = even > 0.0 || even + odd >= 0.0 ? even : 0.0;
    double sum = end == 0 ? 1.0 : 0.0;
    for (size_t t = 0; t < end; t += 2) {
        const double before = t == 0 ? INFINITY : rho[t - 2] + rho[t - 1];
        if (rho[t] + rho[t + 1] > before) {
            rho[t] = rho[t + 1] = 0.5 * before;
        }
        sum += rho[t] + rho[t + 1];
    }
    return -1.0 + 2.0 * sum + last;
}

/* @return the number of draws divided by the autocorrelation time of all sequences together (eqs 10
 * to 13). */
static double ess_of(halves *h, const double *x)
{
    const double n = (double)h->half;
    const double n_all = 2.0 * (double)h->n_chains * n;
    const size_t n_sequences = 2 * h->n_chains;
    double within = 0.0;
    double between = 0.0;
    if (h->half < 3) {
        return NAN;
    }
    within_and_between(h, x, &within, &between);
    const double var_plus = within * (n - 1.0) / n + between;
    if (!(var_plus > 0.0)) {
        return NAN;
    }
    memset(h->covariance, 0, h->half * sizeof *h->covariance);
    for (size_t s = 0; s < n_sequences; ++s) {
        gbsi_autocovariance_add(&h->room, sequence_of(h, x, s), h->covariance);
    }
    double *rho = h->covariance;
    for (size_t t = 0; t < h->half; ++t) { /* eq. 10 */
        rho[t] = 1.0 - (within - rho[t] / (double)n_sequences) / var_plus;
    }
    rho[0] = 1.0;
    const double time = autocorrelation_time(rho, h->half);
    const double least = 1.0 / gbsi_log10(n_all); /* the smallest autocorrelation time, which chains
                                                     whose draws alternate may reach */
    return n_all / (time > least ? time : least);
}

/* @return the effective number of draws for the share of draws that are at most q. */
static double ess_below(halves *h, const double *x, double q, double *scratch)
{
    for (size_t i = 0; i < h->n_chains * h->n_draws; ++i) {
        scratch[i] = x[i] <= q ? 1.0 : 0.0;
    }
    return ess_of(h, scratch);
}

/* @return the standard error of a quantile (section 4.4): half the distance between two order
 * statistics. The share of draws below the quantile p has a posterior. Its 16 % and 84 % points
 * select the two order statistics. */
static double mcse_of_quantile(const gbsi_ranked *order, size_t n, double p, double ess)
{
    static const double one_sigma[2] = {0.1586553, 0.8413447};
    if (isnan(ess)) {
        return NAN;
    }
    const double a = gbsi_beta_quantile(one_sigma[0], ess * p + 1.0, ess * (1.0 - p) + 1.0);
    const double b = gbsi_beta_quantile(one_sigma[1], ess * p + 1.0, ess * (1.0 - p) + 1.0);
    const size_t low = (size_t)(a * (double)n);
    const size_t high =
        (size_t)(b *
                 (double)n); /* floor(b n), which is ceil(b n) - 1 unless b n is a whole number */
    const size_t whole = (double)high == b * (double)n && high > 0;
    const double below = order[low > 0 ? low - 1 : 0].value;
    const double above = order[high - whole < n ? high - whole : n - 1].value;
    return 0.5 * (above - below);
}

/* Ranked draws, and scratch arrays of the same length. */
typedef struct scratch {
    gbsi_ranked *order;
    double *x, *z;
} scratch;

/* Writes the normal scores of the draws in sequences to s->z. */
static void score(const halves *h, const double *x, const scratch *s)
{
    size_t n = 0;
    for (size_t k = 0; k < 2 * h->n_chains; ++k) {
        for (size_t i = 0; i < h->half; ++i) {
            const double *at = sequence_of(h, x, k) + i;
            s->order[n++] = (gbsi_ranked){*at, (size_t)(at - x)};
        }
    }
    gbsi_rank(s->order, n);
    gbsi_normal_scores(s->order, n, s->z);
}

/* @return R-hat of the normal scores of the distances from the median: section 3.1, "folded". */
static double folded_rhat(const halves *h, const double *x, double median, const scratch *s)
{
    const size_t n = h->n_chains * h->n_draws;
    for (size_t i = 0; i < n; ++i) {
        s->x[i] = fabs(x[i] - median);
    }
    if (all_equal(s->x, n)) {
        return NAN;
    }
    score(h, s->x, s);
    return rhat_of(h, s->z);
}

/* @return the standard error of the standard deviation, from the standard error of the mean of
 * squares by the delta method. @param ess effective number of draws of the squares. */
static double mcse_of_sd(const double *x, size_t n, double mean, double ess)
{
    double second = 0.0;
    double fourth = 0.0;
    for (size_t i = 0; i < n; ++i) {
        const double d = (x[i] - mean) * (x[i] - mean);
        second += d / (double)n;
        fourth += d * d / (double)n;
    }
    return gbsi_sqrt((fourth - second * second) / ess / second / 4.0);
}

/* Computes all members of the result except the first five. @param s scratch; s->order must be the
 * ranks of x, and is overwritten. */
static void convergence(halves *h, const double *x, const scratch *s, gbs_diagnostics *d)
{
    const size_t n = h->n_chains * h->n_draws;
    const double low = ess_below(h, x, d->q5, s->x);
    const double high = ess_below(h, x, d->q95, s->x);
    d->ess_tail = isnan(low) || isnan(high) ? NAN : low < high ? low : high;
    d->mcse_median = mcse_of_quantile(s->order, n, 0.5, ess_below(h, x, d->median, s->x));
    d->ess_mean = ess_of(h, x);
    d->mcse_mean = d->sd / gbsi_sqrt(d->ess_mean);
    for (size_t i = 0; i < n; ++i) {
        s->x[i] = fabs(x[i] - d->mean);
    }
    d->ess_sd = ess_of(h, s->x);
    for (size_t i = 0; i < n; ++i) {
        s->x[i] *= s->x[i];
    }
    d->mcse_sd = mcse_of_sd(x, n, d->mean, ess_of(h, s->x));
    score(h, x, s);
    d->rhat_bulk = rhat_of(h, s->z);
    d->ess_bulk = ess_of(h, s->z);
    d->rhat_folded = folded_rhat(h, x, d->median, s);
    d->rhat =
        isnan(d->rhat_folded) || d->rhat_bulk > d->rhat_folded ? d->rhat_bulk : d->rhat_folded;
}

static bool all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static void location(const double *x, size_t n, const scratch *s, gbs_diagnostics *d)
{
    const moments m = moments_of(x, n);
    for (size_t i = 0; i < n; ++i) {
        s->order[i] = (gbsi_ranked){x[i], i};
    }
    gbsi_rank(s->order, n);
    d->mean = m.mean;
    d->sd = n > 1 ? gbsi_sqrt(m.variance) : NAN;
    d->median = gbsi_ranked_quantile(s->order, n, 0.5);
    d->q5 = gbsi_ranked_quantile(s->order, n, 0.05);
    d->q95 = gbsi_ranked_quantile(s->order, n, 0.95);
    d->constant = all_equal(x, n);
}

static const gbs_diagnostics nothing_known = {.mean = NAN,
                                              .sd = NAN,
                                              .median = NAN,
                                              .q5 = NAN,
                                              .q95 = NAN,
                                              .mcse_mean = NAN,
                                              .mcse_sd = NAN,
                                              .mcse_median = NAN,
                                              .rhat = NAN,
                                              .rhat_bulk = NAN,
                                              .rhat_folded = NAN,
                                              .ess_bulk = NAN,
                                              .ess_tail = NAN,
                                              .ess_mean = NAN,
                                              .ess_sd = NAN};

gbs_status gbs_diagnose(const double *draws, size_t n_chains, size_t n_draws, gbs_diagnostics *d,
                        gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_diagnostics own = nothing_known;
    const size_t n = n_chains * n_draws;
    halves h = {.n_chains = n_chains, .n_draws = n_draws, .half = n_draws / 2};
    scratch s = {0};
    GBSI_NEED(draws, d);
    GBSI_OUT_STRUCT(d, gbs_diagnostics);
    if (n_chains == 0 || n_draws == 0 || n_draws > SIZE_MAX / sizeof(gbsi_ranked) / n_chains) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%zu chain%s of %zu draw%s: expected at least 1 of 1", n_chains,
                         gbsi_plural(n_chains), n_draws, gbsi_plural(n_draws));
    }
    if (all_finite(draws, n)) {
        s = (scratch){.order = gbsi_alloc_array(n, sizeof *s.order),
                      .x = gbsi_alloc_array(n, sizeof *s.x),
                      .z = gbsi_alloc_array(n, sizeof *s.z)};
        h.covariance = gbsi_alloc_array(h.half + 1, sizeof *h.covariance);
        if (s.order == NULL || s.x == NULL || s.z == NULL || h.covariance == NULL ||
            !gbsi_autocovariance_begin(&h.room, h.half)) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_MEMORY, "out of memory"));
        }
        location(draws, n, &s, &own);
        if (!own.constant) {
            convergence(&h, draws, &s, &own);
        }
    }
    gbsi_struct_give(d, &own, sizeof own);
cleanup:
    gbsi_autocovariance_end(&h.room);
    GBSI_FREE(h.covariance, s.order, s.x, s.z);
    return status;
}
