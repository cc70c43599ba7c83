/* SPDX-License-Identifier: Apache-2.0 */
/* Hashed tables that find rows of herding weights by 64-bit code, for variables with too many
 * contexts for a dense table. The tables use open addressing, and are at most half full. Each
 * hashed slot has one table per group, to which only one thread at a time writes. */
#ifndef GBSI_DRAW_KEY_TABLE_H
#define GBSI_DRAW_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/saved.h"

/* Finaliser of splitmix64, a bijection that mixes all bits. */
static inline uint64_t gbsi_mix64(uint64_t a)
{
    a = (a ^ a >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    a = (a ^ a >> 27) * UINT64_C(0x94D049BB133111EB);
    return a ^ a >> 31;
}

typedef struct gbsi_key_table {
    uint64_t *code;    /* [capacity] */
    uint32_t *row;     /* [capacity] row of the code; GBSI_NONE if the place is free */
    uint32_t *by_name; /* [capacity] hash table of names: row of the name; NULL if codes do not
                          share rows */
    uint64_t *name;    /* [capacity / 2] name of each row; NULL if codes do not share rows */
    void *rows;        /* [capacity / 2] rows of row_bytes bytes each */
    size_t capacity;   /* 0 or a power of two */
    size_t n_codes, n_rows;
} gbsi_key_table;

/* Bytes of a row in the table of a slot of this arity. With two states a row has a chance, a
 * certainty and a phase per lane. With more states a row has the probabilities and a vector per
 * lane. */
size_t gbsi_key_table_row_bytes(uint32_t arity, uint32_t lanes);
/* Bytes of the codes, rows and names of one place in the table. */
size_t gbsi_key_table_entry_bytes(uint32_t arity, uint32_t lanes);

void gbsi_key_table_free(gbsi_key_table *table); /* zeroes the struct */

/* Bytes of a table with room for n codes. */
uint64_t gbsi_key_table_bytes(size_t n, size_t row_bytes, bool named);
/* Makes room for n codes in all. On failure the table is unchanged. */
gbs_status gbsi_key_table_reserve(gbsi_key_table *table, size_t n, size_t row_bytes, bool named,
                                  gbs_error *err);

/* Row of a code; GBSI_NONE if the code has no row. */
uint32_t gbsi_key_table_find(const gbsi_key_table *table, uint64_t code);
/* Adds a row for a new code; the table must have room for it. */
uint32_t gbsi_key_table_add(gbsi_key_table *table, uint64_t code);
/* Returns the row of a name, and makes one if the name has no row (*fresh is then true). */
uint32_t gbsi_key_table_add_named(gbsi_key_table *table, uint64_t code, uint64_t name, bool *fresh);

/* Shape of a row in saved tables, in which a row is a sequence of numbers of one size.
 * gbsi_key_table_save() writes a whole table, and gbsi_key_table_load() replaces a whole table.
 * @param room bytes that the table may take. */
typedef struct gbsi_row_shape {
    size_t bytes, number; /* bytes of a row, and bytes of a number (4 or 8) */
} gbsi_row_shape;
gbs_status gbsi_key_table_save(const gbsi_key_table *table, gbsi_row_shape row, bool named,
                               const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_key_table_load(gbsi_key_table *table, gbsi_row_shape row, bool named, uint64_t room,
                               const gbsi_source *source, gbs_error *err);
/* Skips a saved table in the source. */
gbs_status gbsi_key_table_skip(gbsi_row_shape row, bool named, const gbsi_source *source,
                               gbs_error *err);

static inline void *gbsi_key_table_row(const gbsi_key_table *table, uint32_t row, size_t row_bytes)
{
    return (unsigned char *)table->rows + (size_t)row * row_bytes;
}

#endif
