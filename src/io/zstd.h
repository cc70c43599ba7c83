/* SPDX-License-Identifier: Apache-2.0 */
/* Compression with zstd (RFC 8878) as a stream: level 3 on one thread, with a checksum. Equal input
 * gives equal output of one version of the zstd library. */
#ifndef GBSI_IO_ZSTD_H
#define GBSI_IO_ZSTD_H

#include <stdbool.h>
#include <stddef.h>

#include "gibbsite/status.h"

typedef struct gbsi_zstd gbsi_zstd;

/* GBS_ERR_UNSUPPORTED in builds without zstd. */
gbs_status gbsi_zstd_new(const char *name, gbsi_zstd **packer, gbs_error *err);
/* @param last nothing follows. @param sink takes what comes out, in pieces. */
gbs_status gbsi_zstd_write(gbsi_zstd *packer, const char *bytes, size_t n, bool last,
                           void (*sink)(void *context, const char *bytes, size_t n), void *context,
                           gbs_error *err);
void gbsi_zstd_free(gbsi_zstd *packer);

#endif
