/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `gibbsite uai`: a file that holds a complete solution at any moment from the first
 * on, whatever ends the program. */
#ifndef GIBBSITE_CLI_UAI_H
#define GIBBSITE_CLI_UAI_H

#include "job/job.h"

typedef struct cli_answer {
    char *path;       /* owned */
    const char *word; /* the task, first line of the file */
    gbs_log_base base;
    unsigned n_solutions; /* in the file */
} cli_answer;

/* Finds where the answer goes: -o, or the model's file name and the task, in the working folder. */
int cli_answer_init(cli_answer *answer, const cli_arguments *arguments, const char *task);
void cli_answer_free(cli_answer *answer);

/* Writes a solution after -BEGIN-, behind those of this run. The file is replaced as a whole. */
gbs_status cli_answer_improve(cli_answer *answer, const gbs_result *result, gbs_error *err);
/* Writes the only solution, or one more improvement. */
gbs_status cli_answer_finish(cli_answer *answer, const gbs_result *result, gbs_error *err);
/* Withdraws the answer if the run failed: solutions that were written early are then no answer. */
void cli_answer_withdraw(cli_answer *answer);

#endif
