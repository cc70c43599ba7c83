/* SPDX-License-Identifier: Apache-2.0 */
/* Reading DimmWitted factor graphs: every function against its definition, the quirks of both
 * forms, what is refused and where, files cut at every byte, memory running out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "io/dimmwitted_testing.h"

/* phi of m literals, the last the head, from the table of the specification. */
static double phi(unsigned function, unsigned m, const bool *l)
{
    const bool head = l[m - 1];
    bool body = true;
    bool any = false;
    bool equal = true;
    double linear = m == 1 && head;
    for (unsigned i = 0; i < m; i++) {
        body = body && (i + 1 == m || l[i]);
        any = any || l[i];
        equal = equal && l[i] == head;
        linear += i + 1 < m && (!l[i] || head);
    }
    switch (function) {
    case 0:
        return !body ? 0 : head ? 1 : -1;
    case 1:
        return any ? 1 : -1;
    case 2:
    case 4:
        return body && head ? 1 : -1;
    case 3:
        return equal ? 1 : -1;
    case 7:
        return linear;
    case 8:
        return log2(1 + linear);
    case 9:
        return linear > 0;
    case 12:
        return body && head;
    default:
        assert_int_equal(function, 13);
        return !(body && !head);
    }
}

/* The log density of make_graph() at states, where 3 must be 1. */
static double expected_log_density(const uint32_t *x)
{
    const bool l[3] = {x[2] == 3, x[0] == 1, x[1] == 1}; /* value 5 is state 1 of 2, 5, 9 */
    const bool pair[2] = {x[3] == 1, x[0] == 1};
    double sum = weight_of(20) * phi(3, 2, pair);
    for (unsigned i = 0; i < N_FUNCTIONS; i++) {
        sum += weight_of(2 * i) * phi(FUNCTIONS[i], 3, l);
        sum += weight_of(2 * i + 1) * phi(FUNCTIONS[i], 1, l + 2);
    }
    return x[3] == 1 ? sum : -INFINITY;
}

static void check_graph(const gbs_model *m)
{
    assert_int_equal(gbs_model_n_variables(m), 4);
    assert_int_equal(gbs_model_n_factors(m), 22); /* the last is the evidence */
    uint32_t x[4];
    for (x[0] = 0; x[0] < 2; x[0]++) {
        for (x[1] = 0; x[1] < 3; x[1]++) {
            for (x[2] = 0; x[2] < 4; x[2]++) {
                for (x[3] = 0; x[3] < 2; x[3]++) {
                    const double found = gbs_model_log_density(m, x);
                    if (x[3] == 0) {
                        assert_true(found == -INFINITY);
                    } else {
                        expect_near(found, expected_log_density(x));
                    }
                }
            }
        }
    }
    assert_string_equal(gbs_model_state_label(m, 1, 0), "2");
    assert_string_equal(gbs_model_state_label(m, 1, 1), "5");
    assert_string_equal(gbs_model_state_label(m, 1, 2), "9");
    assert_null(gbs_model_state_label(m, 2, 0));
    uint32_t clamped[4];
    gbs_model_clamped(m, clamped);
    assert_true(clamped[0] == UINT32_MAX && clamped[3] == 1);
}

static void functions(void **state)
{
    (void)state;
    graph g;
    char digest[40];
    make_graph(&g);
    save_graph(&g);
    gbs_model *m = read_graph(in_folder("graph.meta"), NULL);
    check_graph(m);
    (void)snprintf(digest, sizeof digest, "%s", gbs_model_digest(m));
    gbs_model_free(m);
    save_text_graph();
    m = read_graph(in_folder("graph.meta"), NULL);
    check_graph(m);
    assert_string_equal(gbs_model_digest(m), digest);
    gbs_model_free(m);
}

