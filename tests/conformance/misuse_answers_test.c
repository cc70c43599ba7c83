/* SPDX-License-Identifier: Apache-2.0 */
/* As misuse_test.c, for exact answers, joint distributions, tables of cases, influences and scans.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answers/answers.h"
#include "gibbsite/cases.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/joint.h"
#include "support/misuse.h"

static void exact_answers(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    double z = 0.0;
    uint32_t x[2];
    const uint32_t bad[2] = {0, 2};
    REFUSED(gbs_exact_log_z(NULL, NULL, NULL, &z, &err));
    FINE(gbs_exact_log_z(m, NULL, NULL, &z, &err));
    REFUSED(gbs_exact_map(NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
    FINE(gbs_exact_map(m, NULL, NULL, NULL, x, NULL, NULL, &err));
    REFUSED(gbs_exact_mmap(NULL, NULL, NULL, 1, bad, x, NULL, &err));
    REFUSED(gbs_exact_mmap(m, NULL, NULL, 2, bad, x, NULL, &err));
    REFUSED(gbs_exact_mmap(m, NULL, NULL, 2, NULL, x, NULL, &err));
    REFUSED(gbs_exact_log_z(m, NULL, NULL, NULL, &err));
    REFUSED(gbs_exact_map(m, NULL, NULL, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_exact_map(m, NULL, NULL, bad, x, NULL, NULL, &err));
    REFUSED(gbs_exact_mmap(m, NULL, NULL, 1, bad, NULL, NULL, &err));
    gbs_model_free(m);
}

static void influences(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_influences *c = NULL;
    gbs_influence_norms norms;
    gbs_sufficient enough;
    uint64_t n = 0;
    gbs_variation_bound b;
    double v = 0.0;
    double *weight = NULL;
    const double negative[2] = {1.0, -1.0};
    const double *const list[1] = {negative};
    const uint64_t steps[2] = {4, 2};
    const gbs_influence_options no_rule = {.rule = 77};
    REFUSED(gbs_influences_new(NULL, NULL, NULL, &c, &err));
    REFUSED(gbs_influences_new(m, NULL, NULL, NULL, &err));
    REFUSED(gbs_influences_new(m, NULL, &no_rule, &c, &err));
    const gbs_pair wrong[] = {{0, 1, -0.1}, {0, 1, 1.5}, {0, 1, NAN}, {0, 0, 0.5}, {7, 0, 0.5}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        const gbs_influence_options one = {.size = sizeof one, .given = &wrong[k], .n_given = 1};
        REFUSED(gbs_influences_new(m, NULL, &one, &c, &err));
    }
    const gbs_pair pair[] = {{0, 1, 0.5}, {0, 1, 0.5}};
    const gbs_influence_options twice = {.size = sizeof twice, .given = pair, .n_given = 2};
    REFUSED(gbs_influences_new(m, NULL, &twice, &c, &err));
    const gbs_influence_options one = {.size = sizeof one, .given = pair, .n_given = 1};
    FINE(gbs_influences_new(m, NULL, &one, &c, &err));
    assert_true(gbs_influence(c, 0, 1) == 0.5 && gbs_influence(c, 1, 0) == 0.0);
    assert_int_equal(gbs_influences_report(c)->n_given, 1);
    gbs_influences_free(c);
    FINE(gbs_influences_new(m, NULL, NULL, &c, &err));
    assert_null(gbs_influences_report(NULL));
    REFUSED(gbs_influences_norms(NULL, &norms, &err));
    REFUSED(gbs_influences_norms(c, NULL, &err));
    assert_true(gbs_influence(NULL, 0, 1) == 0.0);
    assert_true(gbs_influence(c, 2, 0) == 0.0);
    assert_true(gbs_influence(c, 0, UINT32_MAX) == 0.0);
    REFUSED(gbs_variation(NULL, NULL, 1, NULL, 1, steps, &b, &err));
    REFUSED(gbs_variation(c, NULL, 1, NULL, 1, NULL, &b, &err));
    REFUSED(gbs_variation(c, NULL, 1, NULL, 1, steps, NULL, &err));
    REFUSED(gbs_variation(c, NULL, 1, NULL, 2, steps, &b, &err)); /* not ascending */
    REFUSED(gbs_variation(c, NULL, 1, list, 1, steps, &b, &err));
    FINE(gbs_variation(c, NULL, 1, NULL, 1, steps, &b, &err)); /* NULL weights: all 1 */
    assert_true(b.variation > 0.0 && b.variation < 2.0 && b.total_variation <= 1.0);
    REFUSED(gbs_pass_length(NULL, NULL, &n, &err));
    REFUSED(gbs_pass_length(c, NULL, NULL, &err));
    FINE(gbs_pass_length(c, NULL, &n, &err));
    REFUSED(gbs_variation_within(NULL, NULL, NULL, 0.1, &enough, &err));
    REFUSED(gbs_variation_within(c, NULL, NULL, 0.1, NULL, &err));
    REFUSED(gbs_variation_within(c, NULL, NULL, NAN, &enough, &err));
    REFUSED(gbs_variation_within(c, NULL, negative, 0.1, &enough, &err));
    gbs_coupling_bound coupled;
    gbs_coupling_report pairs = {.size = sizeof pairs};
    REFUSED(gbs_couple(NULL, NULL, NULL, 1, NULL, 1, steps, &coupled, NULL, &pairs, &err));
    REFUSED(gbs_couple(c, NULL, NULL, 1, NULL, 1, NULL, &coupled, NULL, &pairs, &err));
    REFUSED(gbs_couple(c, NULL, NULL, 1, NULL, 1, steps, NULL, NULL, &pairs, &err));
    REFUSED(gbs_couple(c, NULL, NULL, 1, NULL, 1, steps, &coupled, NULL, NULL, &err));
    REFUSED(gbs_couple(c, NULL, NULL, 1, list, 1, steps, &coupled, NULL, &pairs, &err));
    FINE(gbs_couple(c, NULL, NULL, 1, NULL, 1, steps, &coupled, NULL, &pairs, &err));
    REFUSED(gbsi_weights_read(NULL, m, &v, &err));
    REFUSED(gbsi_weights_read("x", NULL, &v, &err));
    REFUSED(gbsi_weights_read("x", m, weight, &err));
    gbs_influences_free(c);
    gbs_influences_free(NULL);
    gbs_model_free(m);
}

