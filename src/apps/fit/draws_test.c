/* SPDX-License-Identifier: Apache-2.0 */
/* Compares EM with sampled expectations with EM with exact expectations, and with single
 * conditionals in a network that is too large for a junction tree. Tests equal bits in a second
 * run, and calls that end without a result. */
#include "gibbsite/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "generate/random_models.h"
#include "gibbsite/generate.h"
#include "gibbsite/query.h"

enum { MOST = 160, PARENTS = 4, ENTRIES = 2 << PARENTS }; /* variables; of the wide network */

static uint64_t seed;

static int restart(void **unused)
{
    (void)unused;
    seed = 22;
    return 0;
}

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static gbs_model *network(uint32_t n, uint32_t parents, uint64_t of)
{
    gbs_model *m = NULL;
    const gbs_generate_bayes_options o = {.size = sizeof o,
                                          .variables = n,
                                          .parents = parents,
                                          .min_states = 2,
                                          .max_states = 2,
                                          .seed = of};
    ok(gbs_generate_bayes(&o, &m, NULL));
    return m;
}

/* Rows with states at random. @param missing percent. */
static gbs_data *rows_of(const gbs_model *m, uint32_t n, uint32_t missing)
{
    gbs_data *data = NULL;
    uint32_t column[MOST];
    uint32_t state[MOST];
    const uint32_t n_variables = gbs_model_n_variables(m);
    for (uint32_t v = 0; v < n_variables; ++v) {
        column[v] = v;
    }
    ok(gbs_data_new(m, n_variables, column, &data, NULL));
    for (uint32_t i = 0; i < n; ++i) {
        const double weight = 1.0 + 0.5 * (i % 3);
        for (uint32_t v = 0; v < n_variables; ++v) {
            state[v] = random_below(&seed, 100) < missing ? GBS_UNOBSERVED : random_below(&seed, 2);
        }
        ok(gbs_data_add(data, 1, state, &weight, NULL));
    }
    return data;
}

static gbs_fit_options sampled(void)
{
    return (gbs_fit_options){.size = sizeof(gbs_fit_options),
                             .prior = GBS_PRIOR_DIRICHLET,
                             .weight = 1.0,
                             .seed = 3,
                             .sweeps = 256,
                             .target_error = 0.02,
                             .expectations = GBS_EXPECTATIONS_SAMPLED};
}

/* @return the largest difference of a probability. @param met_only whether only columns of two
 * states that draws of `a` met are compared. */
static double difference(const gbs_model *m, const gbs_fitted *a, const gbs_fitted *b,
                         bool met_only)
{
    double most = 0.0;
    double p[64];
    double q[64];
    double count[64];
    for (uint32_t v = 0; v < gbs_model_n_variables(m); ++v) {
        const size_t n = gbs_fitted_n_entries(a, v);
        assert_true(n <= 64);
        ok(gbs_fitted_table(a, v, 0.9, p, NULL, NULL, count, NULL));
        ok(gbs_fitted_table(b, v, 0.9, q, NULL, NULL, NULL, NULL));
        for (size_t i = 0; i < n; ++i) {
            const bool counts = !met_only || count[i - i % 2] + count[i - i % 2 + 1] > 0.0;
            most = counts && fabs(p[i] - q[i]) > most ? fabs(p[i] - q[i]) : most;
        }
    }
    return most;
}

