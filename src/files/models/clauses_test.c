/* SPDX-License-Identifier: Apache-2.0 */
/* Tests weighted clauses: .wcnf files in both generations, ground .mln files, and factors that
 * are written as clauses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/test_row.h"
#include "models/test_clauses.h"
#include "models/test_written.h"

/* Log-weights of the clauses "1.5: x1 or not x2" and "must: x2" in the states 00 01 10 11, the
 * last variable fastest. */
static const double TWO[4] = {-INFINITY, 0, -INFINITY, 1.5};
static const char NEW[] = "c two variables\n1.5 1 -2 0\nh 2 0\n";

static void layouts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text;
    } same[] = {
        {"a.wcnf", NEW},
        {"a.wcnf", "c\r\n\r\n1.5 +1 -2 0\r\nc h 1 0\r\nh 2 0"},
        {"a.wcnf", "c old\np wcnf 2 2 10\n1.5 1 -2 0\nc between\n10 2 0\nc behind\n"},
        /* line breaks mean nothing in this file */
        {"a.wcnf", "p wcnf 2 2 10\r\n1.5 1\r\n-2 0 12.5\n2 0"},
        {"a.mln", "// two\n1.5 A(x) v !B\nB.\n"},
        {"a.mln", "\n1.5 A(x) v !B // or not\r\n  B .\r\n//"},
    };
    gbs_model *m = read_model("a.wcnf", NEW, NULL);
    assert_int_equal(gbs_model_n_factors(m), 2);
    assert_int_equal(gbs_model_factor(m, 0, NULL, NULL), GBS_FACTOR_LOGICAL);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        test_row("%s: %s", same[i].name, same[i].text);
        gbs_model *n = read_model(same[i].name, same[i].text, NULL);
        expect_logs(n, TWO, 4);
        assert_string_equal(gbs_model_digest(n), gbs_model_digest(m));
        gbs_model_free(n);
    }
    gbs_model_free(m);
}

static void weights(void **state)
{
    (void)state;
    expect_read("a.wcnf", "3 1 0", NULL, (const double[]){0, 3}, 2);
    expect_read("a.wcnf", "-3 1 0", NULL, (const double[]){0, -3}, 2);
    expect_read("a.mln", "-3.5 !a", NULL, (const double[]){-3.5, 0}, 2);
    /* without TOP no clause is hard; with TOP, a weight of at least TOP makes a clause hard */
    expect_read("a.wcnf", "p wcnf 1 2\n9 1 0 1 -1 0", NULL, (const double[]){1, 9}, 2);
    expect_read("a.wcnf", "p wcnf 1 2 9\n9 1 0 8 -1 0", NULL, (const double[]){-INFINITY, 0}, 2);
    expect_read("a.wcnf", "p wcnf 1 1 9\n8.9999 1 0", NULL, (const double[]){0, 8.9999}, 2);
    expect_read("a.wcnf", "p wcnf 1 1 0.5\n1 1 0", NULL, (const double[]){-INFINITY, 0}, 2);
    /* 2^63 - 1 and 2^63 - 2 are one double, but only one of them is TOP */
    gbs_read_options options = {.weight_scale = 0x1p-62};
    expect_read("a.wcnf", "p wcnf 1 2 9223372036854775807\n9223372036854775806 1 0 1 1 0", &options,
                (const double[]){0, 2}, 2);
    expect_read("a.wcnf", "p wcnf 1 1 9223372036854775807\n9223372036854775807 1 0", &options,
                (const double[]){-INFINITY, 0}, 2);
    options.weight_scale = 0.5;
    expect_read("a.wcnf", NEW, &options, (const double[]){-INFINITY, 0, -INFINITY, 0.75}, 4);
    expect_read("a.mln", "3 a v !a", &options, (const double[]){1.5, 1.5}, 2);
    options.weight_scale = 1e270;
    refuse_model("a.wcnf", "1 1 0\n1e200 1 0", &options, GBS_ERR_FORMAT,
                 "a.wcnf:2:1: found a weight that times 1e270 is beyond the largest double");
    warnings warned = {0};
    options = (gbs_read_options){.warn = take_warning, .context = &warned};
    gbs_model *m = read_model("a.wcnf", "1e-400 1 0\n0 3 2 0", &options);
    assert_int_equal(gbs_model_n_factors(m), 0); /* a clause of weight zero is dropped */
    assert_int_equal(gbs_model_n_variables(m), 3);
    gbs_model_free(m);
    assert_int_equal(warned.n, 1);
    assert_string_equal(warned.last, "a.wcnf: 1 weight is too small for a double and became zero");
}

