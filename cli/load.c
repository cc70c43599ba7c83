/* SPDX-License-Identifier: Apache-2.0 */
/* Files in: the model, what was observed, a scan, a start. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

/* NAME=STATE lists hold '='; a path that does is told apart by a leading '/', './' or '../'. */
static int is_evidence_file(const char *text)
{
    return strchr(text, '=') == NULL || text[0] == '/' || strncmp(text, "./", 2) == 0 ||
           strncmp(text, "../", 3) == 0;
}

int cli_load_model(cli_job *job, const cli_arguments *arguments, const char *path)
{
    gbs_error err = {GBS_OK, ""};
    memset(job, 0, sizeof *job);
    job->arguments = arguments;
    job->read.format = arguments->from;
    job->read.lenient = arguments->lenient;
    job->read.normalize_cpts = arguments->normalize_cpts;
    job->read.evidence_format = arguments->evidence_format;
    job->read.convention = arguments->convention;
    job->read.diagonal = arguments->diagonal;
    job->read.weight_scale = arguments->weight_scale;
    job->read.states = (uint32_t)arguments->colors;
    job->read.warn = cli_warn;
    job->read.context = (void *)(uintptr_t)arguments; /* cli_warn() only reads it */
    if (strcmp(path, "-") == 0 && arguments->from == NULL) {
        return cli_error(CLI_USAGE, "standard input has no ending: name its format with --from");
    }
    gbs_status status = gbs_model_read(path, &job->read, &job->model, &err);
    if (status < 0) {
        return cli_fail_input(status, &err);
    }
    if (arguments->verbose) {
        cli_note(arguments, "%s: %" PRIu32 " variables, %zu factors, digest %s", path,
                 gbs_model_n_variables(job->model), gbs_model_n_factors(job->model),
                 gbs_model_digest(job->model));
    }
    return CLI_DONE;
}

/* A file of several samples asks for a choice: the first one in silence would be a wrong answer. */
static int has_second_sample(const cli_job *job, const char *path)
{
    gbs_error err = {GBS_OK, ""};
    gbs_evidence *scratch = NULL;
    gbs_read_options read = job->read;
    read.warn = NULL;
    int found = 0;
    if (gbs_evidence_new(job->model, &scratch, &err) == GBS_OK) {
        found = gbs_evidence_read(scratch, path, 1, &read, &err) >= 0;
    }
    gbs_evidence_free(scratch);
    return found;
}

static int load_evidence_file(cli_job *job, const char *path)
{
    const cli_arguments *arguments = job->arguments;
    gbs_error err = {GBS_OK, ""};
    gbs_status status = gbs_evidence_read(job->evidence, path, (uint32_t)arguments->evidence_index,
                                          &job->read, &err);
    if (status < 0) {
        return cli_fail_input(status, &err);
    }
    if (!cli_given(arguments, "evidence-index") && strcmp(path, "-") != 0 &&
        has_second_sample(job, path)) {
        return cli_error(CLI_USAGE, "%s: holds several samples; choose one with --evidence-index K",
                         path);
    }
    return CLI_DONE;
}

static int load_evidence(cli_job *job)
{
    const cli_arguments *arguments = job->arguments;
    gbs_error err = {GBS_OK, ""};
    int n_files = 0;
    int status = CLI_DONE;
    for (int i = 0; i < arguments->n_evidence; i++) {
        n_files += is_evidence_file(arguments->evidence[i]);
    }
    if (n_files == 0 &&
        (cli_given(arguments, "evidence-index") || arguments->evidence_format != NULL)) {
        return cli_error(CLI_USAGE, "%s applies to an evidence file, and none is given",
                         arguments->evidence_format != NULL ? "--evidence-format"
                                                            : "--evidence-index");
    }
    if (arguments->n_evidence == 0 && arguments->virtual_evidence == NULL) {
        return CLI_DONE;
    }
    gbs_status done = gbs_evidence_new(job->model, &job->evidence, &err);
    if (done < 0) {
        return cli_fail(done, &err);
    }
    for (int i = 0; i < arguments->n_evidence && status == CLI_DONE; i++) {
        const char *text = arguments->evidence[i];
        status = is_evidence_file(text) ? load_evidence_file(job, text)
                                        : cli_observe_list(job->model, job->evidence, text);
    }
    if (status == CLI_DONE && arguments->virtual_evidence != NULL) {
        done =
            gbs_evidence_read_virtual(job->evidence, arguments->virtual_evidence, &job->read, &err);
        status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    }
    return status;
}

/* Only one reader can have standard input. */
static int check_standard_input(const cli_arguments *arguments, const char *path)
{
    const char *reader[] = {path, arguments->virtual_evidence, arguments->scan_file,
                            arguments->start};
    int n = 0;
    for (size_t i = 0; i < sizeof reader / sizeof reader[0]; i++) {
        n += reader[i] != NULL && strcmp(reader[i], "-") == 0;
    }
    for (int i = 0; i < arguments->n_evidence; i++) {
        n += strcmp(arguments->evidence[i], "-") == 0;
    }
    return n <= 1 ? CLI_DONE
                  : cli_error(CLI_USAGE, "standard input (-) can be only one of the inputs");
}

int cli_load(cli_job *job, const cli_arguments *arguments, const char *path)
{
    gbs_error err = {GBS_OK, ""};
    memset(job, 0, sizeof *job);
    int status = check_standard_input(arguments, path);
    if (status == CLI_DONE) {
        status = cli_load_model(job, arguments, path);
    }
    if (status == CLI_DONE) {
        status = load_evidence(job);
    }
    if (status == CLI_DONE && arguments->scan_file != NULL) {
        gbs_status done = gbs_scan_read(arguments->scan_file, job->model, &job->sequence,
                                        &job->sequence_length, &err);
        status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    }
    if (status == CLI_DONE && arguments->start != NULL) {
        job->start = calloc((size_t)gbs_model_n_variables(job->model) + 1, sizeof *job->start);
        if (job->start == NULL) {
            return cli_error(CLI_FAILED, "out of memory");
        }
        gbs_status done = gbs_state_read(arguments->start, job->model, job->start, &err);
        status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    }
    job->options = arguments->run;
    job->options.sequence = job->sequence;
    job->options.sequence_length = job->sequence_length;
    job->options.start = job->start;
    return status;
}

void cli_job_free(cli_job *job)
{
    gbs_run_free(job->run);
    free(job->start);
    gbs_free(job->sequence);
    gbs_evidence_free(job->evidence);
    gbs_model_free(job->model);
    memset(job, 0, sizeof *job);
}