static void sampled_em_ends_where_exact_em_does(void **unused)
{
    (void)unused;
    for (uint64_t round = 0; round < 3; ++round) {
        gbs_model *m = network(6, 2, round);
        gbs_data *data = rows_of(m, 20, 30);
        gbs_data *other = rows_of(m, 6, 30);
        gbs_fit_options o = sampled();
        gbs_fitted *a = NULL;
        gbs_fitted *b = NULL;
        gbs_fitted *again = NULL;
        o.threads = 1;
        ok(gbs_fit(m, data, other, &o, NULL, &a, NULL));
        o.threads = 2;
        ok(gbs_fit(m, data, other, &o, NULL, &again, NULL));
        o.expectations = GBS_EXPECTATIONS_AUTO;
        ok(gbs_fit(m, data, other, &o, NULL, &b, NULL));
        const gbs_fit_report *r = gbs_fitted_report(a);
        const gbs_fit_report *exact = gbs_fitted_report(b);
        assert_int_equal(r->exact, 0);
        assert_int_equal(exact->exact, 1);
        assert_int_equal(r->converged, 1);
        assert_true(r->error > 0.0 && r->error <= o.target_error);
        assert_true(difference(m, a, b, false) < 6.0 * r->error);
        assert_true(r->log_likelihood_error > 0.0 && r->held_out_error > 0.0);
        assert_true(fabs(r->log_likelihood - exact->log_likelihood) <
                    5.0 * r->log_likelihood_error + 0.1);
        assert_true(fabs(r->held_out_log_likelihood - exact->held_out_log_likelihood) <
                    5.0 * r->held_out_error + 0.1);
        assert_true(r->held_out_weight == 9.0 && exact->held_out_weight == 9.0);
        assert_true(difference(m, a, again, false) == 0.0);
        assert_true(r->log_likelihood == gbs_fitted_report(again)->log_likelihood);
        gbs_fitted_free(a);
        gbs_fitted_free(b);
        gbs_fitted_free(again);
        gbs_data_free(data);
        gbs_data_free(other);
        gbs_model_free(m);
    }
}

/* Few rows with many missing values, without a prior: some columns are expected in a fraction of a
 * row. Where sampled EM claims to have converged, EM with exact expectations that starts there
 * stays within five errors. */
static void claims_hold(void **unused)
{
    (void)unused;
    uint32_t n_claims = 0;
    for (uint64_t round = 0; round < 16; ++round) {
        gbs_model *m = network(4, 2, 100 + round);
        const uint32_t n_rows = 2 + (uint32_t)round % 4;
        const uint64_t of_rows = seed;
        gbs_data *data = rows_of(m, n_rows, 45);
        gbs_fit_options o = {.size = sizeof o,
                             .seed = round,
                             .sweeps = 1024,
                             .iterations = 60,
                             .target_error = 0.05,
                             .expectations = GBS_EXPECTATIONS_SAMPLED};
        gbs_fitted *sampled = NULL;
        gbs_fitted *exact = NULL;
        ok(gbs_fit(m, data, NULL, &o, NULL, &sampled, NULL));
        const gbs_fit_report *r = gbs_fitted_report(sampled);
        if (r->converged) {
            seed = of_rows;
            gbs_data *again = rows_of(gbs_fitted_model(sampled), n_rows, 45);
            const gbs_fit_options of_exact = {.size = sizeof of_exact,
                                              .iterations = 100000,
                                              .tolerance = 1e-9,
                                              .expectations = GBS_EXPECTATIONS_EXACT};
            ok(gbs_fit(gbs_fitted_model(sampled), again, NULL, &of_exact, NULL, &exact, NULL));
            const double off = difference(m, sampled, exact, true);
            if (off > 5.0 * r->error) {
                print_error("round %u: off by %g, stated error %g\n", (unsigned)round, off,
                            r->error);
            }
            assert_true(off <= 5.0 * r->error);
            gbs_data_free(again);
            ++n_claims;
        }
        gbs_fitted_free(sampled);
        gbs_fitted_free(exact);
        gbs_data_free(data);
        gbs_model_free(m);
    }
    print_message("%u claims\n", n_claims);
    assert_true(n_claims >= 4);
}

/* The data say nothing about a variable without a column and without children: EM with exact
 * expectations stays where it starts, and chains only move its table at random. */
