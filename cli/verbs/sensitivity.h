/* SPDX-License-Identifier: Apache-2.0 */
/* The changes of a probability with the parameters of a model, as a table or a file. */
#ifndef GIBBSITE_CLI_VERB_SENSITIVITY_H
#define GIBBSITE_CLI_VERB_SENSITIVITY_H

#include "gibbsite/sensitivity.h"
#include "job/job.h"

typedef struct cli_sensitivities {
    cli_job job;
    gbs_sensitivities s;
    char title[256]; /* "P(cold = yes | fever=yes)" */
    size_t n;        /* parameters that are shown */
    size_t *shown;   /* ... in this order; [s.n_parameters] */
} cli_sensitivities;

/* @return the posterior if the entry, weight or likelihood of a parameter is `times` as large;
 * NAN if unknown. */
double cli_parameter_times(const cli_sensitivities *a, size_t i, double times);

/* Ranks the parameters by `size_of`, the largest first. It leaves out parameters whose size is 0 up
 * to rounding, and parameters whose derivative is at most twice its error. In a column of two
 * entries it leaves out the more probable one.
 * @param order out, [n]; free() it.
 * @return an exit status. */
int cli_rank_parameters(const cli_sensitivities *a,
                        double (*size_of)(const cli_sensitivities *a, size_t i), size_t **order,
                        size_t *n);

#define CLI_PARAMETER_TEXT 1024

/* Writes "cold=yes | season=winter, age=old", or "factor 3, weight: A, B".
 * @param text [CLI_PARAMETER_TEXT], into which it is cut. */
void cli_parameter_text(const cli_sensitivities *a, size_t i, char *text);

/* sensitivity_chart.c: --plot. @param most parameters. @return an exit status. */
int cli_sensitivity_chart(const cli_sensitivities *a, size_t most);

/* sensitivity_table.c: for people. */
void cli_sensitivity_table(gbs_output *output, const cli_sensitivities *a);

#endif
