/* SPDX-License-Identifier: Apache-2.0 */
/* Compares ln Z, MAP and marginal MAP with a plain loop over the user's model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/machine.h"
#include "base/memory.h"
#include "gibbsite/exact.h"
#include "reference/exact_components.h"
#include "reference/testing.h"

typedef struct soft_evidence {
    gbs_evidence *hard; /* both kinds */
    uint32_t variable;
    double likelihood[5];
} soft_evidence;

/* The log weight of a state, likelihood and evidence included. */
static double weigh(const gbs_model *model, const soft_evidence *e, const uint32_t *x)
{
    for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
        uint32_t seen = 0;
        if (gbs_evidence_state(e->hard, v, &seen) && seen != x[v]) {
            return -INFINITY;
        }
    }
    return gbs_model_log_density(model, x) + log(e->likelihood[x[e->variable]]);
}

static bool next_state(const gbs_model *model, uint32_t *x)
{
    for (uint32_t v = gbs_model_n_variables(model); v > 0; v--) {
        if (++x[v - 1] < gbs_model_arity(model, v - 1)) {
            return true;
        }
        x[v - 1] = 0;
    }
    return false;
}

/* ln of the sum of weights of the states that have x in the query variables. */
static double sum_out(const gbs_model *model, const soft_evidence *e, uint32_t n,
                      const uint32_t *query, const uint32_t *wanted)
{
    uint32_t x[TEST_MAX_VARIABLES] = {0};
    long double total = 0.0L;
    do {
        bool agrees = true;
        for (uint32_t i = 0; i < n; i++) {
            agrees = agrees && x[query[i]] == wanted[i];
        }
        total += agrees ? expl((long double)weigh(model, e, x)) : 0.0L;
    } while (next_state(model, x));
    return (double)logl(total);
}

static void observe_something(const gbs_model *model, soft_evidence *e)
{
    const uint32_t n = gbs_model_n_variables(model);
    test_ok(gbs_evidence_new(model, &e->hard, NULL));
    e->variable = test_below(n);
    for (int a = 0; a < 5; a++) {
        e->likelihood[a] = 1.0;
    }
    if (test_below(2) == 0) {
        const uint32_t v = test_below(n);
        test_ok(gbs_evidence_observe(e->hard, v, test_below(gbs_model_arity(model, v)), NULL));
    }
    if (test_below(2) == 0) {
        for (int a = 0; a < 5; a++) {
            e->likelihood[a] = (1 + test_below(4)) / 3.0;
        }
        test_ok(gbs_evidence_likelihood(e->hard, e->variable, e->likelihood, NULL));
    }
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * (1 + fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", found, expected);
    }
}

static double best_weight(const gbs_model *model, const soft_evidence *e)
{
    uint32_t x[TEST_MAX_VARIABLES] = {0};
    double best = -INFINITY;
    do {
        const double w = weigh(model, e, x);
        best = w > best ? w : best;
    } while (next_state(model, x));
    return best;
}

static void check_map(const gbs_model *model, const soft_evidence *e)
{
    uint32_t state[TEST_MAX_VARIABLES];
    uint32_t again[TEST_MAX_VARIABLES];
    double log_density = 0.0;
    uint32_t n_kept = 9;
    test_ok(gbs_exact_map(model, e->hard, NULL, NULL, state, &log_density, &n_kept, NULL));
    assert_int_equal(n_kept, 0);
    assert_near(weigh(model, e, state), best_weight(model, e));
    assert_near(log_density, best_weight(model, e));
    memcpy(again, state, sizeof again);
    test_ok(gbs_exact_map(model, e->hard, NULL, again, again, NULL, NULL, NULL));
    assert_memory_equal(again, state, gbs_model_n_variables(model) * sizeof *state);
}

