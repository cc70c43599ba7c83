/* SPDX-License-Identifier: Apache-2.0 */
/* Tests one network in every format of conditional tables and in every order of their entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/test_models.h"

/* @return a probability, computed by hand. Parent a has 2 states, one parent has a single state,
 *   and b has 3 states; the child has 4. */
static double probability(int a, int b, int c)
{
    const double weight = 1.0 + c + (a + 1) * (b + 2) * c % 5;
    double sum = 0.0;
    for (int k = 0; k < 4; k++) {
        sum += 1.0 + k + (a + 1) * (b + 2) * k % 5;
    }
    return weight / sum;
}

static const char *const orders[] = {"parents-child", "child-parents", "reversed-child",
                                     "child-reversed"};

/* @return the 24 entries in an order, as numbers or as logarithms. */
static const char *entries(size_t order, bool in_logs)
{
    static char text[1024];
    size_t n = 0;
    for (int i = 0; i < 24; i++) {
        const int row = order % 2 == 0 ? i / 4 : i % 6;
        const int a = order < 2 ? row / 3 : row % 2;
        const int b = order < 2 ? row % 3 : row / 2;
        const double p = probability(a, b, order % 2 == 0 ? i % 4 : i / 6);
        n += (size_t)snprintf(text + n, sizeof text - n, "%.17g ", in_logs ? log(p) : p);
    }
    return text;
}

/* The text of the file before and behind the entries, and the order of the format. */
static const struct {
    const char *name, *before, *behind;
    size_t standard;
} files[] = {
    {"t.uai", "BAYES 4 2 1 3 4 4 1 0 1 1 1 2 4 0 1 2 3 2 .5 .5 1 1 3 .5 .25 .25 24 ", "", 0},
    {"t.lg",
     "BAYES 4 2 1 3 4 4 1 0 1 1 1 2 4 0 1 2 3 "
     "2 -.6931471805599453 -.6931471805599453 1 0 "
     "3 -.6931471805599453 -1.3862943611198906 -1.3862943611198906 24 ",
     "", 0},
    {"t.bif",
     "variable a { type discrete [ 2 ] { x, y }; } variable o { type discrete [ 1 ] { x }; } "
     "variable b { type discrete [ 3 ] { x, y, z }; } "
     "variable c { type discrete [ 4 ] { x, y, z, w }; } probability ( a ) { table .5, .5; } "
     "probability ( o ) { table 1; } probability ( b ) { (  ) .5, .25, .25; } "
     "probability ( c | a, o, b ) { table ",
     "; }", 1},
    {"t.xml",
     "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
     "<VARIABLE><NAME>o</NAME><OUTCOME>x</OUTCOME></VARIABLE><VARIABLE><NAME>b</NAME>"
     "<OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME><OUTCOME>z</OUTCOME></VARIABLE>"
     "<VARIABLE><NAME>c</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME><OUTCOME>z</OUTCOME>"
     "<OUTCOME>w</OUTCOME></VARIABLE><DEFINITION><FOR>a</FOR><TABLE>.5 .5</TABLE></DEFINITION>"
     "<DEFINITION><FOR>o</FOR><TABLE>1</TABLE></DEFINITION>"
     "<DEFINITION><FOR>b</FOR><TABLE>.5 .25 .25</TABLE></DEFINITION>"
     "<DEFINITION><FOR>c</FOR><GIVEN>a</GIVEN><GIVEN>o</GIVEN><GIVEN>b</GIVEN><TABLE>",
     "</TABLE></DEFINITION></NETWORK></BIF>", 0},
    {"t.xdsl",
     "<smile><nodes><cpt id='a'><state id='x'/><state id='y'/><probabilities>.5 .5"
     "</probabilities></cpt><cpt id='o'><state id='x'/><probabilities>1</probabilities></cpt>"
     "<cpt id='b'><state id='x'/><state id='y'/><state id='z'/>"
     "<probabilities>.5 .25 .25</probabilities></cpt><cpt id='c'><state id='x'/><state id='y'/>"
     "<state id='z'/><state id='w'/><parents>a o b</parents><probabilities>",
     "</probabilities></cpt></nodes></smile>", 0},
    {"t.net",
     "net { } node a { states = (x y); } node o { states = (x); } node b { states = (x y z); } "
     "node c { states = (x y z w); } potential (a) { data = (.5 .5); } "
     "potential (o) { data = (1); } potential (b) { data = (.5 .25 .25); } "
     "potential (c | a o b) { data = (",
     "); }", 0},
};
#define N_FILES (sizeof files / sizeof files[0])

static const char *file_of(size_t f, size_t order)
{
    static char text[4096];
    (void)snprintf(text, sizeof text, "%s%s%s", files[f].before,
                   entries(order, strcmp(files[f].name, "t.lg") == 0), files[f].behind);
    return text;
}

static void expect_network(size_t f, const char *text, const gbs_read_options *options)
{
    static const double of_b[] = {0.5, 0.25, 0.25};
    double w[24];
    gbs_model *m = read_model(files[f].name, text, options);
    assert_int_equal(enumerate(m, w, 24), 24); /* over (a, o, b, c) */
    for (int i = 0; i < 24; i++) {
        expect_near(w[i], 0.5 * of_b[i / 4 % 3] * probability(i / 12, i / 4 % 3, i % 4));
    }
    gbs_model_free(m);
}