static void optimised_scans(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_influences *c = NULL;
    uint32_t *sequence = NULL;
    size_t n = 0;
    const gbs_scan_request request = {.steps = 4};
    const gbs_scan_request nothing = {.size = sizeof nothing};
    const gbs_scan_request origin = {.steps = 4, .origin = 2};
    FINE(gbs_influences_new(m, NULL, NULL, &c, &err));
    REFUSED(gbs_scan_optimise(NULL, &request, &sequence, &n, NULL, &err));
    REFUSED(gbs_scan_optimise(c, NULL, &sequence, &n, NULL, &err));
    REFUSED(gbs_scan_optimise(c, &request, NULL, &n, NULL, &err));
    REFUSED(gbs_scan_optimise(c, &request, &sequence, NULL, NULL, &err));
    REFUSED(gbs_scan_optimise(c, &nothing, &sequence, &n, NULL, &err));
    REFUSED(gbs_scan_optimise(c, &origin, &sequence, &n, NULL, &err));
    FINE(gbs_scan_optimise(c, &request, &sequence, &n, NULL, &err));
    gbs_free(sequence);
    gbs_free(NULL);
    gbs_influences_free(c);
    gbs_model_free(m);
}

static void many_cases(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_cases *cases = NULL;
    const uint32_t id = 0;
    const uint32_t bad = 2;
    double log_p = 0.0;
    gbs_case_answers answers = {.size = sizeof answers, .log_p = &log_p};
    REFUSED(gbs_cases_new(NULL, NULL, NULL, 1, &id, 1, &id, &cases, &err));
    REFUSED(gbs_cases_new(m, NULL, NULL, 1, NULL, 1, &id, &cases, &err));
    REFUSED(gbs_cases_new(m, NULL, NULL, 1, &id, 1, NULL, &cases, &err));
    REFUSED(gbs_cases_new(m, NULL, NULL, 1, &id, 1, &id, NULL, &err));
    REFUSED(gbs_cases_new(m, NULL, NULL, 1, &bad, 0, NULL, &cases, &err));
    REFUSED(gbs_cases_new(m, NULL, NULL, 0, NULL, 1, &bad, &cases, &err));
    assert_int_equal(gbs_cases_n_states(NULL), 0);
    assert_int_equal(gbs_cases_is_exact(NULL), 0);
    assert_int_equal(gbs_cases_at_once(NULL), 0);
    FINE(gbs_cases_new(m, NULL, NULL, 1, &id, 1, &id, &cases, &err));
    REFUSED(gbs_cases_answer(NULL, 1, &id, NULL, &answers, NULL, &err));
    REFUSED(gbs_cases_answer(cases, 1, NULL, NULL, &answers, NULL, &err));
    REFUSED(gbs_cases_answer(cases, 1, &id, NULL, NULL, NULL, &err));
    REFUSED(gbs_cases_answer(cases, 1, &bad, NULL, &answers, NULL, &err));
    FINE(gbs_cases_answer(cases, 1, &id, NULL, &answers, NULL, &err));
    FINE(gbs_cases_answer(cases, 0, NULL, NULL, &answers, NULL, &err));
    gbs_cases_free(cases);
    gbs_cases_free(NULL);
    gbs_model_free(m);
}

