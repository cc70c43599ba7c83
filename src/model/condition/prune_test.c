/* SPDX-License-Identifier: Apache-2.0 */
#include "condition/prune.h"

#include "base/memory.h"
#include "generate/random_models.h"

#define N 6

/* Adds a table of the last variable given the others; columns are rounded if digits > 0. */
static void add_columns(gbs_builder *b, uint64_t *seed, const uint32_t *arity, uint32_t n,
                        const uint32_t *scope, double digits)
{
    double logw[1024];
    const uint32_t k = arity[scope[n - 1]];
    size_t n_columns = 1;
    uint32_t table = 0;
    for (uint32_t i = 0; i + 1 < n; ++i) {
        n_columns *= arity[scope[i]];
    }
    for (size_t c = 0; c < n_columns; ++c) {
        double sum = 0.0;
        for (uint32_t a = 0; a < k; ++a) {
            const bool zero = a > 0 && random_below(seed, 6) == 0;
            logw[c * k + a] = zero ? 0.0 : 1.0 + random_below(seed, 9);
            sum += logw[c * k + a];
        }
        for (uint32_t a = 0; a < k; ++a) {
            const double p = logw[c * k + a] / sum;
            logw[c * k + a] = log(digits > 0.0 ? floor(p * digits + 0.5) / digits : p);
        }
    }
    assert_int_equal(gbs_builder_add_table(b, n_columns * k, logw, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, n, scope, table, NULL), GBS_OK);
}

/* Adds a factor of a variable and of some earlier ones, whose sum over this variable is constant
 * or not. */
static void add_child(gbs_builder *b, uint64_t *seed, const uint32_t *arity, uint32_t v)
{
    uint32_t scope[MOST_VARIABLES];
    uint32_t state[MOST_VARIABLES];
    const uint32_t n =
        v == 0 ? 0 : random_scope(seed, v, arity, 1 + random_below(seed, 3), 0, scope);
    const uint32_t kind = random_below(seed, 6);
    scope[n] = v;
    for (uint32_t i = 0; i <= n; ++i) {
        state[i] = random_below(seed, arity[scope[i]]);
    }
    if (kind == 0 && arity[v] == 2) {
        add_random_noisy(b, seed, arity, n + 1, scope, 10);
    } else if (kind <= 1 && arity[v] > 2) {
        add_random_maximum(b, seed, arity, n + 1, scope, 10);
    } else if (kind == 2 && n > 0 && arity[scope[0]] == arity[v]) {
        assert_int_equal(gbs_builder_add_potts(b, scope[0], v, random_weight(seed), NULL), GBS_OK);
    } else if (kind == 3) {
        assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_PARITY, n + 1, scope, state,
                                                 random_weight(seed), NULL),
                         GBS_OK);
    } else {
        add_columns(b, seed, arity, n + 1, scope, kind == 4 ? 1e3 : 0.0);
    }
}

static gbs_model *random_network(uint64_t *seed)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[MOST_VARIABLES];
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2 + (random_below(seed, 3) == 0) * random_below(seed, 3);
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        add_child(b, seed, arity, v);
    }
    for (uint32_t f = random_below(seed, 3); f > 0; --f) {
        add_random_factor(b, seed, N, arity, 10);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* Checks that the remaining density plus ln of the conditional probabilities of the pruned
 * variables is the density before. */
static void check_chain_rule(const gbsi_conditioned *whole, const gbsi_pruning *pruning,
                             const gbsi_conditioned *part)
{
    uint32_t x[MOST_VARIABLES] = {0};
    do {
        uint32_t kept[MOST_VARIABLES] = {0};
        double p[8];
        for (uint32_t v = 0; v < whole->n_variables; ++v) {
            const uint32_t u = part->free_variable[whole->user_variable[v]];
            assert_true((u == GBSI_NONE) == (pruning->pruned[v] != 0));
            if (u != GBSI_NONE) {
                kept[u] = x[v];
            }
        }
        double sum = gbsi_conditioned_log_density(part, kept);
        for (uint32_t i = 0; i < pruning->n; ++i) {
            const uint32_t v = pruning->variable[i];
            const uint32_t state = x[v];
            gbsi_pruned_law(whole, pruning, i, x, p);
            x[v] = state;
            sum += log(p[state]);
        }
        const double expected = gbsi_conditioned_log_density(whole, x);
        assert_true(sum == expected || fabs(sum - expected) < 1e-10);
    } while (next_assignment(whole->n_variables, whole->arity, x));
}

/* Returns, by enumeration, whether some remaining variable that is not asked for has a single
 * factor, and this factor has a constant sum. */
static bool any_left(const gbsi_conditioned *c, const uint8_t *asked)
{
    const gbsi_factors *f = &c->factors;
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        size_t n = 0;
        size_t only = 0;
        for (size_t i = 0; i < f->n_factors; ++i) {
            for (size_t s = f->scope_start[i]; s < f->scope_start[i + 1]; ++s) {
                n += f->scope[s] == v;
                only = f->scope[s] == v ? i : only;
            }
        }
        if (n > 1 || asked[c->user_variable[v]]) {
            continue;
        }
        uint32_t x[MOST_VARIABLES] = {0};
        double least = INFINITY;
        double most = 0.0;
        do {
            double sum = 0.0;
            if (x[v] != 0) {
                continue;
            }
            for (uint32_t a = 0; a < c->arity[v]; ++a) {
                x[v] = a;
                sum += n == 0 ? 1.0 : exp(gbsi_factor_value(f, c->arity, only, x));
            }
            x[v] = 0;
            least = sum < least ? sum : least;
            most = sum > most ? sum : most;
        } while (next_assignment(c->n_variables, c->arity, x));
        if (most / least - 1.0 < 1e-14) {
            return true;
        }
    }
    return false;
}

