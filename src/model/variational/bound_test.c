/* SPDX-License-Identifier: Apache-2.0 */
/* Compares upper bounds with the largest log density over all states of small random models. */
#include <math.h>
#include <string.h>

#include "generate/random_models.h"

#include "base/watch.h"
#include "condition/condition.h"
#include "variational/bound.h"

#define N_MODELS 600
#define N_ROUNDS 40

static gbsi_conditioned *conditioned(const gbs_model *model)
{
    gbsi_conditioned *c = NULL;
    return gbsi_condition(model, NULL, &c, NULL) == GBS_OK ? c : NULL;
}

enum { LONG = 12 }; /* variables of the models with long factors, which are the largest */

static double exact_maximum(const gbsi_conditioned *c)
{
    uint32_t x[LONG] = {0};
    double most = -INFINITY;
    do {
        const double e = gbsi_conditioned_log_density(c, x);
        most = e > most ? e : most;
    } while (next_assignment(c->n_variables, c->arity, x));
    return most;
}

static bool reaches(double bound, double most)
{
    return bound - most <= 1e-9 * (1.0 + fabs(most));
}

/* Runs rounds, and checks that every bound holds and that no bound is above the one before it.
 * @return the last bound. */
static double checked_bound(const gbsi_conditioned *c, double most)
{
    gbsi_bound *b = NULL;
    double last = gbsi_bound_plain(c, NULL);
    assert_true(last >= most);
    assert_int_equal(gbsi_bound_new(c, NULL, &b, NULL), GBS_OK);
    for (int i = 0; i < N_ROUNDS && !gbsi_bound_settled(b); ++i) {
        const double bound = gbsi_bound_round(b);
        assert_true(bound >= most);
        assert_true(i == 0 || bound <= last);
        last = bound;
    }
    gbsi_bound_free(b);
    return last;
}

/* Models of all kinds of factors, with and without hard zeros. The weights are multiples of 1/8, so
 * that most bounds which are tight are tight to rounding. */
static void no_state_is_above(void **state)
{
    (void)state;
    uint64_t seed = 12;
    uint32_t n_compared = 0;
    uint32_t n_reached = 0;
    uint32_t n_plain = 0;
    for (int i = 0; i < N_MODELS; ++i) {
        gbs_model *model = random_noisy_model(&seed, i % 3 == 0 ? 0 : 15);
        gbsi_conditioned *c = conditioned(model);
        const double most = c == NULL ? -INFINITY : exact_maximum(c);
        if (c != NULL) {
            n_reached += reaches(checked_bound(c, most), most);
            n_plain += reaches(gbsi_bound_plain(c, NULL), most);
            ++n_compared;
        }
        gbsi_conditioned_free(c);
        gbs_model_free(model);
    }
    assert_true(n_compared > 500);
    assert_true(n_reached > n_compared / 2); /* the rounds find most maxima */
    assert_true(n_plain < n_reached);        /* the plain bound finds fewer */
}

/* ---- factors too long for a table ------------------------------------------------------------ */

/* Literals and spins whose factors are counted, and noisy factors with a tangent. */
static gbs_model *long_model(uint64_t *seed, int kind)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[LONG];
    uint32_t scope[LONG];
    uint32_t literal[LONG];
    double inhibition[2 * LONG];
    for (uint32_t v = 0; v < LONG; ++v) {
        arity[v] = 2;
        scope[v] = v;
        literal[v] = random_below(seed, 2);
        inhibition[2 * v] = 1.0;
        inhibition[2 * v + 1] = random_below(seed, 8) / 8.0;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, LONG, arity, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < LONG; ++v) {
        assert_int_equal(gbs_builder_add_field(b, v, random_weight(seed), NULL), GBS_OK);
        assert_int_equal(
            gbs_builder_add_ising(b, v, (v + 1) % LONG, 0.25 * random_weight(seed), NULL), GBS_OK);
    }
    if (kind == 0) {
        assert_int_equal(gbs_builder_add_spin(b, LONG, scope, random_weight(seed), NULL), GBS_OK);
    } else if (kind == 1) {
        assert_int_equal(gbs_builder_add_noisy(b, GBS_FACTOR_NOISY_OR, LONG - 1, LONG - 1, scope,
                                               2 * (LONG - 1), inhibition,
                                               random_below(seed, 2) / 16.0, NULL),
                         GBS_OK);
    } else if (kind == 2) {
        assert_int_equal(gbs_builder_add_cardinality(b, GBS_LOGICAL_EXACTLY, 5, LONG, scope,
                                                     literal, INFINITY, NULL),
                         GBS_OK);
    } else {
        static const gbs_logical_function function[] = {GBS_LOGICAL_EQUAL, GBS_LOGICAL_RATIO,
                                                        GBS_LOGICAL_IMPLY_MLN};
        assert_int_equal(gbs_builder_add_logical(b, function[kind - 3], LONG, scope, literal,
                                                 4.0 * random_weight(seed), NULL),
                         GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static void long_factors(void **state)
{
    (void)state;
    uint64_t seed = 5;
    uint32_t n_reached = 0;
    for (int i = 0; i < 120; ++i) {
        gbs_model *model = long_model(&seed, i % 6);
        gbs_evidence *evidence = NULL;
        gbsi_conditioned *c = NULL;
        assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
        if (i % 12 >= 6) { /* an observed effect; a head that is fixed */
            assert_int_equal(gbs_evidence_observe(evidence, LONG - 1, 1, NULL), GBS_OK);
        }
        assert_int_equal(gbsi_condition(model, evidence, &c, NULL), GBS_OK);
        const double most = exact_maximum(c);
        n_reached += reaches(checked_bound(c, most), most);
        gbsi_conditioned_free(c);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n_reached > 60);
}

/* ---- watches, and the same bits -------------------------------------------------------------- */

/* A watch that has stopped leaves the bound without a round. */
static void stops(void **state)
{
    (void)state;
    uint64_t seed = 9;
    gbsi_watch watch = {.stopped = true};
    gbs_model *model = long_model(&seed, 0);
    gbsi_conditioned *c = conditioned(model);
    gbsi_bound *b = NULL;
    assert_int_equal(gbsi_bound_new(c, &watch, &b, NULL), GBS_OK);
    assert_true(gbsi_bound_round(b) == INFINITY);
    assert_true(gbsi_bound_plain(c, &watch) == INFINITY);
    assert_false(gbsi_bound_settled(b));
    gbsi_bound_free(b);
    gbsi_conditioned_free(c);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_state_is_above),
        cmocka_unit_test(long_factors),
        cmocka_unit_test(stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
