/* SPDX-License-Identifier: Apache-2.0 */
/* Stochastic approximation with the chains' own covariance as its matrix (Gu & Kong 1998, PNAS
 * 95:7270-7274): w moves by g (N C)^-1 times the sampled gradient, C the covariance of the
 * features. Then w stays where it was on average, the chains say how far the maximum is from there,
 * and one step of Newton's method goes there. Rows with missing values have a chain each, with what
 * they have held fast, as those of Younes (1989) and of DimmWitted do.
 *
 * The same bits on any number of threads: a chain is drawn by one thread, with random numbers of
 * its own, and a sum over chains, or a row of a matrix of sums, is one thread's. */
#include "learn/sampled.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "learn/cholesky.h"
#include "rng/philox.h"
#include "simd/math.h"

#define FASTEST  0.5  /* share of a step of Newton's method */
#define FARTHEST 0.5  /* that a weight moves in a step */
#define QUARTER  4u   /* steps are not shortened in the first of so many parts */
#define SLOWING  10.0 /* then, after each of so many parts of the steps, by as much again */
#define FORGET   0.02 /* what a step's covariance counts for at least */
#define BATCHES  20u  /* of the sums over rows, for their error */
#define PIVOT    1e-9

typedef struct climbing {
    gbsi_pseudo *pseudo;
    const gbsi_climb *how;
    size_t n, n_variables;
    uint64_t pass;
    double n_rows;
    double *complete; /* [n] features of complete rows */
    size_t n_partial;
    size_t *partial;  /* [n_partial] rows with missing values */
    uint32_t *state;  /* [chains + n_partial][n_variables] */
    uint8_t *clamped; /* [members][n_variables] scratch */
    double *feature;  /* [chains + n_partial][n] at the last sweep */
    const double *at; /* [n] weights of the sweep */
    double *second;   /* [n][n] lower triangle: covariance of the chains at the last sweep */
    _Atomic size_t next;
    double *mean;       /* [n] of the chains, at the last sweep */
    double *rows;       /* [n] of the rows, at the last sweep */
    double *covariance; /* [n][n] lower triangle */
    double *root;       /* [n][n] */
    double *step;       /* [n] */
} climbing;

static bool stopped(const climbing *c)
{
    return gbsi_watch_stopped(c->pseudo->watch);
}

/* ---- chains ---------------------------------------------------------------------------------- */

static uint32_t *state_of(const climbing *c, size_t chain)
{
    return c->state + chain * c->n_variables;
}

/* The states of a row, 0 where it has none. */
static void fill(const climbing *c, size_t row, uint32_t *x)
{
    const gbs_data *d = c->pseudo->data;
    memset(x, 0, c->n_variables * sizeof *x);
    for (uint32_t k = 0; k < d->n_columns; ++k) {
        const uint16_t state = d->state[row * d->n_columns + k];
        x[d->column[k]] = state == GBSI_MISSING ? 0 : state;
    }
}

/* Which variables a row has. @param clamped [n_variables] out.
 * @return whether it lacks one that has a choice. */
static bool mark(const climbing *c, size_t row, uint8_t *clamped)
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

static gbs_status check_start(const climbing *c, size_t row, const uint32_t *x, gbs_error *err)
{
    return gbs_model_log_density(c->pseudo->model, x) > -INFINITY
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                           "row %" PRIu64
                           ": found no state of positive weight where its missing values are "
                           "state 0, from which chains could start, or none at all",
                           c->pseudo->data->first[row] + 1);
}

