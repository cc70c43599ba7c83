/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/share_run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "base/weave.h"
#include "chains/run.h"
#include "chains/run_options.h"

uint64_t gbsi_run_n_places(const gbsi_runner *plain, const gbsi_shared *shared,
                           const gbsi_engine *engine)
{
    return gbsi_runner_shares(plain) ? shared->share->facts.n_places : engine->schedule.n_places;
}

bool gbsi_shared_has_blocks(const gbsi_engine *engine)
{
    return (engine->scan_traits & GBSI_SCAN_BLOCKS) != 0;
}

gbs_status gbsi_run_count_updates(const gbsi_task *task, const gbsi_engine *engine, uint64_t *n,
                                  gbs_error *err)
{
    const gbs_ranks *ranks = task->ranks;
    const bool counted = !gbsi_runner_shares(task->plain) || gbsi_shared_has_blocks(engine);
    *n = counted ? engine->executor.n_updates
                 : gbsi_run_n_places(task->plain, &task->shared, engine);
    return engine->turns == NULL ? GBS_OK
                                 : ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, n, 1, err);
}

/* Finds out, over all ranks, whether the blocks show that the support is connected. No splash holds
 * a block of hard zeros whose variables belong to several ranks. Every rank that sees a part of
 * such a block counts the block as unconnected.
 */
gbs_status gbsi_shared_connect(const gbs_ranks *ranks, const gbsi_engine *engine,
                               gbsi_report *report, gbs_error *err)
{
    uint64_t open = gbsi_executor_connects(&engine->executor) ? 0 : 1;
    const gbs_status status =
        engine->turns == NULL ? GBS_OK
                              : ranks->combine(ranks->context, GBS_COMBINE_MAX_U64, &open, 1, err);
    report->connected = open == 0;
    return status;
}

const gbs_model *gbsi_run_user_model(const gbsi_shared *shared, const gbsi_problem *problem)
{
    return shared->user == NULL ? problem->model : shared->user;
}

const char *gbs_run_model_digest(const gbs_run *run)
{
    if (run == NULL) {
        return NULL;
    }
    return gbsi_runner_shares(run->task.plain) ? run->task.shared.model
                                               : gbs_model_digest(run->task.problem.model);
}

gbs_status gbs_run_name_variables(gbs_run *run, const gbs_model *model, gbs_error *err)
{
    GBSI_NEED(run, model);
    const gbs_share *share = run->task.shared.share;
    if (!gbsi_runner_shares(run->task.plain) ||
        model->n_variables != share->facts.n_user_variables ||
        model->state_offset[model->n_variables] != share->facts.n_user_states) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "these are not the variables of the model that the ranks share");
    }
    run->task.shared.user = model;
    return GBS_OK;
}

gbs_status gbsi_shared_check_scan(const gbsi_runner *plain, const gbsi_shared *shared,
                                  const char *path, int decided, gbs_error *err)
{
    const gbs_share *share = shared->share;
    return !gbsi_runner_shares(plain) || decided == (int)share->facts.scan
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: a checkpoint of a run with scan %s, the model was divided for scan "
                           "%s: divide it again",
                           path, gbsi_scan_of(decided)->name,
                           gbsi_scan_of((int)share->facts.scan)->name);
}

void gbsi_shared_parts(const gbsi_engine *engine, const gbsi_shared *shared, char *text)
{
    const gbsi_turns *turns = engine->turns;
    if (turns == NULL || turns->n_ranks == 1) {
        (void)snprintf(text, GBSI_PARTS_TEXT, "1");
    } else {
        (void)snprintf(text, GBSI_PARTS_TEXT, "%" PRIu32 " (%016" PRIx64 ")", turns->n_ranks,
                       shared->share->facts.partition);
    }
}

/* Whether the share has the starts for a run with these options. */
bool gbsi_shared_has_starts(const gbs_share *share, const gbs_run_options *options)
{
    return share->facts.n_starts >= gbsi_options_chains(options) &&
           share->facts.seed == options->seed;
}

void gbsi_shared_free(gbsi_task *task, gbsi_sampling *sampling)
{
    gbsi_halo_free(&task->shared.halo);
    GBSI_FREE(task->shared.own_slot, task->shared.reach, task->shared.told);
    sampling->engine.schedule = (gbsi_schedule){0}; /* the share owns the schedule */
    task->problem.whole = task->problem.part = NULL;
}

/* ---- starts -------------------------------------------------------------------------------- */

