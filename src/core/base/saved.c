/* SPDX-License-Identifier: Apache-2.0 */
#include "base/saved.h"

#include <assert.h>
#include <string.h>

#include "base/digest.h"

void gbsi_turn_numbers(void *number, size_t n, size_t size)
{
    unsigned char *byte = number;
    for (size_t i = 0; i < n; ++i, byte += size) {
        for (size_t b = 0; b < size / 2; ++b) {
            const unsigned char kept = byte[b];
            byte[b] = byte[size - 1 - b];
            byte[size - 1 - b] = kept;
        }
    }
}

gbs_status gbsi_put_numbers(const gbsi_sink *sink, const void *number, size_t n, size_t size,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    unsigned char part[1024];
    assert(size == 1 || size == 2 || size == 4 || size == 8);
    if (gbsi_little_endian()) {
        return n == 0 ? GBS_OK : sink->put(sink->context, number, n * size, err);
    }
    const unsigned char *from = number;
    for (size_t done = 0; done < n && status >= 0;) {
        const size_t most = sizeof part / size;
        const size_t now = n - done < most ? n - done : most;
        memcpy(part, from + done * size, now * size);
        gbsi_turn_numbers(part, now, size);
        status = sink->put(sink->context, part, now * size, err);
        done += now;
    }
    return status;
}

gbs_status gbsi_take_numbers(const gbsi_source *source, void *number, size_t n, size_t size,
                             gbs_error *err)
{
    assert(size == 1 || size == 2 || size == 4 || size == 8);
    const gbs_status status =
        n == 0 ? GBS_OK : source->take(source->context, number, n * size, err);
    if (status >= 0 && !gbsi_little_endian()) {
        gbsi_turn_numbers(number, n, size);
    }
    return status;
}

gbs_status gbsi_skip_bytes(const gbsi_source *source, uint64_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    unsigned char part[4096];
    while (n > 0 && status >= 0) {
        const size_t now = n < sizeof part ? (size_t)n : sizeof part;
        status = source->take(source->context, part, now, err);
        n -= now;
    }
    return status;
}

gbs_status gbsi_take_expected(const gbsi_source *source, const uint64_t *expected, size_t n,
                              const char *what, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (size_t i = 0; i < n && status >= 0; ++i) {
        uint64_t found = 0;
        status = gbsi_take_numbers(source, &found, 1, sizeof found, err);
        if (status >= 0 && found != expected[i]) {
            status =
                gbsi_fail(err, GBS_ERR_FORMAT, "%s: the saved ones are from another run", what);
        }
    }
    return status;
}

/* ---- objects with a digest ------------------------------------------------------------------ */

enum { SEAL = 32 };

typedef struct seal {
    gbsi_digest *digest;
    const gbsi_sink *sink;     /* sink of the bytes while saving; NULL while loading */
    const gbsi_source *source; /* source of the bytes while loading; NULL while saving */
} seal;

static gbs_status put(void *context, const void *bytes, size_t n, gbs_error *err)
{
    seal *s = context;
    gbsi_digest_bytes(s->digest, bytes, n);
    return s->sink->put(s->sink->context, bytes, n, err);
}

static gbs_status take(void *context, void *bytes, size_t n, gbs_error *err)
{
    seal *s = context;
    const gbs_status status = s->source->take(s->source->context, bytes, n, err);
    if (status >= 0) {
        gbsi_digest_bytes(s->digest, bytes, n);
    }
    return status;
}

gbs_status gbsi_put_sealed(const gbsi_sink *sink, const void *object,
                           gbs_status (*save)(const void *object, const gbsi_sink *sink,
                                              gbs_error *err),
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    char text[SEAL + 1];
    seal s = {.sink = sink};
    const gbsi_sink sealed = {&s, put};
    GBSI_TRY(gbsi_digest_new(&s.digest, err));
    GBSI_TRY(save(object, &sealed, err));
    gbsi_digest_text(s.digest, text);
    GBSI_TRY(sink->put(sink->context, text, SEAL, err));
cleanup:
    gbsi_digest_free(s.digest);
    return status;
}

gbs_status gbsi_take_sealed(const gbsi_source *source, void *object,
                            gbs_status (*load)(void *object, const gbsi_source *source,
                                               gbs_error *err),
                            const char *what, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char text[SEAL + 1];
    char found[SEAL];
    seal s = {.source = source};
    const gbsi_source sealed = {&s, take};
    GBSI_TRY(gbsi_digest_new(&s.digest, err));
    GBSI_TRY(load(object, &sealed, err));
    gbsi_digest_text(s.digest, text);
    GBSI_TRY(source->take(source->context, found, SEAL, err));
    if (memcmp(text, found, SEAL) != 0) {
        status = gbsi_fail(err, GBS_ERR_FORMAT, "%s: what was saved is damaged", what);
    }
cleanup:
    gbsi_digest_free(s.digest);
    return status;
}
