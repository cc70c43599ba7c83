/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite exact: marginals, ln Z, the most probable state and samples by junction tree. Marginals
 * and samples are written by the code of the verbs marginals and sample, from a run in which
 * everything is exact. */
#include <stdlib.h>
#include <string.h>

#include "draws/kept_draws.h"
#include "marginals.h"
#include "options/rows.h"
#include "src/engine/options/needs.h"

#define LN10 2.302585092994045684

enum { TASK_MAR, TASK_PR, TASK_MAP, TASK_SAMPLE };

static const struct {
    const char *word;
    const char *formats; /* formats of the task; NULL: only the format of the UAI evaluations */
} tasks[] = {
    [TASK_MAR] = {"mar", "mar|csv|table|json|npz|netcdf"},
    [TASK_PR] = {"pr", NULL},
    [TASK_MAP] = {"map", NULL},
    [TASK_SAMPLE] = {"sample", "csv|tab|npz|npy|netcdf|cmdstan|coda"},
};

/* Checks --format: each task has its own formats. */
static int check_format(const cli_arguments *arguments, int task)
{
    const char *known = tasks[task].formats;
    if (arguments->format != NULL && known == NULL) {
        return cli_error(CLI_USAGE,
                         "--format %s: --task %s has one output format; leave out --format",
                         arguments->format, tasks[task].word);
    }
    if (arguments->format != NULL && !gbsi_is_among(arguments->format, known)) {
        return cli_error(CLI_USAGE, "--format %s: --task %s takes %s", arguments->format,
                         tasks[task].word, known);
    }
    return known == NULL ? cli_check_answer(arguments->output) : CLI_DONE;
}

/* ---- PR and MAP ------------------------------------------------------------------------------ */

static gbs_status solve(const cli_job *job, gbs_result *result, gbs_error *err)
{
    gbs_exact_options options = {.size = sizeof options};
    options.memory_limit = job->options.memory_limit;
    options.threads = (uint32_t)job->options.threads;
    if (result->task == GBS_TASK_MAP) {
        return gbs_exact_map(job->model, job->evidence, &options, NULL, result->state, NULL, NULL,
                             err);
    }
    double log_z = 0.0;
    const gbs_status status = gbs_exact_log_z(job->model, job->evidence, &options, &log_z, err);
    result->log10_z = log_z / LN10;
    return status;
}

typedef struct solution {
    const cli_arguments *arguments;
    const gbs_result *result;
} solution;

static void write_result(gbs_output *output, const void *context)
{
    const solution *s = context;
    const char *base = s->arguments->log_base;
    gbsi_output_text(output, s->arguments->uai_mpe ? "MPE" : gbs_task_word(s->result->task));
    gbsi_output_text(output, "\n");
    gbsi_result_write_solution(output, s->result,
                               base != NULL && base[0] == 'e' ? GBS_LOG_BASE_E : GBS_LOG_BASE_10);
}

static int answer_sample(cli_job *job, void *context)
{
    const gbs_task *task = context;
    gbs_error err = {GBS_OK, ""};
    gbs_result result;
    memset(&result, 0, sizeof result);
    result.task = *task;
    result.n = gbs_model_n_variables(job->model);
    result.state = calloc((size_t)result.n + 1, sizeof *result.state);
    CLI_PASS(CLI_HAVE(result.state));
    const gbs_status done = solve(job, &result, &err);
    const solution found = {job->arguments, &result};
    const int status =
        done < 0 ? cli_fail(done, &err)
                 : cli_write(job->output != NULL ? job->output : "-", write_result, &found);
    free(result.state);
    return status;
}

static int answer(cli_arguments *arguments, gbs_task task)
{
    cli_job job;
    memset(&job, 0, sizeof job);
    int status = CLI_DONE;
    CLI_TRY(cli_settle(arguments, GBS_METHOD_EXACT));
    CLI_TRY(cli_load_samples(&job, arguments, arguments->operand[0]));
    CLI_TRY(cli_each_sample(&job, answer_sample, &task));

cleanup:
    cli_job_free(&job);
    return status;
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int run_exact(cli_arguments *arguments)
{
    const int task = arguments->task;
    CLI_PASS(check_format(arguments, task));
    switch (task) {
    case TASK_PR:
        return answer(arguments, GBS_TASK_PR);
    case TASK_MAP:
        return answer(arguments, GBS_TASK_MAP);
    case TASK_SAMPLE:
        arguments->run.chains = 1;
        arguments->run.sweeps = arguments->samples;
        return cli_write_draws(arguments, GBS_METHOD_EXACT);
    default:
        return cli_write_marginals(arguments, GBS_METHOD_EXACT);
    }
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/exact.def"
};

const cli_verb cli_verb_exact = {
    .name = "exact",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "exact answers by junction tree",
    .notes = "Marginals as CSV (or .MAR, .json, .npz), log10 of the partition function, the\n"
             "most probable state, or independent samples in the formats of sample. If the\n"
             "tables would exceed --memory-limit, the verb ends with an error that names\n"
             "their size; info predicts this size.\n",
    .example = "gibbsite exact examples/sprinkler.bif -e grass=wet\n"
               "gibbsite exact examples/sprinkler.bif -e grass=wet --task pr\n"
               "gibbsite exact examples/sprinkler.bif --task map -o sprinkler.MAP\n"
               "gibbsite exact examples/sprinkler.bif --task sample --samples 5\n",
    .run = run_exact,
};
