/* SPDX-License-Identifier: Apache-2.0 */
/* Tests weights of literals in files of clauses, in the forms of programs that count models. The
 * expected weights of all states are computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "models/test_clauses.h"

/* Weights of the states 00 01 10 11 of two variables, the last one fastest. The clause is "1 or
 * 2". */
static void forms(void **state)
{
    static const struct {
        const char *text;
        double weight[4];
    } rows[] = {
        {"p cnf 2 1\nc p weight 1 0.25 0\nc p weight -1 4 0\nc p weight 2 3 0\nc p weight -2 5 0\n"
         "1 2 0\n",
         {0, 12, 1.25, 0.75}},
        {"c t wmc\nc p weight -1 4 0\np cnf 2 1\n1 2 0\nc p weight 2 1/8\nc p weight  1  25e-2 0\n",
         {0, 0.5, 0.25, 0.03125}},
        {"p cnf 2 1\nc p weight 1 0 0\n1 2 0\n", {0, 1, 0, 0}},
        {"p cnf 2 1\nc P WEIGHT 1 0 0\nc p Show 1 2 0\n1 2 0\n", {0, 1, 0, 0}},
        {"p cnf 2 1\nc p weight -2 0.0 0\nc p weight 2 7\n1 2 0\n", {0, 7, 0, 7}},
        {"p cnf 2 1\nc p weight -2 0 0\nc p weight 2 0 0\n1 2 0\n", {0, 0, 0, 0}},
        {"p cnf 2 1\nc p weight 1 2 0\nc p weight -1 2 0\nc p show 2 1 0\n1 2 0\n", {0, 2, 2, 2}},
        {"p cnf 2 1\nw 1 0.125\nw 2 -1\n1 2 0\n", {0, 0.875, 0.125, 0.125}},
        {"p cnf 2 1\nw\t1\t0\n1 2 0\nw\t2\t1\n", {0, 1, 0, 0}},
        {"p cnf 2 1\nw 1 1.5 0\nw -1 2.5 0\nw 2 .5\n1 2 0\n", {0, 1.25, 0.75, 0.75}},
        {"p wcnf 2 1\n1 2 0\nw 1 1.5 0\nw -1 2.5 0\nw 2 .5 0\n", {0, 1.25, 0.75, 0.75}},
        {"c weights 2 3 0.5 0.25\np cnf 2 1\n1 2 0\n", {0, 1.5, 0.5, 1}},
        {"c weights are prose\nc pweight 1 2\nc p cnf 1 1\np cnf 2 1\n1 2 0\n", {0, 1, 1, 1}},
        {"p cnf 2 9\n1 2 0\n%\n0\n\n", {0, 1, 1, 1}},
        {"p cnf 2 1\n1 2 0\n%", {0, 1, 1, 1}},
        {"p cnf 2 1\n1 2 0\n1 -2 0\n", {0, 0, 1, 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double weight[4] = {0};
        test_row("%s", rows[i].text);
        gbs_model *m = read_model("a.cnf", rows[i].text, NULL);
        assert_int_equal(enumerate(m, weight, 4), 4);
        for (size_t k = 0; k < 4; k++) {
            expect_near(weight[k], rows[i].weight[k]);
        }
        gbs_model_free(m);
    }
}

/* The scale multiplies the logarithms of all weights, those of literals and those of clauses. */
static void scaled(void **state)
{
    const gbs_read_options options = {.weight_scale = 2};
    double weight[2] = {0};
    (void)state;
    gbs_model *m =
        read_model("a.cnf", "p cnf 1 0\nc p weight 1 3 0\nc p weight -1 5 0\n", &options);
    assert_int_equal(enumerate(m, weight, 2), 2);
    expect_near(weight[0], 25);
    expect_near(weight[1], 9);
    gbs_model_free(m);
}

static void warned_of(void **state)
{
    static const struct {
        const char *text;
        const char *warning; /* NULL: none */
    } rows[] = {
        {"p cnf 2 0\nc p weight 1 0.9 0\n", "of 1 variable one literal has a weight"},
        {"p cnf 3 0\nw 1 0.9\n", "2 variables have no weight: both literals count 1"},
        {"p cnf 2 0\nc p weight 1 0.9 0\nc p weight -1 1 0\n", NULL},
        {"c MUST MULTIPLY BY 2**3 0\np cnf 2 1\n1 2 0\n", "the count is to be multiplied"},
        {"p cnf 2 1\nc ind 1 0\nc ind 2 0\n1 2 0\n", "the sampling set of \"c ind\" is not used"},
        {"p cnf 2 5\n1 2 0\n1 0\n", "the p line announces 5 clauses; the 2 of the file are read"},
        {"p cnf 2 1\n1 2 0\n1 0\n", "the p line announces 1 clause; the 2 of the file are read"},
        {"p cnf 2 1\n1 2 0\n%\n0\n", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        warnings warned = {0};
        const gbs_read_options options = {.warn = take_warning, .context = &warned};
        test_row("%s", rows[i].text);
        gbs_model_free(read_model("a.cnf", rows[i].text, &options));
        assert_int_equal(warned.n, rows[i].warning != NULL);
        assert_true(rows[i].warning == NULL || strstr(warned.last, rows[i].warning) != NULL);
    }
}

static void refusals(void **state)
{
    static const refusal cases[] = {
        {"p cnf 2 0\nc p weight 1 -0.5 0\n", "a.cnf:2:14: found '-0.5', expected a weight of at l"},
        {"p cnf 2 0\nc p weight 1 -1 0\n", "a.cnf:2:14: found '-1', expected a weight of at least"},
        {"p cnf 2 0\nw 1 -2\n", "a.cnf:2:5: found '-2', expected a weight of at least 0"},
        {"p cnf 2 0\nw -1 -1\n", "a.cnf:2:6: found '-1', expected a weight of at least 0"},
        {"p cnf 2 0\nc p weight 1 x 0\n",
         "a.cnf:2:14: found 'x', expected the weight of a literal"},
        {"p cnf 2 0\nc p weight 1 1/0 0\n", "found '1/0', expected the weight of a literal"},
        {"p cnf 2 0\nc p weight 1 1e-999 0\n", "found '1e-999', expected the weight of a literal"},
        {"p cnf 2 0\nc p weight 1 inf 0\n", "found 'inf', expected the weight of a literal"},
        {"p cnf 2 0\nc p weight 1 nan 0\n", "found 'nan', expected the weight of a literal"},
        {"p cnf 2 0\nc p weight 1 0.5+0.5i 0\n", "found '0.5+0.5i', expected the weight of a lite"},
        {"p cnf 2 0\nc p weight 1\n", "a.cnf:2:13: found the end of the line, expected the weight"},
        {"p cnf 2 0\nc p weight 1 1 1\n", "a.cnf:2:16: found '1', expected the end of the line"},
        {"p cnf 2 0\nc p weight 0 1 0\n", "a.cnf:2:12: found '0', expected a literal"},
        {"p cnf 2 0\nc p weight 3 1 0\n", "a.cnf:2:1: found variable 3, expected one of at most 2"},
        {"p cnf 2 0\nc p weight 1 1 0\nc p weight 1 2 0\n",
         "a.cnf:3:1: found another weight of the literal 1"},
        {"p cnf 2 0\nw 1 .5\nc p weight -1 .25 0\nw 1 -1\n",
         "a.cnf:4:1: found another weight of the literal 1"},
        {"p cnf 2 0\nw 1 1.5\n", "a.cnf:2:1: found a weight of the literal 1 that is not the prob"},
        {"p cnf 2 0\nw -1 .5\n", "a.cnf:2:1: found a weight of the literal -1 that is not the pro"},
        {"p cnf 2 0\nc weights 1 1 1\n", "found 3 weights behind \"c weights\", expected 4"},
        {"p cnf 2 0\nc weights 1 1 1 1 1\n", "a.cnf:2:19: found variable 3, expected one of at"},
        {"p wcnf 2 1 9\nc p weight 1 1 0\n1 1 0\n", "found a line about literals in a file whose"},
        {"1 -2 0\n2 1 0\n", "a.cnf:1:1: found '1', expected p cnf before the clauses"},
        {"p cnf 2 1\n1 2 0\n%\n1\n", "a.cnf:4:1: found '1', expected the end of the file"},
        {"p wcnf 2 1 9\n1 2 0\n%\n0\n", "a.cnf:3:1: found '%', expected the end of the file"},
        {"p cnf 2 1\n1 %\n", "a.cnf:2:3: found '%', expected a literal"},
    };
    (void)state;
    refuse_all("a.cnf", cases, sizeof cases / sizeof cases[0], NULL);
    refuse_model("a.cnf", "p cnf 3 0\nc p show 1\nc p show 3 0\n", NULL, GBS_ERR_UNSUPPORTED,
                 "a.cnf:2:1: found \"c p show\" with 2 of the 3 variables, which asks for a proj");
    refuse_model("a.cnf", "p cnf 3 0\nc p show 0\n", NULL, GBS_ERR_UNSUPPORTED,
                 "with 0 of the 3 variables");
    refuse_model("a.cnf", "p pcnf 3 0\nvp 1 0\n", NULL, GBS_ERR_UNSUPPORTED,
                 "a.cnf:1:3: found a projected count, which is not supported");
}

static void out_of_memory(void **state)
{
    static const char text[] = "p cnf 3 1\n1 2 0\nw 1 .25\nw 2 .5\nw 3 -1\nc p show 1 2 3 0\n";
    gbs_status status = GBS_ERR_MEMORY;
    gbs_model *model = NULL;
    (void)state;
    for (uint64_t n = 0; status < 0; n++) {
        assert_int_equal(status, GBS_ERR_MEMORY);
        assert_null(model);
        gbsi_alloc_fail_after(n);
        status = gbs_model_read_memory("a.cnf", text, sizeof text - 1, NULL, &model, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(scaled),
                                       cmocka_unit_test(warned_of), cmocka_unit_test(refusals),
                                       cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
