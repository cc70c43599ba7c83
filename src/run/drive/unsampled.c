/* SPDX-License-Identifier: Apache-2.0 */
/* Runners without chains: exact answers, and approximations. */
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "choose/exact_part.h"
#include "drive/runners.h"

/* ---- exact ----------------------------------------------------------------------------------- */

static bool nothing_is_sampled(const gbsi_task *task)
{
    return task->problem.part == NULL;
}

static gbs_status answer(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                         gbsi_drive *drive, gbs_error *err)
{
    report->public.log_z = /* also correct if no variable is free */
        task->problem.n_skipped > 0 ? NAN : task->problem.whole->log_constant;
    return gbsi_run_exactly(task, sampling, report, drive, err);
}

/* Gives the draws of a model whose variables are all fixed: its only state, repeatedly. */
static gbs_status sample_fixed(const gbsi_task *task, gbsi_report *report,
                               const gbs_run_callbacks *callbacks, gbs_error *err)
{
    if (callbacks->draw == NULL || task->problem.whole->n_variables > 0 ||
        !gbsi_run_speaks(task->ranks)) {
        return GBS_OK;
    }
    gbs_status status = GBS_OK;
    report->public.sweeps = task->options.sweeps;
    for (uint64_t draw = 0; draw < task->options.sweeps / task->options.thin; ++draw) {
        for (uint32_t chain = 0; chain < report->public.chains && status >= 0; ++chain) {
            status =
                callbacks->draw(callbacks->context, draw, chain, task->problem.whole->log_constant,
                                task->problem.whole->fixed_state, err);
        }
    }
    return status;
}

static gbs_status sample(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    const gbsi_problem *p = &run->task.problem;
    const gbs_status status =
        p->tree != NULL || p->sparse != NULL || p->cutset != NULL
            ? gbsi_run_sample_exactly(&run->task, &run->sampling.engine, &run->report, drive, err)
            : sample_fixed(&run->task, &run->report, drive->callbacks, err);
    drive->stop = drive->stop == GBSI_GO_ON ? GBSI_STOP_EXACT : drive->stop;
    return status;
}

static gbs_status say_exact(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    r->method = "exact";
    r->converged = true;
    r->max_mcse = 0.0;
    (void)snprintf(r->verdict, sizeof r->verdict, "exact");
    return run->task.runner->digest(run, r->digest, err);
}

const gbsi_runner gbsi_runner_exact = {
    .name = "exact",
    .suits = nothing_is_sampled,
    .begin = answer,
    .advance = sample,
    .judge = say_exact,
    .digest = gbsi_marginals_digest,
};

/* ---- barren variables given exact draws of the others ---------------------------------------- */

static bool draws_barren(const gbsi_task *task)
{
    return task->problem.barren != NULL;
}

static gbs_status draw_barren(gbs_run *run, gbsi_drive *drive, gbs_error *err)
{
    const gbs_status status =
        gbsi_run_sample_exactly(&run->task, &run->sampling.engine, &run->report, drive, err);
    const gbsi_barren *b = run->task.problem.barren;
    run->report.public.updates = b->n_draws * b->full->n_variables;
    drive->stop = drive->stop == GBSI_GO_ON ? GBSI_STOP_EXACT : drive->stop;
    return status;
}

static gbs_status check_barren(const gbs_run *run, gbs_error *err)
{
    return run->task.problem.barren->n_draws == 0 ? gbsi_no_draw_kept(err) : GBS_OK;
}

static gbs_status say_barren(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    const gbsi_barren *b = run->task.problem.barren;
    r->method = r->n_exact_variables > 0 ? "exact+sampled" : "sampled";
    r->n_drawn = b->pruning.n;
    r->max_mcse = 0.0;
    r->min_ess = (double)b->n_draws;
    for (uint32_t i = 0; i < b->pruning.n; ++i) {
        const uint32_t v = b->pruning.variable[i];
        for (uint32_t a = 0; a < b->full->arity[v]; ++a) {
            double error = 0.0;
            (void)gbsi_barren_p(b, v, a, &error);
            r->max_mcse = error > r->max_mcse ? error : r->max_mcse;
        }
    }
    if (run->task.purpose.draws &&
        r->target_error == 0.0) { /* a run for draws has no target error to reach */
        r->converged = b->n_draws > 0;
        gbsi_say(r->verdict, sizeof r->verdict, "converged: %llu independent exact draw%s",
                 (unsigned long long)b->n_draws, gbsi_plural(b->n_draws));
        return b->n_draws == 0 ? GBS_OK : run->task.runner->digest(run, r->digest, err);
    }
    r->converged = b->n_draws > 1 && (r->target_error == 0.0 || r->max_mcse <= r->target_error);
    gbsi_say(
        r->verdict, sizeof r->verdict, "%s: largest standard error %.2g of %llu independent draws",
        r->converged ? "converged" : "not converged", r->max_mcse, (unsigned long long)b->n_draws);
    return b->n_draws == 0 ? GBS_OK : run->task.runner->digest(run, r->digest, err);
}

const gbsi_runner gbsi_runner_barren = {
    .name = "barren",
    .suits = draws_barren,
    .begin = answer,
    .advance = draw_barren,
    .judge = say_barren,
    .check = check_barren,
    .digest = gbsi_marginals_digest,
};

/* ---- mean field and belief propagation ------------------------------------------------------- */

static gbs_status say_approximate(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    r->method = run->task.options.method == GBS_METHOD_BELIEF ? "bp" : "mean-field";
    r->n_exact_variables = 0;
    r->converged = r->n_free_variables == 0 || run->report.without_cycles;
    if (run->report.without_cycles) {
        r->max_mcse = 0.0;
        (void)snprintf(r->verdict, sizeof r->verdict, "exact: the factor graph has no cycles");
    } else if (r->converged) {
        (void)snprintf(r->verdict, sizeof r->verdict, "exact");
    } else {
        (void)gbsi_run_doubt(run, r->verdict, sizeof r->verdict);
    }
    return run->task.runner->digest(run, r->digest, err);
}

/* Writes a marginal of belief propagation, for a run whose sampling has no answer; exact components
 * keep their answers. */
static void first_marginal(const gbsi_sampling *sampling, uint32_t v,
                           double *const row[GBSI_N_ROWS])
{
    const gbsi_estimates *estimates = &sampling->estimates;
    const size_t begin = estimates->first_offset[v];
    for (size_t i = begin; i < estimates->first_offset[v + 1]; ++i) {
        for (unsigned r = 0; r < GBSI_N_ROWS; ++r) {
            if (row[r] != NULL) {
                row[r][i - begin] = r == GBSI_P ? estimates->first_p[i] : NAN;
            }
        }
    }
}

static gbs_status say_first(gbs_run *run, gbs_error *err)
{
    gbs_report *r = &run->report.public;
    r->method = "bp";
    r->in_burn_in = 0;
    (void)gbsi_run_doubt(run, r->verdict, sizeof r->verdict);
    return run->task.runner->digest(run, r->digest, err);
}

const gbsi_runner gbsi_runner_first_answer = {
    .name = "first answer",
    .judge = say_first,
    .marginal = first_marginal,
    .digest = gbsi_marginals_digest,
};

const gbsi_runner gbsi_runner_approximate = {
    .name = "approximate",
    .suits = gbsi_run_approximates,
    .begin = gbsi_run_approximately,
    .judge = say_approximate,
    .digest = gbsi_marginals_digest,
};