/* Repeated literals count once, tautologies are constants, and empty clauses never hold. */
static void reduced(void **state)
{
    (void)state;
    warnings warned = {0};
    const gbs_read_options options = {.warn = take_warning, .context = &warned};
    gbs_model *m = read_model("a.wcnf", "2 1 1 -2 1 0\n", &options);
    uint32_t n = 0;
    assert_int_equal(gbs_model_factor(m, 0, &n, NULL), GBS_FACTOR_LOGICAL);
    assert_int_equal(n, 2);
    expect_logs(m, (const double[]){2, 0, 2, 2}, 4);
    assert_string_equal(warned.last,
                        "a.wcnf: 2 literals repeat another of the clause and were left out");
    gbs_model_free(m);
    m = read_model("a.wcnf", "0.5 1 -2 -1 0\n0.25 2 -2 0\nh 1 -1 0\n1 1 0\n", &options);
    assert_int_equal(gbs_model_n_factors(m), 2);
    expect_logs(m, (const double[]){0.75, 0.75, 1.75, 1.75}, 4);
    assert_string_equal(warned.last, "a.wcnf: 3 clauses hold a literal and its negation and became "
                                     "constant");
    gbs_model_free(m);
    assert_int_equal(warned.n, 2);
    m = read_model("a.wcnf", "3 0\n1 1 0\n", &options);
    expect_logs(m, (const double[]){0, 1}, 2);
    gbs_model_free(m);
    assert_string_equal(warned.last, "a.wcnf: 1 clause has no literals and is never true: left "
                                     "out");
    /* a clause does not depend on the previous clause */
    m = read_model("a.mln", "1 a v b\n2 !a v b\n3 a v c v a\n", &options);
    expect_logs(m, (const double[]){2, 5, 3, 6, 4, 4, 6, 6}, 8);
    gbs_model_free(m);
    assert_int_equal(warned.n, 4);
}

/* A long clause is not turned into a table. */
static void long_clause(void **state)
{
    (void)state;
    enum { N = 3000 };
    char *text = malloc(16 * N);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "h ");
    for (int i = 1; i <= N; i++) {
        at += (size_t)sprintf(text + at, "%d ", i % 2 == 0 ? -i : i);
    }
    (void)sprintf(text + at, "0\n");
    gbs_model *m = read_model("a.wcnf", text, NULL);
    free(text);
    uint32_t *x = malloc(N * sizeof *x);
    assert_non_null(x);
    for (uint32_t i = 0; i < N; i++) {
        x[i] = i % 2; /* no literal is true; literals of odd number want state 1 */
    }
    assert_true(gbs_model_log_density(m, x) == -INFINITY);
    x[N - 1] = 0;
    assert_true(gbs_model_log_density(m, x) == 0);
    free(x);
    gbs_model_free(m);
}

static void names(void **state)
{
    (void)state;
    gbs_model *m = read_model("a.mln",
                              "0 Q(b)\n1.5 !Smokes(A) v Cancer(A) v http://x\n"
                              "2 inf v 3 v Q(b)\nnan v !Q(b).\n",
                              NULL);
    static const char *const expected[] = {"Q(b)", "Smokes(A)", "Cancer(A)", "http://x",
                                           "inf",  "3",         "nan"};
    assert_int_equal(gbs_model_n_variables(m), 7);
    for (uint32_t v = 0; v < 7; v++) {
        assert_string_equal(gbs_model_variable_name(m, v), expected[v]);
    }
    assert_int_equal(gbs_model_n_factors(m), 3);
    const uint32_t x[7] = {1, 1, 0, 0, 0, 0, 0};
    assert_true(gbs_model_log_density(m, x) == -INFINITY);
    const uint32_t y[7] = {1, 1, 0, 0, 0, 0, 1};
    assert_true(gbs_model_log_density(m, y) == 2);
    gbs_model_free(m);
}