/* A folder, a named format, and the forms side by side. */
static void forms(void **state)
{
    (void)state;
    graph g;
    gbs_error err = {0};
    gbs_model *m = NULL;
    make_graph(&g);
    save_graph(&g);
    const char *const paths[] = {scratch_path("graph"), scratch_path("graph/"),
                                 in_folder("graph.meta")};
    const gbs_read_options binary = {.format = "dimmwitted"};
    const gbs_read_options text = {.format = "dimmwitted-tsv"};
    for (size_t i = 0; i < 3; i++) {
        m = read_graph(paths[i], i == 1 ? &binary : NULL);
        check_graph(m);
        gbs_model_free(m);
    }
    refuse_graph(&text, GBS_ERR_FORMAT,
                 "graph.meta: announces 21 weights, found no weights*.tsv (but companions of the "
                 "format dimmwitted) beside it");
    save_text("variables.tsv", "0 0 0 0 2\n");
    refuse_graph(NULL, GBS_ERR_ARGUMENT, "choose with --from dimmwitted or --from dimmwitted-tsv");
    m = read_graph(in_folder("graph.meta"), &binary);
    check_graph(m);
    gbs_model_free(m);
    save_text_graph();
    m = read_graph(scratch_path("graph"), &text);
    check_graph(m);
    gbs_model_free(m);
    refuse_graph(&binary, GBS_ERR_FORMAT,
                 "found no graph.weights* (but companions of the format dimmwitted-tsv) beside it");
    (void)fresh_folder();
    m = NULL;
    assert_int_equal(gbs_model_read(scratch_path("graph"), NULL, &m, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "the ending tells no format"));
    assert_int_equal(gbs_model_read(scratch_path("graph"), &binary, &m, &err), GBS_ERR_IO);
    assert_int_equal(gbs_model_read(in_folder("graph.factors"), &binary, &m, &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "expected NAME.meta"));
    assert_int_equal(gbs_model_read_memory("graph.meta", "0,0,0,0", 7, NULL, &m, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_null(m);
}

/* Records in any order over several files, some packed, of another base name. */
static void several_files(void **state)
{
    (void)state;
    graph g;
    make_graph(&g);
    (void)fresh_folder();
    save_text("other.meta", "21,4,21,42,some/graph.weights,,\r\n");
    save("other.weights.part2", g.weights.at, 5 * 17);
    save("other.weights.part1", g.weights.at + 5 * 17, g.weights.n - 5 * 17);
    save("other.variables1", g.variables.at + 2 * 27, 2 * 27);
    save("other.variables2", g.variables.at, 2 * 27);
    save_bytes("other.domains", &g.domains);
    const size_t half = 10 * (26 + 16 + 26 + 48) / 2;
    save("other.factors", g.factors.at, half);
    save("other.factors.part1", g.factors.at + half, g.factors.n - half);
    save_text("other.factors~", "a backup");
    save_text("other.factors.tmp-123-0", "left behind");
    save_text("graph.factors", "another graph");
    save_text("variables.tsv", "another graph");
    assert_int_equal(mkdir(in_folder("other.factors.d"), 0777), 0);
    char command[4096];
    (void)snprintf(command, sizeof command, "gzip '%s' '%s'", in_folder("other.domains"),
                   in_folder("other.factors.part1"));
    assert_int_equal(system(command), 0);
    gbs_model *m = read_graph(in_folder("other.meta"), NULL);
    check_graph(m);
    gbs_model_free(m);
}

/* Blanks for tabs, CR LF, no final line end, no truthiness, empty lines, text of another base. */
static void text_layouts(void **state)
{
    (void)state;
    warnings warned = {0};
    const gbs_read_options options = {.warn = take_warning, .context = &warned};
    (void)fresh_folder();
    save_text("my.meta", "\xef\xbb\xbf 2, 2 ,3, 5");
    save_text("my.weights_a.tsv", "\r\n1\t0 -2.5");
    save_text("my.weights_b.tsv", "0\t1\t+1e1\r\n\r\n");
    save_text("my.variables.tsv", "1 2 7 1 2\n\n0\t0\t9\t0\t2");
    save_text("my.domains.tsv", "1 2 {8,7}\n");
    save_text("my.factors.tsv", "1\t0\t8\t1\t0\t0.5\r\n0\t1\t1\t7\t1\t2");
    save_text("my.factors.text2bin-args", "12 2");
    save_text("my.factors2.tsv", "1 1 1");
    save_text("my.factors2.text2bin-args", "4 1 7\r\n");
    gbs_model *m = read_graph(in_folder("my.meta"), NULL);
    double w[4];
    assert_int_equal(enumerate(m, w, 4), 4);
    expect_near(w[0], exp(-2.5)); /* x1 = 7 in state 0 is observed; 0 0 */
    assert_true(w[1] == 0 && w[3] == 0);
    expect_near(w[2], exp(-5 - 2.5));
    gbs_model_free(m);
    assert_int_equal(warned.n, 0);
    save_text("my.domains.tsv", "1 2 {8,7} {0.5,0}\n");
    m = read_graph(in_folder("my.meta"), &options);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "the truthiness of 1 domain values is not kept"));
    gbs_model_free(m);
}

