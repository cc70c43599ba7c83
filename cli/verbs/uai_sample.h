/* SPDX-License-Identifier: Apache-2.0 */
/* The sampled answers of `gibbsite uai`. Both functions write improving solutions while they run,
 * and return an exit status. */
#ifndef GIBBSITE_CLI_UAI_SAMPLE_H
#define GIBBSITE_CLI_UAI_SAMPLE_H

#include "uai.h"

/* Answers MAR: marginals, exact for components that are small enough. */
int cli_uai_mar(cli_job *job, cli_answer *answer);

/* Answers MAP: the best state of annealed chains, with components that are small enough solved
 * exactly. */
int cli_uai_map(cli_job *job, cli_answer *answer);

/* Answers PR: the partition function by annealed importance sampling, with components that are
 * small enough summed exactly. The first annealing always runs to its end, even beyond the time
 * limit, because there is no answer without this annealing. */
int cli_uai_log_z(cli_job *job, cli_answer *answer);

#endif
