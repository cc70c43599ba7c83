/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over the factors of a model, each of which takes next to nothing, ask the watch as well,
 * and end where it stops them; what they find does not depend on it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chains/density.h"
#include "chains/repair.h"
#include "reference/exact_components.h"
#include "simd/dispatch.h"
#include "support/bare_chains.h"
#include "support/small_models.h"

enum { N = 40, FACTORS = 120000, NAMED = 20000, CHAINS = 16 };

/* Factors of three variables, which may not all be 0. */
static gbs_model *many_factors(void)
{
    static const double logw[8] = {-INFINITY, 0.1, -0.2, 0.3, -0.1, 0.2, 0.1, 0.4};
    test_stream s = {.seed = 5};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t table = 0;
    uint32_t two[N];
    for (uint32_t v = 0; v < N; ++v) {
        two[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, two, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 8, logw, &table, NULL), GBS_OK);
    for (uint32_t f = 0; f < FACTORS; ++f) {
        const uint32_t first = test_below(&s, N);
        const uint32_t scope[3] = {first, (first + 1 + test_below(&s, 12)) % N,
                                   (first + 20 + test_below(&s, 12)) % N};
        assert_int_equal(gbs_builder_add_table_factor(b, 3, scope, table, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static int set_up(void **state)
{
    static test_chains f;
    uint32_t sequence[N];
    gbs_run_options options = gbs_run_options_default();
    options.chains = CHAINS;
    for (uint32_t v = 0; v < N; ++v) {
        sequence[v] = v;
    }
    test_chains_set_up(&f, many_factors(), NULL, sequence, N, (gbsi_plan_options){0}, options);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    test_chains_tear_down(*state);
    return 0;
}

static bool count_down(void *context)
{
    uint64_t *left = context;
    return --*left == 0;
}

/* A watch that stops at a look. */
static gbsi_watch stopping(uint64_t *left, uint64_t at)
{
    *left = at;
    return (gbsi_watch){.look = count_down, .context = left};
}

static void blocks_of_zeros(void **state)
{
    const test_chains *f = *state;
    uint32_t block[N];
    uint32_t n = 0;
    uint64_t left = 0;
    gbsi_watch watch = {0};
    gbs_error err = {0};
    assert_int_equal(gbsi_hard_blocks(f->conditioned, &watch, block, &n, NULL), GBS_OK);
    assert_int_equal(n, 1);
    assert_true(watch.n_looks > 20);
    watch = stopping(&left, 2);
    assert_int_equal(gbsi_hard_blocks(f->conditioned, &watch, block, &n, &err), GBS_ERR_STOPPED);
    assert_string_equal(err.message, "stopped while finding components: there is no result yet");
    assert_int_equal(watch.n_looks, 2);
}

/* Found while a run is prepared, and looked through once more when it begins. */
static void components(void **state)
{
    const test_chains *f = *state;
    gbsi_components *c = NULL;
    uint64_t left = 0;
    gbsi_watch watch = {0};
    for (uint64_t stop = 0; stop <= 1; ++stop) { /* the last looks are those of the rows */
        watch = stopping(&left, stop * watch.n_looks);
        gbsi_watch *before = gbsi_watch_enter(&watch);
        assert_int_equal(gbsi_components_new(f->graph, &c, NULL), stop ? GBS_ERR_STOPPED : GBS_OK);
        gbsi_watch_leave(before);
        assert_true(watch.n_looks > 20);
        if (!stop) {
            const uint8_t exact = 0;
            gbsi_support support = GBSI_SUPPORT_CONNECTED;
            gbsi_watch other = stopping(&left, 3);
            assert_int_equal(gbsi_components_support(c, &exact, &other, 100, &support, NULL),
                             GBS_OK);
            assert_true(support == GBSI_SUPPORT_UNKNOWN && other.n_looks == 3);
            gbsi_components_free(c);
        }
    }
}

static void orders_of_colouring(void **state)
{
    const test_chains *f = *state;
    uint32_t color[N];
    uint32_t n = 0;
    uint64_t left = 0;
    gbsi_watch watch = {0};
    assert_int_equal(
        gbsi_graph_color_greedy(f->graph, GBSI_SMALLEST_LAST, &watch, color, &n, NULL, NULL),
        GBS_OK);
    assert_true(watch.n_looks > 60);
    watch = stopping(&left, 30); /* in what the order is made of */
    assert_int_equal(
        gbsi_graph_color_greedy(f->graph, GBSI_SMALLEST_LAST, &watch, color, &n, NULL, NULL),
        GBS_ERR_STOPPED);
}

static void log_density(void **state)
{
    const test_chains *f = *state;
    double density[2][CHAINS];
    uint64_t left = 0;
    gbsi_executor x;
    gbsi_watch watch = {0};
    test_chains_start(f, gbsi_simd_level(), NULL, UINT64_MAX, &x);
    gbsi_executor_group_density(&x, 0, NULL, density[0]);
    gbsi_executor_group_density(&x, 0, &watch, density[1]);
    assert_memory_equal(density[1], density[0], sizeof density[0]);
    assert_true(watch.n_looks >= 7);
    watch = stopping(&left, 2);
    gbsi_executor_group_density(&x, 0, &watch, density[1]);
    assert_int_equal(watch.n_looks, 2);
    gbsi_executor_free(&x);
}

static void repairs(void **state)
{
    const test_chains *f = *state;
    gbsi_repair *r = NULL;
    uint64_t left = 0;
    gbsi_watch watch = {0};
    assert_int_equal(gbsi_repair_new(f->conditioned, 1, &watch, &r, NULL), GBS_OK);
    assert_int_equal(gbsi_repair_n_components(r), 1);
    gbsi_repair_free(r);
    const uint64_t n_looks = watch.n_looks;
    for (uint64_t at = 1; at + 8 < n_looks; at += 1 + n_looks / 10) {
        watch = stopping(&left, at);
        assert_int_equal(gbsi_repair_new(f->conditioned, 1, &watch, &r, NULL), GBS_OK);
        assert_int_equal(gbsi_repair_n_components(r), 0);
        assert_int_equal(watch.n_looks, at);
        gbsi_repair_free(r);
    }
}

static void names(void **state)
{
    (void)state;
    const uint32_t two = 2;
    uint64_t left = 0;
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    gbs_error err = {0};
    gbsi_watch watch = stopping(&left, 4);
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < NAMED; ++v) {
        char name[16];
        (void)snprintf(name, sizeof name, "v%u", v * 7919 % NAMED);
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_builder_name_variable(b, v, name, NULL), GBS_OK);
    }
    gbsi_watch *before = gbsi_watch_enter(&watch);
    assert_int_equal(gbs_builder_build(b, &model, &err), GBS_ERR_STOPPED);
    assert_string_equal(err.message, "stopped while indexing names: there is no result yet");
    assert_int_equal(watch.n_looks, 4);
    gbsi_watch_leave(before);
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK); /* all is still there */
    gbs_model_free(model);
    gbs_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_zeros),
        cmocka_unit_test(components),
        cmocka_unit_test(orders_of_colouring),
        cmocka_unit_test(log_density),
        cmocka_unit_test(repairs),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
