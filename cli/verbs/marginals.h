/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of marginals, and functions that write them to files. */
#ifndef GIBBSITE_CLI_VERB_MARGINALS_H
#define GIBBSITE_CLI_VERB_MARGINALS_H

#include "draws/kept_draws.h"

/* Four arrays with a row for each state of each variable, in one block of memory, and the variables
 * that are written. */
typedef struct cli_estimates {
    size_t n; /* number of rows of all variables */
    double *p, *mcse, *ess, *rhat;
    const cli_selection *selection;
} cli_estimates;

/* Does the work of the verb marginals, and of exact --task mar. @param forced see cli_settle().
 * @return an exit status. */
int cli_write_marginals(cli_arguments *arguments, gbs_method forced);

/* Functions that write the result after the output was opened and before it is committed. */
gbs_status cli_marginals_npz(gbs_output *output, const cli_job *job, const cli_estimates *e,
                             gbs_error *err);

/* terminal_table.c: prints a table for people. */
void cli_marginals_table(gbs_output *output, const cli_job *job, const cli_estimates *e);
/* Prints a state of all variables. @param how a remark such as "proved" */
void cli_state_table(gbs_output *output, const cli_job *job, const uint32_t *state,
                     const char *how);

/* cases.c: answers --cases, in place of the marginals of one case, as CSV or as a table for people.
 * @return an exit status. */
int cli_answer_cases(cli_job *job, const cli_selection *query, int for_people);

/* Checks, before the run, that a NetCDF file of these variables is possible. @return an exit
 * status. */
int cli_marginals_netcdf_fit(const cli_job *job, const cli_selection *selection);
/* Writes a whole file. */
gbs_status cli_marginals_netcdf(const cli_job *job, const char *path, const cli_estimates *e,
                                gbs_error *err);

/* dimmwitted.c: writes marginals in the format of DimmWitted. @param p probabilities as from
 * gbs_run_marginals().
 * @return an exit status. */
int cli_write_dimmwitted(gbs_output *output, const cli_job *job, const cli_selection *selection,
                         const double *p);

#endif
