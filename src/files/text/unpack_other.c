/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks files in xz or bzip2, which this library never writes. The memory grows with the number
 * of unpacked bytes; each growth checks the limit of gbsi_unpack_limit(). */
#include "text/input.h"

#include <stdbool.h>

#include "base/memory.h"
#include "base/watch.h"
#include "config.h"

#if defined(GBSI_HAVE_LZMA) || defined(GBSI_HAVE_BZ2)

#define PIECE \
    ((size_t)1 << 24) /* number of bytes that are unpacked between two looks at the clock */

typedef enum step { MORE, DONE, TRUNCATED, DAMAGED, NO_MEMORY, TOO_LARGE } step;

typedef struct unpacker {
    const char *name;
    const char *kind; /* "xz" */
    const unsigned char *in;
    size_t n_in; /* number of bytes of the file */
    size_t left; /* number of bytes not unpacked yet */
    unsigned char *out;
    size_t room;
} unpacker;

/* Unpacks bytes from in[n_in - left ...] to out[room], and updates these members. */
typedef step unpack_some(void *stream, unpacker *u);

static gbs_status refuse(const unpacker *u, step why, gbs_error *err)
{
    const size_t at = u->n_in - u->left;
    switch (why) {
    case NO_MEMORY:
        return gbsi_no_memory(err, u->name, 0);
    case TOO_LARGE:
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%s: found %s data that need more memory to unpack than the limit; unpack "
                         "it first",
                         u->name, u->kind);
    case TRUNCATED:
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found the end of the file, expected more %s data", u->name,
                         u->n_in, u->kind);
    default:
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %zu: found damaged %s data", u->name, at,
                         u->kind);
    }
}

static gbs_status unpack_all(unpacker *u, unpack_some *some, void *stream, void **bytes,
                             size_t *n_bytes, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_watch *watch = gbsi_watch_current();
    void *made = NULL;
    size_t n = 0;
    size_t capacity = 0;
    for (step done = MORE; done != DONE;) {
        GBSI_TRY(gbsi_unpack_limit(u->name, u->n_in, n, err));
        GBSI_TRY(gbsi_reserve(&made, &capacity, capacity == 0 ? u->n_in + 4096 : n + 1, 1, u->name,
                              err));
        GBSI_TRY(gbsi_watch_work(watch, GBSI_WATCH_EVERY, "reading the file", err));
        const size_t room = capacity - n < PIECE ? capacity - n : PIECE;
        const size_t left = u->left;
        u->out = (unsigned char *)made + n;
        u->room = room;
        done = some(stream, u);
        if (done == MORE && u->room == room && u->left == left) {
            /* no byte was read or written */
            done = TRUNCATED;
        }
        if (done != MORE && done != DONE) {
            GBSI_TRY(refuse(u, done, err));
        }
        n += room - u->room;
    }
    GBSI_TRY(gbsi_unpack_limit(u->name, u->n_in, n, err));
    *bytes = gbsi_input_shrink(made, n);
    *n_bytes = n;
    made = NULL;

cleanup:
    gbsi_free(made);
    return status;
}

#endif

/* ---- xz -------------------------------------------------------------------------------------- */

#ifdef GBSI_HAVE_LZMA
#include <lzma.h>

static void *lzma_allocate(void *opaque, size_t n, size_t size)
{
    (void)opaque;
    return gbsi_alloc_array(n, size);
}

static void lzma_release(void *opaque, void *pointer)
{
    (void)opaque;
    gbsi_free(pointer);
}

static step unxz_some(void *stream, unpacker *u)
{
    lzma_stream *s = stream;
    s->next_in = u->in + (u->n_in - u->left);
    s->avail_in = u->left;
    s->next_out = u->out;
    s->avail_out = u->room;
    const lzma_ret code = lzma_code(s, LZMA_FINISH);
    u->left = s->avail_in;
    u->room = s->avail_out;
    switch (code) {
    case LZMA_OK:
        return MORE;
    case LZMA_STREAM_END:
        return DONE;
    case LZMA_BUF_ERROR:
        return TRUNCATED;
    case LZMA_MEM_ERROR:
        return NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        return TOO_LARGE;
    default:
        return DAMAGED;
    }
}

