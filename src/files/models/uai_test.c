/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/test_models.h"

static const char *const SMALLEST = "MARKOV 1 2 1 1 0 2 1 3";

static void smallest(void **state)
{
    (void)state;
    gbs_model *m = read_model("a.uai", SMALLEST, NULL);
    double w[2];
    assert_int_equal(gbs_model_n_variables(m), 1);
    assert_int_equal(enumerate(m, w, 2), 2);
    expect_near(w[1] / w[0], 3);
    gbs_model_free(m);
    m = read_model("a.uai", "MARKOV 0 0", NULL);
    assert_int_equal(gbs_model_n_variables(m), 0);
    gbs_model_free(m);
}

/* Expected values are computed by hand from the numbers in the file. The last variable of a
 * scope runs fastest. */
static void table_order(void **state)
{
    (void)state;
    gbs_model *m = NULL;
    gbs_error err;
    assert_int_equal(gbs_model_read(data_path("mixed.uai"), NULL, &m, &err), GBS_OK);
    double w[24];
    assert_int_equal(enumerate(m, w, 24), 24);
    static const double f[24] = {1,   2,    3,     4, 5, 6, 7, 8, 9, 10, 11, 12,
                                 0.5, 0.25, 0.125, 3, 2, 1, 6, 5, 4, 0,  1,  0.75};
    static const double g[12] = {1, 2, 3, 4, 5, 6, 7, 8, 0.5, 0, 2, 1};
    static const double h[2] = {0.3, 0.7};
    for (size_t a = 0; a < 2; a++) {
        for (size_t b = 0; b < 3; b++) {
            for (size_t c = 0; c < 4; c++) {
                expect_near(w[(a * 3 + b) * 4 + c], f[(c * 2 + a) * 3 + b] * g[b * 4 + c] * h[a]);
            }
        }
    }
    gbs_model_free(m);
}

static void layouts(void **state)
{
    (void)state;
    gbs_model *m = read_model("a.uai", SMALLEST, NULL);
    static const char *const same[] = {
        "markov\r\n1\r\n2\r\n1\r\n1 0\r\n\r\n2\r\n1 3\r\n",
        "\xef\xbb\xbfMARKOV\n1 2 1 1 0 2 1 3\n\n",
        "c a comment\n  c another MARKOV\nMarkov 1 2 1 1 0 2 1 3",
        "MARKOV\f1\v2\t1 1 0 2 +1 3.0e0",
        "MARKOV 1 2 1 1 0 2 1. 0.3E+1",
        "# a\n#\nc b\n # MARKOV\nMARKOV # type\n1#one\n2 # states\n1\n1 0#x\n# size\n2\n1 3#",
    };
    expect_same_model(m, "b.uai.gz", same, sizeof same / sizeof same[0]);
    gbs_model_free(m);
}

static void quirks(void **state)
{
    (void)state;
    /* constant factor, arity 1, a variable in no factor, a hard zero */
    gbs_model *m = read_model("a.uai", "MARKOV 3 1 2 2 2 0 2 1 0 1 5 2 0 1", NULL);
    double w[4];
    assert_int_equal(enumerate(m, w, 4), 4);
    assert_true(w[0] == 0 && w[1] == 0);
    expect_near(w[2], 5);
    gbs_model_free(m);
    warnings warned = {0};
    gbs_read_options options = {.warn = take_warning, .context = &warned};
    m = read_model("a.uai", "MARKOV 1 2 1 1 0 2 1e-400 -0", &options);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "1 value is too small"));
    gbs_model_free(m);
}

static void lenient(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_read_options options = {.lenient = 1, .warn = take_warning, .context = &warned};
    gbs_model_free(read_model("a.uai", "MARKOV 1 2 1 1 0 2 1 3 4", &options));
    assert_int_equal(warned.n, 1);
    refuse_model("a.uai", "MARKOV 1 2 1 1 0 2 1 3 4", NULL, GBS_ERR_FORMAT,
                 "a.uai:1:24: found '4'");
}

/* Reads the same numbers over (a, b, c) with other comments. Checks P(c = 0), computed by hand,
 * and the number of warnings. */
