/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/share_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/weave.h"
#include "sampler/partition.h"
#include "sampler/run_memory.h"
#include "sampler/run_options.h"
#include "share/turns.h"

uint32_t gbsi_run_n_sampled(const gbs_run *run)
{
    return run->shared.share == NULL ? run->problem.part->n_variables
                                     : (uint32_t)run->shared.share->facts.n_free;
}

uint64_t gbsi_run_n_places(const gbs_run *run)
{
    return run->shared.share == NULL ? run->engine.schedule.n_places
                                     : run->shared.share->facts.n_places;
}

static bool has_blocks(const gbs_run *run)
{
    return (run->engine.scan_traits & GBSI_SCAN_BLOCKS) != 0;
}

gbs_status gbsi_run_count_updates(const gbs_run *run, uint64_t *n, gbs_error *err)
{
    const gbs_ranks *ranks = run->ranks;
    const bool counted = run->shared.share == NULL || has_blocks(run);
    *n = counted ? run->engine.executor.n_updates : gbsi_run_n_places(run);
    return run->engine.turns == NULL
               ? GBS_OK
               : ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, n, 1, err);
}

/* A block of hard zeros that is not all of one rank is held by no splash, and open on every rank
 * that sees some of it. */
gbs_status gbsi_shared_connect(gbs_run *run, gbs_error *err)
{
    uint64_t open = gbsi_executor_connects(&run->engine.executor) ? 0 : 1;
    const gbs_status status =
        run->engine.turns == NULL
            ? GBS_OK
            : run->ranks->combine(run->ranks->context, GBS_COMBINE_MAX_U64, &open, 1, err);
    run->shared.connected = open == 0;
    return status;
}

const gbs_model *gbsi_run_user_model(const gbs_run *run)
{
    return run->shared.user == NULL ? run->problem.model : run->shared.user;
}

const char *gbs_run_model_digest(const gbs_run *run)
{
    if (run == NULL) {
        return NULL;
    }
    return run->shared.share == NULL ? gbs_model_digest(run->problem.model) : run->shared.model;
}

gbs_status gbs_run_name_variables(gbs_run *run, const gbs_model *model, gbs_error *err)
{
    GBSI_NEED(run);
    GBSI_NEED(model);
    const gbs_share *share = run->shared.share;
    if (share == NULL || model->n_variables != share->facts.n_user_variables ||
        model->state_offset[model->n_variables] != share->facts.n_user_states) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "these are not the variables of the model that the ranks share");
    }
    run->shared.user = model;
    return GBS_OK;
}

/* ---- prepared ------------------------------------------------------------------------------ */

/* The scan of the partition; the user may leave it open. */
static gbs_status take_scan(const gbs_share *share, gbs_run_options *options, gbs_error *err)
{
    const int scan = (int)share->facts.scan;
    if (options->scan != scan && options->scan != GBS_SCAN_USUAL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--scan: the model was divided for scan %s: divide it again for another",
                         gbsi_scan_of(scan)->name);
    }
    const bool reads = (gbsi_scan_traits(scan) & GBSI_SCAN_READS) != 0; /* the share has read it */
    options->scan = reads ? gbsi_scan_with(GBSI_SCAN_BASE) : scan;
    return GBS_OK;
}

/* @param text [33] out; "" of nothing. */
static void tell_digest(const uint64_t digest[2], char *text)
{
    text[0] = '\0';
    if ((digest[0] | digest[1]) != 0) {
        (void)snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, digest[0], digest[1]);
    }
}

/* What a checkpoint says of the run: as one process would, which needs no scan to be named where
 * the usual one is that of the partition. */
