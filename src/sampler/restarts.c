/* SPDX-License-Identifier: Apache-2.0 */
/* Short chains: a scan file made for some variables leaves most of a model alone, and every pass of
 * it from a fresh state yields one independent draw of them, as far from the truth as the variation
 * of the scan says [M38]. Compiled and run is the part of the model around the visited variables:
 * nothing takes time or memory for the rest. Those next to visited ones are drawn afresh with every
 * pass and stay. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "sampler/run.h"

/* 1 where the sequence visits what is sampled. @return how many such variables. */
static uint32_t mark_visited(const gbs_run *run, const uint8_t *keep, uint8_t *visited)
{
    const gbsi_conditioned *whole = run->problem.whole;
    uint32_t n = 0;
    for (size_t t = 0; t < run->options.sequence_length; ++t) {
        const uint32_t user = run->options.sequence[t];
        const uint32_t v =
            user < run->problem.model->n_variables ? whole->free_variable[user] : GBSI_NONE;
        if (v != GBSI_NONE && keep[v] && !visited[v]) {
            visited[v] = 1;
            ++n;
        }
    }
    return n;
}

gbs_status gbsi_run_take_visited(gbs_run *run, const uint8_t *keep, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *whole = run->problem.whole;
    uint32_t n_kept = 0;
    uint8_t *visited = gbsi_alloc_array_zero(whole->n_variables, 1);
    if (visited == NULL) {
        return gbsi_no_memory(err, "scan", whole->n_variables);
    }
    const uint32_t n_visited = mark_visited(run, keep, visited);
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        n_kept += keep[v] != 0;
    }
    if (n_visited == 0) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "the scan visits no variable that is sampled"));
    }
    run->report.n_omitted = n_kept - n_visited;
    GBSI_TRY(gbsi_conditioned_around(whole, visited, &run->problem.part, err));
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        run->problem.part_of[v] = run->problem.part->free_variable[whole->user_variable[v]];
    }

cleanup:
    gbsi_free(visited);
    return status;
}

/* @param visited [model variables] 1 where the sequence does. */
static gbs_status mark_targets(gbs_run *run, const uint8_t *visited, gbs_error *err)
{
    const uint32_t n_user = run->problem.model->n_variables;
    for (size_t k = 0; k < run->options.n_targets; ++k) {
        const uint32_t user = run->options.target[k];
        if (user >= n_user) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "--target: there is no variable %" PRIu32 ", the model has %" PRIu32
                             " variables",
                             user, n_user);
        }
        if (run->problem.whole->free_variable[user] == GBSI_NONE) {
            continue; /* known */
        }
        if (!visited[user]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "--target: the scan never visits variable %" PRIu32, user);
        }
        if (run->problem.part->free_variable[user] != GBSI_NONE) { /* else answered exactly */
            run->problem.target[run->problem.part->free_variable[user]] = 1;
        }
    }
    return GBS_OK;
}

gbs_status gbsi_run_take_targets(gbs_run *run, gbs_error *err)
{
    const uint32_t n_user = run->problem.model->n_variables;
    if (run->options.n_targets == 0) {
        return GBS_OK;
    }
    uint8_t *visited = gbsi_alloc_array_zero(n_user, 1);
    run->problem.target = gbsi_alloc_array_zero(run->problem.part->n_variables, 1);
    if (visited == NULL || run->problem.target == NULL) {
        gbsi_free(visited);
        return gbsi_no_memory(err, "targets", n_user);
    }
    for (size_t t = 0; t < run->options.sequence_length; ++t) {
        if (run->options.sequence[t] < n_user) { /* the scan refuses others */
            visited[run->options.sequence[t]] = 1;
        }
    }
    const gbs_status status = mark_targets(run, visited, err);
    gbsi_free(visited);
    return status;
}

static gbs_status take_starter(gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *part = run->problem.part;
    if (!part->borrows && memchr(part->has_zeros, 1, part->factors.n_factors) != NULL) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "--restarts: hard zeros remain on the scan's variables, so that every "
                         "pass would have to search for a fresh start");
    }
    GBSI_TRY(gbsi_starter_new(part, run->options.seed, &run->engine.starter, err));
    run->engine.fresh = gbsi_alloc_array(part->n_variables, sizeof *run->engine.fresh);
    if (run->engine.fresh == NULL) {
        status = gbsi_no_memory(err, "start", part->n_variables * sizeof *run->engine.fresh);
    }

cleanup:
    return status;
}

gbs_status gbsi_run_restart(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (run->problem.start != NULL) {
        return gbsi_run_set_starts(run, drive, err);
    }
    if (run->engine.starter == NULL) {
        GBSI_TRY(take_starter(run, err));
    }
    for (uint32_t chain = 0; chain < run->engine.executor.n_chains; ++chain) {
        GBSI_TRY(
            gbsi_starter_draw(run->engine.starter, chain, drive->pass, run->engine.fresh, err));
        gbsi_executor_set(&run->engine.executor, chain, run->engine.fresh);
    }
    gbsi_executor_ready(&run->engine.executor);

cleanup:
    return status;
}
