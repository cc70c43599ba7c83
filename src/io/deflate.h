/* SPDX-License-Identifier: Apache-2.0 */
/* Compression to gzip as a stream. Equal input gives equal output: no time stamp, no name. */
#ifndef GBSI_IO_DEFLATE_H
#define GBSI_IO_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "gibbsite/status.h"

typedef struct gbsi_deflate gbsi_deflate;

/* GBS_ERR_UNSUPPORTED in builds without zlib. */
gbs_status gbsi_deflate_new(const char *name, gbsi_deflate **deflate, gbs_error *err);
/* @param last nothing follows. @param sink takes what comes out, in pieces. */
gbs_status gbsi_deflate_write(gbsi_deflate *packer, const char *bytes, size_t n, bool last,
                              void (*sink)(void *context, const char *bytes, size_t n),
                              void *context, gbs_error *err);
void gbsi_deflate_free(gbsi_deflate *deflate);

#endif