static gbs_status note_run(gbs_run *run, const gbs_run_options *given, gbs_error *err)
{
    const gbsi_share_facts *f = &run->shared.share->facts;
    const bool usual = given->scan == GBS_SCAN_USUAL && f->support == GBSI_SUPPORT_CONNECTED &&
                       (int)f->scan == gbsi_scan_with(GBSI_SCAN_BASE);
    run->checkpoints.asked.scan = usual ? GBS_SCAN_USUAL : (int)f->scan;
    tell_digest(f->model, run->shared.model);
    tell_digest(f->evidence, run->checkpoints.input[GBSI_INPUT_EVIDENCE]);
    tell_digest(f->sequence, run->checkpoints.input[GBSI_INPUT_SCAN]);
    return given->target == NULL ? GBS_OK
                                 : gbsi_run_note_variables(run, GBSI_INPUT_TARGET, given->target,
                                                           given->n_targets, err);
}

gbs_status gbsi_shared_check_scan(const gbs_run *run, const char *path, int decided, gbs_error *err)
{
    const gbs_share *share = run->shared.share;
    return share == NULL || decided == (int)share->facts.scan
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: a checkpoint of a run with scan %s, the model was divided for scan "
                           "%s: divide it again",
                           path, gbsi_scan_of(decided)->name,
                           gbsi_scan_of((int)share->facts.scan)->name);
}

void gbsi_shared_parts(const gbs_run *run, char *text)
{
    const gbsi_turns *turns = run->engine.turns;
    if (turns == NULL || turns->n_ranks == 1) {
        (void)snprintf(text, GBSI_PARTS_TEXT, "1");
    } else {
        (void)snprintf(text, GBSI_PARTS_TEXT, "%" PRIu32 " (%016" PRIx64 ")", turns->n_ranks,
                       run->shared.share->facts.partition);
    }
}

/* That all ranks of one partition are there. */
static gbs_status check_ranks(const gbs_share *share, const gbs_ranks *ranks, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t first = share->facts.partition;
    GBSI_TRY(ranks->broadcast(ranks->context, 0, &first, sizeof first, err));
    const bool other = first != share->facts.partition;
    if (other || share->rank != ranks->rank || share->facts.n_ranks != ranks->n_ranks) {
        status = gbsi_fail(err, GBS_ERR_FORMAT,
                           "%s%sshare %" PRIu32 " of %" PRIu64 "%s for rank %" PRIu32 " of %" PRIu32
                           ": every rank needs its own share of one partition",
                           share->path == NULL ? "" : share->path, share->path == NULL ? "" : ": ",
                           share->rank, share->facts.n_ranks,
                           other ? ", of another partition than rank 0," : "", ranks->rank,
                           ranks->n_ranks);
    }
    status = gbsi_ranks_meet(ranks, status, err);
cleanup:
    return status;
}

/* Whether the share holds the starts of such a run. */
static bool has_starts(const gbs_share *share, const gbs_run_options *options)
{
    return share->facts.n_starts >= gbsi_options_chains(options) &&
           share->facts.seed == options->seed;
}

static gbs_status check_starts(const gbs_share *share, const gbs_partition *whole,
                               const gbs_ranks *ranks, const gbs_run_options *options,
                               gbs_error *err)
{
    if (share->facts.searched == 0 || has_starts(share, options) || whole != NULL ||
        ranks->rank > 0) {
        return GBS_OK;
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "starts of this model depend on all of it (hard zeros or conditional tables): "
                     "they were found for %" PRIu64 " chains with --seed %" PRIu64
                     ": divide the model again for other --chains or another --seed",
                     share->facts.n_starts, share->facts.seed);
}

static void report_facts(gbs_run *run)
{
    const gbsi_share_facts *f = &run->shared.share->facts;
    gbs_report *r = &run->report.public;
    r->scan = run->engine.scan->name;
    r->n_free_variables = (uint32_t)f->n_free;
    r->n_components = (uint32_t)f->n_components;
    r->n_colors = (uint32_t)f->n_colors;
    r->n_levels = r->n_batches = has_blocks(run) ? 0 : f->n_batches;
    r->has_zeros = f->has_zeros != 0;
}