/* Checks all queries of one or two variables, and the query of all variables. */
static void check_mmap(const gbs_model *model, const soft_evidence *e)
{
    const uint32_t n = gbs_model_n_variables(model);
    uint32_t query[TEST_MAX_VARIABLES];
    uint32_t state[TEST_MAX_VARIABLES];
    for (uint32_t round = 0; round < 4; round++) {
        uint32_t n_query = 0;
        for (uint32_t v = n; v > 0; v--) { /* the order of a query need not be ascending */
            if (round == 3 || test_below(2) == 0) {
                query[n_query++] = v - 1;
            }
        }
        double log_p = 0.0;
        test_ok(gbs_exact_mmap(model, e->hard, NULL, n_query, query, state, &log_p, NULL));
        assert_near(log_p, sum_out(model, e, n_query, query, state));
        uint32_t x[TEST_MAX_VARIABLES] = {0};
        do {
            uint32_t other[TEST_MAX_VARIABLES];
            for (uint32_t i = 0; i < n_query; i++) {
                other[i] = x[query[i]];
            }
            assert_true(sum_out(model, e, n_query, query, other) <= log_p + 1e-9);
        } while (next_state(model, x) && round == 0);
    }
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* Checks all ordered pairs of variables of a model: neighbours, distant variables, variables of
 * different components, observed variables. */
static void check_pairs(const gbs_model *model, const soft_evidence *e)
{
    const uint32_t n = gbs_model_n_variables(model);
    const double log_z = sum_out(model, e, 0, NULL, NULL);
    for (uint32_t i = 0; i < n * n; i++) {
        const uint32_t pair[] = {i / n, i % n};
        double p[25];
        if (pair[0] == pair[1]) {
            continue;
        }
        test_ok(gbs_exact_joint(model, e->hard, NULL, 2, pair, p, NULL));
        const double *at = p;
        for (uint32_t a = 0; a < gbs_model_arity(model, pair[0]); a++) {
            for (uint32_t b = 0; b < gbs_model_arity(model, pair[1]); b++) {
                const uint32_t wanted[] = {a, b};
                const double expected = exp(sum_out(model, e, 2, pair, wanted) - log_z);
                if (!(fabs(*at - expected) <= 1e-12)) {
                    fail_msg("%.17g, expected %.17g", *at, expected);
                }
                at++;
            }
        }
    }
}

/* ---- random models ------------------------------------------------------------------------- */

static void random_models(void **state)
{
    (void)state;
    test_draws_restart();
    uint32_t n_possible = 0;
    uint32_t n_rounds = 300;
    for (uint32_t round = 0; round < n_rounds; round++) {
        gbs_model *model = test_random_model();
        soft_evidence e = {0};
        gbs_error err = {0};
        double log_z = 7.0;
        observe_something(model, &e);
        const gbs_status status = gbs_exact_log_z(model, e.hard, NULL, &log_z, &err);
        const double expected = sum_out(model, &e, 0, NULL, NULL);
        if (expected == -INFINITY) {
            uint32_t x[TEST_MAX_VARIABLES] = {9};
            assert_int_equal(status, GBS_ERR_IMPOSSIBLE);
            assert_non_null(strstr(err.message, "probability zero"));
            assert_true(log_z == 7.0);
            assert_int_equal(gbs_exact_map(model, e.hard, NULL, NULL, x, NULL, NULL, NULL),
                             GBS_ERR_IMPOSSIBLE);
            assert_int_equal(x[0], 9);
            assert_int_equal(gbs_exact_mmap(model, e.hard, NULL, 0, NULL, x, NULL, NULL),
                             GBS_ERR_IMPOSSIBLE);
        } else {
            n_possible++;
            assert_int_equal(status, GBS_OK);
            assert_near(log_z, expected);
            check_map(model, &e);
            if (round % 5 == 0) {
                check_mmap(model, &e);
                check_pairs(model, &e);
            }
        }
        gbs_evidence_free(e.hard);
        gbs_model_free(model);
    }
    assert_true(n_possible > n_rounds / 2 && n_possible < n_rounds);
}

/* A chain of n binary variables with couplings that favour equal states, and a separate variable of
 * three states. */
static gbs_model *chain_and_one(uint32_t n)
{
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    const double three[] = {0.5, 2.0, 1.0};
    uint32_t table = 0;
    const uint32_t arity = 3;
    uint32_t last = 0;
    test_ok(gbs_builder_new(&builder, NULL));
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t two = 2;
        test_ok(gbs_builder_add_variables(builder, 1, &two, NULL, NULL));
    }
    test_ok(gbs_builder_add_variables(builder, 1, &arity, &last, NULL));
    for (uint32_t v = 0; v + 1 < n; v++) {
        test_ok(gbs_builder_add_ising(builder, v, v + 1, 0.7, NULL));
    }
    test_ok(gbs_builder_add_field(builder, 0, 0.25, NULL));
    test_ok(gbs_builder_add_table(builder, 3, three, &table, NULL));
    test_ok(gbs_builder_add_table_factor(builder, 1, &last, table, NULL));
    test_ok(gbs_builder_build(builder, &model, NULL));
    gbs_builder_free(builder);
    return model;
}

