/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite VERB [options] MODEL */
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "job/ranks.h"

int main(int argc, char **argv)
{
    cli_open_standard_streams();
    cli_signals_end();
    /* getopt reorders its arguments; the summary shows the command as it was typed */
    char **typed = calloc((size_t)argc + 1, sizeof *typed);
    CLI_PASS(CLI_HAVE(typed));
    memcpy(typed, argv, (size_t)argc * sizeof *typed);
    const int status = cli_program(argc, argv, argc, typed);
    free(typed);
    return status;
}
