/* SPDX-License-Identifier: Apache-2.0 */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/system.h"

void *gbsi_input_shrink(void *bytes, size_t n)
{
    void *smaller = gbsi_realloc_array(bytes, n, 1);
    return smaller == NULL ? bytes : smaller;
}

static gbs_status read_descriptor(const char *name, int fd, void **bytes, size_t *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    void *buffer = NULL;
    size_t capacity = 0;
    size_t length = 0;
    struct stat info;
    size_t wanted = 65536;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        wanted = (size_t)info.st_size + 1; /* a byte more shows the end without growing */
    }
    for (;;) {
        GBSI_TRY(gbsi_reserve(&buffer, &capacity, wanted, 1, name, err));
        size_t room = capacity - length;
        ssize_t got = read(fd, (char *)buffer + length, room < 1u << 30 ? room : 1u << 30);
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
        length += (size_t)got;
        wanted = length + 1;
    }
    *bytes = gbsi_input_shrink(buffer, length);
    *n = length;
    return GBS_OK;

cleanup:
    gbsi_free(buffer);
    return status;
}

/* Replaces what is compressed by what is in it. */
static gbs_status unpack(gbsi_input *input, gbs_error *err)
{
    static const char gzip[2] = {'\x1f', '\x8b'};
    static const char zstd[4] = {'\x28', '\xb5', '\x2f', '\xfd'};
    if (input->n >= sizeof zstd && memcmp(input->bytes, zstd, sizeof zstd) == 0) {
        return gbsi_fail(
            err, GBS_ERR_UNSUPPORTED,
            "%s: compressed with zstd, which this version cannot read; unpack it first",
            input->name);
    }
    if (input->n < sizeof gzip || memcmp(input->bytes, gzip, sizeof gzip) != 0) {
        return GBS_OK;
    }
    void *bytes = NULL;
    size_t n = 0;
    gbs_status status = gbsi_inflate(input->name, input->bytes, input->n, &bytes, &n, err);
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

gbs_status gbsi_input_read(const char *path, gbsi_input *input, gbs_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    gbsi_input made = {.name = standard ? "<stdin>" : path};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return gbsi_fail_errno(err, path, "cannot be opened", errno);
    }
    gbs_status status = read_descriptor(made.name, fd, &made.owned, &made.n, err);
    if (!standard) {
        (void)close(fd);
    }
    if (status < 0) {
        return status;
    }
    made.bytes = made.owned;
    return finish(&made, input, err);
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
    *input = (gbsi_input){0};
}
