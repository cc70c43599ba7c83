/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the form of files since 2022, which has no p line and marks hard clauses by h. Readers
 * take the largest variable in the file as the number of variables. An x begins a parity, and a
 * comparison ends a cardinality. */
#include "base/status.h"
#include "models/clauses.h"
#include "models/couplings.h"
#include "models/formats.h"
#include "store/model.h"
#include "text/lines.h"

static void write_clause(gbs_output *output, const gbsi_clause *clause, uint32_t *largest)
{
    static const char *const comparison[] = {">= ", "<= ", "= "}; /* AT_LEAST, AT_MOST, EXACTLY */
    if (clause->weight == GBSI_HARD) {
        gbsi_output_text(output, "h ");
    } else {
        gbsi_output_double(output, clause->weight);
        gbsi_output_text(output, " ");
    }
    gbsi_output_text(output, clause->function == GBS_LOGICAL_PARITY ? "x" : "");
    for (uint32_t k = 0; k < clause->n; k++) {
        gbsi_output_text(output, gbsi_clause_positive(clause, k) ? "" : "-");
        gbsi_output_uint(output, (uint64_t)clause->scope[k] + 1);
        gbsi_output_text(output, " ");
        *largest = clause->scope[k] >= *largest ? clause->scope[k] + 1 : *largest;
    }
    if (clause->function < GBS_LOGICAL_AT_LEAST) {
        gbsi_output_text(output, "0\n");
        return;
    }
    gbsi_output_text(output, comparison[clause->function - GBS_LOGICAL_AT_LEAST]);
    gbsi_output_uint(output, clause->k);
    gbsi_output_text(output, "\n");
}

gbs_status gbsi_wcnf_write(const gbs_model *model, gbs_output *output,
                           const gbs_write_options *options, gbs_error *err)
{
    double constant = 0;
    uint32_t largest = 0;
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        gbsi_clause clause;
        GBSI_PASS(gbsi_clause_of(model, f, "wcnf", true, &clause, err));
        constant += clause.constant;
        if (clause.n != 0) {
            write_clause(output, &clause, &largest);
        }
    }
    GBSI_PASS(gbsi_clauses_check(model, "wcnf", err));
    if (largest < model->n_variables) { /* a further clause of weight 0 names the last variable */
        gbsi_output_text(output, "0 ");
        gbsi_output_uint(output, model->n_variables);
        gbsi_output_text(output, " 0\n");
    }
    gbsi_tell_constant(options, output, "wcnf", constant);
    gbsi_tell_most_variables(options, output, model->n_variables);
    return GBS_OK;
}
