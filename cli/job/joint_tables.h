/* SPDX-License-Identifier: Apache-2.0 */
/* Joint distributions of some variables: --joint. */
#ifndef GIBBSITE_CLI_JOINT_TABLES_H
#define GIBBSITE_CLI_JOINT_TABLES_H

#include "draws/kept_draws.h"
#include "gibbsite/joint.h"

/* A table with one row for each joint state. The last variable varies fastest from row to row. */
typedef struct cli_joint {
    cli_selection selection;
    size_t n;                      /* number of rows */
    double *p, *mcse, *ess, *rhat; /* [n] probability of each row, its standard error, ESS and
                                      R-hat; one block of memory */
    gbs_joint_estimate *estimate;  /* estimate from the draws of a sampled run */
} cli_joint;

/* @return the state that variable i of the table has in a row. */
static inline uint32_t cli_joint_state(const gbs_model *model, const cli_joint *table, size_t row,
                                       uint32_t i)
{
    for (uint32_t k = table->selection.n - 1; k > i; k--) {
        row /= gbs_model_arity(model, table->selection.variable[k]);
    }
    return (uint32_t)(row % gbs_model_arity(model, table->selection.variable[i]));
}

/* terminal_table.c: prints a joint table for people. */
void cli_joint_table(gbs_output *output, const cli_job *job, const cli_joint *table);

/* Refuses options that cannot be combined with --joint, before anything is read.
 * @return an exit status. */
int cli_joint_settle(cli_arguments *arguments, const char *format);
/* Writes all joint tables in place of marginals; a cli_sample_answer. @param context the format, a
 * const char *. */
int cli_answer_joints(cli_job *job, void *context);

#endif
