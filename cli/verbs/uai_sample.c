/* SPDX-License-Identifier: Apache-2.0 */
#include "uai_sample.h"
#include "gibbsite/log_z.h"
#include "gibbsite/map.h"
#include "src/core/base/plural.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A search that writes its current answer each time its work has doubled. */
typedef struct search {
    cli_job *job;
    cli_answer *answer;
    double next_s;     /* time at which the next improvement is due */
    double *p;         /* MAR: [rows] marginals */
    uint32_t *best;    /* MAP: [variables] best state so far */
    double best_lp;    /* log density of `best`; minus infinity before the first draw */
    double told_lp;    /* log-probability of the last answer that was written */
    gbs_status status; /* status of the last write */
    gbs_error err;
} search;

static void due_again(search *s, double elapsed_s)
{
    const double least_s = 0.25;
    s->next_s = 2.0 * elapsed_s > least_s ? 2.0 * elapsed_s : least_s;
}

static gbs_result marginals_result(const search *s)
{
    gbs_result result;
    memset(&result, 0, sizeof result);
    result.task = GBS_TASK_MAR;
    result.marginals.n_variables = gbs_model_n_variables(s->job->model);
    result.marginals.offset =
        (size_t *)(uintptr_t)gbs_model_state_offsets(s->job->model); /* the array is only read */
    result.marginals.p = s->p;
    return result;
}

static gbs_result states_result(const search *s, uint32_t *state)
{
    gbs_result result;
    memset(&result, 0, sizeof result);
    result.task = GBS_TASK_MAP;
    result.n = gbs_model_n_variables(s->job->model);
    result.state = state;
    return result;
}

/* Makes and executes the run. @return an exit status; if it is CLI_DONE, the run can be read. */
static int execute(search *s, const gbs_run_callbacks *callbacks, int *stopped)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_status status = gbs_run_execute(s->job->run, callbacks, &err);
    *stopped = status == GBS_STOPPED;
    if (s->status < 0) {
        return cli_fail_output(s->answer->path, s->status, &s->err);
    }
    if (status < 0) {
        cli_answer_withdraw(s->answer);
        return cli_fail(status, &err);
    }
    return CLI_DONE;
}

/* ---- marginals ------------------------------------------------------------------------------- */

/* Fills in a complete answer before there is a draw: the evidence, and uniform probabilities of
 * all other variables. */
static void fill_uniform(search *s)
{
    const gbs_model *model = s->job->model;
    const size_t *offset = gbs_model_state_offsets(model);
    for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
        const uint32_t arity = gbs_model_arity(model, v);
        uint32_t seen = 0;
        const int observed =
            s->job->evidence != NULL && gbs_evidence_state(s->job->evidence, v, &seen);
        for (uint32_t a = 0; a < arity; a++) {
            s->p[offset[v] + a] = observed ? (a == seen ? 1.0 : 0.0) : 1.0 / arity;
        }
    }
}

static int tell_marginals(void *context, const gbs_progress *progress)
{
    search *s = context;
    if (!progress->burning_in && progress->elapsed_s >= s->next_s && !cli_signals_caught() &&
        gbs_run_marginals(s->job->run, s->p, NULL, NULL, NULL, &s->err) >= 0) {
        const gbs_result result = marginals_result(s);
        s->status = cli_answer_improve(s->answer, &result, &s->err);
        due_again(s, progress->elapsed_s);
    }
    return cli_signals_caught() || s->status < 0;
}

static int run_marginals(search *s)
{
    cli_job *job = s->job;
    const gbs_run_callbacks callbacks = {.context = s, .progress = tell_marginals};
    const gbs_result result = marginals_result(s);
    gbs_error err = {GBS_OK, ""};
    int stopped = 0;
    gbs_status done = gbs_run_new(job->model, job->evidence, &job->options, &job->run, &err);
    if (done == GBS_ERR_STOPPED) {
        fill_uniform(s);
        cli_note(job->arguments, "MAR: %s: the marginals in %s reflect the evidence only",
                 err.message, s->answer->path);
        done = cli_answer_finish(s->answer, &result, &err);
        return done < 0 ? cli_fail_output(s->answer->path, done, &err) : CLI_DONE;
    }
    if (done < 0) {
        return cli_fail(done, &err);
    }
    const gbs_report *report = gbs_run_report(job->run);
    if (report->n_exact_variables < report->n_free_variables) {
        fill_uniform(s);
        done = cli_answer_improve(s->answer, &result, &err);
        if (done < 0) {
            return cli_fail_output(s->answer->path, done, &err);
        }
    }
    CLI_PASS(execute(s, &callbacks, &stopped));
    done = gbs_run_marginals(job->run, s->p, NULL, NULL, NULL, &err);
    if (done == GBS_ERR_STATE) {
        cli_note(job->arguments,
                 "stopped before the first draw was kept: the marginals in %s reflect "
                 "the evidence only",
                 s->answer->path);
        return CLI_DONE;
    }
    if (done >= 0) {
        done = cli_answer_finish(s->answer, &result, &err);
    }
    if (done < 0) {
        return cli_fail_output(s->answer->path, done, &err);
    }
    cli_verdict(job, stopped);
    return CLI_DONE;
}

int cli_uai_mar(cli_job *job, cli_answer *answer)
{
    search s;
    memset(&s, 0, sizeof s);
    s.job = job;
    s.answer = answer;
    s.p = calloc(gbs_model_state_offsets(job->model)[gbs_model_n_variables(job->model)] + 1,
                 sizeof *s.p);
    CLI_PASS(CLI_HAVE(s.p));
    const int status = run_marginals(&s);
    free(s.p);
    return status;
}

