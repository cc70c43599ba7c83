/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates noise and coupling from the noisy picture alone; gibbsite/denoise.h describes the
 * method. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/watch.h"
#include "denoise/denoise.h"
#include "levels/levels_chains.h"
#include "parallel/pool.h"
#include "simd/math.h"

enum {
    MOST_SIDE =
        256, /* longest side of the part of the picture from which parameters are estimated */
    MOST_WORK = 1 << 19, /* largest product of pixels and levels of this part */
    ITERATIONS = 60,     /* number of iterations; the second half is averaged */
    BATCHES = 6,         /* number of batches of averaged iterations, for a standard error */
    CHAINS = 8,          /* number of pictures drawn in an iteration */
    SWEEPS = 8,          /* number of sweeps between two pictures that a chain draws */
    NEWTON_STEPS = 12,   /* largest number of steps of Newton's method */
    PICTURES = 2, /* number of drawn pictures in an iteration to which the coupling is fitted */
};
/* Newton's method ends after a step of at most this length; the error that few pictures cause is
 * far larger */
#define SETTLED 1e-4
/* at larger couplings neighbours nearly always agree, and chains freeze */
#define MOST_COUPLING 3.0
#define LEAST_SPREAD  1e-3 /* least standard deviation of normal noise, in levels */
#define PROGRESS_S    0.1

static const char ESTIMATING[] = "estimating noise and coupling";

typedef struct estimating {
    gbs_image part; /* part of the noisy picture that is used */
    gbs_denoise_options o;
    uint32_t *x;      /* [CHAINS][pixels] pictures drawn */
    double *distance; /* [levels][levels] d(a, b) */
    double *near; /* [PICTURES][pixels][levels] results of distances() for the pictures to which the
                     coupling is fitted */
    uint64_t seed, pass;
    gbsi_pool *pool;
    gbsi_levels_chains *chains;
    const gbs_run_callbacks *callbacks;
    double began_s, told_s;
    uint32_t iteration;
    gbsi_watch watch;
} estimating;

static bool look(void *context)
{
    estimating *e = context;
    const double now_s = gbsi_clock_s();
    const gbs_progress progress = {.size = sizeof progress,
                                   .pass = e->iteration,
                                   .elapsed_s = now_s - e->began_s,
                                   .passes = ITERATIONS,
                                   .worst_error = (double)NAN};
    if (e->callbacks == NULL || e->callbacks->progress == NULL || now_s - e->told_s < PROGRESS_S) {
        return false;
    }
    e->told_s = now_s;
    return e->callbacks->progress(e->callbacks->context, &progress) != 0;
}

/* ---- the part that is used ------------------------------------------------------------------- */

static gbs_status crop(const gbs_image *whole, uint32_t levels, gbs_image *part, gbs_error *err)
{
    uint32_t most = MOST_SIDE;
    while (most * most * levels > MOST_WORK) {
        most--;
    }
    const uint32_t width = whole->width < most ? whole->width : most;
    const uint32_t height = whole->height < most ? whole->height : most;
    const size_t left = (whole->width - width) / 2;
    const size_t top = (whole->height - height) / 2;
    GBSI_PASS(gbs_image_new(whole->kind, width, height, whole->maxval, whole->n_colors, part, err));
    memcpy(part->color, whole->color, sizeof part->color);
    for (size_t r = 0; r < height; r++) {
        memcpy(part->sample + r * width * whole->channels,
               whole->sample + ((top + r) * whole->width + left) * whole->channels,
               (size_t)width * whole->channels * sizeof *part->sample);
    }
    return GBS_OK;
}

/* ---- E: pictures given the parameters -------------------------------------------------------- */

/* Draws pictures: the chains continue from their last pictures, with the current parameters. */
static gbs_status draw_pictures(estimating *e, uint32_t iteration, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = (size_t)e->part.width * e->part.height;
    const uint32_t n_sweeps = iteration == 0 ? 2 * SWEEPS : SWEEPS;
    gbsi_levels *levels = NULL;
    GBSI_TRY(gbsi_denoise_levels(&e->part, &e->o, &levels, err));
    if (iteration == 0) {
        const gbsi_levels_keeping nothing = {.keeps = false};
        GBSI_TRY(gbsi_levels_chains_new(levels, CHAINS, e->seed, nothing, gbsi_simd_level(),
                                        e->pool, &e->chains, err));
        gbsi_levels_chains_scatter(e->chains);
    }
    e->chains->levels = levels;
    for (uint32_t sweep = 0; sweep < n_sweeps; sweep++) {
        gbsi_levels_chains_sweep(e->chains, e->pass++);
        GBSI_TRY(gbsi_watch_work(&e->watch, n * e->o.levels * CHAINS, ESTIMATING, err));
    }
    for (uint32_t chain = 0; chain < CHAINS; chain++) {
        gbsi_levels_chains_get(e->chains, chain, e->x + chain * n);
    }
cleanup:
    gbsi_levels_free(levels);
    return status;
}

