/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a run from a model and evidence: conditions the model on the evidence, chooses the
 * components that are answered exactly, and makes the plan. */
#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "choose/exact_part.h"
#include "choose/trial.h"
#include "cluster/cluster.h"
#include "drive/run_memory.h"
#include "drive/runners.h"

static gbs_status count_colors(const gbsi_problem *problem, const gbsi_engine *engine,
                               gbsi_report *report, gbsi_watch *watch, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if ((engine->scan_traits & GBSI_SCAN_COLORED) != 0) {
        report->public.n_colors = engine->schedule.n_batches;
        return GBS_OK;
    }
    uint32_t *color = gbsi_alloc_array(problem->part->n_variables, sizeof *color);
    GBSI_PASS(GBSI_HAVE(err, "colouring", color));
    GBSI_TRY(gbsi_graph_color(problem->graph, watch, color, &report->public.n_colors, err));
cleanup:
    gbsi_free(color);
    return status;
}

/* Refuses to combine drawing methods that depend on the states of neighbours with scans of blocks,
 * because blocks are drawn without these methods. */
static gbs_status refuse_context(const gbsi_draw *draw, const gbsi_scan *scan, gbs_error *err)
{
    if ((draw->traits & GBSI_DRAW_HERDS) == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--draw: %s reads the states of a variable's neighbours, and the %s scan "
                         "draws it given others every time: use --scan %s",
                         draw->name, scan->name, gbsi_scan_base_name());
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "--draw: %s keeps a weight for each state of a variable's "
                     "neighbours, and the %s scan draws it given others every time: use keys "
                     "that look at the conditional alone: --keys bins (or one)",
                     draw->name, scan->name);
}

gbs_status gbsi_run_check_draw(const gbsi_task *task, gbsi_engine *engine, gbs_error *err)
{
    const gbsi_draw *draw = gbsi_draw_of(&task->options, gbsi_simd_level());
    if ((draw->traits & GBSI_DRAW_POSITION) != 0 &&
        (engine->scan_traits & GBSI_SCAN_EACH_ONCE) == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--draw: %s needs a scan that updates every variable once per pass, and "
                         "scan %s does not: use --scan %s",
                         draw->name, engine->scan->name, gbsi_scan_base_name());
    }
    const bool blocks = (engine->scan_traits & GBSI_SCAN_BLOCKS) != 0;
    const bool splits = (engine->scan_traits & GBSI_SCAN_SPLITS) != 0;
    if ((draw->traits & GBSI_DRAW_CONTEXT) != 0 && blocks) {
        return refuse_context(draw, engine->scan, err);
    }
    if ((draw->traits & GBSI_DRAW_INDEPENDENT) == 0 && splits) {
        /* a synchronous chain consists of two chromatic chains, which share the weights of each
         * variable */
        engine->scan_traits |= GBSI_SCAN_AT_ONCE;
    }
    const bool clusters = (engine->scan_traits & GBSI_SCAN_CLUSTERS) != 0;
    if ((draw->traits & GBSI_DRAW_INDEPENDENT) == 0 && clusters) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--draw: clusters of scan %s are moved by independent random numbers, and "
                         "draw %s has others: use --draw random or --scan %s",
                         engine->scan->name, gbsi_draw_name(task->options.draw),
                         gbsi_scan_base_name());
    }
    if (task->purpose.anneals && (blocks || splits || clusters)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--scan: %s chains are not annealed: use --scan %s",
                         engine->scan->name, gbsi_scan_base_name());
    }
    engine->schedule.wants_position = (draw->traits & GBSI_DRAW_POSITION) != 0;
    engine->schedule.wants_last = task->options.restarts;
    engine->schedule.only = task->problem.target;
    return GBS_OK;
}

