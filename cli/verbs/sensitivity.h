/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of a probability with respect to the parameters of a model, and functions that write
 * them. */
#ifndef GIBBSITE_CLI_VERB_SENSITIVITY_H
#define GIBBSITE_CLI_VERB_SENSITIVITY_H

#include "gibbsite/sensitivity.h"
#include "job/job.h"

typedef struct cli_sensitivities {
    cli_job job;
    gbs_sensitivities s;
    char title[256]; /* title, such as "P(cold = yes | fever=yes)" */
    size_t n;        /* number of parameters that are shown */
    size_t *shown;   /* [s.n_parameters] parameters that are shown, in the order of the output */
} cli_sensitivities;

/* @return the posterior probability if a parameter (entry, weight or likelihood) is multiplied by
 *         `times`; NAN if unknown. */
double cli_parameter_times(const cli_sensitivities *a, size_t i, double times);

/* Ranks the parameters by `size_of`, the largest first. The ranking leaves out parameters whose
 * size is 0 up to rounding, and parameters whose derivative is at most twice its error. In a column
 * of two entries the more probable entry is left out.
 * @param order out, [n]; free() it.
 * @return an exit status. */
int cli_rank_parameters(const cli_sensitivities *a,
                        double (*size_of)(const cli_sensitivities *a, size_t i), size_t **order,
                        size_t *n);

#define CLI_PARAMETER_TEXT 1024

/* Writes "cold=yes | season=winter, age=old", or "factor 3, weight: A, B".
 * @param text [CLI_PARAMETER_TEXT], out; a longer text is cut. */
void cli_parameter_text(const cli_sensitivities *a, size_t i, char *text);

/* sensitivity_chart.c: --plot. @param most largest number of parameters. @return an exit status. */
int cli_sensitivity_chart(const cli_sensitivities *a, size_t most);

/* sensitivity_table.c: prints a table for people. */
void cli_sensitivity_table(gbs_output *output, const cli_sensitivities *a);

#endif