/* ---- M: the parameters given pictures -------------------------------------------------------- */

/* Estimates the noise by maximum likelihood: the share of pixels that show another level than the
 * drawn level, or the mean square of the differences. */
static double fit_noise(const estimating *e)
{
    const size_t n = (size_t)e->part.width * e->part.height;
    const double most = 1.0 - 1.0 / e->o.levels;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double shown = gbsi_denoise_shown(&e->part, &e->o, i);
        const uint32_t nearest = gbsi_denoise_nearest(&e->o, shown);
        for (uint32_t chain = 0; chain < CHAINS; chain++) {
            const uint32_t x = e->x[chain * n + i];
            sum += e->o.noise == GBS_NOISE_FLIP ? x != nearest : (shown - x) * (shown - x);
        }
    }
    sum /= (double)n * CHAINS;
    if (e->o.noise == GBS_NOISE_GAUSS) {
        const double spread = gbsi_sqrt(sum);
        return spread < LEAST_SPREAD ? LEAST_SPREAD : spread;
    }
    const double least = 0.5 / ((double)n * CHAINS);
    return sum < least ? least : (sum > 0.999 * most ? 0.999 * most : sum);
}

/* Computes D_i(a) = sum over neighbours j of w d(a, x_j), for every level a. */
static void distances(const estimating *e, const uint32_t *x, uint32_t row, uint32_t column,
                      double *restrict total)
{
    const int64_t width = e->part.width;
    const int64_t height = e->part.height;
    const uint32_t levels = e->o.levels;
    memset(total, 0, levels * sizeof *total);
    for (unsigned s = 0; s < 2 * gbsi_denoise_n_steps(&e->o); s++) {
        const gbsi_denoise_step *step = &gbsi_denoise_steps[s / 2];
        const int sign = s % 2 == 0 ? 1 : -1;
        const int64_t r = (int64_t)row + sign * step->row;
        const int64_t c = (int64_t)column + sign * step->column;
        if (r < 0 || r >= height || c < 0 || c >= width) {
            continue;
        }
        const double *restrict from = e->distance + (size_t)x[r * width + c] * levels;
        for (uint32_t a = 0; a < levels; a++) {
            total[a] += step->weight * from[a];
        }
    }
}

/* Adds the contributions of n pixels of level `x` to the slope and the curvature. @param d [levels]
 */
static void add_pixel(const double *d, uint32_t levels, uint32_t x, double b, double n,
                      double *slope, double *curvature)
{
    double sum = 0.0;
    double first = 0.0;
    double second = 0.0;
    double least = d[0];
    for (uint32_t a = 1; a < levels; a++) {
        least = d[a] < least ? d[a] : least;
    }
    for (uint32_t a = 0; a < levels; a++) {
        const double weight = gbsi_exp(-b * (d[a] - least));
        sum += weight;
        first += weight * d[a];
        second += weight * d[a] * d[a];
    }
    const double mean = first / sum;
    *slope += n * (mean - d[x]);
    *curvature -= n * (second / sum - mean * mean);
}

/* Adds slope and curvature in b of the log pseudo-likelihood of one picture (Besag 1975), sum_i (
 * -b D_i(x_i) - ln sum_a exp(-b D_i(a)) ): the slope is sum_i ( E_b D_i - D_i(x_i) ), the curvature
 * -sum_i Var_b D_i. */
static void add_slope(const estimating *e, const uint32_t *x, const double *near, double b,
                      double *slope, double *curvature)
{
    const size_t n = (size_t)e->part.width * e->part.height;
    for (size_t i = 0; i < n; i++) {
        add_pixel(near + i * e->o.levels, e->o.levels, x[i], b, 1.0, slope, curvature);
    }
}

static void find_distances(const estimating *e, const uint32_t *x, double *near)
{
    for (uint32_t row = 0; row < e->part.height; row++) {
        for (uint32_t column = 0; column < e->part.width; column++, near += e->o.levels) {
            distances(e, x, row, column, near);
        }
    }
}

/* For two levels, the pixels with each kind of neighbourhood are counted. The terms of each kind
 * are then computed once, and multiplied by the count. */
enum {
    NEAR = 5,
    PATTERNS = 2 * NEAR * NEAR * NEAR * NEAR
}; /* each of four kinds of neighbours occurs 0 to 4 times */

