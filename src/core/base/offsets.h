/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of many rows that may have different lengths, in as little memory as the lengths
 * allow. If all lengths are equal, no array is stored. Otherwise a row takes 4 bytes if the sum of
 * all lengths fits 32 bits, and 8 bytes if not. */
#ifndef GBSI_BASE_OFFSETS_H
#define GBSI_BASE_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct gbsi_offsets {
    size_t n;         /* number of rows */
    size_t width;     /* length of every row if both arrays are NULL */
    uint32_t *narrow; /* [n + 1] offsets that fit 32 bits, or NULL */
    size_t *wide;     /* [n + 1] offsets that do not fit 32 bits, or NULL */
} gbsi_offsets;

/* Returns the start of row i; for i = n, the end of the last row. */
static inline size_t gbsi_offset(const gbsi_offsets *offsets, size_t i)
{
    if (offsets->narrow != NULL) {
        return offsets->narrow[i];
    }
    return offsets->wide != NULL ? offsets->wide[i] : i * offsets->width;
}

/* Makes offsets from lengths. @param size [n + 1] lengths, the last one ignored. The function takes
 * over this array, also on failure, and stores the offsets in it if offsets are needed. @return
 * GBS_ERR_LIMIT if the sum does not fit a size_t. */
gbs_status gbsi_offsets_take(uint32_t *size, size_t n, gbsi_offsets *offsets, const char *what,
                             gbs_error *err);
void gbsi_offsets_free(gbsi_offsets *offsets);
/* Returns the bytes of the arrays, without the struct. */
size_t gbsi_offsets_bytes(const gbsi_offsets *offsets);

#endif
