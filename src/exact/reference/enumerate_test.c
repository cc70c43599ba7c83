/* SPDX-License-Identifier: Apache-2.0 */
/* Compares enumeration with a plain loop over the user's model in long double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "reference/enumerate.h"
#include "reference/testing.h"

/* ---- the plain loop ---------------------------------------------------------------------- */

typedef struct naive {
    long double p[TEST_MAX_STATES]; /* like gbs_model_state_offsets() */
    long double log_z;              /* minus infinity if no state has weight */
} naive;

static bool next_state(const gbs_model *model, uint32_t *x)
{
    for (uint32_t v = gbs_model_n_variables(model); v > 0; v--) {
        if (++x[v - 1] < gbs_model_arity(model, v - 1)) {
            return true;
        }
        x[v - 1] = 0;
    }
    return false;
}

static void sum_naively(const gbs_model *model, const gbs_evidence *evidence,
                        const double *likelihood, uint32_t soft, naive *out)
{
    const size_t *offset = gbs_model_state_offsets(model);
    const uint32_t n = gbs_model_n_variables(model);
    uint32_t x[TEST_MAX_VARIABLES] = {0};
    long double total = 0.0L;
    *out = (naive){0};
    do {
        long double w = expl((long double)gbs_model_log_density(model, x));
        for (uint32_t v = 0; v < n; v++) {
            uint32_t seen = 0;
            if (gbs_evidence_state(evidence, v, &seen) && seen != x[v]) {
                w = 0.0L;
            }
        }
        w *= likelihood[x[soft]];
        total += w;
        for (uint32_t v = 0; v < n; v++) {
            out->p[offset[v] + x[v]] += w;
        }
    } while (next_state(model, x));
    for (size_t i = 0; i < offset[n]; i++) {
        out->p[i] /= total;
    }
    out->log_z = logl(total);
}

static void assert_close(long double value, long double expected, long double relative)
{
    const long double off = fabsl(value - expected);
    if (!(off <= relative * fabsl(expected))) {
        fail_msg("%.20Lg instead of %.20Lg", value, expected);
    }
}

/* Enumerated marginals, back in the user's numbering. */
static void assert_marginals(const gbsi_conditioned *c, const naive *expected)
{
    const size_t *offset = c->model->state_offset;
    double p[TEST_MAX_STATES];
    double log_z = 0.0;
    test_ok(gbsi_enumerate(c, NULL, p, &log_z, NULL));
    assert_true(fabsl(log_z - expected->log_z) <= 1e-13L * (1 + fabsl(expected->log_z)));
    long double seen[TEST_MAX_STATES] = {0};
    for (uint32_t v = 0; v < c->n_variables; v++) {
        double sum = 0.0;
        for (size_t i = c->state_offset[v]; i < c->state_offset[v + 1]; i++) {
            const uint32_t a = gbsi_conditioned_states(c, v)[i - c->state_offset[v]];
            seen[offset[c->user_variable[v]] + a] = p[i];
            sum += p[i];
        }
        assert_close(sum, 1.0L, 1e-15L);
    }
    for (uint32_t u = 0; u < c->model->n_variables; u++) {
        if (c->fixed_state[u] != GBSI_NONE) {
            seen[offset[u] + c->fixed_state[u]] = 1.0L;
        }
        for (size_t i = offset[u]; i < offset[u + 1]; i++) {
            assert_close(seen[i], expected->p[i], 1e-13L);
        }
    }
}

/* Entry by entry from the log density, whose values the condition tests check. */
static void assert_joint(const gbsi_conditioned *c, long double log_z)
{
    const uint64_t n_states = gbsi_n_states(c, NULL);
    double *joint = malloc((size_t)n_states * sizeof *joint);
    assert_non_null(joint);
    test_ok(gbsi_enumerate_joint(c, joint, NULL));
    for (uint64_t i = 0; i < n_states; i++) {
        uint32_t x[TEST_MAX_VARIABLES] = {0};
        uint64_t rest = i;
        for (uint32_t v = c->n_variables; v > 0; v--) {
            x[v - 1] = (uint32_t)(rest % c->arity[v - 1]);
            rest /= c->arity[v - 1];
        }
        const long double log_p = (long double)gbsi_conditioned_log_density(c, x) - log_z;
        assert_close(joint[i], expl(log_p), 1e-13L);
    }
    free(joint);
}

