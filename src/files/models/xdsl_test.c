/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "text/test_models.h"

#define HEAD "<?xml version=\"1.0\"?><smile version=\"1.0\"><nodes>"
#define TAIL \
    "</nodes><extensions><genie><node id=\"a\"><name>A</name></node></genie></extensions></smile>"
#define NO_YES "<state id=\"no\"/><state id=\"yes\"/>"
#define A      "<cpt id=\"a\">" NO_YES "<probabilities>0.9 0.1</probabilities></cpt>"
#define B                                                                                       \
    "<cpt id=\"b\"><state id=\"lo\"/><state id=\"mid\"/><state id=\"hi\"/><parents>a</parents>" \
    "<probabilities>0.7 0.2 0.1 <!-- a = yes -->0.1 0.3 0.6</probabilities></cpt>"

static void same_as_bif(void **state)
{
    (void)state;
    gbs_model *bif = read_model("a.bif",
                                "variable a { type discrete [ 2 ] { no, yes }; } variable b { type "
                                "discrete [ 3 ] { lo, mid, hi }; }"
                                "probability ( a ) { table 0.9, 0.1; } probability ( b | a ) { "
                                "(no) 0.7, 0.2, 0.1; (yes) 0.1, 0.3, 0.6; }",
                                NULL);
    static const char *const same[] = {
        HEAD A B TAIL, HEAD "<cpt id=\"a\"><property id=\"x\">y <b>z</b></property>" NO_YES
                            "<probabilities>0.9\n0.1</probabilities></cpt>" B TAIL};
    expect_same_model(bif, "a.xdsl", same, 2);
    gbs_model_free(bif);
}

static void odd_elements(void **state)
{
    (void)state;
    warnings warned = {0};
    const gbs_read_options options = {.warn = take_warning, .context = &warned};
    gbs_model *m = read_model(
        "a.xdsl", HEAD A "</nodes><cases><case>1</case></cases><more/></smile>", &options);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "skipped 2 elements beside <nodes>"));
    gbs_model_free(m);
    m = read_model("a.xdsl",
                   "\n \t<?xml version=\"1.0\" encoding='windows-1252' ?>\n<smile><nodes>"
                   "<cpt id=\"Stra\xdf"
                   "e\"><state id=\"\x80\"/><probabilities>1"
                   "</probabilities></cpt></nodes></smile>",
                   &options);
    assert_int_equal(warned.n, 2);
    assert_non_null(strstr(warned.last, "blanks stand before"));
    assert_string_equal(gbs_model_variable_name(m, 0), "Stra\u00dfe");
    assert_string_equal(gbs_model_state_label(m, 0, 0), "\u20ac");
    gbs_model_free(m);
}

/* Tests ids with blanks, which GeNIe itself does not write. */
static void long_names(void **state)
{
    (void)state;
    double w[4];
    gbs_model *m =
        read_model("a.xdsl",
                   HEAD "<cpt id=\"my node\"><state id=\"very good\"/><state id=\"bad\"/>"
                        "<probabilities>0.25 0.75</probabilities></cpt>"
                        "<cpt id=\"c\">" NO_YES "<parents>my node</parents>"
                        "<probabilities>0.5 0.5 0.125 0.875</probabilities></cpt>" TAIL,
                   NULL);
    assert_int_equal(enumerate(m, w, 4), 4);
    assert_string_equal(gbs_model_variable_name(m, 0), "my node");
    expect_near(w[3], 0.75 * 0.875);
    gbs_model_free(m);
    refuse_model("a.xdsl",
                 HEAD "<cpt id=\"a b\">" NO_YES "<probabilities>1 0</probabilities></cpt>" A
                      "<cpt id=\"b\">" NO_YES "<probabilities>1 0</probabilities></cpt>"
                      "<cpt id=\"c\">" NO_YES
                      "<parents>a b</parents><probabilities>1 0 1 0</probabilities></cpt>" TAIL,
                 NULL, GBS_ERR_FORMAT, "can be cut in several ways");
}

/* The document type gives a long default id to each of many elements. */
static void ids_by_default(void **state)
{
    (void)state;
    char text[4096] = "<!DOCTYPE smile [<!ATTLIST state id CDATA '";
    memset(text + strlen(text), 'x', 1500);
    (void)strcat(text, "'>]>\n<smile><nodes>");
    for (int i = 0; i < 20; i++) {
        const size_t n = strlen(text);
        (void)snprintf(text + n, sizeof text - n,
                       "<cpt id=\"a%d\"><state/><probabilities>1</probabilities></cpt>", i);
    }
    (void)strcat(text, "</nodes></smile>");
    refuse_model("a.xdsl", text, NULL, GBS_ERR_FORMAT, "expected an id in the tag");
}

