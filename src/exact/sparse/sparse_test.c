/* SPDX-License-Identifier: Apache-2.0 */
/* Compares sparse tables with enumeration and with dense tables, on models that are small enough
 * for these. */
#include "sparse/sparse.h"

#include "base/budget.h"
#include "gibbsite/exact.h"
#include "trees/junction_tree_testing.h"

static const gbsi_sparse_limits no_end = {.ns = 1e12, .bytes = UINT64_C(1) << 34};

typedef struct sparse_model {
    made made;
    gbsi_components *components;
    uint8_t dense[64]; /* zeros: sparse tables for all that have zeros */
    gbsi_sparse *first;
} sparse_model;

static gbs_status thin_by(sparse_model *m, const gbs_model *model, const gbsi_exact_limits *exact,
                          const gbsi_sparse_limits *limits)
{
    make(&m->made, model, NULL, exact);
    test_ok(gbsi_components_new(m->made.graph, &m->components, NULL));
    return gbsi_sparse_new(m->components, m->made.plan, limits, m->dense, 0.0, &m->first, NULL);
}

static gbs_status thin(sparse_model *m, const gbs_model *model, const gbsi_sparse_limits *limits)
{
    return thin_by(m, model, &no_limits, limits);
}

static void unthin(sparse_model *m)
{
    gbsi_sparse_free(m->first);
    gbsi_components_free(m->components);
    release(&m->made);
}

static double sum_sparse(const sparse_model *m, double *p)
{
    double log_z = m->made.model->log_constant;
    for (const gbsi_sparse *at = m->first; at != NULL; at = at->next) {
        double part = 0.0;
        test_ok(gbsi_sparse_sum(at, NULL, p, &part, NULL));
        log_z += part;
    }
    return log_z;
}

static bool is_all_sparse(const sparse_model *m)
{
    uint32_t n = 0;
    for (const gbsi_sparse *at = m->first; at != NULL; at = at->next, ++n) {
        assert_true(m->components->has_zeros[at->component] != 0);
    }
    return n == m->components->n;
}

static void against_enumeration(void **state)
{
    (void)state;
    uint64_t seed = 15;
    uint32_t n_answered = 0;
    uint32_t n_impossible = 0;
    for (uint32_t i = 0; i < 1500; ++i) {
        gbs_model *model = random_model_of(&seed, (random_size){MOST_VARIABLES, 4, 15, 2}, 20);
        gbsi_conditioned *possible = NULL;
        sparse_model m = {0};
        double p[64];
        double expected[64];
        double log_z = 0.0;
        if (gbsi_condition(model, NULL, &possible, NULL) == GBS_OK) {
            test_ok(thin(&m, model, &no_end));
            const gbs_status status = gbsi_enumerate(possible, NULL, expected, &log_z, NULL);
            if (is_all_sparse(&m) && status == GBS_OK) {
                ++n_answered;
                assert_close(sum_sparse(&m, p), log_z, 1e-12 * (1.0 + fabs(log_z)));
                for (size_t s = 0; s < possible->state_offset[possible->n_variables]; ++s) {
                    assert_close(p[s], expected[s], 1e-12);
                }
                assert_close(sum_sparse(&m, NULL), log_z, 1e-12 * (1.0 + fabs(log_z)));
            } else if (status != GBS_OK && is_all_sparse(&m)) {
                ++n_impossible;
                assert_true(sum_sparse(&m, p) == -INFINITY);
            }
            unthin(&m);
        }
        gbsi_conditioned_free(possible);
        gbs_model_free(model);
    }
    assert_true(n_answered > 300);
    assert_true(n_impossible > 0);
}

static double maximise_sparse(const sparse_model *m, uint32_t *x)
{
    double found = m->made.model->log_constant;
    for (const gbsi_sparse *at = m->first; at != NULL; at = at->next) {
        double part = 0.0;
        test_ok(gbsi_sparse_maximise(at, NULL, x, &part, NULL));
        found += part;
    }
    return found;
}

