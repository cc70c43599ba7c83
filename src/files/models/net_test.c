/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/test_models.h"

#define NODES                                                              \
    "net { node_size = (80 40); }\n"                                       \
    "node a { label = \"an; {odd} label\"; states = (\"no\" \"yes\"); }\n" \
    "node b { states = (\"lo\" \"mid\" \"hi\"); position = (1 2); }\n"
#define PA "potential (a) { data = (0.9 0.1); }\n"
#define PB "potential (b | a) { data = ((0.7 0.2 0.1) (0.1 0.3 0.6)); }\n"

#define BIF_A  "variable a { type discrete [ 2 ] { no, yes }; }\n"
#define BIF_B  "variable b { type discrete [ 3 ] { lo, mid, hi }; }\n"
#define BIF_PA "probability ( a ) { table 0.9, 0.1; }\n"
#define BIF_PB "probability ( b | a ) { (no) 0.7, 0.2, 0.1; (yes) 0.1, 0.3, 0.6; }"

/* Compares two models: names, labels, the order of tables and every bit of their entries. */
static void same_as_bif(void **state)
{
    (void)state;
    static const char *const same[] = {
        NODES PA PB,
        NODES PA "% a comment ; {\npotential(b|a){x=1;data=(0.7 0.2 0.1 % more\n 0.1,0.3,0.6);}",
        "class c { inputs = (); x = \"y\";" /* attributes of the class */
        "discrete node a { states = (no yes); } node b { states = (\"lo\" \"mid\" \"hi\"); }" PA PB
        "}"};
    gbs_model *bif = read_model("a.bif", BIF_A BIF_B BIF_PA BIF_PB, NULL);
    expect_same_model(bif, "a.net", same, sizeof same / sizeof same[0]);
    gbs_model_free(bif);
    static const char *const before[] = {/* a potential may stand before its nodes */
                                         NODES PB PA,
                                         "net{}" PB "node a{states=(\"no\" \"yes\");}" PA
                                         "node b{states=(\"lo\" \"mid\" \"hi\");}"};
    bif = read_model("a.bif", BIF_A BIF_B BIF_PB BIF_PA, NULL);
    expect_same_model(bif, "a.net", before, 2);
    gbs_model_free(bif);
}

/* Tests text that Hugin and other programs write around the data. */
static void as_others_write_it(void **state)
{
    (void)state;
    static const char *const same[] = {
        "// of others\nNET { ; };/* and\n **/\nNode a { States = (\"no\" \"yes\"); label = \"so "
        "\\\"called\\\"; {\"; };"
        "node b { states = (\"lo\" \"mid\" \"hi\");; };" PA
        "Potential (b | a) { model_nodes = (a); model_data = (if (a == \"no\", Distribution (0.7,"
        " 0.2, 0.1), Distribution (0.1, 0.3, 0.6))); Data = ((0.7 0.2 0.1)(0.1 0.3 0.6)); };",
        "class c { node a { states = (no yes); }; node b { states = (\"lo\" \"mid\" \"hi\"); };" PA
        "potential (b | a) { data = ((0.7 0.2 0.1)(0.1 0.3 0.6)); model_data = (x); }; };",
    };
    gbs_model *bif = read_model("a.bif", BIF_A BIF_B BIF_PA BIF_PB, NULL);
    expect_same_model(bif, "a.net", same, sizeof same / sizeof same[0]);
    gbs_model_free(bif);
    warnings warned = {0};
    const gbs_read_options options = {.warn = take_warning, .context = &warned};
    gbs_model *m = read_model("a.net", NODES PA "potential (b | a) { }", &options);
    double w[6];
    assert_int_equal(enumerate(m, w, 6), 6);
    expect_near(w[0], 0.3);
    expect_near(w[5], 0.1 / 3);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "1 potential without data, the first of 'b'"));
    gbs_model_free(m);
}

/* Tests names of several words without quotes. */
static void long_names(void **state)
{
    (void)state;
    gbs_model *m = read_model(
        "a.net",
        "net {}\nnode Wind speed{ states = (\"no wind\" \"storm\"); }\n"
        "node Wind{ states = (\"x\" \"y\"); }\nnode c{ states = (\"n\" \"y\"); }\n"
        "potential (Wind speed |){ data = (0.25 0.75); }\npotential (Wind |){ data = (0.5 0.5); }"
        "potential (c | Wind speed Wind){ data = (((1 0) (0 1))\n ((0.5 0.5) (0.25 0.75))); }",
        NULL);
    double w[8];
    assert_int_equal(enumerate(m, w, 8), 8);
    assert_string_equal(gbs_model_variable_name(m, 0), "Wind speed");
    expect_near(w[7], 0.75 * 0.5 * 0.75);
    gbs_model_free(m);
    static const refusal cases[] = {
        {"net {} node a b { states = (\"x\"); } node a { states = (\"x\"); } node b { states = "
         "(\"x\");}"
         "potential (a | a b) { data = (1); } potential (b) { data = (1); }"
         "potential (a b) { data = (1); }",
         "can be cut in several ways"},
        {"net {} node a b ;", "found ';', expected '{'"},
        {"net {} node a b { states = (\"x\"); } potential (a c) { data = (1); }", "found 'a'"},
    };
    refuse_all("a.net", cases, sizeof cases / sizeof cases[0], NULL);
}

