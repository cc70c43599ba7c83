/* SPDX-License-Identifier: Apache-2.0 */
/* Let S(y) be the score of labels y by the weights of a direction d. H d is the covariance of S
 * with the features. Labels given x are a Markov chain; S is a sum of two parts, before and after a
 * token. Given the token's label, the expectation of each part is therefore a sum along the chain
 * [M73]. */
#include "crf/curvature.h"

#include <string.h>

#include "base/memory.h"
#include "rng/philox.h"

gbs_status gbsi_curvature_new(gbsi_curvature *curvature, gbs_error *err)
{
    gbsi_curvature *c = curvature;
    const gbsi_gradient *g = c->gradient;
    const size_t row = g->crf->labels.n * sizeof(double);
    c->past = gbsi_alloc_array(g->data->n_tokens, row);
    c->ahead = gbsi_alloc_array(g->data->n_tokens, row);
    return c->past == NULL || c->ahead == NULL
               ? gbsi_no_memory(err, "second derivatives", 2 * g->data->n_tokens * row)
               : gbsi_crf_pairs_new(g->crf, g->features, false, &c->along, err);
}

void gbsi_curvature_free(gbsi_curvature *curvature)
{
    GBSI_FREE(curvature->past, curvature->ahead);
    gbsi_crf_pairs_free(&curvature->along);
}

/* ---- one sequence ---------------------------------------------------------------------------- */

/* past_t(b) = s_t(b) + sum over a of P(y_(t-1) = a | y_t = b) (past_(t-1)(a) + e(a, b)), with P
 * proportional to alpha_(t-1)(a) M(a, b). @param s [L] score of the token's labels by the
 * direction. @param sum [L] scratch. */
static void step_past(const double *alpha, const double *scaled, const double *e, const double *s,
                      size_t n_labels, const double *before, double *sum, double *past)
{
    memset(sum, 0, n_labels * sizeof *sum);
    memset(past, 0, n_labels * sizeof *past);
    for (size_t a = 0; a < n_labels; a++) {
        for (size_t b = 0; b < n_labels; b++) {
            const double p = alpha[a] * scaled[a * n_labels + b];
            sum[b] += p;
            past[b] += p * (before[a] + e[a * n_labels + b]);
        }
    }
    for (size_t b = 0; b < n_labels; b++) {
        past[b] = s[b] + past[b] / sum[b];
    }
}

/* ahead_(t-1)(a) = s_(t-1)(a) + sum over b of P(y_t = b | y_(t-1) = a) (e(a, b) + ahead_t(b)), with
 * P proportional to M(a, b) after_t(b), whose sum is beta_(t-1)(a). @param s [L] of token t - 1. */
static void step_ahead(const double *after, const double *scaled, const double *e, const double *s,
                       size_t n_labels, const double *ahead, double *beta, double *before)
{
    for (size_t a = 0; a < n_labels; a++) {
        double sum = 0.0;
        double score = 0.0;
        for (size_t b = 0; b < n_labels; b++) {
            const double p = scaled[a * n_labels + b] * after[b];
            sum += p;
            score += p * (e[a * n_labels + b] + ahead[b]);
        }
        beta[a] = sum;
        before[a] = s[a] + score / sum;
    }
}

/* surplus_t(b) = Cov([y_t = b], S) = P(y_t = b) (E[S | y_t = b] - E S). */
static void finish_token(const gbsi_gradient *g, size_t t, const double *s, const double *beta,
                         double mean, double *past, const double *ahead)
{
    const size_t n_labels = g->crf->labels.n;
    for (size_t b = 0; b < n_labels; b++) {
        past[b] -= mean;
        g->surplus[t * n_labels + b] =
            g->alpha[t * n_labels + b] * beta[b] * (past[b] + ahead[b] - s[b]);
    }
}

