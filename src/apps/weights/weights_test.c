/* SPDX-License-Identifier: Apache-2.0 */
/* Tests learning of tied weights: the pseudo-likelihood against enumeration, its derivatives
 * against finite differences, and intervals that contain 95 % of true weights. */
#include "gibbsite/learn.h"

#include <math.h>
#include <string.h>

#include "weights/pseudo.h"
#include "weights/testing.h"

static void pseudo_likelihood_is_that_of_enumeration(void **state)
{
    (void)state;
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 30);
    double expected = 0.0;
    double sum = 0.0;
    for (size_t i = 0; i < data->n_distinct; ++i) {
        uint32_t x[N];
        for (uint32_t c = 0; c < N; ++c) {
            x[column[c]] = data->state[i * N + c];
        }
        const double own = gbs_model_log_density(m, x);
        for (uint32_t v = 0; v < N; ++v) {
            const uint32_t at = x[v];
            double total = 0.0;
            for (x[v] = 0; x[v] < arity[v]; ++x[v]) {
                total += gbsi_exp(gbs_model_log_density(m, x) - own);
            }
            x[v] = at;
            expected -= data->weight[i] * gbsi_log(total);
        }
    }
    ok(gbs_pseudo_log_likelihood(m, data, &sum, NULL));
    close_to(sum, expected, 1e-10);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* Central differences of step h are off by about h^2 and 1e-13 / h. */
static void derivatives_are_those_of_differences(void **state)
{
    (void)state;
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 30);
    gbsi_pseudo s;
    gbsi_learnt l = {0};
    const double h = 1e-4;
    double w[LEARNT] = {0.1, 0.2, -0.3, 0.4};
    double gradient[LEARNT];
    double information[LEARNT * LEARNT];
    double value = 0.0;
    ok(gbsi_learnt_find(m, &l, NULL));
    ok(gbsi_pseudo_init(&s, m, &l, data, true, NULL, NULL, NULL));
    assert_int_equal(l.n, LEARNT);
    ok(gbsi_pseudo_sum(&s, w, &value, gradient, information, NULL));
    for (uint32_t k = 0; k < LEARNT; ++k) {
        const double at = w[k];
        double high = 0.0;
        double low = 0.0;
        double above[LEARNT];
        double below[LEARNT];
        w[k] = at + h;
        ok(gbsi_pseudo_sum(&s, w, &high, above, NULL, NULL));
        w[k] = at - h;
        ok(gbsi_pseudo_sum(&s, w, &low, below, NULL, NULL));
        w[k] = at;
        close_to(gradient[k], (high - low) / (2.0 * h), 1e-5);
        for (uint32_t j = k; j < LEARNT; ++j) {
            close_to(information[j * LEARNT + k], (below[j] - above[j]) / (2.0 * h), 1e-5);
        }
    }
    gbsi_pseudo_free(&s);
    gbsi_learnt_free(&l);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* 200 data sets of four weights: 760 of 800 are expected within 1.96 errors. Weights of one data
 * set depend on each other, so that the standard deviation is at most 2 sqrt(800 * 0.95 * 0.05) =
 * 12.3; an error stated 15 % too small would lose 25 of them. Fails by chance once in 300. */
static void truth_is_within_errors(void **state)
{
    (void)state;
    uint32_t n_within = 0;
    double starts[WEIGHTS] = {0.0, 0.0, 0.0, truth[3], 0.0};
    gbs_model *m = small_model(truth);
    gbs_model *start = NULL;
    ok(gbs_model_with_weights(m, starts, &start, NULL));
    for (uint32_t i = 0; i < 200; ++i) {
        double error[WEIGHTS];
        gbs_model *learnt = NULL;
        gbs_learn_report report = {.size = sizeof report};
        gbs_data *data = drawn_rows(m, ROWS);
        ok(gbs_learn_weights(start, data, NULL, NULL, error, &learnt, &report, NULL));
        assert_true(report.converged && report.has_errors && report.iterations < 12);
        assert_true(gbs_model_weight(learnt, 3, NULL) == truth[3] && error[3] == 0.0);
        for (uint32_t k = 0; k < WEIGHTS; ++k) {
            const double off = fabs(gbs_model_weight(learnt, k, NULL) - truth[k]);
            n_within += k != 3 && off <= 1.96 * error[k];
        }
        gbs_model_free(learnt);
        gbs_data_free(data);
    }
    assert_in_range(n_within, 760 - 36, 760 + 36);
    gbs_model_free(start);
    gbs_model_free(m);
}

