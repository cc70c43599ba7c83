/* SPDX-License-Identifier: Apache-2.0 */
/* Writing DimmWitted factor graphs: what was read comes back, every kind of factor keeps its
 * distribution, and what has no form is refused before a file is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "models/dimmwitted_testing.h"
#include "models/format_names.h"

static const char *const FORMATS[2] = {"dimmwitted", "dimmwitted-tsv"};

static void write_graph(const gbs_model *m, const char *name, const char *format, warnings *warned)
{
    gbs_error err = {0};
    const gbs_write_options options = {
        .format = format, .warn = warned == NULL ? NULL : take_warning, .context = warned};
    if (gbs_model_write(m, in_folder(name), &options, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
}

static void refuse_write(const gbs_model *m, const char *name, const char *format,
                         gbs_status status, const char *part)
{
    gbs_error err = {0};
    const gbs_write_options options = {.format = format};
    const gbs_status got = gbs_model_write(m, in_folder(name), &options, &err);
    if (got != status || strstr(err.message, part) == NULL) {
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", got, err.message, status, part);
    }
    assert_int_equal(gbs_model_write(m, in_folder(name), &options, NULL), status);
}

static void expect_bytes(const char *name, const bytes *expected)
{
    char found[8192];
    assert_int_equal(read_file(in_folder(name), found, sizeof found), expected->n);
    assert_memory_equal(found, expected->at, expected->n);
}

static bool there(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

/* Weights keep their numbers, also those of no factor; learning may change some. */
static void same_bytes(void **state)
{
    (void)state;
    static const uint64_t sorted[3] = {2, 5, 9};
    static const uint64_t query[1] = {0};
    static const uint64_t ones[1] = {1};
    graph g;
    warnings warned = {0};
    make_graph(&g);
    (void)snprintf(g.meta, sizeof g.meta, "24,4,24,45\n");
    put_weight(&g.weights, 21, 0, 0);
    put_weight(&g.weights, 22, 0, 0.1);
    put_weight(&g.weights, 23, 1, weight_of(0));
    put_factor(&g.factors, 4, 1, query, ones, 22, 3);
    put_factor(&g.factors, 4, 1, query, ones, 21, -7); /* of a weight of 0 */
    put_factor(&g.factors, 4, 1, query, ones, 22, 0);
    save_graph(&g);
    gbs_model *m = read_graph(in_folder("graph.meta"), NULL);
    (void)fresh_folder();
    write_graph(m, "graph.meta", NULL, &warned);
    assert_int_equal(warned.n, 0);
    g.domains.n = 0;
    put_domain(&g.domains, 1, 3, sorted, 0);
    expect_text("graph.meta", g.meta);
    expect_bytes("graph.weights", &g.weights);
    expect_bytes("graph.factors", &g.factors);
    expect_bytes("graph.domains", &g.domains);
    /* the initial value of the variable with a domain is one of it, and it is 2 */
    expect_bytes("graph.variables", &g.variables);
    gbs_model_free(m);
}

/* Text sorts factors by function; twice is as once. */
static void there_and_back(void **state)
{
    (void)state;
    graph g;
    char digest[40];
    make_graph(&g);
    save_graph(&g);
    gbs_model *m = read_graph(in_folder("graph.meta"), NULL);
    (void)fresh_folder();
    write_graph(m, "graph.meta", "dimmwitted-tsv", NULL);
    assert_true(there("factors01.tsv") && there("factors21.text2bin-args"));
    assert_false(there("factors22.tsv")); /* ten of three, ten of one, and equal of two */
    gbs_model *text = read_graph(in_folder("graph.meta"), NULL);
    (void)snprintf(digest, sizeof digest, "%s", gbs_model_digest(text));
    double w[48];
    double w_text[48];
    assert_int_equal(enumerate(m, w, 48), 48);
    assert_int_equal(enumerate(text, w_text, 48), 48);
    for (size_t i = 0; i < 48; i++) {
        expect_near(w_text[i], w[i]);
    }
    (void)fresh_folder();
    write_graph(text, "again.meta.gz", "dimmwitted-tsv", NULL);
    assert_true(there("again.factors01.tsv.gz") && there("again.factors01.text2bin-args"));
    gbs_model *again = read_graph(in_folder("again.meta.gz"), NULL);
    assert_string_equal(gbs_model_digest(again), digest);
    gbs_model_free(m);
    gbs_model_free(text);
    gbs_model_free(again);
}

/* ---- other kinds --------------------------------------------------------------------------- */

