/* SPDX-License-Identifier: Apache-2.0 */
/* From model and evidence to a compiled run: condition, choose what is exact, plan. */
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "model/soften.h"
#include "sampler/exact_part.h"
#include "sampler/pilot.h"
#include "sampler/run.h"
#include "sampler/run_memory.h"
#include "sampler/run_options.h"
#include "sampler/tiles.h"

/* The graph of what is sampled, with the edges that the draw wants beyond those of the factors. */
static gbs_status make_graph(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_edges extra = {0};
    const gbsi_draw *draw = gbsi_draw_of(&run->options, gbsi_simd_level());
    if (draw->extra_edges != NULL) {
        GBSI_TRY(draw->extra_edges(run->problem.part, &run->options, &extra, err));
    }
    if (run->problem.part == run->problem.whole && extra.n == 0 && !extra.all) {
        run->problem.graph = run->problem.whole_graph; /* no copy of a large one */
    } else {
        GBSI_TRY(gbsi_graph_new(run->problem.part, &extra, &run->problem.graph, err));
    }
cleanup:
    gbsi_free(extra.pair);
    return status;
}

/* The sampled components as a model of their own. */
static gbs_status take_part(gbs_run *run, gbs_error *err)
{
    const gbsi_conditioned *whole = run->problem.whole;
    gbs_status status = GBS_OK;
    uint32_t n_kept = 0;
    uint8_t *keep = gbsi_alloc_array_zero(whole->n_variables, 1);
    run->problem.part_of = gbsi_alloc_array(whole->n_variables, sizeof *run->problem.part_of);
    if (keep == NULL || run->problem.part_of == NULL) {
        status =
            gbsi_no_memory(err, "components", whole->n_variables * sizeof *run->problem.part_of);
        goto cleanup;
    }
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        keep[v] = !run->problem.exact[run->problem.components->of[v]];
        run->problem.part_of[v] = keep[v] ? n_kept++ : GBSI_NONE;
    }
    run->report.n_exact_variables = whole->n_variables - n_kept;
    if (n_kept > 0 && run->options.partial_scan) {
        GBSI_TRY(gbsi_run_take_visited(run, keep, err));
    } else if (n_kept > 0 && n_kept == whole->n_variables) {
        run->problem.part = run->problem.whole; /* no copy of a large model */
    } else if (n_kept > 0) {
        GBSI_TRY(gbsi_conditioned_part(whole, keep, &run->problem.part, err));
    }
    if (run->problem.part != NULL) {
        run->report.has_zeros =
            memchr(run->problem.part->has_zeros, 1, run->problem.part->factors.n_factors) != NULL;
    }
    if (run->report.has_zeros && run->problem.penalty > 0.0) {
        GBSI_TRY(gbsi_soften(run->problem.part, run->problem.penalty, &run->problem.soft, err));
    }
    if (n_kept > 0) {
        GBSI_TRY(gbsi_run_take_targets(run, err));
        GBSI_TRY(make_graph(run, err));
    }
    if (run->report.n_exact_variables > 0) {
        const size_t n = whole->state_offset[whole->n_variables];
        run->estimates.exact_p = gbsi_alloc_array_zero(n, sizeof *run->estimates.exact_p);
        if (run->estimates.exact_p == NULL) {
            status = gbsi_no_memory(err, "marginals", n * sizeof *run->estimates.exact_p);
        }
    }
cleanup:
    gbsi_free(keep);
    return status;
}

static gbs_status count_colors(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if ((run->engine.scan_traits & GBSI_SCAN_COLORED) != 0) {
        run->report.n_colors = run->engine.schedule.n_batches;
        return GBS_OK;
    }
    uint32_t *color = gbsi_alloc_array(run->problem.part->n_variables, sizeof *color);
    if (color == NULL) {
        return gbsi_no_memory(err, "colouring", run->problem.part->n_variables * sizeof *color);
    }
    GBSI_TRY(gbsi_graph_color(run->problem.graph, color, &run->report.n_colors, err));
cleanup:
    gbsi_free(color);
    return status;
}

