/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the core and the conditional probabilities of eliminated variables together give the
 * joint distribution of the model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "collapse/collapse.h"
#include "reference/enumerate.h"
#include "reference/testing.h"
#include "simd/math.h"

/* Returns the row p(v | n) of elimination e for the neighbours' states in x. */
static const double *row_at(const gbsi_collapse *c, uint32_t e, const uint32_t *x)
{
    size_t row = 0;
    for (size_t i = c->scope_start[e]; i < c->scope_start[e + 1]; ++i) {
        row = row * c->model->arity[c->scope[i]] + x[c->scope[i]];
    }
    return c->p + c->p_start[e] + row * c->model->arity[c->variable[e]];
}

static void states_of_core(const gbsi_collapse *c, const uint32_t *x, uint32_t *core)
{
    for (uint32_t v = 0; v < c->model->n_variables; ++v) {
        if (c->core_variable[v] != GBSI_NONE) {
            core[c->core_variable[v]] = x[v];
        }
    }
}

/* ln p(x) of the model = that of the core + sum of ln p(v | n), for every state x. */
static void check_joint(const gbsi_collapse *c)
{
    uint32_t x[MOST_VARIABLES + 1] = {0};
    uint32_t core[MOST_VARIABLES + 1] = {0};
    do {
        states_of_core(c, x, core);
        double sum = gbsi_conditioned_log_density(c->core, core);
        for (uint32_t e = 0; sum > -INFINITY && e < c->n_eliminated; ++e) {
            sum += gbsi_log(row_at(c, e, x)[x[c->variable[e]]]);
        }
        const double expected = gbsi_conditioned_log_density(c->model, x);
        if (!(sum == expected || fabs(sum - expected) < 1e-12 * (10.0 + fabs(expected)))) {
            fail_msg("%.17g, expected %.17g", sum, expected);
        }
    } while (next_assignment(c->model->n_variables, c->model->arity, x));
}

static void check_core(const gbsi_collapse *c)
{
    const gbsi_conditioned *core = c->core;
    assert_int_equal(core->n_variables + c->n_eliminated, c->model->n_variables);
    for (uint32_t v = 0; v < c->model->n_variables; ++v) {
        const uint32_t u = c->core_variable[v];
        if (u != GBSI_NONE) {
            assert_int_equal(core->arity[u], c->model->arity[v]);
            assert_int_equal(core->user_variable[u], c->model->user_variable[v]);
            assert_int_equal(core->free_variable[c->model->user_variable[v]], u);
        }
    }
    for (size_t f = 0; f < core->factors.n_factors; ++f) {
        assert_int_equal(core->has_zeros[f], gbsi_factor_has_zeros(&core->factors, f));
        assert_true(core->factors.scope_start[f + 1] > core->factors.scope_start[f]);
    }
}

/* Models of all kinds of factors, with and without zeros, arities up to 5, scopes up to 4. */
static void random_models_give_their_joint_back(void **state)
{
    (void)state;
    static const uint32_t entries[] = {0, 2, 4, 9, 16, 40, 128, GBSI_COLLAPSE_MOST};
    uint64_t seed = 7;
    uint32_t n_eliminated = 0;
    uint32_t n_impossible = 0;
    for (int i = 0; i < 4000; ++i) {
        gbsi_conditioned *model = NULL;
        gbsi_collapse *c = NULL;
        gbs_model *user = random_model_of(&seed, (random_size){MOST_VARIABLES, 5, 15, 2},
                                          random_below(&seed, 4) * 12);
        if (gbsi_condition(user, NULL, &model, NULL) == GBS_OK) {
            const gbs_status status = gbsi_collapse_new(model, entries[i % 8], NULL, &c, NULL);
            if (status == GBS_ERR_IMPOSSIBLE) {
                double p[64];
                double log_z = 0.0;
                assert_int_equal(gbsi_enumerate(model, NULL, p, &log_z, NULL), GBS_ERR_IMPOSSIBLE);
                ++n_impossible;
            } else {
                test_ok(status);
                assert_true(entries[i % 8] >= 2 || c->n_eliminated == 0);
                assert_true(gbsi_n_states(model, NULL) > entries[i % 8] || c->n_eliminated > 0 ||
                            model->n_variables == 0);
                n_eliminated += c->n_eliminated;
                check_core(c);
                check_joint(c);
            }
        }
        gbsi_collapse_free(c);
        gbsi_conditioned_free(model);
        gbs_model_free(user);
    }
    assert_true(n_eliminated > 4000);
    assert_true(n_impossible > 3);
}

