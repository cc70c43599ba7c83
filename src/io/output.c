/* SPDX-License-Identifier: Apache-2.0 */
/* Written beside under another name, flushed to disk, renamed: whole or not at all. What is no
 * regular file (a pipe, a device) cannot be replaced so and is written straight. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "gibbsite/io.h"
#include "io/common.h"
#include "io/output.h"
#include "io/packing.h"

#define BUFFER_BYTES ((size_t)1 << 16)

struct gbs_output {
    int fd;
    char *name;      /* for messages */
    char *target;    /* what the temporary file becomes; NULL: written straight */
    char *temporary; /* "" until it exists */
    size_t temporary_size;
    gbsi_deflate *deflate; /* NULL: not compressed with gzip */
    gbsi_zstd *zstd;       /* NULL: not compressed with zstd */
    size_t n;              /* bytes in buffer */
    uint64_t n_before;     /* bytes that were in it before */
    char *buffer;          /* [BUFFER_BYTES] */
    bool to_memory;        /* all goes to memory, and nowhere else */
    void *memory;          /* [memory_capacity] */
    size_t memory_capacity;
    size_t n_memory;
    bool fixed_floats;
    gbs_error error; /* of the first write that failed */
};

static void write_descriptor(gbs_output *output, const char *bytes, size_t n)
{
    while (n > 0 && output->error.status == GBS_OK) {
        ssize_t done = write(output->fd, bytes, n < 1u << 30 ? n : 1u << 30);
        if (done < 0 && errno != EINTR) {
            (void)gbsi_fail_errno(&output->error, output->name, "cannot be written", errno);
        }
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
}

static void write_packed(void *context, const char *bytes, size_t n)
{
    write_descriptor(context, bytes, n);
}

static void keep_in_memory(gbs_output *output)
{
    if (output->n < SIZE_MAX - 1 - output->n_memory &&
        gbsi_reserve(&output->memory, &output->memory_capacity, output->n_memory + output->n + 1, 1,
                     output->name, &output->error) == GBS_OK) {
        memcpy((char *)output->memory + output->n_memory, output->buffer, output->n);
        output->n_memory += output->n;
    }
}

static void flush(gbs_output *output, bool last)
{
    if (output->error.status == GBS_OK) {
        if (output->to_memory) {
            keep_in_memory(output);
        } else if (output->deflate != NULL) {
            (void)gbsi_deflate_write(output->deflate, output->buffer, output->n, last, write_packed,
                                     output, &output->error);
        } else if (output->zstd != NULL) {
            (void)gbsi_zstd_write(output->zstd, output->buffer, output->n, last, write_packed,
                                  output, &output->error);
        } else {
            write_descriptor(output, output->buffer, output->n);
        }
    }
    output->n_before += output->n;
    output->n = 0;
}

/* A regular file keeps its mode when it is replaced. */
static gbs_status open_temporary(gbs_output *output, const struct stat *old, gbs_error *err)
{
    enum { ATTEMPTS = 1000 };
    int code = EEXIST;
    for (int i = 0; i < ATTEMPTS && code == EEXIST; i++) {
        (void)snprintf(output->temporary, output->temporary_size, "%s.tmp-%ld-%d", output->target,
                       (long)getpid(), i);
        output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        code = output->fd < 0 ? errno : 0;
    }
    if (code != 0) {
        output->temporary[0] = 0;
        return gbsi_fail_errno(err, output->name, "cannot be created", code);
    }
    if (old != NULL) {
        (void)fchmod(output->fd, old->st_mode & 07777);
    }
    return GBS_OK;
}

static gbs_status copy_text(const char *text, char **copy, gbs_error *err)
{
    size_t size = strlen(text) + 1;
    *copy = gbsi_alloc(size);
    if (*copy == NULL) {
        return gbsi_no_memory(err, text, size);
    }
    memcpy(*copy, text, size);
    return GBS_OK;
}

static gbs_status open_path(gbs_output *output, const char *path, gbs_error *err)
{
    gbs_status status = GBS_OK;
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) {
        return gbsi_fail_errno(err, path, "cannot be written", EISDIR);
    }
    if (exists && !S_ISREG(old.st_mode)) {
        output->fd = open(path, O_WRONLY | O_CLOEXEC);
        return output->fd >= 0 ? GBS_OK : gbsi_fail_errno(err, path, "cannot be opened", errno);
    }
    /* A symbolic link stays one: what it points to is replaced. */
    char *resolved = exists ? realpath(path, NULL) : NULL;
    GBSI_TRY(copy_text(resolved != NULL ? resolved : path, &output->target, err));
    output->temporary_size = strlen(output->target) + 48;
    output->temporary = gbsi_alloc_zero(output->temporary_size);
    if (output->temporary == NULL) {
        status = gbsi_no_memory(err, path, output->temporary_size);
        goto cleanup;
    }
    status = open_temporary(output, exists ? &old : NULL, err);

cleanup:
    free(resolved);
    return status;
}

