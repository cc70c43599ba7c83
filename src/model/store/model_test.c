/* SPDX-License-Identifier: Apache-2.0 */
#include "store/test_builder.h"

#include <stdio.h>

/* ---- names --------------------------------------------------------------------------------- */

static gbs_model *named_model(void)
{
    static const char *const wet[2] = {"no", "yes"};
    static const char *const sky[3] = {"clear", "cloudy", "1"};
    static const char *const name[4] = {"rain", "lawn", "3", "sky"};
    gbs_builder *b = new_builder(5, mixed);
    for (uint32_t v = 0; v < 4; ++v) {
        assert_int_equal(gbs_builder_name_variable(b, v, name[v], NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_label_states(b, 0, wet, NULL), GBS_OK);
    assert_int_equal(gbs_builder_label_states(b, 3, sky, NULL), GBS_OK);
    gbs_model *m = build(b);
    gbs_builder_free(b);
    return m;
}

static void test_find(void **unused)
{
    (void)unused;
    uint32_t v = 99;
    uint32_t a = 99;
    gbs_model *m = named_model();
    assert_string_equal(gbs_model_variable_name(m, 3), "sky");
    assert_null(gbs_model_variable_name(m, 4));
    assert_string_equal(gbs_model_state_label(m, 3, 1), "cloudy");
    assert_null(gbs_model_state_label(m, 1, 1));
    REFUSED(GBS_ERR_ARGUMENT, gbs_model_find_variable(m, "rane", &v, &err), "did you mean rain");
    REFUSED(GBS_ERR_ARGUMENT, gbs_model_find_variable(m, "RAIN", &v, &err), "did you mean rain");
    REFUSED(GBS_ERR_ARGUMENT, gbs_model_find_variable(m, "5", &v, &err), "has 5 variables");
    REFUSED(GBS_ERR_ARGUMENT, gbs_model_find_variable(m, "99999999999999999999999999", &v, &err),
            "has 5 variables");
    REFUSED(GBS_ERR_ARGUMENT, gbs_model_find_variable(m, "", &v, &err), "no variable");
    REFUSED(GBS_ERR_ARGUMENT, gbs_model_find_state(m, 3, "cloud", &a, &err), "cloudy");
    REFUSED(GBS_ERR_ARGUMENT, gbs_model_find_state(m, 1, "2", &a, &err), "has 2 states");
    REFUSED(GBS_ERR_ARGUMENT, gbs_model_find_state(m, 3, "0", &a, &err), "typed with #");
    REFUSED(GBS_ERR_ARGUMENT, gbs_model_find_state(m, 5, "0", &a, &err), "variable 5");
    assert_int_equal(v, 99);
    assert_int_equal(a, 99);
    assert_int_equal(gbs_model_find_variable(m, "3", &v, NULL), GBS_OK); /* 3 is a name */
    assert_int_equal(v, 2);
    assert_int_equal(gbs_model_find_variable(m, "#3", &v, NULL), GBS_OK);
    assert_int_equal(v, 3);
    assert_int_equal(gbs_model_find_variable(m, "1", &v, NULL), GBS_OK);
    assert_int_equal(v, 1);
    assert_int_equal(gbs_model_find_variable(m, "=3", &v, NULL), GBS_OK);
    assert_int_equal(v, 2);
    assert_int_equal(gbs_model_find_variable(m, "sky", &v, NULL), GBS_OK);
    assert_int_equal(v, 3);
    assert_int_equal(gbs_model_find_state(m, 3, "1", &a, NULL), GBS_OK); /* 1 is a label */
    assert_int_equal(a, 2);
    assert_int_equal(gbs_model_find_state(m, 3, "#0", &a, NULL), GBS_OK);
    assert_int_equal(a, 0);
    assert_int_equal(gbs_model_find_state(m, 0, "yes", &a, NULL), GBS_OK);
    assert_int_equal(a, 1);
    gbs_model_free(m);
}

static void test_refused_names(void **unused)
{
    (void)unused;
    static const char *const same[3] = {"a", "b", "a"};
    static const char *const empty[3] = {"a", "", "c"};
    static const char *const control[3] = {"a", "b", "c\n"};
    gbs_model *m = NULL;
    gbs_builder *b = new_builder(5, mixed);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_label_states(b, 3, same, &err),
            "states 0 and 2 are both \"a\"");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_label_states(b, 3, empty, &err), "state 1 is empty");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_name_variable(b, 0, "", &err), "empty");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_name_variable(b, 0, "a\x1b[2J", &err),
            "variable 0: its name holds the control character U+001b");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_name_variable(b, 0, "\xc2\x9bm", &err), "U+009b");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_label_states(b, 3, control, &err),
            "variable 3: a label holds the control character U+000a");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_name_variable(b, 5, "x", &err), "variable 5");
    assert_int_equal(gbs_builder_name_variable(b, 0, "x", NULL), GBS_OK);
    assert_int_equal(gbs_builder_name_variable(b, 3, "x", NULL), GBS_OK);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_build(b, &m, &err), "variables 0 and 3 are both named");
    assert_int_equal(gbs_builder_name_variable(b, 3, "y", NULL), GBS_OK); /* replaces the name */
    m = build(b);
    assert_null(gbs_model_state_label(m, 3, 0));
    assert_string_equal(gbs_model_variable_name(m, 3), "y");
    gbs_model_free(m);
    gbs_builder_free(b);
}