static void expect_order(const char *comments[3], bool typed, double expected, int n_warnings)
{
    char text[512];
    double w[12];
    double sum = 0.0;
    warnings warned = {0};
    gbs_read_options options = {.size = sizeof options,
                                .warn = take_warning,
                                .context = &warned,
                                .table_order = typed ? "parents-child" : NULL};
    (void)snprintf(text, sizeof text,
                   "BAYES\n3\n2 3 2\n3\n1 0%s\n1 1%s\n3 0 1 2%s\n\n2\n.25 .75\n3\n.5 .25 .25\n12\n"
                   ".1 .9 .2 .8 .3 .7 .4 .6 .5 .5 .6 .4\n",
                   comments[0], comments[1], comments[2]);
    gbs_model *m = read_model("a.uai", text, &options);
    assert_int_equal(enumerate(m, w, 12), 12);
    for (int i = 0; i < 12; i += 2) {
        sum += w[i];
    }
    expect_near(sum, expected);
    assert_int_equal(warned.n, n_warnings);
    gbs_model_free(m);
}

/* pyAgrum writes a name behind every scope, and its first parent runs fastest. */
static void names_behind_scopes(void **state)
{
    (void)state;
    /* P(c = 0 | a, b), b fastest: .1 .2 .3, .4 .5 .6; a fastest: .1 .3 .5, .2 .4 .6 */
    const double uai = 0.25 * (0.05 + 0.05 + 0.075) + 0.75 * (0.2 + 0.125 + 0.15);
    const double agrum = 0.25 * (0.05 + 0.075 + 0.125) + 0.75 * (0.1 + 0.1 + 0.15);
    expect_order((const char *[]){"   # sky", " # ground", "# c-3\r"}, false, agrum, 1);
    expect_order((const char *[]){"#0", "#1", "#2"}, false, agrum, 1);
    expect_order((const char *[]){"   # the sky", "   # the ground", "   # c"}, false, agrum, 1);
    expect_order((const char *[]){"# sky", "# ground", "# c"}, true, uai, 0);
    expect_order((const char *[]){"# sky", "# ground", ""}, false, uai, 0);
    expect_order((const char *[]){"# sky", "# ground", "\n# c"}, false, uai, 0);
    expect_order((const char *[]){"# sky", "# ground", " #"}, false, uai, 0);
    /* the file has comments but no names: a warning says in which order it is read */
    expect_order((const char *[]){"# cpt", "# cpt", "# cpt"}, false, uai, 1);
    expect_order((const char *[]){"# P(a)", "# P(b)", "# P(c|a,b)"}, false, uai, 1);
    expect_order((const char *[]){"# sky", "# ground", "# of both"}, false, uai, 1);
    warnings warned = {0};
    gbs_read_options options = {.warn = take_warning, .context = &warned};
    gbs_model_free(read_model("a.uai", "BAYES 2 2 2 2 1 0 # of a\n 2 0 1 # of b\n2 .5 .5 4 1 0 0 1",
                              &options));
    assert_int_equal(warned.n, 0); /* with one parent the orders are equal */
}

/* In MARKOV models pyAgrum lists the variables of a table behind its size, the first variable
 * fastest. */
