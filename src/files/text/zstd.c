/* SPDX-License-Identifier: Apache-2.0 */
#include "text/packing.h"

#include "base/memory.h"
#include "config.h"

#ifdef GBSI_HAVE_ZSTD
#include <zstd.h>

struct gbsi_zstd {
    /* allocated with malloc, because the stable interface of zstd has no hook for memory */
    ZSTD_CCtx *stream;
    char out[1 << 15];
};

gbs_status gbsi_zstd_new(const char *name, gbsi_zstd **packer, gbs_error *err)
{
    gbsi_zstd *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, name, made));
    made->stream = ZSTD_createCCtx();
    if (made->stream == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(made->stream, ZSTD_c_compressionLevel, 3)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(made->stream, ZSTD_c_checksumFlag, 1))) {
        gbsi_zstd_free(made);
        return gbsi_no_memory(err, name, 0);
    }
    *packer = made;
    return GBS_OK;
}

gbs_status gbsi_zstd_write(gbsi_zstd *packer, const char *bytes, size_t n, bool last,
                           void (*sink)(void *context, const char *bytes, size_t n), void *context,
                           gbs_error *err)
{
    ZSTD_inBuffer in = {.src = bytes, .size = n};
    for (;;) {
        ZSTD_outBuffer out = {.dst = packer->out, .size = sizeof packer->out};
        size_t left =
            ZSTD_compressStream2(packer->stream, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) {
            return gbsi_fail(err, GBS_ERR_IO, "zstd compression failed: %s",
                             ZSTD_getErrorName(left));
        }
        sink(context, packer->out, out.pos);
        if (last ? left == 0 : in.pos == in.size) {
            return GBS_OK;
        }
    }
}

void gbsi_zstd_free(gbsi_zstd *packer)
{
    if (packer != NULL) {
        (void)ZSTD_freeCCtx(packer->stream); /* NULL is allowed */
        gbsi_free(packer);
    }
}

#else

struct gbsi_zstd {
    int unused;
};

gbs_status gbsi_zstd_new(const char *name, gbsi_zstd **packer, gbs_error *err)
{
    (void)packer;
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: this build cannot compress with zstd; leave out the ending .zst", name);
}

gbs_status gbsi_zstd_write(gbsi_zstd *packer, const char *bytes, size_t n, bool last,
                           void (*sink)(void *context, const char *bytes, size_t n), void *context,
                           gbs_error *err)
{
    (void)packer;
    (void)last;
    (void)err;
    sink(context, bytes, n); /* never reached, because gbsi_zstd_new() makes no packer */
    return GBS_OK;
}

void gbsi_zstd_free(gbsi_zstd *packer)
{
    gbsi_free(packer);
}

#endif
