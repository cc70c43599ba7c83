/* SPDX-License-Identifier: Apache-2.0 */
/* marginals --monitor: the traces of a run as draws for diagnostics. The quantities are the log
 * density and, for every variable and state, an indicator of the state; a variable of two states
 * has only the indicator of the second. */
#include "gibbsite/traces.h"
#include "src/core/base/plural.h"
#include "traces.h"

#include <stdlib.h>
#include <string.h>

enum { TOP = 20, MOST_NAME = 256 };

/* @return whether the page of a report shows the log density without --monitor. The density is not
 * shown with checkpoints, because the monitored values would belong to the earlier run that this
 * one resumes. */
static int shows_density(const cli_arguments *arguments)
{
    return arguments->monitor == NULL && arguments->report != NULL &&
           cli_is_verb(arguments->verb, "marginals") && arguments->n_joints == 0 &&
           arguments->checkpoint == NULL && arguments->resume == NULL;
}

int cli_monitors(const cli_arguments *arguments)
{
    return arguments->monitor != NULL || shows_density(arguments);
}

/* Selects the variables of --monitor; selects no variable if there is no list. */
static int select_monitored(const cli_job *job, cli_selection *selection)
{
    const char *list = job->arguments->monitor;
    return list == NULL ? CLI_DONE : cli_select(job->model, "--monitor", list, selection);
}

int cli_monitor(cli_job *job)
{
    gbs_error err = {GBS_OK, ""};
    cli_selection selection = {NULL, 0, 0};
    if (!cli_monitors(job->arguments)) {
        return CLI_DONE;
    }
    int status = select_monitored(job, &selection);
    if (status == CLI_DONE) {
        const gbs_status done = gbs_run_monitor(job->run, selection.variable, selection.n, &err);
        status = done < 0 && !shows_density(job->arguments) ? cli_fail(done, &err) : CLI_DONE;
    }
    cli_selection_free(&selection);
    return status;
}

/* Adds an indicator for each state that occurs. For a variable of two states, only the second
 * state gets an indicator. */
static int add_states(cli_drawn *d, const gbs_model *model, uint32_t variable,
                      const uint32_t *state)
{
    const size_t n = d->n_chains * d->n_draws;
    const uint32_t arity = gbs_model_arity(model, variable);
    unsigned char *occurs = calloc(arity, 1);
    CLI_PASS(CLI_HAVE(occurs));
    for (size_t i = 0; i < n; i++) {
        occurs[state[i]] = 1;
    }
    int status = CLI_DONE;
    for (uint32_t a = arity == 2 ? 1 : 0; a < arity && status == CLI_DONE; a++) {
        char name[MOST_NAME];
        char of_variable[32];
        char of_state[32];
        if (arity > 2 && !occurs[a]) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%.120s=%.120s",
                       cli_variable_text(model, variable, "x", of_variable),
                       cli_state_text(model, variable, a, of_state));
        double *value = cli_drawn_add(d, name);
        status = value == NULL ? CLI_FAILED : CLI_DONE;
        for (size_t i = 0; i < n && value != NULL; i++) {
            value[i] = state[i] == a ? 1.0 : 0.0;
        }
    }
    free(occurs);
    return status;
}

static int add_variables(cli_drawn *d, const cli_job *job, const cli_selection *selection)
{
    uint32_t *state = calloc(d->n_chains * d->n_draws + 1, sizeof *state);
    uint32_t n_left_out = 0;
    int status = state != NULL ? CLI_DONE : cli_error(CLI_FAILED, "out of memory");
    for (uint32_t i = 0; i < selection->n && status == CLI_DONE; i++) {
        gbs_error err = {GBS_OK, ""};
        const gbs_status done = gbs_run_trace_state(job->run, selection->variable[i], state, &err);
        if (done == GBS_ERR_UNSUPPORTED) {
            n_left_out++;
        } else {
            status = done < 0 ? cli_fail(done, &err)
                              : add_states(d, job->model, selection->variable[i], state);
        }
    }
    if (n_left_out > 0 && status == CLI_DONE) {
        cli_note(job->arguments, "--monitor: %u of %u variable%s %s no trace: not sampled",
                 n_left_out, selection->n, gbsi_plural(selection->n),
                 gbsi_plural_of(n_left_out, "has", "have"));
    }
    free(state);
    return status;
}

static int add_density(cli_drawn *d, const cli_job *job)
{
    gbs_error err = {GBS_OK, ""};
    double *value = cli_drawn_add(d, "log density");
    if (value == NULL) {
        return CLI_FAILED;
    }
    const gbs_status done = gbs_run_trace_density(job->run, value, &err);
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

int cli_traces_take(const cli_job *job, cli_diagnosis *a)
{
    gbs_error err = {GBS_OK, ""};
    gbs_traces traces = {.size = sizeof traces};
    cli_selection selection = {NULL, 0, 0};
    memset(a, 0, sizeof *a);
    a->arguments = job->arguments;
    const gbs_status done = gbs_run_traces(job->run, &traces, &err);
    if (done == GBS_ERR_STATE && shows_density(job->arguments)) {
        return CLI_DONE;
    }
    if (done < 0) {
        return cli_fail(done, &err);
    }
    a->drawn.n_chains = traces.n_chains;
    a->drawn.n_draws = traces.n_draws;
    a->stride = traces.stride;
    if (traces.n_draws == 0) {
        return CLI_DONE;
    }
    int status = CLI_DONE;
    CLI_TRY(select_monitored(job, &selection));
    CLI_TRY(add_density(&a->drawn, job));
    CLI_TRY(add_variables(&a->drawn, job, &selection));
    CLI_TRY(cli_diagnosis_make(a));
    CLI_TRY(cli_diagnosis_choose(a, 0));

cleanup:
    cli_selection_free(&selection);
    return status;
}

int cli_traces_tell(cli_diagnosis *a, int tempered)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    if (a->arguments->quiet || shows_density(a->arguments)) {
        return CLI_DONE;
    }
    if (tempered) {
        cli_note(a->arguments,
                 "--monitor: traces are those of the plain chains, before the ladders");
    }
    if (a->drawn.n_draws == 0) {
        cli_note(a->arguments, "--monitor: there are no traces: nothing was sampled");
        return CLI_DONE;
    }
    CLI_PASS(a->drawn.n > TOP ? cli_diagnosis_choose(a, TOP) : cli_diagnosis_choose(a, 0));
    gbs_status done = gbs_output_open("/dev/stderr", &output, &err);
    if (done >= 0) {
        cli_diagnosis_table(output, a);
        done = gbs_output_commit(output, &err);
    }
    return done < 0 ? cli_fail_output("standard error", done, &err) : CLI_DONE;
}
