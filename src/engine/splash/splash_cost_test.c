/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the cost of splashes, which is linear in the entries that splashes read, for all shapes of
 * models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_scale.h"
#include "gibbsite/gibbsite.h"
#include "graph/graph.h"
#include "splash/splash_rounds.h"

/* Adds factors to a model of n variables of two states. */
typedef void make(gbs_builder *b, uint32_t n);

/* One clause of all variables. */
static void clause(gbs_builder *b, uint32_t n)
{
    uint32_t *scope = gbsi_alloc_array(n, sizeof *scope);
    uint32_t *literal = gbsi_alloc_array(n, sizeof *literal);
    for (uint32_t v = 0; v < n; ++v) {
        scope[v] = v;
        literal[v] = 1;
    }
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_OR, n, scope, literal, 1.5, NULL),
                     GBS_OK);
    GBSI_FREE(scope, literal);
}

/* The first variable coupled to all others. */
static void hub(gbs_builder *b, uint32_t n)
{
    for (uint32_t v = 1; v < n; ++v) {
        assert_int_equal(gbs_builder_add_ising(b, 0, v, 0.01, NULL), GBS_OK);
    }
}

/* The first variable in a product of three with each pair of others. */
static void fan(gbs_builder *b, uint32_t n)
{
    for (uint32_t v = 1; v + 1 < n; v += 2) {
        const uint32_t scope[3] = {0, v, v + 1};
        assert_int_equal(gbs_builder_add_spin(b, 3, scope, 0.01, NULL), GBS_OK);
    }
}

/* A chain whose variables are also in one clause of all variables, so that a splash can take few of
 * them. */
static void chain_in_clause(gbs_builder *b, uint32_t n)
{
    clause(b, n);
    for (uint32_t v = 1; v < n; ++v) {
        assert_int_equal(gbs_builder_add_ising(b, v - 1, v, 0.3, NULL), GBS_OK);
    }
}

/* `times` clauses of three variables around each variable. */
static void clauses(gbs_builder *b, uint32_t n, uint32_t times)
{
    for (uint32_t i = 0; i < n * times; ++i) {
        const uint32_t scope[3] = {i % n, (i + 1 + i / n) % n, (i + 100 + i / n) % n};
        const uint32_t literal[3] = {0, 0, 1};
        assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_OR, 3, scope, literal, 0.01, NULL),
                         GBS_OK);
    }
}

static void few_clauses(gbs_builder *b, uint32_t n)
{
    clauses(b, n, 5);
}

static void many_clauses(gbs_builder *b, uint32_t n)
{
    clauses(b, n, 20);
}

static void large_clauses(gbs_builder *b, uint32_t n)
{
    clauses(b, n, 20);
    for (uint32_t v = 1; v < n; ++v) { /* more than floats hold */
        assert_int_equal(gbs_builder_add_ising(b, v - 1, v, 1e6, NULL), GBS_OK);
    }
}

typedef struct counted {
    uint64_t n_looked, n_rounds;
    double operations;
} counted;

static void on_splash(void *context, uint64_t round, uint32_t splash, uint32_t variable)
{
    counted *c = context;
    (void)splash;
    (void)variable;
    c->n_rounds = round + 1;
}

static gbs_status build(make *add, uint32_t n, gbs_model **model)
{
    gbs_builder *b = NULL;
    uint32_t *two = gbsi_alloc_array(n, sizeof *two);
    for (uint32_t v = 0; v < n; ++v) {
        two[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, n, two, NULL, NULL), GBS_OK);
    add(b, n);
    const gbs_status status = gbs_builder_build(b, model, NULL);
    gbs_builder_free(b);
    gbsi_free(two);
    return status;
}

