/* SPDX-License-Identifier: Apache-2.0 */
#include "support/bare_chains.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "chains/engine.h"
#include "support/small_models.h"

void test_chains_set_up(test_chains *f, gbs_model *model, const gbsi_edges *extra,
                        const uint32_t *sequence, size_t n, gbsi_plan_options how,
                        gbs_run_options options)
{
    gbs_error err = {0};
    *f = (test_chains){.model = model, .options = options};
    assert_int_equal(gbsi_condition(model, NULL, &f->conditioned, &err), GBS_OK);
    assert_int_equal(gbsi_graph_new(f->conditioned, extra, &f->graph, &err), GBS_OK);
    assert_int_equal(gbsi_plan_new(f->conditioned, f->graph, sequence, n, how, &f->plan, &err),
                     GBS_OK);
    assert_int_equal(gbsi_plan_level(f->plan, sequence, n, &f->schedule, &err), GBS_OK);
    assert_int_equal(f->schedule.n_places, n);
}

void test_chains_tear_down(test_chains *f)
{
    gbsi_schedule_free(&f->schedule);
    gbsi_plan_free(f->plan);
    gbsi_graph_free(f->graph);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
}

void test_chains_start_of(const test_chains *f, uint32_t chain, uint32_t *x)
{
    test_stream s = {.seed = 1000 + chain, .n = 0};
    for (uint32_t v = 0; v < f->conditioned->n_variables; ++v) {
        x[v] = test_below(&s, f->conditioned->arity[v]);
    }
}

void test_chains_start(const test_chains *f, gbsi_simd level, gbsi_pool *pool, uint64_t draw_room,
                       gbsi_executor *x)
{
    gbs_error err = {0};
    uint32_t *state = calloc(f->conditioned->n_variables + (size_t)1, sizeof *state);
    const gbsi_executor_setting setting = {.pass = gbsi_pass_of(f->options.scan),
                                           .plan = f->plan,
                                           .options = &f->options,
                                           .level = level,
                                           .pool = pool,
                                           .draw_room = draw_room};
    assert_non_null(state);
    if (gbsi_executor_init(x, &setting, &err) < 0) {
        fail_msg("%s", err.message);
    }
    for (uint32_t chain = 0; chain < x->n_chains; ++chain) {
        test_chains_start_of(f, chain, state);
        gbsi_executor_set(x, chain, state);
    }
    gbsi_executor_ready(x);
    free(state);
}

void test_chains_same(const test_chains *f, const gbsi_executor *a, const gbsi_executor *b)
{
    for (uint32_t g = 0; g < a->n_groups; ++g) {
        assert_memory_equal(a->group[g].state, b->group[g].state,
                            (size_t)f->plan->n_slots * a->lanes * f->plan->value_bytes);
    }
}

gbsi_estimate *test_chains_estimate(const test_chains *f, const gbsi_executor *x,
                                    gbs_estimator_kind kind, bool each_once)
{
    gbs_error err = {0};
    gbsi_estimate *estimate = NULL;
    const gbsi_estimate_shape shape = {.n_slots = f->plan->n_slots,
                                       .arity = f->plan->arity,
                                       .same_arity = f->plan->max_arity,
                                       .n_chains = x->n_chains,
                                       .lanes = x->lanes,
                                       .n_groups = x->n_groups,
                                       .value_bytes = f->plan->value_bytes,
                                       .kind = kind,
                                       .each_once = each_once};
    assert_int_equal(gbsi_estimate_new(&shape, x->level, &estimate, &err), GBS_OK);
    return estimate;
}

/* ---- files ----------------------------------------------------------------------------------- */

static gbs_status put(void *context, const void *bytes, size_t n, gbs_error *err)
{
    test_file *file = context;
    (void)err;
    while (file->n + n > file->capacity) {
        file->capacity = 2 * file->capacity + 64;
        file->bytes = realloc(file->bytes, file->capacity);
        assert_non_null(file->bytes);
    }
    memcpy(file->bytes + file->n, bytes, n);
    file->n += n;
    return GBS_OK;
}

static gbs_status take(void *context, void *bytes, size_t n, gbs_error *err)
{
    test_file *file = context;
    if (n > file->n - file->at) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "the file ends early");
    }
    memcpy(bytes, file->bytes + file->at, n);
    file->at += n;
    return GBS_OK;
}

gbsi_sink test_file_sink(test_file *file)
{
    return (gbsi_sink){file, put};
}

gbsi_source test_file_source(test_file *file)
{
    return (gbsi_source){file, take};
}

void test_file_free(test_file *file)
{
    free(file->bytes);
    *file = (test_file){0};
}
