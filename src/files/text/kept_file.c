/* SPDX-License-Identifier: Apache-2.0 */
#include "text/kept_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "text/common.h"
#include "text/output.h"

enum { HEAD = 24, SEAL = 32 };

/* @return the text "PATH" followed by `more`; freed by the caller. */
static char *path_with(const char *path, size_t n, const char *more)
{
    char *text = gbsi_alloc(n + strlen(more) + 1);
    if (text != NULL) {
        memcpy(text, path, n);
        memcpy(text + n, more, strlen(more) + 1);
    }
    return text;
}

gbs_status gbsi_kept_beside(const char *path, const char *ending, char **name, gbs_error *err)
{
    char *target = NULL;
    GBSI_PASS(gbsi_output_target(path, &target, err));
    *name = path_with(target, strlen(target), ending);
    gbsi_free(target);
    return *name == NULL ? gbsi_no_memory(err, path, strlen(path)) : GBS_OK;
}

gbs_status gbsi_kept_owns(const char *path, const char *name, bool *owns, gbs_error *err)
{
    static const char *const ending[] = {GBSI_KEPT_BEFORE, GBSI_KEPT_LOCK, GBSI_KEPT_DRAWS};
    *owns = false;
    for (size_t i = 0; !*owns && i < sizeof ending / sizeof ending[0]; i++) {
        char *beside = NULL;
        GBSI_PASS(gbsi_kept_beside(path, ending[i], &beside, err));
        *owns = strcmp(name, beside) == 0;
        gbsi_free(beside);
    }
    return GBS_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static gbs_status count(void *context, const void *bytes, size_t n, gbs_error *err)
{
    (void)bytes;
    (void)err;
    *(uint64_t *)context += n;
    return GBS_OK;
}

typedef struct writer {
    gbs_output *output;
    gbsi_digest *digest;
} writer;

static gbs_status put(void *context, const void *bytes, size_t n, gbs_error *err)
{
    writer *w = context;
    (void)err;
    gbsi_digest_bytes(w->digest, bytes, n);
    gbsi_output_bytes(w->output, bytes, n);
    return GBS_OK;
}

static gbs_status put_all(writer *w, const gbsi_kept_form *form, uint64_t size,
                          const gbsi_kept_content *content, gbs_error *err)
{
    const gbsi_sink sink = {w, put};
    const uint32_t version[2] = {form->version, 0};
    char text[SEAL + 1];
    GBSI_PASS(put(w, form->magic, sizeof form->magic, err));
    GBSI_PASS(gbsi_put_numbers(&sink, version, 2, sizeof version[0], err));
    GBSI_PASS(gbsi_put_numbers(&sink, &size, 1, sizeof size, err));
    GBSI_PASS(content->save(content->object, &sink, err));
    gbsi_digest_text(w->digest, text);
    gbsi_output_bytes(w->output, text, SEAL);
    return GBS_OK;
}

static gbs_status check_room(const char *path, uint64_t bytes, unsigned n_rooms, gbs_error *err)
{
    struct statvfs disk;
    const char *slash = strrchr(path, '/');
    char *folder = path_with(path, slash == NULL ? 0 : (size_t)(slash - path) + 1, ".");
    if (folder == NULL) {
        return gbsi_no_memory(err, path, strlen(path));
    }
    const int done = statvfs(folder, &disk);
    const int code = errno;
    gbsi_free(folder);
    if (done != 0) {
        return gbsi_fail_errno(err, path, "cannot be written", code);
    }
    const double room = (double)disk.f_bavail * (double)disk.f_frsize;
    return room >= (double)bytes * n_rooms
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_IO,
                           "%s: no room: %" PRIu64 " bytes are needed%s, %.0f are free", path,
                           bytes * n_rooms, n_rooms == 2 ? " for it and the next one" : "", room);
}

/* Whether a file begins like a file of this form or of a related one. Checkpoints of runs and
 * checkpoints of learning share their first three bytes. */
static bool is_related(const char *path, const gbsi_kept_form *form)
{
    enum { SHARED = 3 };
    unsigned char magic[SHARED];
    FILE *file = fopen(path, "rb");
    const bool related = file != NULL && fread(magic, 1, SHARED, file) == SHARED &&
                         memcmp(magic, form->magic, SHARED) == 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return related;
}

gbs_status gbsi_kept_check_own(const char *path, const gbsi_kept_form *form, gbs_error *err)
{
    struct stat is;
    if (stat(path, &is) != 0) {
        return GBS_OK;
    }
    if (!S_ISREG(is.st_mode)) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT, "%s: found %s, expected a %s or none: choose another name", path,
            S_ISDIR(is.st_mode) ? "a folder" : "something that is no regular file", form->what);
    }
    return is.st_size == 0 || is_related(path, form)
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: found a file that is no %s and would be replaced, expected a %s "
                           "or none: move it, or choose another name",
                           path, form->what, form->what);
}

/* Checks that the files PATH and PATH~ may be replaced, and that the extension of PATH does not ask
 * for compression. Each of the two may be a file of the form, an empty file, or missing. */
