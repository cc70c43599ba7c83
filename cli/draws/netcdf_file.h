/* SPDX-License-Identifier: Apache-2.0 */
/* A NetCDF-4 file that is being written, and short functions that write its variables and
 * attributes. After the first failure nothing more is done and its reason is kept. */
#ifndef GIBBSITE_CLI_NETCDF_FILE_H
#define GIBBSITE_CLI_NETCDF_FILE_H

#include "kept_draws.h"
#include "netcdf_library.h"

typedef struct cli_netcdf {
    cli_netcdf_library nc;
    const char *path; /* borrowed */
    char *target;     /* what the temporary file becomes */
    char *temporary;  /* "" until it exists */
    int root;         /* id of the root group */
    int open;
    int code; /* status of the first call that failed, or NC_NOERR */
} cli_netcdf;

/* Begin a file beside path. @return GBS_OK, or a failure with its reason. */
gbs_status cli_netcdf_open(cli_netcdf *file, const char *path, gbs_error *err);
/* Flush and rename into place if status and all calls say so; else remove it. Frees.
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
void cli_netcdf_text(cli_netcdf *file, const char *name, const char *value); /* of the root */
void cli_netcdf_put(cli_netcdf *file, int group, int variable, const size_t *start,
                    const size_t *count, const void *data);
void cli_netcdf_put_all(cli_netcdf *file, int group, int variable, const void *data);

/* ---- netcdf_model.c: what all files have ------------------------------------------------- */

/* Writes a coordinate that counts from 0. */
gbs_status cli_netcdf_count(cli_netcdf *file, int group, const char *name, int dim, size_t n,
                            gbs_error *err);
/* Writes a coordinate of variables: names if the model has any, else 0-based numbers. */
gbs_status cli_netcdf_names(cli_netcdf *file, int group, const char *name, int dim,
                            const gbs_model *model, const uint32_t *variable, uint32_t n,
                            gbs_error *err);
/* Writes card, the numbers of states, and their coordinate. */
gbs_status cli_netcdf_variables(cli_netcdf *file, int group, const char *name, int dim,
                                const gbs_model *model, const cli_selection *selection,
                                gbs_error *err);
/* Writes who made the file, when, and from what. */
gbs_status cli_netcdf_attributes(cli_netcdf *file, const cli_job *job, gbs_error *err);
/* Writes the group observed_data, if there is evidence. */
gbs_status cli_netcdf_observed(cli_netcdf *file, const cli_job *job, gbs_error *err);

#endif
