/* SPDX-License-Identifier: Apache-2.0 */
/* A way of running as one would be added: a model without factors, whose variables take their
 * states in turn. It has memory, passes, checkpoints, a verdict and marginals. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "drive/runners.h"

static bool suits(const gbsi_task *task)
{
    return task->problem.part != NULL && task->problem.part->factors.n_factors == 0;
}

/* How often each state was taken: sampling.own. */
typedef struct rotation {
    const gbsi_conditioned *part;
    uint64_t n_passes;
    uint64_t count[];
} rotation;

static size_t n_cells(const gbsi_conditioned *part)
{
    return part->state_offset[part->n_variables];
}

static gbs_status bytes(gbs_run *run, gbsi_run_memory *m, gbs_error *err)
{
    (void)err;
    m->estimators = sizeof(rotation) + n_cells(run->task.problem.part) * sizeof(uint64_t);
    m->peak = m->standing + m->estimators;
    return GBS_OK;
}

static gbs_status prepare(gbs_run *run, gbs_error *err)
{
    const gbsi_conditioned *part = run->task.problem.part;
    rotation *own = gbsi_alloc_zero(sizeof *own + n_cells(part) * sizeof(uint64_t));
    GBSI_PASS(GBSI_HAVE(err, "rotation", own));
    own->part = part;
    run->sampling.own = own;
    return GBS_OK;
}

static gbs_status begin(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                        gbsi_drive *drive, gbs_error *err)
{
    (void)task;
    (void)sampling;
    (void)report;
    (void)drive;
    (void)err;
    return GBS_OK;
}

static gbs_status start(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    (void)run;
    (void)drive;
    (void)err;
    return GBS_OK;
}

static gbs_status advance(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *part = run->task.problem.part;
    rotation *own = run->sampling.own;
    GBSI_TRY(gbsi_run_keep(run, drive, GBSI_BEFORE_PASSES, err));
    while (drive->stop == GBSI_GO_ON) {
        for (uint32_t v = 0; v < part->n_variables; ++v) {
            ++own->count[part->state_offset[v] + (drive->pass + v) % part->arity[v]];
        }
        run->report.public.updates += part->n_variables;
        own->n_passes = ++run->report.public.sweeps;
        ++drive->pass;
        gbsi_run_watch(&run->task.options, &run->report, drive, true);
        if (run->report.public.sweeps == run->task.options.sweeps) {
            drive->stop = GBSI_STOP_SWEEPS;
        } else if (drive->pass == run->checkpoints.stop_after) {
            drive->stop = GBSI_STOP_SIGNAL;
        }
        GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASS, err));
    }
    GBSI_TRY(gbsi_run_keep(run, drive, GBSI_AFTER_PASSES, err));
cleanup:
    return status;
}

static gbs_status save(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err)
{
    const rotation *own = sampling->own;
    GBSI_PASS(gbsi_put_numbers(sink, &own->n_passes, 1, sizeof own->n_passes, err));
    return gbsi_put_numbers(sink, own->count, n_cells(own->part), sizeof(uint64_t), err);
}

static gbs_status load(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err)
{
    rotation *own = sampling->own;
    GBSI_PASS(gbsi_take_numbers(source, &own->n_passes, 1, sizeof own->n_passes, err));
    return gbsi_take_numbers(source, own->count, n_cells(own->part), sizeof(uint64_t), err);
}

static const gbsi_part counts = {"counts", false, false, NULL, save, load};
static const gbsi_part *const parts[] = {&counts, NULL};

/* A rotation is off by less than one turn. */
static gbs_status errors(gbs_run *run, gbs_error *err)
{
    (void)err;
    run->report.public.max_mcse = 1.0 / (double)run->report.public.sweeps;
    return GBS_OK;
}

static gbs_status judge(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    const gbs_status status = errors(run, err);
    r->method = "rotation";
    r->converged = true;
    (void)snprintf(r->verdict, sizeof r->verdict, "as good as exact");
    return status < 0 ? status : run->task.runner->digest(run, r->digest, err);
}

static void marginal(const gbsi_sampling *sampling, uint32_t v, double *const row[GBSI_N_ROWS])
{
    const rotation *own = sampling->own;
    const gbsi_conditioned *part = own->part;
    const double n = (double)own->n_passes;
    for (uint32_t a = 0; a < part->arity[v]; ++a) {
        const double value[GBSI_N_ROWS] = {(double)own->count[part->state_offset[v] + a] / n,
                                           1.0 / n, NAN, NAN};
        for (unsigned r = 0; r < GBSI_N_ROWS; ++r) {
            if (row[r] != NULL) {
                row[r][a] = value[r];
            }
        }
    }
}

static void forget(gbsi_task *task, gbsi_sampling *sampling)
{
    (void)task;
    gbsi_free(sampling->own);
}

const gbsi_runner gbsi_runner_rotation = {
    .name = "rotation",
    .suits = suits,
    .bytes = bytes,
    .prepare = prepare,
    .begin = begin,
    .start = start,
    .advance = advance,
    .parts = parts,
    .untraced = "a rotation has no chains",
    .errors = errors,
    .judge = judge,
    .marginal = marginal,
    .digest = gbsi_marginals_digest,
    .free = forget,
};
