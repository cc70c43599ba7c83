/* SPDX-License-Identifier: Apache-2.0 */
/* Junction trees against enumeration, and in shapes that break recursive or quadratic ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "exact/decompose.h"
#include "exact/enumerate.h"
#include "exact/plan.h"
#include "exact/testing.h"
#include "rng/philox.h"
#include "simd/dispatch.h"
#include "simd/math.h"

static const gbsi_exact_limits no_limits = {.entries = UINT64_C(1) << 30,
                                            .bytes = UINT64_C(1) << 34};

typedef struct made {
    gbsi_conditioned *model;
    gbsi_graph *graph;
    gbsi_exact_plan *plan;
    gbsi_tree *tree;
    uint32_t *home;
} made;

static void make(made *m, const gbs_model *model, const gbs_evidence *evidence,
                 const gbsi_exact_limits *limits)
{
    uint8_t take[64];
    test_ok(gbsi_condition(model, evidence, &m->model, NULL));
    test_ok(gbsi_graph_new(m->model, NULL, &m->graph, NULL));
    test_ok(gbsi_exact_plan_new(m->model, m->graph, limits, &m->plan, NULL));
    assert_true(m->plan->elimination->n_parts <= sizeof take);
    memset(take, 1, sizeof take);
    test_ok(gbsi_exact_plan_tree(m->plan, take, &m->tree, NULL));
    m->home = malloc((m->tree->model->n_variables + 1u) * sizeof *m->home);
    assert_non_null(m->home);
    gbsi_tree_homes(m->tree, m->home);
}

static void release(made *m)
{
    gbsi_tree_free(m->tree);
    gbsi_exact_plan_free(m->plan);
    gbsi_graph_free(m->graph);
    gbsi_conditioned_free(m->model);
    free(m->home);
    memset(m, 0, sizeof *m);
}

/* Marginals of all variables of the tree's model. @return ln Z. */
static double calibrate(const made *m, gbsi_pool *pool, double *p)
{
    gbsi_tables *tables = NULL;
    double log_z = m->model->log_constant;
    test_ok(gbsi_tables_new(m->tree, false, pool, &tables, NULL));
    for (uint32_t t = 0; t < m->tree->n_trees; ++t) {
        double part = 0.0;
        gbsi_tree_up(tables, t, &part);
        log_z += part;
        if (part > -INFINITY && p != NULL) {
            gbsi_tree_down(tables, t, m->home, p, NULL, 0);
        }
    }
    gbsi_tables_free(tables);
    return log_z;
}

static void assert_close(double found, double expected, double most)
{
    if (!(fabs(found - expected) <= most)) {
        fail_msg("%.17g, expected %.17g", found, expected);
    }
}

static void check_against_enumeration(const gbs_model *model, const gbs_evidence *evidence,
                                      uint32_t *n_possible)
{
    made m = {0};
    double p[256];
    double expected[256];
    double log_z = 0.0;
    if (gbsi_condition(model, evidence, &m.model, NULL) == GBS_ERR_IMPOSSIBLE) {
        return;
    }
    gbsi_conditioned_free(m.model);
    make(&m, model, evidence, &no_limits);
    assert_true(m.tree->model->state_offset[m.tree->model->n_variables] <= 256);
    const gbs_status status = gbsi_enumerate(m.model, expected, &log_z, NULL);
    if (status == GBS_OK) {
        ++*n_possible;
        assert_close(calibrate(&m, NULL, p), log_z, 1e-12 * (1.0 + fabs(log_z)));
        for (size_t i = 0; i < m.model->state_offset[m.model->n_variables]; ++i) {
            assert_close(p[i], expected[i], 1e-12);
        }
    } else {
        assert_int_equal(status, GBS_ERR_IMPOSSIBLE);
        assert_true(calibrate(&m, NULL, p) == -INFINITY);
    }
    release(&m);
}

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
            test_ok(gbsi_tables_new(m.tree, false, NULL, &tables, NULL));
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
        test_ok(gbsi_tables_new(m.tree, true, NULL, &tables, NULL));
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
    GBS_LOGICAL_IMPLY_NATURAL,   GBS_LOGICAL_OR,        GBS_LOGICAL_AND,    GBS_LOGICAL_EQUAL,
    GBS_LOGICAL_IS_TRUE,         GBS_LOGICAL_LINEAR,    GBS_LOGICAL_RATIO,  GBS_LOGICAL_LOGICAL,
    GBS_LOGICAL_AND_CATEGORICAL, GBS_LOGICAL_IMPLY_MLN, GBS_LOGICAL_CLAUSE,
};

