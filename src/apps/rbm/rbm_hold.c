/* SPDX-License-Identifier: Apache-2.0 */
/* Judges whether chains at weights that are held still agree with each other and with the rows
 * [M63]. Results have the same bits on any number of threads: for each visible unit, one thread
 * computes the gradient by the unit's weights, and sums over rows and chains in their order. */
#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "learn/split_rhat.h"
#include "rbm/rbm.h"
#include "simd/math.h"

#define HALF 100u /* number of draws of a half of a chain */
/* The largest rise of ln PL at which learning may have converged. The gradient is also small before
 * the units are coupled, but then ln PL rises faster and faster. */
#define MOST_RISE 0.02

typedef struct holding {
    gbsi_rbm *rbm;
    uint32_t *count; /* [chains][n + m] how often each unit was 1, in this half */
    uint64_t *sum;   /* [2][n + m] sums of counts and of their squares over halves of chains */
    double *slope; /* [2][n + 1][wide_m] derivatives by W and, in the last row, by b, for each half
                      of the draws */
    double *of_a;  /* [2][n] derivatives by a */
    double square; /* sum over rows of the squares of each row's contributions to the gradient */
    uint32_t half;
    bool rows; /* whether add_unit() adds rows instead of chains */
    _Atomic size_t next;
} holding;

/* ---- R-hat ----------------------------------------------------------------------------------- */

/* Adds the units of every chain to its count. */
static void count_units(const holding *h)
{
    const gbsi_rbm *r = h->rbm;
    uint32_t *count = h->count;
    for (size_t c = 0; c < r->n_chains; ++c, count += r->n + r->m) {
        for (size_t i = 0; i < r->n; ++i) {
            count[i] += r->v[c * r->n + i];
        }
        for (size_t j = 0; j < r->m; ++j) {
            count[r->n + j] += r->h[c * r->m + j];
        }
    }
}

/* Adds the counts of the units to their sums, and clears the counts. */
static void end_half(const holding *h)
{
    const size_t n = h->rbm->n + h->rbm->m;
    for (size_t k = 0; k < h->rbm->n_chains * n; ++k) {
        h->sum[k % n] += h->count[k];
        h->sum[n + k % n] += (uint64_t)h->count[k] * h->count[k];
        h->count[k] = 0;
    }
}

static double largest_rhat(const holding *h)
{
    const size_t n = h->rbm->n + h->rbm->m;
    double largest = 1.0;
    for (size_t u = 0; u < n; ++u) {
        const double rhat =
            gbsi_split_rhat(h->sum[u], h->sum[n + u], HALF, 2.0 * (double)h->rbm->n_chains, NULL);
        largest = rhat > largest ? rhat : largest;
    }
    return largest;
}

/* ---- the slope ------------------------------------------------------------------------------- */

/* Adds sums over rows, or over the chains of one half of the draws, to the slope of unit i. A half
 * has two parts: even chains in the first half of the time and odd chains in the second half, or
 * the reverse. @param list scratch. */
static void add_unit(const holding *h, uint32_t *list, size_t i)
{
    const gbsi_rbm *r = h->rbm;
    const size_t n = h->rows ? r->n_batch : r->n_chains;
    for (size_t part = 0; part < (h->rows ? 1 : 2); ++part) {
        size_t n_on = 0;
        for (size_t k = 0; k < n; ++k) {
            const uint8_t *v = h->rows ? gbsi_row(r->rows, r->row[k]) : r->v + k * r->n;
            list[n_on] = (uint32_t)k;
            n_on += (h->rows || (k + h->half) % 2 == part) && (i == r->n || v[i] == 1);
        }
        r->layers->sum_rows(h->rows ? r->up : r->down, r->wide_m, list, n_on,
                            h->slope + (part * (r->n + 1) + i) * r->wide_m);
        if (i < r->n) {
            h->of_a[part * r->n + i] += (double)n_on;
        }
    }
}

static void add_units(void *context, uint32_t member)
{
    holding *h = context;
    gbsi_rbm *r = h->rbm;
    const size_t n = h->rows ? r->n_batch : r->n_chains;
    size_t i = 0;
    while ((i = h->next++) <= r->n && !gbsi_rbm_stops(r, member, n * (r->wide_m / 8 + 2))) {
        add_unit(h, r->list + member * r->n_list, i);
    }
}

static void add_all(holding *h)
{
    h->next = 0;
    gbsi_pool_run(h->rbm->work->pool, add_units, h);
}

/* Adds the squares of a row's contributions: v_i p_j to the slope by W, v_i to the slope by a, and
 * p_j to the slope by b. */
static void add_squares(holding *h)
{
    const gbsi_rbm *r = h->rbm;
    for (size_t k = 0; k < r->n_batch; ++k) {
        const uint8_t *v = gbsi_row(r->rows, r->row[k]);
        double of_v = 1.0;
        double of_p = 1.0;
        for (size_t i = 0; i < r->n; ++i) {
            of_v += v[i];
        }
        for (size_t j = 0; j < r->m; ++j) {
            of_p += r->up[k * r->wide_m + j] * r->up[k * r->wide_m + j];
        }
        h->square += of_v * of_p - 1.0;
    }
}

static void add_rows(holding *h)
{
    gbsi_rbm *r = h->rbm;
    const size_t n_rows = r->rows->n;
    h->rows = true;
    r->n_chains = 0;
    for (size_t k = 0; k < n_rows; ++k) {
        r->order[k] = (uint32_t)k;
    }
    for (size_t first = 0; first < n_rows; first += r->n_batch) {
        const size_t left = n_rows - first;
        r->row = r->order + first;
        r->n_batch = left < r->options.batch ? left : (size_t)r->options.batch;
        if (!gbsi_rbm_sweep(r)) {
            return;
        }
        add_all(h);
        add_squares(h);
        (void)gbsi_rbm_stops(r, 0, r->n_batch * (r->n + r->m));
    }
}

