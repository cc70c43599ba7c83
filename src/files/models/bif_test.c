/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/test_models.h"

#define A  "variable a { type discrete [ 2 ] { no, yes }; }\n"
#define B  "variable b { type discrete [ 3 ] { lo, mid, hi }; }\n"
#define PA "probability ( a ) { table 0.9, 0.1; }\n"

static void same_as_uai(void **state)
{
    (void)state;
    gbs_model *bif = NULL;
    gbs_model *uai = NULL;
    gbs_error err = {0};
    if (gbs_model_read(data_path("network.bif"), NULL, &bif, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(gbs_model_read(data_path("network.uai"), NULL, &uai, &err), GBS_OK);
    double w_bif[24];
    double w_uai[24];
    assert_int_equal(enumerate(bif, w_bif, 24), 24);
    assert_int_equal(enumerate(uai, w_uai, 24), 24);
    double sum = 0;
    for (int i = 0; i < 24; i++) {
        expect_near(w_bif[i], w_uai[i]);
        sum += w_bif[i];
    }
    expect_near(sum, 1);
    assert_int_equal(gbs_model_is_directed(bif), 1);
    assert_string_equal(gbs_model_variable_name(bif, 2), "wet grass");
    assert_string_equal(gbs_model_state_label(bif, 1, 2), ">=12");
    assert_string_equal(gbs_model_state_label(bif, 2, 3), "N//A");
    gbs_model_free(bif);
    gbs_model_free(uai);
}

static void table_and_rows_agree(void **state)
{
    (void)state;
    gbs_model *rows = read_model(
        "a.bif", A B PA "probability ( b | a ) { (yes) 0.1, 0.3, 0.6; (no) 0.7 0.2 0.1; }", NULL);
    static const char *const same[] = {
        A B PA "probability ( b | a ) { table 0.7, 0.1, 0.2, 0.3, 0.1, 0.6; }",
        "network x y { property p q; property r; }" A B PA
        "probability(b|a){default .7,.2,.1;property x = {;(yes).1 .3,.6;}//end",
        "/* * */" A "variable\"b\"{property t; type discrete[3]{\"lo\" mid,hi,};}\r\n" PA
        "probability ( b , a ) { (\"no\") 0.7, 0.2, 0.1; (yes) 1e-1, 3e-1, 6e-1; }",
    };
    expect_same_model(rows, "b.bif", same, sizeof same / sizeof same[0]);
    gbs_model_free(rows);
}

static void odd_names(void **state)
{
    (void)state;
    gbs_model *m =
        read_model("a.bif",
                   "variable table { type discrete [ 4 ] { default, [1|2], \"1//\", \"a b;\" }; }"
                   "variable TABLE { type discrete [ 1 ] { \"x/*\" }; }"
                   "probability ( table | TABLE ) { (\"x/*\") 0.1 0.2 0.3 0.4; }"
                   "probability ( TABLE ) { () 1; }",
                   NULL);
    assert_string_equal(gbs_model_state_label(m, 0, 1), "[1|2]");
    assert_string_equal(gbs_model_state_label(m, 0, 3), "a b;");
    gbs_error err;
    gbs_model *back = NULL;
    assert_int_equal(gbs_model_write(m, scratch_path("odd.bif"), NULL, &err), GBS_OK);
    assert_int_equal(gbs_model_read(scratch_path("odd.bif"), NULL, &back, &err), GBS_OK);
    assert_string_equal(gbs_model_digest(back), gbs_model_digest(m));
    for (uint32_t a = 0; a < 4; a++) {
        assert_string_equal(gbs_model_state_label(m, 0, a), gbs_model_state_label(back, 0, a));
    }
    gbs_model_free(m);
    gbs_model_free(back);
}

/* Tests names with blanks and commas without quotes. The number in brackets says where a list is
 * cut. */
static void long_names(void **state)
{
    (void)state;
    static const char text[] =
        "network unknown {\n}\n"
        "variable Wind speed {\n  type discrete [ 3 ] { no wind, a breeze (1, 2), storm };\n}\n"
        "variable Price, net {\n  type discrete [ 2 ] { [0,9.5), [9.5,1,000) };\n}\n"
        "variable Sold {\n  type discrete [ 2 ] { 1,000, 2,500 };\n}\n"
        "probability ( Wind speed ) {\n  table 0.5, 0.25, 0.25;\n}\n"
        "probability ( Price, net | Wind speed ) {\n  (no wind) 0.5, 0.5;\n"
        "  (a breeze (1, 2)) 0.25, 0.75;\n  ( storm ) 1, 0;\n}\n"
        "probability ( Sold | Wind speed, Price, net ) {\n"
        "  (no wind, [0,9.5)) 1, 0;\n  (no wind, [9.5,1,000)) 0.25, 0.75;\n"
        "  (a breeze (1, 2), [0,9.5)) 0.5, 0.5;\n  (a breeze (1, 2), [9.5,1,000)) 0, 1;\n"
        "  (storm, [0,9.5)) 0.75, 0.25;\n  (storm, [9.5,1,000)) 0.5, 0.5;\n}\n";
    static const char quoted[] =
        "variable \"Wind speed\" { type discrete [ 3 ] { \"no wind\", \"a breeze (1, 2)\", storm "
        "}; }"
        "variable \"Price, net\" { type discrete [ 2 ] { \"[0,9.5)\", \"[9.5,1,000)\" }; }"
        "variable Sold { type discrete [ 2 ] { \"1,000\", \"2,500\" }; }"
        "probability ( \"Wind speed\" ) { table 0.5, 0.25, 0.25; }"
        "probability ( \"Price, net\" | \"Wind speed\" ) { table 0.5 0.25 1 0.5 0.75 0; }"
        "probability ( Sold | \"Wind speed\" \"Price, net\" ) {"
        "  table 1 0.25 0.5 0 0.75 0.5  0 0.75 0.5 1 0.25 0.5; }";
    gbs_model *long_ones = read_model("a.bif", text, NULL);
    gbs_model *quoted_ones = read_model("b.bif", quoted, NULL);
    assert_string_equal(gbs_model_digest(long_ones), gbs_model_digest(quoted_ones));
    for (uint32_t v = 0; v < 3; v++) {
        assert_string_equal(gbs_model_variable_name(long_ones, v),
                            gbs_model_variable_name(quoted_ones, v));
        for (uint32_t a = 0; a < 2; a++) {
            assert_string_equal(gbs_model_state_label(long_ones, v, a),
                                gbs_model_state_label(quoted_ones, v, a));
        }
    }
    gbs_model_free(long_ones);
    gbs_model_free(quoted_ones);
}

static void long_names_refused(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"variable a { type discrete [ 2 ] { (x, y), u,v, w }; }", "found 2 states announced"},
        {"variable a { type discrete [ 3 ] { (x, y), u,v }; }", "cut into 3 names in several ways"},
        {"variable a { type discrete [ 2 ] { so so\nlala, b }; }", "expected the end of the name"},
        {"variable a { type discrete [ 2 ] { so \"so\", b }; }", "expected the end of the name"},
        {"variable big a { type discrete [ 1 ] { x }; }\nprobability ( big b ) { table 1; }",
         "a.bif:2:15: found 'big'"},
        {"variable a { type discrete [ 2 ] { x, y z }; }" B PA
         "probability ( b | a ) { (y) 1 0 0; }",
         "found 'y', expected a state of variable a"},
        {"variable \"a\" { type discrete [ 2 ] { \"x\", \"x, y\" }; }"
         "variable b { type discrete [ 2 ] { y, \"y, y\" }; }"
         "variable c { type discrete [ 1 ] { 0 }; } probability ( c | a b ) { (x, y, y) 1; }",
         "can be cut in several ways"},
        {"variable a { type discrete [ 1 ] { x }; } variable b c { type discrete [ 1 ] { x }; }"
         "variable a, b c { type discrete [ 1 ] { x }; } probability ( a | a, b c ) { table 1; }",
         "can be cut in several ways"},
    };
    refuse_all("a.bif", cases, sizeof cases / sizeof cases[0], NULL);
}

