/* SPDX-License-Identifier: Apache-2.0 */
/* Writes UAI models. Each scope has a line, a blank line precedes each table, and each line of a
 * table has the entries for all states of the last variable. */
#include "base/status.h"
#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

static void write_head(const gbs_model *model, gbs_output *output)
{
    const gbsi_factors *factors = &model->factors;
    gbsi_output_text(output, model->directed ? "BAYES\n" : "MARKOV\n");
    gbsi_output_uint(output, model->n_variables);
    gbsi_output_text(output, "\n");
    for (uint32_t v = 0; v < model->n_variables; v++) {
        gbsi_output_text(output, v == 0 ? "" : " ");
        gbsi_output_uint(output, model->arity[v]);
    }
    gbsi_output_text(output, "\n");
    gbsi_output_uint(output, factors->n_factors);
    gbsi_output_text(output, "\n");
    for (size_t f = 0; f < factors->n_factors; f++) {
        gbsi_output_uint(output, factors->scope_start[f + 1] - factors->scope_start[f]);
        for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; i++) {
            gbsi_output_text(output, " ");
            gbsi_output_uint(output, factors->scope[i]);
        }
        gbsi_output_text(output, "\n");
    }
}

static gbs_status write_table(const gbs_model *model, size_t f, const double *logw, size_t n,
                              bool in_logs, gbs_output *output, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    size_t end = factors->scope_start[f + 1];
    bool constant = end == factors->scope_start[f];
    size_t row = constant ? 1 : model->arity[factors->scope[end - 1]];
    gbsi_output_text(output, "\n");
    gbsi_output_uint(output, n);
    for (size_t i = 0; i < n; i++) {
        gbsi_output_text(output, i % row == 0 ? "\n " : " ");
        if (in_logs) {
            gbsi_output_double(output, logw[i]);
        } else {
            GBSI_PASS(gbsi_output_exp(output, logw[i], f, err));
        }
    }
    gbsi_output_text(output, "\n");
    return GBS_OK;
}

static gbs_status write_model(const gbs_model *model, bool in_logs, gbs_output *output,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_expander expander;
    GBSI_TRY(gbsi_expander_init(&expander, model, err));
    write_head(model, output);
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        const double *logw = NULL;
        size_t n = 0;
        GBSI_TRY(gbsi_expand(&expander, f, &logw, &n, err));
        GBSI_TRY(write_table(model, f, logw, n, in_logs, output, err));
    }

cleanup:
    gbsi_expander_free(&expander);
    return status;
}

gbs_status gbsi_uai_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    (void)options;
    return write_model(model, false, output, err);
}

gbs_status gbsi_lg_write(const gbs_model *model, gbs_output *output,
                         const gbs_write_options *options, gbs_error *err)
{
    (void)options;
    return write_model(model, true, output, err);
}