static void most_probable(void **state)
{
    (void)state;
    uint32_t n_answered = 0;
    uint64_t seed = 16;
    gbsi_exact_limits maximum = no_limits;
    maximum.maximise = true;
    for (uint32_t i = 0; i < 600; ++i) {
        gbs_model *model = random_model_of(&seed, (random_size){MOST_VARIABLES, 4, 15, 0}, 20);
        uint32_t x[16] = {0};
        uint32_t best[16];
        double expected = 0.0;
        sparse_model m = {0};
        if (gbs_exact_map(model, NULL, NULL, NULL, best, &expected, NULL, NULL) == GBS_OK) {
            test_ok(thin_by(&m, model, &maximum, &no_end));
            const double found = maximise_sparse(&m, x);
            if (is_all_sparse(&m)) {
                assert_close(found, expected, 1e-12 * (1.0 + fabs(expected)));
                assert_close(gbsi_conditioned_log_density(m.made.model, x), expected,
                             1e-12 * (1.0 + fabs(expected)));
                ++n_answered;
            }
            unthin(&m);
        }
        gbs_model_free(model);
    }
    assert_true(n_answered > 200);
}

/* Solves the model by dense tables. */
static double solve_dense(const made *m, uint32_t *x)
{
    gbsi_tables *tables = NULL;
    double found = m->model->log_constant;
    test_ok(gbsi_tables_new(m->tree, GBSI_KEEP_TABLES, NULL, &tables, NULL));
    for (uint32_t t = 0; t < m->tree->n_trees; ++t) {
        double part = 0.0;
        gbsi_tree_up(tables, t, &part);
        found += part;
        if (part > -INFINITY) {
            gbsi_tree_trace(tables, t, x);
        }
    }
    gbsi_tables_free(tables);
    return found;
}

/* The largest sum of any state of the query, or by any order a bound of it, by dense tables of the
 * same order, which other tests compare with enumeration. */
static void marginal_map(void **state)
{
    (void)state;
    uint32_t n_answered = 0;
    uint64_t seed = 18;
    for (uint32_t i = 0; i < 900; ++i) {
        gbs_model *model = random_model_of(&seed, (random_size){MOST_VARIABLES, 4, 15, 0}, 20);
        gbsi_conditioned *possible = NULL;
        sparse_model m = {0};
        uint8_t late[MOST_VARIABLES];
        gbsi_exact_limits limits = no_limits;
        limits.late = late;
        limits.any_order = i % 3 == 2;
        for (uint32_t v = 0; v < MOST_VARIABLES; ++v) {
            late[v] = random_below(&seed, 2) != 0;
        }
        if (gbsi_condition(model, NULL, &possible, NULL) == GBS_OK) {
            uint32_t x[64] = {0};
            uint32_t expected[64] = {0};
            test_ok(thin_by(&m, model, &limits, &no_end));
            const double log_p = solve_dense(&m.made, expected);
            if (is_all_sparse(&m) && log_p > -INFINITY) {
                ++n_answered;
                assert_close(maximise_sparse(&m, x), log_p, 1e-12 * (1.0 + fabs(log_p)));
                assert_true(sum_sparse(&m, NULL) == maximise_sparse(&m, x));
                for (uint32_t v = 0; v < possible->n_variables; ++v) {
                    assert_true(late[v] == 0 || limits.any_order || x[v] == expected[v]);
                }
            }
            unthin(&m);
        }
        gbsi_conditioned_free(possible);
        gbs_model_free(model);
    }
    assert_true(n_answered > 200);
}

/* Latin squares: no two cells of a row or column in the same state. Cell v has the number order[v],
 * and log-weight 0.1 of its own for each state, unless `flat`. */
static gbs_model *latin_squares(uint32_t n, const uint32_t *order, bool flat)
{
    uint32_t arity[25];
    double unequal[25];
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t table = 0;
    for (uint32_t e = 0; e < n * n; ++e) {
        arity[e] = n;
        unequal[e] = e / n == e % n ? -INFINITY : 0.0;
    }
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, n * n, arity, NULL, NULL));
    test_ok(gbs_builder_add_table(b, n * n, unequal, &table, NULL));
    for (uint32_t v = 0; v < n * n; ++v) {
        double logw[5];
        for (uint32_t u = 0; u < v; ++u) {
            if (u / n == v / n || u % n == v % n) {
                const uint32_t scope[2] = {order[u], order[v]};
                test_ok(gbs_builder_add_table_factor(b, 2, scope, table, NULL));
            }
        }
        for (uint32_t k = 0; k < n; ++k) {
            logw[k] = flat ? 0.0 : 0.1 * ((v * 7 + k * 3) % 11);
        }
        uint32_t own = 0;
        test_ok(gbs_builder_add_table(b, n, logw, &own, NULL));
        test_ok(gbs_builder_add_table_factor(b, 1, &order[v], own, NULL));
    }
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