static gbs_model *build(gbs_builder *b)
{
    gbs_model *model = NULL;
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* n spins around one, in a chain or a ring, by couplings of a fixed size and signs that vary. */
static gbs_model *spins(uint32_t n, const uint32_t (*pair)[2], size_t n_pairs, double size)
{
    gbs_builder *b = NULL;
    uint32_t *arity = malloc(n * sizeof *arity);
    assert_non_null(arity);
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = 2;
    }
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, n, arity, NULL, NULL));
    for (size_t i = 0; i < n_pairs; ++i) {
        test_ok(gbs_builder_add_ising(b, pair[i][0], pair[i][1], i % 3 == 0 ? -size : size, NULL));
    }
    free(arity);
    return build(b);
}

/* Trees of spins without fields: Z = 2^n prod cosh J, here about 2 exp(n_pairs J). Every list and
 * every cost is touched a bounded number of times, or this would take minutes. */
static void large_trees_vanish(void **state)
{
    (void)state;
    enum { N = 50000 };
    static uint32_t pair[N - 1][2];
    for (int shape = 0; shape < 3; ++shape) {
        for (uint32_t v = 1; v < N; ++v) { /* a star, a chain, a binary tree */
            pair[v - 1][0] = shape == 0 ? 0 : shape == 1 ? v - 1 : (v - 1) / 2;
            pair[v - 1][1] = v;
        }
        for (int strong = 0; strong < 2; ++strong) {
            const double size = strong == 0 ? 0.5 : 500.0;
            gbs_model *user = spins(N, (const uint32_t(*)[2])pair, N - 1, size);
            gbsi_conditioned *model = NULL;
            gbsi_collapse *c = NULL;
            test_ok(gbsi_condition(user, NULL, &model, NULL));
            test_ok(gbsi_collapse_new(model, GBSI_COLLAPSE_ENTRIES, NULL, &c, NULL));
            assert_int_equal(c->core->n_variables, 0);
            assert_int_equal(c->core->factors.n_factors, 0);
            const double expected = log(2.0) + (N - 1) * (size + log1p(exp(-2.0 * size)));
            assert_true(fabs(c->core->log_constant - expected) < 1e-11 * expected);
            gbsi_collapse_free(c);
            gbsi_conditioned_free(model);
            gbs_model_free(user);
        }
    }
}

/* The variables of a long clause are never summed out; all other variables are. */
static void long_factors_stay(void **state)
{
    (void)state;
    enum { N = 40 };
    uint32_t arity[N + 1];
    uint32_t scope[N];
    uint32_t literal[N] = {0};
    gbs_builder *b = NULL;
    gbsi_conditioned *model = NULL;
    gbsi_collapse *c = NULL;
    for (uint32_t v = 0; v <= N; ++v) {
        arity[v] = 2;
    }
    for (uint32_t v = 0; v < N; ++v) {
        scope[v] = v;
    }
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, N + 1, arity, NULL, NULL));
    test_ok(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, N, scope, literal, 1.5, NULL));
    test_ok(gbs_builder_add_ising(b, 3, N, 0.75, NULL));
    gbs_model *user = build(b);
    test_ok(gbsi_condition(user, NULL, &model, NULL));
    test_ok(gbsi_collapse_new(model, GBSI_COLLAPSE_ENTRIES, NULL, &c, NULL));
    assert_int_equal(c->n_eliminated, 1);
    assert_int_equal(c->variable[0], N);
    assert_int_equal(c->core->n_variables, N);
    uint32_t x[N + 1] = {0};
    x[3] = 1;
    const double expected = gbsi_conditioned_log_density(model, x);
    assert_true(fabs(gbsi_conditioned_log_density(c->core, x) + gbsi_log(row_at(c, 0, x)[0]) -
                     expected) < 1e-12);
    gbsi_collapse_free(c);
    gbsi_conditioned_free(model);
    gbs_model_free(user);
}

/* A random model with at least three variables, conditioned and collapsed to a core. */
static gbsi_collapse *some_collapse(uint64_t *seed, gbs_model **user, gbsi_conditioned **model)
{
    for (;;) {
        gbsi_collapse *c = NULL;
        *model = NULL;
        *user = random_model_of(seed, (random_size){MOST_VARIABLES, 5, 15, 2}, 10);
        if (gbsi_condition(*user, NULL, model, NULL) == GBS_OK &&
            gbsi_collapse_new(*model, 30, NULL, &c, NULL) == GBS_OK && c->n_eliminated > 2 &&
            c->core->n_variables > 0) {
            return c;
        }
        gbsi_collapse_free(c);
        gbsi_conditioned_free(*model);
        gbs_model_free(*user);
    }
}

enum { L = GBSI_COLLAPSE_LANES, PASSES = 1000 };

/* What a test expects of recovery, over all passes. */
typedef struct tally {
    double mean[TEST_MAX_STATES]; /* sums of p(v | n) */
    double seen[TEST_MAX_STATES]; /* states drawn */
    double p[TEST_MAX_STATES * L];
} tally;

/* Draws the eliminated variables for random states of the core, and checks that two instruction
 * sets agree. */
