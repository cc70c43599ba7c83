/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite convert: read a model, write a model. */
#include <string.h>

#include "job.h"

int cli_convert(cli_arguments *arguments)
{
    const char *format = NULL;
    const char *path = arguments->output != NULL ? arguments->output : "-";
    gbs_error err = {GBS_OK, ""};
    cli_job job;
    memset(&job, 0, sizeof job);
    int status = cli_output_format(arguments, "uai|lg|bif", NULL, &format);
    if (status == CLI_DONE) {
        status = cli_check_output(arguments->output);
    }
    if (status == CLI_DONE) {
        status = cli_load_model(&job, arguments, arguments->operand[0]);
    }
    if (status == CLI_DONE) {
        gbs_status done = gbs_model_write(job.model, path, format, &err);
        status = done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
    }
    cli_job_free(&job);
    return status;
}