static void wcnf_refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.wcnf:1:1: found the end of the file, expected p wcnf or a clause"},
        {"c only\n", "a.wcnf:2:1: found the end of the file, expected p wcnf or a clause"},
        {"p sat 2 1\n1 0", "a.wcnf:1:3: found 'sat', expected wcnf, cnf or cnf+"},
        {"p cnf 2 1 9\n1 0", "a.wcnf:1:11: found '9'"},
        {"1 1 0\nh y1 2 -1 0", "a.wcnf:2:3: found 'y1', expected a literal"},
        {"1 1 0\nh x1 2 -1 0", "a.wcnf:2:1: found a variable twice in a parity"},
        {"h 1 2 -1 <= 1", "a.wcnf:1:1: found a variable twice in a parity or cardinality"},
        {"h x0", "a.wcnf:1:1: found a hard parity or cardinality that cannot hold"},
        {"h 1 2 >= 3", "a.wcnf:1:1: found a hard parity or cardinality that cannot hold"},
        {"h 1 2 >= 1 0", "a.wcnf:1:12: found '0', expected the end of the line"},
        {"h 1 2 <= -1", "a.wcnf:1:10: found '-1', expected the number of literals"},
        {"h 1 2 <=", "a.wcnf:1:9: found the end of the line, expected the number of literals"},
        {"h x1 2 <= 1", "a.wcnf:1:8: found '<=', expected a literal"},
        {"1 1 x2 0", "a.wcnf:1:5: found 'x2', expected a literal"},
        {"p wcnf 2", "found the end of the line, expected the number of clauses"},
        {"p wcnf 1 2 10\n1 1 0",
         "a.wcnf:1:10: found '2' as the number of clauses, but the 6 bytes"},
        {"p wcnf 1 2 10\n1 1 0     ", "found the end of the file, expected clause 2 of 2"},
        {"p wcnf 1 1 10\n1 1 0\n1 1 0",
         "a.wcnf:3:1: found '1', expected the end of the file after"},
        {"p wcnf 1 1 0\n1 1 0", "a.wcnf:1:12: found '0', expected TOP, a weight above 0"},
        {"p wcnf 1 1 inf\n1 1 0", "a.wcnf:1:12: found 'inf', expected TOP"},
        {"p wcnf 1 1 1 1\n1 1 0", "found '1', expected the end of the line after TOP"},
        {"p wcnf 1 1 10\n1 2 0", "a.wcnf:2:3: found '2', expected a variable of at most 1"},
        {"p wcnf 1 1 10\n1 -2 0", "a.wcnf:2:3: found '-2', expected a variable of at most 1"},
        {"p wcnf 1 1 10\nh 1 0", "a.wcnf:2:1: found 'h', expected a finite weight"},
        {"p wcnf 1 1 10\n1 1\n", "a.wcnf:3:1: found the end of the file, expected a literal, or 0"},
        {"p wcnf 1 1 10\n10 0", "a.wcnf:2:1: found a hard clause without literals"},
        {"p wcnf 4294967295 1 10\n1 1 0", "a.wcnf:1:8: found 4294967295 variables, but a file of"},
        {"p wcnf 1 9223372036854775808 10\n1 1 0",
         "found '9223372036854775808' as the number of c"},
        {"1 1",
         "a.wcnf:1:4: found the end of the line, expected a literal, or 0 behind the clause"},
        {"1 1\n0", "a.wcnf:1:4: found the end of the line"},
        {"1 1 0 2 2 0", "a.wcnf:1:7: found '2', expected the end of the line after a clause"},
        {"1 1 -0", "found '-0', expected a literal"},
        {"1 -+1 0", "found '-+1', expected a literal"},
        {"1 z 0", "a.wcnf:1:3: found 'z', expected a literal"},
        {"1 1.0 0", "found '1.0', expected a literal"},
        {"h\n", "a.wcnf:1:2: found the end of the line, expected a literal"},
        {"h 0\n", "a.wcnf:1:1: found a hard clause without literals, expected one that can hold"},
        {"inf 1 0", "a.wcnf:1:1: found 'inf', expected a finite weight or h"},
        {"nan 1 0", "found 'nan'"},
        {"1e999 1 0", "beyond the largest double"},
        {"H 1 0", "found 'H', expected a finite weight or h"},
        {"1 4294967295 0", "a.wcnf:1:3: found '4294967295', expected a variable of at most 4320"},
        {"1 9223372036854775808 0", "found '9223372036854775808', expected a variable of at most"},
        {"1 -99999999999999999999 0", "found '-99999999999999999999', expected a variable of at"},
        {"1 1 0\np wcnf 1 1 10\n", "a.wcnf:2:1: found 'p', expected a finite weight or h"},
    };
    refuse_all("a.wcnf", cases, sizeof cases / sizeof cases[0], NULL);
    const gbs_read_options lenient = {.lenient = 1};
    expect_read("a.wcnf", "p wcnf 1 1 10\n1 1 0\n1 1 0", &lenient, (const double[]){0, 1}, 2);
}

