/* SPDX-License-Identifier: Apache-2.0 */
/* Tests networks of two slices over time: against a network written by hand, against the forward
 * algorithm, and refusals of other networks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/memory.h"
#include "gibbsite/gibbsite.h"
#include "store/test_builder.h"

/* Adds tables of weights 1 .. n, scaled column by column. */
static void add_cpt(gbs_builder *b, uint32_t child, uint32_t arity, uint32_t n_parents,
                    const uint32_t *parent, size_t n, unsigned seed)
{
    double p[64];
    for (size_t column = 0; column < n / arity; column++) {
        double sum = 0;
        for (size_t i = column * arity; i < (column + 1) * arity; i++) {
            p[i] = 1 + (double)(seed * (i + 3) % 11);
            sum += p[i];
        }
        for (size_t i = column * arity; i < (column + 1) * arity; i++) {
            p[i] /= sum;
        }
    }
    assert_int_equal(gbs_builder_add_cpt(b, child, n_parents, parent, n, p, NULL), GBS_OK);
}

static void name(gbs_builder *b, uint32_t n, const char *const *names)
{
    for (uint32_t v = 0; v < n; v++) {
        assert_int_equal(gbs_builder_name_variable(b, v, names[v], NULL), GBS_OK);
    }
}

static gbs_model *network(gbs_builder *b)
{
    gbs_builder_set_directed(b);
    gbs_model *m = build(b);
    gbs_builder_free(b);
    return m;
}

enum { Y_NEXT, X, SITE, X_NEXT, Y, N_TWO };

/* X has 3 states, Y has 2. The parents of Y are X and the previous Y. A site of 2 states is a
 * parent of X and Y. */
static gbs_model *two_slices(void)
{
    static const uint32_t arity[N_TWO] = {2, 3, 2, 3, 2};
    static const char *const names[N_TWO] = {"y'", "x", "site", "x'", "y"};
    static const char *const states[3] = {"a", "b", "c"};
    gbs_builder *b = new_builder(N_TWO, arity);
    name(b, N_TWO, names);
    assert_int_equal(gbs_builder_label_states(b, X, states, NULL), GBS_OK);
    assert_int_equal(gbs_builder_label_states(b, X_NEXT, states, NULL), GBS_OK);
    add_cpt(b, Y_NEXT, 2, 2, (const uint32_t[]){X_NEXT, Y}, 12, 5);
    add_cpt(b, X, 3, 1, (const uint32_t[]){SITE}, 6, 3);
    add_cpt(b, SITE, 2, 0, NULL, 2, 7);
    add_cpt(b, X_NEXT, 3, 2, (const uint32_t[]){X, SITE}, 18, 2);
    add_cpt(b, Y, 2, 1, (const uint32_t[]){X}, 6, 9);
    return network(b);
}