/* ln Z of a chain of spins with a field on the first: 2 cosh(h) (2 cosh J)^(n-1). */
static void largest(void **state)
{
    (void)state;
    gbs_model *model = chain_and_one(20);
    double log_z = 0.0;
    uint32_t x[21];
    const double three = log(exp(0.5) + exp(2.0) + exp(1.0));
    test_ok(gbs_exact_log_z(model, NULL, NULL, &log_z, NULL));
    assert_near(log_z, log(2 * cosh(0.25)) + 19 * log(2 * cosh(0.7)) + three);
    test_ok(gbs_exact_map(model, NULL, NULL, NULL, x, &log_z, NULL, NULL));
    assert_near(log_z, 19 * 0.7 + 0.25 + 2.0);
    for (uint32_t v = 0; v < 21; v++) {
        assert_int_equal(x[v], 1);
    }
    gbs_model_free(model);
}

/* Sixteen spins that are all coupled, and a separate variable of three states. */
static gbs_model *complete_and_one(void)
{
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    const double three[] = {0.5, 2.0, 1.0};
    uint32_t arity[17];
    uint32_t table = 0;
    const uint32_t last = 16;
    test_ok(gbs_builder_new(&builder, NULL));
    for (uint32_t v = 0; v < 17; v++) {
        arity[v] = v < 16 ? 2 : 3;
    }
    test_ok(gbs_builder_add_variables(builder, 17, arity, NULL, NULL));
    for (uint32_t v = 0; v < 16; v++) {
        for (uint32_t u = 0; u < v; u++) {
            test_ok(gbs_builder_add_ising(builder, u, v, 0.01 * (u + v) - 0.1, NULL));
        }
    }
    test_ok(gbs_builder_add_table(builder, 3, three, &table, NULL));
    test_ok(gbs_builder_add_table_factor(builder, 1, &last, table, NULL));
    test_ok(gbs_builder_build(builder, &model, NULL));
    gbs_builder_free(builder);
    return model;
}