static void sum_sequence(gbsi_curvature *c, gbsi_crf_chain *chain)
{
    const gbsi_gradient *g = c->gradient;
    const size_t n_labels = g->crf->labels.n;
    const size_t n_pairs = n_labels * n_labels;
    const size_t first = chain->first;
    double *past = c->past + first * n_labels;
    double *ahead = c->ahead + first * n_labels;
    double *beta = chain->best;
    double mean = 0.0;
    const size_t last = chain->n - 1;
    memcpy(past, chain->logw, n_labels * sizeof *past);
    for (size_t t = 1; t <= last; t++) {
        const size_t at = g->features->combination[first + t] * n_pairs;
        step_past(g->alpha + (first + t - 1) * n_labels, g->pairs.scaled + at, c->along.logw + at,
                  chain->logw + t * n_labels, n_labels, past + (t - 1) * n_labels, beta,
                  past + t * n_labels);
    }
    for (size_t b = 0; b < n_labels; b++) {
        mean += g->alpha[(first + last) * n_labels + b] * past[last * n_labels + b];
        beta[b] = 1.0;
    }
    memcpy(ahead + last * n_labels, chain->logw + last * n_labels, n_labels * sizeof *ahead);
    for (size_t t = last;; t--) {
        finish_token(g, first + t, chain->logw + t * n_labels, beta, mean, past + t * n_labels,
                     ahead + t * n_labels);
        if (t == 0) {
            return;
        }
        const size_t at = g->features->combination[first + t] * n_pairs;
        step_ahead(g->after + (first + t) * n_labels, g->pairs.scaled + at, c->along.logw + at,
                   chain->logw + (t - 1) * n_labels, n_labels, ahead + t * n_labels, beta,
                   ahead + (t - 1) * n_labels);
    }
}

/* ---- for pools ------------------------------------------------------------------------------- */

static void fill_pairs(void *context, uint32_t member)
{
    gbsi_curvature *c = context;
    gbsi_gradient *g = c->gradient;
    const uint64_t n_pairs = (uint64_t)g->crf->labels.n * g->crf->labels.n;
    size_t k = 0;
    while ((k = g->next++) < c->along.n && !gbsi_gradient_stops(g, member, n_pairs)) {
        gbsi_crf_pairs_fill(&c->along, (uint32_t)k, g->crf, g->features, c->direction);
    }
}

static void sum_sequences(void *context, uint32_t member)
{
    gbsi_curvature *c = context;
    gbsi_gradient *g = c->gradient;
    gbsi_crf_chain *chain = &g->chain[member];
    const uint64_t n_pairs = (uint64_t)g->crf->labels.n * g->crf->labels.n;
    size_t s = 0;
    chain->weight = c->direction;
    while ((s = g->next++) < g->data->n && !gbsi_watch_stopped(&g->work->watch)) {
        gbsi_crf_chain_take(chain, g->data->first[s], g->data->first[s + 1]);
        sum_sequence(c, chain);
        (void)gbsi_gradient_stops(g, member, 2 * n_pairs * chain->n);
    }
}

/* Sums Cov([y_(t-1) = a, y_t = b], S) over the tokens of each combination of features. */
static void sum_pairs(void *context, uint32_t member)
{
    gbsi_curvature *c = context;
    gbsi_gradient *g = c->gradient;
    const size_t n_labels = g->crf->labels.n;
    const size_t n_pairs = n_labels * n_labels;
    size_t k = 0;
    while ((k = g->next++) < g->pairs.n) {
        double *sum = g->pair_surplus + k * n_pairs;
        const double *e = c->along.logw + k * n_pairs;
        memset(sum, 0, n_pairs * sizeof *sum);
        for (size_t i = g->pair_tokens.begin[k]; i < g->pair_tokens.begin[k + 1]; i++) {
            const size_t t = g->pair_tokens.row[i];
            for (size_t a = 0; a < n_labels; a++) {
                const double alpha = g->alpha[(t - 1) * n_labels + a];
                const double past = c->past[(t - 1) * n_labels + a];
                for (size_t b = 0; b < n_labels; b++) {
                    sum[a * n_labels + b] +=
                        alpha * g->after[t * n_labels + b] *
                        (past + c->ahead[t * n_labels + b] + e[a * n_labels + b]);
                }
            }
            if (gbsi_gradient_stops(g, member, n_pairs)) {
                return;
            }
        }
        for (size_t i = 0; i < n_pairs; i++) {
            sum[i] *= g->pairs.scaled[k * n_pairs + i];
        }
    }
}

static void features(void *context, uint32_t member)
{
    gbsi_gradient_features(((gbsi_curvature *)context)->gradient, member);
}

/* Replaces surplus, which is P(y_t = b) minus [truth = b], by the variances of [y_t = b]. */
static void sum_variances(void *context, uint32_t member)
{
    gbsi_gradient *g = ((gbsi_curvature *)context)->gradient;
    const size_t n_labels = g->crf->labels.n;
    size_t s = 0;
    while ((s = g->next++) < g->data->n) {
        for (size_t t = g->data->first[s]; t < g->data->first[s + 1]; t++) {
            double *p = g->surplus + t * n_labels;
            p[g->truth[t]] += 1.0;
            for (size_t b = 0; b < n_labels; b++) {
                p[b] *= 1.0 - p[b];
            }
        }
        if (gbsi_gradient_stops(g, member, g->data->first[s + 1] - g->data->first[s])) {
            return;
        }
    }
}

