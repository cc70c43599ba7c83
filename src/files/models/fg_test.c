/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/test_models.h"

static const char *const SMALLEST = "1\n\n1\n0\n2\n2\n0 1\n1 3\n";

static void smallest(void **state)
{
    (void)state;
    gbs_model *m = read_model("a.fg", SMALLEST, NULL);
    double w[2];
    assert_int_equal(enumerate(m, w, 2), 2);
    expect_near(w[1] / w[0], 3);
    assert_null(gbs_model_variable_name(m, 0));
    gbs_model_free(m);
    m = read_model("a.fg", "0", NULL);
    assert_int_equal(gbs_model_n_variables(m), 0);
    gbs_model_free(m);
}

static void table_order(void **state)
{
    (void)state;
    expect_mixed("mixed.fg");
}

/* Labels 5 and 2 have the cardinalities 2 and 3, so index 4 is x5 = 0, x2 = 2. Entries that are
 * not listed are 0. */
static void labels(void **state)
{
    (void)state;
    gbs_model *m = read_model("a.fg", "1\n\n2\n5 2\n2 3\n3\n0 1.5\n3 2\n4 0.25\n", NULL);
    static const double expected[3][2] = {{1.5, 0}, {0, 2}, {0.25, 0}}; /* [x2][x5] */
    assert_string_equal(gbs_model_variable_name(m, 0), "2");
    assert_string_equal(gbs_model_variable_name(m, 1), "5");
    assert_int_equal(gbs_model_arity(m, 0), 3);
    for (uint32_t a = 0; a < 3; a++) {
        for (uint32_t b = 0; b < 2; b++) {
            const uint32_t x[] = {a, b};
            expect_near(exp(gbs_model_log_density(m, x)), expected[a][b]);
        }
    }
    gbs_model_free(m);
    /* variables are ordered by the values of labels, not by text or first mention; 1, 01 and +1
     * are one label */
    m = read_model("a.fg", "3 1 10 2 0 1 9 3 1 0 1 2 01 +10 1 2 1 0 1", NULL);
    assert_int_equal(gbs_model_n_variables(m), 3);
    assert_string_equal(gbs_model_variable_name(m, 0), "1");
    assert_string_equal(gbs_model_variable_name(m, 1), "9");
    assert_string_equal(gbs_model_variable_name(m, 2), "10");
    assert_int_equal(gbs_model_arity(m, 2), 2);
    gbs_model_free(m);
    m = read_model("a.fg", "1 1 18446744073709551615 2 1 1 3", NULL);
    assert_string_equal(gbs_model_variable_name(m, 0), "18446744073709551615");
    gbs_model_free(m);
    m = read_model("a.fg", "2 1 1 2 1 0 1 1 0 3 1 0 1", NULL);
    assert_null(gbs_model_variable_name(m, 1));
    assert_int_equal(gbs_model_arity(m, 0), 3);
    gbs_model_free(m);
}

static void layouts(void **state)
{
    (void)state;
    gbs_model *m = read_model("a.fg", SMALLEST, NULL);
    static const char *const same[] = {
        "1\r\n\r\n1\r\n0\r\n2\r\n2\r\n0 1\r\n1 3",
        "\xef\xbb\xbf# by hand\n#\n1\n# a factor\n1\n0\n2\n2\n1 3\n0 1.0e0\n# the end",
        "1 1 +0 02 2 1 3. 0 1",
    };
    expect_same_model(m, "b.FG.gz", same, sizeof same / sizeof same[0]);
    gbs_model_free(m);
}