static gbs_model *unrolled(const gbs_model *m, uint32_t n_slices)
{
    gbs_model *long_one = NULL;
    gbs_error err = {0};
    if (gbs_unroll(m, n_slices, &long_one, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return long_one;
}

/* The order is site, x[0], y[0], x[1], ...: pairs are in the order of x and y. */
static void by_hand(void **state)
{
    (void)state;
    static const uint32_t arity[7] = {2, 3, 2, 3, 2, 3, 2};
    static const char *const names[7] = {"site", "x[0]", "y[0]", "x[1]", "y[1]", "x[2]", "y[2]"};
    gbs_builder *b = new_builder(7, arity);
    name(b, 7, names);
    add_cpt(b, 0, 2, 0, NULL, 2, 7);
    add_cpt(b, 1, 3, 1, (const uint32_t[]){0}, 6, 3);
    add_cpt(b, 2, 2, 1, (const uint32_t[]){1}, 6, 9);
    for (uint32_t t = 1; t < 3; t++) {
        const uint32_t x = 1 + 2 * t;
        add_cpt(b, x, 3, 2, (const uint32_t[]){x - 2, 0}, 18, 2);
        add_cpt(b, x + 1, 2, 2, (const uint32_t[]){x, x - 1}, 12, 5);
    }
    gbs_model *expected = network(b);
    gbs_model *two = two_slices();
    gbs_model *m = unrolled(two, 3);
    assert_string_equal(gbs_model_digest(m), gbs_model_digest(expected));
    assert_true(gbs_model_is_directed(m) && gbs_model_is_normalized(m));
    for (uint32_t v = 0; v < 7; v++) {
        assert_string_equal(gbs_model_variable_name(m, v), names[v]);
    }
    assert_string_equal(gbs_model_state_label(m, 5, 2), "c");
    assert_null(gbs_model_state_label(m, 6, 1));
    assert_int_equal(m->factors.n_tables, 5); /* all slices share these tables */
    gbs_model *first = unrolled(two, 1);
    assert_int_equal(gbs_model_n_variables(first), 3);
    gbs_model_free(first);
    gbs_model_free(m);
    gbs_model_free(expected);
    gbs_model_free(two);
}

/* Computes P(umbrellas) of a hidden Markov model by the forward algorithm, and compares it with
 * an exact ln Z. */
static void forward(void **state)
{
    (void)state;
    enum { T = 40 };
    static const uint32_t arity[4] = {2, 2, 2, 2};
    static const char *const names[4] = {"rain", "umbrella", "rain'", "umbrella'"};
    static const double start[2] = {0.5, 0.5};
    static const double next[2][2] = {{0.7, 0.3}, {0.3, 0.7}};
    static const double seen[2][2] = {{0.8, 0.2}, {0.1, 0.9}};
    gbs_builder *b = new_builder(4, arity);
    gbs_evidence *e = NULL;
    double alpha[2] = {0};
    double log_p = 0;
    name(b, 4, names);
    const uint32_t parents[3] = {0, 0, 2};
    assert_int_equal(gbs_builder_add_cpt(b, 0, 0, NULL, 2, start, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_cpt(b, 1, 1, &parents[0], 4, seen[0], NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_cpt(b, 2, 1, &parents[1], 4, next[0], NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_cpt(b, 3, 1, &parents[2], 4, seen[0], NULL), GBS_OK);
    gbs_model *two = network(b);
    gbs_model *m = unrolled(two, T);
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    for (uint32_t t = 0; t < T; t++) {
        const uint32_t u = t % 3 != 1 && t % 7 != 0;
        double a[2];
        double sum = 0;
        for (int i = 0; i < 2; i++) {
            a[i] = t == 0 ? start[i] : alpha[0] * next[0][i] + alpha[1] * next[1][i];
            a[i] *= seen[i][u];
            sum += a[i];
        }
        alpha[0] = a[0] / sum;
        alpha[1] = a[1] / sum;
        log_p += log(sum);
        assert_int_equal(gbs_evidence_observe(e, 2 * t + 1, u, NULL), GBS_OK);
    }
    double log_z = 0;
    double p[2];
    const uint32_t last = 2 * (T - 1);
    assert_int_equal(gbs_exact_log_z(m, e, NULL, &log_z, NULL), GBS_OK);
    assert_true(fabs(log_z - log_p) < 1e-10);
    assert_int_equal(gbs_exact_joint(m, e, NULL, 1, &last, p, NULL), GBS_OK);
    assert_true(fabs(p[1] - alpha[1]) < 1e-12);
    gbs_evidence_free(e);
    gbs_model_free(m);
    gbs_model_free(two);
}

static void refuse(const gbs_model *m, uint32_t n_slices, gbs_status status, const char *part)
{
    gbs_model *made = NULL;
    REFUSED(status, gbs_unroll(m, n_slices, &made, &err), part);
    assert_null(made);
}

/* Checks the refusal of a network of variables with 2 states. @param parent the parent of each
 * variable, or -1. */
static void refuse_network(uint32_t n, const char *const *names, const int *parent,
                           const char *part)
{
    static const uint32_t arity[3] = {2, 2, 2};
    gbs_builder *b = new_builder(n, arity);
    name(b, n, names);
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t of = (uint32_t)parent[v];
        add_cpt(b, v, 2, parent[v] < 0 ? 0 : 1, &of, parent[v] < 0 ? 2 : 4, 3);
    }
    gbs_model *m = network(b);
    refuse(m, 2, GBS_ERR_ARGUMENT, part);
    gbs_model_free(m);
}

static void refusals(void **state)
{
    (void)state;
    gbs_model *m = two_slices();
    refuse(m, 0, GBS_ERR_ARGUMENT, "0 slices, expected 1 or more");
    refuse(m, UINT32_MAX, GBS_ERR_LIMIT, "variables, more than the 4294967280 possible");
    gbs_set_memory_limit((uint64_t)1 << 30);
    refuse(m, 100000000, GBS_ERR_LIMIT, "100000000 slices take ");
    gbs_set_memory_limit(0);
    gbs_model_free(m);
    refuse_network(2, (const char *const[]){"a", "b"}, (const int[]){-1, 0},
                   "found no network of two slices");
    refuse_network(2, (const char *const[]){"a", "b'"}, (const int[]){-1, 0}, "b");
    refuse_network(2, (const char *const[]){"a", "a'"}, (const int[]){1, -1},
                   "a', a parent of a, is of a later slice");
    refuse_network(3, (const char *const[]){"a", "a'", "z"}, (const int[]){-1, 0, 0},
                   "a, a parent of z, is in time");
    refuse_network(3, (const char *const[]){"a", "a'", "a''"}, (const int[]){-1, 0, 1},
                   "expected two slices");
    refuse_network(3, (const char *const[]){"a", "a'", "a[1]"}, (const int[]){-1, 0, -1}, "a[1]");
    static const uint32_t arity[2] = {2, 3};
    static const char *const names[2] = {"a", "a'"};
    gbs_builder *b = new_builder(2, arity);
    name(b, 2, names);
    add_cpt(b, 0, 2, 0, NULL, 2, 3);
    add_cpt(b, 1, 3, 0, NULL, 3, 3);
    m = network(b);
    refuse(m, 2, GBS_ERR_ARGUMENT, "a has 2 states, but a' has 3");
    gbs_model_free(m);
    b = new_builder(2, (const uint32_t[]){2, 2});
    assert_int_equal(gbs_builder_add_ising(b, 0, 1, 1, NULL), GBS_OK);
    m = build(b);
    gbs_builder_free(b);
    refuse(m, 2, GBS_ERR_ARGUMENT, "no Bayesian network");
    gbs_model_free(m);
}

/* x' and y' have noisy factors; y' has the parents x' and y and a leak. */
static gbs_model *noisy_slices(uint32_t n_slices)
{
    static const char *const two[4] = {"x", "y", "x'", "y'"};
    static const double q[3] = {0.1, 0.3, 0.6};
    const uint32_t n = n_slices == 0 ? 4 : 2 * n_slices;
    uint32_t arity[8];
    gbs_builder *b = NULL;
    for (uint32_t v = 0; v < n; v++) {
        arity[v] = 2;
    }
    b = new_builder(n, arity);
    if (n_slices == 0) {
        name(b, 4, two);
    }
    add_cpt(b, 0, 2, 0, NULL, 2, 3);
    add_cpt(b, 1, 2, 0, NULL, 2, 5);
    for (uint32_t v = 2; v < n; v += 2) {
        const uint32_t parent[2] = {v, v - 1};
        assert_int_equal(gbs_builder_add_noisy_and(b, v, 1, (const uint32_t[]){v - 2}, q, 0, NULL),
                         GBS_OK);
        assert_int_equal(gbs_builder_add_noisy_or(b, v + 1, 2, parent, q + 1, 0.2, NULL), GBS_OK);
    }
    return network(b);
}

static void noisy_nodes(void **state)
{
    (void)state;
    gbs_model *two = noisy_slices(0);
    gbs_model *expected = noisy_slices(4);
    gbs_model *m = unrolled(two, 4);
    assert_string_equal(gbs_model_digest(m), gbs_model_digest(expected));
    assert_int_equal(gbs_model_factor(m, 7, NULL, NULL), GBS_FACTOR_NOISY_OR);
    assert_int_equal(m->factors.n_tables, 4);
    gbs_model_free(m);
    gbs_model_free(expected);
    gbs_model_free(two);
}

static void labels_differ(void **state)
{
    (void)state;
    static const char *const names[2] = {"a", "a'"};
    static const char *const states[3] = {"no", "yes", "no"};
    for (int labelled = 1; labelled <= 2; labelled++) {
        gbs_builder *b = new_builder(2, (const uint32_t[]){2, 2});
        name(b, 2, names);
        assert_int_equal(gbs_builder_label_states(b, 0, states, NULL), GBS_OK);
        if (labelled == 2) {
            assert_int_equal(gbs_builder_label_states(b, 1, states + 1, NULL), GBS_OK);
        }
        add_cpt(b, 0, 2, 0, NULL, 2, 3);
        add_cpt(b, 1, 2, 0, NULL, 2, 3);
        gbs_model *m = network(b);
        refuse(m, 2, GBS_ERR_ARGUMENT,
               labelled == 2 ? "state 0 is 'no' in a, but 'yes' in a'"
                             : "state 0 is 'no' in a, but '' in a'");
        gbs_model_free(m);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    gbs_model *two = two_slices();
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; n++) {
        gbs_model *m = NULL;
        gbsi_alloc_fail_after(n);
        status = gbs_unroll(two, 3, &m, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        gbs_model_free(m);
    }
    gbs_model_free(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),       cmocka_unit_test(forward),
        cmocka_unit_test(refusals),      cmocka_unit_test(noisy_nodes),
        cmocka_unit_test(labels_differ), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