static const uint32_t ascending[25] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                       13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
static const uint32_t shuffled[16] = {7, 2, 13, 0, 9, 11, 4, 15, 1, 14, 6, 3, 12, 8, 5, 10};

/* There are 576 squares of order 4, of which each cell has each state equally often; sparse tables
 * are chosen beside dense ones that fit, and are more than 8 times smaller. */
static void counts_squares(void **state)
{
    (void)state;
    gbs_model *model = latin_squares(4, ascending, true);
    gbsi_sparse_limits limits = no_end;
    sparse_model m = {0};
    double p[64];
    limits.least = GBSI_SPARSE_LEAST;
    m.dense[0] = 1;
    make(&m.made, model, NULL, &no_limits);
    test_ok(gbsi_components_new(m.made.graph, &m.components, NULL));
    test_ok(gbsi_sparse_new(m.components, m.made.plan, &limits, m.dense, GBSI_TABLES_NS, &m.first,
                            NULL));
    assert_non_null(m.first);
    assert_true(8.0 * m.first->n_entries < (double)m.made.tree->n_entries);
    assert_close(sum_sparse(&m, p), log(576.0), 1e-13);
    for (uint32_t s = 0; s < 64; ++s) {
        assert_close(p[s], 0.25, 1e-14);
    }
    gbsi_sparse_mark(m.first, 0, m.dense);
    assert_int_equal(m.dense[0], 0);
    unthin(&m);
    gbs_model_free(model);
}

/* Dense tables of the same order, and sparse ones of another, agree. */
static void orders_agree(void **state)
{
    (void)state;
    gbs_model *model[2] = {latin_squares(4, ascending, false), latin_squares(4, shuffled, false)};
    sparse_model m[2] = {{.first = NULL}, {.first = NULL}};
    double p[2][64];
    double dense[64];
    for (uint32_t i = 0; i < 2; ++i) {
        test_ok(thin(&m[i], model[i], &no_end));
    }
    uint32_t n_alike = 0;
    for (uint32_t i = 0; i < 16; ++i) {
        n_alike += shuffled[m[0].made.plan->elimination->order[i]] ==
                   m[1].made.plan->elimination->order[i];
    }
    assert_true(n_alike < 16);
    const double log_z = sum_sparse(&m[0], p[0]);
    assert_close(log_z, sum_sparse(&m[1], p[1]), 1e-12);
    assert_close(log_z, calibrate(&m[0].made, NULL, dense), 1e-12);
    for (uint32_t s = 0; s < 64; ++s) {
        assert_close(p[0][s], dense[s], 1e-13);
        assert_close(p[0][s], p[1][4 * shuffled[s / 4] + s % 4], 1e-13);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        unthin(&m[i]);
        gbs_model_free(model[i]);
    }
}

/* Where few entries are zero the search ends early, and there are dense tables. */
static void gives_up_early(void **state)
{
    (void)state;
    static const double logw[8] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -INFINITY};
    uint32_t arity[40];
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t table = 0;
    gbsi_watch watch = {0};
    gbsi_sparse_limits limits = no_end;
    sparse_model m = {.dense = {1}};
    for (uint32_t v = 0; v < 40; ++v) {
        arity[v] = 2;
    }
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, 40, arity, NULL, NULL));
    test_ok(gbs_builder_add_table(b, 8, logw, &table, NULL));
    for (uint32_t v = 16; v < 40; ++v) {
        test_ok(gbs_builder_add_table_factor(b, 3, (uint32_t[]){v - 16, v - 9, v}, table, NULL));
    }
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    limits.watch = &watch;
    make(&m.made, model, NULL, &no_limits);
    test_ok(gbsi_components_new(m.made.graph, &m.components, NULL));
    test_ok(gbsi_sparse_new(m.components, m.made.plan, &limits, m.dense, GBSI_TABLES_NS, &m.first,
                            NULL));
    assert_null(m.first);
    assert_true((double)watch.spent < (double)m.made.tree->n_entries * GBSI_TABLES_NS / 16.0);
    unthin(&m);
    gbs_model_free(model);
}