static gbs_builder *builder_of(uint32_t n, const uint32_t *arity)
{
    gbs_builder *b = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, n, arity, NULL, NULL), GBS_OK);
    return b;
}

static gbs_model *built(gbs_builder *b)
{
    gbs_model *m = NULL;
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    gbs_builder_free(b);
    return m;
}

static void add_table(gbs_builder *b, uint32_t n, const uint32_t *scope, size_t n_entries,
                      const double *logw)
{
    uint32_t table = 0;
    assert_int_equal(gbs_builder_add_table(b, n_entries, logw, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, n, scope, table, NULL), GBS_OK);
}

/* Two models of one distribution: log densities differ by one constant. */
static void expect_same(const gbs_model *a, const gbs_model *b, double shift)
{
    double w[512];
    double w_b[512];
    const size_t n = enumerate(a, w, 512);
    assert_int_equal(enumerate(b, w_b, 512), n);
    for (size_t i = 0; i < n; i++) {
        expect_near(w_b[i] * exp(shift), w[i]);
    }
}

/* Both forms. @return how many warnings the second gave. @param shift what is lost. */
static int write_and_compare(const gbs_model *m, double shift, size_t n_factors)
{
    warnings warned = {0};
    for (int form = 0; form < 2; form++) {
        (void)fresh_folder();
        warned.n = 0;
        write_graph(m, "graph.meta", FORMATS[form], &warned);
        gbs_model *back = read_graph(in_folder("graph.meta"), NULL);
        assert_int_equal(gbs_model_n_factors(back), n_factors);
        expect_same(m, back, shift);
        gbs_model_free(back);
    }
    return warned.n;
}

static void spins(void **state)
{
    (void)state;
    static const uint32_t arity[3] = {2, 2, 2};
    static const uint32_t scope[3] = {2, 0, 1};
    gbs_builder *b = builder_of(3, arity);
    assert_int_equal(gbs_builder_add_field(b, 1, 0.7, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_ising(b, 0, 2, -0.3, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 1, scope, 0.2, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 2, scope, 0.25, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 3, scope, 0.4, NULL), GBS_OK);
    gbs_model *m = built(b);
    assert_int_equal(write_and_compare(m, 0, 4 + 8), 2); /* rewritten, weights */
    expect_text("graph.meta", "6,3,12,30\n");
    expect_text("factors1.text2bin-args", "4 1 1\n");
    expect_text("factors1.tsv", "1\t0\t1\n2\t1\t1\n");
    expect_text("factors2.text2bin-args", "3 2 1 1\n");
    expect_text("factors2.tsv", "0\t2\t2\t1\n2\t0\t3\t1\n");
    expect_text("factors3.text2bin-args", "12 3 1 1 1\n");
    gbs_model_free(m);
}

/* Unequal cardinalities, three variables, entries of 0 left out. */
static void tables(void **state)
{
    (void)state;
    static const uint32_t arity[4] = {2, 3, 4, 3};
    static const uint32_t scope[4] = {2, 0, 1, 3};
    static const uint32_t literal[2] = {2, 1};
    double logw[24];
    gbs_builder *b = builder_of(4, arity);
    for (size_t i = 0; i < 24; i++) {
        logw[i] = 0.125 * (double)i - 1;
    }
    add_table(b, 3, scope, 24, logw); /* entry 8 is 0 */
    add_table(b, 1, scope + 2, 3, logw + 7);
    add_table(b, 0, scope, 1, logw); /* a constant */
    assert_int_equal(gbs_builder_add_potts(b, 1, 3, 0.6, NULL), GBS_OK);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 2, scope + 2, literal, 1.5, NULL), GBS_OK);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 1, scope + 2, literal, 0.5, NULL), GBS_OK);
    gbs_model *m = built(b);
    /* the constant -1 and half of the clause's weight */
    assert_int_equal(write_and_compare(m, -1 + 0.75, 23 + 2 + 3 + 1 + 1), 3);
    gbs_model_free(m);
}

/* Functions that DimmWitted has not are tables. */
static void other_functions(void **state)
{
    (void)state;
    static const uint32_t arity[3] = {2, 3, 2};
    static const uint32_t scope[3] = {2, 0, 1};
    static const uint32_t literal[3] = {1, 0, 2};
    gbs_builder *b = builder_of(3, arity);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_PARITY, 2, scope, literal, 1.5, NULL),
                     GBS_OK);
    assert_int_equal(
        gbs_builder_add_cardinality(b, GBS_LOGICAL_AT_LEAST, 2, 3, scope, literal, 0.5, NULL),
        GBS_OK);
    gbs_model *m = built(b);
    assert_int_equal(write_and_compare(m, 0, 2 + 5), 2);
    gbs_model_free(m);
}

