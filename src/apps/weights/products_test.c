/* SPDX-License-Identifier: Apache-2.0 */
/* Tests tied weights without a matrix of second derivatives: products against the matrix, standard
 * errors by probes against the matrix and the truth, and models with too many weights for a matrix.
 */
#include "weights/products.h"

#include "weights/testing.h"

enum { SPINS = GBS_MAX_LEARNT_WEIGHTS + 4, FEWER = GBS_MAX_LIKELIHOOD_WEIGHTS + 4, PROBES = 400 };

static void products_are_those_of_the_matrix(void **state)
{
    (void)state;
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 50);
    gbsi_pseudo s;
    gbsi_learnt l = {0};
    gbsi_likelihood *likelihood = NULL;
    const double w[LEARNT] = {0.1, 0.2, -0.3, 0.4};
    const double along[LEARNT] = {1.0, -0.5, 0.25, 2.0};
    double information[2][LEARNT * LEARNT];
    double product[2][LEARNT];
    double diagonal[LEARNT];
    double gradient[LEARNT];
    double value = 0.0;
    ok(gbsi_learnt_find(m, &l, NULL));
    ok(gbsi_pseudo_init(&s, m, &l, data, true, NULL, NULL, NULL));
    ok(gbsi_likelihood_new(m, &l, data, UINT64_C(1) << 30, NULL, &likelihood, NULL));
    ok(gbsi_pseudo_sum(&s, w, &value, gradient, information[0], NULL));
    ok(gbsi_likelihood_information(likelihood, w, information[1], NULL));
    ok(gbsi_pseudo_product(&s, w, along, product[0], NULL));
    ok(gbsi_likelihood_product(likelihood, w, along, product[1], NULL));
    ok(gbsi_pseudo_diagonal(&s, w, diagonal, NULL));
    for (uint32_t k = 0; k < LEARNT; ++k) {
        for (int which = 0; which < 2; ++which) {
            double sum = 0.0;
            for (uint32_t j = 0; j < LEARNT; ++j) {
                sum += information[which][(k > j ? k : j) * LEARNT + (k > j ? j : k)] * along[j];
            }
            close_to(product[which][k], sum, which == 0 ? 1e-10 : 1e-4);
        }
        close_to(diagonal[k], information[0][k * LEARNT + k], 1e-10);
    }
    gbsi_pseudo_free(&s);
    gbsi_likelihood_free(likelihood);
    gbsi_learnt_free(&l);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* Makes independent spins, each with its own weight. @param twins weights 0 and 1 belong to one
 * spin. */
static gbs_model *many_weights(uint32_t n, bool twins)
{
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    double *zeros = gbsi_alloc_array_zero(n, sizeof *zeros);
    uint8_t *fixed = gbsi_alloc_array_zero(n, 1);
    uint32_t *two = gbsi_alloc_array(n, sizeof *two);
    for (uint32_t v = 0; v < n; ++v) {
        two[v] = 2;
    }
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, n, two, NULL, NULL));
    ok(gbs_builder_add_weights(b, n, zeros, fixed, NULL, NULL));
    for (uint32_t v = 0; v < n; ++v) {
        ok(gbs_builder_add_field(b, twins && v == 1 ? 0 : v, 0.0, NULL));
        tie(b, v, v, 1.0);
    }
    ok(gbs_builder_build(b, &m, NULL));
    gbs_builder_free(b);
    GBSI_FREE(zeros, fixed, two);
    return m;
}

/* Makes 40 random rows, each of which counts 110 times: together more rows than weights. */
static gbs_data *many_columns(const gbs_model *m, uint32_t n)
{
    gbs_data *data = NULL;
    uint32_t *x = gbsi_alloc_array(n, sizeof *x);
    for (uint32_t v = 0; v < n; ++v) {
        x[v] = v;
    }
    ok(gbs_data_new(m, n, x, &data, NULL));
    for (uint32_t i = 0; i < 40; ++i) {
        for (uint32_t v = 0; v < n; ++v) {
            x[v] = i < 2 ? i : random_below(&seed, 2); /* both states occur */
        }
        ok(gbs_data_add(data, 1, x, NULL, NULL));
        data->weight[i] = 110.0;
        data->sum += 109.0;
    }
    gbsi_free(x);
    return data;
}

/* For independent spins, each with its own weight, the diagonal of the likelihood is exact: each
 * row adds 1 - tanh(w)^2. */
