/* SPDX-License-Identifier: Apache-2.0 */
/* The part of libnetcdf that this program uses. The library is opened when the user asks for a
 * NetCDF file. The program can therefore start without the library, and be built without its
 * header. Values and prototypes are copied from netcdf.h; they are equal in every release since 4.0
 * (2008). */
#ifndef GIBBSITE_CLI_NETCDF_LIBRARY_H
#define GIBBSITE_CLI_NETCDF_LIBRARY_H

#include <stddef.h>

#define NC_NOERR     0
#define NC_GLOBAL    (-1)
#define NC_NOWRITE   0x0000
#define NC_NOCLOBBER 0x0004
#define NC_NETCDF4   0x1000
#define NC_CHUNKED   0
#define NC_NOFILL    0x100

typedef enum cli_nc_type {
    NC_INT = 4,
    NC_DOUBLE = 6,
    NC_UBYTE = 7,
    NC_USHORT = 8,
    NC_INT64 = 10,
    NC_UINT64 = 11,
    NC_STRING = 12
} cli_nc_type;

/* The functions of the library: NAME(...) stands for nc_NAME(...); a NetCDF type is an int in these
 * prototypes. */
typedef struct cli_netcdf_library {
    int (*open)(const char *path, int mode, int *file);
    int (*inq_grp_ncid)(int parent, const char *name, int *group);
    int (*inq_varids)(int group, int *n, int *id);
    int (*inq_varname)(int group, int id, char *name);
    int (*inq_varndims)(int group, int id, int *n);
    int (*inq_vardimid)(int group, int id, int *dim);
    int (*inq_dimlen)(int group, int dim, size_t *length);
    int (*get_var_double)(int group, int id, double *data);
    int (*inq_dimname)(int group, int dim, char *name);
    int (*inq_varid)(int group, const char *name, int *id);
    int (*inq_vartype)(int group, int id, int *type);
    int (*get_var_string)(int group, int id, char **data);
    int (*free_string)(size_t length, char **data);
    int (*create)(const char *path, int mode, int *file);
    int (*close)(int file);
    const char *(*strerror)(int code);
    int (*def_grp)(int parent, const char *name, int *group);
    int (*def_dim)(int group, const char *name, size_t length, int *dim);
    int (*def_var)(int group, const char *name, int type, int n_dims, const int *dim, int *id);
    int (*def_var_fill)(int group, int id, int no_fill, const void *value);
    int (*def_var_chunking)(int group, int id, int storage, const size_t *chunk);
    int (*def_var_deflate)(int group, int id, int shuffle, int deflate, int level);
    int (*put_att_text)(int group, int id, const char *name, size_t length, const char *text);
    int (*put_att_string)(int group, int id, const char *name, size_t length, const char **text);
    int (*put_att_ulonglong)(int group, int id, const char *name, int type, size_t length,
                             const unsigned long long *value);
    int (*put_vara)(int group, int id, const size_t *start, const size_t *count, const void *data);
    int (*put_var)(int group, int id, const void *data);
} cli_netcdf_library;

/* Opens the library; further calls return at once.
 * @return whether the library was found and has all functions. */
int cli_netcdf_library_open(cli_netcdf_library *library);

#endif