gbs_status gbsi_unxz(const char *name, const void *packed, size_t n, void **bytes, size_t *n_bytes,
                     gbs_error *err)
{
    static const lzma_allocator allocator = {lzma_allocate, lzma_release, NULL};
    const uint64_t most = (uint64_t)1 << 27; /* twice the memory that xz -9 needs */
    gbs_status status = GBS_OK;
    lzma_stream stream = LZMA_STREAM_INIT;
    unpacker u = {.name = name, .kind = "xz", .in = packed, .n_in = n, .left = n};
    stream.allocator = &allocator;
    if (lzma_stream_decoder(&stream, most, LZMA_CONCATENATED) != LZMA_OK) {
        return gbsi_no_memory(err, name, 0);
    }
    status = unpack_all(&u, unxz_some, &stream, bytes, n_bytes, err);
    lzma_end(&stream);
    return status;
}

#else

gbs_status gbsi_unxz(const char *name, const void *packed, size_t n, void **bytes, size_t *n_bytes,
                     gbs_error *err)
{
    (void)packed;
    (void)n;
    (void)bytes;
    (void)n_bytes;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: packed with xz, which this build cannot read: unpack it first", name);
}

#endif

/* ---- bzip2 ----------------------------------------------------------------------------------- */

#ifdef GBSI_HAVE_BZ2
#include <bzlib.h>

static void *bz2_allocate(void *opaque, int n, int size)
{
    (void)opaque;
    return gbsi_alloc_array((size_t)n, (size_t)size);
}

static void bz2_release(void *opaque, void *pointer)
{
    (void)opaque;
    gbsi_free(pointer);
}

/* Unpacks some of a bzip2 file. The stream gets its bytes in pieces, because bz_stream counts in
 * unsigned int. Where one stream ends, another may follow. */
static step unbz2_some(void *stream, unpacker *u)
{
    bz_stream *s = stream;
    const unsigned n_in = (unsigned)(u->left < PIECE ? u->left : PIECE);
    /* libbz2 only reads these bytes */
    s->next_in = (char *)(uintptr_t)(u->in + (u->n_in - u->left));
    s->avail_in = n_in;
    s->next_out = (char *)u->out;
    s->avail_out = (unsigned)u->room;
    int code = BZ2_bzDecompress(s);
    u->left -= n_in - s->avail_in;
    u->room = s->avail_out;
    if (code == BZ_STREAM_END && u->left == 0) {
        return DONE;
    }
    if (code == BZ_STREAM_END) {
        (void)BZ2_bzDecompressEnd(s);
        code = BZ2_bzDecompressInit(s, 0, 0);
    }
    return code == BZ_OK          ? (u->left == 0 && u->room > 0 ? TRUNCATED : MORE)
           : code == BZ_MEM_ERROR ? NO_MEMORY
                                  : DAMAGED;
}

gbs_status gbsi_unbz2(const char *name, const void *packed, size_t n, void **bytes, size_t *n_bytes,
                      gbs_error *err)
{
    gbs_status status = GBS_OK;
    bz_stream stream = {.bzalloc = bz2_allocate, .bzfree = bz2_release};
    unpacker u = {.name = name, .kind = "bzip2", .in = packed, .n_in = n, .left = n};
    if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) {
        return gbsi_no_memory(err, name, 0);
    }
    status = unpack_all(&u, unbz2_some, &stream, bytes, n_bytes, err);
    (void)BZ2_bzDecompressEnd(&stream);
    return status;
}

#else

gbs_status gbsi_unbz2(const char *name, const void *packed, size_t n, void **bytes, size_t *n_bytes,
                      gbs_error *err)
{
    (void)packed;
    (void)n;
    (void)bytes;
    (void)n_bytes;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: packed with bzip2, which this build cannot read: unpack it first", name);
}

#endif
