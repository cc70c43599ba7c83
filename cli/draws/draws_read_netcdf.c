/* SPDX-License-Identifier: Apache-2.0 */
/* Reads draws in ArviZ's schema: */
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

#include "draws_read.h"
#include "netcdf_library.h"
#include "src/files/arrays/arrays.h"

enum { MOST_DIMS = GBSI_ARRAY_MAX_DIMS, NAME_BYTES = 257 };
enum {
    SECONDS = 2,
    BYTES_A_SECOND = 10000000
}; /* limits of processor time: these seconds are added to the time for the size of the file */

typedef struct reader {
    cli_netcdf_library library;
    const char *path;
    int file;
} reader;

/* @return CLI_DONE, or an exit status after a message if the library reports an error. */
static int check(const reader *r, int code)
{
    return code == NC_NOERR ? CLI_DONE
                            : cli_error(CLI_INPUT, "%s: %s", r->path, r->library.strerror(code));
}

static double at_double(const void *data, size_t i)
{
    return ((const double *)data)[i];
}

/* Reads the labels of a dimension from its coordinate, the variable with the dimension's name.
 * @return [length] labels, for free_labels(); NULL if the dimension has no labels. */
static char **labels_of(const reader *r, int group, int dim, size_t length)
{
    const cli_netcdf_library *nc = &r->library;
    char name[NAME_BYTES] = "";
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

static void free_labels(const reader *r, char **label, size_t length)
{
    if (label != NULL) {
        (void)r->library.free_string(length, label);
        free(label);
    }
}

/* @param dim out: ids of the dimensions. @param n out: product of the dimensions' lengths, 0 if the
 *         product is too large. */
static int shape_of(const reader *r, int group, int id, unsigned *n_dims, int *dim, uint64_t *shape,
                    size_t *n)
{
    int count = 0;
    int status = check(r, r->library.inq_varndims(group, id, &count));
    *n = 0;
    *n_dims = (unsigned)count;
    if (status != CLI_DONE || count < 2 || count > MOST_DIMS) {
        return status;
    }
    *n = 1;
    status = check(r, r->library.inq_vardimid(group, id, dim));
    for (int k = 0; k < count && status == CLI_DONE; k++) {
        size_t length = 0;
        status = check(r, r->library.inq_dimlen(group, dim[k], &length));
        *n = length > 0 && *n > SIZE_MAX / sizeof(double) / length ? 0 : *n * length;
        shape[k] = length;
    }
    return status;
}

static int take(cli_drawn *d, const reader *r, int group, int id)
{
    char name[NAME_BYTES] = "";
    uint64_t shape[MOST_DIMS] = {0};
    int dim[MOST_DIMS] = {0};
    char **label[MOST_DIMS] = {0};
    unsigned n_dims = 0;
    size_t n = 0;
    int status = check(r, r->library.inq_varname(group, id, name));
    if (status == CLI_DONE) {
        status = shape_of(r, group, id, &n_dims, dim, shape, &n);
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
            label[k] = labels_of(r, group, dim[k], (size_t)shape[k]);
        }
        status = cli_drawn_add_array(d, name, shape, n_dims, (char *const *const *)label, at_double,
                                     values);
    }
    for (unsigned k = 2; k < n_dims; k++) {
        free_labels(r, label[k], (size_t)shape[k]);
    }
    free(values);
    cli_drawn_give(d, n * sizeof *values);
    return status;
}

static int take_group(cli_drawn *d, const reader *r, const char *name, const char *only)
{
    int group = 0;
    int n = 0;
    if (r->library.inq_grp_ncid(r->file, name, &group) != NC_NOERR) {
        return CLI_DONE;
    }
    int status = check(r, r->library.inq_varids(group, &n, NULL));
    int *id = status == CLI_DONE ? calloc((size_t)n + 1, sizeof *id) : NULL;
    if (status == CLI_DONE && id == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    if (status == CLI_DONE) {
        status = check(r, r->library.inq_varids(group, &n, id));
    }
    for (int i = 0; i < n && status == CLI_DONE; i++) {
        char of[NAME_BYTES] = "";
        status = check(r, r->library.inq_varname(group, id[i], of));
        if (status == CLI_DONE && (only == NULL || strcmp(of, only) == 0)) {
            status = take(d, r, group, id[i]);
        }
    }
    free(id);
    return status;
}

static int take_file(cli_drawn *d, reader *r)
{
    int status = check(r, r->library.open(r->path, NC_NOWRITE, &r->file));
    if (status != CLI_DONE) {
        return status;
    }
    status = take_group(d, r, "posterior", NULL);
    if (status == CLI_DONE && d->n > 0) {
        status = take_group(d, r, "sample_stats", "lp");
    }
    (void)r->library.close(r->file);
    return status;
}

/* Reads the file in a separate process first, with a limit of processor time: on some damaged files
 * the library crashes or loops forever. The second reading reports any other mistake. */
static int try_file(cli_drawn *d, reader *r)
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
        (void)take_file(d, r);
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

int cli_drawn_read_netcdf(cli_drawn *d, const char *path)
{
    reader r = {.path = path};
    if (!cli_netcdf_library_open(&r.library)) {
        return cli_error(CLI_INPUT, "%s: NetCDF needs libnetcdf, which is not installed", path);
    }
    int status = try_file(d, &r);
    status = status == CLI_DONE ? take_file(d, &r) : status;
    return status == CLI_DONE && d->n == 0
               ? cli_error(CLI_INPUT,
                           "%s: found no draws, expected variables [chain, draw, ...] in a group "
                           "called posterior",
                           path)
               : status;
}