/* Computes the gradient of ln PL at the weights of a model. @param w, gradient [LEARNT] out. */
static void gradient_of(const gbs_model *m, const gbs_data *data, double *w, double *gradient)
{
    gbsi_pseudo s;
    gbsi_learnt l = {0};
    double value = 0.0;
    ok(gbsi_learnt_find(m, &l, NULL));
    ok(gbsi_pseudo_init(&s, m, &l, data, true, NULL, NULL, NULL));
    for (uint32_t k = 0; k < LEARNT; ++k) {
        w[k] = gbs_model_weight(m, l.weight[k], NULL);
    }
    ok(gbsi_pseudo_sum(&s, w, &value, gradient, NULL, NULL));
    gbsi_pseudo_free(&s);
    gbsi_learnt_free(&l);
}

/* The gradient of ln PL at a maximum under a penalty is l2 w. */
static void penalty_pulls(void **state)
{
    (void)state;
    const gbs_learn_options options = {.size = sizeof options, .l2 = 50.0};
    gbs_model *m = small_model(truth);
    gbs_model *learnt = NULL;
    gbs_data *data = drawn_rows(m, ROWS);
    double w[LEARNT];
    double gradient[LEARNT];
    ok(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, NULL, NULL));
    assert_string_equal(gbs_model_variable_name(learnt, 3), "the last spin");
    gradient_of(learnt, data, w, gradient);
    for (uint32_t k = 0; k < LEARNT; ++k) {
        close_to(gradient[k], options.l2 * w[k], 1e-4);
        assert_true(fabs(w[k]) > 1e-3);
    }
    gbs_data_free(data);
    gbs_model_free(learnt);
    gbs_model_free(m);
}

/* Under l1, the derivative of ln PL by a weight is l1 with the sign of the weight, and smaller if
 * the weight is 0. */
static void l1_leaves_out_weights(void **state)
{
    (void)state;
    gbs_learn_options options = {.size = sizeof options, .l1 = 50.0, .tolerance = 1e-7};
    gbs_learn_report report = {.size = sizeof report};
    double error[WEIGHTS];
    double w[LEARNT];
    double gradient[LEARNT];
    gbs_error err = {GBS_OK, ""};
    gbs_model *m = small_model(truth);
    gbs_model *learnt = NULL;
    gbs_data *data = drawn_rows(m, ROWS);
    unsigned n_zero = 0;
    const gbs_status status =
        gbs_learn_weights(m, data, &options, NULL, error, &learnt, &report, &err);
    if (status != GBS_ERR_UNSUPPORTED) { /* a build without libLBFGS */
        ok(status);
        assert_true(report.converged && !report.has_errors && isnan(error[0]) && error[3] == 0.0);
        assert_true(gbs_model_weight(learnt, 3, NULL) == truth[3]);
        gradient_of(learnt, data, w, gradient);
        for (uint32_t k = 0; k < LEARNT; ++k) {
            n_zero += w[k] == 0.0;
            assert_true(w[k] != 0.0 || fabs(gradient[k]) <= options.l1 + 1e-3);
            close_to(w[k] == 0.0 ? 0.0 : gradient[k] - copysign(options.l1, w[k]), 0.0, 1e-3);
        }
        assert_true(n_zero > 0 && n_zero < LEARNT);
    }
    assert_true(status == GBS_OK || strstr(err.message, "libLBFGS") != NULL);
    gbs_model_free(learnt);
    learnt = NULL;
    options.objective = GBS_LEARN_SAMPLED;
    assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "--l1 applies with --objective pseudo|likelihood only"));
    gbs_data_free(data);
    gbs_model_free(m);
}

static void threads(void **state)
{
    (void)state;
    const gbs_learn_options options = {.size = sizeof options};
    gbs_model *m = small_model(truth);
    /* blocks have 17 of the distinct rows, of which there are up to 48 */
    gbs_data *data = drawn_rows(m, 4 * ROWS);
    assert_true(data->n_distinct > 34);
    check_threads(m, data, options);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void one_row_has_no_errors(void **state)
{
    (void)state;
    gbs_learn_options options = {.size = sizeof options, .l2 = 1.0};
    gbs_learn_report report = {.size = sizeof report};
    double error[WEIGHTS];
    gbs_model *m = small_model(truth);
    gbs_model *learnt = NULL;
    gbs_data *data = drawn_rows(m, 1);
    ok(gbs_learn_weights(m, data, &options, NULL, error, &learnt, &report, NULL));
    assert_true(report.converged && !report.has_errors && isnan(error[0]) && error[3] == 0.0);
    gbs_model_free(learnt);
    options.l2 = 0.0;
    options.iterations = 3;
    ok(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, &report, NULL));
    assert_true(!report.converged && report.iterations == 3);
    gbs_model_free(learnt);
    gbs_data_free(data);
    gbs_model_free(m);
}

static int stop(void *context, const gbs_progress *progress)
{
    (void)context;
    return progress->pass > 0;
}

