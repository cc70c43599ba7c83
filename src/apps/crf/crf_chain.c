/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/crf_chain.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"

/* ---- pairs --------------------------------------------------------------------------------- */

gbs_status gbsi_crf_pairs_new(const gbs_crf *crf, const gbsi_features *features, bool sums,
                              gbsi_crf_pairs *pairs, gbs_error *err)
{
    const size_t n = features->n_combinations;
    const size_t n_pairs = (size_t)crf->labels.n * crf->labels.n;
    gbsi_crf_pairs made = {.n_labels = crf->labels.n, .n = features->n_combinations};
    made.logw = gbsi_alloc_array(n, n_pairs * sizeof *made.logw);
    made.scaled = sums ? gbsi_alloc_array(n, n_pairs * sizeof *made.scaled) : NULL;
    made.largest = gbsi_alloc_array(n, sizeof *made.largest);
    made.span = gbsi_alloc_array(n, sizeof *made.span);
    if (made.logw == NULL || (sums && made.scaled == NULL) || made.largest == NULL ||
        made.span == NULL) {
        gbsi_crf_pairs_free(&made);
        return gbsi_no_memory(err, "pairs of labels", n * n_pairs * 2 * sizeof *made.logw);
    }
    *pairs = made;
    return GBS_OK;
}

/* Adds the n weights of a feature to x[0] to x[n - 1]. */
static void add_weights(double *x, const double *weight, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] += weight[i];
    }
}

/* scaled = exp(logw - largest). @param span out: largest minus smallest log-weight. @return the
 * largest log-weight. */
static double scale_weights(const double *logw, size_t n, double *scaled, double *span)
{
    double largest = logw[0];
    double least = logw[0];
    for (size_t i = 1; i < n; i++) {
        largest = logw[i] > largest ? logw[i] : largest;
        least = logw[i] < least ? logw[i] : least;
    }
    *span = largest - least;
    for (size_t i = 0; scaled != NULL && i < n; i++) {
        scaled[i] = gbsi_exp(logw[i] - largest);
    }
    return largest;
}

void gbsi_crf_pairs_fill(gbsi_crf_pairs *pairs, uint32_t c, const gbs_crf *crf,
                         const gbsi_features *features, const double *weight)
{
    const size_t n_pairs = (size_t)pairs->n_labels * pairs->n_labels;
    double *logw = pairs->logw + c * n_pairs;
    memset(logw, 0, n_pairs * sizeof *logw);
    for (size_t i = features->combination_begin[c]; i < features->combination_begin[c + 1]; i++) {
        add_weights(logw, weight + crf->bigram[features->combination_feature[i]], n_pairs);
    }
    pairs->largest[c] = scale_weights(
        logw, n_pairs, pairs->scaled == NULL ? NULL : pairs->scaled + c * n_pairs, &pairs->span[c]);
}

void gbsi_crf_pairs_free(gbsi_crf_pairs *pairs)
{
    GBSI_FREE(pairs->logw, pairs->scaled, pairs->largest, pairs->span);
    *pairs = (gbsi_crf_pairs){0};
}

/* ---- one sequence -------------------------------------------------------------------------- */

gbs_status gbsi_crf_chain_new(gbsi_crf_chain *chain, size_t most_tokens, gbs_error *err)
{
    const size_t n_labels = chain->crf->labels.n;
    const size_t row = n_labels * sizeof(double);
    chain->logw = gbsi_alloc_array(most_tokens, row);
    chain->scaled = gbsi_alloc_array(most_tokens, row);
    chain->scale = gbsi_alloc_array(most_tokens, sizeof *chain->scale);
    chain->best = gbsi_alloc_array(2, row);
    chain->before = gbsi_alloc_array(most_tokens, n_labels * sizeof *chain->before);
    if (chain->logw == NULL || chain->scaled == NULL || chain->scale == NULL ||
        chain->best == NULL || chain->before == NULL) {
        gbsi_crf_chain_free(chain);
        return gbsi_no_memory(err, "a sequence", 3 * most_tokens * row);
    }
    return GBS_OK;
}

