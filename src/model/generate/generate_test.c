/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/random_models.h"

#include <string.h>

#include "base/memory.h"
#include "generate/generators.h"
#include "gibbsite/generate.h"
#include "simd/math.h"

static gbs_model *ising(uint32_t rows, uint32_t columns, uint32_t layers, int torus)
{
    const gbs_generate_ising_options o = {
        .side = {rows, columns, layers}, .torus = torus, .coupling = 0.5, .seed = 1};
    gbs_model *m = NULL;
    assert_int_equal(gbs_generate_ising(&o, &m, NULL), GBS_OK);
    return m;
}

static int count_pair(const gbs_model *m, uint32_t a, uint32_t b)
{
    int n = 0;
    for (size_t f = 0; f < gbs_model_n_factors(m); ++f) {
        uint32_t size = 0;
        const uint32_t *scope = NULL;
        (void)gbs_model_factor(m, f, &size, &scope);
        n += size == 2 && ((scope[0] == a && scope[1] == b) || (scope[0] == b && scope[1] == a));
    }
    return n;
}

static void test_ising_edges(void **unused)
{
    (void)unused;
    /* rows, columns, layers, torus, edges; a side of 1 or 2 is not closed */
    static const uint32_t grid[][5] = {
        {1, 1, 1, 0, 0}, {1, 1, 1, 1, 0},  {3, 4, 1, 0, 17}, {3, 4, 1, 1, 24}, {2, 4, 1, 1, 12},
        {1, 5, 1, 1, 5}, {2, 2, 2, 1, 12}, {3, 3, 3, 0, 54}, {3, 3, 3, 1, 81}, {5, 1, 1, 1, 5},
        {1, 1, 4, 1, 4}, {1, 2, 1, 1, 1},  {2, 3, 4, 0, 46}};
    for (unsigned i = 0; i < sizeof grid / sizeof *grid; ++i) {
        gbs_model *m = ising(grid[i][0], grid[i][1], grid[i][2], (int)grid[i][3]);
        assert_int_equal(gbs_model_n_variables(m), grid[i][0] * grid[i][1] * grid[i][2]);
        assert_int_equal(gbs_model_n_factors(m), grid[i][4]);
        for (size_t f = 0; f < gbs_model_n_factors(m); ++f) { /* all pairs are distinct */
            const uint32_t *scope = NULL;
            assert_int_equal(gbs_model_factor(m, f, NULL, &scope), GBS_FACTOR_ISING);
            assert_int_equal(count_pair(m, scope[0], scope[1]), 1);
        }
        gbs_model_free(m);
    }
    /* variable = (layer rows + row) columns + column */
    gbs_model *m = ising(3, 4, 5, 1);
    const uint32_t v = (4 * 3 + 2) * 4 + 3; /* the last corner */
    assert_int_equal(count_pair(m, v, (4 * 3 + 2) * 4 + 0), 1);
    assert_int_equal(count_pair(m, v, (4 * 3 + 0) * 4 + 3), 1);
    assert_int_equal(count_pair(m, v, (0 * 3 + 2) * 4 + 3), 1);
    assert_int_equal(count_pair(m, v, v - 1), 1);
    assert_int_equal(count_pair(m, v, v - 4), 1);
    assert_int_equal(count_pair(m, v, v - 12), 1);
    gbs_model_free(m);
}

