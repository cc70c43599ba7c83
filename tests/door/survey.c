/* SPDX-License-Identifier: Apache-2.0 */
/* A verb that is added by this file, its table of options and a line in verbs.def: nothing else
 * knows of it. tests/cli/test_door.py asks the program that has it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gibbsite/model.h"
#include "job/job.h"
#include "options/rows.h"

static int survey(cli_arguments *arguments)
{
    cli_job job;
    memset(&job, 0, sizeof job);
    const int status = cli_load(&job, arguments, arguments->operand[0]);
    uint32_t n = 0;
    if (status != CLI_DONE) {
        return status;
    }
    const uint32_t n_variables = gbs_model_n_variables(job.model);
    for (uint32_t v = 0; v < n_variables; v++) {
        n += gbs_model_arity(job.model, v) >= arguments->state;
    }
    if (arguments->influence != NULL && strcmp(arguments->influence, "share") == 0) {
        (void)printf("%.3f\n", (double)n / (double)n_variables);
    } else {
        (void)printf("%" PRIu32 "\n", n);
    }
    cli_job_free(&job);
    return cli_flush(stdout);
}

static const cli_option options[] = {
#include "gibbsite/questions/survey.def"
};

const cli_verb cli_verb_survey = {
    .name = "survey",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "how many variables have many states",
    .notes = "Counts the variables with at least --least states.\n",
    .example = "gibbsite survey examples/clinic.bif --least 3\n",
    .run = survey,
};
