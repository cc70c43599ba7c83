/* SPDX-License-Identifier: Apache-2.0 */
/* --distribute model: every rank has a share of the variables. The shares come from a model that
 * all ranks read, or from a folder that gibbsite-mpi partition made. */
#include "shares.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ranks.h"
#include "src/core/base/plural.h"

void cli_share_path(const char *folder, uint32_t rank, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/%06" PRIu32 ".share", folder, rank);
}

void cli_variables_path(const char *folder, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/variables.gbm", folder);
}

int cli_is_folder(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

int cli_is_divided(const char *path)
{
    char share[4096];
    struct stat entry;
    cli_share_path(path, 0, share, sizeof share);
    return cli_is_folder(path) && stat(share, &entry) == 0;
}

int cli_load_folder(cli_job *job, const char *folder)
{
    const cli_arguments *arguments = job->arguments;
    gbs_error err = {GBS_OK, ""};
    char path[4096];
    struct stat entry;
    if (cli_here.ranks == NULL) {
        return cli_error(CLI_USAGE,
                         "%s is a folder, of a model divided for several processes: type mpirun -n "
                         "RANKS gibbsite-mpi %s %s",
                         folder, cli_is_verb(arguments->verb, "sample") ? "sample" : "marginals",
                         folder);
    }
    if (arguments->n_evidence > 0 || arguments->virtual_evidence != NULL ||
        arguments->likelihood != NULL || arguments->file_evidence) {
        return cli_error(CLI_USAGE,
                         "%s: evidence is given where the model is divided: gibbsite-mpi "
                         "partition MODEL -e ...",
                         folder);
    }
    cli_variables_path(folder, path, sizeof path);
    if (stat(path, &entry) != 0) { /* the file of variables is written last */
        return cli_error(CLI_INPUT, "%s is not there: the division was not finished, divide again",
                         path);
    }
    cli_here.by_model = 1;
    gbs_status status = gbs_model_read(path, NULL, &job->model, &err);
    if (status >= 0) {
        cli_share_path(folder, cli_here.ranks->rank, path, sizeof path);
        status = gbs_share_read(path, &job->share, &err);
    }
    return status < 0 ? cli_fail_input(status, &err) : CLI_DONE;
}

int cli_meet_divided(const cli_job *job)
{
    const gbs_ranks *ranks = cli_here.ranks;
    gbs_error err = {GBS_OK, ""};
    int first = cli_here.by_model;
    if (ranks == NULL) {
        return CLI_DONE;
    }
    const gbs_status status = ranks->broadcast(ranks->context, 0, &first, sizeof first, &err);
    if (status < 0) {
        return cli_meet(cli_fail(status, &err));
    }
    return cli_meet(first == cli_here.by_model
                        ? CLI_DONE
                        : cli_error(CLI_FAILED, "%s is %s, rank 0 has %s: all ranks need the same",
                                    job->arguments->operand[0],
                                    first ? "a whole model" : "a folder of shares",
                                    first ? "a folder of shares" : "a whole model"));
}

/* Names the variables of the run, and fails if the variables of a folder belong to another
 * model. */
static gbs_status name_variables(cli_job *job, gbs_error *err)
{
    char path[4096];
    const gbs_status status = gbs_run_name_variables(job->run, job->model, err);
    if (status >= 0 || !cli_is_divided(job->arguments->operand[0])) {
        return status;
    }
    cli_variables_path(job->arguments->operand[0], path, sizeof path);
    (void)snprintf(err->message, sizeof err->message,
                   "%.900s: other variables than those of the shares beside it", path);
    return err->status = GBS_ERR_FORMAT;
}

gbs_status cli_new_shared_run(cli_job *job, int draws, gbs_error *err)
{
    const gbs_ranks *ranks = cli_here.ranks;
    gbs_status status = GBS_OK;
    if (job->share == NULL) {
        status = gbs_partition_new(job->model, job->evidence, &job->options, ranks->n_ranks,
                                   cli_here.parts, &job->partition, err);
        if (status >= 0) {
            status = gbs_partition_share(job->partition, ranks->rank, &job->share, err);
        }
        if (ranks->rank > 0) {
            gbs_partition_free(job->partition);
            job->partition = NULL;
        }
    }
    if (status < 0) {
        return status;
    }
    gbs_run_options options = job->options;
    options.sequence = NULL; /* the share already contains the scan */
    options.sequence_length = 0;
    options.scan = options.scan == GBS_SCAN_SEQUENCE ? GBS_SCAN_USUAL : options.scan;
    const gbs_run_setup setup = {.size = sizeof setup,
                                 .options = &options,
                                 .task = draws ? GBS_RUN_DRAWS : GBS_RUN_MARGINALS,
                                 .ranks = ranks,
                                 .share = job->share,
                                 .partition = job->partition,
                                 .observables = cli_observes(job->arguments)};
    status = gbs_run_new_with(&setup, &job->run, err);
    return status < 0 ? status : name_variables(job, err);
}

void cli_free_share(cli_job *job)
{
    gbs_share_free(job->share);
    gbs_partition_free(job->partition);
}

void cli_tell_exchange(const cli_job *job)
{
    const gbs_report *r = gbs_run_report(job->run);
    const double passes = (double)(r->sweeps + r->burn_in);
    if (r->ranks == 0 || passes == 0.0) {
        return;
    }
    cli_note(job->arguments,
             "model on %" PRIu32 " rank%s: a sweep sends %.4g messages and %.4g bytes in all, and "
             "waits %.3g s of %.3g s",
             r->ranks, gbsi_plural(r->ranks), (double)r->exchange_messages / passes,
             (double)r->exchange_bytes / passes, r->exchange_s / passes, r->sampling_s / passes);
}
