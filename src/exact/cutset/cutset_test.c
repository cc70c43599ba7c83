/* SPDX-License-Identifier: Apache-2.0 */
/* Compares conditioning on cutsets with enumeration and with one junction tree, on models that are
 * small enough for these. */
#include "cutset/cutset.h"

#include "gibbsite/exact.h"
#include "trees/junction_tree_testing.h"

static const gbsi_cutset_limits no_end = {.ns = 1e12, .bytes = UINT64_C(1) << 34};

typedef struct cut_model {
    made made;
    gbsi_components *components;
    uint8_t take[64]; /* zeros: cutsets for all */
    gbsi_cutset *first;
} cut_model;

static gbs_status cut(cut_model *c, const gbs_model *model, const gbsi_cutset_limits *limits)
{
    gbsi_exact_limits of_plan = no_limits;
    of_plan.maximise = limits->maximise;
    make(&c->made, model, NULL, &of_plan);
    test_ok(gbsi_components_new(c->made.graph, &c->components, NULL));
    return gbsi_cutsets_new(c->components, c->made.plan, limits, c->take, &c->first, NULL);
}

static void uncut(cut_model *c)
{
    gbsi_cutsets_free(c->first);
    gbsi_components_free(c->components);
    release(&c->made);
}

/* @param p NULL, or marginals of the components that have a cutset, out. */
static double sum_cases(const cut_model *c, gbsi_pool *pool, double *p, uint32_t *n_cut)
{
    double log_z = c->made.model->log_constant;
    for (const gbsi_cutset *at = c->first; at != NULL; at = at->next) {
        double part = 0.0;
        test_ok(gbsi_cutset_sum(at, pool, NULL, p, &part, NULL));
        log_z += part;
        ++*n_cut;
    }
    return log_z;
}

/* Whether every component has a cutset. Components without zeros have no cutset, and neither have
 * components whose first variable leaves no case. */
static bool is_all_cut(const cut_model *c)
{
    uint32_t n = 0;
    for (const gbsi_cutset *at = c->first; at != NULL; at = at->next) {
        assert_true(at->cases.n > 0 && at->cases.n_variables > 0);
        assert_true(c->components->has_zeros[at->component] != 0);
        n++;
    }
    return n == c->components->n;
}

static void against_enumeration(void **state)
{
    (void)state;
    uint64_t seed = 6;
    uint32_t n_answered = 0;
    uint32_t n_impossible = 0;
    for (uint32_t i = 0; i < 1000; ++i) {
        gbs_model *model = random_model_of(&seed, (random_size){MOST_VARIABLES, 4, 15, 2}, 20);
        gbsi_conditioned *possible = NULL;
        cut_model c = {0};
        double p[64];
        double expected[64];
        double log_z = 0.0;
        uint32_t n_cut = 0;
        if (gbsi_condition(model, NULL, &possible, NULL) == GBS_OK) {
            test_ok(cut(&c, model, &no_end));
            const gbs_status status = gbsi_enumerate(possible, NULL, expected, &log_z, NULL);
            if (is_all_cut(&c) && status == GBS_OK) {
                ++n_answered;
                assert_close(sum_cases(&c, NULL, p, &n_cut), log_z, 1e-12 * (1.0 + fabs(log_z)));
                for (size_t s = 0; s < possible->state_offset[possible->n_variables]; ++s) {
                    assert_close(p[s], expected[s], 1e-12);
                }
                assert_close(sum_cases(&c, NULL, NULL, &n_cut), log_z, 1e-12 * (1.0 + fabs(log_z)));
            } else if (status != GBS_OK) {
                ++n_impossible;
                assert_true(!is_all_cut(&c) || sum_cases(&c, NULL, p, &n_cut) == -INFINITY);
            }
            uncut(&c);
        }
        gbsi_conditioned_free(possible);
        gbs_model_free(model);
    }
    assert_true(n_answered > 300);
    assert_true(n_impossible > 0);
}

static void most_probable(void **state)
{
    (void)state;
    gbsi_cutset_limits limits = no_end;
    uint32_t n_answered = 0;
    uint64_t seed = 6;
    limits.maximise = true;
    for (uint32_t i = 0; i < 600; ++i) {
        gbs_model *model = random_model_of(&seed, (random_size){MOST_VARIABLES, 4, 15, 2}, 20);
        uint32_t x[16] = {0};
        uint32_t best[16];
        double expected = 0.0;
        cut_model c = {0};
        if (gbs_exact_map(model, NULL, NULL, NULL, best, &expected, NULL, NULL) == GBS_OK) {
            test_ok(cut(&c, model, &limits));
            double found = c.made.model->log_constant;
            for (const gbsi_cutset *at = c.first; at != NULL; at = at->next) {
                double part = 0.0;
                test_ok(gbsi_cutset_maximise(at, NULL, NULL, x, &part, NULL));
                found += part;
            }
            if (is_all_cut(&c)) {
                assert_close(found, expected, 1e-12 * (1.0 + fabs(expected)));
                assert_close(gbsi_conditioned_log_density(c.made.model, x), expected,
                             1e-12 * (1.0 + fabs(expected)));
                ++n_answered;
            }
            uncut(&c);
        }
        gbs_model_free(model);
    }
    assert_true(n_answered > 200);
}