/* Whether the support is connected: grows a set from the first state of positive weight until no
 * state is added. */
static bool connected_naively(const gbsi_conditioned *c, const double *joint, uint64_t n_states)
{
    uint8_t *reached = calloc((size_t)n_states, 1);
    assert_non_null(reached);
    uint64_t first = 0;
    while (joint[first] <= 0.0) {
        first++;
    }
    reached[first] = 1;
    for (bool grown = true; grown;) {
        grown = false;
        for (uint64_t i = 0; i < n_states; i++) {
            for (uint64_t j = 0; j < n_states && joint[i] > 0.0 && !reached[i]; j++) {
                uint64_t a = i;
                uint64_t b = j;
                uint32_t n_differ = 0;
                for (uint32_t v = c->n_variables; v > 0; v--) {
                    n_differ += a % c->arity[v - 1] != b % c->arity[v - 1];
                    a /= c->arity[v - 1];
                    b /= c->arity[v - 1];
                }
                if (n_differ == 1 && reached[j]) {
                    reached[i] = 1;
                    grown = true;
                }
            }
        }
    }
    bool all = true;
    for (uint64_t i = 0; i < n_states; i++) {
        all = all && (joint[i] <= 0.0 || reached[i]);
    }
    free(reached);
    return all;
}

static bool assert_connected(const gbsi_conditioned *c)
{
    const uint64_t n_states = gbsi_n_states(c, NULL);
    double *joint = malloc((size_t)n_states * sizeof *joint);
    assert_non_null(joint);
    test_ok(gbsi_enumerate_joint(c, joint, NULL));
    bool connected = false;
    test_ok(gbsi_support_connected(c, NULL, &connected, NULL));
    assert_int_equal(connected, connected_naively(c, joint, n_states));
    free(joint);
    return connected;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void random_models(void **state)
{
    (void)state;
    test_draws_restart();
    uint32_t n_possible = 0;
    uint32_t n_apart = 0;
    for (uint32_t round = 0; round < 1500; round++) {
        gbs_model *model = test_random_model();
        gbs_evidence *evidence = NULL;
        gbsi_conditioned *c = NULL;
        double likelihood[5] = {1.0, 1.0, 1.0, 1.0, 1.0};
        const uint32_t n = gbs_model_n_variables(model);
        const uint32_t soft = test_below(n);
        test_ok(gbs_evidence_new(model, &evidence, NULL));
        if (test_below(2) == 0) {
            const uint32_t v = test_below(n);
            test_ok(gbs_evidence_observe(evidence, v, test_below(gbs_model_arity(model, v)), NULL));
        }
        if (test_below(2) == 0) {
            for (uint32_t a = 0; a < 4; a++) {
                likelihood[a] = test_below(4) / 3.0;
            }
            likelihood[0] += 0.01; /* not all zero */
            test_ok(gbs_evidence_likelihood(evidence, soft, likelihood, NULL));
        }
        naive expected;
        sum_naively(model, evidence, likelihood, soft, &expected);
        const gbs_status status = gbsi_condition(model, evidence, &c, NULL);
        if (isinf(expected.log_z)) {
            double p[TEST_MAX_STATES];
            bool connected = false;
            assert_true(status == GBS_ERR_IMPOSSIBLE ||
                        gbsi_enumerate(c, NULL, p, NULL, NULL) == GBS_ERR_IMPOSSIBLE);
            assert_true(status == GBS_ERR_IMPOSSIBLE ||
                        gbsi_support_connected(c, NULL, &connected, NULL) == GBS_ERR_IMPOSSIBLE);
        } else {
            test_ok(status);
            assert_marginals(c, &expected);
            assert_joint(c, expected.log_z);
            n_apart += !assert_connected(c);
            n_possible++;
        }
        gbsi_conditioned_free(c);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n_possible > 1000 && n_possible < 1500); /* all three outcomes were met */
    assert_true(n_apart > 10);
}

/* A builder with n binary variables. */
static gbs_builder *binary(uint32_t n)
{
    gbs_builder *b = NULL;
    const uint32_t two = 2;
    test_ok(gbs_builder_new(&b, NULL));
    for (uint32_t v = 0; v < n; v++) {
        test_ok(gbs_builder_add_variables(b, 1, &two, NULL, NULL));
    }
    return b;
}

static gbsi_conditioned *finish(gbs_builder *b, gbs_model **model)
{
    gbsi_conditioned *c = NULL;
    test_ok(gbs_builder_build(b, model, NULL));
    gbs_builder_free(b);
    test_ok(gbsi_condition(*model, NULL, &c, NULL));
    return c;
}

/* A chain with couplings J_i and no fields: Z = 2 prod 2 cosh J_i, all marginals 1/2. */
static void chain_in_closed_form(void **state)
{
    (void)state;
    gbs_builder *b = binary(18);
    long double log_z = logl(2.0L);
    for (uint32_t v = 1; v < 18; v++) {
        const double coupling = v % 3 == 0 ? -30.0 : 0.1 * v;
        test_ok(gbs_builder_add_ising(b, v, v - 1, coupling, NULL));
        log_z += logl(2.0L * coshl((long double)coupling));
    }
    gbs_model *model = NULL;
    gbsi_conditioned *c = finish(b, &model);
    double p[36];
    double found = 0.0;
    test_ok(gbsi_enumerate(c, NULL, p, &found, NULL));
    assert_close(found, log_z, 1e-15L);
    for (size_t i = 0; i < 36; i++) {
        assert_close(p[i], 0.5L, 1e-14L);
    }
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

/* Probabilities far below the rounding of the large ones keep their digits. */
static void tiny_probabilities(void **state)
{
    (void)state;
    const double h[] = {0.0, 20.0, -150.0, 0.25, 300.0, -1.0};
    gbs_builder *b = binary(6);
    for (uint32_t v = 0; v < 6; v++) {
        test_ok(gbs_builder_add_field(b, v, h[v], NULL));
    }
    gbs_model *model = NULL;
    gbsi_conditioned *c = finish(b, &model);
    double p[12];
    test_ok(gbsi_enumerate(c, NULL, p, NULL, NULL));
    for (uint32_t v = 0; v < 6; v++) {
        assert_close(p[2 * v], 1.0L / (1.0L + expl(2.0L * h[v])), 1e-13L);
        assert_close(p[2 * v + 1], 1.0L / (1.0L + expl(-2.0L * h[v])), 1e-13L);
    }
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

static void add_differ(gbs_builder *b, uint32_t i, uint32_t j)
{
    uint32_t table = 0;
    const double logw[] = {-INFINITY, 0.0, 0.0, -INFINITY};
    test_ok(gbs_builder_add_table(b, 4, logw, &table, NULL));
    test_ok(gbs_builder_add_table_factor(b, 2, (uint32_t[]){i, j}, table, NULL));
}

/* Three variables that all differ from each other have no two states: propagation cannot see it. */
static void impossible_model(void **state)
{
    (void)state;
    gbs_builder *b = binary(3);
    add_differ(b, 0, 1);
    add_differ(b, 1, 2);
    add_differ(b, 2, 0);
    gbs_model *model = NULL;
    gbsi_conditioned *c = finish(b, &model);
    double p[8] = {7.0};
    double log_z = 7.0;
    bool connected = true;
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbsi_enumerate(c, NULL, p, &log_z, &err), GBS_ERR_IMPOSSIBLE);
    assert_int_equal(err.status, GBS_ERR_IMPOSSIBLE);
    assert_true(p[0] == 7.0 && log_z == 7.0);
    assert_int_equal(gbsi_enumerate_joint(c, p, NULL), GBS_ERR_IMPOSSIBLE);
    assert_true(p[0] == 7.0);
    assert_int_equal(gbsi_support_connected(c, NULL, &connected, NULL), GBS_ERR_IMPOSSIBLE);
    assert_true(connected);
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

static void limits(void **state)
{
    (void)state;
    const uint32_t size[] = {22, 23, 70};
    for (uint32_t i = 0; i < 3; i++) {
        gbs_model *model = NULL;
        gbsi_conditioned *c = finish(binary(size[i]), &model);
        uint8_t keep[70] = {0};
        keep[3] = 1;
        keep[21] = 1;
        assert_int_equal(gbsi_n_states(c, keep), 4);
        double p[140] = {7.0};
        bool connected = true;
        gbs_error err = {GBS_OK, ""};
        if (size[i] == 22) {
            assert_int_equal(gbsi_n_states(c, NULL), GBSI_ENUMERATE_MAX_STATES);
            test_ok(gbsi_enumerate(c, NULL, p, NULL, NULL));
            assert_true(p[0] == 0.5 && p[43] == 0.5);
        } else {
            assert_int_equal(gbsi_enumerate(c, NULL, p, NULL, &err), GBS_ERR_LIMIT);
            assert_non_null(strstr(err.message, size[i] == 23 ? " 8388608 states" : "at least"));
            assert_int_equal(gbsi_enumerate_joint(c, p, NULL), GBS_ERR_LIMIT);
            assert_int_equal(gbsi_support_connected(c, NULL, &connected, NULL), GBS_ERR_LIMIT);
            assert_true(p[0] == 7.0 && connected);
        }
        if (size[i] == 70) {
            assert_true(gbsi_n_states(c, NULL) == UINT64_MAX);
        }
        gbsi_conditioned_free(c);
        gbs_model_free(model);
    }
}

/* No variable left; and one of the largest arity, whose support is one line. */
static void extreme_arities(void **state)
{
    (void)state;
    gbs_model *model = NULL;
    gbsi_conditioned *c = finish(binary(0), &model);
    double p[2] = {7.0, 7.0};
    double log_z = 7.0;
    bool connected = false;
    test_ok(gbsi_enumerate(c, NULL, p, &log_z, NULL));
    assert_true(p[0] == 7.0 && log_z == 0.0);
    test_ok(gbsi_enumerate_joint(c, p, NULL));
    assert_true(p[0] == 1.0 && p[1] == 7.0);
    test_ok(gbsi_support_connected(c, NULL, &connected, NULL));
    assert_true(connected);
    assert_int_equal(gbsi_n_states(c, NULL), 1);
    gbsi_conditioned_free(c);
    gbs_model_free(model);

    const uint32_t arity = GBS_MAX_ARITY;
    gbs_builder *b = binary(1);
    double *logw = malloc(2 * (size_t)arity * sizeof *logw);
    assert_non_null(logw);
    for (size_t i = 0; i < 2 * (size_t)arity; i++) {
        logw[i] = i < arity ? 0.0 : -INFINITY;
    }
    logw[2 * (size_t)arity - 1] = 0.0; /* (1, last): all of (0, .) and this one */
    uint32_t table = 0;
    test_ok(gbs_builder_add_variables(b, 1, &arity, NULL, NULL));
    test_ok(gbs_builder_add_table(b, 2 * (size_t)arity, logw, &table, NULL));
    test_ok(gbs_builder_add_table_factor(b, 2, (uint32_t[]){0, 1}, table, NULL));
    c = finish(b, &model);
    double *q = malloc((2 + (size_t)arity) * sizeof *q);
    assert_non_null(q);
    test_ok(gbsi_enumerate(c, NULL, q, &log_z, NULL));
    assert_close(q[1], 1.0L / (arity + 1.0L), 1e-14L);
    assert_close(q[2], 1.0L / (arity + 1.0L), 1e-14L);
    assert_close(q[1 + arity], 2.0L / (arity + 1.0L), 1e-14L);
    assert_close(log_z, logl(arity + 1.0L), 1e-14L);
    test_ok(gbsi_support_connected(c, NULL, &connected, NULL));
    assert_true(connected);
    free(q);
    free(logw);
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

/* The largest allowed log-weights: sums are finite, and one state has all the probability. */
static void largest_weights(void **state)
{
    (void)state;
    gbs_builder *b = binary(1);
    const double large[] = {GBS_MAX_LOG_WEIGHT, -GBS_MAX_LOG_WEIGHT};
    uint32_t table = 0;
    test_ok(gbs_builder_add_table(b, 2, large, &table, NULL));
    for (int i = 0; i < 3; i++) {
        test_ok(gbs_builder_add_table_factor(b, 1, (uint32_t[]){0}, table, NULL));
    }
    gbs_model *model = NULL;
    gbsi_conditioned *c = finish(b, &model);
    double p[2] = {7.0, 7.0};
    double log_z = 0.0;
    test_ok(gbsi_enumerate(c, NULL, p, &log_z, NULL));
    assert_true(p[0] == 1.0 && p[1] == 0.0);
    assert_close(log_z / GBS_MAX_LOG_WEIGHT, 3.0L, 1e-15L);
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

static void failing_requests(void **state)
{
    (void)state;
    gbs_builder *b = binary(4);
    add_differ(b, 0, 1);
    test_ok(gbs_builder_add_ising(b, 2, 3, 0.5, NULL));
    gbs_model *model = NULL;
    gbsi_conditioned *c = finish(b, &model);
    for (int what = 0; what < 3; what++) {
        gbs_status status = GBS_ERR_MEMORY;
        uint64_t allowed = 0;
        for (; status != GBS_OK; allowed++) {
            double p[16] = {7.0};
            double log_z = 7.0;
            bool connected = true;
            gbs_error err = {GBS_OK, ""};
            gbsi_alloc_fail_after(allowed);
            status = what == 0   ? gbsi_enumerate(c, NULL, p, &log_z, &err)
                     : what == 1 ? gbsi_enumerate_joint(c, p, &err)
                                 : gbsi_support_connected(c, NULL, &connected, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && p[0] == 7.0 &&
                                             log_z == 7.0 && connected && err.status == status));
        }
        assert_true(allowed > 5 && allowed < 20);
    }
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

static bool stop_at_third(void *context)
{
    const gbsi_watch *watch = context;
    return watch->n_looks >= 3;
}

/* Enumeration checks the watch often, and ends when the watch stops. */
static void watched(void **state)
{
    (void)state;
    gbs_model *model = NULL;
    gbsi_conditioned *c = finish(binary(20), &model);
    double p[40] = {7.0};
    bool connected = true;
    gbsi_watch watch = {0};
    test_ok(gbsi_enumerate(c, &watch, p, NULL, NULL));
    assert_in_range(watch.n_looks, 16, 128);
    assert_true(p[0] == 0.5 && watch.longest < GBSI_WATCH_EVERY + 64);
    test_ok(gbsi_support_connected(c, &watch, &connected, NULL));
    for (int what = 0; what < 2; what++) {
        gbs_error err = {GBS_OK, ""};
        watch = (gbsi_watch){.look = stop_at_third, .context = &watch};
        p[0] = 7.0;
        assert_int_equal(what == 0 ? gbsi_enumerate(c, &watch, p, NULL, &err)
                                   : gbsi_support_connected(c, &watch, &connected, &err),
                         GBS_ERR_STOPPED);
        assert_non_null(strstr(err.message, "stopped while enumerating"));
        assert_true(watch.n_looks == 3 && p[0] == 7.0 && connected);
    }
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models),
        cmocka_unit_test(chain_in_closed_form),
        cmocka_unit_test(tiny_probabilities),
        cmocka_unit_test(impossible_model),
        cmocka_unit_test(limits),
        cmocka_unit_test(watched),
        cmocka_unit_test(extreme_arities),
        cmocka_unit_test(largest_weights),
        cmocka_unit_test(failing_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