void gbsi_crf_chain_free(gbsi_crf_chain *chain)
{
    GBSI_FREE(chain->logw, chain->scaled, chain->scale, chain->best, chain->before);
    chain->logw = chain->scaled = chain->scale = chain->best = NULL;
    chain->before = NULL;
}

static bool stops(const gbsi_crf_chain *chain, uint64_t n_operations)
{
    return chain->spends ? gbsi_watch_spend(chain->watch, n_operations)
                         : gbsi_watch_stopped(chain->watch);
}

void gbsi_crf_chain_take(gbsi_crf_chain *chain, size_t first, size_t end)
{
    const gbsi_features *f = chain->features;
    const size_t n_labels = chain->crf->labels.n;
    chain->first = first;
    chain->n = end - first;
    memset(chain->logw, 0, chain->n * n_labels * sizeof *chain->logw);
    for (size_t t = first; t < end; t++) {
        double *logw = chain->logw + (t - first) * n_labels;
        for (size_t i = f->begin[t]; i < f->begin[t + 1]; i++) {
            add_weights(logw, chain->weight + chain->crf->unigram[f->feature[i]], n_labels);
        }
        if (stops(chain, (f->begin[t + 1] - f->begin[t]) * n_labels)) {
            return;
        }
    }
}

/* @return the number of the combination of features that the tokens t - 1 and t of the sequence
 * have; t > 0. */
static uint32_t combination_at(const gbsi_crf_chain *chain, size_t t)
{
    return chain->features->combination[chain->first + t];
}

double gbsi_crf_chain_score(const gbsi_crf_chain *chain, const uint32_t *label)
{
    const size_t n_labels = chain->crf->labels.n;
    double score = 0.0;
    for (size_t t = 0; t < chain->n; t++) {
        score += chain->logw[t * n_labels + label[t]];
        if (t > 0) {
            const size_t row = combination_at(chain, t) * n_labels + label[t - 1];
            score += chain->pairs->logw[row * n_labels + label[t]];
        }
    }
    return score;
}

/* next(b) = max over a of best(a) + pair(a, b); among equal sums the first a is chosen. */
static void step_best(const double *best, const double *pair, size_t n_labels, double *next,
                      uint32_t *before)
{
    for (size_t b = 0; b < n_labels; b++) {
        next[b] = best[0] + pair[b];
        before[b] = 0;
    }
    for (size_t a = 1; a < n_labels; a++) {
        for (size_t b = 0; b < n_labels; b++) {
            const double score = best[a] + pair[a * n_labels + b];
            const bool better = score > next[b];
            next[b] = better ? score : next[b];
            before[b] = better ? (uint32_t)a : before[b];
        }
    }
}

