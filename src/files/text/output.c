/* SPDX-License-Identifier: Apache-2.0 */
/* Writes files so that each appears whole or not at all. On systems with O_TMPFILE (Linux), a file
 * is written without a name. On other systems it has a temporary name in the folder of its final
 * name. The file is flushed to disk, then renamed. Without a name, nothing is left behind when the
 * process ends early. Two kinds of files cannot be replaced in this way and are written directly: a
 * file that is not regular (a pipe, a device), and an open standard stream (/dev/stdout). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "gibbsite/io.h"
#include "text/common.h"
#include "text/output.h"
#include "text/packing.h"

#define BUFFER_BYTES ((size_t)1 << 16)

struct gbs_output {
    int fd;
    char *name;   /* name for messages */
    char *target; /* path that the complete file gets; NULL if the file is written directly */
    /* name of the file until it is complete; "" while there is no temporary file */
    char *temporary;
    size_t temporary_size;
    gbsi_deflate *deflate; /* NULL if the file is not compressed with gzip */
    gbsi_zstd *zstd;       /* NULL if the file is not compressed with zstd */
    size_t n;              /* number of bytes in the buffer */
    uint64_t n_before;     /* number of bytes that were written before those in the buffer */
    char *buffer;          /* [BUFFER_BYTES] */
    bool to_memory;        /* whether all bytes go to memory, and none to a file */
    void *memory;          /* [memory_capacity] */
    size_t memory_capacity;
    size_t n_memory;
    bool fixed_floats;
    gbs_error error; /* error of the first write that failed */
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

/* @return the folder of a path, "." for a bare name, or NULL if there is no memory; freed by the
 *   caller. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *folder = gbsi_alloc(n + 2);
    if (folder != NULL) {
        memcpy(folder, path, n);
        memcpy(folder + n, ".", 2);
    }
    return folder;
}

gbs_status gbsi_output_target(const char *path, char **target, gbs_error *err)
{
    enum { MOST_LINKS = 40 };
    gbs_status status = GBS_OK;
    char link[PATH_MAX];
    char *at = NULL;
    ssize_t n = 0;
    GBSI_TRY(copy_text(path, &at, err));
    for (int i = 0; (n = readlink(at, link, sizeof link - 1)) >= 0; i++) {
        char *folder = i < MOST_LINKS ? folder_of(at) : NULL;
        link[n] = 0;
        if (folder == NULL) {
            status = i < MOST_LINKS ? gbsi_no_memory(err, path, (size_t)n)
                                    : gbsi_fail_errno(err, path, "cannot be written", ELOOP);
            goto cleanup;
        }
        const size_t size = strlen(folder) + (size_t)n + 2;
        gbsi_free(at);
        at = gbsi_alloc(size);
        if (at != NULL) {
            (void)snprintf(at, size, "%s%s%s", link[0] == '/' ? "" : folder,
                           link[0] == '/' ? "" : "/", link);
        }
        gbsi_free(folder);
        GBSI_TRY(GBSI_HAVE(err, path, at));
    }
    *target = at;
    at = NULL;

cleanup:
    gbsi_free(at);
    return status;
}

/* Finds the open descriptor that a path such as /dev/stdout or /dev/fd/3 names. If a new file
 * replaced such a path, it would not get the bytes that other programs write to the descriptor.
 * @return the descriptor, -1 for any other path. */
static int descriptor_of(const char *path, const struct stat *is)
{
    static const char folder[] = "/dev/fd/";
    struct stat open_file;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fstat(fd, &open_file) == 0 && open_file.st_dev == is->st_dev &&
            open_file.st_ino == is->st_ino) {
            return fd;
        }
    }
    if (strncmp(path, folder, sizeof folder - 1) == 0) {
        char *end = NULL;
        const long fd = strtol(path + sizeof folder - 1, &end, 10);
        return *end == 0 && end != path + sizeof folder - 1 && fd <= INT_MAX ? (int)fd : -1;
    }
    return -1;
}

static gbs_status open_straight(gbs_output *output, const char *path, const struct stat *is,
                                gbs_error *err)
{
    const int fd = descriptor_of(path, is);
    output->fd =
        fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : open(path, O_WRONLY | O_CLOEXEC);
    return output->fd >= 0 ? GBS_OK : gbsi_fail_errno(err, path, "cannot be opened", errno);
}

/* @return the descriptor of a file without a name, or -1 if this system or file system has no
 *   such files. */
static int open_unnamed(const char *target)
{
    int fd = -1;
#ifdef O_TMPFILE
    char *folder = folder_of(target);
    if (folder != NULL && access("/proc/self/fd", X_OK) == 0) {
        /* take_name() needs /proc/self/fd to give the file a name */
        fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    }
    gbsi_free(folder);
#else
    (void)target;
#endif
    return fd;
}

