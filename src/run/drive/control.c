/* SPDX-License-Identifier: Apache-2.0 */
/* Controls plain chains that would be reported as converged. If conditionals are nearly
 * deterministic, chains that start in one mode may move within it, agree, and never enter another
 * mode. Ladders of temperatures cross between modes, and cost little if the model is small. The
 * control runs such ladders beside the chains. The answer of the chains is kept unless ladders that
 * have converged contradict this answer [M9]. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "chains/run_options.h"
#include "drive/runners.h"
#include "ladders/tempered_inside.h"
#include "options/options.h"
#include "simd/math.h"

/* Limits of the cost of a control run, in counted operations: CHEAP operations take a fraction of a
 * second, and SHARE is a fraction of the cost of the chains. */
#define CHEAP 2.5e8
#define SHARE 0.25

/* The whole control run may take this many times as many updates as the burn-in of its ladders. */
#define LENGTH 4.0

/* Ladders that have not converged are ignored unless their estimates differ from those of the
 * chains by this many target errors. With such a difference, ladders have visited states that the
 * chains have not visited. */
#define DOUBTFUL 10.0

static double target_of(const gbs_run *run)
{
    const double target = run->report.public.target_error;
    return target > 0.0 ? target : GBSI_DEFAULT_TARGET;
}

/* ---- whether a control run is needed --------------------------------------------------------- */

/* Whether the run would be reported as converged without the control. */
static gbs_status seem_right(gbs_run *run, bool *right, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_report *r = &run->report.public;
    GBSI_TRY(run->task.runner->errors(run, err));
    *right = r->max_mcse <= target_of(run) && r->n_constant == 0 && r->n_hardly_moved == 0 &&
             gbsi_run_chains_agree(run->task.runner, &run->report) &&
             gbsi_run_long_enough(&run->task, &run->sampling.engine, &run->report) &&
             gbsi_run_has_wandered(&run->task, &run->report);
cleanup:
    return status;
}

/* Marks slots that have a state whose probability, as estimated by the chains, is below the target
 * error.
 */
static uint32_t mark_sharp(const gbs_run *run, uint8_t *mark, double *p)
{
    const gbsi_plan *plan = run->sampling.engine.plan;
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        double least = 1.0;
        gbsi_estimate_slot(run->sampling.estimates.estimate, slot, p, NULL, NULL, NULL);
        for (uint32_t a = 0; a < gbsi_plan_arity(plan, slot); ++a) {
            least = p[a] < least ? p[a] : least;
        }
        mark[slot] = least <= target_of(run);
        n += mark[slot];
    }
    return n;
}

/* Counts the variables with a state that the chains hardly met, although the state may be likely
 * for some states of the neighbours. */
static gbs_status count_sharp(const gbs_run *run, uint32_t *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_plan *plan = run->sampling.engine.plan;
    uint8_t *mark = gbsi_alloc_array_zero(plan->n_slots, 1);
    double *p = gbsi_alloc_array(plan->max_arity, sizeof *p);
    GBSI_TRY(GBSI_HAVE(err, "control", mark, p));
    *n = mark_sharp(run, mark, p);
    GBSI_TRY(gbsi_run_leave_settled(&run->sampling.engine, &run->report, mark, n, err));
cleanup:
    gbsi_free(mark);
    gbsi_free(p);
    return status;
}

/* ---- ladders --------------------------------------------------------------------------------- */

/* Makes a run of ladders for the same problem. This run borrows all members of `run` except the
 * report. */
static gbs_run ladders_of(const gbs_run *run)
{
    gbs_run control = *run;
    control.task.options = gbs_run_options_default();
    control.task.options.seed = run->task.options.seed;
    control.task.options.time_s = run->task.options.time_s;
    control.task.options.memory_limit = run->task.options.memory_limit;
    control.task.chains_asked = control.task.options.chains;
    control.checkpoints = (gbsi_checkpoints){0};
    gbsi_report_init(&control.report);
    control.report.bias_at_most = 0.0;
    control.report.public.target_error = GBSI_TEMPERED_TARGET;
    return control;
}

/* Number of sweeps of one chain that have the cost of the ladders' burn-in. */
static double sweeps_of(const gbs_run *control)
{
    return (double)GBSI_LADDER_BURN_IN * GBSI_TEMPERED_SWEEPS * GBSI_TEMPERED_LEVELS *
           gbsi_run_ladders(&control->task);
}

/* Whether ladders fit the memory limit and cost little enough. */
static bool is_cheap(const gbs_run *run, const gbs_run *control, bool sharp)
{
    const gbs_report *r = &run->report.public;
    const gbsi_executor *x = &run->sampling.engine.executor;
    const double each =
        x->pass->operations(x->pass_state, 1) / (double)(r->burn_in + r->sweeps + 1);
    const double cost = sweeps_of(control) * each;
    return run->memory.peak + gbsi_run_tempered_bytes(&control->task, &control->sampling.engine) <=
               gbsi_options_memory_limit(&run->task.options) &&
           (cost <= SHARE * x->pass->operations(x->pass_state, x->n_all) ||
            (sharp && cost <= CHEAP));
}

/* ---- comparison of ladders and chains -------------------------------------------------------- */