/* Sets the start of a chain from the starts in the share. */
static void start_as_found(const gbs_share *share, uint32_t chain, uint32_t *x)
{
    const size_t n = share->part->n_variables;
    for (size_t u = 0; u < n; ++u) {
        x[u] = share->start[chain * n + u];
    }
}

/* Draws the start of a chain uniformly; the variables of this rank get the states that they would
 * get in one process. */
static void start_anywhere(const gbsi_task *task, uint32_t chain, uint32_t *x)
{
    const gbsi_conditioned *part = task->problem.part;
    const uint32_t *of_whole = task->shared.share->of_whole;
    for (uint32_t u = 0; u < part->n_variables; ++u) {
        x[u] = gbsi_start_anywhere(task->options.seed, chain, 0, of_whole[u], part->arity[u]);
    }
}

/* Rank 0 searches the whole model for the start of a chain, and sends the start to all other ranks,
 * which wait. */
static gbs_status start_from_whole(gbsi_shared *shared, const gbs_ranks *ranks,
                                   gbsi_starter *starter, uint32_t chain, uint32_t *all,
                                   uint32_t *x, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_share *share = shared->share;
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

gbs_status gbsi_shared_starts(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_share *share = task->shared.share;
    const bool found = gbsi_shared_has_starts(share, &task->options);
    const bool searched = share->facts.searched != 0 && !found;
    const size_t n_all = searched ? share->facts.n_free : 0;
    gbsi_starter *starter = NULL;
    uint32_t *x = gbsi_alloc_array(share->part->n_variables, sizeof *x);
    uint32_t *all = gbsi_alloc_array(n_all, sizeof *all);
    GBSI_TRY(GBSI_HAVE(err, "start", x, all));
    if (searched && task->ranks->rank == 0) {
        GBSI_TRY(gbsi_starter_new(task->shared.whole, task->options.seed, NULL, &starter, err));
    }
    for (uint32_t chain = 0; chain < engine->executor.n_chains; ++chain) {
        if (searched) {
            GBSI_TRY(start_from_whole(&task->shared, task->ranks, starter, chain, all, x, err));
        } else if (found) {
            start_as_found(share, chain, x);
        } else {
            start_anywhere(task, chain, x);
        }
        gbsi_executor_set(&engine->executor, chain, x);
    }
    gbsi_executor_ready(&engine->executor);
    report->starts_dispersed = true;
cleanup:
    gbsi_starter_free(starter);
    GBSI_FREE(x, all);
    return status;
}

/* ---- brought together ---------------------------------------------------------------------- */

gbs_status gbsi_shared_gather(const gbs_ranks *ranks, const void *own, uint64_t n,
                              unsigned char **all, size_t *capacity, gbs_error *err)
{
    return gbsi_gather_bytes(ranks, own, n, all, capacity, "results of all ranks", err);
}

/* ---- states -------------------------------------------------------------------------------- */

gbs_status gbsi_shared_gather_state(gbsi_shared *shared, const gbs_ranks *ranks, const uint32_t *x,
                                    uint32_t *user, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_share *share = shared->share;
    const gbsi_conditioned *part = share->part;
    unsigned char *all = NULL;
    size_t capacity = 0;
    size_t n = 0;
    uint32_t *own = gbsi_alloc_array(2 * (size_t)share->n_own, sizeof *own);
    GBSI_TRY(GBSI_HAVE(err, "draws of all ranks", own));
    for (uint32_t u = 0; u < part->n_variables; ++u) {
        if (share->own[u] != 0) {
            own[n++] = part->user_variable[u];
            own[n++] = gbsi_conditioned_states(part, u)[x[u]];
        }
    }
    assert(n == 2 * (size_t)share->n_own); /* a rank never sends states of its halo */
    GBSI_TRY(gbsi_shared_gather(ranks, own, n * sizeof *own, &all, &capacity, err));
    if (ranks->rank > 0) {
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
    GBSI_FREE(all, own);
    return status;
}

gbs_status gbsi_shared_report(const gbs_ranks *ranks, const gbsi_shared *shared,
                              gbsi_report *report, gbs_error *err)
{
    const gbsi_halo *h = &shared->halo;
    gbs_report *r = &report->public;
    uint64_t sent[2] = {h->n_messages, h->n_bytes};
    double exchange_s = h->exchange_s;
    GBSI_PASS(ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, sent, 2, err));
    GBSI_PASS(ranks->combine(ranks->context, GBS_COMBINE_MAX_F64, &exchange_s, 1, err));
    r->ranks = ranks->n_ranks;
    r->exchange_messages = sent[0];
    r->exchange_bytes = sent[1];
    r->exchange_s = exchange_s;
    return GBS_OK;
}