/* Eight draws, dense tables for the components that are not sparse. @param x [8][64] out. */
static void draw_sparse(const sparse_model *m, uint32_t *x)
{
    uint8_t take[64];
    gbsi_tree *others = NULL;
    gbsi_tables *tables = NULL;
    gbsi_sparse_draws *draws = NULL;
    memset(take, 1, sizeof take);
    gbsi_sparse_mark(m->first, 0, take);
    test_ok(gbsi_exact_plan_tree(m->made.plan, take, &others, NULL));
    test_ok(gbsi_sparse_streams(m->made.plan, others, m->first, NULL));
    test_ok(gbsi_tables_new(others, GBSI_KEEP_ALL, NULL, &tables, NULL));
    for (uint32_t t = 0; t < others->n_trees; ++t) {
        double part = 0.0;
        gbsi_tree_up(tables, t, &part);
        gbsi_tables_next(tables, t);
    }
    gbsi_tree_accumulate(tables);
    test_ok(gbsi_sparse_draws_new(m->first, NULL, &draws, NULL));
    for (uint32_t draw = 0; draw < 8; ++draw) {
        gbsi_tree_draw(tables, 7, 1, draw, x + 64 * (size_t)draw);
        gbsi_sparse_draw(draws, 7, 1, draw, x + 64 * (size_t)draw);
    }
    gbsi_sparse_draws_free(draws);
    gbsi_tables_free(tables);
    gbsi_tree_free(others);
}

/* Draws do not depend on which components are sparse: they equal draws from dense tables of all
 * components. */
static void draws_agree(void **state)
{
    (void)state;
    uint64_t seed = 17;
    uint32_t n_sparse = 0;
    uint32_t n_mixed = 0;
    for (uint32_t i = 0; i < 600; ++i) {
        gbs_model *model = random_model_of(&seed, (random_size){MOST_VARIABLES, 4, 15, 0}, 20);
        gbsi_conditioned *possible = NULL;
        sparse_model m = {0};
        if (gbsi_condition(model, NULL, &possible, NULL) == GBS_OK) {
            uint32_t x[8 * 64] = {0};
            uint32_t again[8 * 64] = {0};
            test_ok(thin(&m, model, &no_end));
            if (draw_by(&m.made, GBSI_KEEP_ALL, false, NULL, x) && m.first != NULL) {
                draw_sparse(&m, again);
                assert_memory_equal(x, again, sizeof x);
                n_sparse += is_all_sparse(&m);
                n_mixed += !is_all_sparse(&m);
            }
            unthin(&m);
        }
        gbsi_conditioned_free(possible);
        gbs_model_free(model);
    }
    assert_true(n_sparse > 100 && n_mixed > 20);
}

/* Hubs of dense trees, which sparse trees lack, change no draw. */
static void draws_agree_beside_hubs(void **state)
{
    (void)state;
    gbs_model *model = latin_squares(4, ascending, false);
    uint32_t x[8 * 64] = {0};
    uint32_t again[8 * 64] = {0};
    sparse_model m = {0};
    test_ok(thin(&m, model, &no_end));
    assert_true(m.first->tree->n_cliques < m.made.tree->n_cliques);
    assert_true(draw_by(&m.made, GBSI_KEEP_ALL, false, NULL, x));
    draw_sparse(&m, again);
    assert_memory_equal(x, again, sizeof x);
    unthin(&m);
    gbs_model_free(model);
}

/* The predicted memory is an upper bound. With a smaller limit on memory or time, no sparse tables
 * are made. */