/* More than one line in the meta file. */
static void lenient(void **state)
{
    (void)state;
    warnings warned = {0};
    const gbs_read_options options = {.lenient = 1, .warn = take_warning, .context = &warned};
    graph g;
    make_graph(&g);
    (void)snprintf(g.meta, sizeof g.meta, "21,4,21,42\nmore\n");
    save_graph(&g);
    gbs_model *m = read_graph(in_folder("graph.meta"), &options);
    check_graph(m);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "graph.meta:2:1: found 'more'"));
    gbs_model_free(m);
}

/* Feature times weight, negative ones, a variable in no factor, one of one value, nothing at all.
 */
static void quirks(void **state)
{
    (void)state;
    bytes b = {0};
    static const uint64_t zero[1] = {0};
    static const uint64_t large[2] = {UINT64_MAX, 0};
    (void)fresh_folder();
    save_text("graph.meta", "0,0,0,0");
    gbs_model *m = read_graph(in_folder("graph.meta"), NULL);
    assert_int_equal(gbs_model_n_variables(m), 0);
    gbs_model_free(m);
    save_text("graph.meta", "1,3,1,1\n");
    put_weight(&b, 0, 0, -1.5);
    save_bytes("graph.weights", &b);
    b.n = 0;
    put_variable(&b, 2, 1, 0, 1, 1);
    put_variable(&b, 0, 0, 1, 0, 2);
    put_variable(&b, 1, 0, 0, 1, 2);
    save_bytes("graph.variables", &b);
    b.n = 0;
    put_domain(&b, 1, 2, large, 0);
    save_bytes("graph.domains", &b);
    b.n = 0;
    put_factor(&b, 12, 1, zero, zero, 0, -2);
    save_bytes("graph.factors", &b);
    m = read_graph(in_folder("graph.meta"), NULL);
    double w[4];
    assert_int_equal(enumerate(m, w, 4), 4);
    expect_near(w[0], exp(3));
    assert_true(w[1] == w[0] && w[2] == 1 && w[3] == 1);
    assert_string_equal(gbs_model_state_label(m, 1, 1), "18446744073709551615");
    gbs_model_free(m);
}

/* ---- what is refused ----------------------------------------------------------------------- */

