/* SPDX-License-Identifier: Apache-2.0 */
/* Tests tables of weights, and tables of logarithms for weights that are too far apart for doubles.
 */
#include "trees/junction_tree_testing.h"

enum { N = 6 };

static gbs_model *end_model(gbs_builder *b)
{
    gbs_model *model = NULL;
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

static gbs_builder *begin_model(uint32_t n, const uint32_t *arity)
{
    gbs_builder *b = NULL;
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, n, arity, NULL, NULL));
    return b;
}

static void add_table(gbs_builder *b, uint32_t n, const uint32_t *scope, size_t n_entries,
                      const double *logw)
{
    uint32_t table = 0;
    test_ok(gbs_builder_add_table(b, n_entries, logw, &table, NULL));
    test_ok(gbs_builder_add_table_factor(b, n, scope, table, NULL));
}

/* Six variables of 2 or 3 states, tables of pairs of logarithms down to -scale, one in five of them
 * a hard zero. */
static gbs_model *wide_model(double scale)
{
    uint32_t arity[N];
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2 + test_below(2);
    }
    gbs_builder *b = begin_model(N, arity);
    for (uint32_t f = 0; f < 8; ++f) {
        const uint32_t u = test_below(N);
        const uint32_t scope[] = {u, (u + 1 + test_below(N - 1)) % N};
        double logw[9];
        const size_t n = (size_t)arity[scope[0]] * arity[scope[1]];
        for (size_t i = 0; i < n; ++i) {
            logw[i] = test_below(5) == 0 ? -INFINITY : -scale * test_below(1000) / 1000.0;
        }
        add_table(b, 2, scope, n, logw);
    }
    return end_model(b);
}

/* Counts the tables that hold weights and those that hold logarithms. */
static void count_domains(const gbs_model *model, uint32_t *n_weights, uint32_t *n_logs)
{
    made m = {0};
    gbsi_tables *tables = NULL;
    make(&m, model, NULL, &no_limits);
    test_ok(gbsi_tables_new(m.tree, GBSI_KEEP_TABLES, NULL, &tables, NULL));
    for (uint32_t t = 0; t < m.tree->n_trees; ++t) {
        double log_z = 0.0;
        gbsi_tree_up(tables, t, &log_z);
    }
    for (uint32_t i = 0; i < m.tree->n_cliques; ++i) {
        *n_weights += tables->weights[i];
        *n_logs += !tables->weights[i];
    }
    gbsi_tables_free(tables);
    release(&m);
}

/* Compares calibration that keeps tables, calibration that keeps messages, and samples of both with
 * enumeration. */
static void wide_models(void **state)
{
    (void)state;
    const double scales[] = {1.0, 300.0, 690.0, 2000.0};
    test_draws_restart();
    for (size_t s = 0; s < sizeof scales / sizeof *scales; ++s) {
        uint32_t n_weights = 0;
        uint32_t n_logs = 0;
        uint32_t n_possible = 0;
        for (uint32_t round = 0; round < 100; ++round) {
            gbs_model *model = wide_model(scales[s]);
            gbsi_conditioned *possible = NULL;
            if (gbsi_condition(model, NULL, &possible, NULL) == GBS_OK) {
                made m = {0};
                count_domains(model, &n_weights, &n_logs);
                check_against_enumeration(model, NULL, &n_possible);
                make(&m, model, NULL, &no_limits);
                draw_both_ways(&m, false, NULL);
                release(&m);
            }
            gbsi_conditioned_free(possible);
            gbs_model_free(model);
        }
        assert_true(n_possible > 50 && n_weights > 20);
        assert_true(s == 0 ? n_logs == 0 : s == 1 || n_logs > 20);
    }
}

/* Ten variables that must be equal, each a weight of 1e-300 away from state 1, which the last one
 * alone allows: 1e-300 to the ninth is the only weight left. Or the last one makes up for it. */
