/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite convert: reads a model, writes it in another format, and prints what the format cannot
 * hold. */
#include <string.h>

#include "job/job.h"
#include "options/rows.h"
#include "src/files/models/format_names.h"

int cli_write_model(const cli_arguments *arguments, const gbs_model *model)
{
    const char *path = arguments->output != NULL ? arguments->output : "-";
    const gbs_write_options options = {
        .format = arguments->format,
        .fixed_floats =
            arguments->float_format != NULL && strcmp(arguments->float_format, "fixed") == 0,
        .convention = arguments->convention_out,
        .warn = cli_warn,
        .context = (void *)(uintptr_t)arguments, /* cli_warn() only reads the context */
    };
    gbs_error err = {GBS_OK, ""};
    gbs_status status = gbs_model_write(model, path, &options, &err);
    return status < 0 ? cli_fail_output(path, status, &err) : CLI_DONE;
}

void cli_settle_model_format(cli_arguments *arguments)
{
    const char *path = arguments->output;
    if (arguments->format == NULL &&
        (path == NULL || strcmp(path, "-") == 0 || gbsi_model_format_of(path) == NULL)) {
        arguments->format =
            arguments->from != NULL ? arguments->from : gbsi_model_format_of(arguments->operand[0]);
    }
}

int cli_check_model_output(const cli_arguments *arguments)
{
    const char *path = arguments->output;
    if (arguments->format == NULL) {
        if (path == NULL || strcmp(path, "-") == 0) {
            return cli_error(CLI_USAGE, "standard output needs --format %s", cli_model_formats + 1);
        }
        if (gbsi_model_format_of(path) == NULL) {
            return cli_error(CLI_USAGE,
                             "%s: no model format has this file name extension; use --format %s",
                             path, cli_model_formats + 1);
        }
    }
    return cli_check_output(path);
}

/* Unrolls a network of two time slices over T slices, if --unroll asks for it. */
static int unroll(cli_job *job, const cli_arguments *arguments)
{
    gbs_model *unrolled = NULL;
    gbs_error err = {GBS_OK, ""};
    if (arguments->unroll == 0) {
        return CLI_DONE;
    }
    const gbs_status status = gbs_unroll(job->model, (uint32_t)arguments->unroll, &unrolled, &err);
    if (status < 0) {
        return cli_error(status == GBS_ERR_ARGUMENT || status == GBS_ERR_UNSUPPORTED ? CLI_INPUT
                                                                                     : CLI_FAILED,
                         "%s: %s", arguments->operand[0], err.message);
    }
    gbs_model_free(job->model);
    job->model = unrolled;
    return CLI_DONE;
}

static int run_convert(cli_arguments *arguments)
{
    cli_job job;
    memset(&job, 0, sizeof job);
    int status = CLI_DONE;
    CLI_TRY(cli_check_model_output(arguments));
    CLI_TRY(cli_load_model(&job, arguments, arguments->operand[0]));
    CLI_TRY(unroll(&job, arguments));
    CLI_TRY(cli_write_model(arguments, job.model));

cleanup:
    cli_job_free(&job);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/convert.def"
};

const cli_verb cli_verb_convert = {
    .name = "convert",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "convert a model to another format",
    .notes = "gibbsite-formats(5) lists the formats. Warnings on standard error name what the\n"
             "format written cannot hold.\n",
    .example = "gibbsite convert examples/sprinkler.bif --format uai\n",
    .run = run_convert,
};