static gbs_status take_turns(gbs_run *run, gbs_error *err)
{
    gbsi_shared *shared = &run->shared;
    shared->reach = gbsi_alloc_array(shared->share->part->n_variables, 1);
    if (shared->reach == NULL) {
        return gbsi_no_memory(err, "share of a model", shared->share->part->n_variables);
    }
    gbsi_turns_of_share(shared->share, shared->reach, &shared->turns);
    run->engine.turns = &shared->turns;
    return GBS_OK;
}

/* The graph decided levels and slots; blocks grow along it, and some draws look at neighbours. */
static void forget_graph(gbs_run *run)
{
    if (!has_blocks(run) && (gbsi_draw_traits(&run->options) & GBSI_DRAW_CONTEXT) == 0) {
        gbsi_graph_free(run->problem.graph);
        run->problem.graph = NULL;
        run->engine.plan->graph = NULL;
    }
}

static gbs_status compile(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_share *share = run->shared.share;
    const gbsi_plan_options options =
        gbsi_share_plan_options(share, gbsi_lanes_of(gbsi_options_chains(&run->options)) == 1);
    run->problem.whole = run->problem.part = share->part;
    run->problem.support = (gbsi_support)share->facts.support;
    run->engine.scan = gbsi_scan_of((int)share->facts.scan);
    run->engine.scan_traits = run->engine.scan->traits & ~GBSI_SCAN_EACH_ONCE;
    run->engine.scan_traits |= share->facts.each_once != 0 ? GBSI_SCAN_EACH_ONCE : 0;
    run->engine.pass = gbsi_pass_of((int)share->facts.scan);
    report_facts(run);
    GBSI_TRY(gbsi_run_check_draw(run, err));
    GBSI_TRY(gbsi_graph_new(share->part, NULL, &run->problem.graph, err));
    GBSI_TRY(
        gbsi_plan_new(share->part, run->problem.graph, NULL, 0, options, &run->engine.plan, err));
    forget_graph(run);
    run->engine.schedule = share->schedule;
    run->shared.own_slot = gbsi_alloc_array(share->part->n_variables, 1);
    if (run->shared.own_slot == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "share of a model", share->part->n_variables));
    }
    for (uint32_t slot = 0; slot < share->part->n_variables; ++slot) {
        run->shared.own_slot[slot] = share->own[share->order[slot]];
    }
    run->shared.weave = (gbsi_weave){.ranks = run->ranks,
                                     .n_whole = share->facts.n_free,
                                     .n = share->part->n_variables,
                                     .whole = share->whole_slot,
                                     .own = run->shared.own_slot};
    if (has_blocks(run)) {
        GBSI_TRY(take_turns(run, err));
    }
    if ((gbsi_draw_traits(&run->options) & GBSI_DRAW_POSITION) == 0) {
        run->engine.schedule.position = NULL;
    }
    run->estimates.rao_blackwell = run->options.estimator == GBS_ESTIMATOR_RAO_BLACKWELL;
cleanup:
    return status;
}

/* Of this rank alone. */
static gbs_status begin_run(const gbs_share *share, const gbs_partition *whole,
                            const gbs_ranks *ranks, const gbs_run_options *options, bool draws,
                            gbs_run **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbs_run_options taken;
    GBSI_TRY(gbsi_share_options(options, &taken, err));
    const gbs_run_options given = taken;
    GBSI_TRY(take_scan(share, &taken, err));
    GBSI_TRY(check_starts(share, whole, ranks, &taken, err));
    GBSI_TRY(gbsi_run_begin(share->nothing, &taken, &run, err));
    run->options.scan = (int)share->facts.scan;
    run->ranks = ranks;
    run->shared.share = share;
    run->shared.whole = whole;
    run->purpose.limited = true;
    run->purpose.draws = draws;
    GBSI_TRY(note_run(run, &given, err));
    *out = run;
    run = NULL;
cleanup:
    gbs_run_free(run);
    return status;
}