static void low_path(void **state)
{
    (void)state;
    enum { LENGTH = 10 };
    const double low = -690.77552789821368; /* ln 1e-300 */
    const double equal[] = {0.0, -INFINITY, -INFINITY, 0.0};
    const double weight[] = {0.0, low};
    for (int soft = 0; soft < 2; ++soft) {
        const double last[] = {soft ? 0.0 : -INFINITY, soft ? -(LENGTH - 1) * low - 0.5 : 0.0};
        uint32_t arity[LENGTH];
        double p[2 * LENGTH];
        uint32_t n_weights = 0;
        uint32_t n_logs = 0;
        for (uint32_t v = 0; v < LENGTH; ++v) {
            arity[v] = 2;
        }
        gbs_builder *b = begin_model(LENGTH, arity);
        for (uint32_t v = 0; v + 1 < LENGTH; ++v) {
            const uint32_t scope[] = {v, v + 1};
            add_table(b, 1, scope, 2, weight);
            add_table(b, 2, scope, 4, equal);
        }
        add_table(b, 1, (const uint32_t[]){LENGTH - 1}, 2, last);
        gbs_model *model = end_model(b);
        made m = {0};
        make(&m, model, NULL, &no_limits);
        const double log_z = calibrate(&m, NULL, p);
        if (soft) {
            count_domains(model, &n_weights, &n_logs);
            assert_true(n_logs > 0);
            assert_close(log_z, log1p(exp(-0.5)), 1e-12);
            for (uint32_t v = 0; v < LENGTH; ++v) {
                assert_close(p[2 * (size_t)v], 1.0 / (1.0 + exp(-0.5)), 1e-12);
            }
        } else {
            assert_close(log_z, (LENGTH - 1) * low, 1e-9);
        }
        release(&m);
        gbs_model_free(model);
    }
}

/* The largest arity, its weights a geometric series down to e^-1310:
 *     p(spin = 0) = S(0.02) / (S(0.02) + S(0.01)),     S(a) = sum over k of e^(-a k). */
static void wide_large_arity(void **state)
{
    (void)state;
    enum { K = 65535 };
    const uint32_t arity[] = {K, 2, 2};
    const uint32_t scope[] = {0, 1};
    const uint32_t other[] = {2, 0};
    double *field = malloc(K * sizeof *field);
    double *table = malloc((size_t)2 * K * sizeof *table);
    double p[K + 4];
    uint32_t n_weights = 0;
    uint32_t n_logs = 0;
    assert_true(field != NULL && table != NULL);
    for (uint32_t k = 0; k < K; ++k) {
        field[k] = -0.02 * k;
        table[2 * (size_t)k] = 0.0;
        table[2 * (size_t)k + 1] = 0.01 * k;
    }
    gbs_builder *b = begin_model(3, arity);
    add_table(b, 1, scope, K, field);
    add_table(b, 2, scope, (size_t)2 * K, table);
    for (uint32_t k = 0; k < K; ++k) { /* a fair coin beside */
        table[k] = table[k + (size_t)K] = k % 2 == 0 ? 1.0 : -1.0;
    }
    add_table(b, 2, other, (size_t)2 * K, table);
    gbs_model *model = end_model(b);
    made m = {0};
    make(&m, model, NULL, &no_limits);
    const double log_z = calibrate(&m, NULL, p);
    double z[2] = {0.0, 0.0};
    for (uint32_t k = K; k-- > 0;) {
        z[0] += exp(-0.02 * k + (k % 2 == 0 ? 1.0 : -1.0));
        z[1] += exp(-0.01 * k + (k % 2 == 0 ? 1.0 : -1.0));
    }
    assert_close(log_z, log(2.0 * (z[0] + z[1])), 1e-12);
    assert_close(p[K], z[0] / (z[0] + z[1]), 1e-12);
    assert_close(p[K + 2], 0.5, 1e-14);
    assert_close(p[7], exp(-0.14 - 1.0) * (1.0 + exp(0.07)) / (z[0] + z[1]), 1e-14);
    count_domains(model, &n_weights, &n_logs);
    assert_true(n_logs > 0);
    release(&m);
    free(field);
    free(table);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_models),
        cmocka_unit_test(low_path),
        cmocka_unit_test(wide_large_arity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
