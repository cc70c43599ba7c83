/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/gradient.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"

enum { FEATURES_AT_ONCE = 256 };

/* ---- who holds what ------------------------------------------------------------------------ */

/* Finds, for each item, the rows that contain the item. @param begin [n_rows + 1] where the items
 * of each row begin.
 */
static gbs_status find_holders(size_t n_rows, const size_t *begin, const uint32_t *item,
                               size_t n_items, gbsi_holders *holders, gbs_error *err)
{
    const size_t n = begin[n_rows];
    gbsi_holders h = {.begin = gbsi_alloc_array_zero(n_items + 2, sizeof *h.begin),
                      .row = gbsi_alloc_array(n, sizeof *h.row)};
    if (h.begin == NULL || h.row == NULL) {
        GBSI_FREE(h.begin, h.row);
        return gbsi_no_memory(err, "tokens of features", (n + n_items) * sizeof *h.begin);
    }
    for (size_t i = 0; i < n; i++) {
        h.begin[item[i] + (size_t)2]++;
    }
    for (size_t k = 2; k < n_items + 2; k++) {
        h.begin[k] += h.begin[k - 1];
    }
    for (size_t r = 0; r < n_rows; r++) { /* begin[k + 1] moves to the end of the rows of item k */
        for (size_t i = begin[r]; i < begin[r + 1]; i++) {
            h.row[h.begin[item[i] + (size_t)1]++] = (uint32_t)r;
        }
    }
    *holders = h;
    return GBS_OK;
}

/* Lists, for each combination, the tokens whose pair with the previous token has the combination.
 */
static gbs_status find_pair_tokens(gbsi_gradient *g, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_sequences *data = g->data;
    size_t *begin = gbsi_alloc_array(data->n_tokens + 1, sizeof *begin);
    uint32_t *item = gbsi_alloc_array(data->n_tokens, sizeof *item);
    size_t n = 0;
    GBSI_TRY(GBSI_HAVE(err, "tokens of pairs", begin, item));
    for (size_t s = 0; s < data->n; s++) {
        for (size_t t = data->first[s]; t < data->first[s + 1]; t++) {
            begin[t] = n;
            if (t > data->first[s]) {
                item[n++] = g->features->combination[t];
            }
        }
    }
    begin[data->n_tokens] = n;
    GBSI_TRY(find_holders(data->n_tokens, begin, item, g->features->n_combinations, &g->pair_tokens,
                          err));

cleanup:
    GBSI_FREE(begin, item);
    return status;
}

/* Lists the links of each combination and of each token. */
static gbs_status find_pair_links(gbsi_gradient *g, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_features *f = g->features;
    size_t *begin = gbsi_alloc_array(f->n_links + 1, sizeof *begin);
    uint32_t *item = gbsi_alloc_array(f->n_links, 2 * sizeof *item);
    if (begin == NULL || item == NULL || f->n_links >= UINT32_MAX) {
        status = gbsi_no_memory(err, "links", f->n_links * sizeof *begin);
        goto cleanup;
    }
    for (size_t i = 0; i < f->n_links; i++) {
        begin[i] = i;
        item[i] = f->link[i].combination;
    }
    begin[f->n_links] = f->n_links;
    GBSI_TRY(find_holders(f->n_links, begin, item, f->n_combinations, &g->pair_links, err));
    for (size_t i = 0; i < f->n_links; i++) {
        begin[i] = 2 * i;
        item[2 * i] = (uint32_t)f->link[i].first;
        item[2 * i + 1] = (uint32_t)f->link[i].second;
    }
    begin[f->n_links] = 2 * f->n_links;
    GBSI_TRY(find_holders(f->n_links, begin, item, g->data->n_tokens, &g->token_links, err));

cleanup:
    GBSI_FREE(begin, item);
    return status;
}

/* ---- making it ----------------------------------------------------------------------------- */

static gbs_status take_memory(gbsi_gradient *g, gbs_error *err)
{
    const size_t row = g->crf->labels.n * sizeof(double);
    const size_t n_tokens = g->data->n_tokens;
    const uint32_t n_members = gbsi_pool_size(g->work->pool);
    size_t longest = 0;
    g->alpha = gbsi_alloc_array(n_tokens, row);
    g->surplus = gbsi_alloc_array(n_tokens, row);
    g->after = gbsi_alloc_array(n_tokens, row);
    g->log_p = gbsi_alloc_array(g->data->n, sizeof *g->log_p);
    g->state = gbsi_alloc_array(n_tokens, sizeof *g->state);
    g->pair_surplus = gbsi_alloc_array(g->features->n_combinations, row * g->crf->labels.n);
    g->chain = gbsi_alloc_array_zero(n_members, sizeof *g->chain);
    GBSI_PASS(GBSI_HAVE(err, "a gradient", g->alpha, g->surplus, g->after, g->log_p,
                        g->pair_surplus, g->state, g->chain));
    memcpy(g->state, g->truth, n_tokens * sizeof *g->state);
    gbsi_gradient_turn(g, GBSI_EXACT);
    for (size_t s = 0; s < g->data->n; s++) {
        const size_t n = g->data->first[s + 1] - g->data->first[s];
        longest = n > longest ? n : longest;
    }
    GBSI_PASS(gbsi_crf_pairs_new(g->crf, g->features, true, &g->pairs, err));
    for (uint32_t i = 0; i < n_members; i++) {
        g->chain[i] = (gbsi_crf_chain){.crf = g->crf,
                                       .features = g->features,
                                       .pairs = &g->pairs,
                                       .watch = &g->work->watch,
                                       .spends = i == 0};
        GBSI_PASS(gbsi_crf_chain_new(&g->chain[i], longest, err));
    }
    return GBS_OK;
}