gbs_status gbsi_chains_compile(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                               gbsi_watch *watch, gbs_error *err)
{
    gbsi_sequence sequence = {0};
    engine->scan = gbsi_scan_of(task->options.scan);
    if (engine->scan == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--scan: found a number that is no gbs_scan_kind");
    }
    report->public.scan = engine->scan->name;
    engine->scan_traits = engine->scan->traits;
    engine->pass = gbsi_pass_of(task->options.scan);
    GBSI_PASS(engine->scan->init(task->problem.graph, &task->options, watch, &engine->scan_state,
                                 &engine->scan_traits, err));
    GBSI_PASS(gbsi_run_check_draw(task, engine, err));
    if ((engine->scan_traits & GBSI_SCAN_CLUSTERS) != 0) {
        GBSI_PASS(
            gbsi_bonds_check(task->problem.soft != NULL ? task->problem.soft : task->problem.part,
                             engine->scan->name, err));
    }
    GBSI_PASS(gbsi_run_certify(&task->options, &task->problem, engine, report, watch, err));
    GBSI_PASS(engine->scan->next_pass(engine->scan_state, 0, &sequence, err));
    GBSI_PASS(gbsi_plan_new(
        task->problem.soft != NULL ? task->problem.soft : task->problem.part, task->problem.graph,
        sequence.variable, sequence.n,
        (gbsi_plan_options){.repeats = (engine->scan_traits & GBSI_SCAN_REPEATS) != 0,
                            .at_once = (engine->scan_traits & GBSI_SCAN_AT_ONCE) != 0,
                            .sell = gbsi_lanes_of(gbsi_options_chains(&task->options)) == 1,
                            .heated = task->purpose.anneals,
                            .measure = !task->purpose.limited},
        &engine->plan, err));
    if (engine->plan->level_start != NULL && !engine->schedule.wants_position &&
        !engine->schedule.wants_last) {
        GBSI_PASS(gbsi_plan_own_pass(engine->plan, &engine->schedule, err));
    } else {
        GBSI_PASS(
            gbsi_plan_level(engine->plan, sequence.variable, sequence.n, &engine->schedule, err));
    }
    GBSI_PASS(count_colors(&task->problem, engine, report, watch, err));
    const bool blocks =
        (engine->scan_traits & GBSI_SCAN_BLOCKS) != 0; /* a scan of blocks has no levels */
    report->public.n_levels = blocks ? 0 : engine->schedule.n_batches;
    report->public.n_batches = report->public.n_levels;
    report->n_precise =
        engine->plan->n_noisy > 0 ? 0 : engine->plan->n_of_class[GBSI_CLASS_PRECISE];
    return GBS_OK;
}

gbs_status gbsi_run_rescan(gbs_run *run, int scan_kind, gbsi_watch *watch, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_watch *before = gbsi_watch_enter(watch);
    gbsi_schedule_free(&run->sampling.engine.schedule);
    run->sampling.engine.schedule = (gbsi_schedule){0};
    gbsi_plan_free(run->sampling.engine.plan);
    run->sampling.engine.plan = NULL;
    run->sampling.engine.scan->free(run->sampling.engine.scan_state);
    run->sampling.engine.scan_state = NULL;
    run->task.options.scan = scan_kind;
    GBSI_TRY(run->task.plain->compile(&run->task, &run->sampling.engine, &run->report, watch, err));
    GBSI_TRY(gbsi_run_predict(run, err));
cleanup:
    gbsi_watch_leave(before);
    return status;
}

gbs_status gbsi_run_take_memory(gbs_run *run, gbs_error *err)
{
    return run->task.plain->prepare == NULL ? GBS_OK : run->task.plain->prepare(run, err);
}

gbs_status gbsi_run_take_known_memory(gbs_run *run, gbs_error *err)
{
    return run->sampling.engine.undecided
               ? gbsi_run_check(&run->task.options, &run->memory, &run->budget, err)
               : gbsi_run_take_memory(run, err);
}

