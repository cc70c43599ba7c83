/* SPDX-License-Identifier: Apache-2.0 */
/* Tests parities and cardinalities among the clauses of .wcnf files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/format_names.h"
#include "models/test_clauses.h"
#include "models/test_written.h"

/* Tests odd numbers of true literals in CryptoMiniSat's form, soft and hard, read and written. */
static void parities(void **state)
{
    (void)state;
    static const double HARD[8] = {0, -INFINITY, -INFINITY, 0, -INFINITY, 0, 0, -INFINITY};
    static const double SOFT[4] = {0, 1.5, 1.5, 0};
    static const char *const hard[] = {"h x1 2 -3 0\n", "p cnf 3 1\nx1 2 -3 0", "h x 1 2\t-3 0",
                                       "p wcnf 3 1 7\n9 x1\n2 -3 0"};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        gbs_model *m = read_model("a.wcnf", hard[i], NULL);
        expect_logs(m, HARD, 8);
        expect_written(m, "p.wcnf", NULL, hard[0]);
        refuse_write(m, "no.mln", NULL, "is no clause, which mln files cannot hold");
        gbs_model_free(m);
    }
    gbs_model *single = read_model("a.wcnf", "1.5 x-1 0", NULL);
    expect_written(single, "p.wcnf", NULL, "1.5 -1 0\n");
    expect_written(single, "p.mln", NULL, "1.5 !x0\n");
    gbs_model_free(single);
    expect_read("a.wcnf", "1.5 x1 2 0", NULL, SOFT, 4);
    expect_read("a.wcnf", "1.5 x-1 -2 0", NULL, SOFT, 4);
    expect_read("a.wcnf", "p cnf 2 2\n1 2 0\n-1 -2 0\n", NULL,
                (const double[]){-INFINITY, 0, 0, -INFINITY}, 4);
}

static double at_least_two(uint32_t n)
{
    return n >= 2 ? 0 : -INFINITY;
}

static double at_most_one(uint32_t n)
{
    return n <= 1 ? -0.5 : 0;
}

static double exactly_one(uint32_t n)
{
    return n == 1 ? 1.5 : 0;
}

/* Tests comparisons of the number of true literals in MiniCARD's form. */
static void cardinalities(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *same;
        double (*log_weight)(uint32_t n);
    } cases[] = {
        {"h 1 -2 3 >= 2\n", "p cnf+ 3 1\n1 -2 3 >= 2", at_least_two},
        {"-0.5 1 -2 3 <= 1\n", "p wcnf 3 1 7\n-0.5 1\n-2 3 <=\n1", at_most_one},
        {"1.5 1 -2 3 = 1\n", "c one\n1.5 1 -2 3 = 1", exactly_one},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double expected[8];
        for (uint32_t x = 0; x < 8; x++) {
            expected[x] = cases[i].log_weight((x >> 2) + (~x >> 1 & 1) + (x & 1));
        }
        gbs_model *m = read_model("a.wcnf", cases[i].same, NULL);
        expect_logs(m, expected, 8);
        expect_written(m, "c.wcnf", NULL, cases[i].text);
        refuse_write(m, "no.mln", NULL, "is no clause, which mln files cannot hold");
        gbs_model_free(m);
        expect_read("a.wcnf", cases[i].text, NULL, expected, 8);
    }
    warnings warned = {0};
    const gbs_read_options options = {.warn = take_warning, .context = &warned};
    expect_read("a.wcnf", "1 1 2 <= 2\n2 1 2 >= 0\n4 1 2 >= 3\n8 x0\n16 = 0\nh 1 <= 5", &options,
                (const double[]){19, 19, 19, 19}, 4);
    assert_int_equal(warned.n, 2);
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

/* Files without weights are recognised, but never written. */
static void extension(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *none = NULL;
    gbs_model *m = read_model("a.CNF", "p cnf 2 1\n1 -2 0\n", NULL);
    expect_logs(m, (const double[]){0, -INFINITY, 0, 0}, 4);
    assert_string_equal(gbsi_model_format_of("a.cnf.gz"), "wcnf");
    assert_int_equal(gbs_model_write(m, scratch_path("a.cnf"), NULL, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "wcnf (.wcnf), mln (.mln)"));
    assert_non_null(strstr(err.message, "dot (.dot .gv)"));
    assert_int_equal(gbs_model_read("a.none", NULL, &none, &err), GBS_ERR_IO);
    assert_int_equal(gbs_model_read_memory("a.none", "", 0, NULL, &none, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "rud (.rud .rudy .gset .txt), coo"));
    assert_non_null(strstr(err.message, "wcnf (.wcnf .cnf), mln (.mln)"));
    assert_null(strstr(err.message, "dot ("));
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(extension),
        cmocka_unit_test(parities),
        cmocka_unit_test(cardinalities),
    };
    return cmocka_run_group_tests(all, NULL, end);
}
