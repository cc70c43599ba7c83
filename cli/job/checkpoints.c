/* SPDX-License-Identifier: Apache-2.0 */
/* The options --checkpoint and --resume. A checkpoint file contains one run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "ranks.h"
#include "shares.h"
#include "src/core/base/plural.h"

/* ---- what was typed -------------------------------------------------------------------------- */

/* Refuses --cases, because the answers to cases cannot be kept in a checkpoint. */
static int check_request(const cli_arguments *arguments)
{
    const char *given = arguments->resume != NULL ? "resume" : "checkpoint";
    const int kept = arguments->resume != NULL || arguments->checkpoint != NULL;
    if (kept && arguments->cases != NULL) {
        return cli_error(CLI_USAGE, "--%s: the answers to --cases cannot be kept in a checkpoint",
                         given);
    }
    return CLI_DONE;
}

/* Reports that a run could not resume. If the checkpoint belongs to another run, the exit status is
 * the status for bad input. */
static int fail_resumed(gbs_status done, const gbs_error *err)
{
    const int status = cli_fail_input(done, err);
    return status == CLI_USAGE ? CLI_INPUT : status;
}

/* Copies the options of the checkpoint, except options that the user typed. */
static int take_options(cli_arguments *arguments)
{
    gbs_error err = {GBS_OK, ""};
    gbs_run_options before = gbs_run_options_default();
    gbs_status status = gbs_checkpoint_options(arguments->resume, &before, &err);
    if (status < 0) {
        return fail_resumed(status, &err);
    }
    for (size_t i = 0; i < gbs_option_count(); i++) {
        char text[64];
        const char *name = gbs_option_at(i)->name;
        if (cli_given(arguments, name)) {
            continue;
        }
        if (strcmp(name, "scan") == 0 && before.scan == GBS_SCAN_SEQUENCE) {
            if (arguments->n_operands > 0 && cli_is_divided(arguments->operand[0])) {
                continue; /* the shares already contain the scan */
            }
            return cli_error(CLI_USAGE,
                             "--resume %s: the run had a scan file; name it: --scan FILE",
                             arguments->resume);
        }
        status = gbs_option_get(&before, name, text, sizeof text, &err);
        if (status >= 0) {
            status = gbs_option_set(&arguments->run, name, text, &err);
        }
        if (status < 0) {
            return fail_resumed(status, &err);
        }
    }
    return CLI_DONE;
}

int cli_settle_checkpoints(cli_arguments *arguments)
{
    const int status = check_request(arguments);
    return status == CLI_DONE && arguments->resume != NULL ? take_options(arguments) : status;
}

int cli_fail_call(const gbs_checkpoint_files *files, gbs_status done, const gbs_error *err)
{
    /* with --resume, GBS_ERR_ARGUMENT means that the checkpoint belongs to another model, evidence
     * or option */
    const int foreign = files->resume != NULL && done == GBS_ERR_ARGUMENT;
    return foreign ? fail_resumed(done, err) : cli_fail(done, err);
}

int cli_begin_checkpoints(const cli_job *job, int draws)
{
    const cli_arguments *arguments = job->arguments;
    gbs_error err = {GBS_OK, ""};
    if (arguments->resume == NULL && arguments->checkpoint == NULL) {
        return CLI_DONE;
    }
    if (job->n_samples > 1 && !cli_given(arguments, "evidence-index")) {
        return cli_error(CLI_USAGE,
                         "--%s: a checkpoint is of one run, and the evidence has %zu sample%s; "
                         "choose one with --evidence-index",
                         arguments->resume != NULL ? "resume" : "checkpoint", job->n_samples,
                         gbsi_plural(job->n_samples));
    }
    if (draws && gbs_run_keep_draws(job->run, job->drawn, job->n_drawn, &err) < 0) {
        return cli_fail(err.status, &err);
    }
    if (arguments->resume != NULL && gbs_run_resume(job->run, arguments->resume, &err) != GBS_OK) {
        return fail_resumed(err.status, &err);
    }
    if (arguments->checkpoint != NULL) {
        const gbs_status status = gbs_run_checkpoint(job->run, arguments->checkpoint, &err);
        return status < 0 ? cli_fail(status, &err) : CLI_DONE;
    }
    return CLI_DONE;
}