static void deterministic(void **state)
{
    (void)state;
    double w[12];
    gbs_model *m = read_model("a.xdsl",
                              HEAD A B "<deterministic id=\"c\">" NO_YES "<parents>b a</parents>"
                                       "<resultingstates>no yes yes no no yes</resultingstates>"
                                       "</deterministic>" TAIL,
                              NULL);
    static const int yes[6] = {0, 1, 1, 0, 0, 1}; /* over (b, a), a fastest */
    assert_int_equal(enumerate(m, w, 12), 12);    /* over (a, b, c) */
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 3; b++) {
            const double *p = &w[(a * 3 + b) * 2];
            assert_true((p[0] == 0.0) == (yes[b * 2 + a] == 1) &&
                        (p[1] == 0.0) == (yes[b * 2 + a] == 0));
        }
    }
    gbs_model_free(m);
}

/* P(effect k or a weaker one | causes) is the product of the same probability of each cause and the
 * leak. The test computes the formula directly. */
static void noisy_max(void **state)
{
    (void)state;
    static const double of_a[2][3] = {{0.0, 0.0, 1.0}, {0.3, 0.2, 0.5}};
    static const double of_b[3][3] = {{0.25, 0.5, 0.25}, {0.0, 0.0, 1.0}, {1e-9, 0.1, 0.899999999}};
    static const double leak[3] = {0.01, 0.02, 0.97};
    double w[18];
    gbs_model *m = read_model(
        "a.xdsl",
        HEAD A B
        "<noisymax id=\"c\"><state id=\"x\"/><state id=\"y\"/><state id=\"z\"/><parents>a "
        "b</parents>"
        "<strengths>1 0 0 2 1</strengths><parameters>0 0 1 0.3 0.2 0.5 "
        "0.25 0.5 0.25 0 0 1 1e-9 0.1 0.899999999 0.01 0.02 0.97</parameters></noisymax>" TAIL,
        NULL);
    assert_int_equal(enumerate(m, w, 18), 18);
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 3; b++) {
            const double *p = &w[(a * 3 + b) * 3];
            const double sum = p[0] + p[1] + p[2];
            double stronger = 0.0;
            for (int k = 2; k >= 0; k--) {
                double c[3] = {0.0, 0.0, 0.0};
                for (int j = k; j < 3; j++) {
                    c[0] += of_a[a][j];
                    c[1] += of_b[b][j];
                    c[2] += leak[j];
                }
                const double weaker = c[0] * c[1] * c[2];
                expect_near(p[k] / sum, weaker - stronger);
                stronger = weaker;
            }
        }
    }
    gbs_model_free(m);
}

#define EFFECT(strengths, parameters)                                                          \
    HEAD "<cpt id=\"a\"><state id=\"s0\"/><state id=\"s1\"/><state id=\"s2\"/>"                \
         "<state id=\"s3\"/><probabilities>0.25 0.25 0.25 0.25</probabilities></cpt>"          \
         "<noisymax id=\"c\"><state id=\"ill\"/><state id=\"well\"/><parents>a</parents>"      \
         "<strengths>" strengths "</strengths><parameters>" parameters " 0.2 0.8</parameters>" \
         "</noisymax>" TAIL

/* Tests columns in the order of strength, and columns by number. The place of the column without
 * effect shows which order a file has. */
