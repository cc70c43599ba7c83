/* SPDX-License-Identifier: Apache-2.0 */
/* A NetCDF-4 file that is being written, and short functions that write its variables and
 * attributes. After the first failure, further calls do nothing, and the reason of the failure is
 * kept. */
#ifndef GIBBSITE_CLI_NETCDF_FILE_H
#define GIBBSITE_CLI_NETCDF_FILE_H

#include "kept_draws.h"
#include "netcdf_library.h"

typedef struct cli_netcdf {
    cli_netcdf_library nc;
    const char *path; /* path of the output; borrowed */
    char *target;     /* final path of the temporary file */
    char *temporary;  /* path of the temporary file; "" until the file exists */
    int root;         /* id of the root group */
    int open;
    int code; /* status of the first call that failed, or NC_NOERR */
} cli_netcdf;

/* Begin a file beside path. @return GBS_OK, or a failure with its reason. */
gbs_status cli_netcdf_open(cli_netcdf *file, const char *path, gbs_error *err);
/* Flushes the file and renames it if `status` is no failure and all calls succeeded; otherwise
 * removes the file. Frees `file`.
 * @return the status. */
gbs_status cli_netcdf_close(cli_netcdf *file, gbs_status status, gbs_error *err);

int cli_netcdf_group(cli_netcdf *file, const char *name);
/* Defines a group of draws, with the attributes that ArviZ gives each of its groups. */
int cli_netcdf_draws_group(cli_netcdf *file, const char *name);
int cli_netcdf_dim(cli_netcdf *file, int group, const char *name, size_t length);
/* Defines a variable without a fill value.
 * @param chunk NULL to store the data in one piece, else the size of the chunks, which are
 * deflated. */
int cli_netcdf_variable(cli_netcdf *file, int group, const char *name, cli_nc_type type, int n_dims,
                        const int *dim, const size_t *chunk);
void cli_netcdf_text(cli_netcdf *file, const char *name,
                     const char *value); /* adds a text attribute to the root group */
void cli_netcdf_put(cli_netcdf *file, int group, int variable, const size_t *start,
                    const size_t *count, const void *data);
void cli_netcdf_put_all(cli_netcdf *file, int group, int variable, const void *data);

/* ---- netcdf_model.c: the parts that all files contain ---------------------------------------- */

/* Writes a coordinate with the values 0, 1, 2, ... */
gbs_status cli_netcdf_count(cli_netcdf *file, int group, const char *name, int dim, size_t n,
                            gbs_error *err);
/* Writes the coordinate of a dimension of variables: their names if the model has names, else their
 * 0-based numbers. */
gbs_status cli_netcdf_names(cli_netcdf *file, int group, const char *name, int dim,
                            const gbs_model *model, const uint32_t *variable, uint32_t n,
                            gbs_error *err);
/* Writes card, the variables' numbers of states, and its coordinate. */
gbs_status cli_netcdf_variables(cli_netcdf *file, int group, const char *name, int dim,
                                const gbs_model *model, const cli_selection *selection,
                                gbs_error *err);
/* Writes attributes that tell which program made the file, when, and from which model. */
gbs_status cli_netcdf_attributes(cli_netcdf *file, const cli_job *job, gbs_error *err);
/* Writes the group observed_data, if there is evidence. */
gbs_status cli_netcdf_observed(cli_netcdf *file, const cli_job *job, gbs_error *err);

#endif