static gbs_status check_place(const char *path, const gbsi_kept_form *form, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char *before = NULL;
    if (path[gbsi_unpacked_length(path)] != '\0') {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: a %s is not compressed: choose another name",
                         path, form->what);
    }
    GBSI_PASS(gbsi_kept_beside(path, GBSI_KEPT_BEFORE, &before, err));
    status = gbsi_kept_check_own(path, form, err);
    status = status < 0 ? status : gbsi_kept_check_own(before, form, err);
    gbsi_free(before);
    return status;
}

gbs_status gbsi_kept_write(const char *path, const gbsi_kept_form *form,
                           const gbsi_kept_content *content, unsigned n_rooms, gbs_error *err)
{
    gbs_status status = GBS_OK;
    writer w = {0};
    uint64_t size = HEAD + SEAL;
    const gbsi_sink counting = {&size, count};
    char *before = NULL;
    GBSI_TRY(gbsi_kept_beside(path, GBSI_KEPT_BEFORE, &before, err));
    GBSI_TRY(check_place(path, form, err));
    GBSI_TRY(content->save(content->object, &counting, err));
    GBSI_TRY(gbsi_digest_new(&w.digest, err));
    GBSI_TRY(check_room(path, size, n_rooms, err));
    (void)unlink(before); /* at most two such files take room on the disk at any time */
    GBSI_TRY(gbs_output_open(path, &w.output, err));
    GBSI_TRY(put_all(&w, form, size, content, err));
    GBSI_TRY(gbsi_output_finish(w.output, err));
    /* Gives the previous file a second name, FILE~. A file of the name FILE exists at every
     * moment. */
    (void)!linkat(AT_FDCWD, path, AT_FDCWD, before, AT_SYMLINK_FOLLOW);
    gbs_output *output = w.output;
    w.output = NULL;
    /* The file does not wait for a set of outputs, because the run continues. */
    status = gbsi_output_commit_now(&output, 1, err);
cleanup:
    gbs_output_discard(w.output);
    gbsi_digest_free(w.digest);
    gbsi_free(before);
    return status;
}

/* ---- one run at a time ----------------------------------------------------------------------- */

/* Whether the locked file still has its name. A run removes its lock file when it ends. */
static bool has_name(int fd, const char *path)
{
    struct stat locked;
    struct stat named;
    return fstat(fd, &locked) == 0 && stat(path, &named) == 0 && locked.st_ino == named.st_ino &&
           locked.st_dev == named.st_dev;
}

/* @return a descriptor that holds the lock, or -1, with errno, if the lock cannot be taken. */
static int open_locked(const char *path)
{
    for (;;) {
        const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) {
            return -1;
        }
        const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && has_name(fd, path)) {
            return fd;
        }
        const int code = errno;
        (void)close(fd);
        if (!locked && code != EINTR) {
            errno = code;
            return -1;
        }
    }
}

gbs_status gbsi_kept_lock_take(gbsi_kept_lock *lock, const char *path, const gbsi_kept_form *form,
                               const char **no_locks, gbs_error *err)
{
    struct stat is;
    *no_locks = NULL;
    gbsi_kept_lock_release(lock);
    GBSI_PASS(gbsi_kept_beside(path, GBSI_KEPT_LOCK, &lock->path, err));
    if (stat(lock->path, &is) == 0 && (!S_ISREG(is.st_mode) || is.st_size > 0)) {
        const gbs_status status = gbsi_fail(
            err, GBS_ERR_ARGUMENT, "%s: found %s, expected a lock or none: choose another name",
            lock->path, S_ISDIR(is.st_mode) ? "a folder" : "a file that is not empty");
        gbsi_free(lock->path);
        lock->path = NULL;
        return status;
    }
    lock->fd = open_locked(lock->path);
    if (lock->fd >= 0) {
        const gbs_status status = check_place(path, form, err);
        if (status < 0) {
            gbsi_kept_lock_release(lock);
        }
        return status;
    }
    const int code = errno;
    gbsi_free(lock->path);
    lock->path = NULL;
    if (code == EWOULDBLOCK) {
        return gbsi_fail(err, GBS_ERR_IO,
                         "%s: another run that is at work writes this file: name another one, or "
                         "wait for that run to end",
                         path);
    }
    if (code == ENOLCK || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL) {
        *no_locks = strerror(code); // NOLINT(concurrency-mt-unsafe): of a few constant texts
    }
    return GBS_OK;
}

