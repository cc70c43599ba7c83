/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the likelihood of tied weights with enumeration, for rows with and without missing
 * values, and its gradient with differences. Checks that 95 % of intervals contain the true weight.
 */
#include "weights/likelihood.h"

#include "weights/testing.h"

/* @return ln P of the observed values of the rows, by enumeration. */
static double enumerated(const gbs_model *m, const gbs_data *data)
{
    double weight[STATES];
    double total = 0.0;
    double sum = 0.0;
    uint32_t x[N];
    for (uint32_t i = 0; i < STATES; ++i) {
        state_of(i, x);
        total += weight[i] = gbsi_exp(gbs_model_log_density(m, x));
    }
    for (size_t r = 0; r < data->n_distinct; ++r) {
        double of_row = 0.0;
        for (uint32_t i = 0; i < STATES; ++i) {
            bool fits = true;
            state_of(i, x);
            for (uint32_t c = 0; c < N; ++c) {
                const uint16_t state = data->state[r * N + c];
                fits = fits && (state == GBSI_MISSING || state == x[column[c]]);
            }
            of_row += fits ? weight[i] : 0.0;
        }
        sum += data->weight[r] * gbsi_log(of_row / total);
    }
    return sum;
}

static void likelihood_is_that_of_enumeration(void **state)
{
    (void)state;
    gbs_model *m = small_model(truth);
    gbs_data *complete = drawn_rows(m, 40);
    for (uint32_t holes = 0; holes <= 64; holes += 16) {
        gbs_data *data = with_holes(m, complete, holes);
        double sum = 0.0;
        ok(gbs_log_likelihood(m, data, &sum, NULL));
        close_to(sum, enumerated(m, data), 1e-10);
        gbs_data_free(data);
    }
    gbs_data_free(complete);
    gbs_model_free(m);
}

/* Compares gradients with differences, also if the data lack a column of a variable, which is then
 * summed out. */
