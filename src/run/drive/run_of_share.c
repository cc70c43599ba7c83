/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the run of one rank that has a share of a model. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/plural.h"
#include "chains/run_options.h"
#include "choose/exact_part.h"
#include "drive/partition.h"
#include "drive/run_memory.h"
#include "drive/runners.h"
#include "ranks/share_run.h"

/* Sets the scan to the scan of the partition, if the user left the scan open or named this scan. */
static gbs_status take_scan(const gbs_share *share, gbs_run_options *options, gbs_error *err)
{
    const int scan = (int)share->facts.scan;
    if (options->scan != scan && options->scan != GBS_SCAN_USUAL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--scan: the model was divided for scan %s: divide it again for another",
                         gbsi_scan_of(scan)->name);
    }
    const bool reads = (gbsi_scan_traits(scan) & GBSI_SCAN_READS) !=
                       0; /* the share already has the updates from the scan file */
    options->scan = reads ? gbsi_scan_with(GBSI_SCAN_BASE) : scan;
    return GBS_OK;
}

/* Writes a digest as text. @param text [33] out; "" if there is no digest. */
static void tell_digest(const uint64_t digest[2], char *text)
{
    text[0] = '\0';
    if ((digest[0] | digest[1]) != 0) {
        (void)snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, digest[0], digest[1]);
    }
}

/* Notes the data of the run for its checkpoints. The text of a checkpoint equals the text of a run
 * in one process: the scan is not named if it is the default. */
static gbs_status note_run(gbsi_shared *shared, gbsi_checkpoints *checkpoints,
                           const gbs_run_options *given, gbs_error *err)
{
    const gbsi_share_facts *f = &shared->share->facts;
    const bool usual = given->scan == GBS_SCAN_USUAL && f->support == GBSI_SUPPORT_CONNECTED &&
                       (int)f->scan == gbsi_scan_with(GBSI_SCAN_BASE);
    checkpoints->asked.scan = usual ? GBS_SCAN_USUAL : (int)f->scan;
    tell_digest(f->model, shared->model);
    tell_digest(f->evidence, checkpoints->input[GBSI_INPUT_EVIDENCE]);
    tell_digest(f->sequence, checkpoints->input[GBSI_INPUT_SCAN]);
    return given->target == NULL ? GBS_OK
                                 : gbsi_run_note_variables(checkpoints, GBSI_INPUT_TARGET,
                                                           given->target, given->n_targets, err);
}

/* Checks that every rank has its own share of one partition. */
static gbs_status check_ranks(const gbs_share *share, const gbs_ranks *ranks, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t own[sizeof(gbsi_share_facts) /
                 sizeof(uint64_t)]; /* every member of the facts has 8 bytes */
    uint64_t first[sizeof(gbsi_share_facts) / sizeof(uint64_t)];
    memcpy(own, &share->facts, sizeof own);
    memcpy(first, own, sizeof first);
    GBSI_TRY(ranks->broadcast(ranks->context, 0, first, sizeof first, err));
    const bool other = memcmp(first, own, sizeof first) != 0;
    if (other || share->rank != ranks->rank || share->facts.n_ranks != ranks->n_ranks) {
        status = gbsi_fail(err, GBS_ERR_FORMAT,
                           "%s%sshare %" PRIu32 " of %" PRIu64 "%s for rank %" PRIu32 " of %" PRIu32
                           ": every rank needs its own share of one partition",
                           share->path == NULL ? "" : share->path, share->path == NULL ? "" : ": ",
                           share->rank, share->facts.n_ranks,
                           other ? ", of another partition than rank 0," : "", ranks->rank,
                           ranks->n_ranks);
    }
    GBSI_TRY(gbsi_ranks_meet(ranks, status, err));
    GBSI_TRY(gbsi_share_check_owners(share, ranks, err));
cleanup:
    return status;
}

static gbs_status check_starts(const gbs_share *share, const gbs_partition *whole,
                               const gbs_ranks *ranks, const gbs_run_options *options,
                               gbs_error *err)
{
    if (share->facts.searched == 0 || gbsi_shared_has_starts(share, options) || whole != NULL ||
        ranks->rank > 0) {
        return GBS_OK;
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "starts of this model depend on all of it (hard zeros or conditional tables): "
                     "they were found for %" PRIu64 " chain%s with --seed %" PRIu64
                     ": divide the model again for other --chains or another --seed",
                     share->facts.n_starts, gbsi_plural(share->facts.n_starts), share->facts.seed);
}

