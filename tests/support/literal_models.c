/* SPDX-License-Identifier: Apache-2.0 */
/* Small models of factors that see their variables through literals, or as causes. */
#include <math.h>

#include "support/making.h"

enum { N_LONG = 17 }; /* one more than terms that keep no counters have */

/* Parities of two literals to all, one of a state of three; the second must hold if `hard`. */
static gbs_model *parities(uint32_t n, bool hard)
{
    gbs_error err = {0};
    test_stream s = {.seed = 15, .n = 0};
    uint32_t arity[N_LONG];
    uint32_t scope[N_LONG];
    uint32_t literal[N_LONG];
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = v == 5 && n < N_LONG ? 3 : 2;
        scope[v] = v;
        literal[v] = v % 3 != 0;
    }
    gbs_builder *b = begin(n, arity);
    const uint32_t length[] = {2, 3, 7, n};
    for (uint32_t i = 0; i < sizeof length / sizeof length[0]; ++i) {
        const uint32_t first = (i * 4) % (n - length[i] + 1);
        must(gbs_builder_add_logical(b, GBS_LOGICAL_PARITY, length[i], scope + first,
                                     literal + first, i == 1 && hard ? INFINITY : 0.9 - 0.6 * i,
                                     &err),
             &err);
    }
    for (uint32_t v = 0; v < n; ++v) {
        random_table(b, &s, 1, &v, arity, 0.7, 0.0);
    }
    return finish(b);
}

gbs_model *test_parities(void)
{
    return parities(9, false);
}

gbs_model *test_long_parities(void)
{
    return parities(N_LONG, false); /* the longest keeps counters */
}

gbs_model *test_hard_parity(void)
{
    return parities(8, true);
}

/* Cardinalities of two literals to all; the second and the fifth must hold if `hard`. */
static gbs_model *cardinalities(uint32_t n, bool hard)
{
    gbs_error err = {0};
    test_stream s = {.seed = 16, .n = 0};
    uint32_t arity[N_LONG];
    uint32_t scope[N_LONG];
    uint32_t literal[N_LONG];
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = v == 4 && n < N_LONG ? 3 : 2;
        scope[v] = v;
        literal[v] = v % 3 != 0;
    }
    gbs_builder *b = begin(n, arity);
    const uint32_t length[] = {2, 4, 6, 7, n, n};
    for (uint32_t i = 0; i < sizeof length / sizeof length[0]; ++i) {
        const uint32_t first = (i * 3) % (n - length[i] + 1);
        const gbs_logical_function function = (gbs_logical_function)(GBS_LOGICAL_AT_LEAST + i % 3);
        const double weight = hard && i % 3 == 1 ? INFINITY : 0.9 - 0.4 * i;
        must(gbs_builder_add_cardinality(b, function, length[i] / 2, length[i], scope + first,
                                         literal + first, weight, &err),
             &err);
    }
    for (uint32_t v = 0; v < n; ++v) {
        random_table(b, &s, 1, &v, arity, 0.7, 0.0);
    }
    return finish(b);
}

gbs_model *test_cardinalities(void)
{
    return cardinalities(8, false);
}

gbs_model *test_long_cardinalities(void)
{
    return cardinalities(N_LONG, false);
}

gbs_model *test_hard_cardinalities(void)
{
    return cardinalities(8, true);
}

/* ---- noisy factors --------------------------------------------------------------------------- */

/* A noisy-or of all but the last, one of parents of three states, noisy-ands across them;
 * inhibitions of zero and no leak if `hard`. */
static gbs_model *noisy(uint32_t n, bool hard)
{
    gbs_error err = {0};
    test_stream s = {.seed = 17, .n = 0};
    uint32_t arity[N_LONG];
    uint32_t parent[N_LONG];
    double q[3 * N_LONG];
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = v == 2 && n < N_LONG ? 3 : 2;
        parent[v] = v;
    }
    gbs_builder *b = begin(n, arity);
    const uint32_t length[] = {n - 1, 5, 6, 4};
    for (uint32_t i = 0; i < sizeof length / sizeof length[0]; ++i) {
        const uint32_t first = (i * 2) % (n - length[i]);
        const uint32_t child = (first + length[i]) % n;
        size_t n_entries = 0;
        for (uint32_t p = first; p < first + length[i]; ++p) {
            for (uint32_t a = 0; a < arity[p]; ++a) {
                const bool idle = (a == 0) == (i % 2 == 0);
                const double some = test_uniform(&s, 0.2, 0.95);
                q[n_entries++] = idle ? 1.0 : hard && p % 4 == 1 ? 0.0 : some;
            }
        }
        must(gbs_builder_add_noisy(b, i % 2 == 0 ? GBS_FACTOR_NOISY_OR : GBS_FACTOR_NOISY_AND,
                                   child, length[i], parent + first, n_entries, q,
                                   hard && i < 2 ? 0.0 : 0.05, &err),
             &err);
    }
    for (uint32_t v = 0; v < n; ++v) {
        random_table(b, &s, 1, &v, arity, 0.7, 0.0);
    }
    return finish(b);
}