static void against_enumeration(void **unused)
{
    (void)unused;
    uint64_t seed = 41;
    uint32_t n_pruned = 0;
    for (uint32_t trial = 0; trial < 3000; ++trial) {
        gbs_model *model = trial % 3 == 0 ? random_noisy_model(&seed, trial % 2 == 0 ? 10 : 0)
                                          : random_network(&seed);
        gbs_evidence *evidence = NULL;
        gbsi_conditioned *whole = NULL;
        gbsi_conditioned *part = NULL;
        gbsi_pruning pruning = {0};
        uint8_t asked[MOST_VARIABLES] = {0};
        uint8_t asked_free[MOST_VARIABLES] = {0};
        assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
        for (uint32_t v = 0; v < model->n_variables; ++v) {
            asked[v] = random_below(&seed, 4) == 0;
            if (random_below(&seed, 5) == 0) {
                assert_int_equal(
                    gbs_evidence_observe(evidence, v, random_below(&seed, model->arity[v]), NULL),
                    GBS_OK);
            }
        }
        const gbs_status status = gbsi_condition(model, evidence, &whole, NULL);
        if (status == GBS_OK) {
            for (uint32_t v = 0; v < whole->n_variables; ++v) {
                asked_free[v] = asked[whole->user_variable[v]];
            }
            assert_int_equal(gbsi_prune(whole, asked_free, NULL, &pruning, NULL), GBS_OK);
            assert_int_equal(gbsi_pruned_part(whole, &pruning, &part, NULL), GBS_OK);
            for (uint32_t v = 0; v < whole->n_variables; ++v) {
                assert_false(asked_free[v] && pruning.pruned[v]);
            }
            check_chain_rule(whole, &pruning, part);
            assert_false(any_left(part, asked));
            n_pruned += pruning.n;
        } else {
            assert_int_equal(status, GBS_ERR_IMPOSSIBLE);
        }
        gbsi_pruning_clear(&pruning);
        gbsi_conditioned_free(part);
        gbsi_conditioned_free(whole);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n_pruned > 2000);
}

/* A child of a hundred parents is recognised by the kind of its factor, and the levels of a
 * maximum leave together. */
static void many_parents(void **unused)
{
    (void)unused;
    enum { PARENTS = 100 };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    gbsi_conditioned *whole = NULL;
    uint32_t arity[PARENTS + 2];
    uint32_t parent[PARENTS];
    double inhibition[2 * PARENTS];
    double effect[2 * PARENTS * 3];
    uint32_t n_pruned = 0;
    const uint32_t asked = 7;
    for (uint32_t v = 0; v < PARENTS; ++v) {
        arity[v] = 2;
        parent[v] = v;
        inhibition[2 * v] = 1.0;
        inhibition[2 * v + (size_t)1] = 0.4;
        for (uint32_t a = 0; a < 6; ++a) {
            effect[6 * (size_t)v + a] = a < 3 ? (double)(a == 0) : 1.0 / 3.0;
        }
    }
    arity[PARENTS] = 2;
    arity[PARENTS + 1] = 3;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, PARENTS + 2, arity, NULL, NULL), GBS_OK);
    for (uint32_t v = 0; v < PARENTS; ++v) {
        assert_int_equal(gbs_builder_add_field(b, v, 0.25, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_add_noisy(b, GBS_FACTOR_NOISY_OR, PARENTS, PARENTS, parent,
                                           2 * PARENTS, inhibition, 0.1, NULL),
                     GBS_OK);
    assert_int_equal(gbs_builder_add_noisy_max(b, GBS_FACTOR_NOISY_MAX, PARENTS + 1, PARENTS,
                                               parent, 6 * PARENTS, effect, NULL, NULL),
                     GBS_OK);
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    assert_int_equal(gbsi_condition(model, NULL, &whole, NULL), GBS_OK);
    assert_int_equal(gbsi_prune_for(&whole, 1, &asked, NULL, &n_pruned, NULL), GBS_OK);
    assert_int_equal(n_pruned, PARENTS + 1);
    assert_int_equal(whole->n_variables, 1);
    assert_int_equal(whole->factors.n_factors, 1);
    assert_true(fabs(whole->log_constant - (PARENTS - 1) * log(2.0 * cosh(0.25))) < 1e-10);
    gbsi_conditioned_free(whole);
    gbs_builder_free(b);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_enumeration),
        cmocka_unit_test(many_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
