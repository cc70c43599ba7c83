/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite map: searches for the most probable state and writes it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gibbsite/log_z.h"
#include "gibbsite/map.h"
#include "marginals.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

static void write_csv(gbs_output *output, const gbs_model *model, const uint32_t *state)
{
    gbsi_output_text(output, "variable,state\n");
    for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
        char text[32];
        gbsi_output_csv_field(output, cli_variable_text(model, v, "", text));
        gbsi_output_text(output, ",");
        gbsi_output_csv_field(output, cli_state_text(model, v, state[v], text));
        gbsi_output_text(output, "\n");
    }
}

typedef struct answer {
    const cli_job *job;
    uint32_t *state;
    const gbs_map_report *report;
    const gbs_log_z_report *z;
    const char *format;
} answer;

/* Writes the answer in JSON without the last brace. */
static void write_json(gbs_output *output, const void *context)
{
    const answer *a = context;
    const gbs_model *model = a->job->model;
    const gbs_map_report *r = a->report;
    const gbs_log_z_report *z = a->z;
    cli_json_head(output, "map/1", gbs_model_digest(model));
    gbsi_output_text(output, ",\n  \"log_density\": ");
    gbsi_output_json_double(output, r->log_density);
    gbsi_output_text(output, ",\n  \"final_log_density\": ");
    gbsi_output_json_double(output, r->final_log_density);
    gbsi_output_text(output, ",\n  \"log_z\": ");
    gbsi_output_json_double(output, z->log_z);
    gbsi_output_text(output, ",\n  \"log_z_error\": ");
    gbsi_output_json_double(output, z->error);
    gbsi_output_text(output, ",\n  \"log_probability\": ");
    gbsi_output_json_double(output, cli_log_probability(r->log_density, z->log_z));
    gbsi_output_text(output, ",\n  \"log_probability_low\": ");
    gbsi_output_json_double(output, cli_log_probability(r->log_density, z->high));
    gbsi_output_text(output, ",\n  \"log_probability_high\": ");
    gbsi_output_json_double(output, cli_log_probability(r->log_density, z->low));
    gbsi_output_text(output, ",\n  \"proved\": ");
    gbsi_output_text(output, r->gap == 0.0 ? "true" : "false");
    gbsi_output_text(output, ",\n  \"upper_bound\": ");
    gbsi_output_json_double(output, r->upper_bound);
    gbsi_output_text(output, ",\n  \"gap\": ");
    gbsi_output_json_double(output, r->gap);
    gbsi_output_text(output, ",\n  \"sweeps\": ");
    gbsi_output_uint(output, r->sweeps);
    gbsi_output_text(output, ",\n  \"chains\": ");
    gbsi_output_uint(output, r->chains);
    gbsi_output_text(output, ",\n  \"tau0\": ");
    gbsi_output_json_double(output, r->tau0);
    gbsi_output_text(output, ",\n  \"stop\": ");
    gbsi_output_json_string(output, r->stop);
    gbsi_output_text(output, ",\n  \"state\": [");
    for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
        gbsi_output_text(output, v > 0 ? ", " : "");
        gbsi_output_uint(output, a->state[v]);
    }
    gbsi_output_text(output, "]");
}

/* Whether no chain was run, because all components were solved exactly. */
static int is_exact(const gbs_map_report *r)
{
    return r->n_exact_variables == r->n_free_variables;
}

/* Writes the state in the format that the user asked for. */
static void write_state(gbs_output *output, const void *context)
{
    const answer *a = context;
    const cli_job *job = a->job;
    if (strcmp(a->format, "map") == 0) {
        gbs_result result;
        memset(&result, 0, sizeof result);
        result.task = GBS_TASK_MAP;
        result.n = gbs_model_n_variables(job->model);
        result.state = a->state;
        gbsi_output_text(output, job->arguments->uai_mpe ? "MPE\n" : "MAP\n");
        gbsi_result_write_solution(output, &result, GBS_LOG_BASE_10);
    } else if (strcmp(a->format, "json") == 0) {
        write_json(output, a);
        gbsi_output_text(output, "\n}\n");
    } else if (strcmp(a->format, "table") == 0) {
        cli_state_table(output, job, a->state,
                        a->report->gap == 0.0 ? "proved" : "the best that was found");
    } else {
        write_csv(output, job->model, a->state);
    }
}

static void tell_search(const cli_job *job, const gbs_map_report *r)
{
    cli_tell_choice(job, &r->exact);
    cli_note(job->arguments,
             "log density %.12g, the best of %" PRIu32 " chain%s in %" PRIu64
             " sweep%s from temperature %.3g (%.3g s, seed %" PRIu64
             "; best final state %.12g); %" PRIu32 " of %" PRIu32 " variable%s %s solved exactly",
             r->log_density, r->chains, gbsi_plural(r->chains), r->sweeps, gbsi_plural(r->sweeps),
             r->tau0, r->seconds, job->options.seed, r->final_log_density, r->n_exact_variables,
             r->n_free_variables, gbsi_plural(r->n_free_variables),
             gbsi_plural_of(r->n_exact_variables, "is", "are"));
    if (r->gap == 0.0) {
        cli_note(job->arguments,
                 "this log density is proved to be the largest: the upper bound is equal to it");
    } else if (isfinite(r->upper_bound)) {
        cli_note(job->arguments,
                 "no state has a log density above %.12g: the best one may be better by up to %.3g",
                 r->upper_bound, r->gap);
    } else {
        cli_note(job->arguments, "the search was stopped before an upper bound was known");
    }
}

