/* SPDX-License-Identifier: Apache-2.0 */
/* Writes marginals to NetCDF, in a group posterior_summary beside the groups of ArviZ's schema. The
 * group holds marginal, mcse, ess and rhat by variable and state. For variables with fewer states
 * than others, the remaining entries are NaN. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "netcdf_file.h"
#include "src/core/base/plural.h"
#include "verbs/marginals.h"

#define SLAB_BYTES ((size_t)4 << 20) /* bytes of a chunk of an array */

/* The shape of a rectangular array that holds the states of all variables. */
typedef struct table {
    size_t n;        /* number of variables */
    size_t n_states; /* largest number of states of a variable */
    size_t slab;     /* number of variables in a chunk */
    int variable_dim;
    int state_dim;
} table;

static size_t most_states(const cli_job *job, const cli_selection *selection)
{
    size_t most = 0;
    for (uint32_t i = 0; i < selection->n; i++) {
        const uint32_t arity = gbs_model_arity(job->model, selection->variable[i]);
        most = arity > most ? arity : most;
    }
    return most;
}

/* Writes variables [first, first + n) as rows of the array. All NaN have the same bits, so that
 * equal runs write equal files. */
static void fill_slab(const cli_job *job, const cli_selection *selection, const double *value,
                      size_t first, size_t n, size_t n_states, double *slab)
{
    const size_t *offset = gbs_model_state_offsets(job->model);
    for (size_t i = 0; i < n; i++) {
        const uint32_t v = selection->variable[first + i];
        const size_t arity = offset[v + 1] - offset[v];
        for (size_t a = 0; a < n_states; a++) {
            const double x = a < arity ? value[offset[v] + a] : (double)NAN;
            slab[i * n_states + a] = isnan(x) ? (double)NAN : x;
        }
    }
}

static gbs_status write_estimates(cli_netcdf *file, int group, const cli_job *job,
                                  const cli_estimates *e, const table *t, gbs_error *err)
{
    const struct {
        const char *name;
        const double *value;
    } arrays[] = {{"marginal", e->p}, {"mcse", e->mcse}, {"ess", e->ess}, {"rhat", e->rhat}};
    const int dim[2] = {t->variable_dim, t->state_dim};
    const size_t chunk[2] = {t->slab, t->n_states};
    double *slab = malloc(t->slab * t->n_states * sizeof *slab);
    if (slab == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory: %zu numbers", t->slab * t->n_states);
    }
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        const int id = cli_netcdf_variable(file, group, arrays[k].name, NC_DOUBLE, 2, dim, chunk);
        for (size_t first = 0; first < t->n; first += t->slab) {
            const size_t n = t->n - first < t->slab ? t->n - first : t->slab;
            const size_t start[2] = {first, 0};
            const size_t count[2] = {n, t->n_states};
            fill_slab(job, e->selection, arrays[k].value, first, n, t->n_states, slab);
            cli_netcdf_put(file, group, id, start, count, slab);
        }
    }
    free(slab);
    return GBS_OK;
}

/* Writes the labels of states, "" for states without a label; writes nothing if no state has a
 * label. */
static gbs_status write_labels(cli_netcdf *file, int group, const cli_job *job,
                               const cli_selection *selection, const table *t, gbs_error *err)
{
    int any = 0;
    for (uint32_t i = 0; i < selection->n; i++) {
        any |= gbs_model_state_label(job->model, selection->variable[i], 0) != NULL;
    }
    if (!any) {
        return GBS_OK;
    }
    const int dim[2] = {t->variable_dim, t->state_dim};
    const int id = cli_netcdf_variable(file, group, "label", NC_STRING, 2, dim, NULL);
    const char **text = malloc(t->n_states * sizeof *text);
    if (text == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory: %zu labels", t->n_states);
    }
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t v = selection->variable[i];
        const size_t start[2] = {i, 0};
        const size_t count[2] = {1, t->n_states};
        const uint32_t arity = gbs_model_arity(job->model, v);
        for (size_t a = 0; a < t->n_states; a++) {
            const char *label =
                a < arity ? gbs_model_state_label(job->model, v, (uint32_t)a) : NULL;
            text[a] = label != NULL ? label : "";
        }
        cli_netcdf_put(file, group, id, start, count, text);
    }
    free(text);
    return GBS_OK;
}

/* Begins a group with the dimensions variable and state. */
static int begin_group(cli_netcdf *file, const char *name, table *t)
{
    const int group = cli_netcdf_group(file, name);
    t->variable_dim = cli_netcdf_dim(file, group, "variable", t->n);
    t->state_dim = cli_netcdf_dim(file, group, "state", t->n_states);
    return group;
}

static gbs_status write_groups(cli_netcdf *file, const cli_job *job, const cli_estimates *e,
                               table *t, gbs_error *err)
{
    const cli_selection *s = e->selection;
    int group = begin_group(file, "posterior_summary", t);
    gbs_status status = cli_netcdf_names(file, group, "variable", t->variable_dim, job->model,
                                         s->variable, s->n, err);
    if (status >= 0) {
        status = cli_netcdf_count(file, group, "state", t->state_dim, t->n_states, err);
    }
    if (status >= 0) {
        status = write_estimates(file, group, job, e, t, err);
    }
    group = begin_group(file, "constant_data", t);
    if (status >= 0) {
        status = cli_netcdf_variables(file, group, "variable", t->variable_dim, job->model, s, err);
    }
    if (status >= 0) {
        status = cli_netcdf_count(file, group, "state", t->state_dim, t->n_states, err);
    }
    return status < 0 ? status : write_labels(file, group, job, s, t, err);
}

int cli_marginals_netcdf_fit(const cli_job *job, const cli_selection *selection)
{
    const uint64_t always = (uint64_t)1 << 24;
    const uint64_t most = most_states(job, selection);
    uint64_t n_rows = 0;
    for (uint32_t i = 0; i < selection->n; i++) {
        n_rows += gbs_model_arity(job->model, selection->variable[i]);
    }
    if (n_rows == 0) {
        return cli_error(CLI_FAILED,
                         "NetCDF cannot hold the marginals of no variables; use --format "
                         "npz");
    }
    if (selection->n * most <= always + 8 * n_rows) {
        return CLI_DONE;
    }
    return cli_error(CLI_FAILED,
                     "a NetCDF of %" PRIu32 " variable%s by %" PRIu64 " state%s would be mostly "
                     "empty: there are %" PRIu64 " marginal%s; use --format npz",
                     selection->n, gbsi_plural(selection->n), most, gbsi_plural(most), n_rows,
                     gbsi_plural(n_rows));
}

gbs_status cli_marginals_netcdf(const cli_job *job, const char *path, const cli_estimates *e,
                                gbs_error *err)
{
    cli_netcdf file;
    table t = {.n = e->selection->n, .n_states = most_states(job, e->selection)};
    const size_t fit =
        SLAB_BYTES / (t.n_states * sizeof(double)); /* even a variable of 65 535 states fits */
    t.slab = t.n < fit ? t.n : fit;
    gbs_status status = cli_netcdf_open(&file, path, err);
    if (status >= 0) {
        const gbs_report *report = gbs_run_report(job->run);
        cli_netcdf_text(&file, "method", report->method);
        cli_netcdf_text(&file, "result_digest", report->digest);
        status = cli_netcdf_attributes(&file, job, err);
    }
    if (status >= 0) {
        status = write_groups(&file, job, e, &t, err);
    }
    if (status >= 0) {
        status = cli_netcdf_observed(&file, job, err);
    }
    return cli_netcdf_close(&file, status, err);
}
