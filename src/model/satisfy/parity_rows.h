/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_SATISFY_PARITY_ROWS_H
#define GBSI_SATISFY_PARITY_ROWS_H

#include "satisfy/parity.h"

static inline bool gbsi_is_odd(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits) % 2 != 0;
}

/* Reads a factor as an equation, see gbsi_is_parity().
 * @param number [variables] column of each variable; NULL if `row` is NULL.
 * @param row NULL, or in and out: zeros, in which the columns of the equation are set. They are
 * undefined if the factor is no equation.
 * @param right out: the right side. @param flat out, as in gbsi_is_parity(). */
bool gbsi_read_parity(const gbsi_factors *factors, const uint32_t *arity, size_t factor,
                      const uint32_t *number, uint64_t *row, bool *right, bool *flat);

#endif
