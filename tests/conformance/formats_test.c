/* SPDX-License-Identifier: Apache-2.0 */
/* Every format against every other: a model that A can hold, written as A and read, written as B
 * and read, is the same distribution over the same variables. Which pairs there are follows from
 * what the writers accept; a table below says which formats must hold which model, so that a
 * writer that refuses everything is found out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/small_models.h"
#include "text/test_models.h"

enum { MOST_STATES = 4096, MOST_FORMATS = 32, MOST_VARIABLES = 16 };

static char format_name[MOST_FORMATS][24];
static size_t n_formats;

static void split_formats(void)
{
    for (const char *at = gbs_model_formats(); *at != 0;) {
        size_t n = strcspn(at, "|");
        assert_true(n_formats < MOST_FORMATS && n < sizeof format_name[0]);
        memcpy(format_name[n_formats], at, n);
        format_name[n_formats++][n] = 0;
        at += n + (at[n] == '|' ? 1 : 0);
    }
}

/* ---- models ------------------------------------------------------------------------------ */

static void add_table(gbs_builder *b, uint32_t n, const uint32_t *scope, size_t n_entries,
                      test_stream *s, int positive)
{
    double logw[64];
    uint32_t id = 0;
    assert_true(n_entries <= 64);
    for (size_t i = 0; i < n_entries; i++) {
        logw[i] = test_uniform(s, -1, 1);
    }
    if (!positive) {
        logw[n_entries / 2] = -INFINITY;
    }
    assert_int_equal(gbs_builder_add_table(b, n_entries, logw, &id, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, n, scope, id, NULL), GBS_OK);
}

static gbs_model *built(gbs_builder *b)
{
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static gbs_builder *begun(uint32_t n, const uint32_t *arity)
{
    gbs_builder *b = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, n, arity, NULL, NULL), GBS_OK);
    return b;
}

/* Arities 2, 3, 4, scopes in an order that is not that of the ids: what catches index mistakes. */
static gbs_model *tables(int positive)
{
    static const uint32_t arity[4] = {2, 3, 4, 2};
    static const uint32_t triple[3] = {2, 0, 1};
    static const uint32_t pair[2] = {3, 1};
    static const uint32_t one[1] = {2};
    gbs_builder *b = begun(4, arity);
    test_stream s = {17, 0};
    add_table(b, 3, triple, 24, &s, positive);
    add_table(b, 2, pair, 6, &s, 1);
    add_table(b, 1, one, 4, &s, 1);
    return built(b);
}

static gbs_model *positive_tables(void)
{
    return tables(1);
}

static gbs_model *zero_tables(void)
{
    return tables(0);
}

static gbs_model *network(void)
{
    return test_model(TEST_BAYES, 5, 6);
}

static gbs_model *spins(void)
{
    static const uint32_t arity[5] = {2, 2, 2, 2, 2};
    gbs_builder *b = begun(5, arity);
    test_stream s = {23, 0};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(gbs_builder_add_ising(b, i, (i + 1) % 5, test_uniform(&s, -1, 1), NULL),
                         GBS_OK);
        assert_int_equal(gbs_builder_add_field(b, i, test_uniform(&s, -1, 1), NULL), GBS_OK);
    }
    return built(b);
}

static gbs_model *couplings(void) /* spins without fields */
{
    static const uint32_t arity[4] = {2, 2, 2, 2};
    gbs_builder *b = begun(4, arity);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(gbs_builder_add_ising(b, i, (i + 1) % 4, i % 2 ? 0.5 : -1.25, NULL),
                         GBS_OK);
    }
    return built(b);
}

static gbs_model *clauses(void)
{
    static const uint32_t arity[4] = {2, 2, 2, 2};
    static const uint32_t scope[3][3] = {{0, 1, 2}, {3, 1, 0}, {2, 3, 0}};
    static const uint32_t state[3][3] = {{1, 0, 1}, {0, 1, 0}, {1, 1, 0}};
    static const double weight[3] = {1.5, -0.75, 2};
    static const uint32_t length[3] = {3, 2, 1};
    gbs_builder *b = begun(4, arity);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, length[i], scope[i],
                                                 state[i], weight[i], NULL),
                         GBS_OK);
    }
    /* x3 in a hard clause */
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 2, scope[2], state[2], INFINITY, NULL),
        GBS_OK);
    return built(b);
}

