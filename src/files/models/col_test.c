/* SPDX-License-Identifier: Apache-2.0 */
/* Tests graphs to colour, and the conflict graph of any model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/test_models.h"

static const char PATH[] = "c a path\np edge 3 2\ne 1 2\ne 2 3\n";

static gbs_model *read_colors(const char *text, uint32_t n_colors, warnings *warned)
{
    *warned = (warnings){0};
    const gbs_read_options options = {.states = n_colors, .warn = take_warning, .context = warned};
    return read_model("a.col", text, &options);
}

static void colorings(void **state)
{
    (void)state;
    warnings warned;
    gbs_model *m = read_colors(PATH, 3, &warned);
    double w[27] = {0};
    assert_int_equal(enumerate(m, w, 27), 27);
    for (int i = 0; i < 27; i++) {
        const int a = i / 9;
        const int b = i / 3 % 3;
        const int c = i % 3;
        assert_true(w[i] == (a != b && b != c));
    }
    assert_int_equal(gbs_model_factor(m, 0, NULL, NULL), GBS_FACTOR_POTTS);
    gbs_model_free(m);
    m = read_colors("p col 2 0\n", 65535, &warned);
    assert_int_equal(gbs_model_arity(m, 1), 65535);
    gbs_model_free(m);
    assert_int_equal(warned.n, 0);
}

static void layouts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *warning; /* NULL: none */
    } same[] = {
        {"p col 3 2\r\ne 2 1\r\nc\r\n\r\ncomment\r\ne 3 2", NULL},
        {"p edge 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n",
         "a.col: 2 edges repeat earlier ones and were le"},
        {"p edge 3 2\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n",
         "a.col: 2 edges repeat earlier ones and were le"},
        {"p edge 3 4\ne 1 2\ne 2 3\n",
         "a.col: 4 edges are announced: each of 2 edges is counted in both"},
    };
    warnings warned;
    gbs_model *m = read_colors(PATH, 3, &warned);
    assert_int_equal(warned.n, 0);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        gbs_model *n = read_colors(same[i].text, 3, &warned);
        assert_string_equal(gbs_model_digest(n), gbs_model_digest(m));
        assert_int_equal(warned.n, same[i].warning != NULL);
        assert_true(same[i].warning == NULL || strstr(warned.last, same[i].warning) != NULL);
        gbs_model_free(n);
    }
    gbs_model_free(m);
}

static void refusals(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.col:1:1: found the end of the file, expected p edge N M"},
        {"c only", "a.col:1:7: found the end of the file, expected p edge N M"},
        {"p graph 3 2", "a.col:1:3: found 'graph', expected edge or col"},
        {"p edge 3", "a.col:1:9: found the end of the line, expected the number of edges"},
        {"p edge 3 0 0", "found '0', expected the end of the line after the number of edges"},
        {"p edge 3 0\np edge 3 0", "a.col:2:1: found a second p line"},
        {"e 1 2\np edge 3 1",
         "a.col:1:1: found 'e', expected the line p edge N M before the edges"},
        {"p edge 3 1\ne 0 1", "a.col:2:3: found '0', expected a vertex from 1"},
        {"p edge 3 1\ne 1 4", "a.col:2:5: found '4', expected a vertex from 1 of at most 3"},
        {"p edge 3 1\ne 1", "a.col:2:4: found the end of the line, expected a vertex"},
        {"p edge 3 1\ne 2 2", "a.col:2:1: found an edge of vertex 2 with itself"},
        {"p edge 3 1\ne 1 2 3", "found '3', expected the end of the line after an edge"},
        {"p edge 3 1\nn 1 2", "a.col:2:1: found 'n', expected a line beginning with c, p or e"},
        {"p edge 3 3\ne 1 2\ne 2 3", "a.col:1:10: found 3 as the number of edges, expected that of "
                                     "the e lines, 2, or of distinct edges, 2"},
        {"p edge 3 1\ne 1 2\ne 2 3", "found 1 as the number of edges"},
        {"p edge 3 9223372036854775808\ne 1 2", "found 9223372036854775808 as the number of edges"},
        {"p edge 9223372036854775808 1\ne 1 2", "a.col:1:8: found 9223372036854775808 variables"},
    };
    gbs_read_options options = {.states = 3};
    refuse_all("a.col", cases, sizeof cases / sizeof cases[0], &options);
    options.lenient = 1;
    gbs_model_free(read_model("a.col", "p edge 3 7\ne 1 2\ne 2 3", &options));
    options.states = 0;
    refuse_model("a.col", PATH, &options, GBS_ERR_ARGUMENT,
                 "a.col: colouring a graph needs a number of colours: give --colors K");
    refuse_model("a.col", PATH, NULL, GBS_ERR_ARGUMENT, "--colors K");
    options.states = 65536;
    refuse_model("a.col", PATH, &options, GBS_ERR_ARGUMENT, "expected at most 65535");
}

