/* SPDX-License-Identifier: Apache-2.0 */
#include "text/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/watch.h"
#include "text/common.h"

#define PIECE ((size_t)1 << 24) /* number of bytes that are read between two looks at the clock */

gbs_status gbsi_input_check(const char *path, gbs_error *err)
{
    return access(path, F_OK) == 0 ? GBS_OK : gbsi_fail_errno(err, path, "cannot be opened", errno);
}

void *gbsi_input_shrink(void *bytes, size_t n)
{
    void *smaller = gbsi_realloc_array(bytes, n, 1);
    return smaller == NULL ? bytes : smaller;
}

static bool is_gzip(const gbsi_input *input)
{
    return input->n >= 2 && memcmp(input->bytes, "\x1f\x8b", 2) == 0;
}

/* Whether the input begins with a frame of zstd, or with a skippable frame before a frame of
 * zstd (RFC 8878, sections 3.1.1 and 3.1.2). */
static bool is_zstd(const gbsi_input *input)
{
    return input->n >= 4 &&
           (memcmp(input->bytes, "\x28\xb5\x2f\xfd", 4) == 0 ||
            ((input->bytes[0] & 0xf0) == 0x50 && memcmp(input->bytes + 1, "\x2a\x4d\x18", 3) == 0));
}

static bool is_xz(const gbsi_input *input)
{
    return input->n >= 6 && memcmp(input->bytes,
                                   "\xfd"
                                   "7zXZ\0",
                                   6) == 0;
}

/* Whether the input begins with "BZh", a digit, and the magic number of a block or of the
 * stream's end. */
static bool is_bz2(const gbsi_input *input)
{
    return input->n >= 10 && memcmp(input->bytes, "BZh", 3) == 0 &&
           (memcmp(input->bytes + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
            memcmp(input->bytes + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

static bool is_packed(const gbsi_input *input)
{
    return is_gzip(input) || is_zstd(input) || is_xz(input) || is_bz2(input);
}

/* Whether the bytes are neither compressed nor UTF-16; a NUL then shows that they are not text. */
static bool is_bytes(const char *bytes, size_t n)
{
    const gbsi_input input = {.bytes = bytes, .n = n};
    return n >= 4 && !is_packed(&input) && memcmp(bytes, "\xff\xfe", 2) != 0 &&
           memcmp(bytes, "\xfe\xff", 2) != 0 && (bytes[0] == 0) == (bytes[1] == 0);
}

/* The kind of file that a caller expects. A device or a pipe may have no end. A device or a pipe is
 * therefore read only up to the byte which shows that the file is of another kind. The reader of
 * the format refuses this byte. */
typedef struct expected {
    bool text;           /* text is expected; a NUL shows that the file is no text */
    gbsi_begins *begins; /* NULL if the file may begin with any bytes */
} expected;

/* Searches the bytes read so far for a byte which shows that the file is of another kind than
 * expected. A NUL in text becomes the last byte of the input.
 * @param from index of the first byte that was not examined before.
 * @return whether the reading ends here. */
static bool is_other(const expected *expect, const char *bytes, size_t from, size_t *n)
{
    const gbsi_input input = {.bytes = bytes, .n = *n};
    const char *nul = expect->text ? memchr(bytes + from, 0, *n - from) : NULL;
    if (nul != NULL && is_bytes(bytes, *n)) {
        *n = (size_t)(nul - bytes) + 1;
        return true;
    }
    return expect->begins != NULL && from < GBSI_BEGIN_BYTES && *n >= GBSI_BEGIN_BYTES &&
           !is_packed(&input) && !expect->begins(&input);
}

/* Reads the bytes of a descriptor, unless is_other() ends the reading early. */
static gbs_status read_descriptor(const char *name, int fd, expected expect, void **bytes,
                                  size_t *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    void *buffer = NULL;
    size_t capacity = 0;
    size_t length = 0;
    struct stat info;
    size_t wanted = 65536;
    gbsi_watch *watch = gbsi_watch_current();
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        /* With one more byte of room, the end of the file is found without a larger buffer. */
        wanted = (size_t)info.st_size + 1;
        expect.text = false;
    }
    for (;;) {
        GBSI_TRY(gbsi_reserve(&buffer, &capacity, wanted, 1, name, err));
        size_t room = capacity - length;
        GBSI_TRY(gbsi_watch_work(watch, GBSI_WATCH_EVERY, "reading the file", err));
        ssize_t got = read(fd, (char *)buffer + length, room < PIECE ? room : PIECE);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            status = gbsi_fail_errno(err, name, "cannot be read", errno);
            goto cleanup;
        }
        if (got == 0) {
            break;
        }
        const size_t before = length;
        length += (size_t)got;
        if (is_other(&expect, buffer, before, &length)) {
            break;
        }
        wanted = length + 1;
    }
    *bytes = gbsi_input_shrink(buffer, length);
    *n = length;
    return GBS_OK;

cleanup:
    gbsi_free(buffer);
    return status;
}

/* Limits the size of unpacked data. The ratio of unpacked to packed bytes is at most 1032 for gzip,
 * and some thousands for xz and zstd. For models and their tables, the ratio stays far below 512.
 */
gbs_status gbsi_unpack_limit(const char *name, size_t n_packed, size_t n, gbs_error *err)
{
    const size_t free_bytes = (size_t)64 << 20;
    const size_t most_ratio = 512;
    const uint64_t most_bytes = (uint64_t)64 << 30;
    if (n > most_bytes || (n > free_bytes && n / most_ratio > n_packed)) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%s: %zu bytes unpack to more than %zu; the limit is %zu times the packed "
                         "size beyond %zu bytes",
                         name, n_packed, n, most_ratio, free_bytes);
    }
    return GBS_OK;
}