/* Features of complete rows, chains of the others; free chains start from rows. */
static gbs_status take_rows(climbing *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_data *d = c->pseudo->data;
    for (size_t row = 0; row < d->n_distinct; ++row) {
        uint32_t *x = state_of(c, c->how->chains + c->n_partial);
        c->n_rows += d->weight[row];
        fill(c, row, x);
        GBSI_TRY(check_start(c, row, x, err));
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
    c->feature = gbsi_alloc_array(c->how->chains + c->n_partial, c->n * sizeof *c->feature);
    if (c->feature == NULL) {
        return gbsi_no_memory(err, "features", c->how->chains * c->n * sizeof *c->feature);
    }
    for (uint64_t chain = 0; chain < c->how->chains; ++chain) {
        fill(c, chain % d->n_distinct, state_of(c, chain));
    }

cleanup:
    return status;
}

/* Puts every chain back: those of rows to what the rows have, the free ones to rows at equal
 * distances in the sum of their weights, from a random point on. */
static void restart(climbing *c)
{
    const gbs_data *d = c->pseudo->data;
    uint32_t word[4];
    size_t row = 0;
    double before = 0.0; /* weight of the rows before this one */
    gbsi_philox(c->how->seed, 0, c->pass, 0, GBSI_PURPOSE_START, word);
    const double u = gbsi_uniform(word[0], word[1]);
    for (uint64_t chain = 0; chain < c->how->chains; ++chain) {
        const double at = ((double)chain + u) / (double)c->how->chains * c->n_rows;
        while (row + 1 < d->n_distinct && before + d->weight[row] <= at) {
            before += d->weight[row++];
        }
        fill(c, row, state_of(c, chain));
    }
    for (size_t i = 0; i < c->n_partial; ++i) {
        fill(c, c->partial[i], state_of(c, c->how->chains + i));
    }
}

/* Draws a chain as many times more as a step has sweeps, and fills in its features. */
static void draw_chain(const climbing *c, uint32_t member, size_t chain)
{
    uint32_t *x = state_of(c, chain);
    double *feature = c->feature + chain * c->n;
    uint8_t *clamped = NULL;
    if (chain >= c->how->chains) {
        clamped = c->clamped + member * c->n_variables;
        (void)mark(c, c->partial[chain - c->how->chains], clamped);
    }
    for (uint64_t k = 0; k < c->how->sweeps && !stopped(c); ++k) {
        gbsi_pseudo_sweep(c->pseudo, member, c->at, &c->how->scan->order, clamped, c->how->seed,
                          (uint32_t)chain, c->pass * c->how->sweeps + k, x);
    }
    memset(feature, 0, c->n * sizeof *feature);
    gbsi_pseudo_features(c->pseudo, x, feature);
}

static void draw_chains(void *context, uint32_t member)
{
    climbing *c = context;
    size_t chain = 0;
    while ((chain = c->next++) < c->how->chains + c->n_partial && !stopped(c)) {
        draw_chain(c, member, chain);
    }
}

/* All chains once. */
static void draw_all(climbing *c, const double *w)
{
    c->at = w;
    c->next = 0;
    gbsi_pool_run(c->pseudo->pool, draw_chains, c);
    ++c->pass;
}

/* row[0 .. k] += share * feature k * features 0 to k. */
static void add_products(const double *feature, size_t k, double share, double *row)
{
    for (size_t j = 0; j <= k; ++j) {
        row[j] += share * feature[k] * feature[j];
    }
}

/* Mean of the free chains, sums of the rows, products of the free ones. */
static void add_features(void *context, uint32_t member)
{
    climbing *c = context;
    const size_t n = c->n;
    const double share = 1.0 / (double)c->how->chains;
    size_t k = 0;
    while ((k = c->next++) < n && !gbsi_pseudo_stops(c->pseudo, member, k * c->how->chains / 2)) {
        const double *feature = c->feature;
        c->mean[k] = 0.0;
        c->rows[k] = c->complete[k];
        memset(c->second + k * n, 0, n * sizeof *c->second);
        for (size_t chain = 0; chain < c->how->chains; ++chain, feature += n) {
            c->mean[k] += share * feature[k];
            add_products(feature, k, share, c->second + k * n);
        }
        for (size_t i = 0; i < c->n_partial; ++i, feature += n) {
            c->rows[k] += c->pseudo->data->weight[c->partial[i]] * feature[k];
        }
    }
}

/* All chains once: mean of the free ones, sums of the rows, and c->second, the covariance of the
 * free ones. */
static void sweep(climbing *c, const double *w)
{
    draw_all(c, w);
    c->next = 0;
    gbsi_pool_run(c->pseudo->pool, add_features, c);
    for (size_t k = 0; k < c->n; ++k) {
        for (size_t j = 0; j <= k; ++j) {
            c->second[k * c->n + j] -= c->mean[k] * c->mean[j];
        }
    }
}

/* ---- climbing -------------------------------------------------------------------------------- */

/* root of scale * covariance + l2, and as much of the unit matrix as that needs. */
static void factorise(climbing *c, double scale)
{
    double most = 0.0;
    for (size_t k = 0; k < c->n; ++k) {
        for (size_t j = 0; j <= k; ++j) {
            c->root[k * c->n + j] = scale * c->covariance[k * c->n + j];
        }
        most = c->root[k * c->n + k] > most ? c->root[k * c->n + k] : most;
    }
    double more = c->how->l2 + 1e-6 * most + 1e-9;
    while (!gbsi_cholesky(c->root, c->n, more, PIVOT, c->root, c->pseudo->watch) && !stopped(c)) {
        for (size_t k = 0; k < c->n; ++k) { /* what was overwritten */
            for (size_t j = 0; j <= k; ++j) {
                c->root[k * c->n + j] = scale * c->covariance[k * c->n + j];
            }
        }
        more *= 10.0;
    }
}

/* The matrix times the gradient, at what the last sweep found. @return the gradient's length. */
static double find_step(climbing *c, const double *w, const double *rows, const double *mean)
{
    double square = 0.0;
    for (size_t k = 0; k < c->n; ++k) {
        c->step[k] = rows[k] - c->n_rows * mean[k] - c->how->l2 * w[k];
        square += c->step[k] * c->step[k];
    }
    gbsi_cholesky_solve(c->root, c->n, c->step);
    return gbsi_sqrt(square);
}

static double length_of(const gbsi_climb *how, uint64_t k)
{
    const double past = (double)k - (double)how->steps / QUARTER;
    return past <= 0.0 ? FASTEST : FASTEST / (1.0 + SLOWING * past / (double)how->steps);
}

/* w becomes its mean over the last half of the steps. */
static gbs_status climb(climbing *c, double *w, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = c->n;
    const uint64_t first = c->how->steps / 2;
    double *mean = gbsi_alloc_array_zero(n, sizeof *mean);
    if (mean == NULL) {
        return gbsi_no_memory(err, "mean weights", n * sizeof *mean);
    }
    for (uint64_t k = 0; k < c->how->steps && !stopped(c); ++k) {
        const double fresh = 1.0 / (double)(k + 1);
        GBSI_TRY(gbsi_learning_scan_follow(c->how->scan, w, err));
        if (c->how->restarted) {
            restart(c);
        }
        sweep(c, w);
        for (size_t i = 0; i < n * n; ++i) {
            c->covariance[i] +=
                (fresh > FORGET ? fresh : FORGET) * (c->second[i] - c->covariance[i]);
        }
        factorise(c, c->n_rows);
        const double length = find_step(c, w, c->rows, c->mean);
        GBSI_TRY(c->how->tell(c->how->tell_context, k, w, (double)NAN, length, err));
        for (size_t i = 0; i < n; ++i) {
            const double move = length_of(c->how, k) * c->step[i];
            w[i] += move > FARTHEST ? FARTHEST : move < -FARTHEST ? -FARTHEST : move;
            mean[i] += k < first ? 0.0 : (w[i] - mean[i]) / (double)(k - first + 1);
        }
    }
    memcpy(w, mean, n * sizeof *w);
    status = stopped(c) ? gbsi_watch_fail(err, "learning") : GBS_OK;

cleanup:
    gbsi_free(mean);
    return status;
}

/* ---- where the maximum is from there --------------------------------------------------------- */

/* Sums at fixed weights. */
typedef struct looking {
    climbing *climbing;
    double *chain;       /* [2 chains][n] means of the features over halves of chains */
    double *square;      /* [2 chains][n] and of their squares */
    double *second;      /* [n][n] mean of products, over all chains */
    double *batch;       /* [BATCHES][n] means of the sums over rows */
    double *of_row;      /* [n_partial][n] mean features of each row */
    double *products;    /* [n][n] weighted sum over rows of mean products */
    double *mean, *rows; /* [n] over all */
    uint64_t n_half;
    uint64_t t; /* the draw of 2 n_half */
} looking;

static void looking_free(looking *l)
{
    gbsi_free(l->chain);
    gbsi_free(l->second);
    gbsi_free(l->of_row);
    gbsi_free(l->mean);
}

static gbs_status looking_new(climbing *c, looking *l, gbs_error *err)
{
    const size_t n = c->n;
    const size_t halves = 2 * (size_t)c->how->chains * n;
    l->climbing = c;
    l->n_half = c->how->steps / 4 + 2;
    l->chain = gbsi_alloc_array_zero(2 * halves, sizeof *l->chain);
    l->second = gbsi_alloc_array_zero(2 * n * n, sizeof *l->second);
    l->of_row = gbsi_alloc_array_zero(c->n_partial * n, sizeof *l->of_row);
    l->mean = gbsi_alloc_array_zero((2 + BATCHES) * n, sizeof *l->mean);
    if (l->chain == NULL || l->second == NULL || l->of_row == NULL || l->mean == NULL) {
        return gbsi_no_memory(err, "moments", (2 * halves + c->n_partial * n) * sizeof(double));
    }
    l->square = l->chain + halves;
    l->products = l->second + n * n;
    l->rows = l->mean + n;
    l->batch = l->mean + 2 * n;
    return GBS_OK;
}

/* What the chains of this draw add to feature k. */
static void add_free(const looking *l, size_t k)
{
    const climbing *c = l->climbing;
    const size_t n = c->n;
    const double share = 1.0 / (double)(2 * l->n_half * c->how->chains);
    for (size_t chain = 0; chain < c->how->chains; ++chain) {
        const size_t half = 2 * chain + (l->t >= l->n_half);
        const double *feature = c->feature + chain * n;
        l->chain[half * n + k] += feature[k] / (double)l->n_half;
        l->square[half * n + k] += feature[k] * feature[k] / (double)l->n_half;
        l->mean[k] += feature[k] * share;
        add_products(feature, k, share, l->second + k * n);
    }
}

/* And what those of rows do. */
static void add_partial(const looking *l, size_t k)
{
    const climbing *c = l->climbing;
    const size_t n = c->n;
    const double n_draws = 2.0 * (double)l->n_half;
    double *batch = l->batch + l->t * BATCHES / (2 * l->n_half) * n;
    for (size_t i = 0; i < c->n_partial; ++i) {
        const double weight = c->pseudo->data->weight[c->partial[i]];
        const double *feature = c->feature + (c->how->chains + i) * n;
        l->of_row[i * n + k] += feature[k] / n_draws;
        l->rows[k] += feature[k] * weight / n_draws;
        batch[k] += weight * feature[k] * BATCHES / n_draws;
        add_products(feature, k, weight / n_draws, l->products + k * n);
    }
}

static void add_draws(void *context, uint32_t member)
{
    const looking *l = context;
    climbing *c = l->climbing;
    const size_t n_chains = c->how->chains + c->n_partial;
    size_t k = 0;
    while ((k = c->next++) < c->n && !gbsi_pseudo_stops(c->pseudo, member, k * n_chains / 2)) {
        add_free(l, k);
        add_partial(l, k);
    }
}

static gbs_status look_around(climbing *c, const double *w, looking *l, gbs_error *err)
{
    for (l->t = 0; l->t < 2 * l->n_half && !stopped(c); ++l->t) {
        draw_all(c, w);
        c->next = 0;
        gbsi_pool_run(c->pseudo->pool, add_draws, l);
    }
    return stopped(c) ? gbsi_watch_fail(err, "learning") : GBS_OK;
}

/* Split R-hat of a feature (Gelman et al. 2013, Bayesian Data Analysis, section 11.4). */
static double rhat_of(const climbing *c, const looking *l, size_t k)
{
    const size_t n_halves = 2 * (size_t)c->how->chains;
    const double n = (double)l->n_half;
    double within = 0.0;
    double between = 0.0;
    for (size_t h = 0; h < n_halves; ++h) {
        const double mean = l->chain[h * c->n + k];
        const double away = mean - l->mean[k];
        within += (l->square[h * c->n + k] - mean * mean) * n / (n - 1.0) / (double)n_halves;
        between += away * away / (double)(n_halves - 1);
    }
    return within > 0.0    ? gbsi_sqrt((n - 1.0) / n + between / within)
           : between > 0.0 ? INFINITY
                           : 1.0;
}

/* The information: N times the covariance of the model less the sum of those of rows [M66]. */
static bool find_information(climbing *c, const looking *l)
{
    const size_t n = c->n;
    for (size_t k = 0; k < n; ++k) {
        for (size_t j = 0; j <= k; ++j) {
            double of_rows = l->products[k * n + j];
            for (size_t i = 0; i < c->n_partial; ++i) {
                of_rows -= c->pseudo->data->weight[c->partial[i]] * l->of_row[i * n + k] *
                           l->of_row[i * n + j];
            }
            c->covariance[k * n + j] =
                c->n_rows * (l->second[k * n + j] - l->mean[k] * l->mean[j]) - of_rows;
        }
    }
    return gbsi_cholesky(c->covariance, n, c->how->l2, 1e-6, c->root, c->pseudo->watch);
}

/* variance += that of the solution for a mean of independent terms. @param at [count][n] terms. */
static void add_chance(climbing *c, const double *at, size_t count, size_t stride, double scale,
                       const double *mean, double *variance)
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

/* Variances, of the data and of chance. @param chance [n] scratch. */
static void find_variances(climbing *c, looking *l, double *chance, gbsi_climbed *found)
{
    const size_t n = c->n;
    memset(chance, 0, n * sizeof *chance);
    for (size_t chain = 0; chain < c->how->chains; ++chain) { /* halves become wholes */
        for (size_t k = 0; k < n; ++k) {
            double *half = l->chain + 2 * chain * n;
            half[k] = 0.5 * (half[k] + half[n + k]);
        }
    }
    add_chance(c, l->chain, c->how->chains, 2 * n, c->n_rows, l->mean, chance);
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
        const double of_data = c->step[k] - c->how->l2 * square;
        found->variance[k] = (of_data > 0.0 ? of_data : 0.0) + chance[k];
        const double share = gbsi_sqrt(chance[k] / found->variance[k]);
        found->error = share > found->error ? share : found->error;
    }
}

