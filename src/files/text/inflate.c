/* SPDX-License-Identifier: Apache-2.0 */
#include "text/input.h"

#include "base/memory.h"
#include "base/watch.h"
#include "config.h"

#ifdef GBSI_HAVE_ZLIB
#include <zlib.h>

/* smaller files are unpacked into room for four times their size from the beginning */
static const size_t FREE_BYTES = (size_t)64 << 20;

typedef struct unpacked {
    void *bytes;
    size_t n;
    size_t capacity;
} unpacked;

static void *zlib_alloc(void *opaque, unsigned n, unsigned size)
{
    (void)opaque;
    return gbsi_alloc_array(n, size);
}

static void zlib_free(void *opaque, void *pointer)
{
    (void)opaque;
    gbsi_free(pointer);
}

static gbs_status zlib_failure(const char *name, const z_stream *stream, int code, gbs_error *err)
{
    if (code == Z_MEM_ERROR) {
        return gbsi_no_memory(err, name, 0);
    }
    if (code == Z_BUF_ERROR || code == Z_OK) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %lu: found the end of the file, expected more gzip data", name,
                         stream->total_in);
    }
    return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %lu: found damaged gzip data (%s)", name,
                     stream->total_in, stream->msg != NULL ? stream->msg : "no reason given");
}

/* Calls inflate() once, with new room for the output. The stream gets its bytes in pieces, because
 * z_stream counts in unsigned int. */
static int inflate_some(z_stream *stream, size_t *left, unpacked *out)
{
    const size_t piece = (size_t)1 << 24;
    size_t room = out->capacity - out->n;
    unsigned n_in = (unsigned)(*left < piece ? *left : piece);
    unsigned n_out = (unsigned)(room < piece ? room : piece);
    stream->avail_in = n_in;
    stream->avail_out = n_out;
    stream->next_out = (unsigned char *)out->bytes + out->n;
    int code = inflate(stream, Z_NO_FLUSH);
    *left -= n_in - stream->avail_in;
    out->n += n_out - stream->avail_out;
    return code;
}

static gbs_status inflate_members(const char *name, z_stream *stream, size_t n, unpacked *out,
                                  gbs_error *err)
{
    size_t left = n;
    gbsi_watch *watch = gbsi_watch_current();
    for (;;) {
        /* Checks the number of unpacked bytes before the memory grows. */
        GBSI_PASS(gbsi_unpack_limit(name, n, out->n, err));
        size_t room = out->capacity == 0 ? (n < FREE_BYTES ? 4 * n + 4096 : n) : out->n + 1;
        GBSI_PASS(gbsi_reserve(&out->bytes, &out->capacity, room, 1, name, err));
        GBSI_PASS(gbsi_watch_work(watch, GBSI_WATCH_EVERY, "reading the file", err));
        int code = inflate_some(stream, &left, out);
        if (code == Z_STREAM_END && left == 0) {
            return gbsi_unpack_limit(name, n, out->n, err);
        }
        if (code == Z_STREAM_END) { /* another gzip member follows */
            code = inflateReset(stream);
        }
        bool stuck = code == Z_BUF_ERROR || (code == Z_OK && left == 0 && out->n < out->capacity);
        if (code != Z_OK || stuck) {
            return zlib_failure(name, stream, code, err);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_inflate(const char *name, const void *packed, size_t n, void **bytes,
                        size_t *n_bytes, gbs_error *err)
{
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free};
    unpacked out = {0};
    if (inflateInit2(&stream, 15 + 16) != Z_OK) { /* 15: largest window; 16: gzip */
        return gbsi_no_memory(err, name, 0);
    }
    stream.next_in = (z_const unsigned char *)packed;
    gbs_status status = inflate_members(name, &stream, n, &out, err);
    (void)inflateEnd(&stream);
    if (status < 0) {
        gbsi_free(out.bytes);
        return status;
    }
    *bytes = gbsi_input_shrink(out.bytes, out.n);
    *n_bytes = out.n;
    return GBS_OK;
}

gbs_status gbsi_inflate_raw(const char *name, const void *packed, size_t n, void *bytes,
                            size_t n_bytes, gbs_error *err)
{
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free};
    uint8_t beyond = 0; /* room for one additional byte, which zlib needs to find the end */
    unpacked out = {.bytes = bytes, .capacity = n_bytes};
    unpacked more = {.bytes = &beyond, .capacity = 1};
    if (inflateInit2(&stream, -15) !=
        Z_OK) { /* 15: largest window; negative: the stream has no header */
        return gbsi_no_memory(err, name, 0);
    }
    stream.next_in = (z_const unsigned char *)packed;
    size_t left = n;
    int code = Z_OK;
    while (code == Z_OK && out.n < out.capacity) {
        code = inflate_some(&stream, &left, &out);
    }
    while (code == Z_OK && more.n == 0) {
        code = inflate_some(&stream, &left, &more);
    }
    (void)inflateEnd(&stream);
    if (code == Z_MEM_ERROR) {
        return gbsi_no_memory(err, name, 0);
    }
    if (code != Z_STREAM_END || left != 0 || out.n != n_bytes || more.n != 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: found deflated data that does not unpack to the announced %zu bytes",
                         name, n_bytes);
    }
    return GBS_OK;
}

#else

gbs_status gbsi_inflate_raw(const char *name, const void *packed, size_t n, void *bytes,
                            size_t n_bytes, gbs_error *err)
{
    (void)packed;
    (void)n;
    (void)bytes;
    (void)n_bytes;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: holds deflated members, which this build cannot read; write it without "
                     "compression",
                     name);
}

gbs_status gbsi_inflate(const char *name, const void *packed, size_t n, void **bytes,
                        size_t *n_bytes, gbs_error *err)
{
    (void)packed;
    (void)n;
    (void)bytes;
    (void)n_bytes;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: compressed with gzip, which this build cannot read; unpack it first",
                     name);
}

#endif