/* Runs one pass with a watch. @param expected status of the pass. */
static counted count(make *add, uint32_t n, gbs_run_options options, gbsi_watch *watch,
                     gbs_status expected)
{
    gbs_model *model = NULL;
    gbsi_conditioned *conditioned = NULL;
    gbsi_graph *graph = NULL;
    gbsi_plan *plan = NULL;
    void *splash = NULL;
    bool more = true;
    counted c = {0, 0, 0.0};
    uint32_t *sequence = gbsi_alloc_array(n, sizeof *sequence);
    for (uint32_t v = 0; v < n; ++v) {
        sequence[v] = v;
    }
    assert_int_equal(build(add, n, &model), GBS_OK);
    assert_int_equal(gbsi_condition(model, NULL, &conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(conditioned, NULL, &graph, NULL), GBS_OK);
    assert_int_equal(gbsi_plan_new(conditioned, graph, sequence, n,
                                   (gbsi_plan_options){.repeats = true}, &plan, NULL),
                     GBS_OK);
    gbsi_group group = {.state = gbsi_alloc_lanes(n, 1)};
    memset(group.state, 0, n);
    const gbsi_pass_setting setting = {.plan = plan,
                                       .options = &options,
                                       .group = &group,
                                       .n_groups = 1,
                                       .lanes = 1,
                                       .n_chains = 1,
                                       .level = GBSI_SIMD_PORTABLE};
    const gbsi_pass_job job = {.draw = gbsi_draw_of(&options, GBSI_SIMD_PORTABLE), .watch = watch};
    assert_int_equal(gbsi_pass_splash.prepare(&setting, &splash, NULL), GBS_OK);
    gbsi_pass_splash.watch(splash, on_splash, &c);
    assert_int_equal(gbsi_pass_splash.begin(splash, &job, NULL), GBS_OK);
    assert_int_equal(gbsi_pass_splash.batch(splash, UINT32_MAX, &more, NULL), GBS_OK);
    assert_int_equal(gbsi_pass_splash.end(splash, NULL), expected);
    c.n_looked = gbsi_splash_count(splash).n_looked;
    c.operations = gbsi_pass_splash.operations(splash, 16);
    if (expected == GBS_OK) {
        assert_true(c.operations >= gbsi_pass_splash.least_operations(&setting));
    }
    gbsi_pass_splash.free(splash);
    gbsi_free(group.state);
    gbsi_plan_free(plan);
    gbsi_graph_free(graph);
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
    gbsi_free(sequence);
    return c;
}

/* A model four times as large makes a round of splashes read four times as many entries, and never
 * sixteen times as many. */
static void linear(make *add, gbs_run_options options)
{
    const uint32_t n = 200;
    const counted small = count(add, n, options, NULL, GBS_OK);
    const counted large = count(add, 4 * n, options, NULL, GBS_OK);
    const double ratio = (double)large.n_looked / (double)large.n_rounds /
                         ((double)small.n_looked / (double)small.n_rounds);
    if (ratio > 5.0) {
        fail_msg("%llu entries in %llu rounds, then %llu in %llu",
                 (unsigned long long)small.n_looked, (unsigned long long)small.n_rounds,
                 (unsigned long long)large.n_looked, (unsigned long long)large.n_rounds);
    }
    assert_true(small.n_looked >= n);
}

static void rounds_are_linear(void **state)
{
    static make *const shape[] = {clause, hub, fan, chain_in_clause};
    (void)state;
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; ++i) {
        for (int grow = GBS_GROW_FIFO; grow <= GBS_GROW_ADAPTIVE; ++grow) {
            /* at small scale only one kind of locks, in turns */
            for (int locking = (int)(i + (size_t)grow) % (int)test_share(1, 2); locking < 2;
                 locking += (int)test_share(1, 2)) {
                gbs_run_options options = gbs_run_options_default();
                options.scan = GBS_SCAN_SPLASH;
                options.grow = grow;
                options.adapt = grow == GBS_GROW_ADAPTIVE ? 1000000 : 0;
                options.locking = locking;
                /* the number of variables of a splash does not grow with the model */
                options.splash_size = 20;
                options.width = 3;
                linear(shape[i], options);
            }
        }
    }
}

/* The operations by which scans are compared contain long factors, in floats and in logarithms. */
static void long_factors_count(void **state)
{
    (void)state;
    for (uint64_t width = 1; width <= 4; width += 3) {
        gbs_run_options options = gbs_run_options_default();
        options.scan = GBS_SCAN_SPLASH;
        options.width = width;
        const double few = count(few_clauses, 400, options, NULL, GBS_OK).operations;
        const double many = count(many_clauses, 400, options, NULL, GBS_OK).operations;
        const double large = count(large_clauses, 400, options, NULL, GBS_OK).operations;
        assert_true(many > 2.0 * few);
        assert_true(large > 2.0 * few);
    }
}

static bool stop_at_third(void *context)
{
    const gbsi_watch *watch = context;
    return watch->n_looks >= 3;
}

/* Work between two looks at the watch is bounded by the entries of one candidate, and a pass ends
 * with the look that stops it. */
static void passes_stop(void **state)
{
    static make *const shape[] = {clause, hub, chain_in_clause};
    const uint32_t n = 6000;
    (void)state;
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; ++i) {
        gbs_run_options options = gbs_run_options_default();
        gbsi_watch watch = {.look = stop_at_third, .context = &watch};
        options.scan = GBS_SCAN_SPLASH;
        (void)count(shape[i], n, options, &watch, GBS_STOPPED);
        assert_int_equal(watch.n_looks, 3);
        assert_true(watch.longest < GBSI_WATCH_EVERY + 4 * n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounds_are_linear),
                                       cmocka_unit_test(long_factors_count),
                                       cmocka_unit_test(passes_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
