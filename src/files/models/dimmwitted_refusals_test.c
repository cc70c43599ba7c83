/* SPDX-License-Identifier: Apache-2.0 */
/* Tests DimmWitted factor graphs that are refused, and the place that the message names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/test_row.h"
#include "models/dimmwitted_testing.h"

/* Overwrites n bytes of a file at an offset. */
typedef struct change {
    size_t file; /* file: 0 weights, 1 variables, 2 factors, 3 domains */
    size_t offset;
    unsigned n;
    uint64_t value;
    const char *part;
} change;

static void refuse_changed(const change *c)
{
    static const char *const name[] = {"graph.weights", "graph.variables", "graph.factors",
                                       "graph.domains"};
    graph g;
    make_graph(&g);
    bytes *b[] = {&g.weights, &g.variables, &g.factors, &g.domains};
    bytes field = {.n = 0};
    put(&field, c->value, c->n);
    memcpy(b[c->file]->at + c->offset, field.at, c->n);
    save_graph(&g);
    char part[256];
    (void)snprintf(part, sizeof part, "%s: byte %s", name[c->file], c->part);
    refuse_graph(NULL, GBS_ERR_FORMAT, part);
}

static void bad_binary(void **state)
{
    (void)state;
    const uint64_t infinite = (uint64_t)0x7ff << 52;
    const size_t f1 = 26 + 48; /* the second factor */
    static const char *const function =
        "0: found function %s, expected one of 0 to 4, 7 to 9, 12 and 13";
    const change cases[] = {
        {0, 17, 8, 21, "17: found weight 21, expected less than 21, the number in the meta file"},
        {0, 17, 8, UINT64_MAX, "17: found weight 18446744073709551615, expected less than 21"},
        {0, 17, 8, 0, "17: found weight 0 again, expected each once"},
        {0, 25, 1, 2, "25: found isFixed 2, expected 0 or 1"},
        {0, 26, 8, infinite, "26: found a weight of inf, expected a finite one"},
        {0, 26, 8, infinite | 1, "26: found a weight of nan, expected a finite one"},
        {1, 27, 8, 4, "27: found variable 4, expected less than 4"},
        {1, 27, 8, 0, "27: found variable 0 again, expected each once"},
        {1, 8, 1, 3, "8: found role 3, expected 0 (query), 1 (evidence) or 2 (observation)"},
        {1, 17, 2, 2, "17: found type 2, expected 0 (Boolean) or 1 (categorical)"},
        {1, 19, 8, 0, "19: found cardinality 0, expected 1 to 65535"},
        {1, 19, 8, (uint64_t)1 << 63, "19: found cardinality 9223372036854775808, expected 1 to"},
        {1, 19, 8, 3, "19: found cardinality 3 of a Boolean variable, expected 2"},
        {1, 27 + 19, 8, 4, "46: found cardinality 4, expected the 3 values of its domain"},
        {1, 27 + 17, 2, 0, "44: found variable 1 as Boolean, which has a domain"},
        {1, 3 * 27 + 9, 8, 2, "90: found value 2 of variable 3, expected 0 to 1"},
        {2, 0, 2, 5, "5"},
        {2, 0, 2, 6, "6"},
        {2, 0, 2, 10, "10"},
        {2, 0, 2, 11, "11"},
        {2, 0, 2, 14, "14"},
        {2, 0, 2, 64, "64"}, /* clauses are not among the functions of the files */
        {2, 2, 8, 0, "2: found arity 0, expected 1 to 65535"},
        {2, 2, 8, (uint64_t)1 << 63, "2: found arity 9223372036854775808, expected 1 to 65535"},
        {2, 2, 8, 65535, "0: found the end of the file after 1"},
        {2, 10, 8, 4, "10: found variable 4, expected less than 4, the number in the meta file"},
        {2, 18, 8, 4, "18: found value 4 of variable 2, expected 0 to 3"},
        {2, 26, 8, 2, "10: factor 0: variable 2 is twice in its scope"},
        {2, 50, 8, 6, "50: found value 6 of variable 1, expected one of the 3 in its domain"},
        {2, 58, 8, 21, "58: found weight 21, expected less than 21, the number in the meta file"},
        {2, 66, 8, infinite, "66: found feature inf, with weight 0.25: expected a finite product"},
        {2, f1 + 34, 8, infinite | 1, "108: found feature nan"},
        {3, 0, 8, 4, "0: found variable 4, expected less than 4, the number in the meta file"},
        {3, 8, 8, 4, "8: found cardinality 4, expected no more values than the rest of the file"},
        {3, 8, 8, UINT64_MAX, "8: found cardinality 18446744073709551615, expected no more"},
        {3, 32, 8, 9, "16: found value 9 twice in the domain of variable 1"},
        {3, 40, 8, 0xbff0000000000000u, "40: found truthiness -1, expected a number from 0 to 1"},
        {3, 40, 8, infinite | 1, "40: found truthiness nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        change c = cases[i];
        char part[128];
        if (strlen(c.part) < 3) {
            /* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): one of ours */
            (void)snprintf(part, sizeof part, function, c.part);
            c.part = part;
        }
        test_row("%zu: %s", i, c.part);
        refuse_changed(&c);
    }
}

/* A product that overflows must not turn into a hard factor. */
static void overflowing_products(void **state)
{
    (void)state;
    const uint64_t huge = (uint64_t)0x7fe << 52; /* 2^1023 */
    graph g;
    make_graph(&g);
    bytes large = {0};
    put(&large, huge, 8);
    memcpy(g.weights.at + 17 * 2 + 9, large.at, 8); /* weight 2, which belongs to an or */
    memcpy(g.factors.at + 2 * (26 + 48) - 48 + 16 + 66, large.at, 8);
    save_graph(&g);
    refuse_graph(NULL, GBS_ERR_FORMAT, "expected a finite product");
}

static void bad_counts(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "graph.meta:1:1: found nothing, expected the number of weights"},
        {"21", "graph.meta:1:3: found the end of the line after the number of weights"},
        {"21,4,21", "graph.meta:1:8: found the end of the line after the number of factors"},
        {"21,4,21,", "graph.meta:1:9: found nothing, expected the number of edges"},
        {"21,x,21,42", "graph.meta:1:4: found 'x', expected the number of variables"},
        {"21 4 21 42", "graph.meta:1:1: found '21 4 21 42', expected the number of weights"},
        {"-1,4,21,42", "graph.meta:1:1: found '-1'"},
        {"21,4294967281,21,42", "found '4294967281', expected the number of variables, at most "},
        {"18446744073709551616,4,21,42", "graph.meta:1:1: found '18446744073709551616'"},
        {"21,4,21,42\nmore", "graph.meta:2:1: found 'more', expected the end of the file"},
        {"22,4,21,42", "graph.meta: announces 22 weights, but graph.weights* can hold no more than "
                       "21"},
        {"9223372036854775808,4,21,42", "but graph.weights* can hold no more than 21"},
        {"21,5,21,42", "announces 5 variables, but graph.variables* can hold no more than 4"},
        {"21,4294967280,21,42", "graph.variables* can hold no more than 4"},
        {"20,4,21,42", "graph.weights: byte 340: found weight 20, expected less than 20"},
        {"21,3,21,42", "graph.variables: byte 81: found variable 3, expected less than 3"},
        {"21,4,20,42", "graph.factors: byte 1160: found one factor more than the 20 of the meta"},
        {"21,4,22,42", "graph.meta: announces 22 factors, found 21"},
        {"21,4,18446744073709551615,42", "announces 18446744073709551615 factors, found 21"},
        {"21,4,21,43", "graph.meta: announces 43 edges, found factors whose arities add up to 42"},
        {"21,4,21,41", "graph.factors: byte 1162: found factor 20 of 2 variables, with which "
                       "arities add up to more than the 41 edges of the meta file"},
    };
    graph g;
    make_graph(&g);
    save_graph(&g);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_row("graph.meta: %s", cases[i][0]);
        save_text("graph.meta", cases[i][0]);
        refuse_graph(NULL, GBS_ERR_FORMAT, cases[i][1]);
    }
    test_no_row();
    /* the number of records is right, but one record is there twice; a missing record is
     * detected too */
    make_graph(&g);
    memset(g.weights.at + 20 * 17, 0, 8);
    save_graph(&g);
    refuse_graph(NULL, GBS_ERR_FORMAT, "graph.weights: byte 340: found weight 0 again");
    make_graph(&g);
    g.variables.n -= 27;
    put_variable(&g.variables, 1, 0, 2, 1, 3);
    save_graph(&g);
    refuse_graph(NULL, GBS_ERR_FORMAT, "graph.variables: byte 81: found variable 1 again");
    make_graph(&g);
    const size_t n = g.domains.n;
    put_domain(&g.domains, 1, 3, THREE_VALUES, 0);
    save_graph(&g);
    char part[128];
    (void)snprintf(part, sizeof part,
                   "graph.domains: byte %zu: found variable 1, which has a "
                   "domain already",
                   n);
    refuse_graph(NULL, GBS_ERR_FORMAT, part);
}

