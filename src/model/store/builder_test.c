/* SPDX-License-Identifier: Apache-2.0 */
#include "store/test_builder.h"

#include "base/memory.h"
#include "base/status.h"

static void test_refused_variables(void **unused)
{
    (void)unused;
    const uint32_t none = 0;
    const uint32_t many = 65536;
    const uint32_t most = 65535;
    uint32_t first = 7;
    gbs_builder *b = new_builder(5, mixed);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_variables(b, 1, &none, &first, &err),
            "variable 5 has 0 states");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_variables(b, 1, &many, &first, &err),
            "65536 states, expected 1 to 65535");
    REFUSED(GBS_ERR_LIMIT, gbs_builder_add_variables(b, GBS_MAX_VARIABLES - 4, &most, NULL, &err),
            "4294967281 variables");
    assert_int_equal(first, 7);
    assert_int_equal(gbs_builder_add_variables(b, 1, &most, &first, NULL), GBS_OK);
    assert_int_equal(first, 5);
    assert_int_equal(gbs_builder_add_variables(b, 0, NULL, &first, NULL), GBS_OK);
    assert_int_equal(first, 6);
    gbs_model *m = build(b);
    assert_int_equal(gbs_model_n_variables(m), 6);
    assert_int_equal(gbs_model_arity(m, 5), 65535);
    assert_int_equal(gbs_model_state_offsets(m)[6], 10 + 65535);
    gbs_model_free(m);
    gbs_builder_free(b);
}

static void test_refused_tables(void **unused)
{
    (void)unused;
    const double logw[8] = {0, 1, 2, 3, 4, 5, 6, -INFINITY};
    const double bad[3] = {0, (double)NAN, INFINITY};
    const uint32_t scope[4] = {0, 1, 2, 3};
    const uint32_t twice[3] = {0, 1, 0};
    const uint32_t wrong[2] = {0, 5};
    uint32_t seven = 0;
    uint32_t eight = 0;
    uint32_t one = 0;
    gbs_builder *b = new_builder(5, mixed);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table(b, 3, bad, &one, &err),
            "entry 1 is not a number");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table(b, 1, bad + 2, &one, &err),
            "entry 0 is plus infinity");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table(b, 0, bad, &one, &err), "no entries");
    static const double large[] = {0.0, -1e281, 1e308};
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table(b, 2, large, &one, &err),
            "entry 1 is -1e+281, expected a log-weight of at most 1e+280 in size");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table(b, 1, large + 2, &one, &err),
            "entry 0 is 1e+308");
    assert_int_equal(gbs_builder_add_table(b, 7, logw, &seven, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 8, logw, &eight, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 1, logw + 7, &one, NULL), GBS_OK);
    for (unsigned i = 0; i < 4; ++i) {
        assert_int_equal(gbs_builder_add_field(b, 0, 1.0, NULL), GBS_OK);
    }
    gbs_error exact = {0};
    assert_int_equal(gbs_builder_add_table_factor(b, 3, scope, seven, &exact), GBS_ERR_ARGUMENT);
    assert_string_equal(exact.message, "factor 4 has 7 entries, its scope (2 x 2 x 2) needs 8");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table_factor(b, 3, twice, eight, &err),
            "variable 0 is twice");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table_factor(b, 2, wrong, eight, &err),
            "variable 5 in its scope, there are 5");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table_factor(b, 3, scope, 3, &err),
            "table 3, there are 3");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table_factor(b, 0, NULL, eight, &err),
            "its scope () needs 1");
    assert_int_equal(gbs_builder_add_table_factor(b, 3, scope, eight, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 0, NULL, one, NULL), GBS_OK);
    gbs_model *m = build(b);
    assert_int_equal(gbs_model_n_factors(m), 6);
    gbs_model_free(m);
    gbs_builder_free(b);
}

static void test_overflowing_table(void **unused)
{
    (void)unused;
    uint32_t arity[20];
    uint32_t scope[20];
    uint32_t table = 0;
    const double zero = 0.0;
    for (uint32_t v = 0; v < 20; ++v) {
        arity[v] = 65535;
        scope[v] = v;
    }
    gbs_builder *b = new_builder(20, arity);
    assert_int_equal(gbs_builder_add_table(b, 1, &zero, &table, NULL), GBS_OK);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_table_factor(b, 20, scope, table, &err),
            "more than memory has bytes");
    gbs_builder_free(b);
}

