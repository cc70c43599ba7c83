/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that compress the bytes of files that are written. */
#ifndef GBSI_TEXT_PACKING_H
#define GBSI_TEXT_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

/* ---- crc32.c ------------------------------------------------------------------------------- */

/* CRC-32 of ZIP (ISO 3309: polynomial 0xedb88320 with the bits reversed). */

/* table[k][b]: effect of byte b on the sum k bytes later. */
typedef struct gbsi_crc32_tables {
    uint32_t table[8][256];
} gbsi_crc32_tables;

void gbsi_crc32_init(gbsi_crc32_tables *tables);

/* Computes a CRC-32. @param crc CRC of the preceding bytes, 0 at the start. */
uint32_t gbsi_crc32(const gbsi_crc32_tables *tables, uint32_t crc, const void *bytes, size_t n);

/* ---- deflate.c ----------------------------------------------------------------------------- */

/* Compresses to gzip as a stream. Equal input gives equal output, because the file has no time
 * stamp and no name. */

typedef struct gbsi_deflate gbsi_deflate;

/* @return GBS_ERR_UNSUPPORTED in builds without zlib. */
gbs_status gbsi_deflate_new(const char *name, gbsi_deflate **deflate, gbs_error *err);
/* @param last whether these are the last bytes of the stream. @param sink receives the packed
 * bytes, in pieces. */
gbs_status gbsi_deflate_write(gbsi_deflate *packer, const char *bytes, size_t n, bool last,
                              void (*sink)(void *context, const char *bytes, size_t n),
                              void *context, gbs_error *err);
void gbsi_deflate_free(gbsi_deflate *deflate);

/* ---- zstd.c -------------------------------------------------------------------------------- */

/* Compresses with zstd (RFC 8878) as a stream: level 3 on one thread, with a checksum. Equal
 * input gives equal output if the version of the zstd library is the same. */

typedef struct gbsi_zstd gbsi_zstd;

/* @return GBS_ERR_UNSUPPORTED in builds without zstd. */
gbs_status gbsi_zstd_new(const char *name, gbsi_zstd **packer, gbs_error *err);
/* @param last whether these are the last bytes of the stream. @param sink receives the packed
 * bytes, in pieces. */
gbs_status gbsi_zstd_write(gbsi_zstd *packer, const char *bytes, size_t n, bool last,
                           void (*sink)(void *context, const char *bytes, size_t n), void *context,
                           gbs_error *err);
void gbsi_zstd_free(gbsi_zstd *packer);

#endif