static void braces(void **state)
{
    (void)state;
    static const struct {
        const char *comment;
        int listed; /* variable 0 runs fastest */
    } cases[] = {{"# {0, 1}", 1},    {"#{0,1}\r", 1},    {"# {1, 0}", 0}, {"# pair {0, 1}", 0},
                 {"# {0, 1} x", 0},  {"# {0}", 0},       {"# {0, 0}", 0}, {"# {0, 1, 2}", 0},
                 {"# {0, 2}", 0},    {"# {0, 9999}", 0}, {"# {}", 0},     {"# {", 0},
                 {"# {0 1}", 0},     {"# {0, 1, 0}", 0}, {"# {a, b}", 0}, {"", 0},
                 {"\n# {0, 1}\n", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        double w[6];
        warnings warned = {0};
        gbs_read_options options = {
            .size = sizeof options, .warn = take_warning, .context = &warned};
        (void)snprintf(
            text, sizeof text,
            "MARKOV\n3 # nbr Nodes\n2 3 1\n1 # nbr Factors \n2 0 1 \n\n6 %s\n1 2 3 4 5 6\n",
            cases[i].comment);
        const bool stays = strstr(cases[i].comment, "{1, 0}") != NULL;
        gbs_model *m = read_model("a.uai", text, &options);
        assert_int_equal(enumerate(m, w, 6), 6);
        expect_near(w[1], cases[i].listed ? 3 : 2);
        expect_near(w[3], cases[i].listed ? 2 : 4);
        assert_int_equal(warned.n, cases[i].listed || stays);
        gbs_model_free(m);
        options.table_order = "parents-child";
        m = read_model("a.uai", text, &options);
        (void)enumerate(m, w, 6);
        expect_near(w[1], 2);
        gbs_model_free(m);
    }
    /* three variables in another order than that of the scope */
    double w[12];
    gbs_model *m = read_model(
        "a.uai", "MARKOV 3 2 3 2 1 3 0 1 2 12 # {1, 2, 0}\n1 2 3 4 5 6 7 8 9 10 11 12", NULL);
    (void)enumerate(m, w, 12);
    for (int i = 0; i < 12; i++) {
        const int expected = 1 + i / 2 % 3 + 3 * (i % 2) + 6 * (i / 6);
        expect_near(w[i], expected);
    }
    gbs_model_free(m);
}

static void refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.uai:1:1: found the end of the file, expected MARKOV or BAYES"},
        {"hello", "found 'hello'"},
        {"MARKOV\n-1", "a.uai:2:1: found '-1'"},
        {"MARKOV 3x", "found '3x'"},
        {"MARKOV 9223372036854775808 2", "found '9223372036854775808'"},
        {"MARKOV 99999999999999999999999 2", "found '99999999999999999999999'"},
        {"MARKOV 1 0 0", "cardinality 0"},
        {"MARKOV 1 65536 0", "65535"},
        {"MARKOV 1 2", "found the end of the file"},
        {"MARKOV 1 2 9999999 1 0 2 1 1", "cannot hold more than"},
        {"MARKOV 1 2 1 1 1 2 1 1", "variable '1' in factor 0"},
        {"MARKOV 2 2 2 1 2 1 1 4 1 1 1 1", "twice in factor 0"},
        {"MARKOV 1 2 1 1 0 3 1 1 1", "a.uai:1:18: factor 0 has 3 entries, its scope (2) needs 2"},
        {"MARKOV 1 2 1 1 0 2 1", "only 2 bytes are left"},
        {"MARKOV 1 2 1 1 0 2 1    ", "found the end of the file, expected a value"},
        {"MARKOV 1 2 1 1 0 2 1 -3", "--from lg"},
        {"MARKOV 1 2 1 1 0 2 1 inf", "found 'inf', expected a finite"},
        {"MARKOV 1 2 1 1 0 2 1 nan", "found 'nan'"},
        {"MARKOV 1 2 1 1 0 2 1 1e999", "beyond the largest double"},
        {"MARKOV 1 2 1 1 0 2 1 1,5", "found '1,5'"},
        {"MARKOV 4 65535 65535 65535 65535 1 4 0 1 2 3 2 1 1 1 1 1 1 1", "more entries than"},
        {"BAYES 2 2 2 1 1 0 2 1 0", "expected one per variable: 2"},
        {"BAYES 1 2 1 0 1 1", "empty scope"},
        {"BAYES 2 2 2 2 1 0 1 0 2 1 0 2 1 0", "no table yet"},
        {"BAYES 1 2 1 1 0 2 0 0", "all zero"},
        {"BAYES 1 2 1 1 0 2 1e308 1e308", "beyond the largest double"},
        {"BAYES 2 2 2 2 2 1 0 2 0 1 4 1 0 1 0 4 1 0 1 0", "a.uai:1:13: directed cycle"},
    };
    refuse_all("a.uai", cases, sizeof cases / sizeof cases[0], NULL);
    refuse_model("a.uai", "LIMID 3", NULL, GBS_ERR_UNSUPPORTED, "UAI type LIMID is not supported");
    gbs_model *m = NULL;
    gbs_error err;
    assert_int_equal(gbs_model_read_memory("a.uai", "MARKOV 1\n\0 2", 11, NULL, &m, &err),
                     GBS_ERR_FORMAT);
    assert_string_equal(err.message, "a.uai:2:1: found a NUL byte, expected text");
}

static void log_space(void **state)
{
    (void)state;
    gbs_model *m = read_model("a.LG", "MARKOV 1 3 1 1 0 3 -inf 2.5 -1000", NULL);
    uint32_t x = 1;
    assert_true(gbs_model_log_density(m, &x) == 2.5);
    x = 2;
    assert_true(gbs_model_log_density(m, &x) == -1000);
    x = 0;
    assert_true(gbs_model_log_density(m, &x) == -INFINITY);
    gbs_error err;
    assert_int_equal(gbs_model_write(m, scratch_path("a.uai"), NULL, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "factor 0: exp(-1000)"));
    assert_int_not_equal(access(scratch_path("a.uai"), F_OK), 0);
    gbs_model_free(m);
    refuse_model("a.lg", "MARKOV 1 2 1 1 0 2 inf 0", NULL, GBS_ERR_FORMAT, "finite or -inf");
    refuse_model("a.lg", "MARKOV 1 2 1 1 0 2 nan 0", NULL, GBS_ERR_FORMAT, "finite or -inf");
    refuse_model("a.lg", "BAYES 1 2 1 1 0 2 -inf -inf", NULL, GBS_ERR_FORMAT, "all zero");
}