static void too_large(void **state)
{
    (void)state;
    gbs_model *model = complete_and_one();
    gbs_error err = {0};
    gbs_exact_options options = {.size = sizeof options};
    double log_z = 7.0;
    double p[4] = {7.0};
    uint32_t n_kept = 0;
    uint32_t x[17];
    const uint32_t query[] = {16};
    const uint32_t pair[] = {3, 4};
    options.memory_limit = gbsi_program_bytes() + 400000; /* 2^16 entries are 524 288 bytes */
    for (uint32_t v = 0; v < 17; v++) {
        x[v] = v % 2;
    }
    assert_int_equal(gbs_exact_log_z(model, NULL, &options, &log_z, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, ", the memory limit leaves "));
    assert_int_equal(gbs_exact_map(model, NULL, &options, NULL, x, &log_z, &n_kept, &err),
                     GBS_ERR_LIMIT);
    assert_int_equal(gbs_exact_mmap(model, NULL, &options, 1, query, x, &log_z, &err),
                     GBS_ERR_LIMIT);
    assert_int_equal(gbs_exact_joint(model, NULL, &options, 2, pair, p, &err), GBS_ERR_LIMIT);
    assert_true(log_z == 7.0 && x[16] == 0 && p[0] == 7.0);
    /* the large component keeps its states, the other is solved */
    test_ok(gbs_exact_map(model, NULL, &options, x, x, &log_z, &n_kept, NULL));
    for (uint32_t v = 0; v < 16; v++) {
        assert_int_equal(x[v], v % 2);
    }
    assert_int_equal(x[16], 1);
    assert_int_equal(n_kept, 16);
    assert_near(log_z, gbs_model_log_density(model, x));
    options.memory_limit = 0;
    test_ok(gbs_exact_map(model, NULL, &options, x, x, &log_z, &n_kept, NULL));
    assert_int_equal(n_kept, 0);
    options.memory_limit = 100;
    assert_int_equal(gbs_exact_log_z(model, NULL, &options, &log_z, &err), GBS_ERR_LIMIT);
    options.size = 3;
    assert_int_equal(gbs_exact_log_z(model, NULL, &options, &log_z, &err), GBS_ERR_ARGUMENT);
    gbs_model_free(model);
}