gbs_status gbsi_gradient_new(const gbs_crf *crf, const gbs_sequences *data,
                             const gbsi_features *features, const uint32_t *truth, gbsi_work *work,
                             gbsi_gradient *gradient, gbs_error *err)
{
    gbsi_gradient *g = gradient;
    g->crf = crf;
    g->data = data;
    g->features = features;
    g->truth = truth;
    g->work = work;
    if (data->n_tokens >= UINT32_MAX) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "found %zu token%s, learning takes fewer than 2^32",
                         data->n_tokens, gbsi_plural(data->n_tokens));
    }
    GBSI_PASS(find_holders(data->n_tokens, features->begin, features->feature, crf->features.n,
                           &g->tokens, err));
    GBSI_PASS(find_holders(features->n_combinations, features->combination_begin,
                           features->combination_feature, crf->features.n, &g->combinations, err));
    GBSI_PASS(find_pair_tokens(g, err));
    GBSI_PASS(find_pair_links(g, err));
    return take_memory(g, err);
}

static void holders_free(gbsi_holders *holders)
{
    GBSI_FREE(holders->begin, holders->row);
}

void gbsi_gradient_free(gbsi_gradient *gradient)
{
    gbsi_gradient *g = gradient;
    const uint32_t n_members = g->chain == NULL ? 0 : gbsi_pool_size(g->work->pool);
    for (uint32_t i = 0; i < n_members; i++) {
        gbsi_crf_chain_free(&g->chain[i]);
    }
    GBSI_FREE(g->chain, g->alpha, g->surplus, g->after, g->log_p, g->pair_surplus);
    gbsi_crf_pairs_free(&g->pairs);
    holders_free(&g->tokens);
    holders_free(&g->pair_tokens);
    holders_free(&g->pair_links);
    holders_free(&g->token_links);
    gbsi_free(g->state);
    holders_free(&g->combinations);
    *g = (gbsi_gradient){0};
}

/* ---- at some weights ----------------------------------------------------------------------- */

bool gbsi_gradient_stops(gbsi_gradient *gradient, uint32_t member, uint64_t n_operations)
{
    return member == 0 ? gbsi_watch_spend(&gradient->work->watch, n_operations)
                       : gbsi_watch_stopped(&gradient->work->watch);
}

static void add(double *sum, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sum[i] += x[i];
    }
}

static void fill_pairs(void *context, uint32_t member)
{
    gbsi_gradient *g = context;
    const uint64_t n_pairs = (uint64_t)g->crf->labels.n * g->crf->labels.n;
    size_t c = 0;
    while ((c = g->next++) < g->pairs.n && !gbsi_gradient_stops(g, member, 8 * n_pairs)) {
        gbsi_crf_pairs_fill(&g->pairs, (uint32_t)c, g->crf, g->features, g->weight);
    }
}

static void sum_sequences(void *context, uint32_t member)
{
    gbsi_gradient *g = context;
    gbsi_crf_chain *chain = &g->chain[member];
    const size_t n_labels = g->crf->labels.n;
    size_t s = 0;
    chain->weight = g->weight;
    while ((s = g->next++) < g->data->n && !gbsi_watch_stopped(&g->work->watch)) {
        const size_t first = g->data->first[s];
        double *alpha = g->alpha + first * n_labels;
        double *surplus =
            g->surplus + first * n_labels; /* the memory of `surplus` holds beta at first */
        double log_z = 0.0;
        gbsi_crf_chain_take(chain, first, g->data->first[s + 1]);
        if (gbsi_crf_chain_sum(chain, alpha, surplus, g->after + first * n_labels, &log_z) <
            chain->n) {
            g->wide = true;
            return;
        }
        g->log_p[s] = gbsi_crf_chain_score(chain, g->truth + first) - log_z;
        for (size_t i = 0; i < chain->n * n_labels; i++) {
            surplus[i] *= alpha[i];
        }
        for (size_t t = 0; t < chain->n; t++) {
            surplus[t * n_labels + g->truth[first + t]] -= 1.0;
        }
    }
}

/* pair_surplus(a, b) = sum over tokens of alpha_(t-1)(a) M(a, b) after_t(b), minus the number of
 * tokens with the true pair (a, b). */
