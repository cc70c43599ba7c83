/* SPDX-License-Identifier: Apache-2.0 */
/* Learns weights by stochastic approximation (Robbins & Monro 1951). A Markov chain samples labels
 * from the model while the weights move; its labels estimate the model's expectations (Younes 1989)
 * [M65]. */
#include <string.h>

#include "base/memory.h"
#include "crf/gradient.h"
#include "simd/math.h"

#define FASTEST                                                                                  \
    0.5 /* length of the longest step, as a share of Newton's step for the weight of one feature \
           alone */
#define SLOWING 0.1 /* share of all steps after which a step has half its first length */
/* the weights are averaged over this share of the steps, at the end (Polyak & Juditsky 1992) */
#define MEAN_OF 0.5

/* Computes a bound on the second derivative by each weight: the variance of an indicator is at most
 * 1/4. */
static void bound_curvature(const gbsi_gradient *g, double l2, double *curvature)
{
    const gbs_crf *crf = g->crf;
    const size_t n_labels = crf->labels.n;
    for (size_t f = 0; f < crf->features.n; f++) {
        const double n_tokens = (double)(g->tokens.begin[f + 1] - g->tokens.begin[f]);
        double n_pairs = 0.0;
        for (size_t i = g->combinations.begin[f]; i < g->combinations.begin[f + 1]; i++) {
            const uint32_t c = g->combinations.row[i];
            n_pairs += (double)(g->pair_tokens.begin[c + 1] - g->pair_tokens.begin[c]);
            n_pairs += (double)(g->pair_links.begin[c + 1] - g->pair_links.begin[c]);
        }
        for (size_t y = 0; crf->unigram[f] != GBSI_NO_WEIGHT && y < n_labels; y++) {
            curvature[crf->unigram[f] + y] = l2 + 0.25 * n_tokens;
        }
        for (size_t k = 0; crf->bigram[f] != GBSI_NO_WEIGHT && k < n_labels * n_labels; k++) {
            curvature[crf->bigram[f] + k] = l2 + 0.25 * n_pairs;
        }
    }
}

/* @return the mean number of features of a token and its links. This is the number of weights that
 * change the score of a token together. */
static double features_each(const gbsi_gradient *g)
{
    const gbsi_features *f = g->features;
    const double n_tokens = (double)g->data->n_tokens;
    return 1.0 + ((double)f->n + 2.0 * (double)f->n_links) / n_tokens;
}

static void move(const gbsi_gradient *g, const double *out, const double *curvature, double length,
                 double *weight)
{
    for (uint64_t i = 0; i < g->crf->n_weights; i++) {
        weight[i] -= length * out[i] / curvature[i];
    }
}

/* @return the distance by which the mean moved after the middle of the averaged steps, as a share
 * of the length of the mean. If the steps together are shorter than one step of Newton's method,
 * the distance is divided by their total length, because short steps must not look like
 * convergence. @param length total length of the steps after the middle; 0 before the first of
 * them. */
static double drift(const double *mean, const double *middle, uint64_t n, double length)
{
    double moved = 0.0;
    double size = 0.0;
    for (uint64_t i = 0; i < n; i++) {
        moved += (mean[i] - middle[i]) * (mean[i] - middle[i]);
        size += mean[i] * mean[i];
    }
    if (length == 0.0 || moved == 0.0) { /* without steps the weights do not move */
        return length == 0.0 ? 1.0 : 0.0;
    }
    return gbsi_sqrt(moved / size) / (length < 1.0 ? length : 1.0);
}

gbs_status gbsi_contrast(gbsi_gradient *gradient, double l2, uint64_t steps, double *weight,
                         double *change, void (*tell)(void *context, const double *slope),
                         void *context, gbs_error *err)
{
    gbsi_gradient *g = gradient;
    const uint64_t n = g->crf->n_weights;
    const double fastest = FASTEST / features_each(g);
    const uint64_t first = (uint64_t)(MEAN_OF * (double)steps);
    const uint64_t middle = first + (steps - first) / 2;
    double length = 0.0; /* total length of the steps after the middle */
    double *out = gbsi_alloc_array(n, sizeof *out);
    double *curvature = gbsi_alloc_array(n, sizeof *curvature);
    double *mean = gbsi_alloc_array_zero(n, sizeof *mean);
    double *half = gbsi_alloc_array_zero(n, sizeof *half);
    gbs_status status = GBS_OK;
    GBSI_TRY(GBSI_HAVE(err, "steps of learning", out, curvature, mean, half));
    bound_curvature(g, l2, curvature);
    gbsi_gradient_turn(g, GBSI_CONTRAST);
    for (uint64_t k = 0; k < steps; k++) {
        (void)gbsi_gradient_at(g, weight, l2, out);
        if (gbsi_watch_stopped(&g->work->watch)) {
            status = gbsi_watch_fail(err, "learning");
            goto cleanup;
        }
        const double step = fastest / (1.0 + (double)k / (SLOWING * (double)steps));
        move(g, out, curvature, step, weight);
        length += k > middle ? step : 0.0;
        if (k >= first) {
            const double share = 1.0 / (double)(k - first + 1);
            for (uint64_t i = 0; i < n; i++) {
                mean[i] += share * (weight[i] - mean[i]);
            }
        }
        if (k == middle) {
            memcpy(half, mean, n * sizeof *half);
        }
        g->work->progress.pass++;
        if (tell != NULL) {
            tell(context, out);
        }
    }
    *change = drift(mean, half, n, length);
    memcpy(weight, mean, n * sizeof *mean);

cleanup:
    GBSI_FREE(out, curvature, mean, half);
    return status;
}