static void test_refused_spins(void **unused)
{
    (void)unused;
    uint32_t scope[3] = {0, 1, 3};
    gbs_builder *b = new_builder(5, mixed);
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_field(b, 3, 1.0, &err), "3 states, a field needs 2");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_field(b, 0, -INFINITY, &err), "expected a finite");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_ising(b, 0, 0, 1.0, &err), "twice");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_ising(b, 0, 1, (double)NAN, &err), "nan");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_spin(b, 3, scope, 1.0, &err), "variable 3 has 3");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_spin(b, 0, scope, 1.0, &err), "1 variable or more");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_potts(b, 0, 3, 1.0, &err), "2 and 3 states");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_potts(b, 0, 1, INFINITY, &err), "inf");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_field(b, 0, -1e281, &err),
            "field -1e+281, expected at most 1e+280 in size");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_potts(b, 0, 1, 1e281, &err), "coupling 1e+281");
    assert_int_equal(gbs_builder_add_potts(b, 0, 1, -INFINITY, NULL), GBS_OK);
    gbs_model *m = build(b);
    assert_int_equal(gbs_model_n_factors(m), 1);
    gbs_model_free(m);
    gbs_builder_free(b);
}

static void test_refused_logical(void **unused)
{
    (void)unused;
    const uint32_t scope[3] = {0, 3, 1};
    const uint32_t state[3] = {1, 2, 0};
    const uint32_t high[3] = {1, 3, 0};
    gbs_builder *b = new_builder(5, mixed);
    static const int unknown[] = {-1, 5, 6, 10, 11, 14, 63, 69, 256};
    for (unsigned i = 0; i < sizeof unknown / sizeof *unknown; ++i) {
        const gbs_logical_function f = (gbs_logical_function)unknown[i];
        REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_logical(b, f, 3, scope, state, 1.0, &err),
                "no logical function");
    }
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_logical(b, GBS_LOGICAL_OR, 3, scope, high, 1.0, &err),
            "literal 1 is variable 3 in state 3, it has 3 states");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_logical(b, GBS_LOGICAL_OR, 0, NULL, NULL, 1.0, &err),
            "needs a literal");
    for (int f = GBS_LOGICAL_AT_LEAST; f <= GBS_LOGICAL_EXACTLY; ++f) {
        const gbs_logical_function function = (gbs_logical_function)f;
        const uint32_t bad = f == GBS_LOGICAL_AT_LEAST ? 0 : f == GBS_LOGICAL_AT_MOST ? 3 : 4;
        REFUSED(GBS_ERR_ARGUMENT,
                gbs_builder_add_cardinality(b, function, bad, 3, scope, state, 1.0, &err),
                "of 3 literals, expected ");
        REFUSED(GBS_ERR_LIMIT,
                gbs_builder_add_cardinality(b, function, 65536, 3, scope, state, 1.0, &err),
                "a cardinality of 65536, expected at most 65535");
        REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_logical(b, function, 3, scope, state, 1.0, &err),
                "takes a number: use gbs_builder_add_cardinality()");
    }
    REFUSED(GBS_ERR_ARGUMENT,
            gbs_builder_add_cardinality(b, GBS_LOGICAL_OR, 1, 3, scope, state, 1.0, &err),
            "takes no number: use gbs_builder_add_logical()");
    static const gbs_logical_function soft[] = {GBS_LOGICAL_IMPLY_NATURAL, GBS_LOGICAL_LINEAR,
                                                GBS_LOGICAL_RATIO};
    for (unsigned i = 0; i < 3; ++i) {
        REFUSED(GBS_ERR_ARGUMENT,
                gbs_builder_add_logical(b, soft[i], 3, scope, state, INFINITY, &err),
                "cannot be hard");
    }
    REFUSED(GBS_ERR_ARGUMENT,
            gbs_builder_add_logical(b, GBS_LOGICAL_OR, 3, scope, state, -INFINITY, &err),
            "weight -inf");
    REFUSED(GBS_ERR_ARGUMENT,
            gbs_builder_add_logical(b, GBS_LOGICAL_LINEAR, 3, scope, state, 1e308, &err),
            "weight 1e+308");
    REFUSED(GBS_ERR_ARGUMENT,
            gbs_builder_add_logical(b, GBS_LOGICAL_LINEAR, 3, scope, state, 0.75e280, &err),
            "log-weight 1.5e+280, expected at most 1e+280 in size");
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_OR, 3, scope, state, INFINITY, NULL),
                     GBS_OK);
    gbs_model *m = build(b);
    assert_int_equal(gbs_model_n_factors(m), 1);
    gbs_model_free(m);
    gbs_builder_free(b);
}

