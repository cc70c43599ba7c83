/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates on their way into a file. */
#ifndef GIBBSITE_CLI_VERB_MARGINALS_H
#define GIBBSITE_CLI_VERB_MARGINALS_H

#include "draws/kept_draws.h"

/* Four ragged arrays in one piece of memory, and the variables that are written. */
typedef struct cli_estimates {
    size_t n; /* rows of all variables */
    double *p, *mcse, *ess, *rhat;
    const cli_selection *selection;
} cli_estimates;

/* The verb, and exact --task mar. @param forced see cli_settle(). @return an exit status. */
int cli_write_marginals(cli_arguments *arguments, gbs_method forced);

/* Writes the result, between opening the output and committing it. */
gbs_status cli_marginals_npz(gbs_output *output, const cli_job *job, const cli_estimates *e,
                             gbs_error *err);

/* terminal_table.c: for people. */
void cli_marginals_table(gbs_output *output, const cli_job *job, const cli_estimates *e);
/* Prints a state of all variables.
 * @param how "proved" */
void cli_state_table(gbs_output *output, const cli_job *job, const uint32_t *state,
                     const char *how);

/* cases.c: answers --cases, in place of the marginals of one case, as CSV or for people.
 * @return an exit status. */
int cli_answer_cases(cli_job *job, const cli_selection *query, int for_people);

/* Whether a NetCDF of these variables makes sense, before the run. @return an exit status. */
int cli_marginals_netcdf_fit(const cli_job *job, const cli_selection *selection);
/* Writes a whole file. */
gbs_status cli_marginals_netcdf(const cli_job *job, const char *path, const cli_estimates *e,
                                gbs_error *err);

/* dimmwitted.c: writes marginals as DimmWitted does.
 * @param p as gbs_run_marginals().
 * @return an exit status. */
int cli_write_dimmwitted(gbs_output *output, const cli_job *job, const cli_selection *selection,
                         const double *p);

#endif