static void test_many_names(void **unused)
{
    (void)unused;
    enum { N = 5000 };
    uint32_t wide = N;
    uint32_t v = 0;
    static char text[N][16];
    static const char *label[N];
    gbs_builder *b = new_builder(1, &wide);
    for (uint32_t i = 0; i < N; ++i) {
        const uint32_t one = 1;
        (void)snprintf(text[i], sizeof text[i], "v%u", i * 7919u % N);
        label[i] = text[i];
        assert_int_equal(gbs_builder_add_variables(b, 1, &one, &v, NULL), GBS_OK);
        assert_int_equal(gbs_builder_name_variable(b, v, text[i], NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_label_states(b, 0, label, NULL), GBS_OK);
    gbs_model *m = build(b);
    for (uint32_t i = 0; i < N; ++i) {
        assert_int_equal(gbs_model_find_variable(m, text[i], &v, NULL), GBS_OK);
        assert_int_equal(v, i + 1);
    }
    gbs_model_free(m);
    gbs_builder_free(b);
}

/* ---- networks ------------------------------------------------------------------------------ */

static void test_network(void **unused)
{
    (void)unused;
    static const char *const name[4] = {"a", "b", "c", "d"};
    const uint32_t arity[4] = {2, 2, 2, 2};
    const uint32_t arc[5][2] = {{2, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 0}};
    gbs_model *m = NULL;
    gbs_builder *b = new_builder(4, arity);
    for (uint32_t v = 0; v < 4; ++v) {
        assert_int_equal(gbs_builder_name_variable(b, v, name[v], NULL), GBS_OK);
    }
    gbs_builder_set_directed(b);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_build(b, &m, &err), "0 factors, 4 variables");
    for (unsigned i = 0; i < 4; ++i) {
        add_arc_table(b, 2, arc[i], 4);
    }
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_build(b, &m, &err), "directed cycle");
    gbs_error exact = {0};
    assert_int_equal(gbs_builder_build(b, &m, &exact), GBS_ERR_ARGUMENT);
    assert_string_equal(exact.message, "directed cycle a -> b -> c -> a");
    gbs_builder_free(b);

    b = new_builder(4, arity);
    gbs_builder_set_directed(b);
    add_arc_table(b, 2, arc[1], 4); /* 0 -> 1 */
    add_arc_table(b, 2, arc[2], 4); /* 1 -> 2 */
    add_arc_table(b, 2, arc[4], 4); /* 3 -> 0 */
    add_arc_table(b, 2, arc[4], 4);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_build(b, &m, &err), "factors 2 and 3 are both the table");
    gbs_builder_free(b);

    b = new_builder(4, arity);
    gbs_builder_set_directed(b);
    add_arc_table(b, 2, arc[1], 4);
    add_arc_table(b, 2, arc[2], 4);
    add_arc_table(b, 2, arc[4], 4);
    add_arc_table(b, 1, arc[4], 2);
    m = build(b);
    const uint32_t order[4] = {3, 0, 1, 2};
    const uint32_t cpt[4] = {2, 0, 1, 3};
    assert_int_equal(gbs_model_is_directed(m), 1);
    assert_memory_equal(m->topological, order, sizeof order);
    assert_memory_equal(m->cpt, cpt, sizeof cpt);
    /* the columns are zeros, hence each weight is 1 */
    assert_int_equal(gbs_model_is_normalized(m), 0);
    gbs_model_free(m);
    m = build(b); /* an empty model again, which is not directed */
    assert_int_equal(gbs_model_n_variables(m), 0);
    assert_int_equal(gbs_model_is_directed(m), 0);
    gbs_model_free(m);
    gbs_builder_free(b);
}

static void test_not_a_table(void **unused)
{
    (void)unused;
    const uint32_t arity = 2;
    gbs_model *m = NULL;
    gbs_builder *b = new_builder(1, &arity);
    gbs_builder_set_directed(b);
    assert_int_equal(gbs_builder_add_field(b, 0, 1.0, NULL), GBS_OK);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_build(b, &m, &err), "not the table of a variable");
    gbs_builder_free(b);
}