/* Finds the state whose two estimates of probability differ most, after the part that errors
 * explain is subtracted. For converged ladders, the errors explain a difference of their own size.
 * For ladders that have not converged, the estimates only show which states they visited. */
static void compare_slot(const gbs_run *run, const gbs_run *control, uint32_t slot, double z,
                         double *scratch, gbsi_contradiction *worst)
{
    const gbsi_plan *plan = run->sampling.engine.plan;
    const uint32_t k = gbsi_plan_arity(plan, slot);
    const uint32_t v = plan->variable_of[slot];
    double *own[2] = {scratch, scratch + k};
    double *other[GBSI_N_ROWS] = {
        [GBSI_P] = scratch + 2 * (size_t)k, [GBSI_MCSE] = scratch + 3 * (size_t)k};
    gbsi_estimate_slot(run->sampling.estimates.estimate, slot, own[0], own[1], NULL, NULL);
    gbsi_tempered_marginal(control->sampling.tempered, v, other);
    for (uint32_t a = 0; a < k; ++a) {
        const double apart = fabs(own[0][a] - other[GBSI_P][a]);
        const double error =
            gbsi_sqrt(gbsi_known_square(own[1][a]) + gbsi_known_square(other[GBSI_MCSE][a]));
        const double beyond =
            apart - (z > 0.0 ? z * error + target_of(run) : DOUBTFUL * target_of(run));
        if (beyond > worst->beyond) {
            *worst = (gbsi_contradiction){.beyond = beyond,
                                          .variable = run->task.problem.part->user_variable[v],
                                          .chains_say = own[0][a],
                                          .ladders_say = other[GBSI_P][a]};
        }
    }
}

static gbs_status compare(gbs_run *run, const gbs_run *control, bool believed, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *part = run->task.problem.part;
    const double z = believed ? gbsi_most_deviations(part->state_offset[part->n_variables]) : 0.0;
    double *scratch =
        gbsi_alloc_array(4 * (size_t)run->sampling.engine.plan->max_arity, sizeof *scratch);
    GBSI_TRY(GBSI_HAVE(err, "control", scratch));
    for (uint32_t slot = 0; slot < run->sampling.engine.plan->n_slots; ++slot) {
        compare_slot(run, control, slot, z, scratch, &run->report.contradiction);
    }
cleanup:
    gbsi_free(scratch);
    return status;
}

/* Runs the ladders, and compares their estimates with those of the chains. */
static gbs_status run_ladders(gbs_run *run, gbsi_drive *drive, gbs_run *control, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char text[sizeof control->report.public.verdict];
    gbs_run_callbacks callbacks = *drive->callbacks;
    gbsi_drive own;
    callbacks.draw = NULL;
    callbacks.splash = NULL;
    control->task.options.max_updates =
        (uint64_t)(LENGTH * sweeps_of(control) * (double)run->sampling.engine.schedule.n_places);
    gbsi_drive_begin(&own, control, &callbacks);
    own.started_s = drive->started_s;
    own.outer = drive->outer;
    GBSI_TRY(gbsi_run_tempered(control, &own, err));
    if (own.stop == GBSI_STOP_SIGNAL) {
        drive->stop = GBSI_STOP_SIGNAL;
    } else if (control->sampling.tempered != NULL &&
               gbsi_tempered_has_draws(control->sampling.tempered)) {
        GBSI_TRY(compare(run, control, !gbsi_run_doubt(control, text, sizeof text), err));
    }
cleanup:
    return status;
}

/* Whether this run allows a control. */
static bool is_open(const gbs_run *run, const gbsi_drive *drive)
{
    return (drive->stop == GBSI_STOP_TARGET || drive->stop == GBSI_STOP_SWEEPS) &&
           run->sampling.engine.plan != NULL && run->sampling.estimates.estimate != NULL &&
           !gbsi_runner_shares(run->task.plain) && !run->task.purpose.draws &&
           !run->task.purpose.anneals && !run->task.purpose.up_only &&
           !run->task.options.restarts && run->task.options.certified == 0.0 &&
           run->report.public.n_omitted == 0 && drive->callbacks->draw == NULL &&
           run->task.problem.n_sampled <= GBSI_MOST_CLIMBING;
}

gbs_status gbsi_run_control(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t n_sharp = 0;
    bool controls = false;
    bool leaves = !is_open(run, drive);
    gbs_run control = ladders_of(run);
    GBSI_TRY(gbsi_run_any(run->task.ranks, &leaves, err));
    if (leaves) {
        goto cleanup;
    }
    GBSI_TRY(seem_right(run, &controls, err));
    if (controls) {
        GBSI_TRY(gbsi_estimate_tell(run->sampling.estimates.estimate, err));
        GBSI_TRY(count_sharp(run, &n_sharp, err));
        controls = is_cheap(run, &control, n_sharp > 0);
    }
    leaves = !controls;
    GBSI_TRY(gbsi_run_any(run->task.ranks, &leaves, err));
    if (!leaves) {
        GBSI_TRY(run_ladders(run, drive, &control, err));
    }
cleanup:
    gbsi_tempered_free(control.sampling.tempered);
    gbsi_report_free(&control.report);
    return status;
}