static gbs_status take_memory(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_share *share = run->shared.share;
    gbsi_executor *x = &run->engine.executor;
    GBSI_TRY(gbsi_run_predict(run, err));
    run->report.public.predicted_bytes +=
        gbsi_halo_bytes(share, gbsi_options_chains(&run->options));
    GBSI_TRY(gbsi_run_take_memory(run, err));
    x->own = share->own;
    x->weave = &run->shared.weave;
    x->woven_bytes = share->facts.max_arity <= 256 ? 1 : 2;
    x->sum_ranks = run->ranks;
    x->lost = &run->shared.lost;
    GBSI_TRY(gbsi_halo_init(&run->shared.halo, share, run->ranks, x, err));
cleanup:
    return status;
}

static gbs_status new_run(const gbs_share *share, const gbs_partition *whole,
                          const gbs_ranks *ranks, const gbs_run_options *options, bool draws,
                          gbs_run **out, gbs_error *err)
{
    GBSI_NEED(share);
    GBSI_NEED(ranks);
    GBSI_NEED(out);
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    const double begun_s = gbsi_clock_s();
    GBSI_TRY(check_ranks(share, ranks, err));
    status = begin_run(share, whole, ranks, options, draws, &run, err);
    GBSI_TRY(gbsi_ranks_meet(ranks, status, err));
    GBSI_TRY(gbsi_ranks_compare(run, err));
    GBSI_TRY(compile(run, err));
    GBSI_TRY(take_memory(run, err));
    run->report.public.compile_s = gbsi_clock_s() - begun_s;
    gbsi_run_leave(run);
    *out = run;
    run = NULL;
cleanup:
    gbs_run_free(run);
    return status;
}

gbs_status gbs_run_new_of_share(const gbs_share *share, const gbs_partition *whole,
                                const gbs_ranks *ranks, const gbs_run_options *options,
                                gbs_run **out, gbs_error *err)
{
    return new_run(share, whole, ranks, options, false, out, err);
}

gbs_status gbs_run_new_for_draws_of_share(const gbs_share *share, const gbs_partition *whole,
                                          const gbs_ranks *ranks, const gbs_run_options *options,
                                          gbs_run **out, gbs_error *err)
{
    return new_run(share, whole, ranks, options, true, out, err);
}

void gbsi_shared_free(gbs_run *run)
{
    if (run->shared.share == NULL) {
        return;
    }
    gbsi_halo_free(&run->shared.halo);
    gbsi_free(run->shared.own_slot);
    gbsi_free(run->shared.reach);
    gbsi_free(run->shared.told);
    run->engine.schedule = (gbsi_schedule){0}; /* the share's */
    run->problem.whole = run->problem.part = NULL;
}

/* ---- starts -------------------------------------------------------------------------------- */

/* From the share. */
static void start_as_found(const gbs_share *share, uint32_t chain, uint32_t *x)
{
    const size_t n = share->part->n_variables;
    for (size_t u = 0; u < n; ++u) {
        x[u] = share->start[chain * n + u];
    }
}

/* Every state as likely: the start of a chain in one process, for the variables that are here. */
static void start_anywhere(const gbs_run *run, uint32_t chain, uint32_t *x)
{
    const gbsi_conditioned *part = run->problem.part;
    const uint32_t *of_whole = run->shared.share->of_whole;
    for (uint32_t u = 0; u < part->n_variables; ++u) {
        x[u] = gbsi_start_anywhere(run->options.seed, chain, 0, of_whole[u], part->arity[u]);
    }
}

/* Rank 0 finds the start of a chain in the whole and tells all; the others wait. */
static gbs_status start_from_whole(gbs_run *run, gbsi_starter *starter, uint32_t chain,
                                   uint32_t *all, uint32_t *x, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_share *share = run->shared.share;
    const gbs_ranks *ranks = run->ranks;
    if (starter != NULL) {
        GBSI_TRY(gbsi_starter_draw(starter, chain, 0, all, err));
    }
    GBSI_TRY(ranks->broadcast(ranks->context, 0, all, share->facts.n_free * sizeof *all, err));
    for (uint32_t u = 0; u < share->part->n_variables; ++u) {
        x[u] = all[share->of_whole[u]];
    }
cleanup:
    return status;
}