/* Finds a free temporary name beside the target. If the output has a file without a name, gives it
 * this name; otherwise creates a file with this name.
 * @return 0, or the value of errno. */
static int take_name(gbs_output *output)
{
    enum { ATTEMPTS = 1000 };
    char unnamed[64];
    int code = EEXIST;
    (void)snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", output->fd);
    for (int i = 0; i < ATTEMPTS && code == EEXIST; i++) {
        (void)snprintf(output->temporary, output->temporary_size, "%s.tmp-%ld-%d", output->target,
                       (long)getpid(), i);
        int done = 0;
        if (output->fd >= 0) {
            done = linkat(AT_FDCWD, unnamed, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW);
        } else {
            output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            done = output->fd;
        }
        code = done < 0 ? errno : 0;
    }
    if (code != 0) {
        output->temporary[0] = 0;
    }
    return code;
}

/* Opens a new file. A file that will replace a regular file gets the mode of the old file.
 * @param old NULL: no file of this name exists. */
static gbs_status open_new(gbs_output *output, const struct stat *old, gbs_error *err)
{
    output->temporary_size = strlen(output->target) + 48;
    output->temporary = gbsi_alloc_zero(output->temporary_size);
    GBSI_PASS(GBSI_HAVE(err, output->name, output->temporary));
    output->fd = open_unnamed(output->target);
    const int code = output->fd >= 0 ? 0 : take_name(output);
    if (code != 0) {
        return gbsi_fail_errno(err, output->name, "cannot be created", code);
    }
    if (old != NULL) {
        (void)fchmod(output->fd, old->st_mode & 07777);
    }
    return GBS_OK;
}

static gbs_status open_path(gbs_output *output, const char *path, gbs_error *err)
{
    struct stat old;
    const bool exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) {
        return gbsi_fail_errno(err, path, "cannot be written", EISDIR);
    }
    if (exists && (!S_ISREG(old.st_mode) || descriptor_of(path, &old) >= 0)) {
        return open_straight(output, path, &old, err);
    }
    GBSI_PASS(gbsi_output_target(path, &output->target, err));
    return open_new(output, exists ? &old : NULL, err);
}

/* Makes an output. The members that depend on the destination of the bytes are not set. */
static gbs_status new_output(const char *name, gbs_output **output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, name, made));
    made->fd = -1;
    made->buffer = gbsi_alloc(BUFFER_BYTES);
    GBSI_TRY(GBSI_HAVE(err, name, made->buffer));
    GBSI_TRY(copy_text(name, &made->name, err));
    *output = made;
    made = NULL;

cleanup:
    gbs_output_discard(made);
    return status;
}

gbs_status gbs_output_open(const char *path, gbs_output **output, gbs_error *err)
{
    GBSI_NEED(path, output);
    gbs_status status = GBS_OK;
    bool standard = strcmp(path, "-") == 0;
    gbs_output *made = NULL;
    GBSI_TRY(new_output(standard ? "<stdout>" : path, &made, err));
    const char *packing = path + gbsi_unpacked_length(path);
    if (!standard && gbsi_ends_in(path, strlen(path), ".gz", 3)) {
        GBSI_TRY(gbsi_deflate_new(path, &made->deflate, err));
    } else if (!standard && gbsi_ends_in(path, strlen(path), ".zst", 4)) {
        GBSI_TRY(gbsi_zstd_new(path, &made->zstd, err));
    } else if (!standard && *packing != 0) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: %s files are read and not written, expected .gz or .zst", path,
                           packing));
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
    GBSI_NEED(output);
    gbs_status status = new_output("<memory>", output, err);
    if (status == GBS_OK) {
        (*output)->to_memory = true;
    }
    return status;
}

static gbs_status error_of(const gbs_output *output, gbs_error *err)
{
    if (output->error.status < 0 && err != NULL) {
        *err = output->error;
    }
    return output->error.status;
}

gbs_status gbs_output_take(gbs_output *output, char **bytes, size_t *n, gbs_error *err)
{
    GBSI_NEED(output, bytes, n);
    if (!output->to_memory) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: it was not opened in memory", output->name);
    }
    flush(output, true);
    const gbs_status status = error_of(output, err);
    if (status == GBS_OK) {
        *bytes = output->memory;
        *n = output->n_memory;
        (*bytes)[*n] = 0; /* keep_in_memory() left room for this byte */
        output->memory = NULL;
    }
    gbs_output_discard(output);
    return status;
}

void gbsi_output_bytes(gbs_output *output, const void *bytes, size_t n)
{
    const char *from = bytes;
    if (output == NULL || bytes == NULL || output->buffer == NULL) {
        /* an output without a buffer is finished */
        return;
    }
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
    return output != NULL && output->fixed_floats;
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

/* Syncs the folder, so that the new name is on disk as well. Ignores failures, because some file
 * systems cannot sync a folder. */
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    const int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    gbsi_free(folder);
}

