/* SPDX-License-Identifier: Apache-2.0 */
/* Reads draws in ArviZ's schema from NetCDF. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "draws_read.h"
#include "netcdf_read.h"

static double at_double(const void *data, size_t i)
{
    return ((const double *)data)[i];
}

static int take(cli_drawn *d, const cli_netcdf_reader *r, int group, int id)
{
    char name[CLI_NETCDF_NAME] = "";
    uint64_t shape[CLI_NETCDF_DIMS] = {0};
    int dim[CLI_NETCDF_DIMS] = {0};
    char **label[CLI_NETCDF_DIMS] = {0};
    unsigned n_dims = 0;
    size_t n = 0;
    int status = cli_netcdf_checked(r, r->library.inq_varname(group, id, name));
    if (status == CLI_DONE) {
        status = cli_netcdf_shape(r, group, id, &n_dims, dim, shape, &n);
    }
    if (status != CLI_DONE || n == 0 ||
        (d->n > 0 && (shape[0] != d->n_chains || shape[1] != d->n_draws))) {
        return status;
    }
    if (!cli_drawn_take(d, n * sizeof(double))) {
        return CLI_FAILED;
    }
    double *values = calloc(n, sizeof *values);
    CLI_PASS(CLI_HAVE(values));
    if (r->library.get_var_double(group, id, values) ==
        NC_NOERR) { /* variables of text are not draws */
        d->n_chains = (size_t)shape[0];
        d->n_draws = (size_t)shape[1];
        for (unsigned k = 2; k < n_dims; k++) {
            label[k] = cli_netcdf_labels(r, group, dim[k], (size_t)shape[k]);
        }
        status = cli_drawn_add_array(d, name, shape, n_dims, (char *const *const *)label, at_double,
                                     values);
    }
    for (unsigned k = 2; k < n_dims; k++) {
        cli_netcdf_free_labels(r, label[k], (size_t)shape[k]);
    }
    free(values);
    cli_drawn_give(d, n * sizeof *values);
    return status;
}

static int take_group(cli_drawn *d, const cli_netcdf_reader *r, const char *name, const char *only)
{
    int group = 0;
    int n = 0;
    if (r->library.inq_grp_ncid(r->file, name, &group) != NC_NOERR) {
        return CLI_DONE;
    }
    int status = cli_netcdf_checked(r, r->library.inq_varids(group, &n, NULL));
    int *id = status == CLI_DONE ? calloc((size_t)n + 1, sizeof *id) : NULL;
    if (status == CLI_DONE && id == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    if (status == CLI_DONE) {
        status = cli_netcdf_checked(r, r->library.inq_varids(group, &n, id));
    }
    for (int i = 0; i < n && status == CLI_DONE; i++) {
        char of[CLI_NETCDF_NAME] = "";
        status = cli_netcdf_checked(r, r->library.inq_varname(group, id[i], of));
        if (status == CLI_DONE && (only == NULL || strcmp(of, only) == 0)) {
            status = take(d, r, group, id[i]);
        }
    }
    free(id);
    return status;
}

static int take_draws(cli_netcdf_reader *r, void *context)
{
    cli_drawn *d = context;
    int status = take_group(d, r, "posterior", NULL);
    if (status == CLI_DONE && d->n > 0) {
        status = take_group(d, r, "sample_stats", "lp");
    }
    return status;
}

int cli_drawn_read_netcdf(cli_drawn *d, const char *path)
{
    const int status = cli_netcdf_read(path, take_draws, d);
    return status == CLI_DONE && d->n == 0
               ? cli_error(CLI_INPUT,
                           "%s: found no draws, expected variables [chain, draw, ...] in a group "
                           "called posterior",
                           path)
               : status;
}