gbs_status gbsi_shared_starts(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_share *share = run->shared.share;
    const bool found = has_starts(share, &run->options);
    const bool searched = share->facts.searched != 0 && !found;
    const size_t n_all = searched ? share->facts.n_free : 0;
    gbsi_starter *starter = NULL;
    uint32_t *x = gbsi_alloc_array(share->part->n_variables, sizeof *x);
    uint32_t *all = gbsi_alloc_array(n_all, sizeof *all);
    if (x == NULL || all == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "start", (share->part->n_variables + n_all) * sizeof *x));
    }
    if (searched && run->ranks->rank == 0) {
        GBSI_TRY(gbsi_starter_new(run->shared.whole->run->problem.part, run->options.seed, NULL,
                                  &starter, err));
    }
    for (uint32_t chain = 0; chain < run->engine.executor.n_chains; ++chain) {
        if (searched) {
            GBSI_TRY(start_from_whole(run, starter, chain, all, x, err));
        } else if (found) {
            start_as_found(share, chain, x);
        } else {
            start_anywhere(run, chain, x);
        }
        gbsi_executor_set(&run->engine.executor, chain, x);
    }
    gbsi_executor_ready(&run->engine.executor);
    run->report.starts_dispersed = true;
cleanup:
    gbsi_starter_free(starter);
    gbsi_free(x);
    gbsi_free(all);
    return status;
}

/* ---- brought together ---------------------------------------------------------------------- */

gbs_status gbsi_shared_gather(const gbs_run *run, const void *own, uint64_t n, unsigned char **all,
                              size_t *capacity, gbs_error *err)
{
    return gbsi_gather_bytes(run->ranks, own, n, all, capacity, "results of all ranks", err);
}

/* ---- states -------------------------------------------------------------------------------- */

gbs_status gbsi_shared_gather_state(gbs_run *run, const uint32_t *x, uint32_t *user, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_share *share = run->shared.share;
    const gbsi_conditioned *part = share->part;
    unsigned char *all = NULL;
    size_t capacity = 0;
    size_t n = 0;
    uint32_t *own = gbsi_alloc_array(2 * (size_t)share->n_own, sizeof *own);
    if (own == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "draws of all ranks", share->n_own * 2 * sizeof *own));
    }
    for (uint32_t u = 0; u < part->n_variables; ++u) {
        if (share->own[u] != 0) {
            own[n++] = part->user_variable[u];
            own[n++] = gbsi_conditioned_states(part, u)[x[u]];
        }
    }
    GBSI_TRY(gbsi_shared_gather(run, own, n * sizeof *own, &all, &capacity, err));
    if (run->ranks->rank > 0) {
        goto cleanup;
    }
    for (uint64_t i = 0; i < share->facts.n_free; ++i) {
        uint32_t pair[2];
        memcpy(pair, all + i * sizeof pair, sizeof pair);
        user[pair[0]] = pair[1];
    }
    for (uint32_t i = 0; i < share->n_fixed; ++i) {
        user[share->fixed_variable[i]] = share->fixed_state[i];
    }
cleanup:
    gbsi_free(all);
    gbsi_free(own);
    return status;
}

gbs_status gbsi_shared_report(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_halo *h = &run->shared.halo;
    gbs_report *r = &run->report.public;
    uint64_t sent[2] = {h->n_messages, h->n_bytes};
    double exchange_s = h->exchange_s;
    GBSI_TRY(run->ranks->combine(run->ranks->context, GBS_COMBINE_SUM_U64, sent, 2, err));
    GBSI_TRY(run->ranks->combine(run->ranks->context, GBS_COMBINE_MAX_F64, &exchange_s, 1, err));
    r->ranks = run->ranks->n_ranks;
    r->exchange_messages = sent[0];
    r->exchange_bytes = sent[1];
    r->exchange_s = exchange_s;
cleanup:
    return status;
}
