/* SPDX-License-Identifier: Apache-2.0 */
/* Writes GraphLab's text form. Scopes are written in reverse order, because the first variable
 * of a factor in the file runs fastest. */
#include <string.h>

#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

/* Makes a name legal. In this format a slash ends a name, blanks at the ends of a name are lost,
 * and one word begins the list of factors. */
static void make_legal(const char *name, bool is_state, char *legal)
{
    const size_t n = strlen(name);
    (void)is_state;
    for (size_t i = 0; i < n; i++) {
        const bool lost = (i == 0 || i + 1 == n) && gbsi_is_blank(name[i]);
        legal[i] = (char)(name[i] == '/' || lost ? '_' : name[i]);
    }
    legal[n] = 0;
    if (strcmp(legal, "factors:") == 0) {
        legal[n - 1] = '_';
    }
}

static void write_variables(const gbs_model *model, const gbsi_names *names, gbs_output *output)
{
    gbsi_output_text(output, "variables:\n");
    for (uint32_t v = 0; v < model->n_variables; v++) {
        gbsi_output_text(output, names->variable[v]);
        if (model->arity[v] != 2) {
            gbsi_output_text(output, "\t");
            gbsi_output_uint(output, model->arity[v]);
        }
        gbsi_output_text(output, "\n");
    }
}

static gbs_status write_factor(const gbs_model *model, gbsi_expander *expander,
                               const gbsi_names *names, size_t f, gbs_output *output,
                               gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    const double *logw = NULL;
    size_t n = 0;
    size_t begin = factors->scope_start[f];
    size_t end = factors->scope_start[f + 1];
    GBSI_PASS(gbsi_expand(expander, f, &logw, &n, err));
    for (size_t i = end; i-- > begin;) {
        gbsi_output_text(output, names->variable[factors->scope[i]]);
        gbsi_output_text(output, i > begin ? " / " : " ");
    }
    gbsi_output_text(output, "//");
    for (size_t i = 0; i < n; i++) {
        gbsi_output_text(output, " ");
        gbsi_output_double(output, logw[i]);
    }
    gbsi_output_text(output, "\n");
    return GBS_OK;
}

gbs_status gbsi_alchemy_write(const gbs_model *model, gbs_output *output,
                              const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_expander expander = {0};
    gbsi_names names = {0};
    GBSI_TRY(gbsi_names_init(&names, model, make_legal, "alchemy", output, options, err));
    GBSI_TRY(gbsi_expander_init(&expander, model, err));
    write_variables(model, &names, output);
    gbsi_output_text(output, "factors:\n");
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        GBSI_TRY(write_factor(model, &expander, &names, f, output, err));
    }

cleanup:
    gbsi_expander_free(&expander);
    gbsi_names_free(&names);
    return status;
}
