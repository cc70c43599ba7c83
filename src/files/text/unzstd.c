/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks zstd files (RFC 8878) as a stream. The size that a frame announces is not trusted.
 * The memory grows with the output; each growth checks the limit of gbsi_unpack_limit(). */
#include "text/input.h"

#include "base/memory.h"
#include "base/watch.h"
#include "config.h"

#ifdef GBSI_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

/* Base-2 logarithm of the largest window, the part of the earlier output to which a frame may
 * refer. `zstd -19` needs at most 2^27 bytes, and every reader has to offer this much. The zstd
 * program, too, reads a larger window only if an option allows it. */
#define WINDOW_LOG 27

#define PIECE \
    ((size_t)1 << 24) /* number of bytes that are unpacked between two looks at the clock */

typedef struct unpacker {
    const char *name;
    /* allocated with malloc, because the stable interface of zstd has no hook for memory */
    ZSTD_DCtx *stream;
    ZSTD_inBuffer in;
    void *bytes;
    size_t n;
    size_t capacity;
} unpacker;

static gbs_status zstd_failure(const unpacker *u, size_t code, gbs_error *err)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return gbsi_no_memory(err, u->name, 0);
    case ZSTD_error_frameParameter_windowTooLarge:
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%s: byte %zu: found a zstd window of more than 2^%d bytes, which is the "
                         "limit; unpack it first",
                         u->name, u->in.pos, WINDOW_LOG);
    case ZSTD_error_dictionary_wrong:
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "%s: byte %zu: found zstd data that need a dictionary; unpack it first",
                         u->name, u->in.pos);
    default:
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %zu: found damaged zstd data (%s)", u->name,
                         u->in.pos, ZSTD_getErrorName(code));
    }
}

static gbs_status unpack_frames(unpacker *u, gbs_error *err)
{
    gbsi_watch *watch = gbsi_watch_current();
    for (;;) {
        GBSI_PASS(gbsi_unpack_limit(u->name, u->in.size, u->n, err));
        size_t room = u->capacity == 0 ? u->in.size + 4096 : u->n + 1;
        GBSI_PASS(gbsi_reserve(&u->bytes, &u->capacity, room, 1, u->name, err));
        GBSI_PASS(gbsi_watch_work(watch, GBSI_WATCH_EVERY, "reading the file", err));
        room = u->capacity - u->n < PIECE ? u->capacity : u->n + PIECE;
        ZSTD_outBuffer out = {.dst = u->bytes, .size = room, .pos = u->n};
        size_t left = ZSTD_decompressStream(u->stream, &out, &u->in);
        if (ZSTD_isError(left)) {
            return zstd_failure(u, left, err);
        }
        u->n = out.pos;
        bool all_in = u->in.pos == u->in.size;
        if (left == 0 && all_in) { /* the last frame is complete */
            return gbsi_unpack_limit(u->name, u->in.size, u->n, err);
        }
        if (left != 0 && all_in && u->n < room) {
            return gbsi_fail(err, GBS_ERR_FORMAT,
                             "%s: byte %zu: found the end of the file, expected more zstd data",
                             u->name, u->in.size);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_unzstd(const char *name, const void *packed, size_t n, void **bytes,
                       size_t *n_bytes, gbs_error *err)
{
    gbs_status status = GBS_OK;
    unpacker u = {.name = name, .in = {.src = packed, .size = n}};
    u.stream = ZSTD_createDCtx();
    if (u.stream == NULL ||
        ZSTD_isError(ZSTD_DCtx_setParameter(u.stream, ZSTD_d_windowLogMax, WINDOW_LOG))) {
        status = gbsi_no_memory(err, name, 0);
        goto cleanup;
    }
    GBSI_TRY(unpack_frames(&u, err));
    *bytes = u.bytes;
    *n_bytes = u.n;
    u.bytes = NULL;

cleanup:
    (void)ZSTD_freeDCtx(u.stream); /* NULL is allowed */
    gbsi_free(u.bytes);
    return status;
}

#else

gbs_status gbsi_unzstd(const char *name, const void *packed, size_t n, void **bytes,
                       size_t *n_bytes, gbs_error *err)
{
    (void)packed;
    (void)n;
    (void)bytes;
    (void)n_bytes;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: compressed with zstd, which this version cannot read; unpack it first",
                     name);
}

#endif