static void report_facts(const gbsi_shared *shared, const gbsi_engine *engine, gbsi_report *report)
{
    const gbsi_share_facts *f = &shared->share->facts;
    gbs_report *r = &report->public;
    r->scan = engine->scan->name;
    r->n_free_variables = (uint32_t)f->n_free;
    r->n_components = (uint32_t)f->n_components;
    r->n_colors = (uint32_t)f->n_colors;
    r->n_levels = r->n_batches = gbsi_shared_has_blocks(engine) ? 0 : f->n_batches;
    r->has_zeros = f->has_zeros != 0;
    report->n_precise = (uint32_t)f->n_precise;
}

static gbs_status take_turns(gbsi_shared *shared, gbsi_engine *engine, gbs_error *err)
{
    shared->reach = gbsi_alloc_array(shared->share->part->n_variables, 1);
    GBSI_PASS(GBSI_HAVE(err, "share of a model", shared->reach));
    gbsi_turns_of_share(shared->share, shared->reach, &shared->turns);
    engine->turns = &shared->turns;
    return GBS_OK;
}

/* Frees the graph, unless it is still needed. The levels and slots have been determined before. The
 * graph is still needed if blocks grow along its edges, or if the drawing method reads neighbours.
 */
static void forget_graph(const gbs_run_options *options, gbsi_problem *problem,
                         const gbsi_engine *engine)
{
    if (!gbsi_shared_has_blocks(engine) && (gbsi_draw_traits(options) & GBSI_DRAW_CONTEXT) == 0) {
        gbsi_graph_free(problem->graph);
        problem->graph = NULL;
        engine->plan->graph = NULL;
    }
}

static gbs_status compile(gbsi_task *task, gbsi_engine *engine, gbsi_estimates *estimates,
                          gbsi_report *report, gbs_error *err)
{
    const gbs_share *share = task->shared.share;
    const gbsi_plan_options options =
        gbsi_share_plan_options(share, gbsi_lanes_of(gbsi_options_chains(&task->options)) == 1);
    task->problem.support = (gbsi_support)share->facts.support;
    engine->scan = gbsi_scan_of((int)share->facts.scan);
    engine->scan_traits = engine->scan->traits & ~(GBSI_SCAN_EACH_ONCE | GBSI_SCAN_AT_ONCE);
    engine->scan_traits |= share->facts.each_once != 0 ? GBSI_SCAN_EACH_ONCE : 0;
    engine->pass = gbsi_pass_of((int)share->facts.scan);
    report_facts(&task->shared, engine, report);
    GBSI_PASS(gbsi_run_check_draw(task, engine, err));
    GBSI_PASS(gbsi_share_check_scan(engine, err));
    GBSI_PASS(gbsi_graph_new(share->part, NULL, &task->problem.graph, err));
    GBSI_PASS(
        gbsi_plan_new(share->part, task->problem.graph, NULL, 0, options, &engine->plan, err));
    GBSI_PASS(gbsi_share_check_plan(share, engine->plan, err));
    forget_graph(&task->options, &task->problem, engine);
    engine->schedule = share->schedule;
    task->shared.own_slot = gbsi_alloc_array(share->part->n_variables, 1);
    GBSI_PASS(GBSI_HAVE(err, "share of a model", task->shared.own_slot));
    for (uint32_t slot = 0; slot < share->part->n_variables; ++slot) {
        task->shared.own_slot[slot] = share->own[share->order[slot]];
    }
    task->shared.weave = (gbsi_weave){.ranks = task->ranks,
                                      .n_whole = share->facts.n_free,
                                      .n = share->part->n_variables,
                                      .whole = share->whole_slot,
                                      .own = task->shared.own_slot};
    if (gbsi_shared_has_blocks(engine)) {
        GBSI_PASS(take_turns(&task->shared, engine, err));
    }
    if ((gbsi_draw_traits(&task->options) & GBSI_DRAW_POSITION) == 0) {
        engine->schedule.position = NULL;
    }
    estimates->rao_blackwell = task->options.estimator == GBS_ESTIMATOR_RAO_BLACKWELL;
    return GBS_OK;
}

/* Begins the run on this rank, without communication. */
static gbs_status begin_run(const gbs_run_setup *setup, gbs_run **out, gbs_error *err)
{
    const gbs_share *share = setup->share;
    const gbs_partition *whole = setup->partition;
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbs_run_options taken;
    GBSI_TRY(gbsi_share_options(setup->options, &taken, err));
    const gbs_run_options given = taken;
    GBSI_TRY(take_scan(share, &taken, err));
    GBSI_TRY(check_starts(share, whole, setup->ranks, &taken, err));
    GBSI_TRY(gbsi_run_begin(share->nothing, &taken, &run, err));
    run->task.options.scan = (int)share->facts.scan;
    run->task.ranks = setup->ranks;
    run->task.shared.share = share;
    run->task.shared.ranks = setup->ranks;
    run->task.problem.whole = run->task.problem.part = share->part;
    run->task.problem.n_sampled = (uint32_t)share->facts.n_free;
    gbsi_run_choose_runner(&run->task, &run->sampling.engine);
    run->task.shared.whole =
        whole == NULL || whole->run == NULL ? NULL : whole->run->task.problem.part;
    run->task.purpose.limited = true;
    run->task.purpose.draws = setup->task == GBS_RUN_DRAWS;
    GBSI_TRY(note_run(&run->task.shared, &run->checkpoints, &given, err));
    *out = run;
    run = NULL;
cleanup:
    gbs_run_free(run);
    return status;
}

