/* SPDX-License-Identifier: Apache-2.0 */
/* Tests columns as programs write them: numbers that rounding made negative, and NA for rows that
 * were never seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/test_models.h"

#define BIF_AB                                      \
    "variable a { type discrete [ 2 ] { n, y }; } " \
    "variable b { type discrete [ 3 ] { lo, mid, hi }; } probability ( a ) { table .25, .75; } "
#define NET_AB                                                             \
    "net { } node a { states = (n y); } node b { states = (lo mid hi); } " \
    "potential (a) { data = (.25 .75); } "
#define XML_AB                                                                                  \
    "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>n</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>" \
    "<VARIABLE><NAME>b</NAME><OUTCOME>lo</OUTCOME><OUTCOME>mid</OUTCOME><OUTCOME>hi</OUTCOME>"  \
    "</VARIABLE><DEFINITION><FOR>a</FOR><TABLE>.25 .75</TABLE></DEFINITION>"                    \
    "<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><TABLE>"
#define XML_END "</TABLE></DEFINITION></NETWORK></BIF>"
#define XDSL_AB                                                                           \
    "<smile><nodes><cpt id='a'><state id='n'/><state id='y'/><probabilities>.25 .75"      \
    "</probabilities></cpt><cpt id='b'><state id='lo'/><state id='mid'/><state id='hi'/>" \
    "<parents>a</parents><probabilities>"
#define XDSL_END "</probabilities></cpt></nodes></smile>"

typedef struct input {
    const char *name, *text;
} input;

/* Expects P(b | a = n), then P(b | a = y), of a file that gives one warning. */
static void expect_rows(const input *file, int lenient, const double expected[6], const char *part)
{
    double w[6];
    warnings warned = {0};
    const gbs_read_options options = {.lenient = lenient, .warn = take_warning, .context = &warned};
    gbs_model *m = read_model(file->name, file->text, &options);
    assert_int_equal(enumerate(m, w, 6), 6);
    for (int i = 0; i < 6; i++) {
        expect_near(w[i], expected[i] * (i < 3 ? 0.25 : 0.75));
    }
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, part));
    gbs_model_free(m);
}

static void below_zero(void **state)
{
    (void)state;
    static const input files[] = {
        {"r.bif", BIF_AB "probability ( b | a ) { (n) .5, .5, -1e-17; (y) -9e-7, .5, .5; }"},
        {"r.bif", BIF_AB "probability ( b | a ) { table .5, -9e-7, .5, .5, -1e-17, .5; }"},
        {"r.net", NET_AB "potential (b | a) { data = ((.5 .5 -1E-17) (-1e-7 .5 .5)); }"},
        {"r.xml", XML_AB ".5 .5 -1e-17 -1e-7 .5 .5" XML_END},
        {"r.xdsl", XDSL_AB ".5 .5 -1e-17 -1e-7 .5 .5" XDSL_END},
        {"r.uai", "BAYES 2 2 3 2 1 0 2 0 1 2 .25 .75 6 .5 .5 -1e-17 -1e-7 .5 .5"},
    };
    static const double expected[] = {0.5, 0.5, 0, 0, 0.5, 0.5};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (can_read(files[i].name)) {
            expect_rows(&files[i], 0, expected, ": 2 ");
        }
    }
    refuse_model("r.bif", BIF_AB "probability ( b | a ) { default .5, .5, -2e-6; }", NULL,
                 GBS_ERR_FORMAT, "found '-2e-6', expected a probability");
    refuse_model("r.uai", "BAYES 1 2 1 1 0 2 1 -2e-6", NULL, GBS_ERR_FORMAT, "found '-2e-6'");
    refuse_model("r.uai", "MARKOV 1 2 1 1 0 2 1 -1e-17", NULL, GBS_ERR_FORMAT, "found '-1e-17'");
}

static void never_seen(void **state)
{
    (void)state;
    static const input files[] = {
        {"r.bif", BIF_AB "probability ( b | a ) { (n) NA, NA, NA; (y) .5, .25, .25; }"},
        {"r.bif", BIF_AB "probability ( b | a ) { (y) .5, .25, .25; default NaN, NaN, -nan; }"},
        {"r.bif", BIF_AB "probability ( b | a ) { table NA, .5, NA, .25, NA, .25; }"},
        {"r.net", NET_AB "potential (b | a) { data = ((NA NA NA) (.5 .25 .25)); }"},
        {"r.xml", XML_AB "NA NA NA .5 .25 .25" XML_END},
        {"r.xdsl", XDSL_AB "NaN NaN NaN .5 .25 .25" XDSL_END},
    };
    static const double expected[] = {1.0 / 3, 1.0 / 3, 1.0 / 3, 0.5, 0.25, 0.25};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (can_read(files[i].name)) {
            const gbs_read_options normalize = {.normalize_cpts = 1};
            expect_rows(&files[i], 1, expected,
                        ": 1 row of conditional tables, the first of b, holds no probabilities");
            refuse_model(files[i].name, files[i].text, NULL, GBS_ERR_FORMAT,
                         "found no probabilities but NA in the row of (n), expected a "
                         "distribution; --lenient takes such rows as uniform");
            refuse_model(files[i].name, files[i].text, &normalize, GBS_ERR_FORMAT, "but NA in the");
        }
    }
    const gbs_read_options lenient = {.lenient = 1};
    refuse_model("r.bif", BIF_AB "probability ( b | a ) { (n) NA, .5, .5; (y) 1, 0, 0; }", &lenient,
                 GBS_ERR_FORMAT, "found NA beside probabilities in the row of (n)");
    refuse_model("r.bif", BIF_AB "probability ( b | a ) { default \"NA\", NA, NA; }", &lenient,
                 GBS_ERR_FORMAT, "expected a probability");
    refuse_model("r.uai", "BAYES 1 2 1 1 0 2 nan nan", &lenient, GBS_ERR_FORMAT, "found 'nan'");
}

/* Tests a noisy node whose parents have states that were never seen. */
static void noisy(void **state)
{
    (void)state;
    const gbs_read_options lenient = {.lenient = 1};
    if (can_read("r.xdsl")) {
        refuse_model("r.xdsl",
                     "<smile><nodes><cpt id='a'><state id='n'/><state id='y'/><probabilities>1 0"
                     "</probabilities></cpt><noisymax id='b'><state id='n'/><state id='y'/>"
                     "<parents>a</parents><strengths>0 1</strengths>"
                     "<parameters>NA NA 0 1 0 1</parameters></noisymax></nodes></smile>",
                     &lenient, GBS_ERR_FORMAT, "found NA among the parameters of a noisy node");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(below_zero), cmocka_unit_test(never_seen),
                                       cmocka_unit_test(noisy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