static void sum_pairs(void *context, uint32_t member)
{
    gbsi_gradient *g = context;
    const size_t n_labels = g->crf->labels.n;
    size_t c = 0;
    while ((c = g->next++) < g->pairs.n) {
        double *sum = g->pair_surplus + c * n_labels * n_labels;
        const double *scaled = g->pairs.scaled + c * n_labels * n_labels;
        memset(sum, 0, n_labels * n_labels * sizeof *sum);
        for (size_t i = g->pair_tokens.begin[c]; i < g->pair_tokens.begin[c + 1]; i++) {
            const size_t t = g->pair_tokens.row[i];
            for (size_t a = 0; a < n_labels; a++) {
                const double before = g->alpha[(t - 1) * n_labels + a];
                for (size_t b = 0; b < n_labels; b++) {
                    sum[a * n_labels + b] += before * g->after[t * n_labels + b];
                }
            }
            if (gbsi_gradient_stops(g, member, n_labels * n_labels)) {
                return;
            }
        }
        for (size_t k = 0; k < n_labels * n_labels; k++) {
            sum[k] *= scaled[k];
        }
        for (size_t i = g->pair_tokens.begin[c]; i < g->pair_tokens.begin[c + 1]; i++) {
            const size_t t = g->pair_tokens.row[i];
            sum[g->truth[t - 1] * n_labels + g->truth[t]] -= 1.0;
        }
    }
}

/* Computes the derivatives by the weights of one feature. @return the number of operations. */
static uint64_t sum_feature(gbsi_gradient *g, size_t f)
{
    const gbs_crf *crf = g->crf;
    const size_t n_labels = crf->labels.n;
    const size_t n_pairs = n_labels * n_labels;
    uint64_t n_operations = 1;
    if (crf->unigram[f] != GBSI_NO_WEIGHT) {
        double *out = g->out + crf->unigram[f];
        for (size_t y = 0; y < n_labels; y++) {
            out[y] = g->l2 * g->weight[crf->unigram[f] + y];
        }
        for (size_t i = g->tokens.begin[f]; i < g->tokens.begin[f + 1]; i++) {
            add(out, g->surplus + g->tokens.row[i] * n_labels, n_labels);
        }
        n_operations += n_labels * (g->tokens.begin[f + 1] - g->tokens.begin[f]);
    }
    if (crf->bigram[f] != GBSI_NO_WEIGHT) {
        double *out = g->out + crf->bigram[f];
        for (size_t k = 0; k < n_pairs; k++) {
            out[k] = g->l2 * g->weight[crf->bigram[f] + k];
        }
        for (size_t i = g->combinations.begin[f]; i < g->combinations.begin[f + 1]; i++) {
            add(out, g->pair_surplus + g->combinations.row[i] * n_pairs, n_pairs);
        }
        n_operations += n_pairs * (g->combinations.begin[f + 1] - g->combinations.begin[f]);
    }
    return n_operations;
}

void gbsi_gradient_features(void *gradient, uint32_t member)
{
    gbsi_gradient *g = gradient;
    const size_t n = g->crf->features.n;
    size_t f = 0;
    while ((f = g->next) < n && (f = atomic_fetch_add(&g->next, FEATURES_AT_ONCE)) < n) {
        const size_t end = n - f < FEATURES_AT_ONCE ? n : f + FEATURES_AT_ONCE;
        for (; f < end; f++) {
            if (gbsi_gradient_stops(g, member, sum_feature(g, f))) {
                return;
            }
        }
    }
}

void gbsi_gradient_turn(gbsi_gradient *gradient, gbsi_objective objective)
{
    gradient->objective = objective;
    gradient->given = objective == GBSI_CONTRAST ? gradient->state : gradient->truth;
}

double gbsi_gradient_at(gbsi_gradient *gradient, const double *weight, double l2, double *out)
{
    const bool exact = gradient->objective == GBSI_EXACT;
    void (*const steps[])(void *context, uint32_t member) = {
        fill_pairs, exact ? sum_sequences : gbsi_pseudo_sequences,
        exact ? sum_pairs : gbsi_pseudo_pairs, gbsi_gradient_features};
    gbsi_gradient *g = gradient;
    double square = 0.0;
    double log_p = 0.0;
    g->weight = weight;
    g->out = out;
    g->l2 = l2;
    g->wide = false;
    g->pass++;
    for (size_t k = 0; k < sizeof steps / sizeof steps[0] && !g->wide; k++) {
        g->next = 0;
        gbsi_pool_run(g->work->pool, steps[k], g);
    }
    if (g->wide || gbsi_watch_stopped(&g->work->watch)) {
        memset(out, 0, g->crf->n_weights * sizeof *out);
        return INFINITY;
    }
    for (uint64_t i = 0; i < g->crf->n_weights; i++) {
        square += weight[i] * weight[i];
    }
    for (size_t s = 0; s < g->data->n; s++) {
        log_p += g->log_p[s];
    }
    return 0.5 * l2 * square - log_p;
}
