/* SPDX-License-Identifier: Apache-2.0 */
#include "satisfy/parity.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "satisfy/parity_rows.h"

#define MOST_WORDS ((uint64_t)1 << 24) /* words of all rows together */
#define USED       UINT32_MAX          /* weight of a row that has a pivot */

/* Scratch memory of an elimination. */
typedef struct elimination {
    gbsi_parity *p;
    uint32_t *weight; /* [n_rows] number of columns of each row; USED if the row has a pivot */
    uint32_t *count;  /* [n_columns] number of rows without pivot that contain each column */
    uint32_t *column; /* [n_columns] columns of the row of the current pivot */
    uint32_t n_column;
    gbsi_watch *watch;
    uint64_t left; /* words that may still be read */
} elimination;

static uint64_t *row_at(const gbsi_parity *p, uint32_t row)
{
    return p->row + (size_t)row * p->stride;
}

static bool right_side(const gbsi_parity *p, uint32_t row)
{
    return gbsi_bit(row_at(p, row) + p->words, 0);
}

/* ---- the equations --------------------------------------------------------------------------- */

/* Lists the factors that are equations. */
static void list_rows(const gbsi_hard_part *part, gbsi_watch *watch, gbsi_parity *p)
{
    p->alone = true;
    for (uint32_t i = 0; i < part->n_variables; ++i) {
        part->number[part->variable[i]] = i;
        p->alone &= part->arity[part->variable[i]] == 2;
    }
    for (size_t i = 0; i < part->n_factors; ++i) {
        if (gbsi_is_parity(part->factors, part->arity, part->factor[i], NULL)) {
            p->factor[p->n_rows++] = part->factor[i];
        } else {
            p->alone = false;
        }
        (void)gbsi_watch_spend(watch, gbsi_factor_size(part->factors, part->factor[i]));
    }
}

static void fill_rows(const gbsi_hard_part *part, gbsi_parity *p)
{
    for (uint32_t i = 0; i < p->n_rows; ++i) {
        bool right = false;
        bool flat = false;
        const bool found = gbsi_read_parity(part->factors, part->arity, p->factor[i], part->number,
                                            row_at(p, i), &right, &flat);
        assert(found);
        (void)found;
        if (right) {
            gbsi_flip_bit(row_at(p, i) + p->words, 0);
        }
        gbsi_flip_bit(row_at(p, i) + p->words, 1 + (size_t)i);
    }
}

/* ---- elimination ----------------------------------------------------------------------------- */

static bool spend(elimination *e, uint64_t words)
{
    const bool over = words > e->left || gbsi_watch_spend(e->watch, words);
    e->left -= over ? e->left : words;
    return over;
}

static void count_columns(elimination *e)
{
    const gbsi_parity *p = e->p;
    for (uint32_t i = 0; i < p->n_rows; ++i) {
        for (uint32_t c = 0; c < p->n_columns; ++c) {
            const bool set = gbsi_bit(row_at(p, i), c);
            e->weight[i] += set;
            e->count[c] += set;
        }
    }
}

/* Finds the lightest row that has a column and no pivot; GBSI_NONE if there is none. */
static uint32_t lightest_row(const elimination *e)
{
    uint32_t row = GBSI_NONE;
    for (uint32_t i = 0; i < e->p->n_rows; ++i) {
        if (e->weight[i] != USED && e->weight[i] > 0 &&
            (row == GBSI_NONE || e->weight[i] < e->weight[row])) {
            row = i;
        }
    }
    return row;
}

/* Lists the columns of a row, and returns the one that the fewest rows contain. */
static uint32_t rarest_column(elimination *e, uint32_t row)
{
    const uint64_t *bits = row_at(e->p, row);
    uint32_t rarest = GBSI_NONE;
    e->n_column = 0;
    for (uint32_t w = 0; w < e->p->words; ++w) {
        for (uint64_t left = bits[w]; left != 0; left &= left - 1) {
            const uint32_t c = w * 64 + (uint32_t)__builtin_ctzll(left);
            e->column[e->n_column++] = c;
            rarest = rarest == GBSI_NONE || e->count[c] < e->count[rarest] ? c : rarest;
        }
    }
    return rarest;
}