/* Replaces compressed bytes by the unpacked bytes. */
static gbs_status unpack(gbsi_input *input, gbs_error *err)
{
    void *bytes = NULL;
    size_t n = 0;
    gbs_status status = GBS_OK;
    if (is_gzip(input)) {
        status = gbsi_inflate(input->name, input->bytes, input->n, &bytes, &n, err);
    } else if (is_zstd(input)) {
        status = gbsi_unzstd(input->name, input->bytes, input->n, &bytes, &n, err);
    } else if (is_xz(input)) {
        status = gbsi_unxz(input->name, input->bytes, input->n, &bytes, &n, err);
    } else if (is_bz2(input)) {
        status = gbsi_unbz2(input->name, input->bytes, input->n, &bytes, &n, err);
    } else {
        return GBS_OK;
    }
    if (status == GBS_OK) {
        gbsi_free(input->owned);
        input->owned = bytes;
        input->bytes = bytes;
        input->n = n;
    }
    return status;
}

static gbs_status finish(gbsi_input *made, gbsi_input *input, gbs_error *err)
{
    gbs_status status = unpack(made, err);
    if (status < 0) {
        gbsi_input_free(made);
        return status;
    }
    *input = *made;
    return GBS_OK;
}

/* Reads a descriptor. The number of bytes is limited even if the call has no memory limit, because
 * the bytes of a pipe or of /dev/zero may never end. */
static gbs_status read_bounded(const char *name, int fd, expected expect, gbsi_input *input,
                               gbs_error *err)
{
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    gbs_status status = read_descriptor(name, fd, expect, &input->owned, &input->n, err);
    if (status >= 0) {
        input->bytes = input->owned;
        status = unpack(input, err);
    }
    if (status < 0) {
        gbsi_input_free(input);
    }
    gbsi_budget_leave(before);
    return status;
}

static gbs_status read_path(const char *path, expected expect, gbsi_input *input, gbs_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    gbsi_input made = {.name = standard ? "<stdin>" : path};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return gbsi_fail_errno(err, path, "cannot be opened", errno);
    }
    const gbs_status status = read_bounded(made.name, fd, expect, &made, err);
    if (!standard) {
        (void)close(fd);
    }
    if (status >= 0) {
        *input = made;
    }
    return status;
}

