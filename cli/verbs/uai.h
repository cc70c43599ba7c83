/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of `gibbsite uai`: a file that, once the first solution is written, always holds a
 * complete solution, even if the program is killed. */
#ifndef GIBBSITE_CLI_UAI_H
#define GIBBSITE_CLI_UAI_H

#include "job/job.h"

typedef struct cli_answer {
    char *path;       /* path of the file; owned */
    const char *word; /* word of the task, the first line of the file */
    gbs_log_base base;
    unsigned n_solutions; /* number of solutions in the file */
} cli_answer;

/* Finds the path of the answer: -o, or a file in the working folder named after the model's file
 * and the task. */
int cli_answer_init(cli_answer *answer, const cli_arguments *arguments, const char *task);
void cli_answer_free(cli_answer *answer);

/* Writes a solution after -BEGIN-, following earlier solutions of this run. The file is replaced as
 * a whole. */
gbs_status cli_answer_improve(cli_answer *answer, const gbs_result *result, gbs_error *err);
/* Writes the only solution, or one more improvement. */
gbs_status cli_answer_finish(cli_answer *answer, const gbs_result *result, gbs_error *err);
/* Removes the answer file if the run failed, because earlier solutions are then not valid
 * answers. */
void cli_answer_withdraw(cli_answer *answer);

#endif