static gbs_model *logical(void)
{
    return test_model(TEST_LOGICAL, 3, 5);
}

static gbs_model *mixed(void)
{
    return test_model(TEST_MIXED, 9, 5);
}

/* @param holds formats that must hold it, blanks around each; more may. */
static const struct {
    const char *name;
    gbs_model *(*make)(void);
    const char *holds;
} models[] = {
    {"positive tables", positive_tables, " uai lg "},
    {"tables with a zero", zero_tables, " uai lg "},
    {"a network", network, " uai lg bif "},
    {"spins with fields", spins, " uai lg "},
    {"couplings", couplings, " uai lg "},
    {"clauses", clauses, " uai lg "},
    {"logical factors", logical, " uai lg "},
    {"a mixture", mixed, " uai lg "},
};
enum { N_MODELS = sizeof models / sizeof models[0] };

/* ---- comparing --------------------------------------------------------------------------- */

/* Variable v of a model in what was read of it: formats that write parents first number variables
 * anew, and go by names; a variable without a name was written as x and its number. */
static uint32_t variable_in(const gbs_model *back, const gbs_model *model, uint32_t v)
{
    char made[16];
    const char *name = gbs_model_variable_name(model, v);
    (void)snprintf(made, sizeof made, "x%u", v);
    for (uint32_t u = 0; u < gbs_model_n_variables(back); u++) {
        const char *other = gbs_model_variable_name(back, u);
        if (other != NULL && strcmp(other, name != NULL ? name : made) == 0) {
            return u;
        }
    }
    return v;
}

/* ln p(x) of every assignment, normalised: formats may lose a constant. @param place [n_variables]
 * in the model of each variable that is counted, the last fastest. @return how many. */
static size_t log_density(const gbs_model *model, const uint32_t *place, double *logp)
{
    uint32_t x[MOST_VARIABLES] = {0};
    size_t n = 0;
    double sum = 0;
    for (uint32_t v = 1; v != 0; n++) {
        assert_true(n < MOST_STATES);
        logp[n] = exp(gbs_model_log_density(model, x));
        sum += logp[n];
        v = gbs_model_n_variables(model);
        while (v > 0 && ++x[place[v - 1]] == gbs_model_arity(model, place[v - 1])) {
            x[place[--v]] = 0;
        }
    }
    for (size_t i = 0; i < n; i++) {
        logp[i] = log(logp[i] / sum);
    }
    return n;
}

static void expect_same(const gbs_model *a, const gbs_model *b, const char *what)
{
    static double p[MOST_STATES];
    static double q[MOST_STATES];
    uint32_t own[MOST_VARIABLES];
    uint32_t other[MOST_VARIABLES];
    const uint32_t n_variables = gbs_model_n_variables(a);
    assert_true(n_variables <= MOST_VARIABLES);
    if (n_variables != gbs_model_n_variables(b)) {
        fail_msg("%s: %u variables became %u", what, n_variables, gbs_model_n_variables(b));
    }
    for (uint32_t v = 0; v < n_variables; v++) {
        own[v] = v;
        other[v] = variable_in(b, a, v);
        if (gbs_model_arity(a, v) != gbs_model_arity(b, other[v])) {
            fail_msg("%s: %u states of variable %u became %u", what, gbs_model_arity(a, v), v,
                     gbs_model_arity(b, other[v]));
        }
    }
    size_t n = log_density(a, own, p);
    assert_int_equal(log_density(b, other, q), n);
    for (size_t i = 0; i < n; i++) {
        /* Equal, or -inf both, or apart by the rounding of sums of a few dozen terms. */
        if (p[i] != q[i] && !(fabs(p[i] - q[i]) <= 1e-12 * (1 + fabs(p[i])))) {
            fail_msg("%s: assignment %zu: ln p %.17g became %.17g", what, i, p[i], q[i]);
        }
    }
}