static void gradient_is_that_of_differences(void **state)
{
    (void)state;
    gbs_model *m = small_model(truth);
    gbs_data *complete = drawn_rows(m, 30);
    gbs_data *data = NULL;
    const double h = 1e-5;
    double w[LEARNT] = {0.1, 0.2, -0.3, 0.4};
    double gradient[LEARNT];
    gbsi_learnt learnt = {0};
    gbsi_likelihood *l = NULL;
    ok(gbs_data_new(m, N - 1, column, &data, NULL));
    for (size_t i = 0; i < complete->n_distinct; ++i) {
        uint32_t row[N - 1];
        for (uint32_t c = 0; c + 1 < N; ++c) {
            row[c] = i % 3 == c ? GBS_UNOBSERVED : complete->state[i * N + c];
        }
        ok(gbs_data_add(data, 1, row, NULL, NULL));
    }
    ok(gbsi_learnt_find(m, &learnt, NULL));
    ok(gbsi_likelihood_new(m, &learnt, data, UINT64_C(1) << 30, NULL, &l, NULL));
    double value = 0.0;
    ok(gbsi_likelihood_at(l, w, &value, gradient, NULL));
    for (uint32_t k = 0; k < LEARNT; ++k) {
        const double at = w[k];
        double high = 0.0;
        double low = 0.0;
        w[k] = at + h;
        ok(gbsi_likelihood_at(l, w, &high, NULL, NULL));
        w[k] = at - h;
        ok(gbsi_likelihood_at(l, w, &low, NULL, NULL));
        w[k] = at;
        close_to(gradient[k], (high - low) / (2.0 * h), 1e-6);
    }
    gbsi_likelihood_free(l);
    gbsi_learnt_free(&learnt);
    gbs_data_free(complete);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* 100 data sets of four weights: 380 of 400 are expected within 1.96 errors, with a standard
 * deviation of at most 2 sqrt(400 * 0.95 * 0.05) = 8.7. */
static uint32_t count_within(uint32_t holes)
{
    const gbs_learn_options options = {.size = sizeof options, .objective = GBS_LEARN_LIKELIHOOD};
    const double starts[WEIGHTS] = {0.0, 0.0, 0.0, truth[3], 0.0};
    uint32_t n_within = 0;
    gbs_model *m = small_model(truth);
    gbs_model *start = NULL;
    ok(gbs_model_with_weights(m, starts, &start, NULL));
    for (uint32_t i = 0; i < 100; ++i) {
        double error[WEIGHTS];
        gbs_model *learnt = NULL;
        gbs_learn_report report = {.size = sizeof report};
        gbs_data *complete = drawn_rows(m, ROWS);
        gbs_data *data = with_holes(m, complete, holes);
        ok(gbs_learn_weights(start, data, &options, NULL, error, &learnt, &report, NULL));
        assert_true(report.converged && report.has_errors && report.iterations < 30);
        assert_true(isnan(report.pseudo_log_likelihood));
        double sum = 0.0;
        ok(gbs_log_likelihood(learnt, data, &sum, NULL));
        close_to(report.log_likelihood, sum, 1e-8);
        assert_true(error[3] == 0.0 && gbs_model_weight(learnt, 3, NULL) == truth[3]);
        for (uint32_t k = 0; k < WEIGHTS; ++k) {
            const double off = fabs(gbs_model_weight(learnt, k, NULL) - truth[k]);
            n_within += k != 3 && off <= 1.96 * error[k];
        }
        gbs_model_free(learnt);
        gbs_data_free(data);
        gbs_data_free(complete);
    }
    gbs_model_free(start);
    gbs_model_free(m);
    return n_within;
}

static void truth_is_within_errors(void **state)
{
    (void)state;
    assert_in_range(count_within(0), 380 - 26, 380 + 20);
}

static void truth_is_within_errors_where_values_are_missing(void **state)
{
    (void)state;
    assert_in_range(count_within(13), 380 - 26, 380 + 20);
}

/* With as many rows as weights, errors come from the information. A penalty makes a maximum if the
 * data do not determine one, and moves it. */
static void few_rows(void **state)
{
    (void)state;
    const gbs_learn_options options = {
        .size = sizeof options, .l2 = 1.0, .objective = GBS_LEARN_LIKELIHOOD};
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 1);
    gbs_model *learnt = NULL;
    double error[WEIGHTS];
    gbs_learn_report report = {.size = sizeof report};
    ok(gbs_learn_weights(m, data, &options, NULL, error, &learnt, &report, NULL));
    assert_true(report.converged && report.has_errors && error[0] > 0.0 && error[0] < 1.0);
    gbs_model_free(learnt);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* No junction tree of 24 x 24 spins fits into 64 MiB. */
static void refusals(void **state)
{
    (void)state;
    static const double weight = 0.1;
    const gbs_learn_options options = {.size = sizeof options,
                                       .memory_limit = UINT64_C(96) << 20,
                                       .objective = GBS_LEARN_LIKELIHOOD};
    const gbs_learn_options unknown = {.size = sizeof unknown, .objective = 7};
    enum { SIDE = 24 };
    gbs_error err = {GBS_OK, ""};
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    gbs_model *learnt = NULL;
    gbs_data *data = NULL;
    uint32_t two[SIDE * SIDE];
    uint32_t all[SIDE * SIDE];
    for (uint32_t v = 0; v < SIDE * SIDE; ++v) {
        two[v] = 2;
        all[v] = v;
    }
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, SIDE * SIDE, two, NULL, NULL));
    ok(gbs_builder_add_weights(b, 1, &weight, NULL, NULL, NULL));
    for (uint32_t v = 0; v < SIDE * SIDE; ++v) {
        for (uint32_t k = 0; k < 2; ++k) {
            const uint32_t next = k == 0 ? v + 1 : v + SIDE;
            if (k == 0 ? v % SIDE + 1 < SIDE : next < SIDE * SIDE) {
                ok(gbs_builder_add_ising(b, v, next, weight, NULL));
            }
        }
    }
    tie(b, 0, 0, 1.0);
    ok(gbs_builder_build(b, &m, NULL));
    ok(gbs_data_new(m, SIDE * SIDE, all, &data, NULL));
    for (uint32_t v = 0; v < SIDE * SIDE; ++v) {
        two[v] = v % 2;
    }
    ok(gbs_data_add(data, 1, two, NULL, NULL));
    assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, NULL, &err),
                     GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "the likelihood needs a junction tree of "));
    assert_int_equal(gbs_learn_weights(m, data, &unknown, NULL, NULL, &learnt, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_null(learnt);
    gbs_builder_free(b);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* A row that a hard clause forbids, whole or in part. */
static void impossible_rows(void **state)
{
    (void)state;
    static const uint32_t two[3] = {2, 2, 2};
    static const uint32_t all[3] = {0, 1, 2};
    static const uint32_t rows[2][3] = {{0, 0, 1}, {0, 0, GBS_UNOBSERVED}};
    static const double weight = 0.1;
    const gbs_learn_options options = {.size = sizeof options, .objective = GBS_LEARN_LIKELIHOOD};
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, 3, two, NULL, NULL));
    ok(gbs_builder_add_weights(b, 1, &weight, NULL, NULL, NULL));
    ok(gbs_builder_add_ising(b, 1, 2, weight, NULL));
    tie(b, 0, 0, 1.0);
    static const uint32_t literal[2] = {1, 1};
    ok(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 2, all, literal, INFINITY, NULL));
    ok(gbs_builder_build(b, &m, NULL));
    for (size_t i = 0; i < 2; ++i) {
        gbs_error err = {GBS_OK, ""};
        gbs_data *data = NULL;
        gbs_model *learnt = NULL;
        double sum = 0.0;
        ok(gbs_data_new(m, 3, all, &data, NULL));
        ok(gbs_data_add(data, 1, rows[i], NULL, NULL));
        assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, NULL, &err),
                         GBS_ERR_IMPOSSIBLE);
        assert_non_null(strstr(err.message, "row 1 has weight 0"));
        ok(gbs_log_likelihood(m, data, &sum, NULL));
        assert_true(sum == -INFINITY);
        gbs_data_free(data);
    }
    gbs_builder_free(b);
    gbs_model_free(m);
}

static void without_memory(void **state)
{
    (void)state;
    const gbs_learn_options options = {.size = sizeof options, .objective = GBS_LEARN_LIKELIHOOD};
    gbs_model *m = small_model(truth);
    gbs_data *complete = drawn_rows(m, 20);
    gbs_data *data = with_holes(m, complete, 10);
    learn_without_memory(m, data, &options, 16);
    gbs_data_free(complete);
    gbs_data_free(data);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(likelihood_is_that_of_enumeration, restart),
        cmocka_unit_test_setup(gradient_is_that_of_differences, restart),
        cmocka_unit_test_setup(truth_is_within_errors, restart),
        cmocka_unit_test_setup(truth_is_within_errors_where_values_are_missing, restart),
        cmocka_unit_test_setup(few_rows, restart),
        cmocka_unit_test_setup(refusals, restart),
        cmocka_unit_test_setup(impossible_rows, restart),
        cmocka_unit_test_setup(without_memory, restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
