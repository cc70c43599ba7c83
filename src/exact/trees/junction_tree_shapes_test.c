/* SPDX-License-Identifier: Apache-2.0 */
/* Junction trees of shapes on which recursive or quadratic algorithms fail. */
#include "base/test_scale.h"
#include "trees/junction_tree_testing.h"

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

/* A chain of 300 000 spins with a field on the first: linear, and no recursion.
 *     ln Z = ln 2 cosh h + (n - 1) ln 2 cosh J,     E s_k = tanh h tanh(J)^k */
static void long_chain(void **state)
{
    (void)state;
    const uint32_t n = (uint32_t)test_share(300000, 100000);
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

/* A hub with a hundred thousand leaves: the hub's log-odds are the sum of the leaves'
 * contributions. */
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

/* Spins in a row, each coupled to the `width - 1` next ones: cliques of 2^width entries. */
static gbs_model *band(uint32_t n, uint32_t width)
{
    gbs_builder *b = NULL;
    begin_shape(&b, n, 2);
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t j = i + 1; j < n && j < i + width; ++j) {
            test_ok(gbs_builder_add_ising(b, i, j, 0.1, NULL));
        }
    }
    return end_shape(b);
}

/* Checks that the calibration ends when the watch stops.
 * @param down whether the watch begins after the way up. */
static void check_stop(gbs_model *model, bool down)
{
    made m = {0};
    gbsi_tables *tables = NULL;
    double log_z = 0.0;
    double p[64];
    gbsi_watch watch = {.look = stop_at_third, .context = &watch};
    make(&m, model, NULL, &no_limits);
    assert_true(m.tree->model->state_offset[m.tree->model->n_variables] <= 64);
    test_ok(gbsi_tables_new(m.tree, GBSI_KEEP_TABLES, NULL, &tables, NULL));
    tables->watch = down ? NULL : &watch;
    gbsi_tree_up(tables, 0, &log_z);
    if (down) {
        tables->watch = &watch;
        gbsi_tree_down(tables, 0, m.home, p);
    }
    assert_true(gbsi_watch_stopped(&watch));
    assert_int_equal(watch.n_looks, 3);
    assert_true(watch.longest < 4 * GBSI_WATCH_EVERY);
    gbsi_tables_free(tables);
    release(&m);
    gbs_model_free(model);
}

/* One clique of 2^20 entries on the way up, cliques of 2^18 entries in a row on the way down. */
static void calibration_stops(void **state)
{
    (void)state;
    check_stop(band(20, 20), false);
    check_stop(band(24, 18), true);
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
    /* p(0), p(1 | 0) = 1 / K, p(2 | 1): 0 if the state of 1 is even; p(3 | 1) = 1 / L */
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

/* Log-weights far beyond the range of doubles, of both signs: nothing underflows. */
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

/* Tables or, where memory is short, messages alone give the same samples and most probable states,
 * with threads and without. */
static void rows_made_again(void **state)
{
    (void)state;
    gbsi_exact_limits limits = no_limits;
    test_draws_restart();
    for (uint32_t round = 0; round < 100; ++round) {
        gbs_model *model = test_random_model();
        gbsi_conditioned *possible = NULL;
        limits.maximise = round % 2 == 1;
        if (gbsi_condition(model, NULL, &possible, NULL) == GBS_OK) {
            made m = {0};
            make(&m, model, NULL, &limits);
            draw_both_ways(&m, limits.maximise, NULL);
            release(&m);
        }
        gbsi_conditioned_free(possible);
        gbs_model_free(model);
    }
    gbs_builder *b = NULL;
    gbsi_pool *pool = NULL;
    begin_shape(&b, 18, 2); /* rows of 2^18 entries: longer than a piece */
    for (uint32_t v = 0; v < 18; ++v) {
        for (uint32_t u = 0; u < v; ++u) {
            test_ok(gbs_builder_add_ising(b, u, v, 0.1 * ((u * 7 + v * 3) % 11) - 0.4, NULL));
        }
    }
    gbs_model *model = end_shape(b);
    made m = {0};
    test_ok(gbsi_pool_new(2, &pool, NULL));
    make(&m, model, NULL, &no_limits);
    draw_both_ways(&m, false, pool);
    release(&m);
    gbsi_pool_free(pool);
    gbs_model_free(model);
}

/* Arms of 16 spins, each coupled to the ten before it, that meet in a band of 17: every arm is a
 * branch or more, and the band is none. */
static gbs_model *arms(uint32_t n_arms)
{
    enum { BAND = 17, ARM = 16 };
    gbs_builder *b = NULL;
    begin_shape(&b, BAND + n_arms * ARM, 2);
    for (uint32_t i = 0; i < BAND; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            test_ok(gbs_builder_add_ising(b, j, i, 0.01 * ((i * 5 + j) % 7) - 0.02, NULL));
        }
    }
    for (uint32_t arm = 0; arm < n_arms; ++arm) {
        const uint32_t first = BAND + arm * ARM;
        test_ok(gbs_builder_add_ising(b, arm % BAND, first, 0.3, NULL));
        for (uint32_t i = 0; i < ARM; ++i) {
            test_ok(gbs_builder_add_field(b, first + i, 0.02 * ((i * 3 + arm) % 9), NULL));
            for (uint32_t j = i < 10 ? 0 : i - 10; j < i; ++j) {
                test_ok(gbs_builder_add_ising(b, first + j, first + i,
                                              0.05 * ((i + arm * j) % 5) - 0.1, NULL));
            }
        }
    }
    return end_shape(b);
}

