/* SPDX-License-Identifier: Apache-2.0 */
/* Reads input files: the model, a scan and initial states. samples.c reads observations. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draws/kept_draws.h"
#include "job.h"
#include "shares.h"
#include "src/core/base/plural.h"

/* @return whether reading has taken longer than --time. The time of reading is not subtracted from
 *         --time when the method of the run is chosen. */
static int is_late(void *context)
{
    const cli_job *job = context;
    return cli_clock_s() - job->begun_s > job->arguments->run.time_s;
}

int cli_read_picture(const cli_job *job, const char *path, gbs_image *image)
{
    const cli_arguments *arguments = job->arguments;
    const gbs_image_read_options read = {
        .size = sizeof read,
        .warn = cli_warn,
        .context = (void *)(uintptr_t)arguments, /* cli_warn() only reads the context */
        .stop = arguments->run.time_s > 0.0 ? is_late : NULL,
        .stop_context = (void *)(uintptr_t)job}; /* is_late() only reads the context */
    gbs_error err = {GBS_OK, ""};
    const gbs_status status = gbs_image_read(path, &read, image, &err);
    return status < 0 ? cli_fail_input(status, &err) : CLI_DONE;
}

int cli_load_model(cli_job *job, const cli_arguments *arguments, const char *path)
{
    gbs_error err = {GBS_OK, ""};
    memset(job, 0, sizeof *job);
    job->arguments = arguments;
    job->output = arguments->output;
    job->summary = arguments->summary;
    job->report = arguments->report;
    job->drawing = arguments->drawing;
    job->read.size = sizeof job->read;
    job->read.format = arguments->from;
    job->read.lenient = arguments->lenient;
    job->read.normalize_cpts = arguments->normalize_cpts;
    job->read.table_order = arguments->table_order;
    job->read.evidence_format = arguments->evidence_format;
    job->read.file_evidence = arguments->file_evidence;
    job->read.convention = arguments->convention;
    job->read.diagonal = arguments->diagonal;
    job->read.vartype = arguments->vartype;
    job->read.offset = arguments->offset;
    job->read.weight_scale = arguments->weight_scale;
    job->read.states = (uint32_t)arguments->colors;
    job->read.warn = cli_warn;
    job->begun_s = cli_clock_s();
    job->read.stop = arguments->run.time_s > 0.0 ? is_late : NULL;
    job->read.stop_context = job;
    job->read.context = (void *)(uintptr_t)arguments; /* cli_warn() only reads the context */
    if (strcmp(path, "-") == 0 && arguments->from == NULL) {
        return cli_error(CLI_USAGE,
                         "standard input has no file name extension: name its format with --from");
    }
    if (arguments->from == NULL && cli_is_table(path)) {
        const int fits = cli_is_verb(arguments->verb, "fit");
        return cli_error(CLI_USAGE,
                         "%s: expected a model, not a table: type gibbsite %s MODEL %s%s", path,
                         fits ? "fit" : "marginals", fits ? "" : "--cases ", path);
    }
    if (cli_is_divided(path)) {
        return cli_load_folder(job, path);
    }
    gbs_status status = gbs_model_read(path, &job->read, &job->model, &err);
    if (status < 0) {
        return cli_fail_input(status, &err);
    }
    if (arguments->verbose) {
        cli_note(arguments, "%s: %" PRIu32 " variable%s, %zu factor%s, digest %s", path,
                 gbs_model_n_variables(job->model), gbsi_plural(gbs_model_n_variables(job->model)),
                 gbs_model_n_factors(job->model), gbsi_plural(gbs_model_n_factors(job->model)),
                 gbs_model_digest(job->model));
    }
    return CLI_DONE;
}

/* Checks that standard input is read only once. */
static int check_standard_input(const cli_arguments *arguments, const char *path)
{
    const char *reader[] = {path,
                            arguments->virtual_evidence,
                            arguments->scan_file,
                            arguments->start,
                            cli_query_file(arguments->query),
                            arguments->dummy_edges};
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

int cli_load_samples(cli_job *job, const cli_arguments *arguments, const char *path)
{
    memset(job, 0, sizeof *job);
    CLI_PASS(check_standard_input(arguments, path));
    CLI_PASS(cli_load_model(job, arguments, path));
    cli_tell_numbers(job);
    CLI_PASS(cli_load_evidence(job, path));
    return cli_load_options(job);
}

int cli_load_options(cli_job *job)
{
    const cli_arguments *arguments = job->arguments;
    gbs_error err = {GBS_OK, ""};
    int status = CLI_DONE;
    if (arguments->scan_file != NULL) {
        gbs_status done = gbs_scan_read(arguments->scan_file, job->model, &job->sequence,
                                        &job->sequence_length, &err);
        status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    }
    if (status == CLI_DONE && arguments->start != NULL) {
        job->start = calloc((size_t)gbs_model_n_variables(job->model) + 1, sizeof *job->start);
        CLI_PASS(CLI_HAVE(job->start));
        gbs_status done =
            gbs_state_read(arguments->start, job->model, &job->read, job->start, &err);
        status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    }
    job->options = arguments->run;
    job->options.sequence = job->sequence;
    job->options.sequence_length = job->sequence_length;
    job->options.start = job->start;
    if (status == CLI_DONE && arguments->targets != NULL && !arguments->run.restarts) {
        return cli_error(CLI_USAGE,
                         "--target applies with --restarts only; to choose variables, type --%s",
                         cli_find_option("query", arguments->verb) != NULL ? "query" : "monitor");
    }
    if (status == CLI_DONE && arguments->targets != NULL) {
        status = cli_load_targets(job);
    }
    if (status == CLI_DONE && arguments->dummy_edges != NULL) {
        status = cli_load_edges(job, arguments->dummy_edges);
    }
    return status;
}

int cli_load(cli_job *job, const cli_arguments *arguments, const char *path)
{
    int status = cli_load_samples(job, arguments, path);
    if (status == CLI_DONE && job->n_samples > 1 && !cli_given(arguments, "evidence-index")) {
        status = cli_error(CLI_USAGE,
                           "the evidence holds %zu sample%s; choose one with --evidence-index K",
                           job->n_samples, gbsi_plural(job->n_samples));
    }
    return status == CLI_DONE ? cli_observe_sample(job, (size_t)arguments->evidence_index) : status;
}

void cli_job_free(cli_job *job)
{
    for (int i = 0; job->set != NULL && i < job->arguments->n_evidence; i++) {
        gbsi_evidence_set_free(job->set[i]);
    }
    free(job->set);
    gbsi_evidence_set_free(job->own);
    gbs_run_free(job->run);
    cli_free_share(job);
    free(job->start);
    free(job->target);
    free(job->dummy_ring);
    gbs_free(job->dummy_edges);
    gbs_free(job->sequence);
    gbs_evidence_free(job->evidence);
    gbs_model_free(job->model);
    memset(job, 0, sizeof *job);
}