static void wrong_use(void **state)
{
    (void)state;
    gbs_model *model = chain_and_one(3);
    gbs_evidence *evidence = NULL;
    gbs_error err = {0};
    const uint32_t beyond[] = {4, 0};
    const uint32_t twice[] = {1, 2, 1};
    const uint32_t against[] = {0, 0, 0, 0};
    uint32_t x[4] = {5, 5, 5, 5};
    assert_int_equal(gbs_exact_mmap(model, NULL, NULL, 1, beyond, x, NULL, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "query: there is no variable 4, the model has 4");
    assert_int_equal(gbs_exact_mmap(model, NULL, NULL, 3, twice, x, NULL, &err), GBS_ERR_ARGUMENT);
    assert_string_equal(err.message, "query: variable 1 is given twice");
    test_ok(gbs_evidence_new(model, &evidence, NULL));
    test_ok(gbs_evidence_observe(evidence, 0, 1, NULL));
    assert_int_equal(gbs_exact_map(model, evidence, NULL, against, x, NULL, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(x[0], 5);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

static void everything_observed(void **state)
{
    (void)state;
    gbs_model *model = chain_and_one(2);
    gbs_evidence *evidence = NULL;
    double log_z = 0.0;
    double log_p = 0.0;
    uint32_t x[3];
    uint32_t y[2];
    const uint32_t query[] = {2, 0};
    test_ok(gbs_evidence_new(model, &evidence, NULL));
    for (uint32_t v = 0; v < 3; v++) {
        test_ok(gbs_evidence_observe(evidence, v, v % 2, NULL));
    }
    test_ok(gbs_exact_log_z(model, evidence, NULL, &log_z, NULL));
    test_ok(gbs_exact_map(model, evidence, NULL, NULL, x, &log_p, NULL, NULL));
    assert_near(log_p, log_z);
    test_ok(gbs_exact_mmap(model, evidence, NULL, 2, query, y, &log_p, NULL));
    assert_near(log_p, log_z);
    assert_near(log_z, gbs_model_log_density(model, x));
    assert_true(x[0] == 0 && x[1] == 1 && x[2] == 0 && y[0] == 0 && y[1] == 0);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* A thousand causes of one effect, seen or not: ln P in closed form, some of them sure. */
static void noisy_hub(void **state)
{
    (void)state;
    enum { N = 1000 };
    uint32_t arity[N + 1];
    uint32_t parent[N];
    double q[N];
    double none = 0.99;
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    gbs_evidence *evidence = NULL;
    test_ok(gbs_builder_new(&b, NULL));
    for (uint32_t v = 0; v <= N; v++) {
        arity[v] = 2;
    }
    test_ok(gbs_builder_add_variables(b, N + 1, arity, NULL, NULL));
    for (uint32_t v = 0; v < N; v++) {
        const double p[2] = {1.0 - 0.001 * (v % 3 + 1), 0.001 * (v % 3 + 1)};
        parent[v] = v;
        q[v] = v % 7 == 3 ? 0.0 : 0.004 * (v % 200);
        none *= 1.0 - p[1] * (1.0 - q[v]);
        test_ok(gbs_builder_add_cpt(b, v, 0, NULL, 2, p, NULL));
    }
    test_ok(gbs_builder_add_noisy_or(b, N, N, parent, q, 0.01, NULL));
    gbs_builder_set_directed(b);
    test_ok(gbs_builder_build(b, &model, NULL));
    assert_int_equal(gbs_model_is_normalized(model), 1);
    for (uint32_t y = 0; y < 2; y++) {
        double log_p = 0.0;
        test_ok(gbs_evidence_new(model, &evidence, NULL));
        test_ok(gbs_evidence_observe(evidence, N, y, NULL));
        test_ok(gbs_exact_log_z(model, evidence, NULL, &log_p, NULL));
        assert_true(fabs(log_p - log(y == 0 ? none : 1.0 - none)) < 1e-12);
        gbs_evidence_free(evidence);
    }
    double log_z = 1.0;
    test_ok(gbs_exact_log_z(model, NULL, NULL, &log_z, NULL));
    assert_true(fabs(log_z) < 1e-12);
    gbs_builder_free(b);
    gbs_model_free(model);
}

/* N causes of two states of a maximum of four: P(Y <= y) is a product, given a cause too. */
static void maximum_of_many(void **state)
{
    (void)state;
    enum { N = 1000, K = 4 };
    uint32_t arity[N + 1];
    uint32_t parent[N];
    static double effect[2 * K * N];
    double most[K] = {1.0, 1.0, 1.0, 1.0};  /* P(Y <= y) */
    double given[K] = {1.0, 1.0, 1.0, 1.0}; /* and where cause 7 acts */
    double p[2 * K];
    const double leak[K] = {0.9, 0.0625, 0.025, 0.0125};
    const uint32_t asked[2] = {7, N};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    test_ok(gbs_builder_new(&b, NULL));
    for (uint32_t v = 0; v <= N; v++) {
        arity[v] = v == N ? K : 2;
    }
    test_ok(gbs_builder_add_variables(b, N + 1, arity, NULL, NULL));
    for (uint32_t v = 0; v < N; v++) {
        const double acts = 0.001 * (v % 3 + 1);
        const double prior[2] = {1.0 - acts, acts};
        const double one[2 * K] = {
            1.0, 0.0, 0.0, 0.0, 0.25, 0.25, 0.5 - 0.125 * (v % 5), 0.125 * (v % 5)};
        double sum = 0.0;
        parent[v] = v;
        memcpy(effect + (size_t)2 * K * v, one, sizeof one);
        for (uint32_t y = 0; y < K; y++) {
            sum += one[K + y];
            most[y] *= prior[0] + prior[1] * sum;
            given[y] *= v == 7 ? sum : prior[0] + prior[1] * sum;
        }
        test_ok(gbs_builder_add_cpt(b, v, 0, NULL, 2, prior, NULL));
    }
    test_ok(gbs_builder_add_noisy_max(b, GBS_FACTOR_NOISY_MAX, N, N, parent, sizeof effect / 8,
                                      effect, leak, NULL));
    gbs_builder_set_directed(b);
    test_ok(gbs_builder_build(b, &model, NULL));
    assert_int_equal(gbs_model_is_normalized(model), 1);
    test_ok(gbs_exact_joint(model, NULL, NULL, 2, asked, p, NULL));
    for (uint32_t y = 0; y < K; y++) {
        double leaks[2] = {0.0, 0.0}; /* at most y, at most y - 1 */
        for (uint32_t j = 0; j <= y; j++) {
            leaks[0] += leak[j];
            leaks[1] += j < y ? leak[j] : 0.0;
        }
        const double before[2] = {y > 0 ? most[y - 1] : 0.0, y > 0 ? given[y - 1] : 0.0};
        const double all = leaks[0] * most[y] - leaks[1] * before[0];
        const double with = 0.002 * (leaks[0] * given[y] - leaks[1] * before[1]);
        assert_true(fabs(p[K + y] - with) < 1e-12);
        assert_true(fabs(p[y] + p[K + y] - all) < 1e-12);
    }
    gbs_builder_free(b);
    gbs_model_free(model);
}

/* N coins and a table by how many show heads: Z = sum over k of C(N, k) p^k (1 - p)^(N - k) e^t_k.
 */
static void table_by_count(void **state)
{
    (void)state;
    enum { N = 150 };
    static const double p[2] = {0.625, 0.375};
    uint32_t arity[N];
    uint32_t scope[N];
    double logw[N + 1];
    double log_choose = 0.0;
    double sum = 0.0;
    double heads = 0.0;
    double q[2];
    const uint32_t asked = 17;
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    test_ok(gbs_builder_new(&b, NULL));
    for (uint32_t v = 0; v < N; v++) {
        arity[v] = 2;
        scope[v] = v;
    }
    test_ok(gbs_builder_add_variables(b, N, arity, NULL, NULL));
    for (uint32_t v = 0; v < N; v++) {
        test_ok(gbs_builder_add_cpt(b, v, 0, NULL, 2, p, NULL));
        arity[v] = 1; /* the state that counts */
    }
    for (uint32_t k = 0; k <= N; k++) {
        logw[k] = k < 20 || k > 130 ? -INFINITY : 0.01 * (k % 7) * k;
        const double w = exp(log_choose + k * log(p[1]) + (N - k) * log(p[0]) + logw[k]);
        sum += w;
        heads += w * k / N;
        log_choose += log(N - k) - log(k + 1.0);
    }
    test_ok(gbs_builder_add_count_table(b, N, scope, arity, logw, NULL));
    test_ok(gbs_builder_build(b, &model, NULL));
    double log_z = 0.0;
    test_ok(gbs_exact_log_z(model, NULL, NULL, &log_z, NULL));
    assert_true(fabs(log_z - log(sum)) < 1e-10);
    test_ok(gbs_exact_joint(model, NULL, NULL, 1, &asked, q, NULL));
    assert_true(fabs(q[1] - heads / sum) < 1e-10);
    gbs_builder_free(b);
    gbs_model_free(model);
}

static void memory_runs_out(void **state)
{
    (void)state;
    gbs_model *model = chain_and_one(4);
    const uint32_t query[] = {2, 4};
    for (int what = 0; what < 4; what++) {
        gbs_status status = GBS_ERR_MEMORY;
        uint64_t n = 0;
        for (; status != GBS_OK; n++) {
            double value = 7.0;
            uint32_t x[5] = {0, 0, 0, 0, 0};
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            status = what == 0   ? gbs_exact_log_z(model, NULL, NULL, &value, &err)
                     : what == 1 ? gbs_exact_map(model, NULL, NULL, NULL, x, &value, NULL, &err)
                     : what == 2 ? gbs_exact_map(model, NULL, NULL, x, x, &value, NULL, &err)
                                 : gbs_exact_mmap(model, NULL, NULL, 2, query, x, &value, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true((status == GBS_OK) == (value != 7.0));
        }
        assert_true(n > 10);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models),       cmocka_unit_test(largest),
        cmocka_unit_test(too_large),           cmocka_unit_test(wrong_use),
        cmocka_unit_test(everything_observed), cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(noisy_hub),           cmocka_unit_test(maximum_of_many),
        cmocka_unit_test(table_by_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