static void refusals(void **state)
{
    (void)state;
    static const uint32_t row[2] = {0, GBS_UNOBSERVED};
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks, .progress = stop};
    const gbs_learn_options little = {.size = sizeof little, .memory_limit = 1};
    gbs_error err = {GBS_OK, ""};
    double sum = 3.0;
    gbs_model *m = small_model(truth);
    gbs_model *learnt = NULL;
    gbs_data *data = NULL;
    ok(gbs_data_new(m, 2, column, &data, NULL));
    ok(gbs_data_add(data, 1, row, NULL, NULL));
    assert_int_equal(gbs_pseudo_log_likelihood(m, data, &sum, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "without a value of variable 0"));
    gbs_data_free(data);
    ok(gbs_data_new(m, 2, column, &data, NULL));
    assert_int_equal(gbs_pseudo_log_likelihood(m, data, &sum, &err), GBS_ERR_ARGUMENT);
    gbs_data_free(data);
    data = drawn_rows(m, 20000);
    assert_int_equal(gbs_learn_weights(m, data, &little, NULL, NULL, &learnt, NULL, &err),
                     GBS_ERR_LIMIT);
    /* looks of the watch depend on counted operations, not on seconds */
    assert_int_equal(gbs_learn_weights(m, data, NULL, &callbacks, NULL, &learnt, NULL, &err),
                     GBS_STOPPED);
    gbs_model_free(learnt);
    assert_true(sum == 3.0);
    gbs_data_free(data);
    gbs_model_free(m);
}

enum { MOST_POINTS = 64 };

typedef struct curve {
    gbs_learn_point at[MOST_POINTS];
    uint64_t n;
} curve;

static void add_point(void *context, const gbs_learn_point *point)
{
    curve *c = context;
    assert_true(point->size == sizeof *point && point->iteration == c->n && c->n < MOST_POINTS);
    c->at[c->n++] = *point;
}

/* The first point has the first weights, and the last point the learnt weights. The gradient of a
 * point in between shows how far the objective is from its maximum. */
static void points(void **state)
{
    (void)state;
    curve c = {.n = 0};
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, ROWS);
    gbs_data *others = drawn_rows(m, ROWS / 4);
    gbs_learn_options options = {
        .size = sizeof options, .point = add_point, .point_context = &c, .held_out = others};
    gbs_learn_report report = {.size = sizeof report};
    gbs_model *learnt = NULL;
    gbs_error err = {GBS_OK, ""};
    double sum = 0.0;
    ok(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, &report, NULL));
    assert_true(c.n == report.iterations + 1 && c.at[c.n - 1].objective == report.objective);
    ok(gbs_pseudo_log_likelihood(learnt, others, &sum, NULL));
    close_to(c.at[c.n - 1].held_out, sum, 1e-9);
    ok(gbs_pseudo_log_likelihood(m, others, &sum, NULL));
    close_to(c.at[0].held_out, sum, 1e-9);
    ok(gbs_pseudo_log_likelihood(m, data, &sum, NULL));
    close_to(c.at[0].objective, sum, 1e-9);
    assert_true(c.at[c.n - 1].gradient < 1e-6 && c.at[0].gradient > 1.0);
    gbs_model_free(learnt);
    learnt = NULL;
    options.point = NULL;
    assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_true(strstr(err.message, "held_out without point") != NULL && learnt == NULL);
    gbs_data_free(others);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* If any request for memory fails, the outputs are unchanged and nothing leaks. */
static void without_memory_and(double l1)
{
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 20);
    gbs_model *learnt = NULL;
    gbs_status status = GBS_ERR_MEMORY;
    curve c = {.n = 0};
    const gbs_learn_options options = {.size = sizeof options,
                                       .l2 = 1.0,
                                       .l1 = l1,
                                       .point = add_point,
                                       .point_context = &c,
                                       .held_out = data};
    for (uint64_t n = 0; status != GBS_OK; ++n) {
        gbs_error err = {GBS_OK, ""};
        c.n = 0;
        gbsi_alloc_fail_after(n);
        status = gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, NULL, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && learnt == NULL) ||
                    (status == GBS_ERR_UNSUPPORTED && l1 > 0.0));
        status = status == GBS_ERR_UNSUPPORTED ? GBS_OK : status;
    }
    gbs_model_free(learnt);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void without_memory(void **state)
{
    (void)state;
    without_memory_and(0.0);
    without_memory_and(1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pseudo_likelihood_is_that_of_enumeration, restart),
        cmocka_unit_test_setup(derivatives_are_those_of_differences, restart),
        cmocka_unit_test_setup(truth_is_within_errors, restart),
        cmocka_unit_test_setup(penalty_pulls, restart),
        cmocka_unit_test_setup(l1_leaves_out_weights, restart),
        cmocka_unit_test_setup(threads, restart),
        cmocka_unit_test_setup(one_row_has_no_errors, restart),
        cmocka_unit_test_setup(points, restart),
        cmocka_unit_test_setup(refusals, restart),
        cmocka_unit_test_setup(without_memory, restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
