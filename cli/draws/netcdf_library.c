/* SPDX-License-Identifier: Apache-2.0 */
#include "netcdf_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Opens the shared library under the first name that exists. The number at the end of the file's
 * name depends on the release; it is 13 for 4.6, 19 for 4.9.0, and 22 for 4.9.3. Only developers'
 * packages install a name without a number. */
static void *open_any(void)
{
    char name[32] = "libnetcdf.so";
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    for (int number = 40; number >= 11 && handle == NULL; number--) {
        (void)snprintf(name, sizeof name, "libnetcdf.so.%d", number);
        handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    return handle;
}

int cli_netcdf_library_open(cli_netcdf_library *library)
{
    const struct {
        const char *name;
        void *place; /* address of the pointer to the function */
    } calls[] = {
        {"nc_open", &library->open},
        {"nc_inq_grp_ncid", &library->inq_grp_ncid},
        {"nc_inq_varids", &library->inq_varids},
        {"nc_inq_varname", &library->inq_varname},
        {"nc_inq_varndims", &library->inq_varndims},
        {"nc_inq_vardimid", &library->inq_vardimid},
        {"nc_inq_dimlen", &library->inq_dimlen},
        {"nc_get_var_double", &library->get_var_double},
        {"nc_inq_dimname", &library->inq_dimname},
        {"nc_inq_varid", &library->inq_varid},
        {"nc_inq_vartype", &library->inq_vartype},
        {"nc_get_var_string", &library->get_var_string},
        {"nc_free_string", &library->free_string},
        {"nc_create", &library->create},
        {"nc_close", &library->close},
        {"nc_strerror", &library->strerror},
        {"nc_def_grp", &library->def_grp},
        {"nc_def_dim", &library->def_dim},
        {"nc_def_var", &library->def_var},
        {"nc_def_var_fill", &library->def_var_fill},
        {"nc_def_var_chunking", &library->def_var_chunking},
        {"nc_def_var_deflate", &library->def_var_deflate},
        {"nc_put_att_text", &library->put_att_text},
        {"nc_put_att_string", &library->put_att_string},
        {"nc_put_att_ulonglong", &library->put_att_ulonglong},
        {"nc_put_vara", &library->put_vara},
        {"nc_put_var", &library->put_var},
    };
    void *handle = open_any();
    int whole = handle != NULL;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0] && whole; i++) {
        void *const symbol = dlsym(handle, calls[i].name);
        memcpy(calls[i].place, &symbol,
               sizeof symbol); /* POSIX: pointers to data and to functions have the same size */
        whole = symbol != NULL;
    }
    return whole;
}