static void strengths_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double none[4]; /* P(no effect) in each state */
    } cases[] = {
        {EFFECT("0 1 2 3", "0.7 0.3 0.5 0.5 0.4 0.6 0 1"), {0.3, 0.5, 0.6, 1}},
        {EFFECT("3 1 2 0", "0.7 0.3 0.5 0.5 0.4 0.6 0 1"), {1, 0.5, 0.6, 0.3}},
        {EFFECT("0 1 3 2", "0.7 0.3 0.5 0.5 0.4 0.6 0 1"), {0.3, 0.5, 1, 0.6}},
        {EFFECT("2 3 0 1", "0.7 0.3 0.5 0.5 0.4 0.6 0 1"), {0.6, 1, 0.3, 0.5}},
        {EFFECT("0 1 3 2", "0.7 0.3 0.5 0.5 0 1 0.4 0.6"), {0.3, 0.5, 1, 0.6}},
        {EFFECT("3 1 2 0", "0 1 0.5 0.5 0.4 0.6 0.7 0.3"), {1, 0.5, 0.6, 0.3}},
        {EFFECT("0 1 3 2", "0.7 0.3 0.5 0.5 0 1 0 1"), {0.3, 0.5, 1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double w[8];
        gbs_model *m = read_model("a.xdsl", cases[i].text, NULL);
        assert_int_equal(enumerate(m, w, 8), 8);
        for (int a = 0; a < 4; a++) {
            expect_near(w[2 * a + 1], 0.25 * 0.8 * cases[i].none[a]);
        }
        gbs_model_free(m);
    }
    static const char *const others[] = {"1 2 0 3", "3 0 1 2", "1 2 3 0"};
    for (size_t i = 0; i < 3; i++) {
        char text[1024];
        (void)snprintf(text, sizeof text, EFFECT("%s", "0.7 0.3 0.5 0.5 0.4 0.6 0 1"), others[i]);
        refuse_model("a.xdsl", text, NULL, GBS_ERR_UNSUPPORTED,
                     "found strengths of parent 'a' that mean another order");
    }
    /* the 0.7 belongs to state 1 or to state 0 */
    refuse_model("a.xdsl", EFFECT("1 0 3 2", "0.7 0.3 0.5 0.5 0 1 0 1"), NULL, GBS_ERR_UNSUPPORTED,
                 "found two columns without effect of parent 'a'");
}

/* Twenty parents need a noisy factor, because a table would be too long. */
static void long_noisy(void **state)
{
    (void)state;
    char text[8192];
    char ids[256] = "";
    char strengths[256] = "";
    char parameters[1024] = "";
    size_t used = (size_t)snprintf(text, sizeof text, "%s", HEAD);
    double none = 0.98;
    for (int i = 0; i < 20; i++) {
        const double p = 0.05 * i;
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<cpt id=\"p%d\"><state id=\"yes\"/><state id=\"no\"/>"
                                 "<probabilities>0.5 0.5</probabilities></cpt>",
                                 i);
        (void)snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "p%d ", i);
        (void)strcat(strengths, "0 1 ");
        (void)snprintf(parameters + strlen(parameters), sizeof parameters - strlen(parameters),
                       "%.2f %.2f 0 1 ", p, 1.0 - p);
        none *= i % 2 == 0 ? 1.0 - p : 1.0; /* parents of even number are in the state yes */
    }
    (void)snprintf(text + used, sizeof text - used,
                   "<noisymax id=\"c\"><state id=\"ill\"/><state id=\"well\"/><parents>%s</parents>"
                   "<strengths>%s</strengths><parameters>%s 0.02 0.98</parameters></noisymax>" TAIL,
                   ids, strengths, parameters);
    gbs_model *m = read_model("a.xdsl", text, NULL);
    uint32_t x[21];
    for (uint32_t v = 0; v < 20; v++) {
        x[v] = v % 2;
    }
    assert_int_equal(gbs_model_factor(m, 20, NULL, NULL), GBS_FACTOR_NOISY_AND);
    assert_int_equal(gbs_model_is_normalized(m), 1);
    for (x[20] = 0; x[20] < 2; x[20]++) {
        const double p = exp(gbs_model_log_density(m, x)) * 1048576.0;
        expect_near(p, x[20] == 1 ? none : 1.0 - none);
    }
    char *leak = strstr(text, "0.02 0.98");
    assert_non_null(leak);
    leak[8] = '0';
    refuse_model("a.xdsl", text, NULL, GBS_ERR_FORMAT,
                 "found a distribution with sum 0.92 in column 41 of the causes, expected 1");
    gbs_model_free(m);
}

static void written(void **state)
{
    (void)state;
    char text[2048];
    double w_a[6];
    double w_b[6];
    gbs_error err = {0};
    /* b comes first and its parent later: the writer puts parents first */
    gbs_model *m = read_model("a.bif",
                              "variable b { type discrete [ 3 ] { lo, mid, hi }; } variable a { "
                              "type discrete [ 2 ] { no, yes }; }"
                              "probability ( a ) { table 0.9, 0.1; } probability ( b | a ) { (no) "
                              "0.7, 0.2, 0.1; (yes) 0.1, 0.3, 0.6; }",
                              NULL);
    const char *path = scratch_path("b.xdsl");
    assert_int_equal(gbs_model_write(m, path, NULL, &err), GBS_OK);
    text[read_file(path, text, sizeof text - 1)] = 0;
    assert_non_null(strstr(text, "<cpt id=\"b\">\n\t\t\t<state id=\"lo\" />"));
    assert_non_null(
        strstr(text, "<parents>a</parents>\n\t\t\t<probabilities>0.7 0.2 0.1 0.1 0.3 0.6<"));
    gbs_model *back = read_model("b.xdsl", text, NULL);
    assert_string_equal(gbs_model_variable_name(back, 0), "a");
    assert_int_equal(enumerate(m, w_b, 6), 6);
    assert_int_equal(enumerate(back, w_a, 6), 6);
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 3; b++) {
            expect_near(w_a[a * 3 + b], w_b[b * 2 + a]);
        }
    }
    gbs_model_free(m);
    gbs_model_free(back);
}

