/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the variables of a divided model to a file beside the shares. */
#include "base/memory.h"
#include "base/sized.h"
#include "drive/partition.h"
#include "models/gbm.h"

/* Makes a model that has all variables with their names, states and labels, and no factors. */
static gbs_status make_variables(const gbs_model *model, gbs_model **out, gbs_error *err)
{
    gbs_builder *builder = NULL;
    const uint32_t n = gbs_model_n_variables(model);
    gbs_status status = gbs_builder_new(&builder, err);
    for (uint32_t v = 0; v < n && status >= 0; ++v) {
        const uint32_t arity = gbs_model_arity(model, v);
        status = gbs_builder_add_variables(builder, 1, &arity, NULL, err);
        const char *name = gbs_model_variable_name(model, v);
        if (status >= 0 && name != NULL) {
            status = gbs_builder_name_variable(builder, v, name, err);
        }
        if (status >= 0 && gbs_model_state_label(model, v, 0) != NULL) {
            const char **label = gbsi_alloc_array(arity, sizeof *label);
            for (uint32_t a = 0; label != NULL && a < arity; ++a) {
                label[a] = gbs_model_state_label(model, v, a);
            }
            status = label == NULL ? gbsi_no_memory(err, "labels", arity * sizeof *label)
                                   : gbs_builder_label_states(builder, v, label, err);
            gbsi_free((void *)label);
        }
    }
    if (status >= 0) {
        status = gbs_builder_build(builder, out, err);
    }
    gbs_builder_free(builder);
    return status;
}

gbs_status gbs_partition_write_variables(const gbs_partition *p, const char *path, gbs_error *err)
{
    GBSI_NEED(p, path);
    gbs_model *variables = NULL;
    if (p->lattice != NULL) {
        return gbsi_gbm_write_alike(p->lattice->grid.n_variables, p->lattice->grid.arity, path,
                                    err);
    }
    gbs_status status = make_variables(p->run->task.problem.model, &variables, err);
    if (status >= 0) {
        status = gbs_model_write(variables, path, NULL, err);
    }
    gbs_model_free(variables);
    return status;
}