/* Reads each order with the option that names it, and without the option if it is the order of
 * the format. */
static void every_order(void **state)
{
    (void)state;
    for (size_t f = 0; f < N_FILES; f++) {
        for (size_t order = 0; order < 4 && can_read(files[f].name); order++) {
            gbs_read_options options = {.size = sizeof options, .table_order = orders[order]};
            expect_network(f, file_of(f, order), &options);
        }
        if (can_read(files[f].name)) {
            expect_network(f, file_of(f, files[f].standard), NULL);
        }
    }
}

/* The child has the other place in the order. The message names the order, and no option hides
 * the mistake. */
static void other_order(void **state)
{
    (void)state;
    for (size_t f = 0; f < N_FILES; f++) {
        const size_t other = files[f].standard ^ 1;
        char part[256];
        (void)snprintf(part, sizeof part,
                       "expected 1; all columns sum to one if the states of the child vary %s: "
                       "--table-order %s reads tables so, or %s if the first parent varies fastest",
                       other == 0 ? "fastest" : "slowest", orders[other], orders[other + 2]);
        for (int way = 0; way < 3 && can_read(files[f].name); way++) {
            const gbs_read_options options = {.lenient = way == 1, .normalize_cpts = way == 2};
            refuse_model(files[f].name, file_of(f, other), &options, GBS_ERR_FORMAT, part);
        }
    }
}

/* A typed order is kept. A table that is wrong in every order gives the usual advice. */
static void insisted(void **state)
{
    (void)state;
    static const char *const zero = "BAYES 2 2 2 2 1 0 2 0 1 2 .5 .5 4 0 1 0 1 ";
    gbs_read_options options = {.size = sizeof options, .table_order = "child-reversed"};
    refuse_model("t.uai", file_of(0, 0), &options, GBS_ERR_FORMAT, "fastest: --table-order rev");
    refuse_model("t.uai", "BAYES 2 2 2 2 1 0 2 0 1 2 .5 .5 4 .9 .4 .1 .6", NULL, GBS_ERR_FORMAT,
                 "--table-order child-parents reads tables so");
    options.lenient = 1;
    gbs_model_free(read_model("t.uai", file_of(0, 0), &options));
    refuse_model("t.uai", "BAYES 2 2 2 2 1 0 2 0 1 2 .5 .5 4 .5 .5 .5 .6", NULL, GBS_ERR_FORMAT,
                 "with sum 1.1, expected 1; --normalize-cpts scales such columns, --lenient");
    options = (gbs_read_options){.size = sizeof options, .lenient = 1};
    gbs_model_free(read_model("t.uai", "BAYES 2 2 2 2 1 0 2 0 1 2 .5 .5 4 0 0 1 0", &options));
    /* columns of zeros may be due to the order as well */
    refuse_model("t.uai", "BAYES 2 2 2 2 1 0 2 0 1 2 .5 .5 4 0 0 1 1", &options, GBS_ERR_FORMAT,
                 "slowest: --table-order child-parents");
    gbs_model_free(read_model("t.uai", zero, NULL));
}

static void refusals(void **state)
{
    (void)state;
    gbs_read_options options = {.size = sizeof options, .table_order = "child"};
    refuse_model("t.uai", file_of(0, 0), &options, GBS_ERR_ARGUMENT, "an order of tables of 'chi");
    options.table_order = orders[0];
    refuse_model("t.fg", "0", &options, GBS_ERR_ARGUMENT, "an order of tables does not apply to f");
    options.size = 0; /* the first version of the struct lacks this member */
    gbs_model_free(read_model("t.fg", "0", &options));
}

/* A deterministic node has a state for each row. Only the order of its rows can differ. */
static void rows_of_states(void **state)
{
    (void)state;
    static const char *const begin =
        "<smile><nodes><cpt id='a'><state id='x'/><state id='y'/><probabilities>.5 .5"
        "</probabilities></cpt><cpt id='b'><state id='x'/><state id='y'/><state id='z'/>"
        "<probabilities>.5 .25 .25</probabilities></cpt><deterministic id='c'><state id='n'/>"
        "<state id='y'/><parents>a b</parents><resultingstates>";
    static const char *const end = "</resultingstates></deterministic></nodes></smile>";
    char text[1024];
    gbs_read_options options = {.size = sizeof options, .table_order = "child-reversed"};
    if (!can_read("t.xdsl")) {
        return;
    }
    (void)snprintf(text, sizeof text, "%sn y y n y n%s", begin, end); /* over (b, a) */
    gbs_model *turned = read_model("t.xdsl", text, &options);
    (void)snprintf(text, sizeof text, "%sn y y y n n%s", begin, end); /* over (a, b) */
    gbs_model *plain = read_model("t.xdsl", text, NULL);
    assert_string_equal(gbs_model_digest(turned), gbs_model_digest(plain));
    gbs_model_free(turned);
    gbs_model_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order), cmocka_unit_test(other_order),    cmocka_unit_test(insisted),
        cmocka_unit_test(refusals),    cmocka_unit_test(rows_of_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
