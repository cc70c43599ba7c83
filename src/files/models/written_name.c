/* SPDX-License-Identifier: Apache-2.0 */
#include "models/tables.h"

#include <stdio.h>
#include <string.h>

#include "store/model.h"
#include "text/text.h"

gbs_status gbsi_written_name(const gbs_model *model, uint32_t variable, char *made,
                             const char **name, gbs_error *err)
{
    const char *known = gbs_model_variable_name(model, variable);
    if (known != NULL) {
        *name = known;
        return GBS_OK;
    }
    uint32_t other = 0;
    size_t length = (size_t)snprintf(made, GBSI_MADE_NAME, "x%u", variable);
    while (gbsi_find_name(model, made, &other)) {
        if (length + 1 == GBSI_MADE_NAME) {
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "variable %u has no name, and x%u with underscores is taken", variable,
                             variable);
        }
        made[length++] = '_';
        made[length] = 0;
    }
    *name = made;
    return GBS_OK;
}

gbs_status gbsi_check_network(const gbs_model *model, const char *format, gbs_error *err)
{
    if (!model->directed) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s holds Bayesian networks only, and the model is not directed", format);
    }
    if (model->n_variables == 0) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "the model has no variables, and %s files need at least one", format);
    }
    return GBS_OK;
}
