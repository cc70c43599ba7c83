/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/test_models.h"

#define V "variables:\nrain\nlawn\t3\n"

static void smallest(void **state)
{
    (void)state;
    gbs_model *m = read_model("a.alchemy", "variables:\nfactors:\n", NULL);
    assert_int_equal(gbs_model_n_variables(m), 0);
    gbs_model_free(m);
    m = read_model("a.alchemy", "variables:\nx\nfactors:\nx // 0 -1", NULL);
    uint32_t x = 1;
    assert_true(gbs_model_log_density(m, &x) == -1);
    assert_string_equal(gbs_model_variable_name(m, 0), "x");
    gbs_model_free(m);
}

static void first_is_fastest(void **state)
{
    (void)state;
    gbs_model *m = read_model(
        "a.alchemy", V "factors:\nrain // -0.5 0.5\nrain / lawn // 0 0 1.2 0 0 -0.3\n", NULL);
    static const double expected[2][3] = {{-0.5, 1.2 - 0.5, -0.5}, {0.5, 0.5, 0.5 - 0.3}};
    for (uint32_t a = 0; a < 2; a++) {
        for (uint32_t b = 0; b < 3; b++) {
            const uint32_t x[] = {a, b};
            expect_near(gbs_model_log_density(m, x), expected[a][b]);
        }
    }
    gbs_model_free(m);
}

static void table_order(void **state)
{
    (void)state;
    expect_mixed("mixed.alchemy");
    gbs_error err = {0};
    gbs_model *m = NULL;
    assert_int_equal(gbs_model_read(data_path("mixed.alchemy"), NULL, &m, &err), GBS_OK);
    assert_string_equal(gbs_model_variable_name(m, 1), "lawn chair");
    gbs_model_free(m);
}

static void layouts(void **state)
{
    (void)state;
    gbs_model *m = read_model(
        "a.alchemy", V "factors:\nrain // -0.5 0.5\nlawn / rain // 0 0 1 0 0 -inf\n", NULL);
    static const char *const same[] = {
        "variables:\r\nrain\r\nlawn\t3\r\nfactors:\r\nrain // -0.5 0.5\r\n"
        "lawn / rain // 0 0 1 0 0 -inf",
        "\n \n  variables:\nrain\t2\n\n lawn \t 3 \t\n factors: \n\nrain//-5e-1\t.5///7\n"
        "\t\n lawn/rain //0 0 1 0 0 -Infinity /// weights / and // what not",
        "variables:\nrain\t\nlawn\t3\nfactors:\nrain // -0.5 0.5 /// \nlawn / rain // 0 -0 1 0 0 "
        "-inf///",
    };
    assert_string_equal(gbs_model_variable_name(m, 1), "lawn");
    expect_same_model(m, "b.alchemy.gz", same, sizeof same / sizeof same[0]);
    gbs_model_free(m);
}

static void refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.alchemy:1:1: found the end of the file, expected a line 'variables:'"},
        {"factors:\n", "a.alchemy:1:1: found 'factors:', expected a line 'variables:'"},
        {"variables:\nx\n", "a.alchemy:3:1: found the end of the file, expected a variable or"},
        {"variables:\nx\nx\nfactors:", "a.alchemy:3:1: found variable 'x' twice"},
        {"variables:\nx\t0\nfactors:", "a.alchemy:2:3: found '0', expected a cardinality, 1 to"},
        {"variables:\nx\t65536\nfactors:", "found '65536', expected a cardinality"},
        {"variables:\nx\t9223372036854775808\nfactors:", "expected a cardinality"},
        {"variables:\nx\t3\t3\nfactors:", "found '3\\x093', expected a cardinality"},
        {"variables:\n\t3\nfactors:", "a.alchemy:2:2: found '3', expected a name before the tab"},
        {"variables:\nx / y // 1\n", "a.alchemy:2:3: found '/', expected a name without '/'"},
        {V "factors:\nrain\n", "a.alchemy:5:5: found the end of the file, expected '//'"},
        {V "factors:\nrain 1 2\n", "expected '//' and values"},
        {V "factors:\nrain / // 1 2\n", "expected a variable that the file declares"},
        {V "factors:\nrain / snow // 1 2\n", "a.alchemy:5:8: found 'snow', expected a variable"},
        {V "factors:\nrain / rain // 1 2 3 4\n",
         "a.alchemy:5:8: found variable 'rain' twice in factor 0"},
        {V "factors:\nrain // 1\n", "a.alchemy:5:1: factor 0 has 1 value, its 1 variable needs 2"},
        {V "factors:\nrain // 1 2 3\n", "factor 0 has 3 values, its 1 variable needs 2"},
        {V "factors:\nrain / lawn // 1 2 3 4 5\n", "has 5 values, its 2 variables need 6"},
        {V "factors:\nrain // 1 2\nrain // 1 x\n", "a.alchemy:6:11: found 'x', expected a logar"},
        {V "factors:\nrain // 1 inf\n", "a.alchemy:5:11: found 'inf', expected a logarithm, fini"},
        {V "factors:\nrain // 1 nan\n", "found 'nan'"},
        {V "factors:\nrain // 1 1e999\n", "beyond the largest double"},
        {V "factors:\nrain /// 1 2\n", "found '/', expected a logarithm"},
        {V "factors:\n//\n", "factor 0 has 0 values, its 0 variables need 1"},
        {"variables:\na\t65535\nb\t65535\nc\t65535\nd\t65535\ne\t65535\nfactors:\n"
         "a/b/c/d/e // 1\n",
         "its 5 variables need more than can be counted"},
    };
    refuse_all("a.alchemy", cases, sizeof cases / sizeof cases[0], NULL);
}