/* Tests a scope that is long enough for stamps, twice, and again after variables were added. */
static void test_long_scope(void **unused)
{
    (void)unused;
    enum { N = 3000 };
    static uint32_t arity[N];
    static uint32_t scope[N];
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2;
        scope[v] = v;
    }
    gbs_builder *b = new_builder(N, arity);
    assert_int_equal(gbs_builder_add_spin(b, N, scope, 1.0, NULL), GBS_OK);
    scope[N - 1] = 17;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_spin(b, N, scope, 1.0, &err), "variable 17 is twice");
    assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, NULL), GBS_OK);
    scope[N - 1] = 2 * N - 1;
    assert_int_equal(gbs_builder_add_spin(b, N, scope, 1.0, NULL), GBS_OK);
    gbs_builder_free(b);
}

/* ---- values -------------------------------------------------------------------------------- */

/* Computes phi from the literals, as the file formats define it. */
static double phi_of_literals(int function, uint32_t m, const int *l)
{
    const int head = l[m - 1];
    int any = 0;
    int all = 1;
    int body = 1;
    int sum = m == 1 ? head : 0;
    for (uint32_t i = 0; i < m; ++i) {
        any |= l[i];
        all &= l[i];
        body &= i + 1 < m ? l[i] : 1;
        sum += i + 1 < m ? !l[i] || head : 0;
    }
    switch (function) {
    case 0:
        return !body ? 0 : head ? 1 : -1;
    case 1:
        return any ? 1 : -1;
    case 2:
    case 4:
        return all ? 1 : -1;
    case 3:
        return all || !any ? 1 : -1;
    case 7:
        return sum;
    case 8:
        return sum == 0 ? 0 : sum == 1 ? 1 : sum == 2 ? 1.5849625007211562 : 2;
    case 9:
        return sum > 0 ? 1 : 0;
    case 12:
        return all ? 1 : 0;
    case 13:
        return body && !head ? 0 : 1;
    default:
        return any ? 1 : 0;
    }
}

static void check_function(int function, uint32_t m, double weight)
{
    const uint32_t arity[4] = {2, 3, 2, 2};
    const uint32_t scope[4] = {1, 3, 0, 2};
    const uint32_t state[4] = {2, 0, 1, 1};
    uint32_t x[4] = {0};
    gbs_builder *b = new_builder(4, arity);
    assert_int_equal(
        gbs_builder_add_logical(b, (gbs_logical_function)function, m, scope, state, weight, NULL),
        GBS_OK);
    gbs_model *model = build(b);
    do {
        int l[4];
        for (uint32_t i = 0; i < m; ++i) {
            l[i] = x[scope[i]] == state[i];
        }
        const double phi = phi_of_literals(function, m, l);
        const double got = gbs_model_log_density(model, x);
        if (weight == INFINITY) {
            assert_true(got == (phi == 1.0 ? 0.0 : -INFINITY));
        } else {
            assert_true(fabs(got - weight * phi) < 1e-14);
        }
    } while (next_assignment(4, arity, x));
    gbs_model_free(model);
    gbs_builder_free(b);
}

static void test_logical_values(void **unused)
{
    (void)unused;
    static const int function[] = {0, 7, 8, 1, 2, 3, 4, 9, 12, 13, 64};
    for (unsigned i = 0; i < 11; ++i) {
        for (uint32_t m = 1; m <= 4; ++m) {
            check_function(function[i], m, -0.75);
            if (i >= 3) {
                check_function(function[i], m, INFINITY);
            }
        }
    }
}