static void as_others_write_it(void **state)
{
    (void)state;
    gbs_model *plain = read_model(
        "a.bif", A B PA "probability ( b | a ) { (yes) 0.1, 0.3, 0.6; (no) 0.7 0.2 0.1; }", NULL);
    static const char *const same[] = {
        "network a (b) { property x = \"a; }\"; };" A B PA
        "PROBABILITY ( b | a ) { (yes)0.1,0.3,0.6//first\n; (no) 0.7 0.2 0.1; };",
        "Network x {};\nVariable a { Type Discrete [ 2 ] { no// \"0\"\n, yes// \"1\"\n }; };" B
        "probability ( a ) { Table 0.9, 0.1/* nine\nto one */; };"
        "probability ( b | a ) { Default 0.1, 0.3, 0.6;; (no/* never */) 0.7 0.2 0.1; }",
    };
    expect_same_model(plain, "b.bif", same, sizeof same / sizeof same[0]);
    warnings warned = {0};
    const gbs_read_options options = {.warn = take_warning, .context = &warned};
    gbs_model *open = read_model("c.bif", "network x {\n property p;" A PA "}", &options);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "not closed before the first 'variable'"));
    gbs_model_free(open);
    gbs_model_free(plain);
}

static void written_text(void **state)
{
    (void)state;
    char text[1024];
    gbs_error err;
    gbs_model *m = read_model(
        "a.bif", A B PA "probability ( b | a ) { (yes) 0.1, 0.3, 0.6; (no) 0.7 0.2 0.1; }", NULL);
    assert_int_equal(gbs_model_write(m, scratch_path("w.bif"), NULL, &err), GBS_OK);
    (void)read_file(scratch_path("w.bif"), text, sizeof text);
    assert_string_equal(text, "network unknown {\n}\n"
                              "variable a {\n  type discrete [ 2 ] { no, yes };\n}\n"
                              "variable b {\n  type discrete [ 3 ] { lo, mid, hi };\n}\n"
                              "probability ( a ) {\n  table 0.9, 0.1;\n}\n"
                              "probability ( b | a ) {\n  (no) 0.7, 0.2, 0.1;\n  (yes) 0.1, 0.3, "
                              "0.6;\n}\n");
    gbs_model_free(m);
    m = read_model("a.uai", "BAYES 2 1 2 2 1 0 2 0 1 1 1 2 0.5 0.5", NULL);
    assert_int_equal(gbs_model_write(m, scratch_path("w.bif"), NULL, &err), GBS_OK);
    (void)read_file(scratch_path("w.bif"), text, sizeof text);
    assert_non_null(strstr(text, "probability ( x1 | x0 ) {\n  (0) 0.5, 0.5;\n}\n"));
    gbs_model_free(m);
}