/* What a draw asks of the scan. */
static gbs_status check_draw(gbs_run *run, gbs_error *err)
{
    const gbsi_draw *draw = gbsi_draw_of(&run->options, gbsi_simd_level());
    if ((draw->traits & GBSI_DRAW_POSITION) != 0 &&
        (run->engine.scan_traits & GBSI_SCAN_EACH_ONCE) == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--draw: %s needs a scan that updates every variable once per pass, and "
                         "scan %s does not: use --scan %s",
                         draw->name, run->engine.scan->name, gbsi_scan_base_name());
    }
    const bool blocks = (run->engine.scan_traits & GBSI_SCAN_BLOCKS) != 0;
    const bool splits = (run->engine.scan_traits & GBSI_SCAN_SPLITS) != 0;
    if ((draw->traits & GBSI_DRAW_CONTEXT) != 0 && blocks) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--draw: %s keeps a weight for each state of a variable's "
                         "neighbours, and the %s scan draws it given others every time: use keys "
                         "that look at the conditional alone, --draw herded --keys bins (or one), "
                         "discretized, randomly-discretized, bounded-error --keys bins",
                         draw->name, run->engine.scan->name);
    }
    if ((draw->traits & GBSI_DRAW_EXACT) == 0 && splits) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--draw: %s does not leave the target invariant, which the %s scan "
                         "needs: use --draw random",
                         draw->name, run->engine.scan->name);
    }
    if (run->anneals && (blocks || splits)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--scan: %s chains are not annealed: use --scan %s",
                         run->engine.scan->name, gbsi_scan_base_name());
    }
    run->engine.schedule.wants_position = (draw->traits & GBSI_DRAW_POSITION) != 0;
    run->engine.schedule.wants_last = run->options.restarts;
    run->engine.schedule.only = run->problem.target;
    return GBS_OK;
}

static gbs_status compile(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_sequence sequence = {0};
    if (run->engine.spins != NULL) {
        run->report.scan = gbsi_scan_of(run->options.scan)->name;
        gbsi_run_describe_lattice(run);
        return GBS_OK;
    }
    run->engine.scan = gbsi_scan_of(run->options.scan);
    if (run->engine.scan == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--scan: found a number that is no gbs_scan_kind");
    }
    run->report.scan = run->engine.scan->name;
    run->engine.scan_traits = run->engine.scan->traits;
    run->engine.pass = gbsi_pass_of(run->options.scan);
    GBSI_TRY(run->engine.scan->init(run->problem.graph, &run->options, &run->engine.scan_state,
                                    &run->engine.scan_traits, err));
    GBSI_TRY(check_draw(run, err));
    GBSI_TRY(gbsi_run_certify(run, err));
    GBSI_TRY(run->engine.scan->next_pass(run->engine.scan_state, 0, &sequence, err));
    GBSI_TRY(gbsi_plan_new(
        run->problem.soft != NULL ? run->problem.soft : run->problem.part, run->problem.graph,
        sequence.variable, sequence.n,
        (gbsi_plan_options){.repeats = (run->engine.scan_traits & GBSI_SCAN_REPEATS) != 0,
                            .sell = gbsi_lanes_of(gbsi_options_chains(&run->options)) == 1,
                            .heated = run->anneals,
                            .measure = !run->limited},
        &run->engine.plan, err));
    if (run->engine.plan->level_start != NULL && !run->engine.schedule.wants_position &&
        !run->engine.schedule.wants_last) {
        GBSI_TRY(gbsi_plan_own_pass(run->engine.plan, &run->engine.schedule, err));
    } else {
        GBSI_TRY(gbsi_plan_level(run->engine.plan, sequence.variable, sequence.n,
                                 &run->engine.schedule, err));
    }
    GBSI_TRY(count_colors(run, err));
    const bool blocks =
        (run->engine.scan_traits & GBSI_SCAN_BLOCKS) != 0; /* which have no levels */
    run->report.n_levels = blocks ? 0 : run->engine.schedule.n_batches;
    run->report.n_batches = run->report.n_levels;
cleanup:
    return status;
}

gbs_status gbsi_run_rescan(gbs_run *run, int scan_kind, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_schedule_free(&run->engine.schedule);
    run->engine.schedule = (gbsi_schedule){0};
    gbsi_plan_free(run->engine.plan);
    run->engine.plan = NULL;
    run->engine.scan->free(run->engine.scan_state);
    run->engine.scan_state = NULL;
    run->options.scan = scan_kind;
    GBSI_TRY(compile(run, err));
    GBSI_TRY(gbsi_run_predict(run, err));
cleanup:
    return status;
}