static void sum_pair_variances(void *context, uint32_t member)
{
    gbsi_gradient *g = ((gbsi_curvature *)context)->gradient;
    const size_t n_labels = g->crf->labels.n;
    const size_t n_pairs = n_labels * n_labels;
    size_t k = 0;
    while ((k = g->next++) < g->pairs.n) {
        double *sum = g->pair_surplus + k * n_pairs;
        memset(sum, 0, n_pairs * sizeof *sum);
        for (size_t i = g->pair_tokens.begin[k]; i < g->pair_tokens.begin[k + 1]; i++) {
            const size_t t = g->pair_tokens.row[i];
            for (size_t j = 0; j < n_pairs; j++) {
                const double p = g->alpha[(t - 1) * n_labels + j / n_labels] *
                                 g->pairs.scaled[k * n_pairs + j] *
                                 g->after[t * n_labels + j % n_labels];
                sum[j] += p * (1.0 - p);
            }
            if (gbsi_gradient_stops(g, member, 2 * n_pairs)) {
                return;
            }
        }
    }
}

/* @return a label b, drawn with probability p(b) / sum of p. */
static uint32_t pick(const double *p, size_t n_labels, double uniform)
{
    double at = 0.0;
    for (size_t b = 0; b < n_labels; b++) {
        at += p[b];
    }
    at *= uniform;
    uint32_t b = 0;
    while (b + 1 < n_labels && at >= p[b]) {
        at -= p[b++];
    }
    return b;
}

/* Draws the last label of a sequence with probabilities proportional to alpha. Then draws each
 * earlier label by P(y_(t-1) = a | y_t = b), which is proportional to alpha_(t-1)(a) M(a, b). */
static void draw_sequences(void *context, uint32_t member)
{
    const gbsi_curvature *c = context;
    gbsi_gradient *g = c->gradient;
    const size_t n_labels = g->crf->labels.n;
    double *p = g->chain[member].best;
    size_t s = 0;
    while ((s = g->next++) < g->data->n) {
        for (size_t t = g->data->first[s + 1]; t-- > g->data->first[s];) {
            const bool last = t + 1 == g->data->first[s + 1];
            const double *pair = last ? NULL
                                      : g->pairs.scaled +
                                            g->features->combination[t + 1] * n_labels * n_labels +
                                            g->state[t + 1];
            uint32_t word[4];
            for (size_t a = 0; a < n_labels; a++) {
                p[a] = g->alpha[t * n_labels + a] * (last ? 1.0 : pair[a * n_labels]);
            }
            gbsi_philox(c->seed, (uint32_t)c->probe, 2, (uint32_t)t, GBSI_PURPOSE_PROBE, word);
            g->state[t] = pick(p, n_labels, gbsi_uniform(word[0], word[1]));
            if (gbsi_gradient_stops(g, member, 4 * n_labels)) {
                return;
            }
        }
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* @return false if the watch stopped the work. */
static bool run_steps(gbsi_curvature *c, size_t n, void (*const *step)(void *, uint32_t))
{
    gbsi_gradient *g = c->gradient;
    for (size_t k = 0; k < n; k++) {
        g->next = 0;
        gbsi_pool_run(g->work->pool, step[k], c);
    }
    return !gbsi_watch_stopped(&g->work->watch);
}

bool gbsi_curvature_product(gbsi_curvature *curvature, const double *direction, double l2,
                            double *product)
{
    void (*const steps[])(void *, uint32_t) = {fill_pairs, sum_sequences, sum_pairs, features};
    gbsi_gradient *g = curvature->gradient;
    curvature->direction = direction;
    g->weight = direction; /* gbsi_gradient_features() adds l2 times these weights */
    g->l2 = l2;
    g->out = product;
    return run_steps(curvature, sizeof steps / sizeof steps[0], steps);
}

bool gbsi_curvature_diagonal(gbsi_curvature *curvature, double l2, double *diagonal)
{
    void (*const steps[])(void *, uint32_t) = {sum_variances, sum_pair_variances, features};
    gbsi_gradient *g = curvature->gradient;
    g->l2 = 0.0;
    g->out = diagonal;
    const bool whole = run_steps(curvature, sizeof steps / sizeof steps[0], steps);
    for (uint64_t i = 0; i < g->crf->n_weights; i++) {
        diagonal[i] += l2;
    }
    return whole;
}

bool gbsi_curvature_draw(gbsi_curvature *curvature, uint64_t seed, uint64_t probe)
{
    void (*const steps[])(void *, uint32_t) = {draw_sequences};
    curvature->seed = seed;
    curvature->probe = probe;
    return run_steps(curvature, 1, steps);
}
