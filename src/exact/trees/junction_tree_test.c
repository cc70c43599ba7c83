/* SPDX-License-Identifier: Apache-2.0 */
/* Compares junction trees with enumeration. */
#include "gibbsite/generate.h"
#include "trees/junction_tree_testing.h"

static void random_models(void **state)
{
    (void)state;
    uint32_t n_possible = 0;
    test_draws_restart();
    for (uint32_t round = 0; round < 600; ++round) {
        gbs_model *model = test_random_model();
        gbs_evidence *evidence = NULL;
        test_ok(gbs_evidence_new(model, &evidence, NULL));
        if (test_below(3) == 0) {
            const uint32_t v = test_below(gbs_model_n_variables(model));
            test_ok(gbs_evidence_observe(evidence, v, test_below(gbs_model_arity(model, v)), NULL));
        }
        check_against_enumeration(model, evidence, &n_possible);
        gbs_evidence_free(evidence);
        gbs_model_free(model);
    }
    assert_true(n_possible > 300 && n_possible < 600);
}

/* ---- maxima, samples, pairs ---------------------------------------------------------------- */

/* The most probable state, everything maximised over. */
static void maxima(void **state)
{
    (void)state;
    test_draws_restart();
    for (uint32_t round = 0; round < 300; ++round) {
        const uint8_t late[TEST_MAX_VARIABLES] = {1, 1, 1, 1, 1, 1, 1, 1};
        const gbsi_exact_limits limits = {
            .entries = UINT64_C(1) << 30, .bytes = UINT64_C(1) << 34, .late = late};
        gbs_model *model = test_random_model();
        made m = {0};
        if (gbsi_condition(model, NULL, &m.model, NULL) == GBS_OK) {
            double joint[8192];
            uint32_t x[64] = {0};
            gbsi_tables *tables = NULL;
            double log_max = m.model->log_constant;
            gbsi_conditioned_free(m.model);
            make(&m, model, NULL, &limits);
            const gbsi_keep keep = round % 2 == 0 ? GBSI_KEEP_TABLES : GBSI_KEEP_MESSAGES;
            test_ok(gbsi_tables_new(m.tree, keep, NULL, &tables, NULL));
            for (uint32_t t = 0; t < m.tree->n_trees; ++t) {
                double part = 0.0;
                gbsi_tree_up(tables, t, &part);
                gbsi_tree_trace(tables, t, x);
                log_max += part;
            }
            if (gbsi_enumerate_joint(m.model, joint, NULL) == GBS_OK) {
                const uint64_t n = gbsi_n_states(m.model, NULL);
                uint64_t best = 0;
                uint64_t index = 0;
                for (uint64_t i = 1; i < n; ++i) {
                    best = joint[i] > joint[best] ? i : best;
                }
                for (uint32_t v = 0; v < m.model->n_variables; ++v) {
                    index = index * m.model->arity[v] + x[v];
                }
                assert_close(joint[index], joint[best], 1e-13);
                const double density = gbsi_conditioned_log_density(m.model, x);
                assert_close(log_max, density, 1e-12 * (1.0 + fabs(density)));
            } else {
                assert_true(log_max == -INFINITY);
            }
            gbsi_tables_free(tables);
            release(&m);
        }
        gbs_model_free(model);
    }
}

/* Chi-square of the draws against the joint; 200 models, and a value above 5 standard deviations
 * of it has a probability below 1e-4 for each: one that is wrong is far beyond. */
static void samples(void **state)
{
    (void)state;
    enum { N = 4000 };
    test_draws_restart();
    for (uint32_t round = 0; round < 200; ++round) {
        gbs_model *model = test_random_model();
        made m = {0};
        double joint[8192];
        static uint32_t count[8192];
        uint32_t x[64];
        gbsi_tables *tables = NULL;
        if (gbsi_condition(model, NULL, &m.model, NULL) != GBS_OK) {
            gbs_model_free(model);
            continue;
        }
        const gbs_status possible = gbsi_enumerate_joint(m.model, joint, NULL);
        gbsi_conditioned_free(m.model);
        make(&m, model, NULL, &no_limits);
        test_ok(gbsi_tables_new(m.tree, GBSI_KEEP_ALL, NULL, &tables, NULL));
        for (uint32_t t = 0; t < m.tree->n_trees; ++t) {
            double part = 0.0;
            gbsi_tree_up(tables, t, &part);
            gbsi_tables_next(tables, t);
        }
        gbsi_tree_accumulate(tables);
        const uint64_t n_states = gbsi_n_states(m.model, NULL);
        memset(count, 0, sizeof count);
        for (uint64_t draw = 0; possible == GBS_OK && draw < N; ++draw) {
            uint64_t index = 0;
            gbsi_tree_draw(tables, 7, round, draw, x);
            for (uint32_t v = 0; v < m.model->n_variables; ++v) {
                index = index * m.model->arity[v] + x[v];
            }
            ++count[index];
        }
        double chi = 0.0;
        double n_cells = 0.0;
        double rest = 0.0; /* small cells are put together */
        double rest_count = 0.0;
        for (uint64_t i = 0; possible == GBS_OK && i < n_states; ++i) {
            const double expected = N * joint[i];
            assert_true(count[i] == 0 || joint[i] > 0.0);
            if (expected < 10.0) {
                rest += expected;
                rest_count += count[i];
            } else {
                chi += (count[i] - expected) * (count[i] - expected) / expected;
                n_cells += 1.0;
            }
        }
        if (rest > 10.0) {
            chi += (rest_count - rest) * (rest_count - rest) / rest;
            n_cells += 1.0;
        }
        assert_true(chi <= n_cells + 5.0 * sqrt(2.0 * n_cells) + 10.0);
        gbsi_tables_free(tables);
        release(&m);
        gbs_model_free(model);
    }
}

