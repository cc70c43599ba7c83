/* SPDX-License-Identifier: Apache-2.0 */
/* A chain that stands outside the support: the pass names the first variable, in the order of
 * chains and of places, whose conditional has no positive weight, whatever the draw, the packing of
 * chains and the number of threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "chains/executor.h"
#include "chains/tiles.h"
#include "support/runs.h"
#include "support/small_models.h"

enum { N_TRIPLES = 3000 }; /* enough for several threads to share a pass */

/* Triples a = b = c of variables 3 t, 3 t + 1, 3 t + 2: with a != c nothing is left for b. */
static gbs_model *make_triples(uint32_t arity)
{
    gbs_error err = {0};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t id = 0;
    double logw[9];
    for (uint32_t i = 0; i < arity * arity; ++i) {
        logw[i] = i % (arity + 1) == 0 ? 0.1 * i : (double)-INFINITY;
    }
    assert_int_equal(gbs_builder_new(&b, &err), GBS_OK);
    for (uint32_t v = 0; v < 3 * N_TRIPLES; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &arity, NULL, &err), GBS_OK);
    }
    assert_int_equal(gbs_builder_add_table(b, (size_t)arity * arity, logw, &id, &err), GBS_OK);
    for (uint32_t v = 0; v < 3 * N_TRIPLES; ++v) {
        const uint32_t scope[2] = {v, v + 1};
        if (v % 3 != 2) {
            assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, id, &err), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, &err), GBS_OK);
    gbs_builder_free(b);
    return model;
}

typedef struct fixture {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    gbsi_plan *plan;
    gbsi_schedule schedule;
    gbs_run_options options;
    gbsi_executor executor;
    gbsi_pool *pool;
} fixture;

/* A pass visits the variables in the middle, and then all others. */
static void set_up(fixture *f, uint32_t arity, int draw, uint64_t chains, uint32_t threads)
{
    static uint32_t sequence[3 * N_TRIPLES];
    gbs_error err = {0};
    memset(f, 0, sizeof *f);
    for (uint32_t t = 0; t < N_TRIPLES; ++t) {
        sequence[t] = 3 * t + 1;
        sequence[N_TRIPLES + 2 * t] = 3 * t;
        sequence[N_TRIPLES + 2 * t + 1] = 3 * t + 2;
    }
    f->model = make_triples(arity);
    f->options = gbs_run_options_default();
    f->options.chains = chains;
    f->options.draw = draw;
    const gbsi_plan_options how = {.sell = chains < 8};
    assert_int_equal(gbsi_condition(f->model, NULL, &f->conditioned, &err), GBS_OK);
    assert_int_equal(f->conditioned->n_variables, 3 * N_TRIPLES);
    assert_int_equal(gbsi_graph_new(f->conditioned, NULL, &f->graph, &err), GBS_OK);
    assert_int_equal(
        gbsi_plan_new(f->conditioned, f->graph, sequence, 3 * N_TRIPLES, how, &f->plan, &err),
        GBS_OK);
    assert_int_equal(gbsi_plan_level(f->plan, sequence, 3 * N_TRIPLES, &f->schedule, &err), GBS_OK);
    assert_int_equal(gbsi_pool_new(threads, &f->pool, &err), GBS_OK);
    const gbsi_executor_setting setting = {.pass = &gbsi_pass_tiles,
                                           .plan = f->plan,
                                           .options = &f->options,
                                           .level = gbsi_simd_level(),
                                           .pool = f->pool,
                                           .draw_room = UINT64_MAX};
    assert_int_equal(gbsi_executor_init(&f->executor, &setting, &err), GBS_OK);
}

static void tear_down(fixture *f)
{
    gbsi_executor_free(&f->executor);
    gbsi_pool_free(f->pool);
    gbsi_schedule_free(&f->schedule);
    gbsi_plan_free(f->plan);
    gbsi_graph_free(f->graph);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
}

/* The triples that are broken in a chain. */
typedef struct broken {
    uint32_t chain, triple;
} broken;

static void start(fixture *f, const broken *where, size_t n)
{
    static uint32_t state[3 * N_TRIPLES];
    for (uint32_t chain = 0; chain < f->options.chains; ++chain) {
        memset(state, 0, sizeof state);
        for (size_t i = 0; i < n; ++i) {
            if (where[i].chain == chain) {
                state[3 * where[i].triple + 2] = 1;
            }
        }
        gbsi_executor_set(&f->executor, chain, state);
    }
    gbsi_executor_ready(&f->executor);
}

static void check_named(fixture *f, const broken *where, size_t n, uint32_t triple)
{
    gbs_error err = {0};
    char expected[80];
    start(f, where, n);
    const gbs_status status = gbsi_executor_pass(&f->executor, &f->schedule, 0, NULL, false, &err);
    if (n == 0) {
        assert_int_equal(status, GBS_OK);
        return;
    }
    (void)snprintf(expected, sizeof expected, "variable %u has no state of positive weight",
                   3 * triple + 1);
    assert_int_equal(status, GBS_ERR_NOT_FOUND);
    assert_memory_equal(err.message, expected, strlen(expected));
}

static void check_draw(uint32_t arity, int draw, uint64_t chains, uint32_t threads)
{
    fixture f;
    static const uint32_t triple[] = {0, 1, 7, 15, 16, 1234, N_TRIPLES - 1};
    const uint32_t last = (uint32_t)chains - 1;
    test_row("%u states, draw %d, %d chains, %u threads", arity, draw, (int)chains, threads);
    set_up(&f, arity, draw, chains, threads);
    check_named(&f, NULL, 0, 0);
    for (size_t i = 0; i < sizeof triple / sizeof triple[0]; ++i) {
        check_named(&f, &(broken){last, triple[i]}, 1, triple[i]);
    }
    const broken two[] = {{0, 2345}, {0, 777}};
    check_named(&f, two, 2, 777);
    /* Of two groups of chains the first is named, whoever meets the other first. */
    const broken apart[] = {{0, 2345}, {last, 777}};
    check_named(&f, apart, 2, chains > 1 && chains < 8 ? 2345 : 777);
    tear_down(&f);
}

static void the_first_variable_is_named(void **state)
{
    (void)state;
    static const uint64_t chains[] = {1, 2, 7, 8, 16};
    static const int draw[] = {GBS_DRAW_RANDOM, GBS_DRAW_HERDED, GBS_DRAW_HERDED_SHARED,
                               GBS_DRAW_DISCRETIZED};
    for (size_t d = 0; d < sizeof draw / sizeof draw[0]; ++d) {
        for (uint32_t arity = 2; arity <= 3; ++arity) {
            for (size_t c = (d + arity) % test_share(1, 5); c < sizeof chains / sizeof chains[0];
                 c += test_share(1, 5)) {
                check_draw(arity, draw[d], chains[c], 1);
                check_draw(arity, draw[d], chains[c], 3);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_variable_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