static void quirks(void **state)
{
    (void)state;
    /* a constant has two empty lines; without listed entries all entries are zero; a zero may be
     * listed */
    gbs_model *m = read_model("a.fg", "2\n\n0\n\n\n1\n0 5\n\n1\n0\n3\n2\n2 2\n1 0\n", NULL);
    double w[3];
    assert_int_equal(enumerate(m, w, 3), 3);
    assert_true(w[0] == 0 && w[1] == 0);
    expect_near(w[2], 10);
    gbs_model_free(m);
    m = read_model("a.fg", "1\n\n1\n0\n2\n0\n", NULL);
    assert_int_equal(enumerate(m, w, 3), 2);
    assert_true(w[0] == 0 && w[1] == 0);
    gbs_model_free(m);
    warnings warned = {0};
    gbs_read_options options = {.lenient = 1, .warn = take_warning, .context = &warned};
    m = read_model("a.fg", "1 1 0 2 4 0 1 1 3 0 5 0 6 7",
                   &options); /* the last entry with index 0 counts */
    assert_int_equal(warned.n, 3);
    assert_non_null(strstr(warned.last, "2 entries are listed more than once"));
    assert_int_equal(enumerate(m, w, 3), 2);
    expect_near(w[0] / w[1], 2);
    gbs_model_free(m);
    options.lenient = 0;
    gbs_model_free(read_model("a.fg", "1 1 0 2 2 0 1 1 1e-400", &options));
    assert_int_equal(warned.n, 4);
    assert_non_null(strstr(warned.last, "1 value is too small"));
}

static void refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.fg:1:1: found the end of the file, expected the number of factors"},
        {"x", "a.fg:1:1: found 'x', expected the number of factors"},
        {"9223372036854775808", "cannot hold more than 0"},
        {"1", "cannot hold more than 0"},
        {"1\n\n9223372036854775808\n0\n2\n", "a.fg:3:1: found '9223372036854775808' as the number"},
        {"1\n\n1\n-1\n2\n0\n", "a.fg:4:1: found '-1', expected the label of a variable"},
        {"1\n\n1\nx\n2\n0\n", "found 'x', expected the label"},
        {"1 1 18446744073709551616 2 0", "of at most 18446744073709551615"},
        {"1\n\n2\n0 00\n2 2\n0\n", "a.fg:4:3: found label '0' twice in factor 0"},
        {"1\n\n1\n7\n0\n0\n", "a.fg:5:1: found cardinality 0 of label '7', expected 1 to 65535"},
        {"1\n\n1\n7\n65536\n0\n", "expected a cardinality of at most 65535"},
        {"2\n\n1\n7\n2\n0\n\n1\n7\n3\n0\n",
         "a.fg:10:1: found cardinality 3 of label '7', expected 2 as in factor 0"},
        {"1\n\n1\n0\n2\n1\n2 1\n", "a.fg:7:1: found index '2' in factor 0, expected less than 2"},
        {"1\n\n1\n0\n2\n1\n-1 1\n", "a.fg:7:1: found '-1', expected the index of an entry"},
        {"1\n\n1\n0\n2\n2\n1 1\n1 1\n", "a.fg:8:1: found index '1' of factor 0 for the second"},
        {"1\n\n1\n0\n2\n1\n1 -1\n", "a.fg:7:3: found '-1', expected a finite value of at least 0"},
        {"1 1 0 2 1 1 inf", "found 'inf'"},
        {"1 1 0 2 1 1 nan", "found 'nan'"},
        {"1 1 0 2 1 1 1e999", "beyond the largest double"},
        {"1 1 0 2 9 1 1", "cannot hold more than 1"},
        {"1 1 0 2 1 1 1 1", "a.fg:1:15: found '1', expected the end of the file after the last"},
        {"1 1 0 2 1 1", "found '1' as the number of entries listed"},
    };
    refuse_all("a.fg", cases, sizeof cases / sizeof cases[0], NULL);
    /* a file of few bytes must not need much memory */
    refuse_model("a.fg", "1 2 0 1 65535 65535 0", NULL, GBS_ERR_LIMIT,
                 "a.fg:1:3: the table of factor 0 would have more entries");
    refuse_model("a.fg", "1 5 0 1 2 3 4 65535 65535 65535 65535 65535 0", NULL, GBS_ERR_LIMIT,
                 "the table of factor 0");
    refuse_model("a.fg", "2 2 0 1 2000 2000 0 2 0 1 2000 2000 0", NULL, GBS_ERR_LIMIT,
                 "the table of factor 1");
}