/* ---- long factors -------------------------------------------------------------------------- */

static const gbs_logical_function functions[] = {
    GBS_LOGICAL_IMPLY_NATURAL,   GBS_LOGICAL_OR,        GBS_LOGICAL_AND,     GBS_LOGICAL_EQUAL,
    GBS_LOGICAL_IS_TRUE,         GBS_LOGICAL_LINEAR,    GBS_LOGICAL_RATIO,   GBS_LOGICAL_LOGICAL,
    GBS_LOGICAL_AND_CATEGORICAL, GBS_LOGICAL_IMPLY_MLN, GBS_LOGICAL_CLAUSE,  GBS_LOGICAL_PARITY,
    GBS_LOGICAL_AT_LEAST,        GBS_LOGICAL_AT_MOST,   GBS_LOGICAL_EXACTLY,
};
enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

/* Fourteen variables in one factor, some pairs and fields beside it. */
static gbs_model *one_long_factor(uint32_t kind, uint32_t cardinality, double weight)
{
    enum { N = 14 };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[N];
    uint32_t scope[N];
    uint32_t literal[N];
    test_ok(gbs_builder_new(&b, NULL));
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = v == 3 && kind < N_FUNCTIONS ? 3 : 2;
        scope[v] = (v + 3) % N;
    }
    for (uint32_t i = 0; i < N; ++i) {
        literal[i] = test_below(arity[scope[i]]);
    }
    test_ok(gbs_builder_add_variables(b, N, arity, NULL, NULL));
    if (kind < N_FUNCTIONS && functions[kind] >= GBS_LOGICAL_AT_LEAST) {
        test_ok(gbs_builder_add_cardinality(b, functions[kind], cardinality, N, scope, literal,
                                            weight, NULL));
    } else if (kind < N_FUNCTIONS) {
        test_ok(gbs_builder_add_logical(b, functions[kind], N, scope, literal, weight, NULL));
    } else {
        test_ok(gbs_builder_add_spin(b, N, scope, weight, NULL));
    }
    for (uint32_t v = 0; v + 1 < N; ++v) {
        if (arity[v] == 2 && arity[v + 1] == 2) {
            test_ok(gbs_builder_add_ising(b, v, v + 1, test_below(100) / 100.0 - 0.4, NULL));
        }
        if (arity[v] == 2) {
            test_ok(gbs_builder_add_field(b, v, test_below(100) / 100.0 - 0.5, NULL));
        }
    }
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* Every function, soft and hard, alone and with evidence on its head or in its body; and with
 * weight 0, where all literals are alike: then the variables of a chain have one state. */
static void long_factors(void **state)
{
    (void)state;
    uint32_t n_possible = 0;
    test_draws_restart();
    for (uint32_t kind = 0; kind <= N_FUNCTIONS; ++kind) {
        for (uint32_t round = 0; round < 7; ++round) {
            const bool hard =
                round % 2 == 1 && kind != 0 && kind != 5 && kind != 6 && kind != N_FUNCTIONS;
            const uint32_t cardinality = (uint32_t[]){1, 2, 7, 12, 13, 6, 6}[round];
            const double weight = round == 6 ? 0.0 : 1.7 - 0.6 * round;
            gbs_model *model = one_long_factor(kind, cardinality, hard ? INFINITY : weight);
            gbs_evidence *evidence = NULL;
            gbsi_conditioned *conditioned = NULL;
            gbsi_conditioned *chains = NULL;
            test_ok(gbs_evidence_new(model, &evidence, NULL));
            if (round == 4 || round == 5) { /* the head is variable 2 */
                test_ok(gbs_evidence_observe(evidence, round == 4 ? 2 : 8, 1, NULL));
            }
            if (gbsi_condition(model, evidence, &conditioned, NULL) == GBS_OK) {
                test_ok(gbsi_decompose(conditioned, false, &chains, NULL));
                if (!hard && round < 4) { /* evidence may leave a constant */
                    assert_non_null(chains);
                    made m = {0};
                    make(&m, model, evidence, &no_limits);
                    assert_true(m.plan->elimination->part[0].entries < 4096);
                    release(&m);
                }
                check_against_enumeration(model, evidence, &n_possible);
                gbsi_conditioned_free(chains);
                gbsi_conditioned_free(conditioned);
            }
            gbs_evidence_free(evidence);
            gbs_model_free(model);
        }
    }
    assert_true(n_possible >= 60);
}