/* Begins one entry of the gradients of both halves: the penalty's derivative minus the entry's mean
 * over rows, times the number of draws of a half. The sums over draws are added later. @param sum
 * in: sum[0] is the sum over rows; out: sum[0] and sum[stride] are the entries. @param penalty
 * derivative of the penalty. @return the square of the entry's mean over rows */
static double turn(const holding *h, double *sum, size_t stride, double penalty)
{
    const double mean = sum[0] / (double)h->rbm->rows->n;
    sum[0] = sum[stride] = (penalty - mean) * HALF * (double)h->rbm->options.batch;
    return mean * mean;
}

static double slope_of_penalty(const gbsi_rbm *r, double w)
{
    const double sign = w > 0.0 ? 1.0 : w < 0.0 ? -1.0 : 0.0;
    return (r->options.l2 * w + r->options.l1 * sign) / (double)r->rows->n;
}

/* @return the variance of the gradient that is due to the random choice of rows, summed over the
 * weights */
static double end_rows(const holding *h)
{
    const gbsi_rbm *r = h->rbm;
    const size_t n_slope = (r->n + 1) * r->wide_m;
    const double n_rows = (double)r->rows->n;
    double square = 0.0;
    for (size_t i = 0; i <= r->n; ++i) {
        for (size_t j = 0; j < r->m; ++j) {
            square += turn(h, h->slope + i * r->wide_m + j, n_slope,
                           i < r->n ? slope_of_penalty(r, r->w[i * r->wide_m + j]) : 0.0);
        }
        square += i < r->n ? turn(h, h->of_a + i, r->n, 0.0) : 0.0;
        (void)gbsi_rbm_stops(h->rbm, 0, r->m);
    }
    return (h->square / n_rows - square) / n_rows;
}

/* @return the product of two derivatives, each minus the part that l1 cancels at a weight of 0. */
static double product_beyond(double a, double b, double hold)
{
    const double twice = a + b;
    return twice > 2.0 * hold    ? (a - hold) * (b - hold)
           : twice < -2.0 * hold ? (a + hold) * (b + hold)
           : hold > 0.0          ? 0.0
                                 : a * b;
}

/* @return an estimate of the squared length of the gradient: the product of two gradients with
 * independent noise. */
static double square_of_slope(const holding *h)
{
    const gbsi_rbm *r = h->rbm;
    const size_t n_slope = (r->n + 1) * r->wide_m;
    const double scale = HALF * (double)r->options.batch;
    const double hold = scale * r->options.l1 / (double)r->rows->n;
    double square = 0.0;
    for (size_t i = 0; i <= r->n; ++i) {
        const double *of_w = h->slope + i * r->wide_m;
        for (size_t j = 0; j < r->m; ++j) {
            const bool held = i < r->n && r->w[i * r->wide_m + j] == 0.0;
            square += product_beyond(of_w[j], of_w[n_slope + j], held ? hold : 0.0);
        }
        square += i < r->n ? h->of_a[i] * h->of_a[r->n + i] : 0.0;
        (void)gbsi_rbm_stops(h->rbm, 0, r->m);
    }
    return square / (scale * scale);
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status take_memory(holding *h, gbs_error *err)
{
    const gbsi_rbm *r = h->rbm;
    const size_t n = r->n + r->m;
    h->count = gbsi_alloc_array_zero((size_t)r->options.batch * n, sizeof *h->count);
    h->sum = gbsi_alloc_array_zero(2 * n, sizeof *h->sum);
    h->slope = gbsi_alloc_array_zero(gbsi_rbm_n_slope(r), sizeof *h->slope);
    GBSI_PASS(GBSI_HAVE(err, "moments", h->count, h->sum, h->slope));
    h->of_a = h->slope + 2 * (r->n + 1) * r->wide_m;
    return GBS_OK;
}

static void add_chains(holding *h)
{
    gbsi_rbm *r = h->rbm;
    h->rows = false;
    r->n_batch = 0;
    r->n_chains = (size_t)r->options.batch;
    for (uint32_t t = 0; t < 2 * HALF && gbsi_rbm_sweep(r); ++t) {
        h->half = t / HALF;
        count_units(h);
        (void)gbsi_rbm_stops(r, 0, r->n_chains * (r->n + r->m) / 4);
        add_all(h);
        if (t % HALF == HALF - 1) {
            end_half(h);
        }
    }
}

gbs_status gbsi_rbm_hold_still(gbsi_rbm *rbm, gbs_rbm_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    holding h = {.rbm = rbm};
    report->rhat = report->misfit = report->rise = (double)NAN;
    report->converged = 0;
    GBSI_TRY(take_memory(&h, err));
    assert(h.of_a != NULL);
    add_rows(&h);
    const double of_rows = end_rows(&h);
    add_chains(&h);
    const double square = square_of_slope(&h);
    if (!gbsi_watch_stopped(&rbm->work->watch)) {
        report->rhat = largest_rhat(&h);
        report->misfit = square <= 0.0   ? 0.0
                         : of_rows > 0.0 ? gbsi_sqrt(square / of_rows)
                                         : (double)INFINITY;
        report->rise = gbsi_rbm_rise(rbm);
        report->converged = report->rhat <= GBSI_MOST_RHAT && report->misfit <= GBSI_MOST_MISFIT &&
                            report->rise <= MOST_RISE;
    }

cleanup:
    GBSI_FREE(h.count, h.sum, h.slope);
    return status;
}