gbs_status gbsi_chains_prepare(gbs_run *run, gbs_error *err)
{
    GBSI_PASS(gbsi_run_check(&run->task.options, &run->memory, &run->budget, err));
    if (run->sampling.engine.pool == NULL) {
        GBSI_PASS(gbsi_pool_new(gbsi_options_threads(&run->task.options),
                                &run->sampling.engine.pool, err));
    }
    const gbsi_executor_setting setting =
        gbsi_engine_setting(&run->sampling.engine, &run->task.options, run->memory.draw_room);
    GBSI_PASS(gbsi_executor_init(&run->sampling.engine.executor, &setting, err));
    run->sampling.engine.executor.ranks = run->task.ranks;
    if (run->task.options.estimator != GBS_ESTIMATOR_TRACES && !run->task.purpose.anneals) {
        GBSI_PASS(gbsi_run_new_estimate(&run->task, &run->sampling.engine,
                                        &run->sampling.estimates.estimate, err));
    }
    if (gbsi_run_counts_moves(&run->task, &run->sampling.engine)) {
        const gbs_share *share = run->task.shared.share;
        GBSI_PASS(
            gbsi_moves_take(&run->sampling.engine.executor, &run->sampling.estimates.moves, err));
        GBSI_PASS(gbsi_stays_take(&run->sampling.engine.executor,
                                  share != NULL ? share->facts.n_free
                                                : run->sampling.engine.plan->n_slots,
                                  &run->sampling.estimates.stays, err));
    }
    if (run->task.purpose.observes) {
        GBSI_PASS(
            gbsi_observed_take(&run->task, &run->sampling.engine, &run->sampling.observed, err));
    }
    if (run->sampling.estimates.stays.n_slots > 0) {
        gbsi_estimate_heed_stays(run->sampling.estimates.estimate,
                                 run->sampling.estimates.stays.all);
    }
    return GBS_OK;
}

/* Allocates memory for the marginals of components that are answered exactly. */
static gbs_status take_exact_marginals(const gbsi_problem *problem, gbsi_estimates *estimates,
                                       const gbsi_report *report, gbs_error *err)
{
    const gbsi_conditioned *whole = problem->whole;
    const size_t n = whole->state_offset[whole->n_variables];
    if (report->public.n_exact_variables == 0) {
        return GBS_OK;
    }
    estimates->exact_p = gbsi_alloc_array_zero(n, sizeof *estimates->exact_p);
    return GBSI_HAVE(err, "marginals", estimates->exact_p);
}

/* Whether the model runs in a form that replaces the plan. */
static bool has_form(const gbsi_engine *engine)
{
    return engine->form_kind != GBSI_FORM_NONE;
}

/* Chooses the form of the sampled part: bits, levels of a picture, or none. @param whole whether
 * the whole model is known not to be a lattice. */
static gbs_status choose_form(const gbsi_task *task, gbsi_sampling *sampling,
                              const gbsi_run_budget *budget, bool whole, gbsi_watch *watch,
                              gbs_error *err)
{
    if (task->problem.part == NULL) {
        return GBS_OK;
    }
    if (!whole) {
        GBSI_PASS(gbsi_choose_sites(&sampling->engine, &task->options, task->problem.part, err));
    }
    if (!has_form(&sampling->engine)) {
        GBSI_PASS(
            gbsi_choose_chains(&sampling->engine, &task->options, &task->problem, watch, err));
    }
    if (!has_form(&sampling->engine) && task->purpose.limited) {
        GBSI_PASS(gbsi_run_check_part(task, &sampling->estimates, budget, err));
    }
    return GBS_OK;
}

/* Finds the part of the model that is sampled, and decides whether spins are kept in bits. If no
 * component of a lattice can be answered exactly, the whole lattice is sampled. The run then makes
 * no graph, because a graph would take many times as much memory as the bits. */
static gbs_status find_part(gbsi_task *task, gbsi_sampling *sampling, const gbsi_run_budget *budget,
                            gbsi_report *report, gbsi_watch *watch, gbs_error *err)
{
    const bool whole = task->options.method == GBS_METHOD_SAMPLE;
    if (whole && !has_form(&sampling->engine)) {
        GBSI_PASS(gbsi_choose_sites(&sampling->engine, &task->options, task->problem.whole, err));
    }
    if (has_form(&sampling->engine)) {
        task->problem.part = task->problem.whole;
        report->public.n_components = sampling->engine.n_components;
        return GBS_OK;
    }
    GBSI_PASS(gbsi_problem_take_graph(&task->problem, err));
    GBSI_PASS(gbsi_run_choose_exact(task, report, err));
    GBSI_PASS(gbsi_problem_take_part(&task->problem, &task->options, &report->public, err));
    GBSI_PASS(take_exact_marginals(&task->problem, &sampling->estimates, report, err));
    report->public.n_components = task->problem.components->n;
    if (task->purpose.divides && !report->public.has_zeros) {
        gbsi_problem_forget_components(&task->problem);
        gbsi_mapping_rest(
            &task->problem.model->mapping); /* compiling reads only a part of the graph */
    }
    return choose_form(task, sampling, budget, whole, watch, err);
}

