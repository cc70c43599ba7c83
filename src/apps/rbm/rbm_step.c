/* SPDX-License-Identifier: Apache-2.0 */
/* A step of learning [M63], with the same bits on any number of threads. One thread handles each
 * group of sixteen chains or rows. Then one thread moves the weights of each visible unit, by sums
 * over rows and chains in their order. */
#include <string.h>

#include "rbm/rbm.h"

enum { GROUP = 16, UNITS_AT_ONCE = 8 };

/* Computes P(other layer = 1 | x).
 * @param matrix [n][width] */
static void conditional(gbsi_rbm *r, uint32_t member, const uint8_t *x, size_t n,
                        const double *matrix, const double *bias, size_t width, double *p)
{
    uint32_t *list = r->list + member * r->n_list;
    const size_t n_on = gbsi_rbm_list(x, n, list);
    memcpy(p, bias, width * sizeof *p);
    r->layers->sum_rows(matrix, width, list, n_on, p);
    r->layers->logistic(p, width);
}

/* @param word [n][GROUP] */
static void draw_random(const double *p, size_t n, const uint32_t *word, size_t lane, uint8_t *x)
{
    for (size_t i = 0; i < n; ++i) {
        x[i] = (double)word[i * GROUP + lane] < 0x1p32 * p[i];
    }
}

/* Draws x = the integer part of u + p; u becomes the fractional part. Each p in [0, 1] uses the
 * weight u of the interval that holds p. @param u [n][bins] */
static void draw_herded(const double *p, size_t n, double *u, uint8_t *x)
{
    for (size_t i = 0; i < n; ++i) {
        double *in_bin = u + i * GBSI_RBM_BINS + (size_t)(p[i] * (GBSI_RBM_BINS - 0x1p-20));
        const double sum = *in_bin + p[i];
        x[i] = sum >= 1.0;
        *in_bin = sum - (sum >= 1.0 ? 1.0 : 0.0);
    }
}

/* Draws one layer of the chains of a group given the other layer.
 * @param half number of layers that this step has drawn before; even: the hidden layer is drawn. */
static void draw_layer(gbsi_rbm *r, uint32_t member, size_t first, size_t end, uint64_t half)
{
    const bool hidden = half % 2 == 0;
    const size_t n = hidden ? r->m : r->n;
    uint32_t *word = r->word + member * r->n_word;
    double *p = r->p + member * r->wide;
    if (r->herd == NULL) {
        r->words->lanes16(r->options.seed, (uint32_t)first, r->pass * 2 * r->options.sweeps + half,
                          0, (uint32_t)((n + 3) / 4), GBSI_PURPOSE_MACHINE, word);
    }
    for (size_t c = first; c < end; ++c) {
        uint8_t *v = r->v + c * r->n;
        uint8_t *h = r->h + c * r->m;
        double *u = r->herd == NULL
                        ? NULL
                        : r->herd + (c * (r->n + r->m) + (hidden ? r->n : 0)) * GBSI_RBM_BINS;
        if (hidden) {
            conditional(r, member, v, r->n, r->w, r->b, r->wide_m, p);
        } else {
            conditional(r, member, h, r->m, r->wt, r->a, r->wide_n, p);
        }
        if (u == NULL) {
            draw_random(p, n, word, c - first, hidden ? h : v);
        } else {
            draw_herded(p, n, u, hidden ? h : v);
        }
    }
}

static void fill_group(gbsi_rbm *r, uint32_t member, size_t first)
{
    const size_t n_layer =
        r->n * r->wide_m / 8 +
        4 * (r->n + r->m); /* approximate operations for both layers of a chain */
    const size_t end = first + GROUP < r->n_chains ? first + GROUP : r->n_chains;
    for (size_t k = first; k < first + GROUP && k < r->n_batch; ++k) {
        const uint8_t *row = gbsi_row(r->rows, r->row[k]);
        conditional(r, member, row, r->n, r->w, r->b, r->wide_m, r->up + k * r->wide_m);
        if (r->options.method == GBS_RBM_CD && k < r->n_chains) {
            memcpy(r->v + k * r->n, row, r->n);
        }
        if (gbsi_rbm_stops(r, member, n_layer)) {
            return;
        }
    }
    for (uint64_t half = 0; first < end && half < 2 * r->options.sweeps; ++half) {
        draw_layer(r, member, first, end, half);
        if (gbsi_rbm_stops(r, member, GROUP * n_layer)) {
            return;
        }
    }
    for (size_t c = first; c < end; ++c) {
        conditional(r, member, r->v + c * r->n, r->n, r->w, r->b, r->wide_m,
                    r->down + c * r->wide_m);
    }
}