/* Overwrite n bytes of one of the files at an offset. */
typedef struct change {
    size_t file; /* 0 weights, 1 variables, 2 factors, 3 domains */
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
    const uint64_t huge = (uint64_t)0x7fe << 52; /* 2^1023 */
    const size_t f1 = 26 + 48;                   /* the second factor */
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
        {2, 0, 2, 64, "64"}, /* a clause is no function of files */
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
        refuse_changed(&c);
    }
    /* a product that overflows must not turn into a hard factor */
    graph g;
    make_graph(&g);
    bytes large = {0};
    put(&large, huge, 8);
    memcpy(g.weights.at + 17 * 2 + 9, large.at, 8); /* weight 2, of an or */
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
        save_text("graph.meta", cases[i][0]);
        refuse_graph(NULL, GBS_ERR_FORMAT, cases[i][1]);
    }
    /* as many records as announced, one of them twice, is caught; one left out is too */
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
        {"graph.weights", "graph.meta: announces 21 weights, found no graph.weights* or "
                          "weights*.tsv beside it"},
        {"graph.variables", "announces 4 variables, found no graph.variables* or variables*.tsv"},
        {"graph.factors", "announces 21 factors, found no graph.factors* or factors*.tsv"},
        {"graph.domains", "graph.factors: byte 50: found value 5 of variable 1, expected 0 to 2"},
        {"graph.meta", "graph.meta: cannot be opened"},
    };
    graph g;
    make_graph(&g);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        save_graph(&g);
        assert_int_equal(remove(in_folder(cases[i][0])), 0);
        refuse_graph(NULL, i == 4 ? GBS_ERR_IO : GBS_ERR_FORMAT, cases[i][1]);
    }
    save_text_graph();
    assert_int_equal(remove(in_folder("factors30.text2bin-args")), 0);
    refuse_graph(NULL, GBS_ERR_IO, "factors30.text2bin-args: cannot be opened");
    save_text_graph();
    assert_int_equal(remove(in_folder("variables.tsv")), 0);
    refuse_graph(NULL, GBS_ERR_FORMAT, "announces 4 variables, found no variables*.tsv beside it");
}

