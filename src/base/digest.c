/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

struct gbsi_digest {
    XXH3_state_t *state;
};

gbs_status gbsi_digest_new(gbsi_digest **digest, gbs_error *err)
{
    gbsi_digest *d = gbsi_alloc_zero(sizeof *d);
    if (d == NULL) {
        return gbsi_no_memory(err, "digest", sizeof *d);
    }
    d->state = gbsi_alloc_lanes(1, sizeof *d->state); /* XXH3 wants 64-byte alignment */
    if (d->state == NULL) {
        gbsi_free(d);
        return gbsi_no_memory(err, "digest", sizeof *d->state);
    }
    (void)XXH3_128bits_reset(d->state);
    *digest = d;
    return GBS_OK;
}

void gbsi_digest_free(gbsi_digest *digest)
{
    if (digest != NULL) {
        gbsi_free(digest->state);
        gbsi_free(digest);
    }
}

void gbsi_digest_bytes(gbsi_digest *digest, const void *bytes, size_t n)
{
    if (n > 0) {
        (void)XXH3_128bits_update(digest->state, bytes, n);
    }
}

void gbsi_digest_u8(gbsi_digest *digest, const uint8_t *value, size_t n)
{
    gbsi_digest_bytes(digest, value, n);
}

void gbsi_digest_u64(gbsi_digest *digest, const uint64_t *value, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        uint8_t bytes[8];
        for (unsigned b = 0; b < 8; ++b) {
            bytes[b] = (uint8_t)(value[i] >> (8 * b));
        }
        gbsi_digest_bytes(digest, bytes, sizeof bytes);
    }
}

void gbsi_digest_u32(gbsi_digest *digest, const uint32_t *value, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        uint8_t bytes[4];
        for (unsigned b = 0; b < 4; ++b) {
            bytes[b] = (uint8_t)(value[i] >> (8 * b));
        }
        gbsi_digest_bytes(digest, bytes, sizeof bytes);
    }
}

void gbsi_digest_f64(gbsi_digest *digest, const double *value, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        uint64_t bits = 0;
        memcpy(&bits, &value[i], sizeof bits);
        gbsi_digest_u64(digest, &bits, 1);
    }
}

bool gbsi_little_endian(void)
{
    const uint32_t one = 1;
    uint8_t first = 0;
    memcpy(&first, &one, 1);
    return first == 1;
}

void gbsi_digest_text(const gbsi_digest *digest, char text[33])
{
    XXH128_hash_t hash = XXH3_128bits_digest(digest->state);
    (void)snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.high64,
                   (unsigned long long)hash.low64);
}