typedef struct pattern {
    uint32_t x;          /* level of the pixel */
    uint32_t near[2][2]; /* number of straight (0) and diagonal (1) neighbours of each level */
} pattern;

static uint32_t number_of(const pattern *p)
{
    return (((p->x * NEAR + p->near[0][0]) * NEAR + p->near[0][1]) * NEAR + p->near[1][0]) * NEAR +
           p->near[1][1];
}

static pattern pattern_of(uint32_t number)
{
    pattern p = {.x = number / (NEAR * NEAR * NEAR * NEAR)};
    p.near[0][0] = number / (NEAR * NEAR * NEAR) % NEAR;
    p.near[0][1] = number / (NEAR * NEAR) % NEAR;
    p.near[1][0] = number / NEAR % NEAR;
    p.near[1][1] = number % NEAR;
    return p;
}

/* Adds the pixels of a picture to the counts of their patterns. @param n [PATTERNS] in and out. */
static void count_patterns(const estimating *e, const uint32_t *x, uint32_t *n)
{
    const int64_t width = e->part.width;
    const int64_t height = e->part.height;
    for (int64_t row = 0; row < height; row++) {
        for (int64_t column = 0; column < width; column++) {
            pattern p = {.x = x[row * width + column]};
            for (unsigned s = 0; s < 2 * gbsi_denoise_n_steps(&e->o); s++) {
                const gbsi_denoise_step *step = &gbsi_denoise_steps[s / 2];
                const int sign = s % 2 == 0 ? 1 : -1;
                const int64_t r = row + sign * step->row;
                const int64_t c = column + sign * step->column;
                if (r >= 0 && r < height && c >= 0 && c < width) {
                    p.near[s >= 4][x[r * width + c]]++;
                }
            }
            n[number_of(&p)]++;
        }
    }
}

static void add_patterns(const estimating *e, const uint32_t *n, double b, double *slope,
                         double *curvature)
{
    const double differ = gbsi_denoise_distance(&e->o, 0, 1);
    for (uint32_t i = 0; i < PATTERNS; i++) {
        const pattern p = pattern_of(i);
        double d[2];
        for (uint32_t a = 0; a < 2 && n[i] > 0; a++) {
            d[a] = differ * (gbsi_denoise_steps[0].weight * p.near[0][1 - a] +
                             gbsi_denoise_steps[2].weight * p.near[1][1 - a]);
        }
        if (n[i] > 0) {
            add_pixel(d, 2, p.x, b, n[i], slope, curvature);
        }
    }
}

/* Fits the coupling by Newton's method, which starts from the previous coupling. The log
 * pseudo-likelihood is concave in the coupling. The result is undefined if the watch stops the
 * call. */