/* What becomes one record a factor, or one a state, stays tied; entries of tables do not. */
static void ties(void **state)
{
    (void)state;
    static const uint32_t arity[5] = {2, 2, 2, 3, 3};
    static const uint32_t scope[3] = {0, 1, 2};
    static const uint32_t ones[2] = {1, 1};
    static const double value[2] = {0.5, 0};
    static const uint8_t fixed[2] = {0, 1};
    gbs_builder *b = builder_of(5, arity);
    assert_int_equal(gbs_builder_add_weights(b, 2, value, fixed, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 2, scope, ones, 1, NULL),
                     GBS_OK);
    assert_int_equal(gbs_builder_add_potts(b, 3, 4, 0, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 2, -1.5, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 3, scope, 1.5, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 1, 0.25, NULL), GBS_OK);
    assert_int_equal(gbs_builder_tie_factor(b, 0, 0, 2, NULL), GBS_OK);
    assert_int_equal(gbs_builder_tie_factor(b, 1, 1, -3, NULL), GBS_OK);
    assert_int_equal(gbs_builder_tie_factor(b, 2, 0, -3, NULL), GBS_OK);
    assert_int_equal(gbs_builder_tie_factor(b, 3, 0, 3, NULL), GBS_OK);
    gbs_model *m = built(b);
    assert_int_equal(write_and_compare(m, 0.5, 1 + 3 + 1 + 8 + 1), 3);
    expect_text("weights.tsv", "0\t0\t0.5\n1\t1\t0\n2\t1\t0.25\n3\t1\t-1.5\n4\t1\t1.5\n");
    expect_text("factors1.tsv", "0\t1\t0\t1\n");
    expect_text("factors2.tsv", "3\t4\t0\t0\t1\t-3\n3\t4\t1\t1\t1\t-3\n3\t4\t2\t2\t1\t-3\n");
    expect_text("factors3.tsv", "2\t0\t-3\n1\t2\t1\n");
    gbs_model_free(m);
}

/* A hard factor that leaves a variable one state is evidence, whatever its kind. */
static void evidence(void **state)
{
    (void)state;
    static const uint32_t arity[3] = {2, 3, 2};
    static const uint32_t scope[3] = {0, 1, 2};
    static const uint32_t one[2] = {1, 1};
    static const double only_two[3] = {-INFINITY, -INFINITY, 0.5};
    gbs_builder *b = builder_of(3, arity);
    add_table(b, 1, scope + 1, 3, only_two);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_OR, 1, scope, one, INFINITY, NULL),
                     GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_EQUAL, 2, scope + 1, one, 2, NULL),
                     GBS_OK);
    gbs_model *m = built(b);
    assert_int_equal(write_and_compare(m, 0.5, 3), 2);
    expect_text("variables.tsv", "0\t1\t1\t0\t2\n1\t1\t2\t1\t3\n2\t0\t0\t0\t2\n");
    assert_false(there("domains.tsv"));
    gbs_model_free(m);
}

static void labels(void **state)
{
    (void)state;
    static const uint32_t arity[5] = {2, 2, 3, 2, 2};
    static const char *const ascending[2] = {"7", "18446744073709551615"};
    static const char *const falling[2] = {"4", "3"};
    static const char *const words[3] = {"lo", "mid", "hi"};
    static const char *const dense[2] = {"0", "1"};
    static const char *const padded[2] = {"01", "2"};
    static const uint32_t state_one[1] = {1};
    warnings warned = {0};
    gbs_builder *b = builder_of(5, arity);
    assert_int_equal(gbs_builder_label_states(b, 0, ascending, NULL), GBS_OK);
    assert_int_equal(gbs_builder_label_states(b, 1, falling, NULL), GBS_OK);
    assert_int_equal(gbs_builder_label_states(b, 2, words, NULL), GBS_OK);
    assert_int_equal(gbs_builder_label_states(b, 3, dense, NULL), GBS_OK);
    assert_int_equal(gbs_builder_label_states(b, 4, padded, NULL), GBS_OK);
    assert_int_equal(gbs_builder_name_variable(b, 0, "a", NULL), GBS_OK);
    static const uint32_t scope[1] = {0};
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_IS_TRUE, 1, scope, state_one, INFINITY, NULL),
        GBS_OK);
    gbs_model *m = built(b);
    (void)fresh_folder();
    write_graph(m, "graph.meta", "dimmwitted-tsv", &warned);
    assert_int_equal(warned.n, 2); /* of labels and of the name */
    assert_non_null(strstr(warned.last, "lost the names of variables"));
    expect_text("domains.tsv", "0\t2\t{7,18446744073709551615}\t{0,0}\n");
    expect_text("variables.tsv", "0\t1\t18446744073709551615\t1\t2\n1\t0\t0\t0\t2\n"
                                 "2\t0\t0\t1\t3\n3\t0\t0\t0\t2\n4\t0\t0\t0\t2\n");
    expect_text("graph.meta", "0,5,0,0\n");
    gbs_model *back = read_graph(scratch_path("graph"), NULL);
    assert_string_equal(gbs_model_state_label(back, 0, 1), "18446744073709551615");
    assert_null(gbs_model_state_label(back, 1, 0));
    uint32_t clamped[5];
    gbs_model_clamped(back, clamped);
    assert_true(clamped[0] == 1 && clamped[1] == UINT32_MAX);
    gbs_model_free(back);
    gbs_model_free(m);
}