/* A clause with a logical variable is read as it stands, with a warning: nobody meant a variable
 * of the model with the name Smokes(x). */
static void mln_logical_variables(void **state)
{
    (void)state;
    warnings warned = {0};
    const gbs_read_options options = {.warn = take_warning, .context = &warned};
    gbs_model_free(
        read_model("a.mln", "1 Smokes(Anna)\n1 Age(Bob,9)\n1 a v Friends(A,B)", &options));
    assert_int_equal(warned.n, 0);
    gbs_model_free(read_model("a.mln", "1 Smokes(x)\n1 Friends(A,y)", &options));
    assert_int_equal(warned.n, 1);
    assert_non_null(
        strstr(warned.last, "'Smokes(x)' looks like a formula over a logical variable"));
}

static void mln_refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.mln:1:1: found the end of the file, expected a clause"},
        {"// nothing\n", "a.mln:2:1: found the end of the file, expected a clause"},
        {"Smokes(person)\n",
         "a.mln:1:15: found the end of the line, expected a weight before the g"},
        {"1", "a.mln:1:2: found the end of the line, expected a name"},
        {"1 // a", "a.mln:1:3: found the end of the line, expected a name"},
        {"1 a v", "a.mln:1:6: found the end of the line, expected a name"},
        {"1 a b", "a.mln:1:5: found 'b', expected v or the end of a ground clause"},
        {"1 P(a, b)", "a.mln:1:8: found 'b)', expected v or the end of a ground clause"},
        {"1 P(x) => Q(x)", "a.mln:1:8: found '=>', expected a ground clause: a formula over"},
        {"person = {A, B}", "a.mln:1:8: found '=', expected a ground clause"},
        {"1 v v v", "a.mln:1:3: found 'v', expected a name"},
        {"1 a v ! b", "found '!', expected a name, or one behind a '!'"},
        {"1 !!a", "found '!!a', expected a name"},
        {"1 !v", "found '!v', expected a name"},
        {"1 a.",
         "a.mln:1:3: found 'a.', expected a period only at the end of a clause without a w"},
        {"1 a .", "a.mln:1:5: found '.', expected v or the end of a ground clause"},
        {"a. v b.", "a.mln:1:4: found 'v', expected the end of the line after the period"},
        {"a..", "found 'a.', expected a period only"},
        {"a . b", "a.mln:1:5: found 'b', expected the end of the line after the period"},
        {".", "found '.', expected a period only at the end"},
        {"!.", "found '!', expected a name"},
        {"a v b", "a.mln:1:6: found the end of the line, expected a weight before the ground cla"},
        {"-inf a", "a.mln:1:1: found '-inf', expected a finite weight"},
        {"1e999 a", "beyond the largest double"},
        {"1,5 a", "found 'a', expected v"},
    };
    refuse_all("a.mln", cases, sizeof cases / sizeof cases[0], NULL);
}

/* ---- writing ----------------------------------------------------------------------------- */

