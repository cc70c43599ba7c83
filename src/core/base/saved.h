/* SPDX-License-Identifier: Apache-2.0 */
/* Saved numbers, which are little-endian on every machine, and the interfaces through which they
 * are written and read. */
#ifndef GBSI_BASE_SAVED_H
#define GBSI_BASE_SAVED_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A sink, to which state is written, and a source, from which state is read in the same order.
 * @return a negative status if the sink is full or the source is at its end. */
typedef struct gbsi_sink {
    void *context;
    gbs_status (*put)(void *context, const void *bytes, size_t n, gbs_error *err);
} gbsi_sink;
typedef struct gbsi_source {
    void *context;
    gbs_status (*take)(void *context, void *bytes, size_t n, gbs_error *err);
} gbsi_source;

/* Write or read n numbers of 1, 2, 4 or 8 bytes each. */
gbs_status gbsi_put_numbers(const gbsi_sink *sink, const void *number, size_t n, size_t size,
                            gbs_error *err);
gbs_status gbsi_take_numbers(const gbsi_source *source, void *number, size_t n, size_t size,
                             gbs_error *err);

/* Skips n bytes of the source. */
gbs_status gbsi_skip_bytes(const gbsi_source *source, uint64_t n, gbs_error *err);

/* Reads n numbers and compares them with the expected numbers.
 * @param what name, for the message, of the object whose shape the numbers describe: "traces".
 * @return GBS_ERR_FORMAT if the numbers differ. */
gbs_status gbsi_take_expected(const gbsi_source *source, const uint64_t *expected, size_t n,
                              const char *what, gbs_error *err);

/* Writes an object and then a digest of its bytes, by which gbsi_take_sealed() detects damage. */
gbs_status gbsi_put_sealed(const gbsi_sink *sink, const void *object,
                           gbs_status (*save)(const void *object, const gbsi_sink *sink,
                                              gbs_error *err),
                           gbs_error *err);
/* Reads an object and checks its digest. @param what name of the object for messages: "traces".
 * @return GBS_ERR_FORMAT if the digest differs. */
gbs_status gbsi_take_sealed(const gbsi_source *source, void *object,
                            gbs_status (*load)(void *object, const gbsi_source *source,
                                               gbs_error *err),
                            const char *what, gbs_error *err);

/* Reverses the order of the bytes of each number, in place. */
void gbsi_turn_numbers(void *number, size_t n, size_t size);

#endif