static gbs_builder *begin_model(uint32_t n_variables, uint32_t arity)
{
    uint32_t arities[64];
    gbs_builder *b = NULL;
    assert_true(n_variables <= 64);
    for (uint32_t v = 0; v < n_variables; ++v) {
        arities[v] = arity;
    }
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, n_variables, arities, NULL, NULL));
    return b;
}

/* n_variables binary variables, each equal to the next, and a coupling between every two: one
 * clique for a tree, two cases for a cutset. */
static gbs_model *equal_variables(uint32_t n_variables)
{
    static const double equal[4] = {0.0, -INFINITY, -INFINITY, 0.0};
    gbs_builder *b = begin_model(n_variables, 2);
    gbs_model *model = NULL;
    uint32_t table = 0;
    test_ok(gbs_builder_add_table(b, 4, equal, &table, NULL));
    for (uint32_t v = 0; v + 1 < n_variables; ++v) {
        test_ok(gbs_builder_add_table_factor(b, 2, (uint32_t[]){v, v + 1}, table, NULL));
    }
    for (uint32_t v = 0; v < n_variables; ++v) {
        for (uint32_t u = 0; u < v; ++u) {
            test_ok(gbs_builder_add_ising(b, u, v, 0.01 * (u + v), NULL));
        }
    }
    test_ok(gbs_builder_add_field(b, 3, 0.7, NULL));
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* Cases that zeros rule out are never answered, and implied variables are removed from the tables.
 */
static void zeros_save_work(void **state)
{
    (void)state;
    gbs_model *model = equal_variables(20);
    cut_model c = {0};
    double p[40];
    uint32_t n = 0;
    test_ok(cut(&c, model, &no_end));
    assert_true(c.made.tree->n_entries >= 1u << 20);
    assert_non_null(c.first);
    assert_int_equal(c.first->cases.n, 2);
    assert_int_equal(c.first->cases.n_variables, 20);
    assert_true(c.first->entries == 0.0);
    (void)sum_cases(&c, NULL, p, &n);
    for (uint32_t v = 0; v < 20; ++v) {
        assert_close(p[2 * v + 1], 1.0 / (1.0 + exp(-1.4)), 1e-14);
    }
    uncut(&c);
    gbs_model_free(model);
}

/* A band of width 8 whose factors have zeros: more than one case with tables of their own. */
static gbs_model *band(void)
{
    gbs_builder *b = begin_model(40, 3);
    gbs_model *model = NULL;
    for (uint32_t v = 0; v < 40; ++v) {
        for (uint32_t u = v < 8 ? 0 : v - 8; u < v; ++u) {
            double logw[9];
            uint32_t table = 0;
            for (uint32_t e = 0; e < 9; ++e) {
                const bool zero = (u + v) % 5 == 0 && e % 4 == 1;
                logw[e] = zero ? -INFINITY : 0.1 * ((u * 7 + v * 3 + e * 5) % 11) - 0.4;
            }
            test_ok(gbs_builder_add_table(b, 9, logw, &table, NULL));
            test_ok(gbs_builder_add_table_factor(b, 2, (uint32_t[]){u, v}, table, NULL));
        }
    }
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* A tree with another elimination order agrees up to rounding. Threads, instruction sets and
 * gbsi_keep change no bit. */
static void same_bits(void **state)
{
    (void)state;
    gbs_model *model = band();
    cut_model c = {0};
    double tree[120];
    double first[120];
    double p[120];
    uint32_t n = 0;
    const gbsi_simd best = gbsi_simd_level();
    test_ok(cut(&c, model, &no_end));
    assert_non_null(c.first);
    assert_true(c.first->cases.n > 1);
    const double log_z = sum_cases(&c, NULL, first, &n);
    assert_close(log_z, calibrate(&c.made, NULL, tree), 1e-10);
    for (uint32_t s = 0; s < 120; ++s) {
        assert_close(first[s], tree[s], 1e-12);
    }
    for (uint32_t threads = 1; threads <= 3; ++threads) {
        gbsi_pool *pool = NULL;
        test_ok(gbsi_pool_new(threads, &pool, NULL));
        for (gbsi_simd level = GBSI_SIMD_PORTABLE; level < GBSI_N_SIMD; ++level) {
            if (!gbsi_simd_has(level)) {
                continue;
            }
            gbsi_simd_force(level);
            c.first->keep = threads == 2 ? GBSI_KEEP_MESSAGES : GBSI_KEEP_TABLES;
            assert_true(sum_cases(&c, pool, p, &n) == log_z);
            assert_memory_equal(p, first, sizeof p);
        }
        gbsi_pool_free(pool);
    }
    gbsi_simd_force(best);
    uncut(&c);
    gbs_model_free(model);
}

static void limits_hold(void **state)
{
    (void)state;
    gbs_model *model = band();
    cut_model c = {0};
    test_ok(cut(&c, model, &no_end));
    const double ns = c.first->entries * gbsi_exact_entry_ns(c.first->keep);
    const uint64_t bytes = c.first->bytes;
    assert_int_equal(c.first->keep, GBSI_KEEP_TABLES);
    uncut(&c);
    c = (cut_model){0};
    test_ok(cut(&c, model, &(gbsi_cutset_limits){.ns = 0.99 * ns, .bytes = bytes}));
    assert_null(c.first);
    uncut(&c);
    c = (cut_model){0};
    test_ok(cut(&c, model, &(gbsi_cutset_limits){.ns = 1.01 * ns, .bytes = bytes / 100}));
    assert_null(c.first);
    uncut(&c);
    gbs_model_free(model);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void stops(void **state)
{
    (void)state;
    gbs_model *model = band();
    cut_model c = {0};
    double p[120];
    double log_z = 0.0;
    gbsi_watch watch = {.look = at_once};
    gbsi_cutset_limits limits = no_end;
    limits.watch = &watch;
    assert_int_equal(cut(&c, model, &limits), GBS_ERR_STOPPED);
    assert_null(c.first);
    uncut(&c);
    c = (cut_model){0};
    test_ok(cut(&c, model, &no_end));
    gbsi_watch late = {.look = at_once};
    test_ok(gbsi_cutset_sum(c.first, NULL, &late, p, &log_z, NULL));
    assert_int_equal(late.n_looks, 1);
    uncut(&c);
    gbs_model_free(model);
}

static bool at_a_look(void *n_left)
{
    return --*(uint32_t *)n_left == 0;
}

/* In cases and in the propagation that rules them out: a case that is half looked at is no case. */
static void stops_at_any_look(void **state)
{
    (void)state;
    gbs_model *model = band();
    gbs_status status = GBS_ERR_STOPPED;
    uint32_t n_looks = 0;
    while (status == GBS_ERR_STOPPED) {
        cut_model c = {0};
        n_looks += 1 + n_looks / 4; /* first every check, later only some */
        uint32_t n_left = n_looks;
        gbsi_watch watch = gbsi_watch_of(at_a_look, &n_left, 0.0, 0.0);
        gbsi_cutset_limits limits = no_end;
        limits.watch = &watch;
        status = cut(&c, model, &limits);
        assert_true(status == GBS_OK || (status == GBS_ERR_STOPPED && c.first == NULL));
        assert_true(watch.longest < 64 * GBSI_WATCH_EVERY);
        uncut(&c);
    }
    assert_true(n_looks > 10);
    gbs_model_free(model);
}

static void no_memory(void **state)
{
    (void)state;
    gbs_model *model = equal_variables(12);
    bool done = false;
    cut_model c = {0};
    make(&c.made, model, NULL, &no_limits);
    test_ok(gbsi_components_new(c.made.graph, &c.components, NULL));
    for (uint64_t n = 0; !done; n++) {
        double p[24];
        double log_z = 1.0;
        gbsi_alloc_fail_after(n);
        gbs_status status =
            gbsi_cutsets_new(c.components, c.made.plan, &no_end, c.take, &c.first, NULL);
        if (status == GBS_OK) {
            status = gbsi_cutset_sum(c.first, NULL, NULL, p, &log_z, NULL);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        done = status == GBS_OK;
        assert_true(done || status == GBS_ERR_MEMORY);
        assert_true(done == (log_z != 1.0));
        gbsi_cutsets_free(c.first);
        c.first = NULL;
    }
    uncut(&c);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_enumeration), cmocka_unit_test(most_probable),
        cmocka_unit_test(zeros_save_work),     cmocka_unit_test(same_bits),
        cmocka_unit_test(limits_hold),         cmocka_unit_test(stops),
        cmocka_unit_test(stops_at_any_look),   cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
