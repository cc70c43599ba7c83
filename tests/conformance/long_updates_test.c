/* SPDX-License-Identifier: Apache-2.0 */
/* Updates that take long by themselves: the watch is asked inside; with or without it, the same
 * bits; where it stops, no chain has done the update, and all have done those before it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chains/executor.h"
#include "chains/tiles.h"

enum { N = 1201, ARITY = 301 };

/* What joins the hub to the others. */
typedef enum joined { EQUAL_POTTS, POTTS, TABLES, TRIPLES, LARGE, N_JOINED } joined;

static const gbsi_class class_of[N_JOINED] = {
    GBSI_CLASS_POTTS, GBSI_CLASS_POTTS, GBSI_CLASS_PAIRWISE, GBSI_CLASS_TABLE, GBSI_CLASS_PRECISE};

static double noise(uint32_t i)
{
    return (double)(i * UINT32_C(2654435761) >> 16) / 65536.0 - 0.5;
}

static gbs_model *make_hub(joined how)
{
    static double logw[4 * ARITY];
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t table = 0;
    const size_t n_entries = how == TRIPLES ? 4 * ARITY : 2 * ARITY;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < N; ++v) {
        const uint32_t arity = v == 0 || how <= POTTS ? ARITY : 2;
        assert_int_equal(gbs_builder_add_variables(b, 1, &arity, NULL, NULL), GBS_OK);
    }
    for (uint32_t i = 0; i < n_entries; ++i) {
        logw[i] = (how == LARGE ? 1e6 : 2e-4) * noise(i + 1);
    }
    assert_int_equal(gbs_builder_add_table(b, n_entries, logw, &table, NULL), GBS_OK);
    for (uint32_t v = 1; v + 1 < N; v += how == TRIPLES ? 2 : 1) {
        const uint32_t scope[3] = {0, v, v + 1};
        const double coupling = how == POTTS ? 2e-4 + 1e-4 * noise(v) : 2e-4;
        assert_int_equal(how <= POTTS ? gbs_builder_add_potts(b, 0, v, coupling, NULL)
                                      : gbs_builder_add_table_factor(b, how == TRIPLES ? 3 : 2,
                                                                     scope, table, NULL),
                         GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
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
    gbsi_pool *pool;
} fixture;

static void set_up(fixture *f, joined how, uint32_t chains)
{
    static uint32_t sequence[N];
    for (uint32_t i = 0; i < N; ++i) {
        sequence[i] = (i + N / 2) % N; /* the hub in the middle */
    }
    memset(f, 0, sizeof *f);
    f->model = make_hub(how);
    f->options = gbs_run_options_default();
    f->options.chains = chains;
    const gbsi_plan_options plan = {.sell = chains < 8};
    assert_int_equal(gbsi_condition(f->model, NULL, &f->conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(f->conditioned, NULL, &f->graph, NULL), GBS_OK);
    assert_int_equal(gbsi_plan_new(f->conditioned, f->graph, sequence, N, plan, &f->plan, NULL),
                     GBS_OK);
    assert_int_equal(gbsi_plan_level(f->plan, sequence, N, &f->schedule, NULL), GBS_OK);
    assert_int_equal(gbsi_plan_class(f->plan, f->plan->slot_of[0]), class_of[how]);
    assert_int_equal(gbsi_pool_new(2, &f->pool, NULL), GBS_OK);
}

static void tear_down(fixture *f)
{
    gbsi_pool_free(f->pool);
    gbsi_schedule_free(&f->schedule);
    gbsi_plan_free(f->plan);
    gbsi_graph_free(f->graph);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
}

static bool stop_at(void *context)
{
    uint64_t *left = context;
    return (*left)-- <= 1;
}

/* States [chain][variable] after a pass that is asked after so many operations, 0: as usual.
 * @param watch NULL: nobody waits. @return updates of each chain. */
static uint64_t run_pass(fixture *f, double between, gbsi_watch *watch, uint32_t *x)
{
    const uint32_t n_chains = (uint32_t)f->options.chains;
    const gbsi_executor_setting setting = {.pass = &gbsi_pass_tiles,
                                           .plan = f->plan,
                                           .options = &f->options,
                                           .level = gbsi_simd_level(),
                                           .pool = f->pool,
                                           .draw_room = UINT64_MAX};
    gbsi_executor executor;
    assert_int_equal(gbsi_executor_init(&executor, &setting, NULL), GBS_OK);
    if (between > 0.0) {
        assert_int_equal(gbsi_tiles_look_every(executor.pass_state, between, NULL), GBS_OK);
    }
    memset(x, 0, (size_t)n_chains * N * sizeof *x);
    for (uint32_t chain = 0; chain < n_chains; ++chain) {
        gbsi_executor_set(&executor, chain, x + (size_t)chain * N);
    }
    gbsi_executor_ready(&executor);
    executor.watch = watch;
    const gbs_status status = gbsi_executor_pass(&executor, &f->schedule, 0, NULL, false, NULL);
    assert_int_equal(status, executor.n_updates < N ? GBS_STOPPED : GBS_OK);
    for (uint32_t chain = 0; chain < n_chains; ++chain) {
        gbsi_executor_get(&executor, chain, x + (size_t)chain * N);
    }
    const uint64_t n_updates = executor.n_updates;
    gbsi_executor_free(&executor);
    return n_updates;
}

/* All chains have done the same updates, and no others. */
static void check_cut(const fixture *f, const uint32_t *whole, const uint32_t *cut, uint64_t end)
{
    for (size_t p = 0; p < f->schedule.n_pieces; ++p) {
        const gbsi_piece *piece = &f->schedule.piece[p];
        for (uint32_t i = 0; i < piece->n; ++i) {
            const uint32_t v = f->plan->variable_of[gbsi_piece_slot(&f->schedule, piece, i)];
            for (size_t at = v; at < f->options.chains * N; at += N) {
                assert_int_equal(cut[at], piece->place + i < end ? whole[at] : 0);
            }
        }
    }
}

static void looked_at_inside(void **unused)
{
    static const uint32_t n_chains[] = {3, 33};
    (void)unused;
    for (int how = 0; how < N_JOINED; ++how) {
        for (int c = 0; c < 2; ++c) {
            const double between = c == 0 ? 20000.0 : 70000.0;
            fixture f;
            set_up(&f, (joined)how, n_chains[c]);
            uint32_t *whole = malloc(f.options.chains * N * sizeof *whole);
            uint32_t *x = malloc(f.options.chains * N * sizeof *x);
            assert_true(whole != NULL && x != NULL);
            assert_int_equal(run_pass(&f, 0.0, NULL, whole), N);
            gbsi_watch nobody = {0};
            assert_int_equal(run_pass(&f, between, &nobody, x), N);
            check_cut(&f, whole, x, N);
            assert_true(nobody.n_looks > 5);
            assert_true(nobody.longest < 2 * GBSI_WATCH_EVERY + (uint64_t)between);
            uint64_t ends = 0; /* looks that stop the pass at the hub */
            for (uint64_t look = 1; look <= nobody.n_looks; look += 1 + nobody.n_looks / 12) {
                uint64_t left = look;
                gbsi_watch watch = {.look = stop_at, .context = &left};
                const uint64_t n = run_pass(&f, between, &watch, x);
                check_cut(&f, whole, x, n);
                ends += n < N && x[0] == 0 && whole[0] != 0;
            }
            assert_true(whole[0] != 0 && ends > 3);
            free(whole);
            free(x);
            tear_down(&f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looked_at_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
