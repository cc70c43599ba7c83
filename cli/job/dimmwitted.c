/* SPDX-License-Identifier: Apache-2.0 */
/* Writes marginals as DimmWitted does: a line is "variable value probability". Boolean variables
 * have a line for value 1 only, and observed variables have no line. */
#include <stdlib.h>
#include <string.h>

#include "verbs/marginals.h"

static int is_number(const char *label)
{
    return label != NULL && label[0] != '\0' && label[strspn(label, "0123456789")] == '\0';
}

/* @return whether all labels of a variable are numbers. DimmWitted's values are the labels if all
 *         labels are numbers, and the numbers of the states otherwise. */
static int labels_are_values(const gbs_model *model, uint32_t v)
{
    uint32_t a = 0;
    while (a < gbs_model_arity(model, v) && is_number(gbs_model_state_label(model, v, a))) {
        a++;
    }
    return a == gbs_model_arity(model, v);
}

static int is_boolean(const gbs_model *model, uint32_t v, int labelled)
{
    return gbs_model_arity(model, v) == 2 &&
           (!labelled || (strcmp(gbs_model_state_label(model, v, 0), "0") == 0 &&
                          strcmp(gbs_model_state_label(model, v, 1), "1") == 0));
}

static void write_variable(gbs_output *output, const gbs_model *model, const double *p, uint32_t v)
{
    const int labelled = labels_are_values(model, v);
    const size_t at = gbs_model_state_offsets(model)[v];
    for (uint32_t a = is_boolean(model, v, labelled) ? 1 : 0; a < gbs_model_arity(model, v); a++) {
        gbsi_output_uint(output, v);
        gbsi_output_text(output, " ");
        if (labelled) {
            gbsi_output_text(output, gbs_model_state_label(model, v, a));
        } else {
            gbsi_output_uint(output, a);
        }
        gbsi_output_text(output, " ");
        gbsi_output_double(output, p[at + a]);
        gbsi_output_text(output, "\n");
    }
}

int cli_write_dimmwitted(gbs_output *output, const cli_job *job, const cli_selection *selection,
                         const double *p)
{
    const uint32_t n = gbs_model_n_variables(job->model);
    uint32_t *clamped = calloc((size_t)n + 1, sizeof *clamped);
    CLI_PASS(CLI_HAVE(clamped));
    gbs_model_clamped(job->model, clamped);
    for (uint32_t i = 0; i < selection->n; i++) {
        const uint32_t v = selection->variable[i];
        if (clamped[v] == UINT32_MAX &&
            (job->evidence == NULL || !gbs_evidence_state(job->evidence, v, NULL))) {
            write_variable(output, job->model, p, v);
        }
    }
    free(clamped);
    return CLI_DONE;
}
