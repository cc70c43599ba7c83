/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/watch.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

#define PIECE              ((size_t)1 << 20)
#define BYTES_AN_OPERATION 16 /* feeding so many bytes counts as one operation */

struct gbsi_digest {
    XXH3_state_t *state;
    gbsi_watch *watch; /* watch of this call; once the watch stops, no more bytes are fed */
};

gbs_status gbsi_digest_new(gbsi_digest **digest, gbs_error *err)
{
    gbsi_digest *d = gbsi_alloc_zero(sizeof *d);
    GBSI_PASS(GBSI_HAVE(err, "digest", d));
    d->state = gbsi_alloc_lanes(1, sizeof *d->state); /* XXH3 needs 64-byte alignment */
    if (d->state == NULL) {
        gbsi_free(d);
        return gbsi_no_memory(err, "digest", sizeof *d->state);
    }
    (void)XXH3_128bits_reset(d->state);
    d->watch = gbsi_watch_current();
    *digest = d;
    return GBS_OK;
}

void gbsi_digest_free(gbsi_digest *digest)
{
    if (digest != NULL) {
        GBSI_FREE(digest->state, digest);
    }
}

void gbsi_digest_bytes(gbsi_digest *digest, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0 && !gbsi_watch_stopped(digest->watch)) {
        const size_t piece = n < PIECE ? n : PIECE;
        (void)XXH3_128bits_update(digest->state, at, piece);
        (void)gbsi_watch_spend(digest->watch, piece / BYTES_AN_OPERATION);
        at += piece;
        n -= piece;
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