static void joint_tables(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_joint_estimate *e = NULL;
    const uint32_t id = 0;
    const uint32_t bad[2] = {2, 0};
    const uint32_t x[2] = {0, 1};
    double p[2] = {7.0, 7.0};
    REFUSED(gbs_exact_joint(NULL, NULL, NULL, 1, &id, p, &err));
    REFUSED(gbs_exact_joint(m, NULL, NULL, 1, NULL, p, &err));
    REFUSED(gbs_exact_joint(m, NULL, NULL, 1, &id, NULL, &err));
    REFUSED(gbs_exact_joint(m, NULL, NULL, 1, bad, p, &err));
    FINE(gbs_exact_joint(m, NULL, NULL, 1, &id, p, &err));
    REFUSED(gbs_joint_estimate_new(NULL, NULL, 1, &id, 1, 1, &e, &err));
    REFUSED(gbs_joint_estimate_new(m, NULL, 1, NULL, 1, 1, &e, &err));
    REFUSED(gbs_joint_estimate_new(m, NULL, 0, &id, 1, 1, &e, &err));
    REFUSED(gbs_joint_estimate_new(m, NULL, 1, &id, 0, 1, &e, &err));
    REFUSED(gbs_joint_estimate_new(m, NULL, 1, &id, 1, 1, NULL, &err));
    REFUSED(gbs_joint_estimate_new(m, NULL, 1, bad, 1, 1, &e, &err));
    FINE(gbs_joint_estimate_new(m, NULL, 1, &id, 1, 1, &e, &err));
    REFUSED(gbs_joint_estimate_add(NULL, 0, x, &err));
    REFUSED(gbs_joint_estimate_add(e, 0, NULL, &err));
    REFUSED(gbs_joint_estimate_add(e, 1, x, &err));
    REFUSED(gbs_joint_estimate_add(e, 0, bad, &err));
    FINE(gbs_joint_estimate_add(e, 0, x, &err));
    REFUSED(gbs_joint_estimate_read(NULL, p, NULL, NULL, NULL, &err));
    REFUSED(gbs_joint_estimate_read(e, NULL, NULL, NULL, NULL, &err));
    FINE(gbs_joint_estimate_read(e, p, NULL, NULL, NULL, &err));
    gbs_joint_estimate_free(e);
    gbs_joint_estimate_free(NULL);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_answers),   cmocka_unit_test(influences),
        cmocka_unit_test(optimised_scans), cmocka_unit_test(many_cases),
        cmocka_unit_test(joint_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