/* Compares with the polynomial itself, over spins and over bits. */
static void test_quadratic(void **unused)
{
    (void)unused;
    static const uint32_t three[3] = {2, 2, 2};
    const double linear[3] = {0.5, 0, -1.25};
    const gbs_pair pair[4] = {{0, 1, 2000.5}, {GBS_NO_PAIR, 0, 7}, {2, 0, -0.75}, {1, 2, 0}};
    gbs_quadratic q = {.size = sizeof q,
                       .scale = -0.5,
                       .constant = 3,
                       .linear = linear,
                       .pair = pair,
                       .n_pairs = 4,
                       .n_variables = 3};
    for (q.bits = 0; q.bits < 2; ++q.bits) {
        gbs_builder *b = new_builder(3, three);
        assert_int_equal(gbs_builder_add_quadratic(b, &q, NULL), GBS_OK);
        gbs_model *m = build(b);
        for (uint32_t k = 0; k < 8; ++k) {
            const uint32_t state[3] = {k >> 2, k >> 1 & 1, k & 1};
            double x[3];
            for (int v = 0; v < 3; ++v) {
                x[v] = q.bits ? state[v] : 2.0 * state[v] - 1.0;
            }
            const double p =
                3 + 0.5 * x[0] - 1.25 * x[2] + 2000.5 * x[0] * x[1] - 0.75 * x[2] * x[0];
            assert_true(gbs_model_log_density(m, state) == -0.5 * p);
        }
        gbs_model_free(m);
        gbs_builder_free(b);
    }
    gbs_builder *b = new_builder(3, three);
    const gbs_pair outside = {1, 3, 1};
    const gbs_pair same = {1, 1, 1};
    q.pair = &outside;
    q.n_pairs = 1;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_quadratic(b, &q, &err),
            "pair 0: variable 3, expected 0 to 2");
    q.pair = &same;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_quadratic(b, &q, &err), "twice");
    q.n_pairs = 0;
    q.scale = (double)NAN;
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_quadratic(b, &q, &err), "not a number");
    gbs_builder_free(b);
}

