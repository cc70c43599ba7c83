/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/key_table.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "store/factors.h"

size_t gbsi_key_table_row_bytes(uint32_t arity, uint32_t lanes)
{
    return arity == 2 ? (2 + (size_t)lanes) * sizeof(uint32_t)
                      : (size_t)arity * (1 + (size_t)lanes) * sizeof(double);
}

size_t gbsi_key_table_entry_bytes(uint32_t arity, uint32_t lanes)
{
    return 16 + (8 + gbsi_key_table_row_bytes(arity, lanes) + 1) / 2;
}

void gbsi_key_table_free(gbsi_key_table *table)
{
    GBSI_FREE(table->code, table->row, table->by_name, table->name, table->rows);
    *table = (gbsi_key_table){0};
}

static size_t capacity_for(size_t n)
{
    size_t capacity = 8;
    while (capacity / 2 < n) {
        capacity *= 2;
    }
    return capacity;
}

uint64_t gbsi_key_table_bytes(size_t n, size_t row_bytes, bool named)
{
    const uint64_t capacity = capacity_for(n);
    return capacity * (named ? 20u : 12u) + capacity / 2 * row_bytes;
}

/* Place of a code or name in the hash table. A code or name that is not in the table gets the free
 * place where it belongs. */
static size_t place_of(const gbsi_key_table *t, uint64_t code)
{
    size_t at = gbsi_mix64(code) & (t->capacity - 1);
    while (t->row[at] != GBSI_NONE && t->code[at] != code) {
        at = (at + 1) & (t->capacity - 1);
    }
    return at;
}

static size_t place_of_name(const gbsi_key_table *t, uint64_t name)
{
    size_t at = gbsi_mix64(name) & (t->capacity - 1);
    while (t->by_name[at] != GBSI_NONE && t->name[t->by_name[at]] != name) {
        at = (at + 1) & (t->capacity - 1);
    }
    return at;
}

static gbs_status take(gbsi_key_table *t, size_t capacity, size_t row_bytes, bool named,
                       gbs_error *err)
{
    *t = (gbsi_key_table){.capacity = capacity};
    t->code = gbsi_alloc_array(capacity, sizeof *t->code);
    t->row = gbsi_alloc_array(capacity, sizeof *t->row);
    t->rows = gbsi_alloc_array(capacity / 2, row_bytes);
    t->by_name = named ? gbsi_alloc_array(capacity, sizeof *t->by_name) : NULL;
    t->name = named ? gbsi_alloc_array(capacity / 2, sizeof *t->name) : NULL;
    if (t->code == NULL || t->row == NULL || t->rows == NULL ||
        (named && (t->by_name == NULL || t->name == NULL))) {
        gbsi_key_table_free(t);
        return gbsi_no_memory(err, "herding weights", capacity / 2 * row_bytes);
    }
    memset(t->row, 0xFF, capacity * sizeof *t->row);
    if (named) {
        memset(t->by_name, 0xFF, capacity * sizeof *t->by_name);
    }
    return GBS_OK;
}

gbs_status gbsi_key_table_reserve(gbsi_key_table *table, size_t n, size_t row_bytes, bool named,
                                  gbs_error *err)
{
    if (n <= table->capacity / 2) {
        return GBS_OK;
    }
    gbsi_key_table grown;
    GBSI_PASS(take(&grown, capacity_for(n), row_bytes, named, err));
    for (size_t i = 0; i < table->capacity; ++i) {
        if (table->row[i] != GBSI_NONE) {
            const size_t at = place_of(&grown, table->code[i]);
            grown.code[at] = table->code[i];
            grown.row[at] = table->row[i];
        }
    }
    for (size_t r = 0; named && r < table->n_rows; ++r) {
        grown.name[r] = table->name[r];
        grown.by_name[place_of_name(&grown, table->name[r])] = (uint32_t)r;
    }
    if (table->n_rows > 0) {
        memcpy(grown.rows, table->rows, table->n_rows * row_bytes);
    }
    grown.n_codes = table->n_codes;
    grown.n_rows = table->n_rows;
    gbsi_key_table_free(table);
    *table = grown;
    return GBS_OK;
}

uint32_t gbsi_key_table_find(const gbsi_key_table *table, uint64_t code)
{
    const size_t at = place_of(table, code);
    return table->row[at];
}

static void put_code(gbsi_key_table *table, uint64_t code, uint32_t row)
{
    assert(table->n_codes < table->capacity / 2);
    const size_t at = place_of(table, code);
    table->code[at] = code;
    table->row[at] = row;
    ++table->n_codes;
}