/* Branches give the same bits on all numbers of threads and with every gbsi_keep. */
static void branches(void **state)
{
    (void)state;
    gbs_model *model = arms(20);
    made m = {0};
    make(&m, model, NULL, &no_limits);
    const size_t n_states = m.tree->model->state_offset[m.tree->model->n_variables];
    double *first = malloc(n_states * sizeof *first);
    double *p = malloc(n_states * sizeof *p);
    uint32_t n_outside = 0;
    assert_true(first != NULL && p != NULL);
    assert_true(m.tree->branch_start[1] >= 4);
    for (uint32_t i = 0; i < m.tree->n_cliques; ++i) {
        n_outside += !m.tree->clique[i].in_branch;
    }
    assert_true(n_outside > 0 && n_outside < m.tree->n_cliques / 2);
    const double log_z = calibrate(&m, NULL, first);
    for (uint32_t threads = 2; threads <= 4; ++threads) {
        gbsi_pool *pool = NULL;
        test_ok(gbsi_pool_new(threads, &pool, NULL));
        memset(p, 0, n_states * sizeof *p);
        assert_true(calibrate(&m, pool, p) == log_z);
        assert_memory_equal(p, first, n_states * sizeof *p);
        gbsi_pool_free(pool);
    }
    release(&m);
    free(first);
    free(p);
    gbs_model_free(model);
}

/* Branches stop with the watch of the caller. */
static void branches_stop(void **state)
{
    (void)state;
    gbs_model *model = arms(20);
    made m = {0};
    gbsi_pool *pool = NULL;
    gbsi_tables *tables = NULL;
    double log_z = 0.0;
    gbsi_watch watch = {.look = stop_at_third, .context = &watch};
    make(&m, model, NULL, &no_limits);
    test_ok(gbsi_pool_new(3, &pool, NULL));
    test_ok(gbsi_tables_new(m.tree, GBSI_KEEP_TABLES, pool, &tables, NULL));
    tables->watch = &watch;
    gbsi_tree_up(tables, 0, &log_z);
    assert_true(gbsi_watch_stopped(&watch));
    assert_true(watch.n_looks >= 3);
    gbsi_tables_free(tables);
    gbsi_pool_free(pool);
    release(&m);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_chain),        cmocka_unit_test(star),
        cmocka_unit_test(one_clique),        cmocka_unit_test(hubs),
        cmocka_unit_test(calibration_stops), cmocka_unit_test(large_arity),
        cmocka_unit_test(extreme_weights),   cmocka_unit_test(same_bits),
        cmocka_unit_test(rows_made_again),   cmocka_unit_test(branches),
        cmocka_unit_test(branches_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