/* @return the model written and read, or NULL where the format has no form for it. */
static gbs_model *through(const gbs_model *model, const char *format, const char *what)
{
    gbs_error err = {0};
    gbs_model *back = NULL;
    const gbs_write_options as = {.format = format};
    const gbs_read_options from = {.format = format};
    const char *path = scratch_path(format);
    gbs_status status = gbs_model_write(model, path, &as, &err);
    if (status != GBS_OK) {
        if (status != GBS_ERR_UNSUPPORTED && status != GBS_ERR_ARGUMENT) {
            fail_msg("%s as %s: %s", what, format, err.message);
        }
        return NULL;
    }
    if (gbs_model_read(path, &from, &back, &err) != GBS_OK) {
        fail_msg("%s as %s: %s", what, format, err.message);
    }
    return back;
}

/* A graph to colour is no distribution, and neither is a drawing: what is lost is the whole point
 * of the format. */
static int is_distribution(const char *format)
{
    return strcmp(format, "col") != 0 && strcmp(format, "dot") != 0 && strcmp(format, "svg") != 0;
}

/* Read as format a, then through every other. @return how many could hold it. */
static int pairs_from(const gbs_model *read_a, const char *what)
{
    int n_pairs = 0;
    for (size_t b = 0; b < n_formats; b++) {
        gbs_model *read_b =
            is_distribution(format_name[b]) ? through(read_a, format_name[b], what) : NULL;
        if (read_b != NULL) {
            char both[128];
            (void)snprintf(both, sizeof both, "%.80s as %.20s", what, format_name[b]);
            expect_same(read_a, read_b, both);
            n_pairs++;
        }
        gbs_model_free(read_b);
    }
    return n_pairs;
}

static void every_pair(void **state)
{
    (void)state;
    int n_pairs = 0;
    for (size_t m = 0; m < N_MODELS; m++) {
        gbs_model *model = models[m].make();
        for (size_t a = 0; a < n_formats; a++) {
            char what[64];
            (void)snprintf(what, sizeof what, " %.20s ", format_name[a]);
            int must = strstr(models[m].holds, what) != NULL;
            (void)snprintf(what, sizeof what, "%.30s as %.20s", models[m].name, format_name[a]);
            gbs_model *read_a = is_distribution(format_name[a])
                                    ? through(model, format_name[a], models[m].name)
                                    : NULL;
            if (read_a != NULL) {
                expect_same(model, read_a, what);
                n_pairs += pairs_from(read_a, what);
            } else if (must) {
                fail_msg("%s cannot be written", what);
            }
            gbs_model_free(read_a);
        }
        gbs_model_free(model);
    }
    print_message("%d round trips over %zu formats\n", n_pairs, n_formats);
    assert_true(n_pairs > 30);
}

/* Writing what was just read gives the same bytes: nothing drifts from copy to copy. */
static void fixed_points(void **state)
{
    (void)state;
    static char first[1 << 20];
    static char second[1 << 20];
    for (size_t m = 0; m < N_MODELS; m++) {
        gbs_model *model = models[m].make();
        for (size_t a = 0; a < n_formats; a++) {
            const gbs_write_options as = {.format = format_name[a]};
            gbs_model *once = is_distribution(format_name[a])
                                  ? through(model, format_name[a], models[m].name)
                                  : NULL;
            const char *path = scratch_path("one");
            const char *again = scratch_path("two");
            /* Several files: their folder is not a file to compare. */
            if (once != NULL && strncmp(format_name[a], "dimmwitted", 10) != 0) {
                gbs_error err = {0};
                assert_int_equal(gbs_model_write(once, path, &as, &err), GBS_OK);
                size_t n = read_file(path, first, sizeof first);
                const gbs_read_options from = {.format = format_name[a]};
                gbs_model *twice = NULL;
                assert_int_equal(gbs_model_read(path, &from, &twice, &err), GBS_OK);
                assert_int_equal(gbs_model_write(twice, again, &as, &err), GBS_OK);
                assert_int_equal(read_file(again, second, sizeof second), n);
                if (memcmp(first, second, n) != 0) {
                    fail_msg("%s as %s differs from copy to copy", models[m].name, format_name[a]);
                }
                gbs_model_free(twice);
            }
            gbs_model_free(once);
        }
        gbs_model_free(model);
    }
}

int main(void)
{
    split_formats();
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pair),
                                       cmocka_unit_test(fixed_points)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_scratch();
    return failed;
}