/* Fourteen variables in one factor, some pairs and fields beside it. */
static gbs_model *one_long_factor(uint32_t kind, double weight)
{
    enum { N = 14 };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[N];
    uint32_t scope[N];
    uint32_t literal[N];
    test_ok(gbs_builder_new(&b, NULL));
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = v == 3 && kind < 11 ? 3 : 2;
        scope[v] = (v + 3) % N;
    }
    for (uint32_t i = 0; i < N; ++i) {
        literal[i] = test_below(arity[scope[i]]);
    }
    test_ok(gbs_builder_add_variables(b, N, arity, NULL, NULL));
    if (kind < 11) {
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

/* Every function, soft and hard, alone and with evidence on its head or in its body. */
static void long_factors(void **state)
{
    (void)state;
    uint32_t n_possible = 0;
    test_draws_restart();
    for (uint32_t kind = 0; kind < 12; ++kind) {
        for (uint32_t round = 0; round < 6; ++round) {
            const bool hard = round % 2 == 1 && kind != 0 && kind != 5 && kind != 6 && kind != 11;
            gbs_model *model = one_long_factor(kind, hard ? INFINITY : 1.7 - 0.6 * round);
            gbs_evidence *evidence = NULL;
            gbsi_conditioned *conditioned = NULL;
            gbsi_conditioned *chains = NULL;
            test_ok(gbs_evidence_new(model, &evidence, NULL));
            if (round >= 4) { /* the head is variable 2 */
                test_ok(gbs_evidence_observe(evidence, round == 4 ? 2 : 8, 1, NULL));
            }
            if (gbsi_condition(model, evidence, &conditioned, NULL) == GBS_OK) {
                test_ok(gbsi_decompose(conditioned, &chains, NULL));
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

/* ---- shapes -------------------------------------------------------------------------------- */

/* Calibrates a model that has one tree. @return ln Z; p of `variable` = 0 in *p0. */
static double solve_shape(const gbs_model *model, uint32_t variable, double *p0, uint64_t *entries)
{
    gbsi_conditioned *conditioned = NULL;
    gbsi_graph *graph = NULL;
    gbsi_exact_plan *plan = NULL;
    gbsi_tree *tree = NULL;
    test_ok(gbsi_condition(model, NULL, &conditioned, NULL));
    test_ok(gbsi_graph_new(conditioned, NULL, &graph, NULL));
    test_ok(gbsi_exact_plan_new(conditioned, graph, &no_limits, &plan, NULL));
    uint8_t *take = malloc(plan->elimination->n_parts + 1u);
    assert_non_null(take);
    memset(take, 1, plan->elimination->n_parts);
    test_ok(gbsi_exact_plan_tree(plan, take, &tree, NULL));
    made m = {conditioned, graph, plan, tree, NULL};
    m.home = malloc((tree->model->n_variables + 1u) * sizeof *m.home);
    double *p = malloc((tree->model->state_offset[tree->model->n_variables] + 1) * sizeof *p);
    assert_true(m.home != NULL && p != NULL);
    gbsi_tree_homes(tree, m.home);
    *entries = tree->n_entries;
    const double log_z = calibrate(&m, NULL, p);
    *p0 = p[tree->model->state_offset[variable]];
    free(take);
    free(p);
    release(&m);
    return log_z;
}

static void begin_shape(gbs_builder **b, uint32_t n, uint32_t arity)
{
    uint32_t *arities = malloc(n * sizeof *arities);
    assert_non_null(arities);
    for (uint32_t v = 0; v < n; ++v) {
        arities[v] = arity;
    }
    test_ok(gbs_builder_new(b, NULL));
    test_ok(gbs_builder_add_variables(*b, n, arities, NULL, NULL));
    free(arities);
}

static gbs_model *end_shape(gbs_builder *b)
{
    gbs_model *model = NULL;
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* A chain of a million spins with a field on the first: linear, and no recursion.
 *     ln Z = ln 2 cosh h + (n - 1) ln 2 cosh J,     E s_k = tanh h tanh(J)^k */
static void long_chain(void **state)
{
    (void)state;
    const uint32_t n = 1000000;
    const double coupling = 1.5;
    const double h = 0.3;
    double p0 = 0.0;
    uint64_t entries = 0;
    gbs_builder *b = NULL;
    begin_shape(&b, n, 2);
    for (uint32_t v = 0; v + 1 < n; ++v) {
        test_ok(gbs_builder_add_ising(b, v, v + 1, coupling, NULL));
    }
    test_ok(gbs_builder_add_field(b, 0, h, NULL));
    gbs_model *model = end_shape(b);
    const double expected = log(2 * cosh(h)) + (n - 1) * log(2 * cosh(coupling));
    assert_close(solve_shape(model, 5, &p0, &entries), expected, 1e-13 * expected);
    assert_close(p0, 0.5 * (1 - tanh(h) * pow(tanh(coupling), 5)), 1e-12);
    assert_int_equal(entries, 4 * (n - 1));
    gbs_model_free(model);
}

/* A hub with a hundred thousand leaves: the hub's log-odds are the sum of what the leaves say. */
static void star(void **state)
{
    (void)state;
    const uint32_t n = 100001;
    double p0 = 0.0;
    uint64_t entries = 0;
    gbs_builder *b = NULL;
    begin_shape(&b, n, 2);
    for (uint32_t v = 1; v < n; ++v) {
        test_ok(gbs_builder_add_ising(b, 0, v, 0.001, NULL));
        test_ok(gbs_builder_add_field(b, v, 0.01, NULL));
    }
    gbs_model *model = end_shape(b);
    const double up = (n - 1) * log(2 * cosh(0.011));
    const double down = (n - 1) * log(2 * cosh(0.009));
    assert_close(solve_shape(model, 0, &p0, &entries), up + log1p(exp(down - up)), 1e-9);
    assert_close(p0, 1 / (1 + exp(up - down)), 1e-9);
    assert_int_equal(entries, 4 * (n - 1));
    gbs_model_free(model);
}

/* One clique of 22 spins with mean-field couplings: a sum over the magnetisation. */
static void one_clique(void **state)
{
    (void)state;
    const uint32_t n = 22;
    const double coupling = 0.03;
    double p0 = 0.0;
    uint64_t entries = 0;
    gbs_builder *b = NULL;
    begin_shape(&b, n, 2);
    double z = 0.0;
    double z0 = 0.0;
    double ways = 1.0;
    for (uint32_t k = 0; k <= n; ++k) { /* spins up */
        const double s = 2.0 * k - n;
        const double w = ways * exp(coupling * (s * s - n) / 2 + 0.1 * s);
        z += w;
        z0 += w * (n - k) / n;
        ways *= (double)(n - k) / (k + 1);
    }
    for (uint32_t v = 0; v < n; ++v) {
        for (uint32_t u = 0; u < v; ++u) {
            test_ok(gbs_builder_add_ising(b, u, v, coupling, NULL));
        }
        test_ok(gbs_builder_add_field(b, v, 0.1, NULL));
    }
    gbs_model *model = end_shape(b);
    assert_close(solve_shape(model, 7, &p0, &entries), log(z), 1e-11);
    assert_close(p0, z0 / z, 1e-12);
    assert_true(entries >= UINT64_C(1) << n && entries < (UINT64_C(5) << n) / 4); /* and hubs */
    gbs_model_free(model);
}

/* Spins all coupled, with leaves and triples: hubs between the clique and all of them. */
static bool stop_at_third(void *context)
{
    const gbsi_watch *watch = context;
    return watch->n_looks >= 3;
}

/* A clique of 2^20 entries: the way up ends with the look that says so. */
static void calibration_stops(void **state)
{
    (void)state;
    enum { N = 20 };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    made m = {0};
    gbsi_tables *tables = NULL;
    double log_z = 0.0;
    gbsi_watch watch = {.look = stop_at_third, .context = &watch};
    begin_shape(&b, N, 2);
    for (uint32_t i = 0; i < N; ++i) {
        for (uint32_t j = i + 1; j < N; ++j) {
            test_ok(gbs_builder_add_ising(b, i, j, 0.1, NULL));
        }
    }
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    make(&m, model, NULL, &no_limits);
    test_ok(gbsi_tables_new(m.tree, false, NULL, &tables, NULL));
    tables->watch = &watch;
    gbsi_tree_up(tables, 0, &log_z);
    assert_true(gbsi_watch_stopped(&watch));
    assert_int_equal(watch.n_looks, 3);
    assert_true(watch.longest < 4 * GBSI_WATCH_EVERY);
    gbsi_tables_free(tables);
    release(&m);
    gbs_model_free(model);
}

static void hubs(void **state)
{
    (void)state;
    enum { CORE = 14, LEAVES = 5 };
    uint32_t n_possible = 0;
    test_draws_restart();
    for (uint32_t round = 0; round < 4; ++round) {
        gbs_builder *b = NULL;
        begin_shape(&b, CORE + LEAVES, 2);
        for (uint32_t v = 0; v < CORE; ++v) {
            for (uint32_t u = 0; u < v; ++u) {
                test_ok(gbs_builder_add_ising(b, u, v, test_below(100) / 200.0 - 0.25, NULL));
            }
        }
        for (uint32_t leaf = CORE; leaf < CORE + LEAVES; ++leaf) {
            const uint32_t scope[] = {leaf, test_below(CORE / 2), CORE / 2 + test_below(CORE / 2)};
            test_ok(gbs_builder_add_spin(b, 3, scope, test_below(100) / 50.0 - 1.0, NULL));
        }
        gbs_model *model = end_shape(b);
        made m = {0};
        make(&m, model, NULL, &no_limits);
        uint32_t n_hubs = 0;
        for (uint32_t i = 0; i < m.tree->n_cliques; ++i) {
            n_hubs += m.tree->clique[i].n_own == 0;
        }
        assert_true(n_hubs >= 2);
        release(&m);
        check_against_enumeration(model, NULL, &n_possible);
        gbs_model_free(model);
    }
    assert_int_equal(n_possible, 4);
}

/* The largest arity beside spins and beside another variable of many states. */
static void large_arity(void **state)
{
    (void)state;
    enum { K = 65535, L = 30 };
    const uint32_t arity[] = {2, K, 2, L};
    const uint32_t scope[][2] = {{0, 1}, {1, 2}, {3, 1}};
    const size_t n_entries[] = {2 * K, 2 * K, (size_t)L * K};
    double p0 = 0.0;
    double log_z = 0.0;
    uint64_t entries = 0;
    gbs_builder *b = NULL;
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, 4, arity, NULL, NULL));
    /* p(0), p(1 | 0) = 1 / K, p(2 | 1): 0 where the state of 1 is even; p(3 | 1) = 1 / L */
    for (uint32_t f = 0; f < 3; ++f) {
        double *logw = malloc(n_entries[f] * sizeof *logw);
        uint32_t table = 0;
        assert_non_null(logw);
        for (size_t e = 0; e < n_entries[f]; ++e) {
            logw[e] = f == 0   ? log(e < K ? 0.25 : 0.75) - log(K)
                      : f == 1 ? ((e / 2 + e % 2) % 2 == 0 ? 0.0 : -INFINITY)
                               : -log(L);
        }
        test_ok(gbs_builder_add_table(b, n_entries[f], logw, &table, NULL));
        test_ok(gbs_builder_add_table_factor(b, 2, scope[f], table, NULL));
        free(logw);
    }
    gbs_model *model = end_shape(b);
    log_z = solve_shape(model, 0, &p0, &entries);
    assert_close(log_z, 0.0, 1e-10);
    assert_close(p0, 0.25, 1e-12);
    log_z = solve_shape(model, 2, &p0, &entries);
    assert_close(p0, 32768.0 / K, 1e-12);
    assert_int_equal(entries, 2 * K + 2 * K + L * K);
    gbs_model_free(model);
}

/* Log-weights far beyond the range of doubles, pulling both ways: nothing underflows. */
static void extreme_weights(void **state)
{
    (void)state;
    double p0 = 0.0;
    uint64_t entries = 0;
    gbs_builder *b = NULL;
    begin_shape(&b, 4, 2);
    test_ok(gbs_builder_add_field(b, 0, 3000.0, NULL));
    test_ok(gbs_builder_add_field(b, 3, -3000.5, NULL));
    for (uint32_t v = 0; v < 3; ++v) {
        test_ok(gbs_builder_add_ising(b, v, v + 1, 5000.0, NULL));
    }
    gbs_model *model = end_shape(b);
    const double log_z = solve_shape(model, 1, &p0, &entries);
    assert_close(log_z, 15000.5 + log1p(exp(-1.0)), 1e-11);
    assert_close(p0, 1 / (1 + exp(-1.0)), 1e-12);
    gbs_model_free(model);
}

/* Threads and instruction sets give the same bits, also where tables are large enough to share. */
static void same_bits(void **state)
{
    (void)state;
    gbs_builder *b = NULL;
    begin_shape(&b, 60, 3);
    for (uint32_t v = 0; v < 60; ++v) { /* a band of width 9 */
        for (uint32_t u = v < 9 ? 0 : v - 9; u < v; ++u) {
            test_ok(gbs_builder_add_potts(b, u, v, 0.1 * ((u * 7 + v * 3) % 11) - 0.4, NULL));
        }
    }
    gbs_model *model = end_shape(b);
    made m = {0};
    make(&m, model, NULL, &no_limits);
    double first[180];
    double p[180];
    const gbsi_simd best = gbsi_simd_level();
    const double log_z = calibrate(&m, NULL, first);
    for (uint32_t threads = 1; threads <= 3; ++threads) {
        gbsi_pool *pool = NULL;
        test_ok(gbsi_pool_new(threads, &pool, NULL));
        for (gbsi_simd level = GBSI_SIMD_PORTABLE; level < GBSI_N_SIMD; ++level) {
            if (!gbsi_simd_has(level) || (threads == 2 && level != best)) {
                continue;
            }
            gbsi_simd_force(level);
            memset(p, 0, sizeof p);
            assert_true(calibrate(&m, pool, p) == log_z);
            assert_memory_equal(p, first, sizeof p);
        }
        gbsi_pool_free(pool);
    }
    gbsi_simd_force(best);
    release(&m);
    gbs_model_free(model);
}

/* The n-th request for memory fails, for each n. */
static void memory_runs_out(void **state)
{
    (void)state;
    test_draws_restart();
    gbs_model *model = one_long_factor(1, 0.7);
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
        status = status == GBS_OK ? gbsi_tables_new(tree, true, NULL, &tables, &err) : status;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models),     cmocka_unit_test(maxima),
        cmocka_unit_test(samples),           cmocka_unit_test(long_factors),
        cmocka_unit_test(long_chain),        cmocka_unit_test(star),
        cmocka_unit_test(one_clique),        cmocka_unit_test(hubs),
        cmocka_unit_test(calibration_stops), cmocka_unit_test(large_arity),
        cmocka_unit_test(extreme_weights),   cmocka_unit_test(same_bits),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