static void nothing_is_said(void **unused)
{
    (void)unused;
    gbs_model *m = network(2, 1, 5);
    const uint32_t column[1] = {0};
    const uint32_t state[8] = {0, 1, 1, 0, 1, 0, 0, 1};
    gbs_data *data = NULL;
    gbs_fitted *f = NULL;
    gbs_fit_options o = sampled();
    o.prior = GBS_PRIOR_NONE;
    o.iterations = 20;
    ok(gbs_data_new(m, 1, column, &data, NULL));
    ok(gbs_data_add(data, 8, state, NULL, NULL));
    ok(gbs_fit(m, data, NULL, &o, NULL, &f, NULL));
    assert_int_equal(gbs_fitted_report(f)->converged, 0);
    assert_true(gbs_fitted_report(f)->error > 0.1);
    gbs_fitted_free(f);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* Makes variables whose parents are random earlier variables: every elimination order is wide. */
static gbs_model *wide_network(void)
{
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    uint32_t arity[MOST];
    for (uint32_t v = 0; v < MOST; ++v) {
        arity[v] = 2;
    }
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, MOST, arity, NULL, NULL));
    for (uint32_t v = 0; v < MOST; ++v) {
        uint32_t scope[PARENTS + 1];
        uint32_t table = 0;
        double logw[ENTRIES];
        const uint32_t n = v < PARENTS ? 0 : PARENTS;
        for (uint32_t k = 0; k < n; ++k) { /* one of each quarter of those before */
            scope[k] = k * v / n + random_below(&seed, v / n);
        }
        scope[n] = v;
        for (uint32_t i = 0; i < (2U << n); i += 2) {
            const double p = 0.05 + 0.9 * random_below(&seed, 1000) / 1000.0;
            logw[i] = log(p);
            logw[i + 1] = log(1.0 - p);
        }
        ok(gbs_builder_add_table(b, 2U << n, logw, &table, NULL));
        ok(gbs_builder_add_table_factor(b, n + 1, scope, table, NULL));
    }
    gbs_builder_set_directed(b);
    ok(gbs_builder_build(b, &m, NULL));
    gbs_builder_free(b);
    return m;
}

/* A row that misses one variable v: after an iteration from the network's own tables the count of
 * v = x is P(v = x | the rest). */
static void beyond_any_tree(void **unused)
{
    (void)unused;
    gbs_model *m = wide_network();
    const uint32_t v = MOST / 2;
    uint32_t column[MOST];
    uint32_t state[MOST];
    char evidence[MOST * 16];
    double count[ENTRIES];
    size_t at = 0;
    gbs_data *data = NULL;
    gbs_fitted *f = NULL;
    gbs_answer answer = {.size = sizeof answer};
    for (uint32_t i = 0; i < MOST; ++i) {
        column[i] = i;
        state[i] = i == v ? GBS_UNOBSERVED : random_below(&seed, 2);
        if (i != v) {
            at += (size_t)snprintf(evidence + at, sizeof evidence - at, "%s%u=%u", i > 0 ? "," : "",
                                   i, state[i]);
        }
    }
    ok(gbs_data_new(m, MOST, column, &data, NULL));
    ok(gbs_data_add(data, 1, state, NULL, NULL));
    gbs_fit_options o = {.size = sizeof o, .iterations = 1};
    ok(gbs_fit(m, data, NULL, &o, NULL, &f, NULL));
    assert_int_equal(gbs_fitted_report(f)->exact, 0);
    ok(gbs_fitted_table(f, v, 0.9, NULL, NULL, NULL, count, NULL));
    ok(gbs_query(m, evidence, "80", NULL, &answer, NULL));
    double sum = 0.0;
    double odd = 0.0;
    for (size_t i = 0; i < ENTRIES; ++i) {
        sum += count[i];
        odd += i % 2 == 1 ? count[i] : 0.0;
    }
    assert_true(answer.exact && fabs(sum - 1.0) < 1e-12);
    assert_true(fabs(odd - answer.p[1]) < 0.08); /* 1024 draws, five errors of 1/2 */
    o.expectations = GBS_EXPECTATIONS_EXACT;
    gbs_fitted *none = NULL;
    assert_int_equal(gbs_fit(m, data, NULL, &o, NULL, &none, NULL), GBS_ERR_LIMIT);
    assert_null(none);
    gbs_answer_free(&answer);
    gbs_fitted_free(f);
    gbs_data_free(data);
    gbs_model_free(m);
}

