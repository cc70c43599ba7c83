/* SPDX-License-Identifier: Apache-2.0 */
/* Tests conditioning on single models, each of which is difficult in one way. */
#include "generate/random_models.h"

#include <string.h>

#include "base/memory.h"
#include "condition/condition.h"
#include "condition/propagate.h"

static gbs_builder *new_builder(uint32_t n, uint32_t arity)
{
    gbs_builder *b = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &arity, NULL, NULL), GBS_OK);
    }
    return b;
}

static gbs_model *build(gbs_builder *b)
{
    gbs_model *m = NULL;
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    gbs_builder_free(b);
    return m;
}

static void test_empty(void **unused)
{
    (void)unused;
    gbsi_conditioned *c = NULL;
    gbs_model *m = build(new_builder(0, 2));
    assert_int_equal(gbsi_condition(m, NULL, &c, NULL), GBS_OK);
    assert_int_equal(c->n_variables, 0);
    assert_true(gbsi_conditioned_log_density(c, NULL) == 0.0);
    gbsi_conditioned_free(c);
    gbs_model_free(m);
}

static void test_impossible_constant(void **unused)
{
    (void)unused;
    const double zero = -INFINITY;
    uint32_t table = 0;
    gbs_error err = {0};
    gbsi_conditioned *c = NULL;
    gbs_builder *b = new_builder(1, 2);
    assert_int_equal(gbs_builder_add_table(b, 1, &zero, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 0, NULL, table, NULL), GBS_OK);
    gbs_model *m = build(b);
    assert_int_equal(gbsi_condition(m, NULL, &c, &err), GBS_ERR_IMPOSSIBLE);
    assert_non_null(strstr(err.message, "factor 0 ()"));
    assert_null(c);
    gbs_model_free(m);
}

static void test_impossible_names(void **unused)
{
    (void)unused;
    const uint32_t scope[3] = {0, 1, 2};
    const uint32_t state[3] = {1, 1, 1};
    gbs_error err = {0};
    gbs_evidence *e = NULL;
    gbsi_conditioned *c = NULL;
    gbs_builder *b = new_builder(3, 2);
    assert_int_equal(gbs_builder_name_variable(b, 0, "a", NULL), GBS_OK);
    assert_int_equal(gbs_builder_name_variable(b, 1, "b", NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 0, 1.0, NULL), GBS_OK);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 3, scope, state, INFINITY, NULL), GBS_OK);
    gbs_model *m = build(b);
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    for (uint32_t v = 0; v < 3; ++v) {
        assert_int_equal(gbs_evidence_observe(e, v, 0, NULL), GBS_OK);
    }
    assert_int_equal(gbsi_condition(m, e, &c, &err), GBS_ERR_IMPOSSIBLE);
    assert_string_equal(err.message, "evidence has probability zero: factor 1 (a, b, 2) forbids "
                                     "every combination that is left");
    gbs_evidence_free(e);
    gbs_model_free(m);
}

/* Factors that share a table share their remaining table if and only if they lose the same
 * states. */
static void test_shared_slices(void **unused)
{
    (void)unused;
    double logw[9];
    uint32_t table = 0;
    gbs_evidence *e = NULL;
    gbsi_conditioned *c = NULL;
    gbs_builder *b = new_builder(402, 3);
    for (unsigned i = 0; i < 9; ++i) {
        logw[i] = i;
    }
    assert_int_equal(gbs_builder_add_table(b, 9, logw, &table, NULL), GBS_OK);
    for (uint32_t v = 0; v < 401; ++v) {
        const uint32_t scope[2] = {v, v + 1};
        assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, table, NULL), GBS_OK);
    }
    gbs_model *m = build(b);
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    for (uint32_t v = 0; v < 400; v += 4) { /* 300 factors have no observed variable or one */
        assert_int_equal(gbs_evidence_observe(e, v, v / 4 % 3, NULL), GBS_OK);
    }
    assert_int_equal(gbsi_condition(m, e, &c, NULL), GBS_OK);
    /* the whole table, three states observed on the left, three on the right */
    assert_int_equal(c->factors.n_tables, 7);
    assert_int_equal(c->factors.table_start[7], 9 + 6 * 3);
    assert_int_equal(c->factors.n_factors, 401);
    gbsi_conditioned_free(c);
    gbs_evidence_free(e);
    gbs_model_free(m);
}

static void test_wide_domain(void **unused)
{
    (void)unused;
    gbs_evidence *e = NULL;
    gbsi_conditioned *c = NULL;
    gbs_builder *b = new_builder(3, 65535);
    assert_int_equal(gbs_builder_add_potts(b, 0, 1, -INFINITY, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_potts(b, 1, 2, 0.5, NULL), GBS_OK);
    gbs_model *m = build(b);
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_observe(e, 0, 65534, NULL), GBS_OK);
    gbs_error err = {0};
    /* with one state less on one end, a coupling would need a table of 2^32 entries, which is
     * refused with this reason */
    assert_int_equal(gbsi_condition(m, e, &c, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "factor 1"));
    assert_int_equal(gbs_evidence_observe(e, 2, 64, NULL), GBS_OK);
    assert_int_equal(gbsi_condition(m, e, &c, NULL), GBS_OK);
    assert_int_equal(c->n_variables, 1);
    assert_int_equal(c->arity[0], 65534);
    assert_int_equal(c->user_state[65533], 65533);
    assert_int_equal(c->factors.n_factors, 1);
    assert_true(c->factors.table[64] == 0.5 && c->factors.table[65] == 0.0);
    gbsi_conditioned_free(c);
    gbs_evidence_free(e);
    gbs_model_free(m);
}

static void test_network(void **unused)
{
    (void)unused;
    const double logw[4] = {-1.0, -2.0, -3.0, -INFINITY};
    uint32_t table[2];
    gbs_evidence *e = NULL;
    gbsi_conditioned *c = NULL;
    gbs_builder *b = new_builder(4, 2);
    assert_int_equal(gbs_builder_add_table(b, 2, logw, &table[0], NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 4, logw, &table[1], NULL), GBS_OK);
    const uint32_t arc[3][2] = {{3, 2}, {2, 1}, {1, 0}};
    for (unsigned i = 0; i < 3; ++i) {
        assert_int_equal(gbs_builder_add_table_factor(b, 2, arc[i], table[1], NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_add_table_factor(b, 1, &arc[0][0], table[0], NULL), GBS_OK);
    gbs_builder_set_directed(b);
    gbs_model *m = build(b);
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    /* then variables 0 and 2 are 0 */
    assert_int_equal(gbs_evidence_observe(e, 1, 1, NULL), GBS_OK);
    assert_int_equal(gbsi_condition(m, e, &c, NULL), GBS_OK);
    assert_int_equal(c->n_variables, 1);
    assert_int_equal(c->n_implied, 2);
    assert_int_equal(c->user_variable[0], 3);
    assert_int_equal(c->factors.n_factors, 2);
    assert_int_equal(c->cpt[0], 1);
    assert_int_equal(c->origin[1], 3);
    gbsi_conditioned_free(c);
    assert_int_equal(gbsi_condition(m, NULL, &c, NULL), GBS_OK);
    const uint32_t order[4] = {3, 2, 1, 0};
    assert_memory_equal(c->topological, order, sizeof order);
    assert_int_equal(c->cpt[2], 0);
    gbsi_conditioned_free(c);
    gbs_evidence_free(e);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_impossible_constant),
        cmocka_unit_test(test_impossible_names),
        cmocka_unit_test(test_shared_slices),
        cmocka_unit_test(test_wide_domain),
        cmocka_unit_test(test_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
