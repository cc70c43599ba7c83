/* SPDX-License-Identifier: Apache-2.0 */
/* NetCDF files that are read. */
#ifndef GIBBSITE_CLI_NETCDF_READ_H
#define GIBBSITE_CLI_NETCDF_READ_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"
#include "netcdf_library.h"
#include "src/files/arrays/arrays.h"

enum { CLI_NETCDF_DIMS = GBSI_ARRAY_MAX_DIMS, CLI_NETCDF_NAME = 257 };

typedef struct cli_netcdf_reader {
    cli_netcdf_library library;
    const char *path;
    int file;
} cli_netcdf_reader;

/* Reads the parts of an open file. @return an exit status, after a message. */
typedef int cli_netcdf_take(cli_netcdf_reader *reader, void *context);

/* Opens a file and calls take(), first in a separate process with a limit of processor time: on
 * some damaged files the library crashes or loops forever.
 * @return an exit status, after a message. */
int cli_netcdf_read(const char *path, cli_netcdf_take *take, void *context);

/* @return CLI_DONE, or an exit status after a message if the library reports an error. */
int cli_netcdf_checked(const cli_netcdf_reader *r, int code);

/* Reads the labels of a dimension from its coordinate, the variable with the dimension's name.
 * @return [length] labels, for cli_netcdf_free_labels(); NULL if the dimension has no labels. */
char **cli_netcdf_labels(const cli_netcdf_reader *r, int group, int dim, size_t length);
void cli_netcdf_free_labels(const cli_netcdf_reader *r, char **label, size_t length);

/* Reads the shape of a variable with at least two dimensions.
 * @param dim out: [CLI_NETCDF_DIMS] ids of the dimensions. @param shape out: [CLI_NETCDF_DIMS]
 *         their lengths.
 * @param n out: product of the dimensions' lengths, 0 if the product is too large. */
int cli_netcdf_shape(const cli_netcdf_reader *r, int group, int id, unsigned *n_dims, int *dim,
                     uint64_t *shape, size_t *n);

/* marginals_read_netcdf.c: reads marginals as gibbsite marginals writes them.
 * @param result out; free with gbs_result_free(). @return an exit status, after a message. */
int cli_marginals_read_netcdf(const char *path, gbs_result *result);

#endif