const gbsi_pass *gbsi_pass_of(int scan_kind)
{
    const gbsi_scan *scan = gbsi_scan_of(scan_kind);
    return scan == NULL || scan->pass == NULL ? &gbsi_pass_tiles : scan->pass;
}

gbsi_executor_setting gbsi_engine_setting(const gbsi_engine *engine, const gbs_run_options *options,
                                          uint64_t draw_room)
{
    return (gbsi_executor_setting){
        .pass = engine->pass,
        .plan = engine->plan,
        .compiled = engine->lattice != NULL ? (const void *)engine->lattice : engine->packed,
        .options = options,
        .level = gbsi_simd_level(),
        .pool = engine->pool,
        .draw_room = draw_room};
}

gbs_status gbsi_run_take_memory(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_simd level = gbsi_simd_level();
    if (run->problem.part == NULL) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_run_check(run, err));
    const gbsi_estimate_shape shape = gbsi_run_shape(run);
    if (run->engine.pool == NULL) {
        GBSI_TRY(gbsi_pool_new(gbsi_options_threads(&run->options), &run->engine.pool, err));
    }
    const gbsi_executor_setting setting =
        gbsi_engine_setting(&run->engine, &run->options, run->memory.draw_room);
    GBSI_TRY(gbsi_executor_init(&run->engine.executor, &setting, err));
    GBSI_TRY(gbsi_run_take_traces(run, err));
    if (run->options.estimator != GBS_ESTIMATOR_TRACES && !run->anneals) {
        GBSI_TRY(gbsi_estimate_new(&shape, level, &run->estimates.estimate, err));
    }
cleanup:
    return status;
}

gbs_status gbsi_run_take_graph(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(gbsi_graph_new(run->problem.whole, NULL, &run->problem.whole_graph, err));
    GBSI_TRY(gbsi_components_new(run->problem.whole_graph, &run->problem.components, err));
cleanup:
    return status;
}

/* What is sampled, and whether by bits. A lattice of which nothing may be answered exactly is its
 * own part, and then needs no graph, which would take many times as much memory. */
static gbs_status find_part(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (run->options.method == GBS_METHOD_SAMPLE) {
        GBSI_TRY(gbsi_run_choose_sites(run, run->problem.whole, err));
    }
    if (run->engine.spins != NULL) {
        run->problem.part = run->problem.whole;
        run->report.n_components = run->engine.spins->n_components;
        return GBS_OK;
    }
    GBSI_TRY(gbsi_run_take_graph(run, err));
    GBSI_TRY(gbsi_run_choose_exact(run, err));
    GBSI_TRY(take_part(run, err));
    run->report.n_components = run->problem.components->n;
    if (run->problem.part != NULL && run->options.method != GBS_METHOD_SAMPLE) {
        GBSI_TRY(gbsi_run_choose_sites(run, run->problem.part, err));
    }
    if (run->problem.part != NULL && run->engine.spins == NULL) {
        GBSI_TRY(gbsi_run_choose_chains(run, err));
    }
    if (run->problem.part != NULL && run->engine.spins == NULL && run->limited) {
        GBSI_TRY(gbsi_run_check_part(run, err));
    }
cleanup:
    return status;
}

gbs_status gbsi_run_prepare(gbs_run *run, const gbs_evidence *evidence, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const double begun_s = gbsi_clock_s();
    const int asked = run->options.scan;
    if (gbsi_scan_choice_of(asked) != GBSI_CHOICE_NAMED) {
        run->options.scan = gbsi_scan_with(GBSI_SCAN_BASE); /* until the pilot says otherwise */
    }
    if (run->limited) {
        GBSI_TRY(gbsi_run_check_model(run, err));
    }
    GBSI_TRY(gbsi_condition(run->problem.model, evidence, &run->problem.whole, err));
    GBSI_TRY(find_part(run, err));
    run->report.n_free_variables = run->problem.whole->n_variables;
    run->estimates.rao_blackwell = run->options.estimator == GBS_ESTIMATOR_RAO_BLACKWELL;
    if (run->problem.part != NULL) {
        GBSI_TRY(compile(run, err));
        GBSI_TRY(gbsi_run_predict(run, err));
        gbsi_run_plan_pilot(run, asked);
    }
    if (run->problem.part == NULL) {
        run->report.predicted_bytes = gbsi_run_standing_bytes(run);
    }
    run->report.compile_s = gbsi_clock_s() - begun_s;
cleanup:
    return status;
}
