/* SPDX-License-Identifier: Apache-2.0 */
/* Draws with their diagnostics, for the verb diagnose and for the traces of a run. */
#ifndef GIBBSITE_CLI_DIAGNOSIS_H
#define GIBBSITE_CLI_DIAGNOSIS_H

#include "draws/draws_read.h"
#include "gibbsite/diagnose.h"

enum { CLI_SHOWN_DRAWS = 4 }; /* number of quantities on a page of the report */

typedef struct cli_diagnosis {
    const cli_arguments *arguments;
    cli_drawn drawn;
    gbs_diagnostics *of; /* [drawn.n] diagnostics of each quantity */
    size_t
        *shown; /* [n_shown] numbers of the quantities that are shown, in the order of printing */
    size_t n_shown;
    uint64_t stride; /* number of sweeps from one draw to the next in traces of a run; else 0 */
    size_t worst;    /* the quantity with the largest R-hat; drawn.n if no quantity has an R-hat */
} cli_diagnosis;

/* Computes R-hat and all other diagnostics of every quantity.
 * @return an exit status. The caller must free `a` in either case. */
int cli_diagnosis_make(cli_diagnosis *a);
void cli_diagnosis_free(cli_diagnosis *a);
/* Chooses the quantities to show.
 * @param top number of quantities with the largest R-hats; 0: all quantities, in order. */
int cli_diagnosis_choose(cli_diagnosis *a, uint64_t top);
void cli_diagnosis_table(gbs_output *output, const cli_diagnosis *a);
/* Writes the members "chains", "draws" and "quantities" of an object. */
void cli_diagnosis_json(gbs_output *output, const cli_diagnosis *a);

/* Writes all quantities as a result; a callback for cli_write().
 * @param context a cli_diagnosis. */
void cli_diagnosis_as_csv(gbs_output *output, const void *context);
void cli_diagnosis_as_json(gbs_output *output, const void *context);
void cli_diagnosis_as_table(gbs_output *output, const void *context);

/* Writes a JSON object of schema draws/1 with the chosen quantities, for the page of a report. */
gbs_status cli_diagnosis_draws(gbs_output *output, const cli_diagnosis *a, gbs_error *err);

/* diagnose_chart.c: draws a chart with trace and ranks of the quantity with the largest R-hat. */
int cli_diagnose_chart(const cli_diagnosis *a);

#endif