gbs_model *test_noisy(void)
{
    return noisy(8, false);
}

gbs_model *test_long_noisy(void)
{
    return noisy(N_LONG, false);
}

gbs_model *test_hard_noisy(void)
{
    return noisy(8, true);
}

/* A noisy maximum of four states and a noisy minimum of three, of parents of two and three. If
 * `hard`, one cause never reaches the highest effect, and another always has one. */
static gbs_model *maxima(bool hard)
{
    enum { N = 8 };
    gbs_error err = {0};
    test_stream s = {.seed = 23, .n = 0};
    const uint32_t arity[N] = {2, 3, 2, 4, 3, 2, 2, 3};
    const uint32_t parent[2][5] = {{0, 1, 2, 5, 7}, {6, 3, 1, 5, 0}};
    const uint32_t child[2] = {3, 4};
    gbs_builder *b = begin(N, arity);
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t k = arity[child[i]];
        double effect[64];
        double leak[4];
        size_t n = 0;
        for (uint32_t p = 0; p <= 5; ++p) { /* the last is the leak */
            for (uint32_t a = 0; a < (p == 5 ? 1 : arity[parent[i][p]]); ++a) {
                double *at = p == 5 ? leak : effect + n;
                double sum = 0.0;
                for (uint32_t y = 0; y < k; ++y) {
                    const bool never = hard && p == 1 && a > 0 && y == (i == 0 ? 0 : k - 1);
                    const bool seldom = hard && (p + y) % 4 == 3;
                    at[y] = never || seldom ? 0.0 : test_uniform(&s, 0.2, 1.0);
                    sum += at[y];
                }
                for (uint32_t y = 0; y < k; ++y) {
                    at[y] /= sum;
                }
                n += p == 5 ? 0 : k;
            }
        }
        must(gbs_builder_add_noisy_max(b, i == 0 ? GBS_FACTOR_NOISY_MAX : GBS_FACTOR_NOISY_MIN,
                                       child[i], 5, parent[i], n, effect,
                                       hard && i == 1 ? NULL : leak, &err),
             &err);
    }
    for (uint32_t v = 0; v < N; ++v) {
        random_table(b, &s, 1, &v, arity, 0.7, 0.0);
    }
    return finish(b);
}

gbs_model *test_maxima(void)
{
    return maxima(false);
}

gbs_model *test_hard_maxima(void)
{
    return maxima(true);
}

/* ---- tables by count ------------------------------------------------------------------------- */

/* One of all variables, another of five of them that forbids none and all. */
gbs_model *test_counts(void)
{
    gbs_error err = {0};
    test_stream s = {.seed = 29, .n = 0};
    uint32_t arity[N_LONG];
    uint32_t scope[N_LONG];
    uint32_t state[N_LONG];
    double logw[N_LONG + 1];
    for (uint32_t v = 0; v < N_LONG; ++v) {
        arity[v] = 2;
        scope[v] = v;
        state[v] = v % 3 != 1;
    }
    gbs_builder *b = begin(N_LONG, arity);
    for (uint32_t k = 0; k <= N_LONG; ++k) {
        logw[k] = test_uniform(&s, -1.0, 1.0);
    }
    must(gbs_builder_add_count_table(b, N_LONG, scope, state, logw, &err), &err);
    logw[0] = logw[5] = -INFINITY;
    must(gbs_builder_add_count_table(b, 5, scope + 2, state, logw, &err), &err);
    for (uint32_t v = 0; v < N_LONG; ++v) {
        random_table(b, &s, 1, &v, arity, 0.7, 0.0);
    }
    return finish(b);
}