/* Writes all bytes to disk. On failure output->error says why. */
static void flush_to_disk(gbs_output *output)
{
    if (output->fd < 0 || output->buffer == NULL) {
        return;
    }
    flush(output, true);
    if (output->error.status == GBS_OK && output->target != NULL && fsync(output->fd) != 0) {
        (void)gbsi_fail_errno(&output->error, output->name, "cannot be flushed to disk", errno);
    }
    /* frees the memory early, because many outputs may wait for their commit */
    gbsi_deflate_free(output->deflate);
    output->deflate = NULL;
    gbsi_free(output->buffer);
    output->buffer = NULL;
}

static void name_unnamed(gbs_output *output)
{
    if (output->error.status == GBS_OK && output->target != NULL && output->temporary[0] == 0) {
        const int code = take_name(output);
        if (code != 0) {
            (void)gbsi_fail_errno(&output->error, output->name, "cannot be created", code);
        }
    }
}

gbs_status gbsi_output_finish(gbs_output *output, gbs_error *err)
{
    GBSI_NEED(output);
    flush_to_disk(output);
    name_unnamed(output); /* closing a file without a name would delete it */
    close_descriptor(output);
    return error_of(output, err);
}

/* Gives the new file its name; the output is not freed. */
static gbs_status put_in_place(gbs_output *output, gbs_error *err)
{
    name_unnamed(output);
    close_descriptor(output);
    if (output->error.status == GBS_OK && output->target != NULL) {
        if (rename(output->temporary, output->target) != 0) {
            (void)gbsi_fail_errno(&output->error, output->name, "cannot be renamed into place",
                                  errno);
        } else {
            output->temporary[0] = 0;
            sync_folder(output->target);
        }
    }
    return error_of(output, err);
}

/* Writes the bytes of all n outputs to disk. */
static gbs_status complete(gbs_output *const *output, size_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (size_t i = 0; i < n && status == GBS_OK; i++) {
        if (output[i] == NULL) {
            status = gbsi_fail(err, GBS_ERR_ARGUMENT, "output %zu of %zu is NULL", i, n);
        } else {
            flush_to_disk(output[i]);
            status = error_of(output[i], err);
        }
    }
    return status;
}

gbs_status gbsi_output_commit_now(gbs_output *const *output, size_t n, gbs_error *err)
{
    sigset_t all;
    sigset_t before;
    gbs_status status = complete(output, n, err);
    /* Signals are blocked. Otherwise a handler that ends the process could leave a file with its
     * temporary name. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    for (size_t i = 0; i < n && status == GBS_OK; i++) {
        status = put_in_place(output[i], err);
    }
    for (size_t i = 0; i < n; i++) {
        gbs_output_discard(output[i]);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* The complete files of this thread's set, which wait for the other files of the set. */
static _Thread_local struct {
    gbs_output **output;
    size_t n, capacity;
    bool open;
} set;

/* Adds complete files to the set of this thread. Files that are written without a temporary name
 * do not wait. */
static gbs_status let_wait(gbs_output *const *output, size_t n, gbs_error *err)
{
    void *grown = set.output;
    size_t taken = 0;
    gbs_status status = complete(output, n, err);
    if (status >= 0) {
        status = gbsi_reserve(&grown, &set.capacity, set.n + n, sizeof(void *), "files", err);
        set.output = grown;
    }
    for (; taken < n && status >= 0; taken++) {
        if (output[taken]->target != NULL) {
            set.output[set.n++] = output[taken];
        } else {
            status = put_in_place(output[taken], err);
            gbs_output_discard(output[taken]);
        }
    }
    for (; taken < n; taken++) {
        gbs_output_discard(output[taken]);
    }
    return status;
}

void gbsi_output_set_begin(void)
{
    set.open = true;
}

gbs_status gbsi_output_set_end(int keep, gbs_error *err)
{
    const gbs_status status = gbsi_output_commit_now(set.output, keep ? set.n : 0, err);
    for (size_t i = 0; i < set.n && !keep; i++) {
        gbs_output_discard(set.output[i]);
    }
    gbsi_free(set.output);
    set.output = NULL;
    set.n = 0;
    set.capacity = 0;
    set.open = false;
    return status;
}

gbs_status gbsi_output_commit_all(gbs_output *const *output, size_t n, gbs_error *err)
{
    if (n > 0) {
        GBSI_NEED(output);
    }
    return set.open ? let_wait(output, n, err) : gbsi_output_commit_now(output, n, err);
}

gbs_status gbs_output_commit(gbs_output *output, gbs_error *err)
{
    GBSI_NEED(output);
    return gbsi_output_commit_all(&output, 1, err);
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
    GBSI_FREE(output->temporary, output->target, output->name, output->buffer, output->memory,
              output);
}