static gbs_status take_memory(gbs_run *run, gbs_error *err)
{
    const gbs_share *share = run->task.shared.share;
    gbsi_executor *x = &run->sampling.engine.executor;
    GBSI_PASS(gbsi_run_predict(run, err));
    run->report.public.predicted_bytes +=
        gbsi_halo_bytes(share, gbsi_options_chains(&run->task.options));
    GBSI_PASS(gbsi_run_take_memory(run, err));
    x->own = share->own;
    x->weave = &run->task.shared.weave;
    x->woven_bytes = share->facts.max_arity <= 256 ? 1 : 2;
    x->sum_ranks = run->task.ranks;
    x->lost = &run->task.shared.lost;
    return gbsi_halo_init(&run->task.shared.halo, share, run->task.ranks, x, err);
}

gbs_status gbsi_run_new_of_share(const gbs_run_setup *setup, gbs_run **out, gbs_error *err)
{
    const gbs_ranks *ranks = setup->ranks;
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    const double begun_s = gbsi_clock_s();
    GBSI_TRY(check_ranks(setup->share, ranks, err));
    status = begin_run(setup, &run, err);
    GBSI_TRY(gbsi_ranks_meet(ranks, status, err));
    GBSI_TRY(gbsi_ranks_compare(run, err));
    status =
        compile(&run->task, &run->sampling.engine, &run->sampling.estimates, &run->report, err);
    GBSI_TRY(gbsi_ranks_meet(ranks, status, err));
    GBSI_TRY(take_memory(run, err));
    run->report.public.compile_s = gbsi_clock_s() - begun_s;
    gbsi_run_leave(&run->budget);
    *out = run;
    run = NULL;
cleanup:
    gbs_run_free(run);
    return status;
}

/* ---- the way of running ---------------------------------------------------------------------- */

static bool suits(const gbsi_task *task)
{
    return task->shared.share != NULL;
}

static gbsi_estimate_shape shape(const gbsi_task *task, const gbsi_engine *engine)
{
    gbsi_estimate_shape shape = gbsi_chains_shape(task, engine);
    shape.own = task->shared.own_slot;
    shape.ranks = task->ranks;
    shape.n_all_cells = task->shared.share->facts.n_cells;
    shape.n_all_runs = task->shared.share->facts.n_runs;
    shape.weave = &task->shared.weave;
    return shape;
}

/* Does all work that is needed before the first pass. The partition has recorded whether the
 * support is connected. */
static gbs_status start(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    const gbs_status status = gbsi_chains_decide(run, drive, err);
    return status < 0 ? status
                      : gbsi_shared_starts(&run->task, &run->sampling.engine, &run->report, err);
}

static gbs_status advance(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    const gbs_status status = gbsi_chains_advance(run, drive, err);
    return status < 0
               ? status
               : gbsi_shared_connect(run->task.ranks, &run->sampling.engine, &run->report, err);
}

static gbs_status remark(gbs_run *run, gbs_error *err)
{
    const gbs_status status = gbsi_chains_remark(run, err);
    return status < 0 ? status
                      : gbsi_shared_report(run->task.ranks, &run->task.shared, &run->report, err);
}

const gbsi_runner gbsi_runner_share = {
    .name = "share",
    .traits = GBSI_RUNNER_SCANS | GBSI_RUNNER_SHARES,
    .suits = suits,
    .shape = shape,
    .bytes = gbsi_chains_bytes,
    .prepare = gbsi_chains_prepare,
    .begin = gbsi_run_exactly,
    .start = start,
    .advance = advance,
    .parts = gbsi_chains_parts,
    .untraced = "where ranks share a model no rank has all states: use --distribute chains",
    .errors = gbsi_chains_errors,
    .judge = gbsi_judge_sampled,
    .remark = remark,
    .marginals = gbsi_shared_marginals,
    .each = gbsi_shared_each_marginal,
    .digest = gbsi_shared_digest,
    .free = gbsi_shared_free,
};
