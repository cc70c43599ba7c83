/* SPDX-License-Identifier: Apache-2.0 */
#include "models/tables.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

#define SLOTS        256u
#define SLOT_ENTRIES 64u

/* A cache of tables. The hash of a table selects a slot, and each slot has the newest of its
 * tables. */
struct gbsi_equal_tables {
    size_t n[SLOTS]; /* number of entries of the table in the slot, 0 if the slot is empty */
    uint32_t table[SLOTS];
    double logw[SLOTS][SLOT_ENTRIES];
};

gbs_status gbsi_equal_tables_new(gbsi_equal_tables **share, gbs_error *err)
{
    gbsi_equal_tables *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, "tables", made));
    *share = made;
    return GBS_OK;
}

void gbsi_equal_tables_free(gbsi_equal_tables *share)
{
    gbsi_free(share);
}

static uint32_t slot_of(size_t n, const double *logw)
{
    uint64_t hash = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &logw[i], sizeof bits);
        /* 2^64 divided by the golden ratio, rounded down, which is odd */
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return (uint32_t)(hash % SLOTS);
}

gbs_status gbsi_equal_tables_add(gbsi_equal_tables *share, gbs_builder *builder, size_t n,
                                 const double *logw, uint32_t *table, gbs_error *err)
{
    if (n == 0 || n > SLOT_ENTRIES) {
        return gbs_builder_add_table(builder, n, logw, table, err);
    }
    uint32_t slot = slot_of(n, logw);
    if (share->n[slot] == n && memcmp(share->logw[slot], logw, n * sizeof *logw) == 0) {
        *table = share->table[slot];
        return GBS_OK;
    }
    gbs_status status = gbs_builder_add_table(builder, n, logw, table, err);
    if (status == GBS_OK) {
        share->n[slot] = n;
        share->table[slot] = *table;
        memcpy(share->logw[slot], logw, n * sizeof *logw);
    }
    return status;
}