/* Cuts the file at every byte. The rest is a valid file only if its last line is whole, or if
 * only digits of its last value are missing. */
static void cut_anywhere(void **state)
{
    (void)state;
    static const char text[] = "variables:\na\nb\t3\nfactors:\na // 10 20\n\nb // 3 4 50 /// 1\n";
    const struct {
        size_t from, to;
    } files[] = {
        {strlen("variables:\na\nb\t3\nfactors:"), strlen("variables:\na\nb\t3\nfactors:\n")},
        {(size_t)(strstr(text, "20") - text) + 1, (size_t)(strstr(text, "b //") - text)},
        {(size_t)(strstr(text, "50") - text) + 1, (size_t)(strstr(text, "///") - text)},
        {(size_t)(strstr(text, "///") - text) + 3, strlen(text)},
    };
    size_t at = 0;
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        gbs_model *m = NULL;
        gbs_error err = {0};
        at += cut > files[at].to;
        gbs_status expected = cut >= files[at].from ? GBS_OK : GBS_ERR_FORMAT;
        if (gbs_model_read_memory("a.alchemy", text, cut, NULL, &m, &err) != expected) {
            fail_msg("cut at %zu: %s", cut, err.message);
        }
        gbs_model_free(m);
    }
}

static void written_text(void **state)
{
    (void)state;
    char text[512];
    gbs_error err = {0};
    const char *path = scratch_path("w.alchemy");
    gbs_model *m =
        read_model("a.lg", "MARKOV 3 2 3 2 2 0 2 0 1 1 0.5 6 1 -inf 0 1e-7 -0.4 2", NULL);
    assert_int_equal(gbs_model_write(m, path, NULL, &err), GBS_OK);
    (void)read_file(path, text, sizeof text);
    assert_string_equal(text, "variables:\nx0\nx1\t3\nx2\nfactors:\n// 0.5\n"
                              "x1 / x0 // 1 -inf 0 1e-7 -0.4 2\n");
    gbs_model *back = NULL;
    assert_int_equal(gbs_model_read(path, NULL, &back, &err), GBS_OK);
    assert_string_equal(gbs_model_digest(back), gbs_model_digest(m));
    gbs_model_free(back);
    gbs_model_free(m);
}

/* Names that the format would lose are changed to legal ones. */
static void awkward_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a/b", "a_b"}, {" a", "_a"}, {"a ", "a_"}, {"factors:", "factors_"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_error err = {0};
        gbs_builder *b = NULL;
        gbs_model *m = NULL;
        char text[64] = "";
        char expected[64];
        const uint32_t arity = 2;
        assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_variables(b, 1, &arity, NULL, &err), GBS_OK);
        assert_int_equal(gbs_builder_name_variable(b, 0, cases[i][0], &err), GBS_OK);
        assert_int_equal(gbs_builder_build(b, &m, &err), GBS_OK);
        assert_int_equal(gbs_model_write(m, scratch_path("u.alchemy"), NULL, &err), GBS_OK);
        (void)read_file(scratch_path("u.alchemy"), text, sizeof text);
        (void)snprintf(expected, sizeof expected, "variables:\n%s\nfactors:\n", cases[i][1]);
        assert_string_equal(text, expected);
        gbs_model_free(m);
        gbs_builder_free(b);
    }
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest),      cmocka_unit_test(first_is_fastest),
        cmocka_unit_test(table_order),   cmocka_unit_test(layouts),
        cmocka_unit_test(refusals),      cmocka_unit_test(written_text),
        cmocka_unit_test(awkward_names), cmocka_unit_test(cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
