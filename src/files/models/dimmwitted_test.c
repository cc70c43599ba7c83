/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reading of DimmWitted factor graphs: every function is compared with its definition, and
 * files may have several forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/dimmwitted_testing.h"

/* @return phi of m literals, of which the last is the head, from the table of the specification. */
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

/* @return the log density of make_graph() at a state in which variable 3 must be 1. */
static double expected_log_density(const uint32_t *x)
{
    /* value 5 is state 1 of the values 2, 5, 9 */
    const bool l[3] = {x[2] == 3, x[0] == 1, x[1] == 1};
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
    assert_int_equal(gbs_model_n_factors(m), 22); /* the last factor is the evidence */
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
    make_graph(&g);
    save_graph(&g);
    gbs_model *m = read_graph(in_folder("graph.meta"), NULL);
    check_graph(m);
    gbs_model_free(m);
}

/* Tests a folder, a named format, and files of the text form beside those of the graph or alone. */
static void places(void **state)
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
    for (size_t i = 0; i < 3; i++) {
        m = read_graph(paths[i], i == 1 ? &binary : NULL);
        check_graph(m);
        gbs_model_free(m);
    }
    save_text("factors.tsv", "0\t1\t0\t1\n");
    m = read_graph(in_folder("graph.meta"), NULL);
    check_graph(m);
    gbs_model_free(m);
    (void)fresh_folder();
    save_text("graph.meta", "1,2,1,2");
    save_text("factors.tsv", "0\t1\t0\t1\n");
    refuse_graph(
        NULL, GBS_ERR_FORMAT,
        "found no graph.weights* beside it, but text, which is not read: DimmWitted's text2bin");
    (void)fresh_folder();
    m = NULL;
    assert_int_equal(gbs_model_read(scratch_path("graph"), NULL, &m, &err), GBS_ERR_IO);
    assert_non_null(strstr(err.message, "found a folder, expected a file, or a folder of "));
    assert_int_equal(gbs_model_read(in_folder("none"), NULL, &m, &err), GBS_ERR_IO);
    assert_non_null(strstr(err.message, "none: cannot be opened"));
    assert_int_equal(gbs_model_read(scratch_path("graph"), &binary, &m, &err), GBS_ERR_IO);
    assert_int_equal(gbs_model_read(in_folder("graph.factors"), &binary, &m, &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "expected NAME.meta"));
    assert_int_equal(gbs_model_read_memory("graph.meta", "0,0,0,0", 7, NULL, &m, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_null(m);
}

/* Tests records in any order in several files, of which some are packed, with another base name. */
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

/* Tests a meta file of more than one line. */
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

/* Tests a feature times a weight, negative features, a variable in no factor, a variable of one
 * value, and an empty graph. */
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

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions), cmocka_unit_test(places),  cmocka_unit_test(several_files),
        cmocka_unit_test(quirks),    cmocka_unit_test(lenient),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
