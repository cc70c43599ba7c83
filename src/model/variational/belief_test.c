/* SPDX-License-Identifier: Apache-2.0 */
/* Compares belief propagation with sums over all states if the factor graph is a forest.
 * Otherwise compares it with a second implementation of its equations in plain numbers. */
#include <math.h>
#include <string.h>

#include "generate/random_models.h"

#include "reference/enumerate.h"
#include "variational/belief.h"

#define N_MODELS 1000

static gbsi_conditioned *conditioned(const gbs_model *model)
{
    gbsi_conditioned *c = NULL;
    return gbsi_condition(model, NULL, &c, NULL) == GBS_OK ? c : NULL;
}

static uint32_t root(const uint32_t *parent, uint32_t v)
{
    return parent[v] == v ? v : root(parent, parent[v]);
}

/* Returns whether the graph of variables and factors has no cycle. */
static bool is_forest(const gbsi_conditioned *c)
{
    uint32_t parent[MOST_VARIABLES];
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        parent[v] = v;
    }
    for (size_t f = 0; f < c->factors.n_factors; ++f) {
        const uint32_t *scope = c->factors.scope + c->factors.scope_start[f];
        const size_t n = c->factors.scope_start[f + 1] - c->factors.scope_start[f];
        for (size_t i = 1; i < n; ++i) {
            for (size_t j = 0; j < i; ++j) {
                if (root(parent, scope[i]) == root(parent, scope[j])) {
                    return false;
                }
            }
            parent[root(parent, scope[i])] = root(parent, scope[0]);
        }
    }
    return true;
}

/* Runs rounds until no message changes. @return the last change. */
static double settle(gbsi_belief *b, double damping)
{
    double change = 1.0;
    for (int i = 0; i < 2000 && !(change <= 1e-12); ++i) {
        change = gbsi_belief_round(b, damping);
    }
    return change;
}

static void forests_are_exact(void **state)
{
    (void)state;
    uint64_t seed = 3;
    uint32_t n_forests = 0;
    for (int i = 0; i < N_MODELS; ++i) {
        gbs_model *model =
            random_model_of(&seed, (random_size){MOST_VARIABLES - 1, 4, 4, 0}, i % 2 == 0 ? 20 : 0);
        gbsi_conditioned *c = conditioned(model);
        double p[512];
        double q[512];
        double log_z = 0.0;
        if (c != NULL && is_forest(c) && gbsi_enumerate(c, NULL, p, &log_z, NULL) == GBS_OK) {
            gbsi_belief *b = NULL;
            assert_int_equal(gbsi_belief_new(c, NULL, &b, NULL), GBS_OK);
            assert_true(settle(b, i % 3 == 0 ? 0.5 : 1.0) <= 1e-12);
            assert_int_equal(gbsi_belief_marginals(b, q, NULL), GBS_OK);
            for (size_t a = 0; a < c->state_offset[c->n_variables]; ++a) {
                assert_true(fabs(p[a] - q[a]) < 1e-9);
            }
            assert_true(fabs(gbsi_belief_log_z(b) - log_z) < 1e-8);
            n_forests += c->factors.n_factors > 1;
            gbsi_belief_free(b);
        }
        gbsi_conditioned_free(c);
        gbs_model_free(model);
    }
    assert_true(n_forests > 100);
}

/* ---- the equations, in plain numbers --------------------------------------------------------- */

enum { MOST_EDGES = 64, MOST_STATES = 16 };

/* Computes the product of the messages to the variable of edge e from its other factors. */
static void product_of_others(const gbsi_conditioned *c, double (*m)[MOST_STATES], size_t e,
                              double *out)
{
    const size_t n_edges = c->factors.scope_start[c->factors.n_factors];
    for (uint32_t a = 0; a < c->arity[c->factors.scope[e]]; ++a) {
        out[a] = 1.0;
        for (size_t g = 0; g < n_edges; ++g) {
            out[a] *= g != e && c->factors.scope[g] == c->factors.scope[e] ? m[g][a] : 1.0;
        }
    }
}

/* Computes the message of the factor of edge e that follows from the messages m. */
static void message(const gbsi_conditioned *c, double (*m)[MOST_STATES], size_t f, size_t e,
                    double *out)
{
    const gbsi_factors *factors = &c->factors;
    uint32_t x[MOST_VARIABLES] = {0};
    double total = 0.0;
    memset(out, 0, MOST_STATES * sizeof *out);
    do {
        double w = exp(gbsi_factor_value(factors, c->arity, f, x));
        for (size_t g = factors->scope_start[f]; g < factors->scope_start[f + 1]; ++g) {
            double in[MOST_STATES];
            product_of_others(c, m, g, in);
            w *= g == e ? 1.0 : in[x[factors->scope[g]]];
        }
        out[x[factors->scope[e]]] += w;
        total += w;
    } while (next_assignment(c->n_variables, c->arity, x));
    for (uint32_t a = 0; a < c->arity[factors->scope[e]]; ++a) {
        out[a] /= total;
    }
}

