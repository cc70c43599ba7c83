/* SPDX-License-Identifier: Apache-2.0 */
#include "text/packing.h"

#include "base/memory.h"
#include "config.h"

#ifdef GBSI_HAVE_ZLIB
#include <zlib.h>

struct gbsi_deflate {
    z_stream stream;
    unsigned char out[1 << 15];
};

static void *zlib_alloc(void *opaque, unsigned n, unsigned size)
{
    (void)opaque;
    return gbsi_alloc_array_zero(n, size); /* zlib compares bytes that it has not written */
}

static void zlib_free(void *opaque, void *pointer)
{
    (void)opaque;
    gbsi_free(pointer);
}

gbs_status gbsi_deflate_new(const char *name, gbsi_deflate **deflate, gbs_error *err)
{
    gbsi_deflate *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, name, made));
    made->stream.zalloc = zlib_alloc;
    made->stream.zfree = zlib_free;
    /* 15 is the largest window, 16 adds the header of gzip, and 8 is the usual use of memory. */
    if (deflateInit2(&made->stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        gbsi_free(made);
        return gbsi_no_memory(err, name, 0);
    }
    *deflate = made;
    return GBS_OK;
}

gbs_status gbsi_deflate_write(gbsi_deflate *packer, const char *bytes, size_t n, bool last,
                              void (*sink)(void *context, const char *bytes, size_t n),
                              void *context, gbs_error *err)
{
    const size_t piece = (size_t)1 << 30; /* z_stream counts in unsigned int */
    z_stream *stream = &packer->stream;
    do {
        size_t part = n < piece ? n : piece;
        stream->next_in = (z_const unsigned char *)bytes;
        stream->avail_in = (unsigned)part;
        bytes += part;
        n -= part;
        do {
            stream->next_out = packer->out;
            stream->avail_out = sizeof packer->out;
            if (deflate(stream, last && n == 0 ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR) {
                return gbsi_fail(err, GBS_ERR_IO, "gzip compression failed");
            }
            sink(context, (const char *)packer->out, sizeof packer->out - stream->avail_out);
        } while (stream->avail_out == 0);
    } while (n > 0);
    return GBS_OK;
}

void gbsi_deflate_free(gbsi_deflate *deflate)
{
    if (deflate != NULL) {
        (void)deflateEnd(&deflate->stream);
        gbsi_free(deflate);
    }
}

#else

struct gbsi_deflate {
    int unused;
};

gbs_status gbsi_deflate_new(const char *name, gbsi_deflate **deflate, gbs_error *err)
{
    (void)deflate;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: this build cannot compress with gzip; leave out the ending .gz", name);
}

gbs_status gbsi_deflate_write(gbsi_deflate *packer, const char *bytes, size_t n, bool last,
                              void (*sink)(void *context, const char *bytes, size_t n),
                              void *context, gbs_error *err)
{
    (void)packer;
    (void)last;
    (void)err;
    sink(context, bytes, n); /* never reached, because gbsi_deflate_new() makes no packer */
    return GBS_OK;
}

void gbsi_deflate_free(gbsi_deflate *deflate)
{
    gbsi_free(deflate);
}

#endif