static void bad_text(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"weights.tsv", "0\t1\n", "weights.tsv: announces"},
        {"weights.tsv", NULL, ":21:3: found 'x', expected 0 or 1 (is it fixed)"},
        {"variables.tsv", "0\t0\t0\t0\n1\t0\t2\t1\t3\n2\t0\t0\t1\t4\n3\t1\t1\t0\t2\n",
         ":1:8: found the end of the line, expected a cardinality"},
        {"variables.tsv", "0\t0\t0\t0\t2\t7\n1\t0\t2\t1\t3\n2\t0\t0\t1\t4\n3\t1\t1\t0\t2\n",
         ":1:11: found '7', expected the end of the line after the cardinality"},
        {"variables.tsv", "0\t0\t0\t0\t2\n1\t0\t2\t1\t3\n2\t0\t0\t1\t4\n3\t1\t4\t0\t2\n",
         ":4:5: found value 4 of variable 3, expected 0 to 1"},
        {"variables.tsv", "0\t0\t0\t0\t2\n1\t0\t2\t1\t3\n2\t0\t0\t1\t4\n3\t1\t1\t0\t2.0\n",
         ":4:9: found '2.0', expected a cardinality"},
        {"domains.tsv", "1\t3\t{9,2}\n",
         ":1:5: found a list of 2, expected as many as the "
         "cardinality: 3"},
        {"domains.tsv", "1\t3\t9,2,5\n", ":1:5: found '9,2,5', expected a list in braces"},
        {"domains.tsv", "1\t3\t{9,2,5\n", ":1:5: found '{9,2,5', expected a list in braces"},
        {"domains.tsv", "1\t3\t{9,,5}\n", ":1:5: found '{9,,5}', expected numbers with commas"},
        {"domains.tsv", "1\t3\t{9,2,}\n", ":1:5: found '{9,2,}', expected numbers with commas"},
        {"domains.tsv", "1\t3\t{9,2,x}\n", ":1:10: found 'x', expected a value"},
        {"domains.tsv", "1\t0\t{}\n", ":1:3: found cardinality 0, expected 1 to 65535"},
        {"domains.tsv", "1\t3\n", ":1:4: found the end of the line, expected a list in braces"},
        {"domains.tsv", "1\t3\t{9,2,5}\t{0,0,7}\n", ":1:18: found truthiness 7, expected a number"},
        {"domains.tsv", "1\t3\t{9,2,5}\t{0,0,0}\t1\n",
         ":1:21: found '1', expected the end of the "
         "line after the truthiness"},
        {"domains.tsv", "1\t18446744073709551615\t{9,2,5}\n", ":1:24: found a list of 3"},
        {"factors00.tsv", "2\t0\t1\t0\n", ":1:8: found the end of the line, expected a feature"},
        {"factors00.tsv", "2\t0\t1\t0\t1\t1\n", ":1:11: found '1', expected the end of the line"},
        {"factors00.tsv", "2\t0\t1\t21\t1\n", ":1:7: found weight 21, expected less than 21"},
        {"factors00.tsv", "2\t0\t1\t0\tinf\n", ":1:9: found feature inf"},
        {"factors00.tsv", "2\t0\t2\t0\t1\n", ":1:5: found value 5 of variable 2, expected 0 to 3"},
        {"factors00.tsv", "2\t0\t4\t0\t1\n", ":1:5: found variable 4, expected less than 4"},
        {"factors80.tsv", "2\t0\t1\t3\t1\t6\t16\t1\n", ":1:11: found value 6 of variable 1"},
        {"factors80.tsv", "2\t0\t1\t3\t1\t5\t99\t1\n", ":1:13: found weight 99, expected less"},
        {"factors80.tsv", "2\t0\t1\t16\t1\n", ":1:11: found the end of the line, expected a value"},
        {"factors00.text2bin-args", "",
         ":1:1: found the end of the file, expected the number of a "
         "function"},
        {"factors00.text2bin-args", "5 3 3 1 5\n",
         ":1:1: found '5', expected one of the functions"},
        {"factors00.text2bin-args", "64 3 3 1 5\n", ":1:1: found '64', expected one of the"},
        {"factors00.text2bin-args", "0 0\n", ":1:3: found arity 0, expected 1 to 65535"},
        {"factors00.text2bin-args", "0 65536\n",
         ":1:3: found '65536', expected an arity of at "
         "most 65535"},
        {"factors00.text2bin-args", "0 3 3 1\n",
         "found the end of the file, expected a value for "
         "each variable"},
        {"factors00.text2bin-args", "0 3 3 1 5 1\n",
         ":1:11: found '1', expected the end of the "
         "file after a value for each variable"},
        {"factors80.text2bin-args", "12 3 3\n", "expected a value for each variable"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        save_text_graph();
        char part[256];
        if (i == 0) {
            save_text("weights.tsv", cases[i][1]);
            refuse_graph(NULL, GBS_ERR_FORMAT, "announces 21 weights, but weights*.tsv can hold");
            continue;
        }
        if (cases[i][1] == NULL) {
            FILE *file = fopen(in_folder("weights.tsv"), "r+b");
            assert_non_null(file);
            assert_int_equal(fseek(file, -7, SEEK_END), 0); /* 20\t1\t5.25\n */
            assert_int_equal(fwrite("\tx", 1, 2, file), 2);
            assert_int_equal(fclose(file), 0);
            char text[2048];
            (void)read_file(in_folder("weights.tsv"), text, sizeof text);
            char *last = strstr(text, "\n20\t");
            assert_non_null(last);
            (void)snprintf(last, 32, "\n2\tx\t0\n");
            save_text("weights.tsv", text);
        } else {
            save_text(cases[i][0], cases[i][1]);
        }
        (void)snprintf(part, sizeof part, "%s%s", cases[i][2][0] == ':' ? cases[i][0] : "",
                       cases[i][2]);
        refuse_graph(NULL, GBS_ERR_FORMAT, part);
    }
}

/* A thousand variables of 65535 states ask for half a gigabyte of labels if one has labels. */
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

/* ---- damage -------------------------------------------------------------------------------- */