/* All that does not depend on where the bytes go. */
static gbs_status new_output(const char *name, gbs_output **output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *made = gbsi_alloc_zero(sizeof *made);
    if (made == NULL) {
        return gbsi_no_memory(err, name, sizeof *made);
    }
    made->fd = -1;
    made->buffer = gbsi_alloc(BUFFER_BYTES);
    if (made->buffer == NULL) {
        status = gbsi_no_memory(err, name, BUFFER_BYTES);
        goto cleanup;
    }
    GBSI_TRY(copy_text(name, &made->name, err));
    *output = made;
    made = NULL;

cleanup:
    gbs_output_discard(made);
    return status;
}

gbs_status gbs_output_open(const char *path, gbs_output **output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool standard = strcmp(path, "-") == 0;
    gbs_output *made = NULL;
    GBSI_TRY(new_output(standard ? "<stdout>" : path, &made, err));
    const char *packing = path + gbs_unpacked_length(path);
    if (!standard && strlen(packing) == strlen(".gz")) {
        GBSI_TRY(gbsi_deflate_new(path, &made->deflate, err));
    } else if (!standard && *packing != 0) {
        GBSI_TRY(gbsi_zstd_new(path, &made->zstd, err));
    }
    if (standard) {
        made->fd = STDOUT_FILENO;
    } else {
        GBSI_TRY(open_path(made, path, err));
    }
    *output = made;
    made = NULL;

cleanup:
    gbs_output_discard(made);
    return status;
}

gbs_status gbs_output_open_memory(gbs_output **output, gbs_error *err)
{
    gbs_status status = new_output("<memory>", output, err);
    if (status == GBS_OK) {
        (*output)->to_memory = true;
    }
    return status;
}

gbs_status gbs_output_take(gbs_output *output, char **bytes, size_t *n, gbs_error *err)
{
    flush(output, true);
    gbs_status status = output->error.status;
    if (status < 0) {
        if (err != NULL) {
            *err = output->error;
        }
    } else {
        *bytes = output->memory;
        *n = output->n_memory;
        (*bytes)[*n] = 0; /* keep_in_memory() left room for it */
        output->memory = NULL;
    }
    gbs_output_discard(output);
    return status;
}

void gbs_output_bytes(gbs_output *output, const void *bytes, size_t n)
{
    const char *from = bytes;
    while (n > 0) {
        if (output->n == BUFFER_BYTES) {
            flush(output, false);
        }
        size_t room = BUFFER_BYTES - output->n;
        size_t part = n < room ? n : room;
        memcpy(output->buffer + output->n, from, part);
        output->n += part;
        from += part;
        n -= part;
    }
}

void gbsi_output_fixed_floats(gbs_output *output, bool fixed)
{
    output->fixed_floats = fixed;
}

bool gbsi_output_has_fixed_floats(const gbs_output *output)
{
    return output->fixed_floats;
}

const char *gbsi_output_name(const gbs_output *output)
{
    return output->name;
}

uint64_t gbsi_output_length(const gbs_output *output)
{
    return output->n_before + output->n;
}

static void close_descriptor(gbs_output *output)
{
    if (output->fd > STDERR_FILENO && close(output->fd) != 0 && output->error.status == GBS_OK) {
        (void)gbsi_fail_errno(&output->error, output->name, "cannot be written", errno);
    }
    output->fd = -1;
}

/* So that the new name is on disk as well; some file systems cannot, which is no failure. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *folder = gbsi_alloc(n + 2);
    if (folder == NULL) {
        return;
    }
    memcpy(folder, path, n);
    memcpy(folder + n, ".", 2);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    gbsi_free(folder);
}

gbs_status gbs_output_finish(gbs_output *output, gbs_error *err)
{
    if (output->fd >= 0) {
        flush(output, true);
        if (output->error.status == GBS_OK && output->target != NULL && fsync(output->fd) != 0) {
            (void)gbsi_fail_errno(&output->error, output->name, "cannot be flushed to disk", errno);
        }
        close_descriptor(output);
        gbsi_deflate_free(output->deflate); /* many outputs may wait for their commit */
        output->deflate = NULL;
        gbsi_free(output->buffer);
        output->buffer = NULL;
    }
    if (output->error.status < 0 && err != NULL) {
        *err = output->error;
    }
    return output->error.status;
}

gbs_status gbs_output_commit(gbs_output *output, gbs_error *err)
{
    (void)gbs_output_finish(output, NULL);
    if (output->error.status == GBS_OK && output->target != NULL) {
        if (rename(output->temporary, output->target) != 0) {
            (void)gbsi_fail_errno(&output->error, output->name, "cannot be renamed into place",
                                  errno);
        } else {
            output->temporary[0] = 0;
            sync_folder(output->target);
        }
    }
    gbs_status status = output->error.status;
    if (status < 0 && err != NULL) {
        *err = output->error;
    }
    gbs_output_discard(output);
    return status;
}

void gbs_output_discard(gbs_output *output)
{
    if (output == NULL) {
        return;
    }
    close_descriptor(output);
    if (output->temporary != NULL && output->temporary[0] != 0) {
        (void)unlink(output->temporary);
    }
    gbsi_deflate_free(output->deflate);
    gbsi_zstd_free(output->zstd);
    gbsi_free(output->temporary);
    gbsi_free(output->target);
    gbsi_free(output->name);
    gbsi_free(output->buffer);
    gbsi_free(output->memory);
    gbsi_free(output);
}