static void write_and_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1.5 1 -2 0\nh 2 0\n",
        "0.1 3 -1 0\nh -2 3 1 0\n-4 -2 0\n1e-300 1 2 3 0\n",
        "2 3 1 0\n0 4 0\n",
    };
    static const char *const written[] = {
        "1.5 x0 v !x1\nx1.\n",
        "0 x0\n0 x1\n0 x2\n0.1 x2 v !x0\n!x1 v x2 v x0.\n-4 !x1\n1e-300 x0 v x1 v x2\n",
        "0 x0\n0 x1\n0 x2\n0 x3\n2 x2 v x0\n",
    };
    static const char *const endings[] = {"b.wcnf", "b.mln", "b.wcnf.gz", "b.lg"};
    for (size_t i = 0; i < 3; i++) {
        gbs_model *m = read_model("a.wcnf", texts[i], NULL);
        expect_written(m, "w.wcnf", NULL, texts[i]);
        expect_written(m, "w.mln", NULL, written[i]);
        double w[16] = {0};
        const size_t n = enumerate(m, w, 16);
        for (size_t k = 0; k < 4; k++) {
            gbs_error err;
            gbs_model *back = NULL;
            assert_int_equal(gbs_model_write(m, scratch_path(endings[k]), NULL, &err), GBS_OK);
            assert_int_equal(gbs_model_read(scratch_path(endings[k]), NULL, &back, &err), GBS_OK);
            if (k < 3) {
                assert_string_equal(gbs_model_digest(back), gbs_model_digest(m));
            }
            double w_back[16] = {0};
            assert_int_equal(enumerate(back, w_back, 16), n);
            assert_memory_equal(w, w_back, n * sizeof *w);
            gbs_model_free(back);
        }
        gbs_model_free(m);
    }
}

/* Makes a model of one logical factor. All functions that are clauses are compared with their
 * own tables. */
static gbs_model *one_logical(gbs_logical_function function, uint32_t n, double weight)
{
    const uint32_t arity[] = {2, 2, 2};
    const uint32_t scope[] = {2, 0, 1};
    const uint32_t literal[] = {1, 0, 1};
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    gbs_error err;
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 3, arity, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, function, n, scope, literal, weight, &err), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &m, &err), GBS_OK);
    gbs_builder_free(b);
    return m;
}

static const struct {
    gbs_logical_function function;
    uint32_t most;           /* numbers of literals for which the function is a clause */
    double lost;             /* constant, in units of the weight */
    const char *expected[3]; /* expected text for weight 1.5 */
} kind_cases[] = {
    {GBS_LOGICAL_CLAUSE, 3, 0, {"1.5 3 0\n", "1.5 3 -1 0\n0 3 0\n", "1.5 3 -1 2 0\n"}},
    {GBS_LOGICAL_OR, 3, -1, {"3 3 0\n", "3 3 -1 0\n", "3 3 -1 2 0\n"}},
    {GBS_LOGICAL_AND, 1, -1, {"3 3 0\n", "", ""}},
    {GBS_LOGICAL_IS_TRUE, 1, -1, {"3 3 0\n", "", ""}},
    {GBS_LOGICAL_AND_CATEGORICAL, 1, 0, {"1.5 3 0\n", "", ""}},
    {GBS_LOGICAL_IMPLY_MLN, 3, 0, {"1.5 3 0\n", "1.5 -3 -1 0\n", "1.5 -3 1 2 0\n"}},
    {GBS_LOGICAL_LOGICAL, 3, 0, {"1.5 3 0\n", "1.5 -3 -1 0\n", "1.5 -3 1 2 0\n"}},
    {GBS_LOGICAL_EQUAL, 0, 0, {"", "", ""}},
    {GBS_LOGICAL_RATIO, 0, 0, {"", "", ""}},
    {GBS_LOGICAL_LINEAR, 0, 0, {"", "", ""}},
    {GBS_LOGICAL_IMPLY_NATURAL, 0, 0, {"", "", ""}},
};