/* Cut a file at every byte, from the end. @return how often the rest was read. */
static size_t cut_file(const char *name)
{
    static char whole[8192];
    size_t n_read = 0;
    const size_t n = read_file(in_folder(name), whole, sizeof whole);
    for (size_t cut = n; cut <= n; cut--) { /* wraps after 0 */
        gbs_model *m = NULL;
        gbs_error err = {0};
        assert_int_equal(truncate(in_folder(name), (off_t)cut), 0);
        if (gbs_model_read(in_folder("graph.meta"), NULL, &m, &err) == GBS_OK) {
            assert_non_null(m);
            n_read++;
        } else {
            assert_null(m);
            assert_true(cut < n);
            assert_int_equal(strncmp(err.message, in_folder(""), strlen(in_folder(""))), 0);
        }
        gbs_model_free(m);
    }
    save(name, whole, n);
    return n_read;
}

static void cut_anywhere(void **state)
{
    (void)state;
    static const char *const binary[] = {"graph.weights", "graph.variables", "graph.factors",
                                         "graph.domains"};
    static const char *const text[] = {"weights.tsv",   "variables.tsv", "factors80.tsv",
                                       "factors30.tsv", "domains.tsv",   "factors00.text2bin-args"};
    graph g;
    make_graph(&g);
    save_graph(&g);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(cut_file(binary[i]), 1);
    }
    assert_int_equal(cut_file("graph.meta"), 2); /* with and without the line's end */
    save_text_graph();
    for (size_t i = 0; i < 6; i++) {
        const size_t n_read = cut_file(text[i]);
        /* the last number may lose digits, and what is optional may go */
        const size_t most = i == 0 ? 5 : i == 4 ? 4 : 2;
        if (n_read > most) {
            fail_msg("%s: %zu read", text[i], n_read);
        }
    }
}

static void set_byte(FILE *file, size_t at, unsigned char byte)
{
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, file), byte);
    assert_int_equal(fflush(file), 0);
}

/* Any byte of a binary file may be anything: read or refused, never worse. */
static void changed_anywhere(void **state)
{
    (void)state;
    static const char *const name[] = {"graph.weights", "graph.variables", "graph.factors",
                                       "graph.domains"};
    static const unsigned char other[] = {0x00, 0x01, 0x7f, 0xff};
    size_t n_read = 0;
    graph g;
    make_graph(&g);
    save_graph(&g);
    const bytes *b[] = {&g.weights, &g.variables, &g.factors, &g.domains};
    for (size_t f = 0; f < 4; f++) {
        FILE *file = fopen(in_folder(name[f]), "r+b");
        assert_non_null(file);
        for (size_t i = 0; i < b[f]->n; i++) {
            gbs_model *m = NULL;
            set_byte(file, i, other[i % 4]);
            n_read += gbs_model_read(in_folder("graph.meta"), NULL, &m, NULL) == GBS_OK;
            gbs_model_free(m);
            set_byte(file, i, b[f]->at[i]);
        }
        assert_int_equal(fclose(file), 0);
    }
    assert_true(n_read > 100);
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        graph g;
        make_graph(&g);
        if (form == 0) {
            save_graph(&g);
        } else {
            save_text_graph();
        }
        gbs_status status = GBS_ERR_MEMORY;
        for (uint64_t n = 0; status != GBS_OK; n++) {
            gbs_model *m = NULL;
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            status = gbs_model_read(scratch_path("graph"), NULL, &m, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true((status == GBS_OK) == (m != NULL));
            gbs_model_free(m);
        }
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
        cmocka_unit_test(functions),        cmocka_unit_test(forms),
        cmocka_unit_test(several_files),    cmocka_unit_test(text_layouts),
        cmocka_unit_test(quirks),           cmocka_unit_test(lenient),
        cmocka_unit_test(bad_binary),       cmocka_unit_test(bad_counts),
        cmocka_unit_test(missing_files),    cmocka_unit_test(bad_text),
        cmocka_unit_test(too_many_labels),  cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(changed_anywhere), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