static void diagonal_of_the_likelihood(void **state)
{
    (void)state;
    enum { FEW = 20 };
    gbs_model *m = many_weights(FEW, false);
    gbs_data *data = many_columns(m, FEW);
    gbsi_learnt l = {0};
    gbsi_likelihood *likelihood = NULL;
    double w[FEW];
    double diagonal[FEW];
    ok(gbsi_learnt_find(m, &l, NULL));
    ok(gbsi_likelihood_new(m, &l, data, UINT64_C(1) << 30, NULL, &likelihood, NULL));
    for (uint32_t v = 0; v < FEW; ++v) {
        w[v] = 0.2 * v - 1.0;
    }
    ok(gbsi_likelihood_diagonal(likelihood, w, diagonal, NULL));
    for (uint32_t v = 0; v < FEW; ++v) {
        close_to(diagonal[v], 4400.0 * (1.0 - tanh(w[v]) * tanh(w[v])), 1e-8);
    }
    gbsi_likelihood_free(likelihood);
    gbsi_learnt_free(&l);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* An error of PROBES probes is off by 1 / sqrt(2 PROBES) = 3.5 %, one standard error: within 4.5 of
 * that of the sandwich (once in 18 000 for each of 8). That of the information is another estimate
 * of the same: 400 rows leave them 10 % apart at most, here. */
static void errors_are_those_of_the_matrix(void **state)
{
    (void)state;
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, ROWS);
    for (uint64_t objective = GBS_LEARN_PSEUDO; objective <= GBS_LEARN_LIKELIHOOD; ++objective) {
        double error[2][WEIGHTS];
        gbs_learn_report report = {.size = sizeof report};
        for (int by_probes = 0; by_probes < 2; ++by_probes) {
            const gbs_learn_options options = {.size = sizeof options,
                                               .objective = objective,
                                               .threads = 1,
                                               .probes = by_probes ? PROBES : 0,
                                               .seed = 3};
            gbs_model *learnt = NULL;
            ok(gbs_learn_weights(m, data, &options, NULL, error[by_probes], &learnt, &report,
                                 NULL));
            assert_true(report.has_errors && report.probes == options.probes);
            gbs_model_free(learnt);
        }
        for (uint32_t k = 0; k < WEIGHTS; ++k) {
            const double most = objective == GBS_LEARN_PSEUDO ? 0.16 : 0.26;
            close_to(error[1][k], error[0][k], most * error[0][k] + 1e-12);
        }
    }
    gbs_data_free(data);
    gbs_model_free(m);
}

/* As truth_is_within_errors of weights_test.c, by 32 probes: 2.037 errors are what Student's
 * distribution with 32 degrees of freedom has for 95 %, of 100 data sets. Fails by chance once in
 * 300. */
static void truth_is_within_probed_errors(void **state)
{
    (void)state;
    uint32_t n_within = 0;
    gbs_model *m = small_model(truth);
    for (uint32_t i = 0; i < 100; ++i) {
        const gbs_learn_options options = {
            .size = sizeof options, .threads = 1, .probes = 32, .seed = i};
        double error[WEIGHTS];
        gbs_model *learnt = NULL;
        gbs_data *data = drawn_rows(m, ROWS);
        ok(gbs_learn_weights(m, data, &options, NULL, error, &learnt, NULL, NULL));
        for (uint32_t k = 0; k < WEIGHTS; ++k) {
            const double off = fabs(gbs_model_weight(learnt, k, NULL) - truth[k]);
            n_within += k != 3 && off <= 2.037 * error[k];
        }
        gbs_model_free(learnt);
        gbs_data_free(data);
    }
    assert_in_range(n_within, 380 - 26, 380 + 26);
    gbs_model_free(m);
}

static void threads(void **state)
{
    (void)state;
    const gbs_learn_options options = {.size = sizeof options, .probes = 8};
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 4 * ROWS);
    check_threads(m, data, options);
    gbs_data_free(data);
    gbs_model_free(m);
}

/* ---- more weights than a matrix has room for ------------------------------------------------- */

/* Of n rows with the mean spin m, w = atanh m with the variance 1 / (n (1 - m^2)). By 32 probes an
 * error is off by 12.5 %, one standard error; its square is a mean of 32 chi-squares, which is
 * below half or above double of its expectation 9 times in 1000: 36 of 4100 or so. */