/* Updates all messages repeatedly with damping 1/3, from uniform messages.
 * @param q out: products of the messages to each variable. @return whether the messages
 * converged. */
static bool plain_belief(const gbsi_conditioned *c, double *q)
{
    static double m[MOST_EDGES][MOST_STATES];
    static double next[MOST_EDGES][MOST_STATES];
    double change = 1.0;
    for (size_t e = 0; e < MOST_EDGES; ++e) {
        for (int a = 0; a < MOST_STATES; ++a) {
            m[e][a] = 1.0;
        }
    }
    for (int round = 0; round < 400 && change > 1e-13; ++round) {
        change = 0.0;
        for (size_t f = 0; f < c->factors.n_factors; ++f) {
            for (size_t e = c->factors.scope_start[f]; e < c->factors.scope_start[f + 1]; ++e) {
                message(c, m, f, e, next[e]);
            }
        }
        for (size_t e = 0; e < c->factors.scope_start[c->factors.n_factors]; ++e) {
            for (uint32_t a = 0; a < c->arity[c->factors.scope[e]]; ++a) {
                change = fmax(change, fabs(next[e][a] - m[e][a]));
                m[e][a] += (next[e][a] - m[e][a]) / 3.0;
            }
        }
    }
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        double total = 0.0;
        for (uint32_t a = 0; a < c->arity[v]; ++a) {
            double *at = &q[c->state_offset[v] + a];
            *at = 1.0;
            for (size_t e = 0; e < c->factors.scope_start[c->factors.n_factors]; ++e) {
                *at *= c->factors.scope[e] == v ? m[e][a] : 1.0;
            }
            total += *at;
        }
        for (uint32_t a = 0; a < c->arity[v]; ++a) {
            q[c->state_offset[v] + a] /= total;
        }
    }
    return change <= 1e-13;
}

static void loops_follow_the_equations(void **state)
{
    (void)state;
    uint64_t seed = 5;
    uint32_t n_compared = 0;
    uint32_t n_differ = 0;
    for (int i = 0; i < N_MODELS / 5; ++i) {
        gbs_model *model = random_model_of(&seed, (random_size){MOST_VARIABLES - 1, 3, 5, 0}, 0);
        gbsi_conditioned *c = conditioned(model);
        double p[512];
        double q[512];
        const size_t n_edges = c == NULL || c->factors.n_factors == 0
                                   ? 0
                                   : c->factors.scope_start[c->factors.n_factors];
        if (n_edges > 0 && n_edges < MOST_EDGES && plain_belief(c, p)) {
            gbsi_belief *b = NULL;
            assert_int_equal(gbsi_belief_new(c, NULL, &b, NULL), GBS_OK);
            if (settle(b, 0.5) <= 1e-12) {
                bool differ = false;
                assert_int_equal(gbsi_belief_marginals(b, q, NULL), GBS_OK);
                for (size_t a = 0; a < c->state_offset[c->n_variables]; ++a) {
                    differ = differ || fabs(p[a] - q[a]) > 1e-7;
                }
                ++n_compared;
                n_differ += differ; /* the iteration reached another fixed point */
            }
            gbsi_belief_free(b);
        }
        gbsi_conditioned_free(c);
        gbs_model_free(model);
    }
    assert_true(n_compared > N_MODELS / 10);
    assert_true(n_differ < n_compared / 50 + 1);
}

/* Two variables with a coupling so large that rounding removes the sum of the other states. */
static void potts_far_apart(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        gbs_builder *builder = NULL;
        gbs_model *model = NULL;
        const uint32_t arity[] = {5, 5};
        double table[5] = {0.0, 3.0, -40.0, 1.0, 0.5};
        uint32_t number = 0;
        const uint32_t first = 0;
        double p[10];
        double q[10];
        double log_z = 0.0;
        gbsi_belief *b = NULL;
        assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_variables(builder, 2, arity, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table(builder, 5, table, &number, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(builder, 1, &first, number, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_potts(builder, 0, 1, 60.0 * sign, NULL), GBS_OK);
        assert_int_equal(gbs_builder_build(builder, &model, NULL), GBS_OK);
        gbsi_conditioned *c = conditioned(model);
        assert_int_equal(gbsi_enumerate(c, NULL, p, &log_z, NULL), GBS_OK);
        assert_int_equal(gbsi_belief_new(c, NULL, &b, NULL), GBS_OK);
        assert_true(settle(b, 1.0) <= 1e-12);
        assert_int_equal(gbsi_belief_marginals(b, q, NULL), GBS_OK);
        for (int a = 0; a < 10; ++a) {
            assert_true(fabs(p[a] - q[a]) <= 1e-12 * p[a] + 1e-300);
        }
        assert_true(fabs(gbsi_belief_log_z(b) - log_z) < 1e-12 * (1.0 + fabs(log_z)));
        gbsi_belief_free(b);
        gbsi_conditioned_free(c);
        gbs_model_free(model);
        gbs_builder_free(builder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forests_are_exact),
        cmocka_unit_test(loops_follow_the_equations),
        cmocka_unit_test(potts_far_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