/* Adds the row of the current pivot to another row. */
static void add_row(elimination *e, uint32_t pivot_row, uint32_t row)
{
    const uint64_t *from = row_at(e->p, pivot_row);
    uint64_t *to = row_at(e->p, row);
    for (uint32_t k = 0; k < e->n_column; ++k) {
        const uint32_t c = e->column[k];
        const bool set = gbsi_bit(to, c);
        e->count[c] += set ? UINT32_MAX : 1;
        e->weight[row] += set ? UINT32_MAX : 1; /* adds -1 or 1 */
    }
    for (uint32_t w = 0; w < e->p->stride; ++w) {
        to[w] ^= from[w];
    }
    if (e->weight[row] == 0 && right_side(e->p, row) && e->p->contradicts == GBSI_NONE) {
        e->p->contradicts = row;
    }
}

/* Finds all pivots, or a row that says 0 = 1. @return false if the work ended early. */
static bool eliminate(elimination *e)
{
    gbsi_parity *p = e->p;
    uint32_t row = 0;
    count_columns(e);
    if (spend(e, (uint64_t)p->n_rows * p->n_columns / 4)) {
        return false;
    }
    while (p->contradicts == GBSI_NONE && (row = lightest_row(e)) != GBSI_NONE) {
        const uint32_t column = rarest_column(e, row);
        p->pivot_row[p->rank] = row;
        p->pivot[p->rank++] = column;
        e->weight[row] = USED;
        for (uint32_t k = 0; k < e->n_column; ++k) {
            --e->count[e->column[k]];
        }
        if (spend(e, 2 * (uint64_t)p->n_rows)) {
            return false;
        }
        for (uint32_t i = 0; i < p->n_rows && e->count[column] > 0; ++i) {
            if (e->weight[i] != USED && gbsi_bit(row_at(p, i), column)) {
                add_row(e, row, i);
                if (spend(e, (uint64_t)p->stride + e->n_column)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static void list_free(gbsi_parity *p, uint8_t *is_pivot)
{
    for (uint32_t k = 0; k < p->rank; ++k) {
        is_pivot[p->pivot[k]] = 1;
    }
    for (uint32_t c = 0; c < p->n_columns; ++c) {
        if (!is_pivot[c]) {
            p->free[p->n_free++] = c;
        }
    }
}

static gbs_status solve_rows(gbsi_parity *p, gbsi_watch *watch, uint64_t limit, bool *done,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    elimination e = {.p = p, .watch = watch, .left = limit};
    uint8_t *is_pivot = gbsi_alloc_array_zero(p->n_columns, 1);
    e.weight = gbsi_alloc_array_zero(p->n_rows, sizeof *e.weight);
    e.count = gbsi_alloc_array_zero(p->n_columns, sizeof *e.count);
    e.column = gbsi_alloc_array(p->n_columns, sizeof *e.column);
    GBSI_TRY(GBSI_HAVE(err, "parities", is_pivot, e.weight, e.count, e.column));
    *done = eliminate(&e);
    list_free(p, is_pivot);

cleanup:
    GBSI_FREE(is_pivot, e.weight, e.count, e.column);
    return status;
}

gbs_status gbsi_parity_new(const gbsi_hard_part *part, gbsi_watch *watch, uint64_t limit,
                           gbsi_parity **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_parity *p = gbsi_alloc_zero(sizeof *p);
    bool done = false;
    *out = NULL;
    GBSI_TRY(GBSI_HAVE(err, "parities", p));
    p->n_columns = part->n_variables;
    p->contradicts = GBSI_NONE;
    p->factor = gbsi_alloc_array(part->n_factors, sizeof *p->factor);
    GBSI_TRY(GBSI_HAVE(err, "parities", p->factor));
    list_rows(part, watch, p);
    p->words = p->n_columns / 64 + (p->n_columns % 64 > 0);
    p->stride = p->words + 1 + p->n_rows / 64;
    if (p->n_rows == 0 || (uint64_t)p->n_rows * p->stride > MOST_WORDS ||
        gbsi_watch_stopped(watch)) {
        goto cleanup;
    }
    p->row = gbsi_alloc_array_zero((size_t)p->n_rows * p->stride, sizeof *p->row);
    p->pivot_row = gbsi_alloc_array(p->n_rows, sizeof *p->pivot_row);
    p->pivot = gbsi_alloc_array(p->n_rows, sizeof *p->pivot);
    p->free = gbsi_alloc_array(p->n_columns, sizeof *p->free);
    GBSI_TRY(GBSI_HAVE(err, "parities", p->row, p->pivot_row, p->pivot, p->free));
    fill_rows(part, p);
    GBSI_TRY(solve_rows(p, watch, limit, &done, err));
    if (done) {
        *out = p;
        p = NULL;
    }

cleanup:
    gbsi_parity_free(p);
    return status;
}

void gbsi_parity_free(gbsi_parity *p)
{
    if (p != NULL) {
        GBSI_FREE(p->row, p->factor, p->pivot_row, p->pivot, p->free, p);
    }
}

/* ---- solutions ------------------------------------------------------------------------------- */

void gbsi_parity_solve(const gbsi_parity *p, bool right, uint64_t *bits)
{
    assert(p->contradicts == GBSI_NONE);
    for (uint32_t k = 0; k < p->rank; ++k) {
        if (gbsi_bit(bits, p->pivot[k])) {
            gbsi_flip_bit(bits, p->pivot[k]);
        }
    }
    for (uint32_t k = p->rank; k-- > 0;) {
        const uint64_t *row = row_at(p, p->pivot_row[k]);
        uint64_t sum = 0;
        for (uint32_t w = 0; w < p->words; ++w) {
            sum ^= row[w] & bits[w];
        }
        if (gbsi_is_odd(sum) != (right && right_side(p, p->pivot_row[k]))) {
            gbsi_flip_bit(bits, p->pivot[k]);
        }
    }
}

static uint32_t weight_of(const uint64_t *bits, uint32_t words)
{
    uint32_t weight = 0;
    for (uint32_t w = 0; w < words; ++w) {
        weight += (uint32_t)__builtin_popcountll(bits[w]);
    }
    return weight;
}

/* Replaces word i by its sum with word k if the sum has fewer bits. */
static bool lighten(uint64_t *basis, uint32_t words, uint32_t i, uint32_t k)
{
    uint64_t *to = basis + (size_t)i * words;
    const uint64_t *from = basis + (size_t)k * words;
    uint32_t weight = 0;
    for (uint32_t w = 0; w < words; ++w) {
        weight += (uint32_t)__builtin_popcountll(to[w] ^ from[w]);
    }
    if (weight >= weight_of(to, words)) {
        return false;
    }
    for (uint32_t w = 0; w < words; ++w) {
        to[w] ^= from[w];
    }
    return true;
}

/* Moves each word before all heavier ones; words of equal weight keep their order. */
static void sort_words(uint64_t *basis, uint32_t words, uint32_t n)
{
    for (uint32_t i = 1; i < n; ++i) {
        for (uint32_t k = i; k > 0 && weight_of(basis + (size_t)k * words, words) <
                                          weight_of(basis + (size_t)(k - 1) * words, words);
             --k) {
            for (uint32_t w = 0; w < words; ++w) {
                uint64_t *at = basis + (size_t)k * words + w;
                const uint64_t heavier = at[-(ptrdiff_t)words];
                at[-(ptrdiff_t)words] = *at;
                *at = heavier;
            }
        }
    }
}

void gbsi_parity_basis(const gbsi_parity *p, gbsi_watch *watch, uint64_t *basis)
{
    memset(basis, 0, (size_t)p->n_free * p->words * sizeof *basis);
    for (uint32_t i = 0; i < p->n_free; ++i) {
        gbsi_flip_bit(basis + (size_t)i * p->words, p->free[i]);
        gbsi_parity_solve(p, false, basis + (size_t)i * p->words);
        (void)gbsi_watch_spend(watch, (uint64_t)p->rank * p->words);
    }
    bool changed = true; /* every change lowers the number of bits of all words together */
    while (changed && !gbsi_watch_stopped(watch)) {
        changed = false;
        for (uint32_t i = 0; i < p->n_free; ++i) {
            for (uint32_t k = 0; k < p->n_free; ++k) {
                changed |= k != i && lighten(basis, p->words, i, k);
            }
            (void)gbsi_watch_spend(watch, (uint64_t)p->n_free * p->words);
        }
    }
    sort_words(basis, p->words, p->n_free);
}

gbs_status gbsi_parity_conflict(const gbsi_parity *p, gbsi_conflict_set *set, gbs_error *err)
{
    /* The sum has the equations of some pivots and one more. The equations of pivots are
     * independent, so that this sum is the only one of them that is 0 = 1, and needs them all. */
    assert(p->contradicts != GBSI_NONE);
    const uint64_t *origin = row_at(p, p->contradicts) + p->words;
    *set = (gbsi_conflict_set){.minimal = true};
    set->factor = gbsi_alloc_array(p->n_rows, sizeof *set->factor);
    GBSI_PASS(GBSI_HAVE(err, "parities", set->factor));
    for (uint32_t i = 0; i < p->n_rows; ++i) {
        if (gbsi_bit(origin, 1 + (size_t)i)) {
            set->factor[set->n++] = p->factor[i];
        }
    }
    return GBS_OK;
}
