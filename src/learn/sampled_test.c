/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled maximum likelihood against that by a junction tree: as far apart as the chance that is
 * said to be in it, of rows with and without missing values; one row; the same bits again. */
#include "learn/testing.h"

enum { SETS = 12 };

/* Learns both ways. @param z2 += squared distances in standard errors of chance. */
static void compare(const gbs_model *start, const gbs_data *data, uint64_t steps, double *z2)
{
    const gbs_learn_options exact = {.size = sizeof exact, .objective = GBS_LEARN_LIKELIHOOD};
    const gbs_learn_options sampled = {.size = sizeof sampled,
                                       .objective = GBS_LEARN_SAMPLED,
                                       .chains = 50,
                                       .steps = steps,
                                       .seed = 5};
    gbs_model *learnt[2] = {NULL, NULL};
    double error[2][WEIGHTS];
    gbs_learn_report report = {.size = sizeof report};
    ok(gbs_learn_weights(start, data, &exact, NULL, error[0], &learnt[0], NULL, NULL));
    ok(gbs_learn_weights(start, data, &sampled, NULL, error[1], &learnt[1], &report, NULL));
    assert_true(report.converged && report.has_errors && report.rhat < 1.05);
    assert_true(report.chance > 0.0 && report.chance < 0.7);
    for (uint32_t k = 0; k < WEIGHTS; ++k) {
        const double away =
            gbs_model_weight(learnt[0], k, NULL) - gbs_model_weight(learnt[1], k, NULL);
        const double chance = report.chance * error[1][k]; /* at most that, of this weight */
        assert_true(k == 3 ? error[1][k] == 0.0 && away == 0.0 : fabs(away) < 4.5 * chance);
        assert_true(k == 3 || fabs(error[1][k] / error[0][k] - 1.0) < 0.5);
        *z2 += k == 3 ? 0.0 : away * away / (chance * chance);
    }
    gbs_model_free(learnt[0]);
    gbs_model_free(learnt[1]);
}

static void try_rows(uint32_t n_rows, uint32_t holes, uint64_t steps)
{
    const double starts[WEIGHTS] = {0.0, 0.0, 0.0, truth[3], 0.0};
    gbs_model *m = small_model(truth);
    gbs_model *start = NULL;
    double z2 = 0.0;
    ok(gbs_model_with_weights(m, starts, &start, NULL));
    for (int i = 0; i < SETS; ++i) {
        gbs_data *complete = drawn_rows(m, n_rows);
        gbs_data *data = with_holes(m, complete, holes);
        compare(start, data, steps, &z2);
        gbs_data_free(complete);
        gbs_data_free(data);
    }
    assert_true(z2 / (SETS * LEARNT) < 1.6); /* chance is stated for the weight that has most */
    gbs_model_free(start);
    gbs_model_free(m);
}

static void complete_rows(void **state)
{
    (void)state;
    try_rows(ROWS, 0, 800);
}

static void rows_with_holes(void **state)
{
    (void)state;
    try_rows(ROWS, 13, 800);
}

static void threads(void **state)
{
    (void)state;
    gbs_learn_options options = {
        .size = sizeof options, .objective = GBS_LEARN_SAMPLED, .chains = 20, .steps = 60};
    gbs_model *m = small_model(truth);
    gbs_data *complete = drawn_rows(m, ROWS);
    gbs_data *data = with_holes(m, complete, 13);
    check_threads(m, complete, options);
    options.method = GBS_LEARN_RESTARTED;
    check_threads(m, data, options);
    gbs_data_free(complete);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void same_bits_and_refusals(void **state)
{
    (void)state;
    gbs_learn_options options = {
        .size = sizeof options, .objective = GBS_LEARN_SAMPLED, .l2 = 1.0, .steps = 40};
    gbs_model *m = small_model(truth);
    gbs_data *data = drawn_rows(m, 1); /* one row, with a penalty */
    gbs_model *learnt[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; ++i) {
        ok(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt[i], NULL, NULL));
    }
    assert_string_equal(gbs_model_digest(learnt[0]), gbs_model_digest(learnt[1]));
    gbs_model_free(learnt[0]);
    gbs_model_free(learnt[1]);
    options.chains = 1;
    gbs_model *none = NULL;
    assert_int_equal(gbs_learn_weights(m, data, &options, NULL, NULL, &none, NULL, NULL),
                     GBS_ERR_ARGUMENT);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void without_memory(void **state)
{
    (void)state;
    const gbs_learn_options options = {
        .size = sizeof options, .objective = GBS_LEARN_SAMPLED, .chains = 4, .steps = 8};
    gbs_model *m = small_model(truth);
    gbs_data *complete = drawn_rows(m, 20);
    gbs_data *data = with_holes(m, complete, 10);
    gbs_model *learnt = NULL;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; ++n) {
        gbs_error err = {GBS_OK, ""};
        gbsi_alloc_fail_after(n);
        status = gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, NULL, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && learnt == NULL));
    }
    gbs_model_free(learnt);
    gbs_data_free(complete);
    gbs_data_free(data);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(complete_rows, restart),
        cmocka_unit_test_setup(rows_with_holes, restart),
        cmocka_unit_test_setup(threads, restart),
        cmocka_unit_test_setup(same_bits_and_refusals, restart),
        cmocka_unit_test_setup(without_memory, restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