/* ---- what has no form ---------------------------------------------------------------------- */

static void refuse_kind(gbs_builder *b, const char *part)
{
    gbs_model *m = built(b);
    for (int form = 0; form < 2; form++) {
        (void)fresh_folder();
        refuse_write(m, "graph.meta", FORMATS[form], GBS_ERR_UNSUPPORTED, part);
        assert_false(there("graph.meta") || there("graph.weights") || there("weights.tsv"));
    }
    gbs_model_free(m);
}

static void refused_factors(void **state)
{
    (void)state;
    static const uint32_t arity[17] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    static const uint32_t three[2] = {3, 3};
    static const uint32_t scope[17] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint32_t ones[2] = {1, 1};
    static const uint32_t zeros[2] = {0, 0};
    static const double hard[4] = {0, -INFINITY, 0, 0};
    const double never = -INFINITY;
    gbs_builder *b = builder_of(2, arity);
    assert_int_equal(gbs_builder_add_field(b, 0, 1, NULL), GBS_OK);
    add_table(b, 2, scope, 4, hard);
    refuse_kind(b, "factor 1 (0, 1) forbids combinations: DimmWitted has no form for it");
    b = builder_of(1, three);
    add_table(b, 1, scope, 3, hard); /* two states are left */
    refuse_kind(b, "factor 0 (0) forbids combinations");
    b = builder_of(0, NULL);
    add_table(b, 0, scope, 1, &never);
    refuse_kind(b, "factor 0 () forbids combinations");
    b = builder_of(2, arity);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_OR, 2, scope, ones, INFINITY, NULL),
                     GBS_OK);
    refuse_kind(b, "factor 0 (0, 1) forbids combinations");
    b = builder_of(2, three);
    assert_int_equal(gbs_builder_add_potts(b, 0, 1, -INFINITY, NULL), GBS_OK);
    refuse_kind(b, "factor 0 (0, 1) forbids combinations");
    b = builder_of(2, arity);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_IS_TRUE, 1, scope, ones, INFINITY, NULL), GBS_OK);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_IS_TRUE, 1, scope, zeros, INFINITY, NULL), GBS_OK);
    refuse_kind(b, "factor 0 (0) and another factor leave no state");
    b = builder_of(17, arity);
    assert_int_equal(gbs_builder_add_spin(b, 17, scope, 1, NULL), GBS_OK);
    refuse_kind(b, "has more than 65536 entries: DimmWitted has no form for it");
}

/* 100 kinds of factors fit the text form, one more does not; the binary form holds them. */
static void many_groups(void **state)
{
    (void)state;
    static const uint32_t arity[1] = {101};
    static const uint32_t scope[1] = {0};
    for (uint32_t n = 100; n <= 101; n++) {
        gbs_builder *b = builder_of(1, arity);
        for (uint32_t a = 0; a < n; a++) {
            assert_int_equal(
                gbs_builder_add_logical(b, GBS_LOGICAL_IS_TRUE, 1, scope, &a, 0.001 * a, NULL),
                GBS_OK);
        }
        gbs_model *m = built(b);
        (void)fresh_folder();
        if (n == 100) {
            write_graph(m, "graph.meta", "dimmwitted-tsv", NULL);
        } else {
            refuse_write(m, "graph.meta", "dimmwitted-tsv", GBS_ERR_UNSUPPORTED,
                         "factors of more than 100 kinds");
            write_graph(m, "graph.meta", "dimmwitted", NULL);
        }
        gbs_model *back = read_graph(in_folder("graph.meta"), NULL);
        assert_string_equal(gbs_model_digest(back), gbs_model_digest(m));
        gbs_model_free(back);
        gbs_model_free(m);
    }
}