static void columns(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_read_options options = {.warn = take_warning, .context = &warned};
    const char *off = "BAYES 2 2 2 2 1 0 2 0 1 2 0.5 0.5 4 0.5 0.49 0.2 0.8";
    gbs_model_free(read_model("a.uai", off, &options));
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "1 column of"));
    assert_non_null(strstr(warned.last, "in factor 1, is off by 0.01"));
    const char *mistake = "BAYES 1 2 1 1 0 2 0.5 0.52";
    refuse_model("a.uai", mistake, &options, GBS_ERR_FORMAT,
                 "column 0 of factor 0 (a state of the parents) with sum 1.02, expected 1");
    gbs_model_free(read_model("a.uai", mistake, &(gbs_read_options){.lenient = 1}));
    gbs_model_free(
        read_model("a.uai", "BAYES 1 3 1 1 0 3 0.3333333 0.3333333 0.3333333", &options));
    assert_int_equal(warned.n, 1);
    options.normalize_cpts = 1;
    gbs_model *m = read_model("a.uai", off, &options);
    assert_int_equal(warned.n, 1);
    double w[4];
    (void)enumerate(m, w, 4);
    expect_near(w[0] + w[1], 0.5);
    expect_near(w[0] / w[1], 0.5 / 0.49);
    gbs_model_free(m);
    m = read_model("a.lg", "BAYES 1 2 1 1 0 2 999 999", &options);
    (void)enumerate(m, w, 2);
    expect_near(w[1], 0.5);
    gbs_model_free(m);
    /* ln 2 is lost by rounding beside 1e17 */
    m = read_model("a.lg", "BAYES 1 2 1 1 0 2 1e17 1e17", &options);
    (void)enumerate(m, w, 2);
    expect_near(w[1], 0.5);
    gbs_model_free(m);
    options = (gbs_read_options){.lenient = 1, .warn = take_warning, .context = &warned};
    m = read_model("a.uai", "BAYES 1 2 1 1 0 2 0 0", &options);
    assert_int_equal(gbs_model_is_directed(m), 0);
    assert_int_equal(warned.n, 2);
    gbs_model_free(m);
}

/* Numbers that were read are written unchanged in every format that holds the model. */
static void write_and_read(void **state)
{
    (void)state;
    static const char *const files[] = {"mixed.uai", "network.uai", "network.bif"};
    static const char *const endings[] = {"x.uai", "x.LG", "x.uai.gz", "x.bif"};
    for (size_t i = 0; i < 3; i++) {
        gbs_model *m = NULL;
        gbs_error err;
        assert_int_equal(gbs_model_read(data_path(files[i]), NULL, &m, &err), GBS_OK);
        for (size_t j = 0; j < 4; j++) {
            const char *path = scratch_path(endings[j]);
            gbs_status status = gbs_model_write(m, path, NULL, &err);
            if (j == 3 && gbs_model_is_directed(m) == 0) {
                assert_int_equal(status, GBS_ERR_ARGUMENT);
                continue;
            }
            assert_int_equal(status, GBS_OK);
            gbs_model *back = NULL;
            assert_int_equal(gbs_model_read(path, NULL, &back, &err), GBS_OK);
            if (i != 2) { /* in this format the factors have another order than in x.uai */
                assert_string_equal(gbs_model_digest(m), gbs_model_digest(back));
            }
            double w[24];
            double w_back[24];
            assert_int_equal(enumerate(m, w, 24), enumerate(back, w_back, 24));
            assert_memory_equal(w, w_back, sizeof w);
            gbs_model_free(back);
        }
        gbs_model_free(m);
    }
}

