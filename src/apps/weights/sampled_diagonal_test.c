/* SPDX-License-Identifier: Apache-2.0 */
/* Tests sampled maximum likelihood of too many weights for a matrix, hundreds of which share each
 * variable. The known maximum must be found from rows with and without missing values, with equal
 * bits on any number of threads and after a checkpoint. */
#include "learn/work.h"
#include "weights/testing.h"

#define CHECKPOINT "sampled_diagonal_test.ckpt"

enum { SPINS = 41, MANY = 101 * SPINS, DRAWN = 40 };

_Static_assert(MANY > GBS_MAX_LEARNT_WEIGHTS, "so many that a matrix is not made");

/* Makes independent spins. Weight k belongs to spin k modulo SPINS; all weights of a spin have one
 * feature. */
static gbs_model *many_weights(void)
{
    static const double zeros[MANY];
    static const uint8_t fixed[MANY];
    uint32_t two[SPINS];
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    for (uint32_t v = 0; v < SPINS; ++v) {
        two[v] = 2;
    }
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, SPINS, two, NULL, NULL));
    ok(gbs_builder_add_weights(b, MANY, zeros, fixed, NULL, NULL));
    for (uint32_t k = 0; k < MANY; ++k) {
        ok(gbs_builder_add_field(b, k % SPINS, 0.0, NULL));
        tie(b, k, k, 1.0);
    }
    ok(gbs_builder_build(b, &m, NULL));
    gbs_builder_free(b);
    return m;
}

/* Draws random rows. @param holes missing values, in 64ths. @param mean [SPINS] out: means of the
 * observed values. */
static gbs_data *random_rows(const gbs_model *m, uint32_t holes, double *mean)
{
    uint32_t x[SPINS];
    double n[SPINS] = {0};
    gbs_data *data = NULL;
    for (uint32_t v = 0; v < SPINS; ++v) {
        x[v] = v;
        mean[v] = 0.0;
    }
    ok(gbs_data_new(m, SPINS, x, &data, NULL));
    for (uint32_t i = 0; i < DRAWN; ++i) {
        for (uint32_t v = 0; v < SPINS; ++v) {
            x[v] = random_below(&seed, 64) < holes ? GBS_UNOBSERVED : random_below(&seed, 2);
            n[v] += x[v] != GBS_UNOBSERVED;
            mean[v] += x[v] == GBS_UNOBSERVED ? 0.0 : 2.0 * x[v] - 1.0;
        }
        ok(gbs_data_add(data, 1, x, NULL, NULL));
    }
    for (uint32_t v = 0; v < SPINS; ++v) {
        mean[v] /= n[v];
    }
    return data;
}

/* The weights of a spin sum up to atanh(mean), whose standard error by the rows is 0.16: learning
 * ends once what is left is a quarter of that, as a root mean square. */
static void maximum_is_found(void **state)
{
    (void)state;
    gbs_model *m = many_weights();
    double *error = gbsi_alloc_array(MANY, sizeof *error);
    for (uint32_t holes = 0; holes <= 6; holes += 6) {
        const gbs_learn_options options = {
            .size = sizeof options, .objective = GBS_LEARN_SAMPLED, .steps = 240, .seed = 3};
        gbs_learn_report report = {.size = sizeof report};
        gbs_model *learnt = NULL;
        double mean[SPINS];
        gbs_data *data = random_rows(m, holes, mean);
        ok(gbs_learn_weights(m, data, &options, NULL, error, &learnt, &report, NULL));
        double square = 0.0;
        assert_true(report.iterations == 60 || report.iterations == 120);
        assert_true(report.converged && !report.has_errors && isnan(error[0]));
        assert_true(report.rhat < 1.05 && report.misfit < 0.25 && isnan(report.change));
        for (uint32_t v = 0; v < SPINS; ++v) {
            double sum = 0.0;
            for (uint32_t k = v; k < MANY; k += SPINS) {
                sum += gbs_model_weight(learnt, k, NULL);
            }
            close_to(sum, atanh(mean[v]), 0.16);
            square += (sum - atanh(mean[v])) * (sum - atanh(mean[v])) / SPINS;
        }
        assert_true(square < 0.05 * 0.05);
        gbs_data_free(data);
        gbs_model_free(learnt);
    }
    gbsi_free(error);
    gbs_model_free(m);
}