gbs_status gbsi_input_read(const char *path, gbsi_input *input, gbs_error *err)
{
    return read_path(path, (expected){0}, input, err);
}

gbs_status gbsi_input_read_text(const char *path, gbsi_input *input, gbs_error *err)
{
    return read_path(path, (expected){.text = true}, input, err);
}

gbs_status gbsi_input_read_begun(const char *path, gbsi_begins *begins, gbsi_input *input,
                                 gbs_error *err)
{
    return read_path(path, (expected){.begins = begins}, input, err);
}

/* Copies the first n bytes of a file to newly allocated memory; a shorter file is copied whole.
 * @return false on failure. */
static bool copy_file(int fd, size_t n, gbsi_mapping *mapping)
{
    gbsi_watch *watch = gbsi_watch_current();
    char *bytes = gbsi_alloc_lanes(n, 1);
    size_t length = 0;
    ssize_t got = 1;
    while (bytes != NULL && length < n && got > 0 &&
           gbsi_watch_work(watch, GBSI_WATCH_EVERY, "reading the file", NULL) >= 0) {
        got = read(fd, bytes + length, n - length < PIECE ? n - length : PIECE);
        length += got > 0 ? (size_t)got : 0;
        got = got < 0 && errno == EINTR ? 1 : got;
    }
    if (length < n && got != 0) {
        gbsi_free(bytes);
        return false;
    }
    *mapping = (gbsi_mapping){.bytes = bytes, .n = length};
    return true;
}

/* Maps a regular file of at least `least` bytes, or copies the file if `copied` is true. Files of
 * other kinds are not opened, because opening a pipe would wait for its writer.
 * @return whether the file was mapped or copied. */
static bool map_path(const char *path, bool copied, gbsi_mapping *mapping)
{
    const off_t least = 1 << 20;
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < least) {
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool mapped = fd >= 0 && fstat(fd, &info) == 0 && info.st_size >= least &&
                  (copied ? copy_file(fd, (size_t)info.st_size, mapping)
                          : gbsi_mapping_new(fd, (size_t)info.st_size, mapping));
    if (fd >= 0) {
        (void)close(fd);
    }
    return mapped;
}

gbs_status gbsi_input_map(const char *path, gbsi_begins *begins, bool copied, gbsi_input *input,
                          gbs_error *err)
{
    gbsi_input made = {.name = path};
    if (strcmp(path, "-") == 0 || !map_path(path, copied, &made.mapping)) {
        return gbsi_input_read_begun(path, begins, input, err);
    }
    made.bytes = made.mapping.bytes;
    made.n = made.mapping.n;
    gbs_status status = finish(&made, input, err);
    if (status == GBS_OK &&
        input->bytes != input->mapping.bytes) { /* whether the file was compressed */
        gbsi_mapping_free(&input->mapping);
    }
    return status;
}

gbs_status gbsi_input_take(gbsi_input *input, gbsi_mapping *mapping, gbs_error *err)
{
    if (input->mapping.bytes != NULL) {
        *mapping = input->mapping;
        input->mapping = (gbsi_mapping){0};
    } else {
        char *copy = gbsi_alloc_lanes(input->n, 1);
        GBSI_PASS(GBSI_HAVE(err, input->name, copy));
        if (input->n > 0) {
            memcpy(copy, input->bytes, input->n);
        }
        *mapping = (gbsi_mapping){.bytes = copy, .n = input->n};
    }
    gbsi_input_free(input);
    return GBS_OK;
}

gbs_status gbsi_input_memory(const char *name, const void *bytes, size_t n, gbsi_input *input,
                             gbs_error *err)
{
    gbsi_input made = {.name = name, .bytes = bytes, .n = n};
    return finish(&made, input, err);
}

void gbsi_input_free(gbsi_input *input)
{
    gbsi_free(input->owned);
    gbsi_mapping_free(&input->mapping);
    *input = (gbsi_input){0};
}