static void check_limits(bool draws)
{
    gbs_model *model = latin_squares(4, ascending, false);
    sparse_model m = {0};
    gbsi_budget budget;
    double p[64];
    make(&m.made, model, NULL, &no_limits);
    test_ok(gbsi_components_new(m.made.graph, &m.components, NULL));
    gbsi_budget_init(&budget, UINT64_C(1) << 40, 0);
    gbsi_budget *before = gbsi_budget_enter(&budget);
    gbsi_sparse_limits limits = no_end;
    limits.draws = draws;
    test_ok(gbsi_sparse_new(m.components, m.made.plan, &limits, m.dense, 0.0, &m.first, NULL));
    (void)sum_sparse(&m, p);
    if (draws) {
        gbsi_sparse_draws *of = NULL;
        test_ok(gbsi_sparse_draws_new(m.first, NULL, &of, NULL));
        gbsi_sparse_draws_free(of);
    }
    gbsi_budget_leave(before);
    const double ns = m.first->ns;
    const uint64_t bytes = m.first->bytes;
    assert_true(bytes >= (uint64_t)budget.most && bytes < 4 * (uint64_t)budget.most);
    unthin(&m);
    m = (sparse_model){0};
    limits.ns = 0.99 * ns;
    test_ok(thin(&m, model, &limits));
    assert_null(m.first);
    unthin(&m);
    m = (sparse_model){0};
    limits.ns = no_end.ns;
    limits.bytes = bytes / 4;
    test_ok(thin(&m, model, &limits));
    assert_null(m.first);
    unthin(&m);
    gbs_model_free(model);
}

static void limits_hold(void **state)
{
    (void)state;
    check_limits(false);
    check_limits(true);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void stops(void **state)
{
    (void)state;
    gbs_model *model = latin_squares(4, ascending, false);
    sparse_model m = {0};
    gbsi_watch watch = {.look = at_once};
    gbsi_sparse_limits limits = no_end;
    double p[64];
    uint32_t x[16];
    double log_z = 0.0;
    limits.watch = &watch;
    test_ok(thin(&m, model, &limits));
    assert_null(m.first);
    assert_int_equal(watch.n_looks, 1);
    unthin(&m);
    m = (sparse_model){0};
    test_ok(thin(&m, model, &no_end));
    watch = (gbsi_watch){.look = at_once};
    test_ok(gbsi_sparse_sum(m.first, &watch, p, &log_z, NULL));
    assert_true(watch.n_looks <= 1 && watch.longest < 2 * GBSI_WATCH_EVERY);
    watch = (gbsi_watch){.look = at_once};
    test_ok(gbsi_sparse_maximise(m.first, &watch, x, &log_z, NULL));
    assert_true(watch.n_looks <= 1);
    gbsi_sparse_draws *draws = NULL;
    watch = (gbsi_watch){.look = at_once};
    test_ok(gbsi_sparse_draws_new(m.first, &watch, &draws, NULL));
    assert_true(watch.n_looks <= 1);
    gbsi_sparse_draws_free(draws);
    unthin(&m);
    gbs_model_free(model);
}

static void no_memory(void **state)
{
    (void)state;
    gbs_model *model = latin_squares(3, ascending, false);
    bool done = false;
    sparse_model m = {0};
    make(&m.made, model, NULL, &no_limits);
    test_ok(gbsi_components_new(m.made.graph, &m.components, NULL));
    for (uint64_t n = 0; !done; ++n) {
        double p[27];
        uint32_t x[9];
        double log_z = 1.0;
        gbsi_sparse_draws *draws = NULL;
        gbsi_alloc_fail_after(n);
        gbs_status status =
            gbsi_sparse_new(m.components, m.made.plan, &no_end, m.dense, 0.0, &m.first, NULL);
        if (status == GBS_OK) {
            status = gbsi_sparse_sum(m.first, NULL, p, &log_z, NULL);
        }
        if (status == GBS_OK) {
            status = gbsi_sparse_maximise(m.first, NULL, x, &log_z, NULL);
        }
        if (status == GBS_OK) {
            status = gbsi_sparse_streams(m.made.plan, NULL, m.first, NULL);
        }
        if (status == GBS_OK) {
            status = gbsi_sparse_draws_new(m.first, NULL, &draws, NULL);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        done = status == GBS_OK;
        assert_true(done || status == GBS_ERR_MEMORY);
        gbsi_sparse_draws_free(draws);
        gbsi_sparse_free(m.first);
        m.first = NULL;
    }
    unthin(&m);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_enumeration), cmocka_unit_test(most_probable),
        cmocka_unit_test(marginal_map),        cmocka_unit_test(counts_squares),
        cmocka_unit_test(orders_agree),        cmocka_unit_test(gives_up_early),
        cmocka_unit_test(draws_agree),         cmocka_unit_test(draws_agree_beside_hubs),
        cmocka_unit_test(limits_hold),         cmocka_unit_test(stops),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
