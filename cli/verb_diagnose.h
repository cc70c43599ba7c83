/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite diagnose: what its table and its chart share. */
#ifndef GIBBSITE_CLI_VERB_DIAGNOSE_H
#define GIBBSITE_CLI_VERB_DIAGNOSE_H

#include "draws_read.h"

typedef struct cli_diagnosis {
    const cli_arguments *arguments;
    cli_drawn drawn;
    gbs_diagnostics *of; /* [drawn.n] */
    size_t *shown;       /* [n_shown] quantities in the order of printing */
    size_t n_shown;
    size_t worst; /* the quantity with the largest R-hat; drawn.n where none has one */
} cli_diagnosis;

/* diagnose_chart.c: trace and ranks of the quantity with the largest R-hat. */
int cli_diagnose_chart(const cli_diagnosis *a);

#endif