static double fit_coupling(estimating *e)
{
    const size_t n = (size_t)e->part.width * e->part.height;
    uint32_t alike[PATTERNS] = {0};
    double b = e->o.coupling;
    for (uint32_t i = 0; i < PICTURES; i++) {
        if (e->o.levels == 2) {
            count_patterns(e, e->x + i * n, alike);
        } else {
            find_distances(e, e->x + i * n, e->near + i * n * e->o.levels);
        }
    }
    for (int k = 0; k < NEWTON_STEPS; k++) {
        double slope = 0.0;
        double curvature = 0.0;
        if (e->o.levels == 2) {
            add_patterns(e, alike, b, &slope, &curvature);
        }
        for (uint32_t i = 0; i < PICTURES && e->o.levels > 2; i++) {
            add_slope(e, e->x + i * n, e->near + i * n * e->o.levels, b, &slope, &curvature);
        }
        double step = curvature < 0.0 ? -slope / curvature : (slope > 0.0 ? 1.0 : -1.0);
        step = step > 1.0 ? 1.0 : (step < -1.0 ? -1.0 : step);
        const double next = b + step < 0.0 ? 0.0 : b + step;
        const bool settled = fabs(next - b) < SETTLED;
        b = next > MOST_COUPLING ? MOST_COUPLING : next;
        if (settled || gbsi_watch_spend(&e->watch, n * e->o.levels * PICTURES)) {
            break;
        }
    }
    return b;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Estimates the noise from differences of neighbours. The difference of two normal variables has
 * sqrt 2 times their standard deviation. The median of the absolute difference is 0.6745 times the
 * standard deviation of the difference (Rousseeuw & Croux 1993, JASA 88:1273-1283, section 1).
 * [M69] */
static gbs_status find_neighbour_noise(const estimating *e, double *noise, gbs_error *err)
{
    const uint32_t width = e->part.width;
    const size_t n = (size_t)(width - 1) * e->part.height;
    if (n == 0 || e->o.noise != GBS_NOISE_GAUSS) {
        return GBS_OK;
    }
    double *size = gbsi_alloc_array(n, sizeof *size);
    GBSI_PASS(GBSI_HAVE(err, "differences of pixels", size));
    for (size_t i = 0; i < n; i++) {
        const size_t at = i / (width - 1) * width + i % (width - 1);
        size[i] = fabs(gbsi_denoise_shown(&e->part, &e->o, at + 1) -
                       gbsi_denoise_shown(&e->part, &e->o, at));
    }
    qsort(size, n, sizeof *size, by_size);
    *noise = size[n / 2] / (0.6744897501960817 * 1.4142135623730951);
    gbsi_free(size);
    return GBS_OK;
}

/* ---- iterations ------------------------------------------------------------------------------ */

/* @return the mean over the second half of the iterations, with its standard error by batches.
 * @param value [ITERATIONS] */
static double mean_of_half(const double *value, double *error)
{
    const int each = ITERATIONS / 2 / BATCHES;
    double mean = 0.0;
    double squares = 0.0;
    double batch[BATCHES];
    for (int k = 0; k < BATCHES; k++) {
        batch[k] = 0.0;
        for (int i = 0; i < each; i++) {
            batch[k] += value[ITERATIONS / 2 + k * each + i] / each;
        }
        mean += batch[k] / BATCHES;
    }
    for (int k = 0; k < BATCHES; k++) {
        squares += (batch[k] - mean) * (batch[k] - mean);
    }
    *error = gbsi_sqrt(squares / ((double)BATCHES * (BATCHES - 1)));
    return mean;
}

/* @param n number of pixels of the part. */
static gbs_status take_arrays(estimating *e, size_t n, gbs_error *err)
{
    const size_t levels = e->o.levels;
    e->x = gbsi_alloc_array(n, CHAINS * sizeof *e->x);
    e->distance = gbsi_alloc_array(levels * levels, sizeof *e->distance);
    e->near = gbsi_alloc_array(n * levels, PICTURES * sizeof *e->near);
    GBSI_PASS(GBSI_HAVE(err, "pictures", e->x, e->distance, e->near));
    for (uint32_t a = 0; a < levels; a++) {
        for (uint32_t b = 0; b < levels; b++) {
            e->distance[a * levels + b] = gbsi_denoise_distance(&e->o, a, b);
        }
    }
    return GBS_OK;
}

gbs_status gbs_denoise_estimate(const gbs_image *noisy, const gbs_denoise_options *options,
                                int noise, int coupling, uint64_t seed, uint32_t threads,
                                const gbs_run_callbacks *callbacks, gbs_denoise_found *found,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    estimating e = {.seed = seed, .callbacks = callbacks, .began_s = gbsi_clock_s()};
    double noises[ITERATIONS];
    double couplings[ITERATIONS];
    GBSI_NEED(found);
    GBSI_OUT_STRUCT(found, gbs_denoise_found);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_TRY(gbsi_denoise_settle(noisy, options, &e.o, err));
    GBSI_TRY(crop(noisy, e.o.levels, &e.part, err));
    const size_t n = (size_t)e.part.width * e.part.height;
    GBSI_TRY(take_arrays(&e, n, err));
    GBSI_TRY(gbsi_pool_new(threads == 0 ? gbsi_pool_cores() : threads, &e.pool, err));
    e.watch = gbsi_watch_of(look, &e, 0.0, 0.0);
    for (uint32_t t = 0; t < ITERATIONS; t++) {
        e.iteration = t;
        GBSI_TRY(draw_pictures(&e, t, err));
        e.o.noise_level = noise ? fit_noise(&e) : e.o.noise_level;
        e.o.coupling = coupling ? fit_coupling(&e) : e.o.coupling;
        noises[t] = e.o.noise_level;
        couplings[t] = e.o.coupling;
        GBSI_TRY(gbsi_watch_work(&e.watch, GBSI_WATCH_EVERY, ESTIMATING, err));
    }
    gbs_denoise_found own = {
        .width = e.part.width, .height = e.part.height, .iterations = ITERATIONS};
    GBSI_TRY(find_neighbour_noise(&e, &own.neighbour_noise, err));
    own.noise_level = mean_of_half(noises, &own.noise_error);
    own.coupling = mean_of_half(couplings, &own.coupling_error);
    gbsi_struct_give(found, &own, sizeof own);
cleanup:
    gbsi_levels_chains_free(e.chains);
    gbsi_pool_free(e.pool);
    GBSI_FREE(e.x, e.distance, e.near);
    gbs_image_free(&e.part);
    return status;
}
