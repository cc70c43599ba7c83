/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with restarts. A scan file made for some variables updates only a part of the model. Every
 * pass of the file, from a fresh state, yields one independent draw of these variables, whose
 * distance from the target is bounded by the variation of the scan [M38]. Only the visited
 * variables and their neighbours are compiled and run; the rest of the model takes no time or
 * memory. Neighbours of visited variables are drawn again before every pass, and are fixed during
 * the pass. */
#include <string.h>

#include "base/memory.h"
#include "chains/run.h"

static gbs_status take_starter(const gbs_run_options *options, const gbsi_problem *problem,
                               gbsi_engine *engine, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *part = problem->part;
    if (!part->borrows && memchr(part->has_zeros, 1, part->factors.n_factors) != NULL) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "--restarts: hard zeros remain on the scan's variables, so that every "
                         "pass would have to search for a fresh start");
    }
    GBSI_TRY(gbsi_starter_new(part, options->seed, NULL, &engine->starter, err));
    engine->fresh = gbsi_alloc_array(part->n_variables, sizeof *engine->fresh);
    if (engine->fresh == NULL) {
        status = gbsi_no_memory(err, "start", part->n_variables * sizeof *engine->fresh);
    }

cleanup:
    return status;
}

gbs_status gbsi_run_restart(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                            gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (task->problem.start != NULL) {
        return gbsi_run_set_starts(task, engine, report, drive, err);
    }
    if (engine->starter == NULL) {
        GBSI_TRY(take_starter(&task->options, &task->problem, engine, err));
    }
    for (uint32_t chain = 0; chain < engine->executor.n_chains; ++chain) {
        GBSI_TRY(gbsi_starter_draw(engine->starter, engine->executor.first_chain + chain,
                                   drive->pass, engine->fresh, err));
        gbsi_executor_set(&engine->executor, chain, engine->fresh);
    }
    gbsi_executor_ready(&engine->executor);

cleanup:
    return status;
}
