/* SPDX-License-Identifier: Apache-2.0 */
/* Opens NetCDF files for reading, and reads shapes and labels. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "netcdf_read.h"

enum {
    SECONDS = 2,
    BYTES_A_SECOND = 10000000
}; /* limits of processor time: these seconds are added to the time for the size of the file */

int cli_netcdf_checked(const cli_netcdf_reader *r, int code)
{
    return code == NC_NOERR ? CLI_DONE
                            : cli_error(CLI_INPUT, "%s: %s", r->path, r->library.strerror(code));
}

char **cli_netcdf_labels(const cli_netcdf_reader *r, int group, int dim, size_t length)
{
    const cli_netcdf_library *nc = &r->library;
    char name[CLI_NETCDF_NAME] = "";
    int id = 0;
    int type = 0;
    int n_dims = 0;
    int of = 0;
    if (nc->inq_dimname(group, dim, name) != NC_NOERR ||
        nc->inq_varid(group, name, &id) != NC_NOERR ||
        nc->inq_vartype(group, id, &type) != NC_NOERR || type != NC_STRING ||
        nc->inq_varndims(group, id, &n_dims) != NC_NOERR || n_dims != 1 ||
        nc->inq_vardimid(group, id, &of) != NC_NOERR || of != dim) {
        return NULL;
    }
    char **label = calloc(length + 1, sizeof *label);
    int whole = label != NULL && nc->get_var_string(group, id, label) == NC_NOERR;
    for (size_t i = 0; i < length && whole; i++) {
        whole = label[i] != NULL;
    }
    if (!whole) {
        free(label);
        return NULL;
    }
    return label;
}

void cli_netcdf_free_labels(const cli_netcdf_reader *r, char **label, size_t length)
{
    if (label != NULL) {
        (void)r->library.free_string(length, label);
        free(label);
    }
}

int cli_netcdf_shape(const cli_netcdf_reader *r, int group, int id, unsigned *n_dims, int *dim,
                     uint64_t *shape, size_t *n)
{
    int count = 0;
    int status = cli_netcdf_checked(r, r->library.inq_varndims(group, id, &count));
    *n = 0;
    *n_dims = (unsigned)count;
    if (status != CLI_DONE || count < 2 || count > CLI_NETCDF_DIMS) {
        return status;
    }
    *n = 1;
    status = cli_netcdf_checked(r, r->library.inq_vardimid(group, id, dim));
    for (int k = 0; k < count && status == CLI_DONE; k++) {
        size_t length = 0;
        status = cli_netcdf_checked(r, r->library.inq_dimlen(group, dim[k], &length));
        *n = length > 0 && *n > SIZE_MAX / sizeof(double) / length ? 0 : *n * length;
        shape[k] = length;
    }
    return status;
}

static int take_file(cli_netcdf_reader *r, cli_netcdf_take *take, void *context)
{
    int status = cli_netcdf_checked(r, r->library.open(r->path, NC_NOWRITE, &r->file));
    if (status == CLI_DONE) {
        status = take(r, context);
        (void)r->library.close(r->file);
    }
    return status;
}

/* Reads the file in a separate process first, with a limit of processor time: on some damaged files
 * the library crashes or loops forever. The second reading reports any other mistake. */
static int try_file(cli_netcdf_reader *r, cli_netcdf_take *take, void *context)
{
    struct stat file;
    int ended = 0;
    const rlim_t seconds =
        SECONDS + (stat(r->path, &file) == 0 ? (rlim_t)file.st_size / BYTES_A_SECOND : 0);
    const struct rlimit time = {seconds, seconds};
    const struct rlimit none = {0, 0};
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        (void)dup2(nowhere, STDERR_FILENO);
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)setrlimit(RLIMIT_CPU, &time);
        (void)take_file(r, take, context);
        _exit(0);
    }
    while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    return child < 0 || (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
               ? CLI_DONE
               : cli_error(CLI_INPUT, "%s: the file is damaged: the NetCDF library %s", r->path,
                           WIFSIGNALED(ended) &&
                                   (WTERMSIG(ended) == SIGXCPU || WTERMSIG(ended) == SIGKILL)
                               ? "does not come to an end with it"
                               : "crashes when it reads it");
}

int cli_netcdf_read(const char *path, cli_netcdf_take *take, void *context)
{
    cli_netcdf_reader r = {.path = path};
    if (!cli_netcdf_library_open(&r.library)) {
        return cli_error(CLI_INPUT, "%s: NetCDF needs libnetcdf, which is not installed", path);
    }
    const int status = try_file(&r, take, context);
    return status == CLI_DONE ? take_file(&r, take, context) : status;
}