uint32_t gbsi_key_table_add(gbsi_key_table *table, uint64_t code)
{
    const uint32_t row = (uint32_t)table->n_rows++;
    put_code(table, code, row);
    return row;
}

uint32_t gbsi_key_table_add_named(gbsi_key_table *table, uint64_t code, uint64_t name, bool *fresh)
{
    const size_t at = place_of_name(table, name);
    *fresh = table->by_name[at] == GBSI_NONE;
    if (*fresh) {
        table->name[table->n_rows] = name;
        table->by_name[at] = (uint32_t)table->n_rows++;
    }
    put_code(table, code, table->by_name[at]);
    return table->by_name[at];
}

/* ---- saving and loading ---------------------------------------------------------------------- */

gbs_status gbsi_key_table_save(const gbsi_key_table *t, gbsi_row_shape row, bool named,
                               const gbsi_sink *sink, gbs_error *err)
{
    const uint64_t n[2] = {t->n_codes, t->n_rows};
    GBSI_PASS(gbsi_put_numbers(sink, n, 2, sizeof *n, err));
    for (size_t i = 0; i < t->capacity; ++i) {
        if (t->row[i] != GBSI_NONE) {
            GBSI_PASS(gbsi_put_numbers(sink, &t->code[i], 1, sizeof t->code[i], err));
            GBSI_PASS(gbsi_put_numbers(sink, &t->row[i], 1, sizeof t->row[i], err));
        }
    }
    if (named) {
        GBSI_PASS(gbsi_put_numbers(sink, t->name, t->n_rows, sizeof *t->name, err));
    }
    return gbsi_put_numbers(sink, t->rows, t->n_rows * (row.bytes / row.number), row.number, err);
}

gbs_status gbsi_key_table_load(gbsi_key_table *t, gbsi_row_shape row, bool named, uint64_t room,
                               const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t n[2];
    gbsi_key_table made = {0};
    GBSI_TRY(gbsi_take_numbers(source, n, 2, sizeof *n, err));
    if (n[1] > n[0] || n[0] >= GBSI_NONE / 2 || (!named && n[0] != n[1]) ||
        (n[0] > 0 && gbsi_key_table_bytes(n[0], row.bytes, named) > room)) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT,
                           "saved herding weights: found %" PRIu64 " contexts and %" PRIu64
                           " rows, which do not fit this run",
                           n[0], n[1]));
    }
    GBSI_TRY(gbsi_key_table_reserve(&made, n[0], row.bytes, named, err));
    for (uint64_t i = 0; i < n[0]; ++i) {
        uint64_t code = 0;
        uint32_t at = 0;
        GBSI_TRY(gbsi_take_numbers(source, &code, 1, sizeof code, err));
        GBSI_TRY(gbsi_take_numbers(source, &at, 1, sizeof at, err));
        if (at >= n[1] || gbsi_key_table_find(&made, code) != GBSI_NONE) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT, "saved herding weights: row %u of %" PRIu64, at,
                               n[1]));
        }
        put_code(&made, code, at);
    }
    made.n_rows = n[1];
    if (named && n[1] > 0) {
        GBSI_TRY(gbsi_take_numbers(source, made.name, n[1], sizeof *made.name, err));
        for (uint32_t r = 0; r < n[1]; ++r) {
            made.by_name[place_of_name(&made, made.name[r])] = r;
        }
    }
    GBSI_TRY(
        gbsi_take_numbers(source, made.rows, n[1] * (row.bytes / row.number), row.number, err));
    gbsi_key_table_free(t);
    *t = made;
    made = (gbsi_key_table){0};
cleanup:
    gbsi_key_table_free(&made);
    return status;
}

gbs_status gbsi_key_table_skip(gbsi_row_shape row, bool named, const gbsi_source *source,
                               gbs_error *err)
{
    uint64_t n[2];
    GBSI_PASS(gbsi_take_numbers(source, n, 2, sizeof *n, err));
    if (n[1] > n[0] || n[0] >= GBSI_NONE / 2) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "saved herding weights: found %" PRIu64 " contexts and %" PRIu64 " rows",
                         n[0], n[1]);
    }
    const uint64_t each = row.bytes + (named ? sizeof(uint64_t) : 0);
    return gbsi_skip_bytes(source, n[0] * (sizeof(uint64_t) + sizeof(uint32_t)) + n[1] * each, err);
}
