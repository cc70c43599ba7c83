/* SPDX-License-Identifier: Apache-2.0 */
#include "base/offsets.h"

#include "base/memory.h"

/* Computes the sum of the lengths of all rows. @param equal out: whether all lengths are equal.
 * @return false if the sum does not fit a size_t. */
static bool add_up(const uint32_t *size, size_t n, size_t *sum, bool *equal)
{
    *sum = 0;
    *equal = true;
    for (size_t i = 0; i < n; ++i) {
        *equal &= size[i] == size[0];
        if (!gbsi_add_size(*sum, size[i], sum)) {
            return false;
        }
    }
    return true;
}

gbs_status gbsi_offsets_take(uint32_t *size, size_t n, gbsi_offsets *offsets, const char *what,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t sum = 0;
    bool equal = false;
    gbsi_offsets made = {.n = n};
    size[n] = 0;
    if (!add_up(size, n, &sum, &equal)) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_LIMIT, "%s: more entries than can be addressed", what));
    }
    if (equal) {
        made.width = n == 0 ? 0 : size[0];
    } else if (sum <= UINT32_MAX) {
        uint32_t at = 0;
        for (size_t i = 0; i <= n; ++i) {
            const uint32_t own = size[i];
            size[i] = at;
            at += own;
        }
        made.narrow = size;
        size = NULL;
    } else {
        size_t at = 0;
        made.wide = gbsi_alloc_array(n + 1, sizeof *made.wide);
        GBSI_TRY(GBSI_HAVE(err, what, made.wide));
        for (size_t i = 0; i <= n; ++i) {
            made.wide[i] = at;
            at += size[i];
        }
    }
    *offsets = made;

cleanup:
    gbsi_free(size);
    return status;
}

void gbsi_offsets_free(gbsi_offsets *offsets)
{
    GBSI_FREE(offsets->narrow, offsets->wide);
    *offsets = (gbsi_offsets){0};
}

size_t gbsi_offsets_bytes(const gbsi_offsets *offsets)
{
    return offsets->narrow != NULL ? (offsets->n + 1) * sizeof *offsets->narrow
           : offsets->wide != NULL ? (offsets->n + 1) * sizeof *offsets->wide
                                   : 0;
}
