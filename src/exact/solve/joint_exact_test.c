/* SPDX-License-Identifier: Apache-2.0 */
/* Compares joint distributions by junction trees with enumeration, on random models of every kind.
 */
#include <string.h>

#include "base/memory.h"
#include "gibbsite/exact.h"
#include "reference/joint.h"
#include "reference/testing.h"

enum { MOST_CELLS = 4096 };

static uint32_t random_query(uint32_t n, uint32_t *query)
{
    uint32_t found = 0;
    const uint32_t first = test_below(n);
    for (uint32_t i = 0; i < n; ++i) {
        if (test_below(3) > 0) {
            query[found++] = (i + first) % n;
        }
    }
    return found;
}

static void random_models(void **unused)
{
    (void)unused;
    static double p[MOST_CELLS];
    static double known[MOST_CELLS];
    uint32_t n_compared = 0;
    test_draws_restart();
    for (uint32_t round = 0; round < 600; ++round) {
        gbs_model *model = test_random_model();
        gbs_evidence *evidence = NULL;
        uint32_t query[MOST_VARIABLES];
        const uint32_t n_variables = gbs_model_n_variables(model);
        const uint32_t n = random_query(n_variables, query);
        size_t n_cells = 1;
        for (uint32_t i = 0; i < n; ++i) {
            n_cells *= gbs_model_arity(model, query[i]);
        }
        test_ok(gbs_evidence_new(model, &evidence, NULL));
        if (test_below(2) == 0) {
            const uint32_t v = test_below(n_variables);
            test_ok(gbs_evidence_observe(evidence, v, test_below(gbs_model_arity(model, v)), NULL));
        }
        p[0] = 7.0;
        const gbs_status status = gbs_exact_joint(model, evidence, NULL, n, query, p, NULL);
        if (n == 0) {
            assert_true(status == GBS_ERR_IMPOSSIBLE || p[0] == 1.0);
        } else {
            assert_int_equal(status, gbsi_joint_exact(model, evidence, n, query, known, NULL));
        }
        for (size_t i = 0; status == GBS_OK && n > 0 && i < n_cells; ++i) {
            assert_true(fabs(p[i] - known[i]) < 1e-9);
        }
        assert_true(status == GBS_OK || p[0] == 7.0);
        n_compared += status == GBS_OK && n > 1;
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n_compared > 200);
}

/* A chain: far ends share no clique. */
static gbs_model *chain(uint32_t n)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    const uint32_t two = 2;
    test_ok(gbs_builder_new(&b, NULL));
    for (uint32_t v = 0; v < n; ++v) {
        test_ok(gbs_builder_add_variables(b, 1, &two, NULL, NULL));
    }
    for (uint32_t v = 0; v + 1 < n; ++v) {
        test_ok(gbs_builder_add_ising(b, v, v + 1, 0.75, NULL));
    }
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

static void limits(void **unused)
{
    (void)unused;
    gbs_model *model = chain(40);
    gbs_error err;
    double p[8] = {7.0};
    uint32_t all[40];
    gbs_exact_options options = {.size = sizeof options, .most_s = 1e-12};
    const uint32_t ends[3] = {39, 0, 20};
    for (uint32_t v = 0; v < 40; ++v) {
        all[v] = v;
    }
    assert_int_equal(gbs_exact_joint(model, NULL, NULL, 40, all, p, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "more than 16777216 joint states"));
    assert_int_equal(gbs_exact_joint(model, NULL, &options, 3, ends, p, &err), GBS_ERR_LIMIT);
    options.most_s = -1.0;
    assert_int_equal(gbs_exact_joint(model, NULL, &options, 3, ends, p, &err), GBS_ERR_ARGUMENT);
    assert_true(p[0] == 7.0);
    test_ok(gbs_exact_joint(model, NULL, NULL, 3, ends, p, NULL));
    /* spins at a distance d are equal with probability (1 + tanh(J)^d) / 2 */
    const double near = pow(tanh(0.75), 19.0);
    const double far = pow(tanh(0.75), 20.0);
    assert_true(fabs(p[0] - (1.0 + near) * (1.0 + far) / 8.0) < 1e-12);
    assert_true(fabs(p[1] - (1.0 - near) * (1.0 - far) / 8.0) < 1e-12);
    assert_true(fabs(p[5] - (1.0 + near) * (1.0 - far) / 8.0) < 1e-12);
    gbs_model_free(model);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    gbs_model *model = chain(5);
    const uint32_t query[2] = {4, 1};
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t n = 0;
    for (; status != GBS_OK; ++n) {
        double p[4] = {7.0};
        gbsi_alloc_fail_after(n);
        status = gbs_exact_joint(model, NULL, NULL, 2, query, p, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        assert_true((status == GBS_OK) == (p[0] != 7.0));
    }
    assert_true(n > 10);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_models), cmocka_unit_test(limits),
                                       cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
