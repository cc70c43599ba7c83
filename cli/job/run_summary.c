/* SPDX-License-Identifier: Apache-2.0 */
/* --summary FILE writes the run as JSON; --report FILE writes a page made from this JSON. */
#include <stdlib.h>
#include <string.h>

#include "draws/diagnosis.h"
#include "gibbsite/report.h"
#include "job.h"

static int is_plain(const char *word)
{
    return word[0] != '\0' &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                        "-_./=,:+@%") == strlen(word);
}

/* Writes the command line, quoted so that a shell reads the same words. */
static int command_text(const cli_arguments *arguments, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < arguments->argc; i++) {
        const char *word = i == 0 ? "gibbsite" : arguments->argv[i];
        int quoted = !is_plain(word);
        if (used + 4 * strlen(word) + 4 >= size) {
            return 0;
        }
        if (i > 0) {
            text[used++] = ' ';
        }
        if (quoted) {
            text[used++] = '\'';
        }
        for (; *word != '\0'; word++) {
            if (*word == '\'') {
                memcpy(text + used, "'\\''", 4);
                used += 4;
            } else {
                text[used++] = *word;
            }
        }
        if (quoted) {
            text[used++] = '\'';
        }
    }
    text[used] = '\0';
    return 1;
}

char *cli_command_line(const cli_arguments *arguments)
{
    size_t size = 1;
    for (int i = 0; i < arguments->argc; i++) {
        size +=
            4 * strlen(arguments->argv[i]) + 64; /* quoting turns a quote into four characters */
    }
    char *command = malloc(size);
    if (command != NULL && !command_text(arguments, command, size)) {
        free(command);
        command = NULL;
    }
    return command;
}

/* Fills in facts about the run that the library does not know, such as the command line.
 * @param command out: text that the caller must free(). */
static int tell_about(const cli_job *job, gbs_summary_about *about, const double *log_p_evidence,
                      char **command)
{
    const cli_arguments *arguments = job->arguments;
    *command = cli_command_line(arguments);
    if (*command == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    *about = (gbs_summary_about){
        .size = sizeof *about,
        .options = &job->options,
        .model = arguments->operand[0],
        .command = *command,
        .evidence = arguments->evidence,
        .n_evidence = (size_t)arguments->n_evidence,
        .evidence_index = job->sample,
        .virtual_evidence = arguments->virtual_evidence,
        .likelihood = arguments->likelihood,
        .start = arguments->start,
        .scan_file = arguments->scan_file,
        .peak_rss_bytes = cli_peak_rss_bytes(),
        .log_p_evidence = log_p_evidence,
        .query = job->query,
        .n_query = job->n_query,
        .rows = job->rows,
        .columns = job->columns,
        .observed = job->evidence,
    };
    return CLI_DONE;
}

static int write_text(const char *path, const char *text, size_t n)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    gbs_status status = gbs_output_open(path, &output, &err);
    if (status >= 0) {
        gbsi_output_bytes(output, text, n);
        status = gbs_output_commit(output, &err);
    }
    return status < 0 ? cli_fail_output(path, status, &err) : CLI_DONE;
}

int cli_write_report(const char *path, const gbs_report_source *source, size_t n)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    gbs_status status = gbs_output_open(path, &output, &err);
    if (status < 0) {
        return cli_fail_output(path, status, &err);
    }
    status = gbs_report_html(source, n, output, &err);
    if (status < 0) {
        gbs_output_discard(output);
        return cli_fail_input(status, &err);
    }
    status = gbs_output_commit(output, &err);
    return status < 0 ? cli_fail_output(path, status, &err) : CLI_DONE;
}

/* Makes a JSON object of the monitored quantities.
 * @param text out: text that the caller must free with gbs_free(); NULL without --monitor. */
static int monitored_text(cli_diagnosis *traces, char **text)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *memory = NULL;
    size_t n = 0;
    gbs_status status = GBS_OK;
    if (traces == NULL || (status = gbs_output_open_memory(&memory, &err)) < 0) {
        return status < 0 ? cli_fail(status, &err) : CLI_DONE;
    }
    gbsi_output_text(memory, "{\"stride\": ");
    gbsi_output_uint(memory, traces->stride);
    gbsi_output_text(memory, ", ");
    cli_diagnosis_json(memory, traces);
    gbsi_output_text(memory, ",\n  \"traces\": ");
    if (cli_diagnosis_choose(traces, CLI_SHOWN_DRAWS) != CLI_DONE) {
        gbs_output_discard(memory);
        return CLI_FAILED;
    }
    if (traces->drawn.n_draws > 0) {
        status = cli_diagnosis_draws(memory, traces, &err);
    } else {
        gbsi_output_text(memory, "null");
    }
    if (status < 0) {
        gbs_output_discard(memory);
        return cli_fail(status, &err);
    }
    gbsi_output_text(memory, "}");
    status = gbs_output_take(memory, text, &n, &err);
    return status < 0 ? cli_fail(status, &err) : CLI_DONE;
}

int cli_report_answer(const cli_job *job, void (*write)(gbs_output *output, const void *answer),
                      const void *answer)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *memory = NULL;
    char *text = NULL;
    size_t n = 0;
    if (job->report == NULL) {
        return CLI_DONE;
    }
    char *command = cli_command_line(job->arguments);
    CLI_PASS(CLI_HAVE(command));
    gbs_status status = gbs_output_open_memory(&memory, &err);
    if (status >= 0) {
        write(memory, answer);
        gbsi_output_text(memory, ",\n  \"command\": ");
        gbsi_output_json_string(memory, command);
        gbsi_output_text(memory, "\n}\n");
        status = gbs_output_take(memory, &text, &n, &err);
    }
    free(command);
    if (status < 0) {
        return cli_fail(status, &err);
    }
    const gbs_report_source source = {job->arguments->operand[0], text, n};
    const int written = cli_write_report(job->report, &source, 1);
    gbs_free(text);
    return written;
}

/* Makes the summary of the run in JSON. @param text out: text that the caller must free with
 * gbs_free(). */
static int summary_text(const cli_job *job, char **text, size_t *n)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *memory = NULL;
    gbs_summary_about about;
    char *command = NULL;
    char *monitored = NULL;
    const double log_p = cli_log_p_evidence(job, gbs_run_report(job->run)->log_z);
    int told = tell_about(job, &about, &log_p, &command);
    if (told == CLI_DONE) {
        told = monitored_text(job->traces, &monitored);
    }
    if (told != CLI_DONE) {
        free(command);
        return told;
    }
    about.monitored = monitored;
    gbs_status status = gbs_output_open_memory(&memory, &err);
    if (status >= 0) {
        status = gbs_run_summary(job->run, &about, memory, &err);
        if (status >= 0) {
            status = gbs_output_take(memory, text, n, &err);
        } else {
            gbs_output_discard(memory);
        }
    }
    gbs_free(monitored);
    free(command);
    return status < 0 ? cli_fail(status, &err) : CLI_DONE;
}

int cli_summary(const cli_job *job)
{
    char *text = NULL;
    size_t n = 0;
    if (job->summary == NULL && job->report == NULL) {
        return CLI_DONE;
    }
    int status = CLI_DONE;
    CLI_TRY(summary_text(job, &text, &n));
    if (job->summary != NULL) {
        CLI_TRY(write_text(job->summary, text, n));
    }
    if (job->report != NULL) {
        const gbs_report_source source = {job->arguments->operand[0], text, n};
        CLI_TRY(cli_write_report(job->report, &source, 1));
    }

cleanup:
    gbs_free(text);
    return status;
}