static void kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kind_cases / sizeof kind_cases[0]; i++) {
        for (uint32_t n = 1; n <= 3; n++) {
            test_row("function %d of %u", (int)kind_cases[i].function, n);
            gbs_model *m = one_logical(kind_cases[i].function, n, 1.5);
            warnings warned = {0};
            const gbs_write_options options = {.warn = take_warning, .context = &warned};
            gbs_model *back = NULL;
            gbs_error err;
            if (n > kind_cases[i].most) {
                refuse_write(m, "no.wcnf", NULL, "is no clause, which wcnf files cannot hold");
                refuse_write(m, "no.mln", NULL, "is no clause, which mln files cannot hold");
                gbs_model_free(m);
                continue;
            }
            if (n != 2 || i != 0) {
                expect_written(m, "k.wcnf", &options, kind_cases[i].expected[n - 1]);
                assert_int_equal(warned.n, kind_cases[i].lost != 0);
            }
            for (int k = 0; k < 2; k++) {
                const char *path = scratch_path(k == 0 ? "k.wcnf" : "k.mln");
                assert_int_equal(gbs_model_write(m, path, NULL, &err), GBS_OK);
                assert_int_equal(gbs_model_read(path, NULL, &back, &err), GBS_OK);
                double w[8] = {0};
                double w_back[8] = {0};
                (void)enumerate(m, w, 8);
                (void)enumerate(back, w_back, 8);
                for (int s = 0; s < 8; s++) {
                    expect_near(w_back[s] * exp(1.5 * kind_cases[i].lost), w[s]);
                }
                gbs_model_free(back);
            }
            gbs_model_free(m);
            if (kind_cases[i].function == GBS_LOGICAL_IMPLY_NATURAL ||
                kind_cases[i].function == GBS_LOGICAL_RATIO ||
                kind_cases[i].function == GBS_LOGICAL_LINEAR) {
                continue;
            }
            m = one_logical(kind_cases[i].function, n, INFINITY);
            assert_int_equal(gbs_model_write(m, scratch_path("h.wcnf"), &options, &err), GBS_OK);
            assert_int_equal(gbs_model_read(scratch_path("h.wcnf"), NULL, &back, &err), GBS_OK);
            double w[8] = {0};
            double w_back[8] = {0};
            (void)enumerate(m, w, 8);
            (void)enumerate(back, w_back, 8);
            assert_memory_equal(w, w_back, sizeof w);
            gbs_model_free(back);
            gbs_model_free(m);
        }
    }
}

static void fields(void **state)
{
    (void)state;
    warnings warned = {0};
    const gbs_write_options options = {.warn = take_warning, .context = &warned};
    gbs_model *m = read_model("a.mtx",
                              "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 "
                              "0.25\n2 2 -3\n",
                              NULL);
    expect_written(m, "f.wcnf", &options, "0.5 1 0\n6 -2 0\n");
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "f.wcnf: lost a constant of the log-density, -3.25, which "
                                        "wcnf files cannot hold"));
    expect_written(m, "f.mln", NULL, "0.5 x0\n6 !x1\n");
    gbs_model *back = NULL;
    gbs_error err;
    assert_int_equal(gbs_model_read(scratch_path("f.mln"), NULL, &back, &err), GBS_OK);
    double w[4] = {0};
    double w_back[4] = {0};
    (void)enumerate(m, w, 4);
    (void)enumerate(back, w_back, 4);
    for (int i = 0; i < 4; i++) {
        expect_near(w_back[i] * exp(-3.25), w[i]);
    }
    gbs_model_free(back);
    gbs_model_free(m);
}

/* Makes a hard clause of a variable with that name and a variable without a name. */
static gbs_model *clause_of(const char *name)
{
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    const uint32_t two[] = {2, 2};
    const uint32_t v[] = {0, 1};
    const uint32_t literal[] = {1, 1};
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 2, two, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_name_variable(b, 0, name, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 2, v, literal, INFINITY, NULL),
                     GBS_OK);
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    gbs_builder_free(b);
    return m;
}