/* Whether the splash scan may be chosen. The scan needs the random draw and a plan. A run with a
 * certified burn-in cannot use splashes, because certificates are only for updates of single
 * variables.
 */
static bool may_splash(const gbsi_run_purpose *purpose, const gbs_run_options *o)
{
    return purpose->limited && !purpose->anneals &&
           (gbsi_draw_traits(o) & GBSI_DRAW_INDEPENDENT) != 0 && o->certified == 0.0;
}

/* Decides whether a pilot will choose the scan, and sets engine->undecided. @param scan_kind scan
 * that the user asked for. */
static void plan_pilot(gbsi_task *task, gbsi_engine *engine, gbsi_report *report, int scan_kind)
{
    const gbsi_scan_choice choice = gbsi_scan_choice_of(scan_kind);
    const bool wanted =
        choice == GBSI_CHOICE_TRIED || (choice == GBSI_CHOICE_BY_NEED && report->public.has_zeros);
    engine->undecided = wanted && (task->plain->traits & GBSI_RUNNER_SCANS) != 0 &&
                        may_splash(&task->purpose, &task->options);
    engine->by_need = choice == GBSI_CHOICE_BY_NEED;
    engine->named = choice == GBSI_CHOICE_NAMED;
    if (choice == GBSI_CHOICE_TRIED && !engine->undecided) {
        report->public.scan_reason = "splashes do not support these options";
    }
}

/* Whether variables that affect no queried variable may be left out. All variables are kept for
 * approximations, whose ln Z is of the whole model. All are kept for traces, which report the
 * density of the whole model. All are kept for options with lists of variables, because such a list
 * could name a variable that was left out. All are kept with --method sample, because such a run
 * must have the bits of a run on ranks that share the model. */
static bool may_leave_out(const gbsi_task *task)
{
    const gbs_run_options *o = &task->options;
    return !gbsi_run_approximates(task) && o->method != GBS_METHOD_SAMPLE &&
           o->estimator != GBS_ESTIMATOR_TRACES && o->sequence == NULL && !o->partial_scan &&
           !o->restarts && o->dummy_edges == NULL;
}

/* Chooses the components of the conditioned model that are answered exactly, compiles the others,
 * and predicts the memory. @param asked the scan that the options name. */
static gbs_status prepare_whole(gbs_run *run, int asked, gbsi_watch *watch, gbs_error *err)
{
    if (gbsi_scan_choice_of(asked) != GBSI_CHOICE_NAMED) {
        run->task.options.scan =
            gbsi_scan_with(GBSI_SCAN_BASE); /* used until the pilot chooses another scan */
    }
    GBSI_PASS(find_part(&run->task, &run->sampling, &run->budget, &run->report, watch, err));
    run->task.problem.n_sampled =
        run->task.problem.part == NULL ? 0 : run->task.problem.part->n_variables;
    gbsi_run_choose_runner(&run->task, &run->sampling.engine);
    run->report.public.n_pruned = run->task.problem.barren != NULL
                                      ? 0
                                      : run->task.problem.n_pruned + run->task.problem.n_skipped;
    run->report.public.n_free_variables =
        run->task.problem.whole->n_variables + run->task.problem.n_pruned;
    run->sampling.estimates.rao_blackwell =
        run->task.options.estimator == GBS_ESTIMATOR_RAO_BLACKWELL;
    if (run->task.plain->compile != NULL) {
        GBSI_PASS(
            run->task.plain->compile(&run->task, &run->sampling.engine, &run->report, watch, err));
        plan_pilot(&run->task, &run->sampling.engine, &run->report, asked);
    }
    GBSI_PASS(gbsi_run_predict(run, err));
    return gbsi_watch_stopped(watch) /* the search for exact answers was cut short, and fewer
                                        components are exact */
               ? gbsi_watch_fail(err, "preparing the run")
               : GBS_OK;
}