static void recover(const gbsi_collapse *c, uint64_t *seed, uint64_t pass, uint32_t *word,
                    uint32_t *x, double *p)
{
    uint32_t again[MOST_VARIABLES * L];
    double weight[L];
    const size_t n = (size_t)c->model->n_variables * L;
    for (size_t k = 0; k < n; ++k) {
        x[k] = random_below(seed, c->model->arity[k / L]);
        again[k] = x[k];
        weight[k % L] = 1.0;
    }
    gbsi_recovery r = {.level = gbsi_simd_level(),
                       .seed = 3,
                       .pass = pass,
                       .chain = 32,
                       .weight = weight,
                       .x = x,
                       .p = p,
                       .word = word};
    gbsi_collapse_recover(c, &r);
    r.level = GBSI_SIMD_PORTABLE;
    r.x = again;
    r.p = NULL;
    gbsi_collapse_recover(c, &r);
    assert_memory_equal(x, again, n * sizeof *x);
}

static void tally_lane(const gbsi_collapse *c, const uint32_t *x, uint32_t lane, tally *t)
{
    const gbsi_conditioned *model = c->model;
    uint32_t at[MOST_VARIABLES];
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        at[v] = x[v * L + lane];
    }
    for (uint32_t e = 0; e < c->n_eliminated; ++e) {
        const uint32_t v = c->variable[e];
        assert_true(row_at(c, e, at)[at[v]] > 0.0);
        t->seen[model->state_offset[v] + at[v]] += 1.0;
        for (uint32_t k = 0; k < model->arity[v]; ++k) {
            t->mean[model->state_offset[v] + k] += row_at(c, e, at)[k];
        }
    }
}

/* Recovery adds weight times p(v | n), and draws states with these probabilities. Over 16000 draws
 * a frequency is within 5 standard errors of the mean of p (fails by chance once in 10^6
 * frequencies; the seed is fixed). */
static void draws_what_was_summed_out(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 20; ++i) {
        gbs_model *user = NULL;
        gbsi_conditioned *model = NULL;
        gbsi_collapse *c = some_collapse(&seed, &user, &model);
        uint32_t x[MOST_VARIABLES * L];
        tally *t = calloc(1, sizeof *t);
        uint32_t *word = calloc(gbsi_recovery_words(c), sizeof *word);
        assert_true(t != NULL && word != NULL);
        for (uint64_t pass = 0; pass < PASSES; ++pass) {
            recover(c, &seed, pass, word, x, t->p);
            for (uint32_t l = 0; l < L; ++l) {
                tally_lane(c, x, l, t);
            }
        }
        for (size_t s = 0; s < model->state_offset[model->n_variables]; ++s) {
            double sum = 0.0;
            for (size_t l = 0; l < L; ++l) {
                sum += t->p[s * L + l];
            }
            assert_true(fabs(sum - t->mean[s]) < 1e-9 * (1.0 + t->mean[s]));
            const double variance = t->mean[s] * (1.0 - t->mean[s] / (PASSES * L));
            assert_true(fabs(t->seen[s] - t->mean[s]) <= 5.0 * sqrt(variance + 1.0));
        }
        free(t);
        free(word);
        gbsi_collapse_free(c);
        gbsi_conditioned_free(model);
        gbs_model_free(user);
    }
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

/* If any request for memory fails, nothing is made and nothing leaks. A stop by the watch ends the
 * call. */
static void fails_whole(void **state)
{
    (void)state;
    uint64_t seed = 23;
    gbs_model *user = NULL;
    gbsi_conditioned *model = NULL;
    gbsi_collapse *c = some_collapse(&seed, &user, &model);
    gbsi_collapse_free(c);
    c = NULL;
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; ++n) {
        gbsi_alloc_fail_after(n);
        status = gbsi_collapse_new(model, 30, NULL, &c, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && c == NULL));
        assert_true(status != GBS_OK || n > 10);
    }
    gbsi_collapse_free(c);
    gbsi_conditioned_free(model);
    gbs_model_free(user);

    enum { N = 4096 };
    static uint32_t pair[N - 1][2];
    for (uint32_t v = 1; v < N; ++v) {
        pair[v - 1][0] = v - 1;
        pair[v - 1][1] = v;
    }
    gbsi_watch watch = {.look = stop_at_once};
    user = spins(N, (const uint32_t(*)[2])pair, N - 1, 1.0);
    test_ok(gbsi_condition(user, NULL, &model, NULL));
    c = NULL;
    assert_int_equal(gbsi_collapse_new(model, 128, &watch, &c, NULL), GBS_ERR_STOPPED);
    assert_null(c);
    gbsi_conditioned_free(model);
    gbs_model_free(user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models_give_their_joint_back),
        cmocka_unit_test(large_trees_vanish),
        cmocka_unit_test(long_factors_stay),
        cmocka_unit_test(draws_what_was_summed_out),
        cmocka_unit_test(fails_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
