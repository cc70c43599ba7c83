/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the parts that all NetCDF files of this program contain besides the results. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "netcdf_file.h"

gbs_status cli_netcdf_count(cli_netcdf *file, int group, const char *name, int dim, size_t n,
                            gbs_error *err)
{
    const int id = cli_netcdf_variable(file, group, name, NC_INT64, 1, &dim, NULL);
    int64_t *value = malloc(n * sizeof *value + 1);
    if (value == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory: %zu numbers", n);
    }
    for (size_t i = 0; i < n; i++) {
        value[i] = (int64_t)i;
    }
    cli_netcdf_put_all(file, group, id, value);
    free(value);
    return GBS_OK;
}

gbs_status cli_netcdf_names(cli_netcdf *file, int group, const char *name, int dim,
                            const gbs_model *model, const uint32_t *variable, uint32_t n,
                            gbs_error *err)
{
    int any = 0;
    for (uint32_t i = 0; i < n; i++) {
        any |= gbs_model_variable_name(model, variable[i]) != NULL;
    }
    const char **text = malloc(n * sizeof *text + 1);
    char(*made)[32] = malloc(any ? n * sizeof *made + 1 : 1);
    int64_t *number = malloc(n * sizeof *number + 1);
    gbs_status status = GBS_OK;
    if (text == NULL || made == NULL || number == NULL) {
        status = cli_reason(err, GBS_ERR_MEMORY, "out of memory: %u names", n);
    } else if (any) {
        for (uint32_t i = 0; i < n; i++) {
            text[i] = cli_variable_text(model, variable[i], "x", made[i]);
        }
        const int id = cli_netcdf_variable(file, group, name, NC_STRING, 1, &dim, NULL);
        cli_netcdf_put_all(file, group, id, text);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            number[i] = variable[i];
        }
        const int id = cli_netcdf_variable(file, group, name, NC_INT64, 1, &dim, NULL);
        cli_netcdf_put_all(file, group, id, number);
    }
    free(number);
    free(made);
    free(text);
    return status;
}

gbs_status cli_netcdf_variables(cli_netcdf *file, int group, const char *name, int dim,
                                const gbs_model *model, const cli_selection *selection,
                                gbs_error *err)
{
    const uint32_t n = selection->n;
    int32_t *card = malloc(n * sizeof *card + 1);
    if (card == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory: %u variables", n);
    }
    for (uint32_t i = 0; i < n; i++) {
        card[i] = (int32_t)gbs_model_arity(model, selection->variable[i]);
    }
    const int id = cli_netcdf_variable(file, group, "card", NC_INT, 1, &dim, NULL);
    cli_netcdf_put_all(file, group, id, card);
    free(card);
    return cli_netcdf_names(file, group, name, dim, model, selection->variable, n, err);
}

gbs_status cli_netcdf_attributes(cli_netcdf *file, const cli_job *job, gbs_error *err)
{
    char text[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    char *command = cli_command_line(job->arguments);
    const unsigned long long seed = job->options.seed;
    const gbs_report *report = gbs_run_report(job->run);
    if (command == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory");
    }
    if (gmtime_r(&now, &utc) != NULL) {
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    cli_netcdf_text(file, "created_at", text);
    cli_netcdf_text(file, "creation_library", "gibbsite");
    cli_netcdf_text(file, "creation_library_version", gbs_version());
    cli_netcdf_text(file, "creation_library_language", "C");
    cli_netcdf_text(file, "inference_library", "gibbsite");
    cli_netcdf_text(file, "inference_library_version", gbs_version());
    cli_netcdf_text(file, "model_digest", gbs_run_model_digest(job->run));
    cli_netcdf_text(file, "command", command);
    cli_netcdf_text(file, "digest", report->digest);
    cli_netcdf_text(file, "verdict", report->verdict);
    cli_netcdf_text(file, "converged", report->converged ? "true" : "false");
    cli_netcdf_text(file, "chains_disagree", report->chains_disagree ? "true" : "false");
    cli_netcdf_text(file, "in_burn_in", report->in_burn_in ? "true" : "false");
    if (file->code == NC_NOERR) {
        file->code = file->nc.put_att_ulonglong(file->root, NC_GLOBAL, "seed", NC_UINT64, 1, &seed);
    }
    free(command);
    return GBS_OK;
}

gbs_status cli_netcdf_observed(cli_netcdf *file, const cli_job *job, gbs_error *err)
{
    const uint32_t n_all = gbs_model_n_variables(job->model);
    const uint32_t n = job->evidence == NULL ? 0 : gbs_evidence_n_observed(job->evidence);
    if (n == 0) {
        return GBS_OK;
    }
    uint32_t *variable = malloc(n * sizeof *variable);
    uint16_t *state = malloc(n * sizeof *state);
    gbs_status status = GBS_OK;
    uint32_t found = 0;
    if (variable == NULL || state == NULL) {
        status = cli_reason(err, GBS_ERR_MEMORY, "out of memory: %u observations", n);
    }
    for (uint32_t v = 0; v < n_all && found < n && status >= 0; v++) {
        uint32_t x = 0;
        if (gbs_evidence_state(job->evidence, v, &x)) {
            variable[found] = v;
            state[found++] = (uint16_t)x;
        }
    }
    if (status >= 0) {
        const int group = cli_netcdf_group(file, "observed_data");
        const int dim = cli_netcdf_dim(file, group, "evidence_dim_0", n);
        const int id = cli_netcdf_variable(file, group, "evidence", NC_USHORT, 1, &dim, NULL);
        cli_netcdf_put_all(file, group, id, state);
        status =
            cli_netcdf_names(file, group, "evidence_dim_0", dim, job->model, variable, found, err);
    }
    free(variable);
    free(state);
    return status;
}