static void fill_groups(void *context, uint32_t member)
{
    gbsi_rbm *r = context;
    const size_t n = r->n_batch > r->n_chains ? r->n_batch : r->n_chains;
    size_t first = 0;
    while ((first = atomic_fetch_add(&r->next, GROUP)) < n &&
           !gbsi_watch_stopped(&r->work->watch)) {
        fill_group(r, member, first);
    }
}

/* ---- the weights ----------------------------------------------------------------------------- */

/* The cumulative penalty of Tsuruoka, Tsujii & Ananiadou (2009, ACL, 477-485). The penalty of the
 * steps so far moves a weight at most to 0; later steps apply the rest. @param owed in and out:
 * penalty that was applied to this weight so far. */
static double penalised(double w, double owing, double *owed)
{
    const double left = w > 0.0 ? w - (owing + *owed) : w + (owing - *owed);
    const double now = w > 0.0 ? (left > 0.0 ? left : 0.0) : w < 0.0 && left < 0.0 ? left : 0.0;
    *owed += now - w;
    return now;
}

/* W_ij += rate (mean over rows of v_i P(h_j | v) - its mean over chains - shrink W_ij); a_i moves
 * in the same way. @param g [2][wide_m] scratch. */
static void move_unit(gbsi_rbm *r, uint32_t *list, double *g, size_t i)
{
    const double shrink = r->options.l2 / (double)r->rows->n;
    double *w = r->w + i * r->wide_m;
    size_t n_rows = 0;
    size_t n_chains = 0;
    memset(g, 0, 2 * r->wide_m * sizeof *g);
    for (size_t k = 0; k < r->n_batch; ++k) {
        list[n_rows] = (uint32_t)k;
        n_rows += gbsi_row(r->rows, r->row[k])[i];
    }
    r->layers->sum_rows(r->up, r->wide_m, list, n_rows, g);
    for (size_t c = 0; c < r->n_chains; ++c) {
        list[n_chains] = (uint32_t)c;
        n_chains += r->v[c * r->n + i];
    }
    r->layers->sum_rows(r->down, r->wide_m, list, n_chains, g + r->wide_m);
    for (size_t j = 0; j < r->m; ++j) {
        w[j] += r->rate * (g[j] / (double)r->n_batch - g[r->wide_m + j] / (double)r->n_chains -
                           shrink * w[j]);
        if (r->options.l1 > 0.0) {
            w[j] = penalised(w[j], r->owing, r->owed + i * r->wide_m + j);
        }
        r->wt[j * r->wide_n + i] = w[j];
    }
    r->a[i] +=
        r->rate * ((double)n_rows / (double)r->n_batch - (double)n_chains / (double)r->n_chains);
}

static void move_units(void *context, uint32_t member)
{
    gbsi_rbm *r = context;
    size_t first = 0;
    while ((first = atomic_fetch_add(&r->next, UNITS_AT_ONCE)) < r->n) {
        for (size_t i = first; i < first + UNITS_AT_ONCE && i < r->n; ++i) {
            move_unit(r, r->list + member * r->n_list, r->p + member * r->wide, i);
        }
        (void)gbsi_rbm_stops(r, member, (r->n_batch + r->n_chains) * r->wide_m / 8 * UNITS_AT_ONCE);
    }
}

static void move_hidden(const gbsi_rbm *r)
{
    for (size_t j = 0; j < r->m; ++j) {
        double rows = 0.0;
        double chains = 0.0;
        for (size_t k = 0; k < r->n_batch; ++k) {
            rows += r->up[k * r->wide_m + j];
        }
        for (size_t c = 0; c < r->n_chains; ++c) {
            chains += r->down[c * r->wide_m + j];
        }
        r->b[j] += r->rate * (rows / (double)r->n_batch - chains / (double)r->n_chains);
    }
}

bool gbsi_rbm_sweep(gbsi_rbm *rbm)
{
    rbm->next = 0;
    gbsi_pool_run(rbm->work->pool, fill_groups, rbm);
    ++rbm->pass;
    return !gbsi_watch_stopped(&rbm->work->watch);
}

bool gbsi_rbm_step(gbsi_rbm *rbm)
{
    if (!gbsi_rbm_sweep(rbm)) {
        return false;
    }
    rbm->owing += rbm->rate * rbm->l1 / (double)rbm->rows->n;
    rbm->next = 0;
    gbsi_pool_run(rbm->work->pool, move_units, rbm);
    move_hidden(rbm);
    return true;
}
