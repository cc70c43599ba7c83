/* SPDX-License-Identifier: Apache-2.0 */
/* The XXH3-128 digest of all bytes fed so far. Integers and doubles are fed as little-endian bytes.
 */
#ifndef GBSI_BASE_DIGEST_H
#define GBSI_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct gbsi_digest gbsi_digest;

gbs_status gbsi_digest_new(gbsi_digest **digest, gbs_error *err);
void gbsi_digest_free(gbsi_digest *digest);
/* If the watch in force stops, the digest covers only a part of the data. The caller must therefore
 * check whether the watch stopped. */
void gbsi_digest_bytes(gbsi_digest *digest, const void *bytes, size_t n);
void gbsi_digest_u8(gbsi_digest *digest, const uint8_t *value, size_t n);
void gbsi_digest_u32(gbsi_digest *digest, const uint32_t *value, size_t n);
void gbsi_digest_u64(gbsi_digest *digest, const uint64_t *value, size_t n);
void gbsi_digest_f64(gbsi_digest *digest, const double *value, size_t n);
/* Returns whether this machine stores integers and doubles in the byte order in which they are
 * fed. */
bool gbsi_little_endian(void);
/* Writes 32 hexadecimal digits and a final 0. */
void gbsi_digest_text(const gbsi_digest *digest, char text[33]);

#endif
