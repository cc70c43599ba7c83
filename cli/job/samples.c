/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence: lists of states, and files with one or several samples. A verb answers several samples
 * one after the other, as if it were called with --evidence-index for each sample. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "draws/series.h"
#include "job.h"
#include "ranks.h"
#include "src/core/base/plural.h"
#include "src/files/models/format_names.h"

/* @return whether the text is the path of a file. A text with '=' is a list of NAME=STATE unless it
 *         begins with '/', './' or '../'. */
static int is_evidence_file(const char *text)
{
    return strchr(text, '=') == NULL || text[0] == '/' || strncmp(text, "./", 2) == 0 ||
           strncmp(text, "../", 3) == 0;
}

static int check_options(const cli_arguments *arguments)
{
    for (int i = 0; i < arguments->n_evidence; i++) {
        if (is_evidence_file(arguments->evidence[i])) {
            return CLI_DONE;
        }
    }
    if (cli_given(arguments, "evidence-index") || arguments->evidence_format != NULL) {
        return cli_error(CLI_USAGE, "%s applies to an evidence file; give one with -e FILE",
                         arguments->evidence_format != NULL ? "--evidence-format"
                                                            : "--evidence-index");
    }
    return CLI_DONE;
}

/* Counts the samples. The sample of a file with only one sample is combined with every sample of
 * another file. Files with several samples must have equal numbers of samples. */
static int count_samples(cli_job *job)
{
    const cli_arguments *arguments = job->arguments;
    const char *path = NULL;
    job->n_samples = 1;
    for (int i = 0; i < arguments->n_evidence; i++) {
        size_t n = job->set[i] == NULL ? 1 : gbsi_evidence_set_size(job->set[i]);
        if (n == 1) {
            continue;
        }
        if (path != NULL && n != job->n_samples) {
            return cli_error(CLI_USAGE, "%s holds %zu evidence sample%s, %s %zu", path,
                             job->n_samples, gbsi_plural(job->n_samples), arguments->evidence[i],
                             n);
        }
        path = arguments->evidence[i];
        job->n_samples = n;
    }
    if (arguments->evidence_index >= job->n_samples) {
        return cli_error(CLI_USAGE,
                         "--evidence-index %" PRIu64 ": the evidence has %zu sample%s, counted "
                         "from 0",
                         arguments->evidence_index, job->n_samples, gbsi_plural(job->n_samples));
    }
    return CLI_DONE;
}

/* Reads the evidence that the model file contains. Warnings about the file were printed when it was
 * read as a model. */
static int load_own(cli_job *job, const char *path)
{
    const char *from = job->arguments->from;
    gbs_error err = {GBS_OK, ""};
    gbs_read_options read = job->read;
    if (!job->arguments->file_evidence) {
        return CLI_DONE;
    }
    from = from == NULL ? gbsi_model_format_of(path) : from;
    if (from == NULL || strcmp(from, "xmlbif") != 0 || strcmp(path, "-") == 0) {
        return cli_error(
            CLI_USAGE, "--file-evidence: expected an XMLBIF file, the only kind whose observations "
                       "are read; give evidence with -e");
    }
    read.evidence_format = NULL;
    read.warn = NULL;
    const gbs_status done = gbsi_evidence_set_read(job->model, path, &read, &job->own, &err);
    return done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
}

int cli_load_evidence(cli_job *job, const char *path)
{
    const cli_arguments *arguments = job->arguments;
    gbs_error err = {GBS_OK, ""};
    int status = check_options(arguments);
    if (status != CLI_DONE) {
        return status;
    }
    job->set = calloc((size_t)arguments->n_evidence + 1, sizeof(gbsi_evidence_set *));
    CLI_PASS(CLI_HAVE(job->set));
    for (int i = 0; i < arguments->n_evidence; i++) {
        const char *text = arguments->evidence[i];
        gbs_status done = GBS_OK;
        if (is_evidence_file(text)) {
            status = strchr(text, '=') == NULL ? cli_not_evidence(job->model, text) : CLI_DONE;
            if (status != CLI_DONE) {
                return status;
            }
            done = gbsi_evidence_set_read(job->model, text, &job->read, &job->set[i], &err);
            if (done < 0 && cli_is_table(text)) {
                return cli_error(CLI_INPUT, "%s; for a table of cases, type --cases %s",
                                 err.message, text);
            }
        }
        if (done < 0) {
            return cli_fail_input(done, &err);
        }
    }
    status = load_own(job, path);
    return status == CLI_DONE ? count_samples(job) : status;
}