/* ---- the most probable state
 * --------------------------------------------------------------------- */

static gbs_status keep_better(void *context, double log_density, const uint32_t *state,
                              gbs_error *err)
{
    search *s = context;
    (void)err;
    s->best_lp = log_density;
    memcpy(s->best, state, gbs_model_n_variables(s->job->model) * sizeof *state);
    return GBS_OK;
}

static int tell_best(void *context, const gbs_progress *progress)
{
    search *s = context;
    if (s->best_lp > s->told_lp && progress->elapsed_s >= s->next_s && !cli_signals_caught()) {
        const gbs_result result = states_result(s, s->best);
        s->status = cli_answer_improve(s->answer, &result, &s->err);
        s->told_lp = s->best_lp;
        due_again(s, progress->elapsed_s);
    }
    return cli_signals_caught() || s->status < 0;
}

static int run_map(search *s)
{
    gbs_error err = {GBS_OK, ""};
    gbs_map_report report = {.size = sizeof report};
    const gbs_map_callbacks callbacks = {
        .context = s, .progress = tell_best, .improve = keep_better};
    gbs_status done = gbs_map(s->job->model, s->job->evidence, &s->job->options, &callbacks,
                              s->best, &report, &err);
    if (s->status < 0) {
        return cli_fail_output(s->answer->path, s->status, &s->err);
    }
    if (done == GBS_ERR_STOPPED && s->best_lp == -INFINITY) {
        for (uint32_t v = 0; v < gbs_model_n_variables(s->job->model); v++) {
            s->best[v] = 0; /* state 0, unless the variable is observed */
            (void)(s->job->evidence != NULL &&
                   gbs_evidence_state(s->job->evidence, v, &s->best[v]));
        }
        cli_note(s->job->arguments, "MAP: %s: the state in %s reflects the evidence only",
                 err.message, s->answer->path);
        done = GBS_STOPPED;
    }
    if (done < 0) {
        cli_answer_withdraw(s->answer);
        return cli_fail(done, &err);
    }
    const gbs_result result = states_result(s, s->best);
    done = cli_answer_finish(s->answer, &result, &err);
    if (done < 0) {
        return cli_fail_output(s->answer->path, done, &err);
    }
    if (report.n_exact_variables < report.n_free_variables) {
        cli_tell_choice(s->job, &report.exact);
        cli_note(
            s->job->arguments,
            "MAP: %" PRIu32 " variable%s annealed, the others solved exactly: the best of "
            "%" PRIu32 " chain%s in %" PRIu64
            " sweep%s (log density %.9g), %sproved to be the most probable: no state has a log "
            "density above %.9g",
            report.n_free_variables - report.n_exact_variables,
            gbsi_plural_of(report.n_free_variables - report.n_exact_variables, " was", "s were"),
            report.chains, gbsi_plural(report.chains), report.sweeps, gbsi_plural(report.sweeps),
            report.log_density, report.gap == 0.0 ? "" : "not ", report.upper_bound);
    }
    return CLI_DONE;
}

int cli_uai_map(cli_job *job, cli_answer *answer)
{
    search s;
    memset(&s, 0, sizeof s);
    s.job = job;
    s.answer = answer;
    s.best_lp = -INFINITY;
    s.told_lp = -INFINITY;
    s.best = calloc((size_t)gbs_model_n_variables(job->model) + 1, sizeof *s.best);
    CLI_PASS(CLI_HAVE(s.best));
    const int status = run_map(&s);
    free(s.best);
    return status;
}

/* ---- the partition function ---------------------------------------------------------------- */

static int tell_nothing(void *context, const gbs_progress *progress)
{
    (void)context;
    (void)progress;
    return cli_signals_caught();
}

int cli_uai_log_z(cli_job *job, cli_answer *answer)
{
    const double ln10 = 2.302585092994045684;
    const gbs_run_callbacks callbacks = {.progress = tell_nothing};
    gbs_error err = {GBS_OK, ""};
    gbs_log_z_report report = {.size = sizeof report};
    gbs_result result;
    gbs_status done =
        gbs_log_z(job->model, job->evidence, &job->options, &callbacks, &report, &err);
    const char *why = report.verdict;
    if (done == GBS_ERR_STOPPED) {
        report.log_z = (double)NAN;
        why = err.message;
    } else if (done < 0) {
        return cli_fail(done, &err);
    }
    const int bounded = isnan(report.log_z);
    if (bounded) {
        gbs_run_options quick = job->options;
        quick.iterations = 20;
        quick.time_s = 0.0; /* --time is over */
        gbs_error failed = {GBS_OK, ""};
        done = gbs_log_z_bound(job->model, job->evidence, &quick, NULL, &report.log_z, &failed);
        if (done < 0) {
            return cli_fail(done, &failed);
        }
    }
    if (!isfinite(report.log_z)) {
        return cli_error(CLI_FAILED, "PR: %s", why);
    }
    if (bounded) {
        cli_note(job->arguments, "PR: %s; a lower bound by mean field stands in the file", why);
    }
    memset(&result, 0, sizeof result);
    result.task = GBS_TASK_PR;
    result.log10_z = report.log_z / ln10;
    done = cli_answer_finish(answer, &result, &err);
    if (done < 0) {
        return cli_fail_output(answer->path, done, &err);
    }
    if (!bounded) {
        cli_logz_verdict(job, &report);
    }
    return CLI_DONE;
}
