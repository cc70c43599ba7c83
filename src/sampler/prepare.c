/* SPDX-License-Identifier: Apache-2.0 */
/* From model and evidence to a compiled run: condition, choose what is exact, plan. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/memory.h"
#include "exact/enumerate.h"
#include "sampler/memory.h"
#include "sampler/options.h"
#include "sampler/run.h"

/* Components answered by enumeration: `auto` those of few states, `exact` all or an error. */
static gbs_status choose_exact(gbs_run *run, gbs_error *err)
{
    const gbsi_components *c = run->components;
    const int method = run->options.method;
    run->exact = gbsi_alloc_array_zero(c->n, 1);
    if (run->exact == NULL) {
        return gbsi_no_memory(err, "components", c->n);
    }
    for (uint32_t i = 0; i < c->n; ++i) {
        if (method == GBS_METHOD_EXACT && c->n_states[i] > GBSI_ENUMERATE_MAX_STATES) {
            const uint32_t v = gbsi_components_first(c, i);
            const char *many = c->n_states[i] == UINT64_MAX ? "more than " : "";
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "the component of variable %u has %s%" PRIu64
                             " states; exact enumeration holds %" PRIu64 ": use --method sample",
                             run->whole->user_variable[v], many, c->n_states[i],
                             GBSI_ENUMERATE_MAX_STATES);
        }
        run->exact[i] = method == GBS_METHOD_EXACT ||
                        (method == GBS_METHOD_AUTO && c->n_states[i] <= GBSI_ENUMERATE_AUTO_STATES);
    }
    return GBS_OK;
}

/* The sampled components as a model of their own. */
static gbs_status take_part(gbs_run *run, gbs_error *err)
{
    const gbsi_conditioned *whole = run->whole;
    gbs_status status = GBS_OK;
    uint32_t n_kept = 0;
    uint8_t *keep = gbsi_alloc_array_zero(whole->n_variables, 1);
    run->part_of = gbsi_alloc_array(whole->n_variables, sizeof *run->part_of);
    if (keep == NULL || run->part_of == NULL) {
        status = gbsi_no_memory(err, "components", whole->n_variables * sizeof *run->part_of);
        goto cleanup;
    }
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        keep[v] = !run->exact[run->components->of[v]];
        run->part_of[v] = keep[v] ? n_kept++ : GBSI_NONE;
    }
    run->report.n_exact_variables = whole->n_variables - n_kept;
    if (n_kept > 0 && n_kept == whole->n_variables) {
        run->part = run->whole; /* no copy of a large model */
        run->graph = run->whole_graph;
    } else if (n_kept > 0) {
        GBSI_TRY(gbsi_conditioned_part(whole, keep, &run->part, err));
        GBSI_TRY(gbsi_graph_new(run->part, NULL, &run->graph, err));
    }
    if (run->report.n_exact_variables > 0) {
        const size_t n = whole->state_offset[whole->n_variables];
        run->exact_p = gbsi_alloc_array_zero(n, sizeof *run->exact_p);
        if (run->exact_p == NULL) {
            status = gbsi_no_memory(err, "marginals", n * sizeof *run->exact_p);
        }
    }
cleanup:
    gbsi_free(keep);
    return status;
}

static gbs_status count_colors(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if ((run->scan_traits & GBSI_SCAN_COLORED) != 0) {
        run->report.n_colors = run->schedule.n_batches;
        return GBS_OK;
    }
    uint32_t *color = gbsi_alloc_array(run->part->n_variables, sizeof *color);
    if (color == NULL) {
        return gbsi_no_memory(err, "colouring", run->part->n_variables * sizeof *color);
    }
    GBSI_TRY(gbsi_graph_color(run->graph, color, &run->report.n_colors, err));
cleanup:
    gbsi_free(color);
    return status;
}

static gbs_status compile(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_sequence sequence = {0};
    run->scan = gbsi_scan_of(run->options.scan);
    if (run->scan == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "option scan: no such scan");
    }
    run->scan_traits = run->scan->traits;
    GBSI_TRY(run->scan->init(run->graph, &run->options, &run->scan_state, &run->scan_traits, err));
    GBSI_TRY(run->scan->next_pass(run->scan_state, 0, &sequence, err));
    GBSI_TRY(
        gbsi_plan_new(run->part, run->graph, sequence.variable, sequence.n,
                      (gbsi_plan_options){.repeats = (run->scan_traits & GBSI_SCAN_REPEATS) != 0,
                                          .sell = gbsi_lanes_of((uint32_t)run->options.chains) == 1,
                                          .measure = !run->limited},
                      &run->plan, err));
    if (run->plan->level_start != NULL) {
        GBSI_TRY(gbsi_plan_own_pass(run->plan, &run->schedule, err));
    } else {
        GBSI_TRY(gbsi_plan_level(run->plan, sequence.variable, sequence.n, &run->schedule, err));
    }
    GBSI_TRY(count_colors(run, err));
    run->report.n_levels = run->schedule.n_batches;
    run->report.n_batches = run->schedule.n_batches;
cleanup:
    return status;
}

gbs_status gbsi_run_take_memory(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_simd level = gbsi_simd_level();
    if (run->part == NULL) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_run_check(run, err));
    const gbsi_estimate_shape shape = gbsi_run_shape(run);
    GBSI_TRY(gbsi_pool_new(gbsi_options_threads(&run->options), &run->pool, err));
    GBSI_TRY(gbsi_executor_init(&run->executor, run->plan, gbsi_draw_of(run->options.draw, level),
                                &run->options, level, run->pool, err));
    run->executor_ready = true;
    GBSI_TRY(gbsi_estimate_new(&shape, level, &run->estimate, err));
cleanup:
    return status;
}

gbs_status gbsi_run_prepare(gbs_run *run, const gbs_evidence *evidence, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const double begun_s = gbsi_clock_s();
    if (run->limited) {
        GBSI_TRY(gbsi_run_check_model(run, err));
    }
    GBSI_TRY(gbsi_condition(run->model, evidence, &run->whole, err));
    GBSI_TRY(gbsi_graph_new(run->whole, NULL, &run->whole_graph, err));
    GBSI_TRY(
        gbsi_components_new(run->whole_graph, GBSI_ENUMERATE_MAX_STATES, &run->components, err));
    GBSI_TRY(choose_exact(run, err));
    GBSI_TRY(take_part(run, err));
    run->report.n_free_variables = run->whole->n_variables;
    run->report.n_components = run->components->n;
    run->rao_blackwell = run->options.estimator == GBS_ESTIMATOR_RAO_BLACKWELL;
    if (run->part != NULL) {
        if (run->limited) {
            GBSI_TRY(gbsi_run_check_part(run, err));
        }
        GBSI_TRY(compile(run, err));
        GBSI_TRY(gbsi_run_predict(run, err));
        for (uint32_t i = 0; i < run->components->n; ++i) {
            run->report.has_zeros |= !run->exact[i] && run->components->has_zeros[i];
        }
    }
    run->report.compile_s = gbsi_clock_s() - begun_s;
cleanup:
    return status;
}