/* ---- one sample -------------------------------------------------------------------------- */

int cli_observe_sample(cli_job *job, size_t sample)
{
    const cli_arguments *arguments = job->arguments;
    gbs_error err = {GBS_OK, ""};
    int status = CLI_DONE;
    job->sample = sample;
    if (arguments->n_evidence == 0 && arguments->virtual_evidence == NULL &&
        arguments->likelihood == NULL && job->own == NULL) {
        return CLI_DONE;
    }
    gbs_status done = gbs_evidence_new(job->model, &job->evidence, &err);
    if (done < 0) {
        return cli_fail(done, &err);
    }
    if (job->own != NULL) {
        done = gbsi_evidence_set_observe(job->own, 0, job->evidence, &err);
        status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    }
    for (int i = 0; i < arguments->n_evidence && status == CLI_DONE; i++) {
        const gbsi_evidence_set *set = job->set[i];
        if (set == NULL) {
            done = gbs_evidence_add(job->evidence, arguments->evidence[i], &err);
            if (done == GBS_ERR_ARGUMENT) {
                return cli_error(CLI_USAGE, "%s%s", err.message,
                                 cli_separators(arguments->evidence[i]));
            }
            status = done < 0 ? cli_fail(done, &err) : CLI_DONE;
            continue;
        }
        size_t index = gbsi_evidence_set_size(set) == 1 ? 0 : sample;
        done = gbsi_evidence_set_observe(set, index, job->evidence, &err);
        status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    }
    if (status == CLI_DONE && arguments->likelihood != NULL) {
        done = gbs_evidence_add_likelihood(job->evidence, arguments->likelihood, &err);
        if (done >= 0 && strchr(arguments->likelihood, '|') == NULL) {
            cli_note(arguments,
                     "--likelihood %s: states that are not named have likelihood 0, as with -e; "
                     "name them too, as in fever=yes:0.8|no:0.2",
                     arguments->likelihood);
        }
        status = done < 0 ? cli_fail(done, &err) : CLI_DONE;
    }
    if (status == CLI_DONE && arguments->virtual_evidence != NULL) {
        if (strchr(arguments->virtual_evidence, '=') != NULL &&
            access(arguments->virtual_evidence, F_OK) != 0) {
            return cli_error(CLI_USAGE,
                             "--virtual-evidence %s: expected a file; what is typed has an option "
                             "of its own: type --likelihood '%s'",
                             arguments->virtual_evidence, arguments->virtual_evidence);
        }
        done =
            gbs_evidence_read_virtual(job->evidence, arguments->virtual_evidence, &job->read, &err);
        status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    }
    return status;
}

static void forget_sample(cli_job *job)
{
    gbs_run_free(job->run);
    gbs_evidence_free(job->evidence);
    cli_series_free(job->series);
    job->series = NULL;
    job->run = NULL;
    job->evidence = NULL;
}

/* ---- all samples ------------------------------------------------------------------------- */

/* Checks that the result of each sample can go to a file of its own. */
static int check_target(const cli_job *job, const char *path)
{
    struct stat is;
    const char *likelihoods = job->arguments->virtual_evidence;
    if (likelihoods != NULL && strcmp(likelihoods, "-") == 0) {
        return cli_error(CLI_USAGE,
                         "--virtual-evidence -: standard input can be read for one sample, the "
                         "evidence holds %zu; choose one with --evidence-index K",
                         job->n_samples);
    }
    if (path != NULL && strcmp(path, "-") != 0 && (stat(path, &is) != 0 || S_ISREG(is.st_mode))) {
        return CLI_DONE;
    }
    return cli_error(CLI_USAGE,
                     "the evidence holds %zu sample%s, one result each: give -o FILE for FILE.0, "
                     "FILE.1, ..., or choose one with --evidence-index K",
                     job->n_samples, gbsi_plural(job->n_samples));
}

/* @return FILE.k, or FILE.k.gz for FILE.gz; FILE.k.html for FILE.html and FILE.k.svg for FILE.svg,
 *         because browsers look at the extension; NULL if memory is short. */