/* ---- digest -------------------------------------------------------------------------------- */

/* @param changed number of the detail that differs from 0: 1 shares the tables, 2 gives names;
 * larger numbers change the model. */
static void digest_of(int changed, char digest[33])
{
    static double logw[81];
    const uint32_t arity[5] = {9, 9, 2, 2, changed == 3 ? 3 : 2};
    const uint32_t scope[2][2] = {{0, 1}, {changed == 4 ? 0 : 1, changed == 4 ? 1 : 0}};
    const uint32_t spins[2] = {2, 3};
    const uint32_t literal[2] = {1, changed == 5 ? 0 : 1};
    uint32_t table[4];
    gbs_builder *b = new_builder(5, arity);
    for (unsigned e = 0; e < 81; ++e) {
        logw[e] = e == 70 && changed == 6 ? -(double)INFINITY : (double)e;
    }
    for (unsigned i = 0; i < 2; ++i) {
        const unsigned used = changed == 1 ? 0 : i;
        if (used == i) {
            assert_int_equal(gbs_builder_add_table(b, 81, logw, &table[i], NULL), GBS_OK);
            assert_int_equal(gbs_builder_add_table(b, 4, logw, &table[2 + i], NULL), GBS_OK);
        }
        assert_int_equal(gbs_builder_add_table_factor(b, 2, scope[i], table[used], NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, 2, spins, table[2 + used], NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_add_ising(b, 2, 3, changed == 7 ? 1.5 : 1.0, NULL), GBS_OK);
    for (unsigned i = 0; i < 2; ++i) {
        const gbs_logical_function f = changed == 8 ? GBS_LOGICAL_AND : GBS_LOGICAL_OR;
        assert_int_equal(gbs_builder_add_logical(b, f, 2, spins, literal, 1.0, NULL), GBS_OK);
    }
    if (changed == 2) {
        assert_int_equal(gbs_builder_name_variable(b, 1, "name", NULL), GBS_OK);
    }
    gbs_model *m = build(b);
    memcpy(digest, gbs_model_digest(m), 33);
    gbs_model_free(m);
    gbs_builder_free(b);
}

static void test_digest(void **unused)
{
    (void)unused;
    char digest[9][33];
    for (int i = 0; i < 9; ++i) {
        digest_of(i, digest[i]);
        assert_int_equal(strlen(digest[i]), 32);
        for (int j = 0; j < i; ++j) {
            if (i <= 2) {
                assert_string_equal(digest[i], digest[j]);
            } else {
                assert_string_not_equal(digest[i], digest[j]);
            }
        }
    }
    /* the digest is fixed since the first version, because saved runs identify models by it */
    assert_string_equal(digest[0], "24ff91e8952c07863de453a172cc407a");
}

/* ---- evidence in the model ----------------------------------------------------------------- */

/* Finds factors on one variable that allow only one state, but not states implied by several
 * factors together. */
static void test_clamped(void **unused)
{
    (void)unused;
    static const double only_two[3] = {-INFINITY, -INFINITY, 0.25};
    static const double not_two[3] = {0, 0, -INFINITY};
    static const uint32_t scope[4] = {0, 1, 3, 4};
    static const uint32_t one[2] = {1, 1};
    uint32_t state[5];
    uint32_t table[2];
    gbs_builder *b = new_builder(5, mixed); /* 2, 2, 2, 3 and 1 states */
    assert_int_equal(gbs_builder_add_table(b, 3, only_two, &table[0], NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 3, not_two, &table[1], NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_IS_TRUE, 1, scope, one, INFINITY, NULL),
                     GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_AND, 2, scope, one, INFINITY, NULL),
                     GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 2, 1e9, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 1, scope + 2, table[1], NULL), GBS_OK);
    gbs_model *m = build(b);
    gbs_model_clamped(m, state);
    for (uint32_t v = 0; v < 5; ++v) {
        assert_int_equal(state[v], v == 0 ? 1 : UINT32_MAX);
    }
    gbs_model_free(m);
    gbs_builder_free(b);
    b = new_builder(5, mixed);
    assert_int_equal(gbs_builder_add_table(b, 3, only_two, &table[0], NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 1, scope + 2, table[0], NULL), GBS_OK);
    m = build(b);
    gbs_model_clamped(m, state);
    assert_int_equal(state[3], 2);
    assert_int_equal(state[4], UINT32_MAX);
    gbs_model_free(m);
    gbs_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clamped),       cmocka_unit_test(test_find),
        cmocka_unit_test(test_refused_names), cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_network),       cmocka_unit_test(test_not_a_table),
        cmocka_unit_test(test_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
