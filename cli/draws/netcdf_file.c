/* SPDX-License-Identifier: Apache-2.0 */
#include "netcdf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void keep(cli_netcdf *file, int code)
{
    if (file->code == NC_NOERR) {
        file->code = code;
    }
}

static gbs_status fail_errno(const cli_netcdf *file, const char *what, gbs_error *err)
{
    return cli_reason(err, GBS_ERR_IO, "%s: %s: %s", file->path, what,
                      strerror(errno)); // NOLINT(concurrency-mt-unsafe): one thread
}

gbs_status cli_netcdf_open(cli_netcdf *file, const char *path, gbs_error *err)
{
    struct stat is;
    memset(file, 0, sizeof *file);
    file->path = path;
    if (!cli_netcdf_library_open(&file->nc)) {
        return cli_reason(err, GBS_ERR_UNSUPPORTED, "%s: libnetcdf cannot be opened", path);
    }
    const int exists = stat(path, &is) == 0;
    if (exists && !S_ISREG(is.st_mode)) {
        return cli_reason(err, GBS_ERR_IO, "%s: NetCDF needs a regular file", path);
    }
    /* a symbolic link stays a link: the file that it points to is replaced */
    file->target = exists ? realpath(path, NULL) : strdup(path);
    const size_t size = file->target != NULL ? strlen(file->target) + 48 : 0;
    file->temporary = calloc(size + 1, 1);
    if (file->target == NULL || file->temporary == NULL) {
        return cli_reason(err, GBS_ERR_MEMORY, "out of memory");
    }
    (void)snprintf(file->temporary, size, "%s.tmp-%ld", file->target, (long)getpid());
    const int code = file->nc.create(file->temporary, NC_NETCDF4 | NC_NOCLOBBER, &file->root);
    if (code != NC_NOERR) {
        file->temporary[0] = '\0';
        return cli_reason(err, GBS_ERR_IO, "%s: cannot be created: %s", path,
                          file->nc.strerror(code));
    }
    file->open = 1;
    if (exists) {
        (void)chmod(file->temporary, is.st_mode & 07777);
    }
    return GBS_OK;
}

/* Flushes the file to disk and renames it; nc_close() does not flush the file. */
static gbs_status sync_and_rename(cli_netcdf *file, gbs_error *err)
{
    const int fd = open(file->temporary, O_RDONLY | O_CLOEXEC);
    const int synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!synced) {
        return fail_errno(file, "cannot be flushed to disk", err);
    }
    if (rename(file->temporary, file->target) != 0) {
        return fail_errno(file, "cannot be renamed into place", err);
    }
    file->temporary[0] = '\0';
    return GBS_OK;
}

gbs_status cli_netcdf_close(cli_netcdf *file, gbs_status status, gbs_error *err)
{
    if (file->open) {
        keep(file, file->nc.close(file->root));
    }
    if (status >= 0 && file->code != NC_NOERR) {
        status = cli_reason(err, GBS_ERR_IO, "%s: cannot be written: %s", file->path,
                            file->nc.strerror(file->code));
    }
    if (status >= 0) {
        status = sync_and_rename(file, err);
    }
    if (file->temporary != NULL && file->temporary[0] != '\0') {
        (void)unlink(file->temporary);
    }
    free(file->temporary);
    free(file->target);
    memset(file, 0, sizeof *file);
    return status;
}

int cli_netcdf_group(cli_netcdf *file, const char *name)
{
    int id = 0;
    if (file->code == NC_NOERR) {
        keep(file, file->nc.def_grp(file->root, name, &id));
    }
    return id;
}

int cli_netcdf_draws_group(cli_netcdf *file, const char *name)
{
    const char *dims[] = {"chain", "draw"};
    const struct {
        const char *name, *value;
    } made[] = {{"creation_library", "gibbsite"},
                {"creation_library_version", gbs_version()},
                {"creation_library_language", "C"}};
    const int group = cli_netcdf_group(file, name);
    for (size_t i = 0; i < sizeof made / sizeof made[0] && file->code == NC_NOERR; i++) {
        keep(file, file->nc.put_att_text(group, NC_GLOBAL, made[i].name, strlen(made[i].value),
                                         made[i].value));
    }
    if (file->code == NC_NOERR) {
        keep(file, file->nc.put_att_string(group, NC_GLOBAL, "sample_dims", 2, dims));
    }
    return group;
}

int cli_netcdf_dim(cli_netcdf *file, int group, const char *name, size_t length)
{
    int id = 0;
    if (file->code == NC_NOERR) {
        keep(file, file->nc.def_dim(group, name, length, &id));
    }
    return id;
}

int cli_netcdf_variable(cli_netcdf *file, int group, const char *name, cli_nc_type type, int n_dims,
                        const int *dim, const size_t *chunk)
{
    int id = 0;
    if (file->code == NC_NOERR) {
        keep(file, file->nc.def_var(group, name, (int)type, n_dims, dim, &id));
    }
    if (file->code == NC_NOERR && type != NC_STRING) {
        /* readers turn fill values into NaN and would therefore turn integers into floats */
        keep(file, file->nc.def_var_fill(group, id, NC_NOFILL, NULL));
    }
    if (file->code == NC_NOERR && chunk != NULL) {
        keep(file, file->nc.def_var_chunking(group, id, NC_CHUNKED, chunk));
        keep(file, file->nc.def_var_deflate(
                       group, id, 1, 1,
                       1)); /* compresses with the shuffle filter, at compression level 1 */
    }
    return id;
}

void cli_netcdf_text(cli_netcdf *file, const char *name, const char *value)
{
    if (file->code == NC_NOERR) {
        keep(file, file->nc.put_att_text(file->root, NC_GLOBAL, name, strlen(value), value));
    }
}

void cli_netcdf_put(cli_netcdf *file, int group, int variable, const size_t *start,
                    const size_t *count, const void *data)
{
    if (file->code == NC_NOERR) {
        keep(file, file->nc.put_vara(group, variable, start, count, data));
    }
}

void cli_netcdf_put_all(cli_netcdf *file, int group, int variable, const void *data)
{
    if (file->code == NC_NOERR) {
        keep(file, file->nc.put_var(group, variable, data));
    }
}