static char *sample_path(const char *path, size_t sample)
{
    size_t size = strlen(path) + 24;
    char *text = malloc(size);
    if (text != NULL) {
        size_t n = gbsi_unpacked_length(path);
        n -= n > 5 && strncmp(path + n - 5, ".html", 5) == 0  ? 5
             : n > 4 && strncmp(path + n - 4, ".svg", 4) == 0 ? 4
                                                              : 0;
        (void)snprintf(text, size, "%.*s.%zu%s", (int)n, path, sample, path + n);
    }
    return text;
}

/* Answers one sample. CLI_SILENT is the success of a rank that does not print. */
static int answer_sample(cli_job *job, cli_sample_answer *answer, void *context)
{
    if (!cli_speaks()) {
        job->output = NULL;
        job->summary = NULL;
        job->report = NULL;
        job->drawing = NULL;
    }
    const int status = answer(job, context);
    return status == CLI_SILENT ? CLI_DONE : status;
}

/* The files of one sample: their paths, and where the job keeps them. */
typedef struct sample_file {
    const char *given;
    const char **kept;
    char *path;
} sample_file;

static int answer_to_files(cli_job *job, size_t sample, cli_sample_answer *answer, void *context)
{
    const cli_arguments *arguments = job->arguments;
    sample_file files[] = {{arguments->output, &job->output, NULL},
                           {arguments->summary, &job->summary, NULL},
                           {arguments->series, &job->series_path, NULL},
                           {arguments->report, &job->report, NULL},
                           {arguments->drawing, &job->drawing, NULL}};
    enum { N = sizeof files / sizeof files[0] };
    int status = CLI_DONE;
    for (int i = 0; i < N && status == CLI_DONE; i++) {
        files[i].path = files[i].given == NULL ? NULL : sample_path(files[i].given, sample);
        status = files[i].given == NULL ? CLI_DONE : CLI_HAVE(files[i].path);
        *files[i].kept = files[i].path;
    }
    if (status == CLI_DONE) {
        cli_note(arguments, "evidence sample %zu of %zu: %s", sample, job->n_samples, job->output);
        status = cli_observe_sample(job, sample);
        status = status == CLI_DONE ? answer_sample(job, answer, context) : status;
    }
    forget_sample(job);
    for (int i = 0; i < N; i++) {
        free(files[i].path);
        *files[i].kept = NULL;
    }
    return status;
}

/* Gives the files of a sample their final names before the next sample is answered. */
static int name_files(const cli_arguments *arguments)
{
    gbs_error err = {GBS_OK, ""};
    if (arguments->verb->names_at_once) {
        return CLI_DONE;
    }
    const gbs_status done = gbsi_output_set_end(1, &err);
    gbsi_output_set_begin();
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

int cli_each_sample(cli_job *job, cli_sample_answer *answer, void *context)
{
    const cli_arguments *arguments = job->arguments;
    int status = CLI_DONE;
    if (job->n_samples == 1 || cli_given(arguments, "evidence-index")) {
        status = cli_observe_sample(job, (size_t)arguments->evidence_index);
        return status == CLI_DONE ? answer_sample(job, answer, context) : status;
    }
    status = check_target(job, arguments->output);
    int stopped = 0;
    int doubtful = 0;
    for (size_t k = 0; k < job->n_samples && status == CLI_DONE; k++) {
        status = answer_to_files(job, k, answer, context);
        if ((status == CLI_STOPPED || status == CLI_DOUBTFUL) && !cli_signals_caught()) {
            stopped |= status == CLI_STOPPED; /* a limit applies to each run separately */
            doubtful |= status == CLI_DOUBTFUL;
            status = CLI_DONE;
        } else if (status == CLI_DONE && cli_signals_caught() && k + 1 < job->n_samples) {
            status = CLI_STOPPED;
        }
        status = status == CLI_DONE ? name_files(arguments) : status;
        if (status != CLI_DONE) {
            (void)cli_error(status, "the work ended at evidence sample %zu of %zu, counted from 0",
                            k, job->n_samples);
        }
    }
    return status != CLI_DONE ? status : doubtful ? CLI_DOUBTFUL : stopped ? CLI_STOPPED : CLI_DONE;
}