/* One step of Newton's method from w. */
static gbs_status finish(climbing *c, double *w, gbsi_climbed *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    looking l = {0};
    double *chance = gbsi_alloc_array(c->n, sizeof *chance);
    if (chance == NULL) {
        return gbsi_no_memory(err, "variances", c->n * sizeof *chance);
    }
    GBSI_TRY(gbsi_learning_scan_follow(c->how->scan, w, err));
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
    for (size_t k = 0; k < c->n; ++k) {
        l.rows[k] += c->complete[k];
    }
    (void)find_step(c, w, l.rows, l.mean);
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

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status take_memory(climbing *c, gbs_error *err)
{
    const size_t n_chains = c->how->chains + c->pseudo->data->n_distinct + 1;
    c->state = gbsi_alloc_array(n_chains, c->n_variables * sizeof *c->state);
    c->partial = gbsi_alloc_array(c->pseudo->data->n_distinct, sizeof *c->partial);
    c->clamped = gbsi_alloc_array(gbsi_pool_size(c->pseudo->pool), c->n_variables);
    c->complete = gbsi_alloc_array_zero(4 * c->n, sizeof *c->complete);
    c->covariance = gbsi_alloc_array_zero(3 * c->n * c->n, sizeof *c->covariance);
    if (c->state == NULL || c->partial == NULL || c->clamped == NULL || c->complete == NULL ||
        c->covariance == NULL) {
        return gbsi_no_memory(err, "chains", n_chains * c->n_variables * sizeof *c->state);
    }
    c->mean = c->complete + c->n;
    c->rows = c->complete + 2 * c->n;
    c->step = c->complete + 3 * c->n;
    c->root = c->covariance + c->n * c->n;
    c->second = c->root + c->n * c->n;
    return GBS_OK;
}

gbs_status gbsi_climb_likelihood(gbsi_pseudo *pseudo, const gbsi_climb *how, double *w,
                                 gbsi_climbed *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    climbing c = {.pseudo = pseudo,
                  .how = how,
                  .n = pseudo->learnt->n,
                  .n_variables = pseudo->model->n_variables};
    GBSI_TRY(take_memory(&c, err));
    GBSI_TRY(take_rows(&c, err));
    GBSI_TRY(climb(&c, w, err));
    GBSI_TRY(finish(&c, w, found, err));

cleanup:
    gbsi_free(c.state);
    gbsi_free(c.partial);
    gbsi_free(c.clamped);
    gbsi_free(c.complete);
    gbsi_free(c.feature);
    gbsi_free(c.covariance);
    return status;
}