static void missing_files(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"graph.weights", "graph.meta: announces 21 weights, found no graph.weights* "
                          "beside it"},
        {"graph.variables", "announces 4 variables, found no graph.variables*"},
        {"graph.factors", "announces 21 factors, found no graph.factors*"},
        {"graph.domains", "graph.factors: byte 50: found value 5 of variable 1, expected 0 to 2"},
        {"graph.meta", "graph.meta: cannot be opened"},
    };
    graph g;
    make_graph(&g);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        save_graph(&g);
        test_row("without %s", cases[i][0]);
        assert_int_equal(remove(in_folder(cases[i][0])), 0);
        refuse_graph(NULL, i == 4 ? GBS_ERR_IO : GBS_ERR_FORMAT, cases[i][1]);
    }
    test_no_row();
}

/* A thousand variables of 65535 states need half a gigabyte of labels if one of them has labels. */
static void too_many_labels(void **state)
{
    (void)state;
    static unsigned char variables[1000 * 27];
    static const uint64_t value[2] = {3, 7};
    bytes domain = {0};
    (void)fresh_folder();
    for (unsigned v = 0; v < 1000; v++) {
        bytes b = {0};
        put_variable(&b, v, 0, 0, 1, v == 0 ? 2 : 65535);
        memcpy(variables + 27 * v, b.at, 27);
    }
    put_domain(&domain, 0, 2, value, 0);
    save_text("graph.meta", "0,1000,0,0");
    save("graph.variables", variables, sizeof variables);
    gbs_model_free(read_graph(in_folder("graph.meta"), NULL));
    save_bytes("graph.domains", &domain);
    refuse_graph(NULL, GBS_ERR_LIMIT, "graph.meta: 65469467 states, of which some have values");
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
        cmocka_unit_test(bad_binary),      cmocka_unit_test(overflowing_products),
        cmocka_unit_test(bad_counts),      cmocka_unit_test(missing_files),
        cmocka_unit_test(too_many_labels),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