/* The n-th request for memory fails, for each n. */
static void memory_runs_out(void **state)
{
    (void)state;
    test_draws_restart();
    gbs_model *model = one_long_factor(1, 0, 0.7);
    gbsi_conditioned *conditioned = NULL;
    gbsi_graph *graph = NULL;
    const uint8_t take[] = {1};
    const uint8_t late[14] = {0, 1, 0, 0, 1};
    const gbsi_exact_limits limits = {
        .entries = UINT64_C(1) << 30, .bytes = UINT64_C(1) << 34, .late = late};
    test_ok(gbsi_condition(model, NULL, &conditioned, NULL));
    test_ok(gbsi_graph_new(conditioned, NULL, &graph, NULL));
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t n = 0;
    for (; status != GBS_OK; ++n) {
        gbsi_exact_plan *plan = NULL;
        gbsi_tree *tree = NULL;
        gbsi_tables *tables = NULL;
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        status = gbsi_exact_plan_new(conditioned, graph, &limits, &plan, &err);
        status = status == GBS_OK ? gbsi_exact_plan_tree(plan, take, &tree, &err) : status;
        status =
            status == GBS_OK ? gbsi_tables_new(tree, GBSI_KEEP_ALL, NULL, &tables, &err) : status;
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && strlen(err.message) > 0));
        gbsi_tables_free(tables);
        gbsi_tree_free(tree);
        gbsi_exact_plan_free(plan);
    }
    assert_true(n > 50);
    gbsi_graph_free(graph);
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
}

/* ---- orders -------------------------------------------------------------------------------- */

/* Marginals of a model by an order of elimination alone, or with the local search.
 * @return the entries of its tables. */
static uint64_t solve_by(const gbsi_conditioned *model, const gbsi_graph *graph, uint64_t useful,
                         double *p, double *log_z)
{
    const uint8_t take[] = {1};
    const gbsi_elimination_limits limits = {.entries = UINT64_C(1) << 32,
                                            .effort = GBSI_ELIMINATION_EFFORT,
                                            .useful = useful,
                                            .bytes = UINT64_C(1) << 32};
    gbsi_elimination *elimination = NULL;
    made m = {.model = (gbsi_conditioned *)model}; /* borrowed */
    test_ok(gbsi_elimination_new(graph, &limits, &elimination, NULL));
    const uint64_t entries = elimination->part[0].entries;
    test_ok(gbsi_tree_new(model, elimination, take, NULL, true, &m.tree, NULL));
    m.home = malloc(model->n_variables * sizeof *m.home);
    assert_non_null(m.home);
    gbsi_tree_homes(m.tree, m.home);
    *log_z = calibrate(&m, NULL, p);
    gbsi_tree_free(m.tree);
    gbsi_elimination_free(elimination);
    free(m.home);
    return entries;
}

/* Two very different elimination orders give the same answers, from weights and, if the coupling is
 * strong, from logarithms. */
static void check_two_orders(double coupling, double most)
{
    const gbs_generate_potts_options o = {
        .rows = 9, .columns = 10, .states = 3, .coupling = coupling, .noise = 0.7, .seed = 5};
    gbs_model *model = NULL;
    gbsi_conditioned *conditioned = NULL;
    gbsi_graph *graph = NULL;
    double p[2][9 * 10 * 3];
    double log_z[2];
    test_ok(gbs_generate_potts(&o, &model, NULL));
    test_ok(gbsi_condition(model, NULL, &conditioned, NULL));
    test_ok(gbsi_graph_new(conditioned, NULL, &graph, NULL));
    const uint64_t plain = solve_by(conditioned, graph, 0, p[0], &log_z[0]);
    const uint64_t searched = solve_by(conditioned, graph, UINT64_C(1) << 32, p[1], &log_z[1]);
    assert_true(searched < plain);
    assert_close(log_z[1], log_z[0], 1e-11 * fabs(log_z[0]));
    for (size_t i = 0; i < sizeof p[0] / sizeof *p[0]; ++i) {
        assert_close(p[1][i], p[0][i], most);
    }
    gbsi_graph_free(graph);
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
}

static void two_orders(void **state)
{
    (void)state;
    check_two_orders(0.8, 1e-11);
    check_two_orders(80.0, 1e-11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models),   cmocka_unit_test(maxima),
        cmocka_unit_test(samples),         cmocka_unit_test(long_factors),
        cmocka_unit_test(memory_runs_out), cmocka_unit_test(two_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
