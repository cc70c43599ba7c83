/* SPDX-License-Identifier: Apache-2.0 */
/* If links form cycles, exact sums would need junction trees of large width. Two objectives need
 * only the conditional probabilities of single labels given all other labels [M65]. For the
 * pseudo-likelihood (Besag 1975) the other labels are the true labels. For the likelihood, the
 * other labels come from a Markov chain that samples from the model (persistent contrastive
 * divergence, Younes 1989; Tieleman 2008). */
#include "crf/gradient.h"

#include <string.h>

#include "rng/philox.h"
#include "simd/math.h"

/* add_row() adds a row of a matrix of pairs of labels to the scores; add_column() adds a column. */
static void add_row(double *score, const double *pair, uint32_t row, size_t n_labels)
{
    for (size_t b = 0; b < n_labels; b++) {
        score[b] += pair[row * n_labels + b];
    }
}
static void add_column(double *score, const double *pair, uint32_t column, size_t n_labels)
{
    for (size_t a = 0; a < n_labels; a++) {
        score[a] += pair[a * n_labels + column];
    }
}

/* For each token of a pair, adds the log-weights of the pair to the scores of the token's labels,
 * given the label of the other token. */
static void add_pair(gbsi_gradient *g, size_t first, size_t second, uint32_t combination)
{
    const size_t n_labels = g->crf->labels.n;
    const double *pair = g->pairs.logw + combination * n_labels * n_labels;
    add_row(g->surplus + second * n_labels, pair, g->given[first], n_labels);
    add_column(g->surplus + first * n_labels, pair, g->given[second], n_labels);
}

/* Replaces the score of each label b by P(b | all other labels). @return ln P(label | all other
 * labels). */
static double normalise(double *score, uint32_t label, size_t n_labels)
{
    double largest = score[0];
    double sum = 0.0;
    for (size_t b = 1; b < n_labels; b++) {
        largest = score[b] > largest ? score[b] : largest;
    }
    const double of_label = score[label] - largest;
    for (size_t b = 0; b < n_labels; b++) {
        score[b] = gbsi_exp(score[b] - largest);
        sum += score[b];
    }
    for (size_t b = 0; b < n_labels; b++) {
        score[b] /= sum;
    }
    return of_label - gbsi_log(sum);
}

/* ---- the chain that samples ---------------------------------------------------------------- */

static uint32_t pick(const double *p, size_t n_labels, double at)
{
    uint32_t b = 0;
    while (b + 1 < n_labels && at >= p[b]) {
        at -= p[b++];
    }
    return b;
}

/* Draws the label of each token of a sequence given all other labels, in the order of the tokens.
 * @param score [n_labels] scratch. */
static void sweep(gbsi_gradient *g, const gbsi_crf_chain *chain, double *score)
{
    const gbsi_features *f = g->features;
    const size_t n_labels = g->crf->labels.n;
    const size_t n_pairs = n_labels * n_labels;
    const double *pairs = g->pairs.logw;
    const size_t end = chain->first + chain->n;
    uint32_t *y = g->state;
    for (size_t t = chain->first; t < end; t++) {
        uint32_t word[4];
        memcpy(score, chain->logw + (t - chain->first) * n_labels, n_labels * sizeof *score);
        if (t > chain->first) {
            add_row(score, pairs + f->combination[t] * n_pairs, y[t - 1], n_labels);
        }
        if (t + 1 < end) {
            add_column(score, pairs + f->combination[t + 1] * n_pairs, y[t + 1], n_labels);
        }
        for (size_t i = g->token_links.begin[t]; i < g->token_links.begin[t + 1]; i++) {
            const gbsi_link *link = &f->link[g->token_links.row[i]];
            const double *pair = pairs + link->combination * n_pairs;
            if (link->first == t) {
                add_column(score, pair, y[link->second], n_labels);
            } else {
                add_row(score, pair, y[link->first], n_labels);
            }
        }
        (void)normalise(score, 0, n_labels);
        gbsi_philox(g->seed, (uint32_t)(t >> 32), g->pass, (uint32_t)t, GBSI_PURPOSE_UPDATE, word);
        y[t] = pick(score, n_labels, gbsi_uniform(word[0], word[1]));
    }
}