static void written_text(void **state)
{
    (void)state;
    char text[512];
    gbs_error err = {0};
    warnings warned = {0};
    gbs_write_options options = {.warn = take_warning, .context = &warned};
    /* a constant, a reversed scope, an omitted zero, a variable in no factor */
    gbs_model *m =
        read_model("a.uai", "MARKOV 3 2 3 2 2 0 2 0 1 1 0.5 6 1 0 0 1e-7 0.4 0.5999999", NULL);
    const char *path = scratch_path("w.fg");
    assert_int_equal(gbs_model_write(m, path, &options, &err), GBS_OK);
    (void)read_file(path, text, sizeof text);
    assert_string_equal(text, "3\n\n0\n\n\n1\n0 0.5\n\n2\n1 0\n3 2\n4\n0 1\n3 1e-7\n4 0.4\n"
                              "5 0.5999999\n\n1\n2\n2\n2\n0 1\n1 1\n");
    assert_int_equal(warned.n, 0);
    gbs_model_free(m);
    m = read_model("a.uai", "MARKOV 0 0", NULL);
    assert_int_equal(gbs_model_write(m, path, &options, &err), GBS_OK);
    (void)read_file(path, text, sizeof text);
    assert_string_equal(text, "0\n");
    gbs_model_free(m);
}

static void write_and_read(void **state)
{
    (void)state;
    static const char *const files[] = {"mixed.fg", "mixed.uai", "mixed.alchemy"};
    for (size_t i = 0; i < 3; i++) {
        gbs_error err = {0};
        gbs_model *m = NULL;
        gbs_model *back = NULL;
        const char *path = scratch_path("x.fg.gz");
        assert_int_equal(gbs_model_read(data_path(files[i]), NULL, &m, &err), GBS_OK);
        assert_int_equal(gbs_model_write(m, path, NULL, &err), GBS_OK);
        assert_int_equal(gbs_model_read(path, NULL, &back, &err), GBS_OK);
        assert_string_equal(gbs_model_digest(m), gbs_model_digest(back));
        gbs_model_free(m);
        gbs_model_free(back);
    }
}

/* Names that are labels are read back. Other names are lost, with a warning. */
static void names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int n_lost;
        const char *second; /* name of variable 1 after reading it back */
    } cases[] = {
        {"variables:\n7\n19\nfactors:\n", 0, "19"},
        {"variables:\n19\n7\nfactors:\n", 1, NULL},
        {"variables:\n7\n19x\nfactors:\n", 1, NULL},
        {"variables:\n07\n19\nfactors:\n", 1, NULL},
        {"variables:\n7\n18446744073709551616\nfactors:\n", 1, NULL},
        {"variables:\n0\n1\nfactors:\n", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_error err = {0};
        warnings warned = {0};
        gbs_write_options options = {.warn = take_warning, .context = &warned};
        gbs_model *back = NULL;
        gbs_model *m = read_model("a.alchemy", cases[i].text, NULL);
        const char *path = scratch_path("n.fg");
        assert_int_equal(gbs_model_write(m, path, &options, &err), GBS_OK);
        assert_int_equal(warned.n, cases[i].n_lost);
        assert_int_equal(gbs_model_read(path, NULL, &back, &err), GBS_OK);
        const char *name = gbs_model_variable_name(back, 1);
        assert_true((name == NULL) == (cases[i].second == NULL));
        assert_true(name == NULL || strcmp(name, cases[i].second) == 0);
        gbs_model_free(m);
        gbs_model_free(back);
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
        cmocka_unit_test(smallest),       cmocka_unit_test(table_order),
        cmocka_unit_test(labels),         cmocka_unit_test(layouts),
        cmocka_unit_test(quirks),         cmocka_unit_test(refusals),
        cmocka_unit_test(names),          cmocka_unit_test(written_text),
        cmocka_unit_test(write_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
