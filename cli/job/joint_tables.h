/* SPDX-License-Identifier: Apache-2.0 */
/* Joint distributions of some variables: --joint. */
#ifndef GIBBSITE_CLI_JOINT_TABLES_H
#define GIBBSITE_CLI_JOINT_TABLES_H

#include "draws/kept_draws.h"
#include "gibbsite/joint.h"

/* One table: a row for each joint state, the last variable fastest. */
typedef struct cli_joint {
    cli_selection selection;
    size_t n;                      /* rows */
    double *p, *mcse, *ess, *rhat; /* [n], in one piece of memory */
    gbs_joint_estimate *estimate;  /* of a sampled run */
} cli_joint;

/* @return the state of variable i of the table in a row. */
static inline uint32_t cli_joint_state(const gbs_model *model, const cli_joint *table, size_t row,
                                       uint32_t i)
{
    for (uint32_t k = table->selection.n - 1; k > i; k--) {
        row /= gbs_model_arity(model, table->selection.variable[k]);
    }
    return (uint32_t)(row % gbs_model_arity(model, table->selection.variable[i]));
}

/* terminal_table.c: for people. */
void cli_joint_table(gbs_output *output, const cli_job *job, const cli_joint *table);

/* Refuses options that cannot be combined with --joint, before anything is read.
 * @return an exit status. */
int cli_joint_settle(cli_arguments *arguments, const char *format);
/* A cli_sample_answer: all tables, in place of marginals. @param context const char *format. */
int cli_answer_joints(cli_job *job, void *context);

#endif