/* ---- for pools ------------------------------------------------------------------------------ */

/* Computes surplus and log_p of one sequence. */
static void sum_sequence(gbsi_gradient *g, const gbsi_crf_chain *chain, size_t s)
{
    const gbsi_features *f = g->features;
    const size_t n_labels = g->crf->labels.n;
    const size_t first = chain->first;
    const size_t end = first + chain->n;
    memcpy(g->surplus + first * n_labels, chain->logw, chain->n * n_labels * sizeof *chain->logw);
    for (size_t t = first + 1; t < end; t++) {
        add_pair(g, t - 1, t, f->combination[t]);
    }
    for (size_t i = f->link_begin[s]; i < f->link_begin[s + 1]; i++) {
        add_pair(g, f->link[i].first, f->link[i].second, f->link[i].combination);
    }
    g->log_p[s] = 0.0;
    for (size_t t = first; t < end; t++) {
        g->log_p[s] += normalise(g->surplus + t * n_labels, g->truth[t], n_labels);
        g->surplus[t * n_labels + g->truth[t]] -= 1.0;
    }
}

void gbsi_pseudo_sequences(void *gradient, uint32_t member)
{
    gbsi_gradient *g = gradient;
    gbsi_crf_chain *chain = &g->chain[member];
    size_t s = 0;
    chain->weight = g->weight;
    while ((s = g->next++) < g->data->n && !gbsi_watch_stopped(&g->work->watch)) {
        const size_t n_links = g->features->link_begin[s + 1] - g->features->link_begin[s];
        gbsi_crf_chain_take(chain, g->data->first[s], g->data->first[s + 1]);
        if (g->objective == GBSI_CONTRAST) {
            sweep(g, chain, chain->best);
        }
        sum_sequence(g, chain, s);
        if (gbsi_gradient_stops(g, member, (8 * chain->n + 4 * n_links) * g->crf->labels.n)) {
            return;
        }
    }
}

/* Adds the surplus of a pair: the expected features minus the features of the true pair. For the
 * pseudo-likelihood, two expectations are added up, one for each token: the features of its labels
 * are averaged given the true label of the other token. For sampled labels, the expectation is the
 * mean of two terms: each takes the sampled label of one token, and the probabilities of the other
 * token's labels. */
static void take_pair(const gbsi_gradient *g, size_t first, size_t second, double *sum)
{
    const size_t n_labels = g->crf->labels.n;
    const bool samples = g->objective == GBSI_CONTRAST;
    const double share = samples ? 0.5 : 1.0;
    const uint32_t *y = g->given;
    for (size_t b = 0; b < n_labels; b++) {
        sum[y[first] * n_labels + b] += share * g->surplus[second * n_labels + b];
        sum[b * n_labels + y[second]] += share * g->surplus[first * n_labels + b];
    }
    if (samples) { /* the true label is already subtracted from surplus */
        sum[y[first] * n_labels + g->truth[second]] += share;
        sum[g->truth[first] * n_labels + y[second]] += share;
        sum[g->truth[first] * n_labels + g->truth[second]] -= 1.0;
    }
}

void gbsi_pseudo_pairs(void *gradient, uint32_t member)
{
    gbsi_gradient *g = gradient;
    const size_t n_labels = g->crf->labels.n;
    size_t c = 0;
    while ((c = g->next++) < g->pairs.n) {
        double *sum = g->pair_surplus + c * n_labels * n_labels;
        memset(sum, 0, n_labels * n_labels * sizeof *sum);
        for (size_t i = g->pair_tokens.begin[c]; i < g->pair_tokens.begin[c + 1]; i++) {
            const size_t t = g->pair_tokens.row[i];
            take_pair(g, t - 1, t, sum);
            if (gbsi_gradient_stops(g, member, 2 * n_labels)) {
                return;
            }
        }
        for (size_t i = g->pair_links.begin[c]; i < g->pair_links.begin[c + 1]; i++) {
            const gbsi_link *link = &g->features->link[g->pair_links.row[i]];
            take_pair(g, link->first, link->second, sum);
            if (gbsi_gradient_stops(g, member, 2 * n_labels)) {
                return;
            }
        }
    }
}