void gbsi_kept_lock_release(gbsi_kept_lock *lock)
{
    if (lock->path != NULL) {
        (void)unlink(lock->path);
        (void)close(lock->fd);
        gbsi_free(lock->path);
        lock->path = NULL;
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

struct gbsi_kept {
    FILE *file;
    uint64_t left; /* number of bytes of the content that were not read yet */
    uint64_t size; /* number of bytes of the file */
    char *path;
};

static gbs_status take(void *context, void *bytes, size_t n, gbs_error *err)
{
    gbsi_kept *kept = context;
    if (n > kept->left) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: it holds less than was expected", kept->path);
    }
    if (fread(bytes, 1, n, kept->file) != n) {
        return gbsi_fail(err, GBS_ERR_IO, "%s: cannot be read", kept->path);
    }
    kept->left -= n;
    return GBS_OK;
}

static gbs_status check_head(gbsi_kept *kept, const gbsi_kept_form *form, uint64_t size,
                             gbs_error *err)
{
    const gbsi_source source = {kept, take};
    unsigned char magic[sizeof form->magic] = {0};
    uint32_t version[2];
    uint64_t said = 0;
    kept->left = size < HEAD ? 0 : HEAD;
    if (size >= HEAD) {
        GBSI_PASS(take(kept, magic, sizeof magic, err));
    }
    if (memcmp(magic, form->magic, sizeof magic) != 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: this is no %s", kept->path, form->what);
    }
    GBSI_PASS(gbsi_take_numbers(&source, version, 2, sizeof version[0], err));
    GBSI_PASS(gbsi_take_numbers(&source, &said, 1, sizeof said, err));
    if (version[0] != form->version || version[1] != 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: a %s of format version %" PRIu32 ", this program reads version "
                         "%" PRIu32,
                         kept->path, form->what, version[0], form->version);
    }
    if (said != size || size < HEAD + SEAL) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: the %s is cut short or damaged: it had %" PRIu64
                         " bytes and has %" PRIu64,
                         kept->path, form->what, said, size);
    }
    return GBS_OK;
}

/* Checks that no byte of the file has changed since it was written. */
static gbs_status check_seal(gbsi_kept *kept, const char *what, uint64_t size, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_digest *digest = NULL;
    unsigned char part[1 << 14];
    char text[SEAL + 1];
    char found[SEAL];
    kept->left = size;
    GBSI_TRY(gbsi_digest_new(&digest, err));
    if (fseek(kept->file, 0, SEEK_SET) != 0) {
        GBSI_TRY(gbsi_fail_errno(err, kept->path, "cannot be read", errno));
    }
    while (kept->left > SEAL) {
        const uint64_t left = kept->left - SEAL;
        const size_t n = left < sizeof part ? (size_t)left : sizeof part;
        GBSI_TRY(take(kept, part, n, err));
        gbsi_digest_bytes(digest, part, n);
    }
    gbsi_digest_text(digest, text);
    GBSI_TRY(take(kept, found, SEAL, err));
    if (memcmp(text, found, SEAL) != 0) {
        status = gbsi_fail(err, GBS_ERR_FORMAT, "%s: the %s is damaged: its checksum is wrong",
                           kept->path, what);
    }
cleanup:
    gbsi_digest_free(digest);
    return status;
}

gbs_status gbsi_kept_open(const char *path, const gbsi_kept_form *form, gbsi_kept **out,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    struct stat is;
    gbsi_kept *kept = gbsi_alloc_zero(sizeof *kept);
    GBSI_PASS(GBSI_HAVE(err, path, kept));
    kept->path = path_with(path, strlen(path), "");
    if (kept->path == NULL) {
        GBSI_TRY(gbsi_no_memory(err, path, strlen(path)));
    }
    if (stat(path, &is) == 0 && !S_ISREG(is.st_mode)) {
        /* opening a pipe would wait for its writer */
        GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT, "%s: a %s is a regular file", path, form->what));
    }
    kept->file = fopen(path, "rb");
    if (kept->file == NULL || fstat(fileno(kept->file), &is) != 0) {
        GBSI_TRY(gbsi_fail_errno(err, path, "cannot be opened", errno));
    }
    const uint64_t size = (uint64_t)is.st_size;
    kept->size = size;
    GBSI_TRY(check_head(kept, form, size, err));
    GBSI_TRY(check_seal(kept, form->what, size, err));
    if (fseek(kept->file, HEAD, SEEK_SET) != 0) {
        GBSI_TRY(gbsi_fail_errno(err, path, "cannot be read", errno));
    }
    kept->left = size - HEAD - SEAL;
    *out = kept;
    kept = NULL;
cleanup:
    gbsi_kept_close(kept);
    return status;
}

bool gbsi_kept_is(const char *path, const gbsi_kept_form *form)
{
    struct stat is;
    unsigned char magic[sizeof form->magic];
    if (stat(path, &is) != 0 || !S_ISREG(is.st_mode)) {
        return false;
    }
    FILE *file = fopen(path, "rb");
    const bool found = file != NULL && fread(magic, 1, sizeof magic, file) == sizeof magic &&
                       memcmp(magic, form->magic, sizeof magic) == 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

void gbsi_kept_close(gbsi_kept *kept)
{
    if (kept != NULL && kept->file != NULL) {
        (void)fclose(kept->file);
    }
    if (kept != NULL) {
        gbsi_free(kept->path);
    }
    gbsi_free(kept);
}

gbsi_source gbsi_kept_source(gbsi_kept *kept)
{
    return (gbsi_source){kept, take};
}

uint64_t gbsi_kept_left(const gbsi_kept *kept)
{
    return kept->left;
}

uint64_t gbsi_kept_bytes(const gbsi_kept *kept)
{
    return kept->size;
}