static void parents_in_order(void **state)
{
    (void)state;
    gbs_model *m = read_model("a.net",
                              NODES PA "node c { states = (\"n\" \"y\"); }"
                                       "potential (b) { data = (0.2 0.3 0.5); }"
                                       "potential (c | a b) { data = (((0.1 0.9)(0.2 0.8)(0.3 0.7))"
                                       "((0.4 0.6)(0.5 0.5)(0.6 0.4))); }",
                              NULL);
    double w[12];
    assert_int_equal(enumerate(m, w, 12), 12);
    /* states of (a, b, c), c fastest: p(c = n | a, b) = 0.1, 0.2, ... */
    for (int i = 0; i < 6; i++) {
        expect_near(w[2 * i] / (w[2 * i] + w[2 * i + 1]), 0.1 * (i + 1));
    }
    assert_int_equal(gbs_model_is_directed(m), 1);
    gbs_model_free(m);
}

static void written(void **state)
{
    (void)state;
    char text[1024];
    gbs_error err = {0};
    gbs_model *m = read_model("a.net", NODES PA PB, NULL);
    const char *path = scratch_path("b.net");
    assert_int_equal(gbs_model_write(m, path, NULL, &err), GBS_OK);
    text[read_file(path, text, sizeof text - 1)] = 0;
    assert_string_equal(
        text, "net\n{\n}\n"
              "node a\n{\n  states = (\"no\" \"yes\");\n}\n"
              "node b\n{\n  states = (\"lo\" \"mid\" \"hi\");\n}\n"
              "potential (a)\n{\n  data = (0.9 0.1);\n}\n"
              "potential (b | a)\n{\n  data = (\n    (0.7 0.2 0.1)\n    (0.1 0.3 0.6));\n}\n");
    const char *const same[] = {text};
    expect_same_model(m, "c.net", same, 1);
    gbs_model_free(m);
}

static void refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.net:1:1: found the end of the file, expected 'net' or 'class'"},
        {"net {", "expected an attribute or '}'"},
        {"net { /* open", "a.net:1:7: found a comment that does not end"},
        {"net { /*/", "a.net:1:7: found a comment that does not end"},
        {"net { a = 1 }", "found '}', expected ';' behind the value"},
        {"net { } ", "expected a node"},
        {NODES, "expected a potential"},
        {NODES PA, "variable 'b' without a potential"},
        {NODES PA PB PA, "found a second potential of 'a', expected one"},
        {"net{} node a { }", "found '}', expected the states of a node"},
        {"net{} node a { states = (); }", "found '}', expected the states of a node"},
        {"net{} node a { states = (\"x\" \"x\"); }", "found state 'x' twice"},
        {"net{} node a { states = (\"x\"); states = (\"y\"); }", "the states of a node once"},
        {"net{} node a { states = (\"x); }", "found a quote that does not end"},
        {"net{} node a { states = (\"x\\\"); }", "found a quote that does not end"},
        {"net{} hello", "found 'hello', expected 'node' or 'potential'"},
        {NODES "potential (a b) { data = (1 1); }", NULL},
        {NODES "potential (a | z) { data = (1 1); }",
         "found 'z', expected a variable that the file"},
        {NODES "potential (a | a) { data = (1 1); }", "found 'a' twice in one block"},
        {NODES "potential (a) { 1 }", "found '}', expected '='"},
        {NODES "potential (a) { data = (0.1); }", "found ';' after 1 probability, expected 2"},
        {NODES "potential (a) { data = (0.1 0.9 0); }",
         "found '0' after 2 probabilities, expected 2"},
        {NODES "potential (a) { data = ((0.1 0.9); }",
         "found ';' after 2 probabilities, expected 2"},
        {NODES "potential (a) { data = (0.1 0.9)); }", "found ')' after 2 probabilities"},
        {NODES "potential (a) { data = (-1 2); }", "found '-1', expected a probability"},
        {NODES "potential (a) { data = (1 1); }", "with sum 2, expected 1"},
        {NODES "potential (a) { data = (0 0); }", "all zero"},
        {NODES "potential (a) { data = (0.5 0.5); data = (0.5 0.5); }",
         "expected an attribute or '}'"},
        {NODES "potential (a) { data = (0.5 0.5);", "expected '}' of a potential"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refuse_model("a.net", cases[i].text, NULL,
                     cases[i].part == NULL ? GBS_ERR_UNSUPPORTED : GBS_ERR_FORMAT,
                     cases[i].part == NULL ? "a potential has one node" : cases[i].part);
    }
    static const char *const others[] = {"decision d { }", "utility u { }", "continuous node c { }",
                                         "function f { }", "class c { instance i : d(); }"};
    for (size_t i = 0; i < 5; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s%s", i < 4 ? "net { } " : "", others[i]);
        refuse_model("a.net", text, NULL, GBS_ERR_UNSUPPORTED,
                     "discrete nodes and potentials only");
    }
    refuse_model("a.net", NODES "potential (a) { model_data = (x); }", NULL, GBS_ERR_UNSUPPORTED,
                 "expressions are not supported");
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
        cmocka_unit_test(same_as_bif), cmocka_unit_test(as_others_write_it),
        cmocka_unit_test(long_names),  cmocka_unit_test(parents_in_order),
        cmocka_unit_test(written),     cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, end);
}