static void test_ising_weights(void **unused)
{
    (void)unused;
    gbs_generate_ising_options o = {.side = {40, 50, 1},
                                    .torus = 1,
                                    .coupling = 1.0,
                                    .coupling_spread = 0.5,
                                    .field = -2.0,
                                    .random_field = 0.25,
                                    .seed = 7};
    gbs_model *m = NULL;
    gbs_model *same = NULL;
    gbs_model *other = NULL;
    double sum[2] = {0.0, 0.0};
    double square[2] = {0.0, 0.0};
    const double centre[2] = {1.0, -2.0};
    const double spread[2] = {0.5, 0.25};
    assert_int_equal(gbs_generate_ising(&o, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_factors(m), 3 * 2000);
    for (size_t f = 0; f < gbs_model_n_factors(m); ++f) {
        const int field = m->factors.kind[f] == GBS_FACTOR_FIELD;
        const double d = m->factors.weight[f] - centre[field];
        assert_true(fabs(d) <= spread[field]);
        sum[field] += d / spread[field];
        square[field] += d * d / (spread[field] * spread[field]);
    }
    /* fixed seed; five standard deviations of the means of 4000 and 2000 uniform numbers and of
     * their squares */
    assert_true(fabs(sum[0] / 4000) < 5 * 0.0092 && fabs(sum[1] / 2000) < 5 * 0.0130);
    assert_true(fabs(square[0] / 4000 - 1.0 / 3) < 5 * 0.0048);
    assert_true(fabs(square[1] / 2000 - 1.0 / 3) < 5 * 0.0067);
    assert_int_equal(gbs_generate_ising(&o, &same, NULL), GBS_OK);
    assert_string_equal(gbs_model_digest(m), gbs_model_digest(same));
    o.seed = 8;
    assert_int_equal(gbs_generate_ising(&o, &other, NULL), GBS_OK);
    assert_string_not_equal(gbs_model_digest(m), gbs_model_digest(other));
    gbs_model_free(m);
    gbs_model_free(same);
    gbs_model_free(other);
}

static void refuse_ising(const gbs_generate_ising_options *o, gbs_status expected, const char *text)
{
    gbs_error err = {0};
    gbs_model *m = NULL;
    assert_int_equal(gbs_generate_ising(o, &m, &err), expected);
    assert_non_null(strstr(err.message, text));
    assert_null(m);
}

static void test_refused_ising(void **unused)
{
    (void)unused;
    const gbs_generate_ising_options good = {.side = {2, 2, 1}, .coupling = 1.0};
    gbs_generate_ising_options o = good;
    o.side[2] = 0;
    refuse_ising(&o, GBS_ERR_ARGUMENT, "2 x 2 x 0");
    o.side[0] = o.side[1] = o.side[2] = UINT32_MAX;
    refuse_ising(&o, GBS_ERR_LIMIT, "more than the 4294967280");
    o = good;
    o.coupling = (double)NAN;
    refuse_ising(&o, GBS_ERR_ARGUMENT, "coupling: nan");
    o = good;
    o.coupling_spread = -0.5;
    refuse_ising(&o, GBS_ERR_ARGUMENT, "coupling spread: -0.5");
    o = good;
    o.random_field = INFINITY;
    refuse_ising(&o, GBS_ERR_ARGUMENT, "random field: inf");
    o = good;
    o.field = -INFINITY;
    refuse_ising(&o, GBS_ERR_ARGUMENT, "field: -inf");
}

static void test_ring(void **unused)
{
    (void)unused;
    static const uint32_t edges[6] = {0, 0, 1, 3, 4, 5};
    gbs_generate_ring_options o = {.coupling = 0.25, .field = 0.5, .seed = 3};
    gbs_model *m = NULL;
    gbs_error err = {0};
    assert_int_equal(gbs_generate_ring(&o, &m, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "0 variables"));
    for (o.variables = 1; o.variables < 6; ++o.variables) {
        assert_int_equal(gbs_generate_ring(&o, &m, NULL), GBS_OK);
        assert_int_equal(gbs_model_n_variables(m), o.variables);
        assert_int_equal(gbs_model_n_factors(m), o.variables + edges[o.variables]);
        gbs_model_free(m);
    }
}

static void test_potts(void **unused)
{
    (void)unused;
    gbs_generate_potts_options o = {
        .rows = 60, .columns = 80, .states = 5, .coupling = 0.75, .noise = 0.5, .seed = 11};
    gbs_model *m = NULL;
    assert_int_equal(gbs_generate_potts(&o, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_variables(m), 4800);
    assert_int_equal(gbs_model_n_factors(m), 4800 + 59 * 80 + 60 * 79);
    /* the data term is a parabola with its maximum at y; the picture has patches, hence
     * neighbours mostly agree */
    uint32_t seen[5] = {0};
    uint32_t agree = 0;
    uint32_t before = 0;
    for (size_t f = 0; f < gbs_model_n_factors(m); ++f) {
        if (m->factors.kind[f] != GBS_FACTOR_TABLE) {
            assert_true(m->factors.weight[f] == 0.75);
            continue;
        }
        const double *logw = &m->factors.table[m->factors.table_start[m->factors.aux[f]]];
        uint32_t best = 0;
        for (uint32_t k = 0; k < 5; ++k) {
            best = logw[k] > logw[best] ? k : best;
            assert_true(logw[k] <= 0.0);
        }
        for (uint32_t k = 1; k < 4; ++k) { /* second difference is -1 / noise^2 */
            assert_true(fabs(logw[k + 1] - 2 * logw[k] + logw[k - 1] + 4.0) < 1e-9);
        }
        ++seen[best];
        agree += best == before;
        before = best;
    }
    for (uint32_t k = 0; k < 5; ++k) {
        assert_true(seen[k] > 100);
    }
    assert_true(agree > 4800 * 2 / 5);
    gbs_model_free(m);
    o.noise = 0.0;
    o.torus = 1;
    assert_int_equal(gbs_generate_potts(&o, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_factors(m), 2 * 4800);
    assert_int_equal(count_pair(m, 79, 0), 1);
    assert_int_equal(count_pair(m, 59 * 80, 0), 1);
    gbs_model_free(m);
    o.rows = 2;
    o.columns = 1;
    assert_int_equal(gbs_generate_potts(&o, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_factors(m), 1);
    gbs_model_free(m);
}

static void test_potts_noise(void **unused)
{
    (void)unused;
    gbs_generate_potts_options o = {.rows = 1, .columns = 1, .states = 4, .noise = 1e-300};
    gbs_model *m = NULL;
    uint32_t n_possible = 0;
    /* no NaN, although the data exclude states */
    assert_int_equal(gbs_generate_potts(&o, &m, NULL), GBS_OK);
    for (uint32_t k = 0; k < 4; ++k) {
        n_possible += gbs_model_log_density(m, &k) == -INFINITY ? 0 : 1;
    }
    assert_int_equal(n_possible, 1);
    gbs_model_free(m);
    static const gbs_generate_potts_options bad[] = {
        {.rows = 0, .columns = 1, .states = 2},
        {.rows = 1, .columns = 1, .states = 0},
        {.rows = 1, .columns = 1, .states = 65536},
        {.rows = 1, .columns = 1, .states = 2, .noise = -1.0},
        {.rows = 1, .columns = 1, .states = 2, .noise = 1e7},
        {.rows = 1, .columns = 1, .states = 2, .coupling = -(double)INFINITY},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; ++i) {
        assert_int_equal(gbs_generate_potts(&bad[i], &m, NULL), GBS_ERR_ARGUMENT);
    }
    o.rows = o.columns = UINT32_MAX;
    assert_int_equal(gbs_generate_potts(&o, &m, NULL), GBS_ERR_LIMIT);
}

static void check_columns(const gbs_model *m, uint32_t v, double *sum_of_first)
{
    const gbsi_factors *f = &m->factors;
    const size_t table = f->aux[m->cpt[v]];
    const uint32_t k = m->arity[v];
    for (size_t e = f->table_start[table]; e < f->table_start[table + 1]; e += k) {
        double sum = 0.0;
        for (uint32_t a = 0; a < k; ++a) {
            assert_true(f->table[e + a] <= 0.0 && f->table[e + a] > -60.0);
            sum += gbsi_exp(f->table[e + a]);
        }
        assert_true(fabs(sum - 1.0) < 1e-12);
        *sum_of_first += gbsi_exp(f->table[e]) * k;
    }
}

static void test_bayes(void **unused)
{
    (void)unused;
    const gbs_generate_bayes_options o = {
        .variables = 500, .parents = 3, .min_states = 2, .max_states = 5, .seed = 5};
    gbs_model *m = NULL;
    uint32_t with[4] = {0};
    uint32_t of_arity[6] = {0};
    double first = 0.0;
    double n_columns = 0.0;
    assert_int_equal(gbs_generate_bayes(&o, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_is_directed(m), 1);
    for (uint32_t v = 0; v < 500; ++v) {
        uint32_t n = 0;
        const uint32_t *scope = NULL;
        double columns = 1.0;
        assert_int_equal(gbs_model_factor(m, m->cpt[v], &n, &scope), GBS_FACTOR_TABLE);
        assert_int_equal(scope[n - 1], v);
        for (uint32_t i = 0; i + 1 < n; ++i) {
            assert_true(scope[i] < scope[i + 1] && scope[i] + 8 >= v);
            columns *= m->arity[scope[i]];
        }
        ++with[n - 1];
        ++of_arity[m->arity[v]];
        check_columns(m, v, &first);
        n_columns += columns;
    }
    assert_int_equal(with[0], 1); /* only the very first */
    assert_true(with[1] > 100 && with[2] > 100 && with[3] > 100);
    assert_true(of_arity[2] > 80 && of_arity[3] > 80 && of_arity[4] > 80 && of_arity[5] > 80);
    /* E p = 1/k on the simplex; the bound is five standard deviations, because k p has a
     * deviation below 1 */
    assert_true(fabs(first / n_columns - 1.0) < 5.0 / gbsi_sqrt(n_columns));
    gbs_model_free(m);
}

static void test_refused_bayes(void **unused)
{
    (void)unused;
    static const gbs_generate_bayes_options bad[] = {
        {.variables = 0, .min_states = 2, .max_states = 2},
        {.variables = 1, .min_states = 0, .max_states = 2},
        {.variables = 1, .min_states = 3, .max_states = 2},
        {.variables = 1, .min_states = 3, .max_states = 65536},
        {.variables = 99, .parents = 25, .min_states = 2, .max_states = 2},
    };
    const gbs_generate_bayes_options huge = {
        .variables = 99, .parents = 5, .min_states = 2, .max_states = 65535};
    const gbs_generate_bayes_options single = {
        .variables = 1, .parents = 24, .min_states = 65535, .max_states = 65535};
    gbs_model *m = NULL;
    gbs_error err = {0};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; ++i) {
        assert_int_equal(gbs_generate_bayes(&bad[i], &m, NULL), GBS_ERR_ARGUMENT);
    }
    assert_int_equal(gbs_generate_bayes(&huge, &m, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "entries"));
    assert_int_equal(gbs_generate_bayes(&single, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_arity(m, 0), 65535);
    gbs_model_free(m);
}

static gbs_status generate_one(unsigned which, gbs_model **m, gbs_error *err)
{
    const gbs_generate_ising_options i = {.side = {3, 4, 2}, .torus = 1, .random_field = 1.0};
    const gbs_generate_potts_options p = {.rows = 4, .columns = 4, .states = 3, .noise = 1.0};
    const gbs_generate_bayes_options b = {
        .variables = 9, .parents = 2, .min_states = 1, .max_states = 3};
    return which == 0   ? gbs_generate_ising(&i, m, err)
           : which == 1 ? gbs_generate_potts(&p, m, err)
                        : gbs_generate_bayes(&b, m, err);
}

static void test_no_memory(void **unused)
{
    (void)unused;
    for (unsigned which = 0; which < 3; ++which) {
        for (uint64_t n = 0;; ++n) {
            gbs_model *m = NULL;
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            const gbs_status status = generate_one(which, &m, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_int_equal(err.status, status);
            assert_true((m != NULL) == (status == GBS_OK));
            gbs_model_free(m);
            if (status == GBS_OK) {
                assert_true(n > 10);
                break;
            }
            assert_int_equal(status, GBS_ERR_MEMORY);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ising_edges),   cmocka_unit_test(test_ising_weights),
        cmocka_unit_test(test_refused_ising), cmocka_unit_test(test_ring),
        cmocka_unit_test(test_potts),         cmocka_unit_test(test_potts_noise),
        cmocka_unit_test(test_bayes),         cmocka_unit_test(test_refused_bayes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
