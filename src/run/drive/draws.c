/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles the draws of all chains and gives them to the user. */
#include "drive/draws.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "chains/density.h"

static gbs_status rows_take(gbsi_draw_rows *rows, const gbsi_problem *problem,
                            const gbs_ranks *ranks, const gbsi_engine *engine, gbs_error *err)
{
    const uint32_t n = problem->model->n_variables;
    const gbsi_executor *x = &engine->executor;
    rows->size = sizeof(double) + n * sizeof *rows->state;
    rows->own = gbsi_alloc_array(x->n_chains, rows->size);
    rows->all = gbsi_alloc_array(gbsi_run_speaks(ranks) ? x->n_all : 0, rows->size);
    rows->state = gbsi_alloc_array(n, sizeof *rows->state);
    return GBSI_HAVE(err, "draws of all ranks", rows->own, rows->all, rows->state);
}

static void rows_free(gbsi_draw_rows *rows)
{
    GBSI_FREE(rows->own, rows->all, rows->state);
}

static void rows_put(gbsi_draw_rows *rows, uint32_t chain, double log_density,
                     const uint32_t *state)
{
    unsigned char *row = rows->own + chain * rows->size;
    memcpy(row, &log_density, sizeof log_density);
    memcpy(row + sizeof log_density, state, rows->size - sizeof log_density);
}

static gbs_status rows_give(gbsi_draw_rows *rows, const gbs_ranks *ranks, const gbsi_engine *engine,
                            gbsi_checkpoints *checkpoints, gbsi_report *report,
                            const gbsi_drive *drive, uint64_t draw, gbs_error *err)
{
    gbs_status status = gbsi_run_gather(ranks, engine, rows->own, rows->size, rows->all, err);
    const uint32_t n_given = gbsi_run_speaks(ranks) ? engine->executor.n_all : 0;
    for (uint32_t chain = 0; chain < n_given && status >= 0; ++chain) {
        const unsigned char *row = rows->all + chain * rows->size;
        double log_density = 0.0;
        memcpy(&log_density, row, sizeof log_density);
        memcpy(rows->state, row + sizeof log_density, rows->size - sizeof log_density);
        status = gbsi_run_give_draw(checkpoints, report, drive, draw, chain, log_density,
                                    rows->state, err);
    }
    return status;
}

/* Gives the draws of synchronous chains to the user; each is made from two chromatic chains. */
static gbs_status give_split(gbs_run *run, const gbsi_drive *drive, gbsi_giving *g, gbs_error *err)
{
    uint32_t *x = g->x;
    uint32_t *user = g->user;
    const uint64_t draw = run->report.public.sweeps / run->task.options.thin - 1;
    gbs_status status = GBS_OK;
    for (uint32_t chain = 0; status >= 0 && chain < run->report.public.chains; ++chain) {
        const double density = gbsi_recombine(&run->sampling.engine, run->task.problem.part, chain,
                                              x, x + run->task.problem.part->n_variables);
        gbsi_part_user_state(run->task.problem.part, x, user);
        status = gbsi_run_give_draw(&run->checkpoints, &run->report, drive, draw, chain, density,
                                    user, err);
    }
    return status;
}

/* Gives the user every chain's state at the end of a kept pass, in the user's numbering. If a scan
 * omits variables, they have no state, and the state of the model has no density. */
static gbs_status give_each(gbs_run *run, const gbsi_drive *drive, gbsi_giving *g, gbs_error *err)
{
    const uint32_t lanes = run->sampling.engine.executor.lanes;
    const uint64_t draw = run->report.public.sweeps / run->task.options.thin - 1;
    double density[GBSI_LANES];
    gbs_status status = GBS_OK;
    for (uint32_t chain = 0; status >= 0 && chain < run->sampling.engine.executor.n_chains;
         ++chain) {
        if (chain % lanes == 0) {
            gbsi_executor_group_density(&run->sampling.engine.executor, chain / lanes, NULL,
                                        density);
        }
        const double own = run->report.public.n_omitted > 0 ? NAN : density[chain % lanes];
        if (gbsi_runner_shares(run->task.plain)) {
            gbsi_executor_get(&run->sampling.engine.executor, chain, g->x);
            GBSI_TRY(
                gbsi_shared_gather_state(&run->task.shared, run->task.ranks, g->x, g->user, err));
            status = gbsi_run_speaks(run->task.ranks)
                         ? gbsi_run_give_draw(&run->checkpoints, &run->report, drive, draw, chain,
                                              own, g->user, err)
                         : GBS_OK;
            continue;
        }
        gbsi_run_user_state(&run->sampling.engine, &run->task.problem, chain, g->x, g->user);
        if (g->rows.own != NULL) {
            rows_put(&g->rows, chain, own, g->user);
        } else {
            status = gbsi_run_give_draw(&run->checkpoints, &run->report, drive, draw, chain, own,
                                        g->user, err);
        }
    }
    if (status >= 0 && g->rows.own != NULL) {
        status = rows_give(&g->rows, run->task.ranks, &run->sampling.engine, &run->checkpoints,
                           &run->report, drive, draw, err);
    }
cleanup:
    return status;
}

void gbsi_giving_free(gbsi_giving *g)
{
    GBSI_FREE(g->x, g->user);
    rows_free(&g->rows);
}

gbs_status gbsi_giving_take(const gbsi_task *task, const gbsi_engine *engine, gbsi_report *report,
                            bool splits, gbsi_giving *g, gbs_error *err)
{
    const bool shares = gbsi_runner_shares(task->plain);
    const size_t n_model =
        shares ? task->shared.share->facts.n_user_variables : task->problem.model->n_variables;
    g->x =
        gbsi_alloc_array((splits ? 2 : 1) * (size_t)task->problem.part->n_variables, sizeof *g->x);
    g->user = gbsi_alloc_array(n_model, sizeof *g->user);
    report->split_draws = splits;
    GBSI_PASS(GBSI_HAVE(err, "run", g->x, g->user));
    if (shares) {
        return GBS_OK;
    }
    memcpy(g->user, task->problem.whole->fixed_state, n_model * sizeof *g->user);
    return task->spread == NULL ? GBS_OK
                                : rows_take(&g->rows, &task->problem, task->ranks, engine, err);
}

gbs_status gbsi_giving_give(gbs_run *run, const gbsi_drive *drive, gbsi_giving *giving,
                            gbs_error *err)
{
    return (run->report.split_draws ? give_split : give_each)(run, drive, giving, err);
}