static void test_values(void **unused)
{
    (void)unused;
    const double logw[6] = {0, 1, 2, 10, 11, 12};
    const uint32_t scope[2] = {1, 3};
    const uint32_t three[3] = {0, 1, 2};
    uint32_t table = 0;
    gbs_builder *b = new_builder(5, mixed);
    assert_int_equal(gbs_builder_add_table(b, 6, logw, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 0, 100.0, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_ising(b, 0, 1, 1000.0, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_potts(b, 1, 2, 10000.0, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 3, three, 100000.0, NULL), GBS_OK);
    gbs_model *m = build(b);
    const uint32_t x[5] = {0, 1, 1, 2, 0};
    assert_true(gbs_model_log_density(m, x) == 12.0 - 100.0 - 1000.0 + 10000.0 - 100000.0);
    const uint32_t y[5] = {0, 0, 1, 1, 0};
    assert_true(gbs_model_log_density(m, y) == 1.0 - 100.0 + 1000.0 + 100000.0);
    uint32_t n = 0;
    const uint32_t *got = NULL;
    assert_int_equal(gbs_model_factor(m, 4, &n, &got), GBS_FACTOR_SPIN);
    assert_int_equal(n, 3);
    assert_memory_equal(got, three, sizeof three);
    assert_true(gbs_model_bytes(m) > 200);
    gbs_model_free(m);
    gbs_builder_free(b);
}

/* ---- memory -------------------------------------------------------------------------------- */

static gbs_status build_everything(gbs_model **model, gbs_error *err)
{
    static const char *const label[3] = {"x", "y", "z"};
    const double logw[100] = {0};
    const uint32_t scope[10] = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    const uint32_t state[10] = {0};
    uint32_t arity[15] = {2, 2, 2, 3, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    uint32_t table = 0;
    const uint32_t first = 0;
    gbs_builder *b = NULL;
    gbs_status status = GBS_OK;
    GBSI_TRY(gbs_builder_new(&b, err));
    GBSI_TRY(gbs_builder_add_variables(b, 5, arity, NULL, err));
    GBSI_TRY(gbs_builder_name_variable(b, 1, "one", err));
    GBSI_TRY(gbs_builder_label_states(b, 3, label, err));
    GBSI_TRY(gbs_builder_add_variables(b, 10, arity + 5, NULL, err));
    GBSI_TRY(gbs_builder_add_table(b, 2, logw, &table, err));
    GBSI_TRY(gbs_builder_add_table_factor(b, 1, &first, table, err));
    GBSI_TRY(gbs_builder_add_spin(b, 10, scope, 1.0, err));
    GBSI_TRY(gbs_builder_add_logical(b, GBS_LOGICAL_OR, 10, scope, state, 1.0, err));
    GBSI_TRY(gbs_builder_build(b, model, err));

cleanup:
    gbs_builder_free(b);
    return status;
}

static void test_no_memory(void **unused)
{
    (void)unused;
    for (uint64_t n = 0;; ++n) {
        gbs_model *m = NULL;
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        const gbs_status status = build_everything(&m, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_int_equal(err.status, status);
        assert_true((m != NULL) == (status == GBS_OK));
        gbs_model_free(m);
        if (status == GBS_OK) {
            assert_true(n > 20);
            break;
        }
        assert_int_equal(status, GBS_ERR_MEMORY);
    }
}

/* A build that ran out of memory can be repeated. */
static void test_build_again(void **unused)
{
    (void)unused;
    uint32_t arity[2] = {2, 2};
    const uint32_t scope[2] = {0, 1};
    uint32_t v = 0;
    for (uint64_t n = 0;; ++n) {
        gbs_model *m = NULL;
        gbs_builder *b = new_builder(2, arity);
        assert_int_equal(gbs_builder_name_variable(b, 1, "one", NULL), GBS_OK);
        gbs_builder_set_directed(b);
        add_arc_table(b, 1, scope, 2);
        add_arc_table(b, 2, scope, 4);
        gbsi_alloc_fail_after(n);
        const gbs_status status = gbs_builder_build(b, &m, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        if (status == GBS_ERR_MEMORY) {
            m = build(b);
        }
        assert_int_equal(gbs_model_find_variable(m, "one", &v, NULL), GBS_OK);
        assert_int_equal(gbs_model_is_directed(m), 1);
        gbs_model_free(m);
        gbs_builder_free(b);
        if (status == GBS_OK) {
            break;
        }
    }
}

/* A table of log-weights by the number of true literals, with forbidden numbers at each end. */
static void test_count_table(void **unused)
{
    (void)unused;
    const uint32_t arity[4] = {2, 3, 2, 3};
    const uint32_t scope[4] = {3, 0, 1, 2};
    const uint32_t state[4] = {2, 0, 1, 1};
    const uint32_t wrong[4] = {2, 2, 1, 1};
    const double logw[5] = {-INFINITY, 0.5, 0.5, -1.25, -INFINITY};
    const double gap[5] = {0.0, 1.0, -INFINITY, 1.0, 0.0};
    const double none[5] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    const double nan[5] = {0.0, 1.0, NAN, 1.0, 0.0};
    gbs_builder *b = new_builder(4, arity);
    REFUSED(GBS_ERR_UNSUPPORTED, gbs_builder_add_count_table(b, 4, scope, state, gap, &err),
            "1 and 3 true literals are possible and 2 are not");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_count_table(b, 4, scope, state, none, &err),
            "every number of true literals is forbidden");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_count_table(b, 4, scope, state, nan, &err),
            "log-weight nan of 2 true literals");
    REFUSED(GBS_ERR_ARGUMENT, gbs_builder_add_count_table(b, 4, scope, wrong, logw, &err),
            "it has 2 states");
    assert_int_equal(gbs_builder_add_count_table(b, 4, scope, state, logw, NULL), GBS_OK);
    gbs_model *m = build(b);
    assert_int_equal(gbs_model_n_factors(m), 4); /* a constant, at least 1, one step, at most 3 */
    uint32_t x[4] = {0};
    do {
        uint32_t n_true = 0;
        for (uint32_t i = 0; i < 4; ++i) {
            n_true += x[scope[i]] == state[i];
        }
        const double got = gbs_model_log_density(m, x);
        assert_true(got == logw[n_true] || fabs(got - logw[n_true]) < 1e-15);
    } while (next_assignment(4, arity, x));
    gbs_model_free(m);
    gbs_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count_table),    cmocka_unit_test(test_refused_variables),
        cmocka_unit_test(test_refused_tables), cmocka_unit_test(test_overflowing_table),
        cmocka_unit_test(test_refused_spins),  cmocka_unit_test(test_refused_logical),
        cmocka_unit_test(test_long_scope),     cmocka_unit_test(test_logical_values),
        cmocka_unit_test(test_quadratic),      cmocka_unit_test(test_values),
        cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_build_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
