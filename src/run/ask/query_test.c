/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of gbs_query() agree with sums by hand, and with the run that gives the same answer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gibbsite/gibbsite.h"

enum { RAIN, SPRINKLER, GRASS, N_VARIABLES };

static const double p_rain[2] = {0.8, 0.2};
static const double p_sprinkler[4] = {0.6, 0.4, 0.99, 0.01};
static const double p_grass[8] = {1.0, 0.0, 0.1, 0.9, 0.2, 0.8, 0.01, 0.99};

/* The sprinkler network; the name of one variable has a comma. */
static gbs_model *make_model(void)
{
    static const uint32_t arity[N_VARIABLES] = {2, 2, 2};
    static const uint32_t parent[2] = {RAIN, SPRINKLER};
    static const char *const name[N_VARIABLES] = {"rain", "sprinkler, left", "grass"};
    static const char *const label[2] = {"no", "yes"};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N_VARIABLES, arity, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < N_VARIABLES; ++v) {
        assert_int_equal(gbs_builder_name_variable(b, v, name[v], NULL), GBS_OK);
        assert_int_equal(gbs_builder_label_states(b, v, label, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_add_cpt(b, RAIN, 0, NULL, 2, p_rain, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_cpt(b, SPRINKLER, 1, parent, 4, p_sprinkler, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_cpt(b, GRASS, 2, parent, 8, p_grass, NULL), GBS_OK);
    gbs_builder_set_directed(b);
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static double weight_of_wet(uint32_t rain, uint32_t sprinkler)
{
    return p_rain[rain] * p_sprinkler[2 * rain + sprinkler] * p_grass[4 * rain + 2 * sprinkler + 1];
}

static void check_given_wet(const gbs_answer *a, double tolerance)
{
    const double wet =
        weight_of_wet(0, 0) + weight_of_wet(0, 1) + weight_of_wet(1, 0) + weight_of_wet(1, 1);
    const double on = (weight_of_wet(0, 1) + weight_of_wet(1, 1)) / wet;
    const double rain = (weight_of_wet(1, 0) + weight_of_wet(1, 1)) / wet;
    assert_int_equal(a->n_variables, 2);
    assert_int_equal(a->variable[0], SPRINKLER);
    assert_int_equal(a->variable[1], RAIN);
    assert_int_equal(a->offset[2], 4);
    assert_true(fabs(a->p[a->offset[0] + 1] - on) <= tolerance);
    assert_true(fabs(a->p[a->offset[1] + 1] - rain) <= tolerance);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_true(fabs(a->p[2 * i] + a->p[2 * i + 1] - 1.0) < 1e-6);
    }
    if (tolerance < 1e-9) {
        assert_true(fabs(exp(a->log_evidence) - wet) < 1e-12);
    }
}

static void test_exact(void **state)
{
    (void)state;
    gbs_model *model = make_model();
    gbs_answer answer = {.size = sizeof answer};
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbs_query(model, "grass=yes", "sprinkler, left, rain", NULL, &answer, &err),
                     GBS_OK);
    check_given_wet(&answer, 1e-12);
    assert_int_equal(answer.exact, 1);
    assert_int_equal(answer.converged, 1);
    for (size_t i = 0; i < 4; ++i) {
        assert_true(answer.mcse[i] == 0.0 && isnan(answer.ess[i]) && isnan(answer.rhat[i]));
    }
    assert_true(answer.verdict[0] != '\0');
    gbs_answer_free(&answer);
    assert_null(answer.p);
    assert_int_equal(answer.size, sizeof answer);
    assert_int_equal(gbs_query(model, NULL, NULL, NULL, &answer, &err),
                     GBS_OK); /* queries all variables */
    assert_int_equal(answer.n_variables, N_VARIABLES);
    assert_true(fabs(answer.p[answer.offset[RAIN] + 1] - 0.2) < 1e-12);
    assert_true(fabs(answer.log_evidence) < 1e-12);
    gbs_answer_free(&answer);
    gbs_model_free(model);
}

/* The answer has the bits of the run that samples the same question. */
static void test_sampled(void **state)
{
    (void)state;
    gbs_model *model = make_model();
    gbs_evidence *evidence = NULL;
    gbs_run *run = NULL;
    gbs_answer answer = {.size = sizeof answer};
    gbs_run_options options = gbs_run_options_default();
    double p[6];
    double mcse[6];
    double ess[6];
    double rhat[6];
    options.method = GBS_METHOD_SAMPLE;
    options.sweeps = 20000;
    assert_int_equal(
        gbs_query(model, " grass = yes", "sprinkler, left,rain", &options, &answer, NULL), GBS_OK);
    check_given_wet(&answer,
                    5.0 * answer.mcse[0] + 5.0 * answer.mcse[2]); /* fails by chance once in 10^6 */
    assert_int_equal(answer.exact, 0);
    assert_true(isnan(answer.log_evidence));
    assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_observe(evidence, GRASS, 1, NULL), GBS_OK);
    assert_int_equal(gbs_run_new(model, evidence, &options, &run, NULL), GBS_OK);
    assert_int_equal(gbs_run_execute(run, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_run_marginals(run, p, mcse, ess, rhat, NULL), GBS_OK);
    assert_memory_equal(answer.p + 2, p + 2 * (size_t)RAIN, 2 * sizeof *p);
    assert_memory_equal(answer.mcse, mcse + 2 * (size_t)SPRINKLER, 2 * sizeof *p);
    assert_memory_equal(answer.ess, ess + 2 * (size_t)SPRINKLER, 2 * sizeof *p);
    assert_memory_equal(answer.rhat, rhat + 2 * (size_t)SPRINKLER, 2 * sizeof *p);
    assert_string_equal(answer.verdict, gbs_run_report(run)->verdict);
    assert_int_equal(answer.converged, gbs_run_report(run)->converged);
    gbs_answer_free(&answer);
    options.sweeps = 0;
    options.target_error = 1e-6;
    options.max_updates = 200000;
    assert_int_equal(gbs_query(model, NULL, "0", &options, &answer, NULL), GBS_STOPPED);
    assert_int_equal(answer.n_variables, 1);
    assert_true(answer.mcse[0] > 0.0);
    gbs_answer_free(&answer);
    gbs_run_free(run);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *evidence, *names, *says;
        gbs_status status;
    } wrong[] = {
        {"grass=yes", "rains", "rains", GBS_ERR_ARGUMENT},
        {"grass=yes", "rain,rain", "twice", GBS_ERR_ARGUMENT},
        {"grass=yes", "rain,", "expected the name of a variable", GBS_ERR_ARGUMENT},
        {"grass=yes", "", "expected the name of a variable", GBS_ERR_ARGUMENT},
        {"grass=yes", "rain,3", "3", GBS_ERR_ARGUMENT},
        {"grass=perhaps", "rain", "perhaps", GBS_ERR_ARGUMENT},
        {"grass", "rain", "grass", GBS_ERR_ARGUMENT},
        {"rain=no, sprinkler, left=no, grass=yes", NULL, "", GBS_ERR_IMPOSSIBLE},
    };
    gbs_model *model = make_model();
    gbs_answer untouched;
    gbs_answer answer;
    memset(&answer, 0x5a, sizeof answer);
    answer.size = sizeof answer;
    memcpy(&untouched, &answer, sizeof answer);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        gbs_error err = {GBS_OK, ""};
        assert_int_equal(gbs_query(model, wrong[i].evidence, wrong[i].names, NULL, &answer, &err),
                         wrong[i].status);
        if (strstr(err.message, wrong[i].says) == NULL) {
            fail_msg("\"%s\" lacks \"%s\"", err.message, wrong[i].says);
        }
        assert_memory_equal(&answer, &untouched, sizeof answer);
    }
    gbs_model_free(model);
}

/* Fails cleanly when only 0, 1, 2, ... requests for memory succeed. */
static void test_no_memory(void **state)
{
    (void)state;
    gbs_model *model = make_model();
    gbs_answer answer = {.size = sizeof answer};
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t n = 0;
    for (; status != GBS_OK; ++n) {
        gbsi_alloc_fail_after(n);
        status = gbs_query(model, "grass=yes", "sprinkler, left,rain", NULL, &answer, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && answer.p == NULL));
    }
    assert_true(n > 10);
    check_given_wet(&answer, 1e-12);
    gbs_answer_free(&answer);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