static void written_text(void **state)
{
    (void)state;
    const gbs_write_options as_uai = {.format = "UAI"};
    char text[512];
    gbs_error err;
    gbs_model *m =
        read_model("a.uai", "bayes 2 2 3 2 1 0 2 0 1 2 0.9 0.1 6 1 0 0 1e-7 0.4 0.5999999", NULL);
    assert_int_equal(gbs_model_write(m, scratch_path("w"), &as_uai, &err), GBS_OK);
    (void)read_file(scratch_path("w"), text, sizeof text);
    assert_string_equal(text, "BAYES\n2\n2 3\n2\n1 0\n2 0 1\n\n2\n 0.9 0.1\n\n6\n 1 0 0\n 1e-7 0.4 "
                              "0.5999999\n");
    /* Some readers only know numbers of the form digits[.digits]. */
    const gbs_write_options fixed = {.format = "uai", .fixed_floats = 1};
    assert_int_equal(gbs_model_write(m, scratch_path("w"), &fixed, &err), GBS_OK);
    (void)read_file(scratch_path("w"), text, sizeof text);
    assert_string_equal(text, "BAYES\n2\n2 3\n2\n1 0\n2 0 1\n\n2\n 0.9 0.1\n\n6\n 1 0 0\n "
                              "0.0000001 0.4 0.5999999\n");
    gbs_model_free(m);
}

/* Writes every kind of factor as a table. */
static void expands_kinds(void **state)
{
    (void)state;
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    gbs_model *back = NULL;
    gbs_error err;
    const uint32_t arity[] = {2, 2, 3, 3};
    const uint32_t scope[] = {1, 0, 2};
    const uint32_t literal[] = {1, 0, 2};
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 4, arity, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 0, 0.3, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_ising(b, 0, 1, -0.7, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_potts(b, 2, 3, 1.1, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 2, scope, 0.2, &err), GBS_OK);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_IMPLY_NATURAL, 3, scope, literal, 0.9, &err),
        GBS_OK);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 3, scope, literal, INFINITY, &err), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &m, &err), GBS_OK);
    double w[36];
    double w_back[36];
    assert_int_equal(enumerate(m, w, 36), 36);
    assert_int_equal(gbs_model_write(m, scratch_path("k.LG"), NULL, &err), GBS_OK);
    assert_int_equal(gbs_model_read(scratch_path("k.LG"), NULL, &back, &err), GBS_OK);
    (void)enumerate(back, w_back, 36);
    assert_memory_equal(w, w_back, sizeof w);
    gbs_model_free(back);
    assert_int_equal(gbs_model_write(m, scratch_path("k.uai"), NULL, &err), GBS_OK);
    assert_int_equal(gbs_model_read(scratch_path("k.uai"), NULL, &back, &err), GBS_OK);
    (void)enumerate(back, w_back, 36);
    for (int i = 0; i < 36; i++) {
        expect_near(w_back[i], w[i]);
    }
    gbs_model_free(back);
    gbs_model_free(m);
    uint32_t many[25];
    uint32_t two[25];
    for (uint32_t i = 0; i < 25; i++) {
        many[i] = i;
        two[i] = 2;
    }
    assert_int_equal(gbs_builder_add_variables(b, 25, two, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 25, many, 0.2, &err), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &m, &err), GBS_OK);
    assert_int_equal(gbs_model_write(m, scratch_path("big.uai"), NULL, &err), GBS_ERR_LIMIT);
    gbs_model_free(m);
    gbs_builder_free(b);
}

static void formats(void **state)
{
    (void)state;
    gbs_read_options options = {.format = "LG"};
    gbs_model_free(read_model("-", "MARKOV 1 2 1 1 0 2 -1 3", &options));
    refuse_model("-", SMALLEST, NULL, GBS_ERR_ARGUMENT, "uai (.uai), lg (.LG), bif (.bif)");
    refuse_model("model.dat", SMALLEST, NULL, GBS_ERR_ARGUMENT,
                 "model.dat: cannot tell the format from the file name extension");
    refuse_model(".uai", SMALLEST, NULL, GBS_ERR_ARGUMENT, "the file name extension");
    options.format = "none";
    refuse_model("a.uai", SMALLEST, &options, GBS_ERR_ARGUMENT, "format 'none' is not known");
    gbs_model *m = NULL;
    gbs_error err;
    assert_int_equal(gbs_model_read(scratch_path("none.uai"), NULL, &m, &err), GBS_ERR_IO);
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
        cmocka_unit_test(smallest),
        cmocka_unit_test(table_order),
        cmocka_unit_test(layouts),
        cmocka_unit_test(quirks),
        cmocka_unit_test(lenient),
        cmocka_unit_test(refusals),
        cmocka_unit_test(names_behind_scopes),
        cmocka_unit_test(braces),
        cmocka_unit_test(log_space),
        cmocka_unit_test(columns),
        cmocka_unit_test(write_and_read),
        cmocka_unit_test(written_text),
        cmocka_unit_test(expands_kinds),
        cmocka_unit_test(formats),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
