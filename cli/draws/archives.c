/* SPDX-License-Identifier: Apache-2.0 */
#include "archives.h"
#include "src/files/arrays/arrays.h"

#include <stdlib.h>
#include <string.h>

gbs_status cli_add_variables(gbsi_npz_writer *writer, const gbs_model *model,
                             const cli_selection *selection, gbs_error *err)
{
    const uint32_t n = selection->n;
    gbsi_array card = {.type = GBSI_ARRAY_I4, .n_dims = 1};
    gbsi_array variable = {.type = GBSI_ARRAY_I8, .n_dims = 1};
    int32_t *states = calloc((size_t)n + 1, sizeof *states);
    int64_t *ids = calloc((size_t)n + 1, sizeof *ids);
    gbs_status status = GBS_OK;
    if (states == NULL || ids == NULL) {
        status = cli_reason(err, GBS_ERR_MEMORY, "out of memory: %u variables", n);
    }
    for (uint32_t i = 0; i < n && status >= 0; i++) {
        states[i] = (int32_t)gbs_model_arity(model, selection->variable[i]);
        ids[i] = selection->variable[i];
    }
    card.shape[0] = variable.shape[0] = n;
    card.data = states;
    variable.data = ids;
    if (status >= 0) {
        status = gbsi_npz_writer_add(writer, "card", &card, NULL, NULL, err);
    }
    if (status >= 0) {
        status = gbsi_npz_writer_add(writer, "variable", &variable, NULL, NULL, err);
    }
    free(states);
    free(ids);
    return status;
}

static void key(gbs_output *output, const char *name)
{
    gbsi_output_text(output, ", ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": ");
}

static void write_labels(gbs_output *output, const gbs_model *model, uint32_t variable)
{
    if (gbs_model_state_label(model, variable, 0) == NULL) {
        gbsi_output_text(output, "null");
        return;
    }
    for (uint32_t a = 0; a < gbs_model_arity(model, variable); a++) {
        gbsi_output_text(output, a == 0 ? "[" : ", ");
        gbsi_output_json_string(output, gbs_model_state_label(model, variable, a));
    }
    gbsi_output_text(output, "]");
}

/* Writes the names as an array in the order of the variables, with null for a variable without a
 * name. If no variable has a name, null replaces the array. */
static void write_names(gbs_output *output, const gbs_model *model, const cli_selection *s)
{
    int any_name = 0;
    int any_label = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        any_name |= gbs_model_variable_name(model, s->variable[i]) != NULL;
        any_label |= gbs_model_state_label(model, s->variable[i], 0) != NULL;
    }
    key(output, "names");
    gbsi_output_text(output, any_name ? "[" : "null");
    for (uint32_t i = 0; i < s->n && any_name; i++) {
        const char *name = gbs_model_variable_name(model, s->variable[i]);
        gbsi_output_text(output, i > 0 ? ", " : "");
        if (name != NULL) {
            gbsi_output_json_string(output, name);
        } else {
            gbsi_output_text(output, "null");
        }
    }
    gbsi_output_text(output, any_name ? "]" : "");
    key(output, "states");
    gbsi_output_text(output, any_label ? "[" : "null");
    for (uint32_t i = 0; i < s->n && any_label; i++) {
        gbsi_output_text(output, i > 0 ? ", " : "");
        write_labels(output, model, s->variable[i]);
    }
    gbsi_output_text(output, any_label ? "]" : "");
}

static void write_meta(gbs_output *output, const char *schema, const cli_job *job,
                       const cli_selection *selection)
{
    const gbs_report *report = gbs_run_report(job->run);
    gbsi_output_text(output, "{\"schema\": ");
    gbsi_output_json_string(output, schema);
    key(output, "tool");
    gbsi_output_json_string(output, "gibbsite");
    key(output, "version");
    gbsi_output_json_string(output, gbs_version());
    key(output, "model");
    gbsi_output_json_string(output, gbs_run_model_digest(job->run));
    key(output, "method");
    gbsi_output_json_string(output, report->method);
    key(output, "seed");
    gbsi_output_uint(output, job->options.seed);
    key(output, "chains");
    gbsi_output_uint(output, report->chains);
    key(output, "sweeps");
    gbsi_output_uint(output, report->sweeps);
    key(output, "burn_in");
    gbsi_output_uint(output, report->burn_in);
    key(output, "thin");
    gbsi_output_uint(output, job->options.thin);
    key(output, "digest");
    gbsi_output_json_string(output, report->digest);
    cli_json_verdict(output, report);
    write_names(output, job->model, selection);
    gbsi_output_text(output, "}\n");
}

gbs_status cli_add_meta(gbsi_npz_writer *writer, const char *schema, const cli_job *job,
                        const cli_selection *selection, gbs_error *err)
{
    gbs_output *output = NULL;
    char *bytes = NULL;
    size_t n = 0;
    gbsi_array meta = {.type = GBSI_ARRAY_U1, .n_dims = 1};
    gbs_status status = gbs_output_open_memory(&output, err);
    if (status < 0) {
        return status;
    }
    write_meta(output, schema, job, selection);
    status = gbs_output_take(output, &bytes, &n, err);
    if (status >= 0) {
        meta.shape[0] = n;
        meta.data = bytes;
        status = gbsi_npz_writer_add(writer, "meta", &meta, NULL, NULL, err);
        gbs_free(bytes);
    }
    return status;
}
