/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite uai MODEL EVID QUERY TASK: answers the command line of the UAI competitions, which give
 * limits in environment variables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gibbsite/map.h"
#include "options/rows.h"
#include "src/core/base/plural.h"
#include "uai_sample.h"

/* ---- limits ---------------------------------------------------------------------------------- */

/* Reads a limit from an environment variable. @return CLI_DONE, with *value 0, if the variable is
 * not set. */
static int read_limit(const char *name, const char *unit, double *value)
{
    const char *text = getenv(name); // NOLINT(concurrency-mt-unsafe): one thread
    *value = 0.0;
    if (text == NULL || text[0] == '\0') {
        return CLI_DONE;
    }
    if (!cli_parse_real(text, value) || *value <= 0.0) {
        return cli_error(CLI_USAGE, "environment %s=%s: expected a number of %s above 0", name,
                         text, unit);
    }
    return CLI_DONE;
}

static double cpu_s(void)
{
    struct timespec used = {0, 0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* INF_TIME is the CPU time of the whole call. The time that is left when sampling begins, minus
 * some time for writing the answer, becomes a wall-clock limit of the run.
 */
static void limit_time(cli_job *job, double limit_s)
{
    const double margin_s = 0.1 + 0.02 * limit_s;
    const double least_s = 0.05;
    if (limit_s > 0.0) {
        const double left_s = limit_s - margin_s - cpu_s();
        job->options.time_s = left_s > least_s ? left_s : least_s;
    }
}

static int read_limits(cli_arguments *arguments, double *time_s)
{
    const double gib = 1073741824.0;
    double memory_gib = 0.0;
    int status = read_limit("INF_TIME", "seconds", time_s);
    arguments->run.least_chains = 1;
    cli_limit_by("INF_MEMORY");
    if (status == CLI_DONE) {
        status = read_limit("INF_MEMORY", "GiB", &memory_gib);
    }
    if (status == CLI_DONE && memory_gib > 0.0) {
        const double bytes = memory_gib * gib;
        arguments->run.memory_limit = bytes < 1.0 ? 1 : bytes < 1e18 ? (uint64_t)bytes : 0;
        gbs_set_memory_limit(arguments->run.memory_limit);
    }
    return status;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static int finish(cli_answer *answer, const gbs_result *result)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_status done = cli_answer_finish(answer, result, &err);
    return done < 0 ? cli_fail_output(answer->path, done, &err) : CLI_DONE;
}

static int tell_nothing(void *context, const gbs_progress *progress)
{
    (void)context;
    (void)progress;
    return cli_signals_caught();
}

/* Prints a bound on the quality of the state, if it is not proved to be the best. */
static void tell_search(const cli_job *job, const gbs_mmap_report *r)
{
    if (strcmp(r->stop, "limit") == 0) {
        cli_note(
            job->arguments,
            "MMAP: the sum over the other variables is too large; from the best state found of "
            "all variables; no log weight exceeds %.9g",
            r->log_bound);
    } else if (strcmp(r->stop, "exact") != 0) {
        cli_note(job->arguments,
                 "MMAP: the best of %" PRIu64
                 " state%s (log weight %.9g, ended by: %s); none exceeds "
                 "%.9g",
                 r->n_sums, gbsi_plural(r->n_sums), r->log_p, r->stop, r->log_bound);
    }
}

static int answer_mmap(const cli_job *job, cli_answer *answer)
{
    const gbs_map_callbacks callbacks = {.progress = tell_nothing};
    gbs_mmap_report report = {.size = sizeof report};
    gbs_error err = {GBS_OK, ""};
    gbs_result result;
    size_t n = 0;
    memset(&result, 0, sizeof result);
    result.task = GBS_TASK_MMAP;
    gbs_status done = gbsi_query_read(job->arguments->operand[2], job->model, &job->read,
                                      &result.variable, &n, &err);
    if (done < 0) {
        return cli_fail_input(done, &err);
    }
    int status = CLI_DONE;
    result.n = (uint32_t)n;
    result.state = calloc(n + 1, sizeof *result.state);
    if (result.state == NULL) {
        status = cli_error(CLI_FAILED, "out of memory");
    } else {
        done = gbs_mmap(job->model, job->evidence, &job->options, &callbacks, result.n,
                        result.variable, result.state, &report, &err);
        status = done < 0 ? cli_fail(done, &err) : finish(answer, &result);
    }
    if (status == CLI_DONE) {
        tell_search(job, &report);
    }
    free(result.state);
    gbs_free(result.variable);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    gbs_task task;
} tasks[] = {{"PR", GBS_TASK_PR},
             {"MAR", GBS_TASK_MAR},
             {"MAP", GBS_TASK_MAP},
             {"MPE", GBS_TASK_MAP},
             {"MMAP", GBS_TASK_MMAP}};

static int find_task(const char *word, size_t *task)
{
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        if (strcmp(tasks[i].word, word) == 0) {
            *task = i;
            return CLI_DONE;
        }
    }
    return cli_error(CLI_USAGE, "uai: TASK %s: expected PR, MAR, MAP, MPE or MMAP", word);
}

/* Makes EVID an option for a file of evidence, even if its name looks like a list of states. */
static int name_evidence(cli_arguments *arguments, char **name)
{
    const char *text = arguments->operand[1];
    const size_t size = strlen(text) + 3;
    *name = malloc(size);
    if (*name == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    (void)snprintf(*name, size, "%s%s", strchr(text, '=') != NULL && text[0] != '/' ? "./" : "",
                   text);
    arguments->evidence[0] = *name;
    arguments->n_evidence = 1;
    return CLI_DONE;
}

static int answer_task(cli_job *job, cli_answer *answer, gbs_task task)
{
    switch (task) {
    case GBS_TASK_PR:
        return cli_uai_log_z(job, answer);
    case GBS_TASK_MAR:
        return cli_uai_mar(job, answer);
    case GBS_TASK_MAP:
        return cli_uai_map(job, answer);
    case GBS_TASK_MMAP:
        break;
    }
    return answer_mmap(job, answer);
}

static int run_uai(cli_arguments *arguments)
{
    cli_job job;
    cli_answer answer;
    char *evidence = NULL;
    double time_s = 0.0;
    size_t task = 0;
    memset(&job, 0, sizeof job);
    memset(&answer, 0, sizeof answer);
    int status = CLI_DONE;
    CLI_TRY(find_task(arguments->operand[3], &task));
    if (strcmp(arguments->operand[0], "-") == 0) {
        CLI_TRY(cli_error(
            CLI_USAGE, "uai: MODEL cannot be standard input: the answer is named after its file"));
    }
    CLI_TRY(read_limits(arguments, &time_s));
    CLI_TRY(cli_answer_init(&answer, arguments, tasks[task].word));
    if (arguments->uai_mpe && tasks[task].task == GBS_TASK_MAP) {
        answer.word = "MPE";
    }
    CLI_TRY(name_evidence(arguments, &evidence));
    CLI_TRY(cli_load(&job, arguments, arguments->operand[0]));
    limit_time(&job, time_s);
    cli_signals_catch();
    CLI_TRY(answer_task(&job, &answer, tasks[task].task));

cleanup:
    cli_job_free(&job);
    cli_answer_free(&answer);
    free(evidence);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/uai.def"
};

const cli_verb cli_verb_uai = {
    .name = "uai",
    CLI_TAKES(options),
    .n_operands = 4,
    .operands = "MODEL EVID QUERY TASK",
    .what = "command line of the UAI competitions",
    .notes = "TASK is PR, MAR, MAP, MPE or MMAP; the answer goes to MODEL.TASK in the working\n"
             "folder. QUERY is read only for MMAP. The environment variables INF_TIME (CPU\n"
             "seconds) and INF_MEMORY (GiB) are limits; a run that they end has exit\n"
             "status 0 if there is an answer, and 1 if there is none.\n",
    .example = "gibbsite uai examples/grid.uai /dev/null - PR\n",
    .run = run_uai,
    .names_at_once = 1,
};