static void many_weights_are_learnt(void **state)
{
    (void)state;
    for (uint64_t objective = GBS_LEARN_PSEUDO; objective <= GBS_LEARN_LIKELIHOOD; ++objective) {
        const uint32_t n = objective == GBS_LEARN_PSEUDO ? SPINS : FEWER;
        gbs_model *m = many_weights(n, false);
        gbs_data *data = many_columns(m, n);
        const gbs_learn_options options = {
            .size = sizeof options, .objective = objective, .threads = 1};
        gbs_learn_report report = {.size = sizeof report};
        gbs_model *learnt = NULL;
        double *error = gbsi_alloc_array(n, sizeof *error);
        unsigned n_far = 0;
        double sum = 0.0;
        ok(gbs_learn_weights(m, data, &options, NULL, error, &learnt, &report, NULL));
        assert_true(report.converged && report.has_errors);
        assert_int_equal(report.probes, GBS_USUAL_LEARN_PROBES);
        for (uint32_t v = 0; v < n; ++v) {
            double mean = 0.0;
            for (size_t i = 0; i < data->n_distinct; ++i) {
                mean += (2.0 * data->state[i * n + v] - 1.0) / 40.0;
            }
            close_to(gbs_model_weight(learnt, v, NULL), atanh(mean), 1e-5);
            const double share = error[v] * error[v] * 4400.0 * (1.0 - mean * mean);
            n_far += share < 0.5 || share > 2.0;
            sum += share / n;
        }
        assert_true(n_far < n / 50);
        close_to(sum, 1.0, 0.05);
        gbs_model_free(learnt);
        gbsi_free(error);
        gbs_data_free(data);
        gbs_model_free(m);
    }
}

/* Two weights of one spin: the data do not determine their difference, but a penalty does. */
static void open_directions_have_no_errors(void **state)
{
    (void)state;
    gbs_model *m = many_weights(SPINS, true);
    gbs_data *data = many_columns(m, SPINS);
    double *error = gbsi_alloc_array(SPINS, sizeof *error);
    for (int penalised = 0; penalised < 2; ++penalised) {
        const gbs_learn_options options = {
            .size = sizeof options, .l2 = penalised, .threads = 1, .probes = 4};
        gbs_learn_report report = {.size = sizeof report};
        gbs_model *learnt = NULL;
        ok(gbs_learn_weights(m, data, &options, NULL, error, &learnt, &report, NULL));
        assert_true(report.converged && report.has_errors == (uint64_t)penalised);
        assert_true(isnan(error[0]) == !penalised);
        gbs_model_free(learnt);
    }
    gbsi_free(error);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void refusals(void **state)
{
    (void)state;
    const gbs_learn_options sampled = {
        .size = sizeof sampled, .objective = GBS_LEARN_SAMPLED, .probes = 3};
    gbs_error err = {GBS_OK, ""};
    gbs_model *m = many_weights(SPINS, false);
    gbs_data *data = many_columns(m, SPINS);
    gbs_model *learnt = NULL;
    assert_int_equal(gbs_learn_weights(m, data, &sampled, NULL, NULL, &learnt, NULL, &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(
        strstr(err.message, "--probes applies with --objective pseudo|likelihood only"));
    gbs_data_free(data);
    gbs_model_free(m);
}

/* Every allocation fails in turn. */
static void memory_runs_out(void **state)
{
    (void)state;
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 20);
    for (uint64_t objective = GBS_LEARN_PSEUDO; objective <= GBS_LEARN_LIKELIHOOD; ++objective) {
        const gbs_learn_options options = {
            .size = sizeof options, .objective = objective, .l2 = 1.0, .threads = 1, .probes = 1};
        gbs_status status = GBS_ERR_MEMORY;
        for (uint64_t allowed = 0; status < 0; ++allowed) {
            double error[WEIGHTS];
            gbs_model *learnt = NULL;
            gbsi_alloc_fail_after(allowed);
            status = gbs_learn_weights(m, data, &options, NULL, error, &learnt, NULL, NULL);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || (status < 0 && learnt == NULL));
            gbs_model_free(learnt);
        }
    }
    gbs_data_free(data);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(products_are_those_of_the_matrix, restart),
        cmocka_unit_test_setup(diagonal_of_the_likelihood, restart),
        cmocka_unit_test_setup(errors_are_those_of_the_matrix, restart),
        cmocka_unit_test_setup(truth_is_within_probed_errors, restart),
        cmocka_unit_test_setup(threads, restart),
        cmocka_unit_test_setup(many_weights_are_learnt, restart),
        cmocka_unit_test_setup(open_directions_have_no_errors, restart),
        cmocka_unit_test_setup(refusals, restart),
        cmocka_unit_test_setup(memory_runs_out, restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