void gbsi_crf_chain_best(gbsi_crf_chain *chain, uint32_t *label)
{
    const size_t n_labels = chain->crf->labels.n;
    double *best = chain->best;
    double *next = chain->best + n_labels;
    memcpy(best, chain->logw, n_labels * sizeof *best);
    for (size_t t = 1; t < chain->n; t++) {
        step_best(best, chain->pairs->logw + combination_at(chain, t) * n_labels * n_labels,
                  n_labels, next, chain->before + t * n_labels);
        add_weights(next, chain->logw + t * n_labels, n_labels);
        double *free_row = best;
        best = next;
        next = free_row;
        if (stops(chain, n_labels * n_labels)) {
            return;
        }
    }
    uint32_t y = 0;
    for (uint32_t b = 1; b < n_labels; b++) {
        y = best[b] > best[y] ? b : y;
    }
    label[chain->n - 1] = y;
    for (size_t t = chain->n - 1; t > 0; t--) {
        label[t - 1] = chain->before[t * n_labels + label[t]];
    }
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* alpha(b) = scaled(b) * sum over a of before(a) pair(a, b), divided by the sum of these products
 * over b. @return this sum. */
static double step_forward(const double *before, const double *pair, const double *scaled,
                           size_t n_labels, double *alpha)
{
    double sum = 0.0;
    memset(alpha, 0, n_labels * sizeof *alpha);
    for (size_t a = 0; a < n_labels; a++) {
        const double weight = before[a];
        for (size_t b = 0; b < n_labels; b++) {
            alpha[b] += weight * pair[a * n_labels + b];
        }
    }
    for (size_t b = 0; b < n_labels; b++) {
        alpha[b] *= scaled[b];
        sum += alpha[b];
    }
    for (size_t b = 0; b < n_labels; b++) {
        alpha[b] /= sum;
    }
    return sum;
}

/* after(b) = scaled(b) beta(b) / scale; beta of the previous token = pair times after. */
static void step_back(const double *beta, const double *pair, const double *scaled, double scale,
                      size_t n_labels, double *after, double *beta_before)
{
    for (size_t b = 0; b < n_labels; b++) {
        after[b] = scaled[b] * beta[b] / scale;
    }
    for (size_t a = 0; a < n_labels; a++) {
        double sum = 0.0;
        for (size_t b = 0; b < n_labels; b++) {
            sum += pair[a * n_labels + b] * after[b];
        }
        beta_before[a] = sum;
    }
}

/* Computes chain->scaled of all tokens. @param taken out: sum of the largest log-weights, one of
 * each token and of each pair of neighbours, which are subtracted.
 * @return the value that gbsi_crf_chain_sum() returns. */
static size_t scale_all(gbsi_crf_chain *chain, double *taken)
{
    const size_t n_labels = chain->crf->labels.n;
    *taken = 0.0;
    for (size_t t = 0; t < chain->n; t++) {
        double span = 0.0;
        *taken += scale_weights(chain->logw + t * n_labels, n_labels, chain->scaled + t * n_labels,
                                &span);
        if (t > 0) {
            *taken += chain->pairs->largest[combination_at(chain, t)];
            span += chain->pairs->span[combination_at(chain, t)];
        }
        if (!(span <= GBSI_MOST_SPAN)) {
            return t;
        }
    }
    return chain->n;
}

size_t gbsi_crf_chain_sum(gbsi_crf_chain *chain, double *alpha, double *beta, double *after,
                          double *log_z)
{
    const size_t n_labels = chain->crf->labels.n;
    const size_t n_pairs = n_labels * n_labels;
    const size_t n = chain->n;
    double total = 0.0;
    const size_t bad = scale_all(chain, &total);
    if (bad < n) {
        return bad;
    }
    double sum = 0.0;
    for (size_t b = 0; b < n_labels; b++) {
        sum += chain->scaled[b];
    }
    for (size_t b = 0; b < n_labels; b++) {
        alpha[b] = chain->scaled[b] / sum;
    }
    chain->scale[0] = sum;
    for (size_t t = 1; t < n && !stops(chain, n_pairs); t++) {
        chain->scale[t] = step_forward(
            alpha + (t - 1) * n_labels, chain->pairs->scaled + combination_at(chain, t) * n_pairs,
            chain->scaled + t * n_labels, n_labels, alpha + t * n_labels);
    }
    for (size_t b = 0; b < n_labels; b++) {
        beta[(n - 1) * n_labels + b] = 1.0;
    }
    memset(after, 0, n_labels * sizeof *after); /* no pair ends at the first token */
    for (size_t t = n - 1; t > 0 && !stops(chain, n_pairs); t--) {
        step_back(beta + t * n_labels, chain->pairs->scaled + combination_at(chain, t) * n_pairs,
                  chain->scaled + t * n_labels, chain->scale[t], n_labels, after + t * n_labels,
                  beta + (t - 1) * n_labels);
    }
    for (size_t t = 0; t < n && !gbsi_watch_stopped(chain->watch); t++) {
        total += gbsi_log(chain->scale[t]);
    }
    *log_z = total;
    return n;
}