/* ---- files --------------------------------------------------------------------------------- */

static gbs_model *small_model(void)
{
    static const uint32_t arity[2] = {2, 2};
    gbs_builder *b = builder_of(2, arity);
    assert_int_equal(gbs_builder_add_ising(b, 0, 1, 1e-9, NULL), GBS_OK);
    return built(b);
}

/* What would be read with the graph is no companion of ours. */
static void leftovers(void **state)
{
    (void)state;
    gbs_model *m = small_model();
    (void)fresh_folder();
    write_graph(m, "graph.meta", "dimmwitted", NULL);
    write_graph(m, "graph.meta", "dimmwitted", NULL); /* over itself is fine */
    save_text("graph.domains", "old");
    refuse_write(m, "graph.meta", "dimmwitted", GBS_ERR_ARGUMENT,
                 "graph.domains: would be read as part of the graph written; remove it");
    assert_int_equal(remove(in_folder("graph.domains")), 0);
    refuse_write(m, "graph.meta", "dimmwitted-tsv", GBS_ERR_ARGUMENT,
                 "graph.meta: is there with binary companions, which would no longer fit it");
    assert_false(there("variables.tsv"));
    gbs_model *back = read_graph(in_folder("graph.meta"), NULL);
    gbs_model_free(back);
    (void)fresh_folder();
    save_text("factors7.tsv", "old");
    refuse_write(m, "graph.meta", "dimmwitted-tsv", GBS_ERR_ARGUMENT, "factors7.tsv: would be");
    write_graph(m, "x.meta", "dimmwitted-tsv", NULL); /* its names begin with "x." */
    assert_true(there("x.factors.tsv") && there("x.factors.text2bin-args"));
    assert_false(there("graph.meta"));
    expect_text("factors7.tsv", "old");
    gbs_model_free(m);
}

static void places(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *m = small_model();
    (void)fresh_folder();
    refuse_write(m, "graph.dw", "dimmwitted", GBS_ERR_ARGUMENT, "graph.dw: expected NAME.meta");
    refuse_write(m, ".meta", "dimmwitted", GBS_ERR_ARGUMENT, ".meta: expected NAME.meta");
    refuse_write(m, "no/graph.meta", "dimmwitted", GBS_ERR_IO, "no/graph.factors: cannot be");
    const gbs_write_options options = {.format = "dimmwitted"};
    assert_int_equal(gbs_model_write(m, "-", &options, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "several files"));
    assert_int_equal(gbs_model_write(m, scratch_path("graph"), &options, &err), GBS_OK);
    assert_true(there("graph.meta") && there("graph.factors"));
    (void)fresh_folder();
    const gbs_write_options fixed = {.format = "dimmwitted-tsv", .fixed_floats = 1};
    assert_int_equal(gbs_model_write(m, in_folder("graph.meta"), &fixed, &err), GBS_OK);
    expect_text("weights.tsv", "0\t1\t0.000000001\n");
    assert_string_equal(gbsi_model_format_of("x.meta"), "dimmwitted");
    gbs_model_free(m);
}

static void memory_runs_out(void **state)
{
    (void)state;
    graph g;
    make_graph(&g);
    save_graph(&g);
    gbs_model *m = read_graph(in_folder("graph.meta"), NULL);
    for (int form = 0; form < 2; form++) {
        const gbs_write_options options = {.format = FORMATS[form]};
        gbs_status status = GBS_ERR_MEMORY;
        (void)fresh_folder();
        for (uint64_t n = 0; status != GBS_OK; n++) {
            assert_false(there("graph.meta"));
            gbsi_alloc_fail_after(n);
            status = gbs_model_write(m, in_folder("graph.meta"), &options, NULL);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        }
        gbs_model_free(read_graph(in_folder("graph.meta"), NULL));
    }
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
        cmocka_unit_test(same_bytes),      cmocka_unit_test(there_and_back),
        cmocka_unit_test(spins),           cmocka_unit_test(tables),
        cmocka_unit_test(other_functions), cmocka_unit_test(ties),
        cmocka_unit_test(evidence),        cmocka_unit_test(labels),
        cmocka_unit_test(refused_factors), cmocka_unit_test(many_groups),
        cmocka_unit_test(leftovers),       cmocka_unit_test(places),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