static void refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"<nodes/>", "expected <smile>"},
        {"<smile/>", "found no node"},
        {HEAD "<cpt>", "expected an id"},
        {HEAD "<cpt id=\"a\"><what/>", "expected <state>, <parents>, <probabilities> or </cpt>"},
        {HEAD "<cpt id=\"a\"></cpt>", "a node without <state>"},
        {HEAD "<cpt id=\"a\">" NO_YES "</cpt>", "a node without <probabilities>"},
        {HEAD "<cpt id=\"a\">text", "expected a tag"},
        {HEAD A A, "found variable 'a' twice"},
        {HEAD "<cpt id=\"a\">" NO_YES "<probabilities>1</probabilities></cpt>" TAIL,
         "found the end after 1 probability, expected 2"},
        {HEAD "<cpt id=\"a\">" NO_YES "<probabilities>1 0 0</probabilities></cpt>" TAIL,
         "found '0' after 2 probabilities, expected 2"},
        {HEAD "<cpt id=\"a\">" NO_YES "<probabilities>1 x</probabilities></cpt>" TAIL,
         "found 'x', expected a probability"},
        {HEAD "<cpt id=\"a\">" NO_YES "<probabilities>1 <i/></probabilities></cpt>" TAIL,
         "expected an end tag"},
        {HEAD "<cpt id=\"a\">" NO_YES
              "<parents>z</parents><probabilities>1 0</probabilities></cpt>" TAIL,
         "found 'z', expected a variable that the file declares"},
        {HEAD "<deterministic id=\"a\">" NO_YES
              "<resultingstates>maybe</resultingstates></deterministic>" TAIL,
         "found 'maybe', expected a state of the node"},
        {HEAD "<deterministic id=\"a\">" NO_YES
              "<resultingstates>no no</resultingstates></deterministic>" TAIL,
         "found 'no' after 1 state, expected 1"},
        {HEAD A "<noisymax id=\"c\">" NO_YES "<parents>a</parents><strengths>1 0</strengths>"
                "<parameters>0.5 0.5 0.5 0.5 0 1</parameters></noisymax>" TAIL,
         "found an effect of the weakest state of parent 'a', expected 0 ... 0 1"},
        {HEAD A "<noisymax id=\"c\">" NO_YES "<parents>a</parents><strengths>1 1</strengths>"
                "<parameters>0 1 0.5 0.5 0 1</parameters></noisymax>" TAIL,
         "found '1', expected each state of a parent once"},
        {HEAD A "<noisymax id=\"c\">" NO_YES "<parents>a</parents><strengths>1 0 0</strengths>"
                "<parameters>0 1 0.5 0.5 0 1</parameters></noisymax>" TAIL,
         "expected the end of the strengths"},
        {HEAD A "<noisymax id=\"c\">" NO_YES "<parameters>0 1</parameters></noisymax>" TAIL,
         "a node without <strengths>"},
    };
    refuse_all("a.xdsl", cases, sizeof cases / sizeof cases[0], NULL);
    static const char *const others[] = {"decision", "utility", "mau", "equation"};
    for (size_t i = 0; i < 4; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, HEAD "<%s id=\"x\"/>", others[i]);
        refuse_model("a.xdsl", text, NULL, GBS_ERR_UNSUPPORTED, "other nodes are not supported");
    }
    refuse_model("a.xdsl", "<smile><dynamic/></smile>", NULL, GBS_ERR_UNSUPPORTED,
                 "networks in time are not supported");
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    if (!can_read("a.xdsl")) {
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_bif),
                                       cmocka_unit_test(odd_elements),
                                       cmocka_unit_test(long_names),
                                       cmocka_unit_test(ids_by_default),
                                       cmocka_unit_test(deterministic),
                                       cmocka_unit_test(noisy_max),
                                       cmocka_unit_test(strengths_in_order),
                                       cmocka_unit_test(long_noisy),
                                       cmocka_unit_test(written),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, end);
}