static int stop_at(void *context, const gbs_progress *progress)
{
    return progress->pass >= *(const uint64_t *)context;
}

static void stopped_early(void **unused)
{
    (void)unused;
    gbs_model *m = network(6, 2, 4);
    gbs_data *data = rows_of(m, 400, 30);
    gbs_fit_options o = sampled();
    gbs_fitted *f = NULL;
    uint64_t at = 0;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &at, .progress = stop_at};
    o.target_error = 1e-9;
    assert_int_equal(gbs_fit(m, data, NULL, &o, &callbacks, &f, NULL), GBS_ERR_STOPPED);
    assert_null(f);
    at = 2;
    assert_int_equal(gbs_fit(m, data, NULL, &o, &callbacks, &f, NULL), GBS_STOPPED);
    const gbs_fit_report *r = gbs_fitted_report(f);
    assert_true(r->iterations >= 2 && r->iterations < 1000 && r->converged == 0);
    assert_true(isnan(r->log_likelihood) && isnan(r->log_likelihood_error));
    gbs_fitted_free(f);
    f = NULL;
    o.expectations = 3;
    assert_int_equal(gbs_fit(m, data, NULL, &o, NULL, &f, NULL), GBS_ERR_ARGUMENT);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* Zeros of the network make a row impossible, by its evidence alone or for all values of the
 * missing variables. */
static void impossible_rows(void **unused)
{
    (void)unused;
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    gbs_data *data = NULL;
    gbs_fitted *f = NULL;
    uint32_t table = 0;
    gbs_error err = {GBS_OK, ""};
    const double half[2] = {log(0.5), log(0.5)};
    const double never[4] = {0.0, -INFINITY, 0.0, -INFINITY};
    const uint32_t arity[2] = {2, 2};
    const uint32_t scope[2] = {0, 1};
    const uint32_t column[1] = {1};
    const uint32_t state[2] = {0, 1};
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, 2, arity, NULL, NULL));
    ok(gbs_builder_add_table(b, 2, half, &table, NULL));
    ok(gbs_builder_add_table_factor(b, 1, scope, table, NULL));
    ok(gbs_builder_add_table(b, 4, never, &table, NULL));
    ok(gbs_builder_add_table_factor(b, 2, scope, table, NULL));
    gbs_builder_set_directed(b);
    ok(gbs_builder_build(b, &m, NULL));
    gbs_builder_free(b);
    ok(gbs_data_new(m, 1, column, &data, NULL));
    ok(gbs_data_add(data, 2, state, NULL, NULL));
    gbs_fit_options o = sampled();
    o.prior = GBS_PRIOR_NONE;
    assert_int_equal(gbs_fit(m, data, NULL, &o, NULL, &f, &err), GBS_ERR_IMPOSSIBLE);
    assert_non_null(strstr(err.message, "row 2 has probability zero"));
    o.prior = GBS_PRIOR_BDEU;
    ok(gbs_fit(m, data, NULL, &o, NULL, &f, NULL));
    gbs_fitted_free(f);
    gbs_data_free(data);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sampled_em_ends_where_exact_em_does, restart),
        cmocka_unit_test_setup(claims_hold, restart),
        cmocka_unit_test_setup(nothing_is_said, restart),
        cmocka_unit_test_setup(beyond_any_tree, restart),
        cmocka_unit_test_setup(stopped_early, restart),
        cmocka_unit_test_setup(impossible_rows, restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
