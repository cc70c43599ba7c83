/* SPDX-License-Identifier: Apache-2.0 */
/* GraphLab's text form: scopes backwards, since there the first variable is fastest. */
#include <string.h>

#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

static gbs_status check_name(const char *name, gbs_error *err)
{
    size_t n = strlen(name);
    if (strchr(name, '/') != NULL) {
        return gbsi_refuse_name(name, "alchemy", "it contains a slash", err);
    }
    if (gbsi_is_blank(name[0]) || gbsi_is_blank(name[n - 1])) {
        return gbsi_refuse_name(name, "alchemy", "it begins or ends with a blank", err);
    }
    if (strcmp(name, "factors:") == 0) {
        return gbsi_refuse_name(name, "alchemy", "in this format 'factors:' starts the factors",
                                err);
    }
    return GBS_OK;
}

static gbs_status write_variables(const gbs_model *model, gbs_output *output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char made[GBSI_MADE_NAME];
    const char *name = NULL;
    gbs_output_text(output, "variables:\n");
    for (uint32_t v = 0; v < model->n_variables; v++) {
        GBSI_TRY(gbsi_written_name(model, v, made, &name, err));
        GBSI_TRY(check_name(name, err));
        gbs_output_text(output, name);
        if (model->arity[v] != 2) {
            gbs_output_text(output, "\t");
            gbs_output_uint(output, model->arity[v]);
        }
        gbs_output_text(output, "\n");
    }

cleanup:
    return status;
}

static gbs_status write_factor(const gbs_model *model, gbsi_expander *expander, size_t f,
                               gbs_output *output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_factors *factors = &model->factors;
    char made[GBSI_MADE_NAME];
    const char *name = NULL;
    const double *logw = NULL;
    size_t n = 0;
    size_t begin = factors->scope_start[f];
    size_t end = factors->scope_start[f + 1];
    GBSI_TRY(gbsi_expand(expander, f, &logw, &n, err));
    for (size_t i = end; i-- > begin;) {
        GBSI_TRY(gbsi_written_name(model, factors->scope[i], made, &name, err));
        gbs_output_text(output, name);
        gbs_output_text(output, i > begin ? " / " : " ");
    }
    gbs_output_text(output, "//");
    for (size_t i = 0; i < n; i++) {
        gbs_output_text(output, " ");
        gbs_output_double(output, logw[i]);
    }
    gbs_output_text(output, "\n");

cleanup:
    return status;
}

gbs_status gbsi_alchemy_write(const gbs_model *model, gbs_output *output,
                              const gbs_write_options *options, gbs_error *err)
{
    (void)options;
    gbs_status status = GBS_OK;
    gbsi_expander expander = {0};
    GBSI_TRY(gbsi_expander_init(&expander, model, err));
    GBSI_TRY(write_variables(model, output, err));
    gbs_output_text(output, "factors:\n");
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        GBSI_TRY(write_factor(model, &expander, f, output, err));
    }

cleanup:
    gbsi_expander_free(&expander);
    return status;
}
