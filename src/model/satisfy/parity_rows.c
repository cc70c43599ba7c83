/* SPDX-License-Identifier: Apache-2.0 */
/* Reads hard factors as equations over GF(2). */
#include "satisfy/parity_rows.h"

#include <math.h>

enum { MOST_TABLE = 16 }; /* variables of a table that is read as an equation */

typedef struct reading {
    const gbsi_factors *factors;
    const uint32_t *scope; /* [n] */
    uint32_t n;
    const uint32_t *number; /* column of each variable; NULL if only the answer is wanted */
    uint64_t *row;          /* bits of the columns; NULL if only the answer is wanted */
} reading;

static void set(const reading *r, uint32_t k)
{
    if (r->row != NULL) {
        gbsi_flip_bit(r->row, r->number[r->scope[k]]);
    }
}

/* Reads a table. State x is allowed if and only if a . x = b, for some bits a and b. The states 0
 * and e_k, in which variable k alone is 1, show b and all a_k; then every state is compared. */
static bool read_table(const reading *r, size_t factor, bool *right, bool *flat)
{
    const gbsi_factors *f = r->factors;
    const double *entry = f->table + f->table_start[f->aux[factor]];
    uint32_t mask = 0; /* the coefficients a, by their places in the number of an entry */
    if (r->n > MOST_TABLE) {
        return false;
    }
    const bool first = entry[0] > -INFINITY;
    for (uint32_t k = 0; k < r->n; ++k) {
        const uint32_t place = r->n - 1 - k; /* the last variable moves fastest */
        if ((entry[(size_t)1 << place] > -INFINITY) != first) {
            mask |= (uint32_t)1 << place;
            set(r, k);
        }
    }
    double value = NAN;
    *flat = true;
    for (uint32_t i = 0; i < (uint32_t)1 << r->n; ++i) {
        const bool allowed = entry[i] > -INFINITY;
        if (allowed != (first ^ gbsi_is_odd(i & mask))) {
            return false;
        }
        *flat &= !allowed || isnan(value) || entry[i] == value;
        value = allowed ? entry[i] : value;
    }
    *right = !first;
    return mask != 0;
}

/* Reads a hard logical factor. The literal of state 1 is the variable itself, and the literal of
 * state 0 is 1 minus the variable. */
static bool read_logical(const reading *r, size_t factor, bool *right)
{
    const gbsi_logical *as = &r->factors->logical[r->factors->aux[factor]];
    const uint32_t *literal = r->factors->literal + r->factors->scope_start[factor];
    const bool all_free = as->head == GBSI_HEAD_FREE && r->n == as->n_body + 1;
    if (as->function == GBS_LOGICAL_PARITY) {
        /* the number of true literals must be odd */
        *right = (as->n_body_true + (as->head == GBSI_HEAD_TRUE)) % 2 == 0;
    } else if (as->function == GBS_LOGICAL_EQUAL && r->n == 2 && all_free) {
        *right = false;
    } else {
        return false;
    }
    for (uint32_t k = 0; k < r->n; ++k) {
        set(r, k);
        *right ^= literal[k] == 0;
    }
    return true;
}

bool gbsi_read_parity(const gbsi_factors *factors, const uint32_t *arity, size_t factor,
                      const uint32_t *number, uint64_t *row, bool *right, bool *flat)
{
    const size_t start = factors->scope_start[factor];
    const reading r = {.factors = factors,
                       .scope = factors->scope + start,
                       .n = (uint32_t)(factors->scope_start[factor + 1] - start),
                       .number = number,
                       .row = row};
    for (uint32_t k = 0; k < r.n; ++k) {
        if (arity[r.scope[k]] != 2) {
            return false;
        }
    }
    *flat = true;
    switch (factors->kind[factor]) {
    case GBS_FACTOR_TABLE:
        return read_table(&r, factor, right, flat);
    case GBS_FACTOR_LOGICAL:
        return factors->weight[factor] == INFINITY && read_logical(&r, factor, right);
    case GBS_FACTOR_POTTS:
        set(&r, 0);
        set(&r, 1);
        *right = true;
        return factors->weight[factor] == -INFINITY;
    default:
        return false;
    }
}

bool gbsi_is_parity(const gbsi_factors *factors, const uint32_t *arity, size_t factor, bool *flat)
{
    bool right = false;
    bool is_flat = false;
    const bool found = gbsi_read_parity(factors, arity, factor, NULL, NULL, &right, &is_flat);
    if (flat != NULL) {
        *flat = found && is_flat;
    }
    return found;
}