static void tell(const cli_job *job, const gbs_map_report *r, const gbs_log_z_report *z,
                 int stopped)
{
    const char *idle = is_exact(r) ? cli_sampled_option(job->arguments) : NULL;
    if (idle != NULL) {
        cli_note(job->arguments, "the state was found exactly: --%s applies with --method sample",
                 idle);
    }
    if (is_exact(r)) {
        cli_note(job->arguments, "log density %.12g, proved to be the largest", r->log_density);
    } else {
        tell_search(job, r);
    }
    if (r->warning[0] != '\0') {
        cli_note(job->arguments, "warning: %s", r->warning);
    }
    cli_tell_state_probability(job, r->log_density, z);
    if (stopped) {
        cli_note(job->arguments, "stopped (%s): this is the best state so far", r->stop);
    }
}

/* Computes ln Z exactly if the computation costs no more than the search. Otherwise ln Z is
 * estimated if the user asks for it. */
static void find_log_z(const cli_job *job, const gbs_map_report *r, gbs_log_z_report *z)
{
    *z = (gbs_log_z_report){.size = sizeof *z, .log_z = NAN, .error = NAN, .low = NAN, .high = NAN};
    if (is_exact(r) || cli_sums_to_one(job)) {
        z->log_z = z->low = z->high = cli_exact_log_z(job);
        z->error = isfinite(z->log_z) ? 0.0 : (double)NAN;
    }
    if (isnan(z->log_z) && job->arguments->probability) {
        cli_estimate_log_z(job, z);
    }
}

static int search(cli_job *job, const char *format)
{
    gbs_error err = {GBS_OK, ""};
    gbs_map_report report = {.size = sizeof report};
    cli_bar bar;
    uint32_t *state = calloc((size_t)gbs_model_n_variables(job->model) + 1, sizeof *state);
    CLI_PASS(CLI_HAVE(state));
    const gbs_map_callbacks callbacks = {.context = &bar, .progress = cli_bar_watch};
    memset(&bar, 0, sizeof bar);
    cli_signals_catch();
    cli_bar_init(&bar, job->arguments, &job->options);
    const gbs_checkpoint_files files = {.size = sizeof files,
                                        .write = job->arguments->checkpoint,
                                        .resume = job->arguments->resume};
    const gbs_status done = gbs_map_with_checkpoints(job->model, job->evidence, &job->options,
                                                     &files, &callbacks, state, &report, &err);
    cli_bar_finish(&bar, NULL);
    gbs_log_z_report z;
    int status = done < 0 ? cli_fail_call(&files, done, &err) : CLI_DONE;
    if (status == CLI_DONE) {
        find_log_z(job, &report, &z);
        const answer a = {job, state, &report, &z, format};
        status = cli_write(job->output != NULL ? job->output : "-", write_state, &a);
        status = status == CLI_DONE ? cli_report_answer(job, write_json, &a) : status;
    }
    if (status == CLI_DONE) {
        tell(job, &report, &z, done == GBS_STOPPED);
        status = done == GBS_STOPPED ? CLI_STOPPED : CLI_DONE;
    }
    free(state);
    return status;
}

static int run_map(cli_arguments *arguments)
{
    const char *format = NULL;
    cli_job job;
    memset(&job, 0, sizeof job);
    int status = CLI_DONE;
    CLI_TRY(cli_output_format(arguments, "map|csv|table|json",
                              cli_is_terminal(STDOUT_FILENO) ? "table" : "csv", &format));
    CLI_TRY(cli_check_method(arguments));
    CLI_TRY(cli_check_outputs(arguments));
    CLI_TRY(cli_settle_checkpoints(arguments));
    CLI_TRY(cli_load(&job, arguments, arguments->operand[0]));
    CLI_TRY(search(&job, format));

cleanup:
    cli_job_free(&job);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/map.def"
};

const cli_verb cli_verb_map = {
    .name = "map",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "the most probable state found, by annealing",
    .notes = "Writes CSV (variable,state) to standard output; -o FILE.MAP writes the format\n"
             "of the UAI competitions. Components that are small enough are solved exactly.\n"
             "The others are annealed with schedules of 64, 128, 256, ... sweeps until one\n"
             "finds no better state, or with one schedule of --sweeps sweeps. An upper bound\n"
             "on the log density of all states is printed beside that of the state found; if\n"
             "the two are equal, the state is proved to be the most probable.\n",
    .example = "gibbsite map examples/sprinkler.bif -e grass=wet\n"
               "gibbsite generate ising --grid 30x30 --coupling-spread 2 -o glass.uai\n"
               "gibbsite map glass.uai --sweeps 300 -o glass.MAP\n",
    .run = run_map,
};