/* Warns of a target error that standard errors cannot reach. The standard error of an average of
 * conditionals is never smaller than the resolution of the sums, which are floats. A run with a
 * smaller target error would continue up to its limit on updates. [M8] */
static gbs_status tell_resolution(gbs_run *run, gbs_error *err)
{
    const double target = run->task.options.target_error;
    return target == 0.0 || target >= GBSI_RESOLUTION || run->task.problem.part == NULL ||
                   !run->task.purpose.limited || run->task.purpose.anneals ||
                   run->task.purpose.draws || !run->sampling.estimates.rao_blackwell
               ? GBS_OK
               : gbsi_report_warn(&run->report, err,
                                  "--target-error %.3g is below %.2g, and no standard error of a "
                                  "state with probability p is below %.2g p, as averages are sums "
                                  "of floats: --estimator count has no such bound",
                                  target, GBSI_RESOLUTION, GBSI_RESOLUTION);
}

gbs_status gbsi_run_prepare(gbs_run *run, const gbs_evidence *evidence, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const double begun_s = gbsi_clock_s();
    gbsi_watch watch = gbsi_watch_of(NULL, NULL, begun_s, run->task.options.time_s);
    gbsi_watch *before = gbsi_watch_enter(&watch);
    if (run->task.purpose.limited) {
        GBSI_TRY(gbsi_run_check_model(&run->task.options, &run->task.problem, &run->budget, err));
    }
    GBSI_TRY(gbsi_condition_watched(run->task.problem.model, evidence, &watch,
                                    &run->task.problem.whole, err));
    if (run->task.purpose.asks && may_leave_out(&run->task)) {
        GBSI_TRY(gbsi_problem_ask(&run->task.problem, run->task.purpose.n_asked,
                                  run->task.purpose.asked, !run->task.purpose.up_only, &watch,
                                  err));
    }
    GBSI_TRY(prepare_whole(run, run->task.options.scan, &watch, err));
    GBSI_TRY(tell_resolution(run, err));
    run->report.public.compile_s = gbsi_clock_s() - begun_s;
cleanup:
    gbsi_watch_leave(before);
    return status;
}

/* ---- exact answers given up ------------------------------------------------------------------ */

bool gbsi_run_may_give_up(const gbs_run *run)
{
    const gbs_run_options *o = &run->checkpoints.asked;
    return run->task.options.method == GBS_METHOD_AUTO && o->time_s > 0.0 && o->sequence == NULL &&
           !o->partial_scan && o->dummy_edges == NULL && run->task.ranks == NULL &&
           run->checkpoints.from == NULL;
}

gbs_status gbsi_run_sample_instead(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_own_chains own = run->sampling.engine.own;
    gbsi_watch *before = gbsi_watch_enter(&drive->watch);
    gbsi_drive_go_on(drive, false);
    drive->share = 1.0;
    gbsi_engine_free(&run->sampling.engine);
    gbsi_estimates_free(&run->sampling.estimates);
    run->sampling.engine = (gbsi_engine){.own = own};
    run->sampling.estimates = (gbsi_estimates){0};
    gbsi_problem_choose_again(&run->task.problem);
    run->task.options.method = GBS_METHOD_SAMPLE;
    run->checkpoints.asked.method =
        GBS_METHOD_SAMPLE; /* the method that a run resuming from a checkpoint uses */
    run->report.public.nonzero_entries = 0.0;
    run->report.public.visited_states = 0.0;
    run->report.public.exact = (gbs_exact_cost){0};
    run->report.public.log_z = NAN;
    gbsi_drive_note_late(drive, &run->report);
    GBSI_TRY(prepare_whole(run, run->checkpoints.asked.scan, &drive->watch, err));
    GBSI_TRY(gbsi_run_take_known_memory(run, err));
cleanup:
    gbsi_watch_leave(before);
    return status;
}