/* Weights that did not move far enough must not count as the maximum. */
static void too_few_steps(void **state)
{
    (void)state;
    const gbs_learn_options options = {
        .size = sizeof options, .objective = GBS_LEARN_SAMPLED, .steps = 8};
    gbs_learn_report report = {.size = sizeof report};
    double mean[SPINS];
    gbs_model *m = many_weights();
    gbs_model *learnt = NULL;
    gbs_data *data = random_rows(m, 6, mean);
    ok(gbs_learn_weights(m, data, &options, NULL, NULL, &learnt, &report, NULL));
    assert_true(!report.converged && report.misfit > 0.25);
    gbs_data_free(data);
    gbs_model_free(learnt);
    gbs_model_free(m);
}

/* ---- the same bits --------------------------------------------------------------------------- */

static void same_bits(void **state)
{
    (void)state;
    static const struct {
        const char *write, *resume;
        uint64_t threads, stop_at;
    } ways[] = {{NULL, NULL, 1, UINT64_MAX},
                {NULL, NULL, 3, UINT64_MAX},
                {CHECKPOINT, NULL, 2, 7}, /* is stopped */
                {NULL, CHECKPOINT, 1, UINT64_MAX},
                {NULL, CHECKPOINT "~", 2, UINT64_MAX}};
    const double every_s = gbsi_work_progress_s;
    char digest[5][80];
    gbs_learn_report report[5];
    double mean[SPINS];
    gbs_model *m = many_weights();
    gbs_data *data = random_rows(m, 6, mean);
    gbsi_work_progress_s = 0.0;
    for (size_t i = 0; i < 5; ++i) {
        const gbs_checkpoint_files files = {
            .size = sizeof files, .write = ways[i].write, .resume = ways[i].resume};
        stopping s = {.at = ways[i].stop_at};
        const gbs_learn_options options = {.size = sizeof options,
                                           .objective = GBS_LEARN_SAMPLED,
                                           .l2 = 0.5,
                                           .chains = 30,
                                           .steps = 20,
                                           .threads = ways[i].threads,
                                           .point = stop_see_step,
                                           .point_context = &s,
                                           .checkpoints = &files,
                                           .checkpoint_every_s = 1e-9};
        const gbs_run_callbacks callbacks = {
            .size = sizeof callbacks, .context = &s, .progress = stop_now};
        gbs_model *learnt = NULL;
        report[i].size = sizeof report[i];
        const gbs_status status =
            gbs_learn_weights(m, data, &options, &callbacks, NULL, &learnt, &report[i], NULL);
        assert_int_equal(status, s.at < 20 ? GBS_STOPPED : GBS_OK);
        (void)snprintf(digest[i], sizeof digest[i], "%s", gbs_model_digest(learnt));
        report[i].seconds = 0.0;
        gbs_model_free(learnt);
        if (i == 2) {
            assert_true(isnan(report[i].misfit) && !report[i].converged);
            continue;
        }
        assert_string_equal(digest[i], digest[0]);
        assert_memory_equal(&report[i], &report[0], sizeof report[0]);
    }
    gbsi_work_progress_s = every_s;
    assert_true(remove(CHECKPOINT) == 0 && remove(CHECKPOINT "~") == 0);
    gbs_data_free(data);
    gbs_model_free(m);
}

static void without_memory(void **state)
{
    (void)state;
    const gbs_learn_options options = {
        .size = sizeof options, .objective = GBS_LEARN_SAMPLED, .chains = 2, .steps = 2};
    double mean[SPINS];
    gbs_model *m = many_weights();
    gbs_data *data = random_rows(m, 6, mean);
    learn_without_memory(m, data, &options, UINT64_MAX);
    gbs_data_free(data);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(maximum_is_found, restart),
        cmocka_unit_test_setup(too_few_steps, restart),
        cmocka_unit_test_setup(same_bits, restart),
        cmocka_unit_test_setup(without_memory, restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
