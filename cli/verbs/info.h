/* SPDX-License-Identifier: Apache-2.0 */
/* The output of `gibbsite info` for people: one screen, and the list of variables. */
#ifndef GIBBSITE_CLI_INFO_H
#define GIBBSITE_CLI_INFO_H

#include "gibbsite/info.h"
#include "job/job.h"

/* Formats a number of bytes: 12345678 is "11.8 MiB".
 * @param text [16]. */
void cli_scale_bytes(uint64_t value, char *text);

/* Writes "tables, sparse tables".
 * @param forms at least one bit of gbs_exact_form.
 * @param text [80]. */
void cli_exact_forms(int forms, char *text);

/* Prints a screen of at most 24 lines.
 * @param loading_bytes peak memory until the model was loaded. */
void cli_info_screen(gbs_output *output, const cli_job *job, const gbs_info *info,
                     uint64_t loading_bytes);

/* Prints the state of the run in a checkpoint.
 * @return an exit status. */
int cli_info_checkpoint(const cli_arguments *arguments);

/* Prints one or more lines for each variable.
 * @return an exit status. */
int cli_info_variables(gbs_output *output, const cli_job *job);

#endif