static void refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.bif:1:1: found the end of the file, expected a variable block"},
        {"hello", "found 'hello'"},
        {"network {", "found the end of the file"},
        {"network x { hello }", "found 'hello'"},
        {"network x { property never ends }", "expected ';'"},
        {"/* open", "a.bif:1:1: found a comment that does not end"},
        {"variable \"a\n\" {", "found a quote that does not end"},
        {"variable \"\" {", "expected a name in the quotes"},
        {"variable { }", "found '{', expected the name of a variable"},
        {"variable a { }", "found '}', expected 'type' or 'property'"},
        {"variable a { type continuous; }", "found 'continuous'"},
        {"variable a { type discrete [ 0 ] { }; }", "found '0'"},
        {"variable a { type discrete [ 70000 ] { x }; }", "found '70000'"},
        {"variable a { type discrete [ 2 ] { x }; }", "found 2 states announced, but 1 listed"},
        {"variable a { type discrete [ 2 ] { x, x }; }", "found state 'x' twice"},
        {"variable a { type discrete [ 1 ] { x } }", "found '}', expected ';'"},
        {A A PA, "a.bif:2:10: found variable 'a' twice"},
        {A, "a.bif:1:10: found variable 'a' without a probability block"},
        {A PA PA, "a.bif:3:15: found a second probability block"},
        {A "probability ( a )", "found the end of the file"},
        {A "probability ( c ) { table 1; }", "found 'c'"},
        {A "probability ( a | a ) { table 1; }", "twice in one block"},
        {A "probability ( a ) { table 0.5; }", "found ';' after 1 probability, expected 2"},
        {A "probability ( a ) { table 0.5 0.25 0.25; }", "found '0.25' after 2"},
        {A "probability ( a ) { table 0.5 -0.5; }", "found '-0.5', expected a probability"},
        {A "probability ( a ) { table 0.5 x; }", "found 'x'"},
        {A "probability ( a ) { table 0.5 nan; }", "found NA beside probabilities"},
        {A "probability ( a ) { table 0 0; }", "all zero"},
        {A "probability ( a ) { }", "1 of 1 row missing"},
        {A "probability ( a ) { table 1 0; table 1 0; }", "expected it alone"},
        {A "probability ( a ) { table 1 0; default 1 0; }", "beside a table"},
        {A "probability ( a ) { table 1 0; () 1 0; }", "beside a table"},
        {A "probability ( a ) { (no) 1 0; }", "found 'no', expected ')'"},
        {A B PA "probability ( b | a ) { (no) 1 0 0; }", "expected a default or the row of (yes)"},
        {A B PA "probability ( b | a ) { (no) 1 0 0; (no) 1 0 0; }", "for the second time"},
        {A B PA "probability ( b | a ) { (maybe) 1 0 0; }", "expected a state of variable a"},
        {A B PA "probability ( b | a ) { () 1 0 0; }", "expected a state of every parent"},
        {A B "probability ( a | b ) { default 1 0; } probability ( b | a ) { default 1 0 0; }",
         "a.bif:3:12: directed cycle"},
    };
    refuse_all("a.bif", cases, sizeof cases / sizeof cases[0], NULL);
}