static void expect_written(const gbs_model *m, const char *expected, const char *warning)
{
    char text[1024];
    gbs_error err;
    warnings warned = {0};
    const gbs_write_options options = {.warn = take_warning, .context = &warned};
    assert_int_equal(gbs_model_write(m, scratch_path("w.col"), &options, &err), GBS_OK);
    (void)read_file(scratch_path("w.col"), text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, warning));
}

static void conflict_graphs(void **state)
{
    (void)state;
    warnings warned;
    gbs_model *m = read_colors(PATH, 4, &warned);
    expect_written(m, "p edge 3 2\ne 1 2\ne 2 3\n",
                   "w.col: the number of colours, 4, is not in the file: read it with --colors 4");
    gbs_model *back = NULL;
    gbs_error err;
    const gbs_read_options options = {.states = 4};
    assert_int_equal(gbs_model_read(scratch_path("w.col"), &options, &back, &err), GBS_OK);
    assert_string_equal(gbs_model_digest(back), gbs_model_digest(m));
    gbs_model_free(back);
    gbs_model_free(m);
    /* a model of 2, 3 and 4 states, with a factor of three variables and factors inside its
     * scope; each pair occurs once */
    assert_int_equal(gbs_model_read(data_path("mixed.uai"), NULL, &m, &err), GBS_OK);
    expect_written(m, "p edge 3 3\ne 1 3\ne 1 2\ne 2 3\n",
                   "w.col: wrote which variables share a factor; lost what the factors say");
    gbs_model_free(m);
    m = read_model("a.rud", "5 2\n5 1 1\n2 4 1", NULL);
    expect_written(m, "p edge 5 2\ne 1 5\ne 2 4\n", "lost what the factors say");
    gbs_model_free(m);
    m = read_model("a.uai", "MARKOV 0 0", NULL);
    expect_written(m, "p edge 0 0\n", "lost what");
    gbs_model_free(m);
}

/* A factor of very many variables is refused, because writing its pairs would take days. */
static void too_many_pairs(void **state)
{
    (void)state;
    enum { N = 100000 };
    char *text = malloc(8 * (size_t)N + 16);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "1 ");
    for (int i = 1; i <= N; i++) {
        at += (size_t)sprintf(text + at, "%d ", i);
    }
    (void)sprintf(text + at, "0\n");
    gbs_model *m = read_model("a.wcnf", text, NULL);
    free(text);
    gbs_error err;
    assert_int_equal(gbs_model_write(m, scratch_path("no.col"), NULL, &err), GBS_ERR_LIMIT);
    assert_non_null(
        strstr(err.message, "factor 0 has 100000 variables: the file would need more than"));
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
        cmocka_unit_test(colorings),      cmocka_unit_test(layouts),
        cmocka_unit_test(refusals),       cmocka_unit_test(conflict_graphs),
        cmocka_unit_test(too_many_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