static void written_names(void **state)
{
    (void)state;
    const char *text = "1.5 Smokes(A) v !Cancer(A)\nCancer(A) v x.\n";
    gbs_model *m = read_model("a.mln", text, NULL);
    warnings warned = {0};
    const gbs_write_options options = {.warn = take_warning, .context = &warned};
    expect_written(m, "n.mln", &options, text);
    assert_int_equal(warned.n, 0);
    expect_written(m, "n.wcnf", &options, "1.5 1 -2 0\nh 2 3 0\n");
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "lost the names of variables"));
    gbs_model_free(m);
    /* A number may be a name, except in the place of a weight. */
    m = read_model("a.mln", "2 3 v a\na v 3.\n", NULL);
    expect_written(m, "n.mln", NULL, "2 3 v a\na v 3.\n");
    gbs_model_free(m);
    m = read_model("a.mln", "0 3\n!3 v a.\n", NULL);
    expect_written(m, "n.mln", NULL, "!3 v a.\n");
    gbs_model_free(m);
    /* NULL: the name is refused, because it would be read as a number or as a mark at the start
     * of the file */
    static const char *const bad[][2] = {{"a b", "a_b"},
                                         {"v", "v_"},
                                         {"!a", "_a"},
                                         {"//a", "_/a"},
                                         {"a.", "a_"},
                                         {"7", NULL},
                                         {"\xef\xbb\xbfP", NULL},
                                         {"(\xb5\x2f\xfdP", NULL}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char expected[32];
        test_row("name %s", bad[i][0]);
        m = clause_of(bad[i][0]);
        if (bad[i][1] == NULL) {
            refuse_write(m, "no.mln", NULL, "which cannot be read back from mln files");
        } else {
            (void)snprintf(expected, sizeof expected, "%s v x1.\n", bad[i][1]);
            expect_written(m, "n.mln", NULL, expected);
        }
        gbs_model_free(m);
    }
    test_no_row();
    /* A name that is made for an unnamed variable must differ from existing names. */
    gbs_builder *b = NULL;
    gbs_error err;
    const uint32_t two[] = {2, 2};
    const uint32_t v[] = {0, 1};
    const uint32_t literal[] = {1, 1};
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 2, two, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_name_variable(b, 0, "x1", &err), GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 2, v, literal, 1, &err),
                     GBS_OK);
    assert_int_equal(gbs_builder_build(b, &m, &err), GBS_OK);
    expect_written(m, "n.mln", NULL, "1 x1 v x1_\n");
    gbs_model_free(m);
    gbs_builder_free(b);
}

static void unwritable(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"MARKOV 2 2 2 2 0 1 0 1 1 2 1 2", "factor 1 (0) is no clause, which wcnf files cannot"},
        {"MARKOV 2 2 2 1 0 1 0", "factor 0 () is a constant zero"},
        {"MARKOV 2 3 2 1 1 0 3 1 2 3", "factor 0 (0) has a variable without two states"},
        {"MARKOV 2 3 2 0", "variable 0 has 3 states, but variables of wcnf files have 2"},
        {"MARKOV 0 0", "the model has no variables, and wcnf files need at least one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_row("%s", cases[i].text);
        gbs_model *m = read_model("a.uai", cases[i].text, NULL);
        refuse_write(m, "no.wcnf", NULL, cases[i].part);
        gbs_model_free(m);
    }
    test_no_row();
    gbs_model *m = read_model("a.rud", "2 1\n1 2 1", NULL);
    refuse_write(m, "no.mln", NULL, "factor 0 (0, 1) is no clause, which mln files cannot hold");
    gbs_model_free(m);
    /* A clause has twice the weight of its field, and no reader accepts so large a weight. */
    m = read_model("a.coo", "# vartype=SPIN\n0 0 -6e279", NULL);
    refuse_write(m, "no.wcnf", NULL, "factor 0 (0) would be a clause of a weight beyond 1e+280");
    gbs_model_free(m);
    m = read_model("a.coo", "# vartype=SPIN\n0 0 -5e279", NULL);
    expect_written(m, "large.wcnf", NULL, "1e280 1 0\n");
    gbs_model_free(m);
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
        cmocka_unit_test(layouts),
        cmocka_unit_test(weights),
        cmocka_unit_test(reduced),
        cmocka_unit_test(long_clause),
        cmocka_unit_test(names),
        cmocka_unit_test(wcnf_refusals),
        cmocka_unit_test(mln_logical_variables),
        cmocka_unit_test(mln_refusals),
        cmocka_unit_test(write_and_read),
        cmocka_unit_test(kinds),
        cmocka_unit_test(fields),
        cmocka_unit_test(written_names),
        cmocka_unit_test(unwritable),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