static void rows_off_one(void **state)
{
    (void)state;
    warnings warned = {0};
    gbs_read_options options = {.warn = take_warning, .context = &warned};
    const char *text = A B PA "probability ( b | a ) { default 0.4, 0.4, 0.3; }";
    refuse_model("a.bif", text, NULL, GBS_ERR_FORMAT,
                 "with sum 1.1 in the row of (no), expected 1");
    options.lenient = 1;
    gbs_model_free(read_model("a.bif", text, &options));
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "2 rows"));
    assert_non_null(strstr(warned.last, "of b, is off by 0.1"));
    options.lenient = 0;
    options.normalize_cpts = 1;
    gbs_model_free(read_model("a.bif", text, &options));
    assert_int_equal(warned.n, 1);
}

/* A default row may stand for more entries than the file has bytes, but only up to a limit. */
static void default_limit(void **state)
{
    (void)state;
    char text[4096] = "";
    size_t n = 0;
    for (int v = 0; v < 24; v++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "variable x%d { type discrete [ 2 ] { n, y }; }\n", v);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "probability ( x0 |");
    for (int v = 1; v < 24; v++) {
        n += (size_t)snprintf(text + n, sizeof text - n, " x%d", v);
    }
    (void)snprintf(text + n, sizeof text - n, " ) { default 0.5 0.5; }");
    refuse_model("a.bif", text, NULL, GBS_ERR_LIMIT, "a.bif:25:15: the table of this block");
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
        cmocka_unit_test(same_as_uai),        cmocka_unit_test(table_and_rows_agree),
        cmocka_unit_test(odd_names),          cmocka_unit_test(written_text),
        cmocka_unit_test(refusals),           cmocka_unit_test(rows_off_one),
        cmocka_unit_test(default_limit),      cmocka_unit_test(long_names),
        cmocka_unit_test(long_names_refused), cmocka_unit_test(as_others_write_it),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
