/* SPDX-License-Identifier: Apache-2.0 */
/* Hard constraints on parities, solved by Gaussian elimination over GF(2), the field of the two
 * numbers 0 and 1. A parity constraint over variables of two states is one linear equation. The
 * equations of a set of factors are the rows of a matrix of bits. */
#ifndef GBSI_SATISFY_PARITY_H
#define GBSI_SATISFY_PARITY_H

#include "satisfy/satisfy.h"

/* The equations of a part after elimination. Columns are the variables of the part, in the order of
 * part->variable. A variable of more than two states is in no equation, and counts as free. */
typedef struct gbsi_parity {
    uint32_t n_columns;
    uint32_t n_rows;
    uint32_t words;       /* words of 64 bits that the columns take */
    uint32_t stride;      /* words of a row: its columns, then its right side and its origin. Bit 0
                             after the columns is the right side. Bit 1 + i says that the equation
                             of factor[i] was added to the row */
    uint64_t *row;        /* [n_rows][stride] */
    size_t *factor;       /* [n_rows] factor of each equation, in the order of part->factor */
    uint32_t rank;        /* number of pivots */
    uint32_t *pivot_row;  /* [rank] row of each pivot */
    uint32_t *pivot;      /* [rank] column of each pivot. The row of pivot k has no column of an
                             earlier pivot */
    uint32_t n_free;      /* columns that are no pivot: n_columns - rank */
    uint32_t *free;       /* [n_free] these columns, ascending */
    uint32_t contradicts; /* a row that says 0 = 1, which contradicts every state; GBSI_NONE if no
                             row does. The pivots are then incomplete */
    bool alone; /* whether the variables of the part have two states, and its factors forbid nothing
                   but parities. Solutions of the equations are then the states that the part allows
                 */
} gbsi_parity;

/* Returns whether the hard zeros of a factor say exactly that some of its variables have a given
 * parity. The factor is then a table of at most 16 variables, a hard logical parity, a hard
 * equality of two literals, or a hard Potts factor, and the variables have two states.
 * @param flat NULL, or out: whether the factor has one value for all states that it allows. */
bool gbsi_is_parity(const gbsi_factors *factors, const uint32_t *arity, size_t factor, bool *flat);

/* Collects the equations of a part, and eliminates. The row of a pivot is the lightest row, and its
 * column is the one that the fewest other rows contain; the rows then stay sparse (Markowitz 1957,
 * Management Science 3:255-269).
 * @param part borrowed during the call. @param watch NULL, or a watch that may stop the work.
 * @param limit number of words that the elimination may read.
 * @param out NULL if the part has no equation, if the limit or the watch ended the work, or if the
 * rows would take more than 128 MiB. */
gbs_status gbsi_parity_new(const gbsi_hard_part *part, gbsi_watch *watch, uint64_t limit,
                           gbsi_parity **out, gbs_error *err);
void gbsi_parity_free(gbsi_parity *parity);

/* Computes the columns of all pivots from the free columns. No row may say 0 = 1.
 * @param right true: solves the equations; false: solves them with all right sides 0.
 * @param bits [words] in: the free columns; out: the solution. */
void gbsi_parity_solve(const gbsi_parity *parity, bool right, uint64_t *bits);

/* Makes a basis of the null space: n_free words of which every sum solves the equations with all
 * right sides 0. Each word first has one free column. Then a word is replaced by its sum with
 * another word as long as the sum has fewer bits. The words are sorted by their numbers of bits.
 * @param basis [n_free][words] out. */
void gbsi_parity_basis(const gbsi_parity *parity, gbsi_watch *watch, uint64_t *basis);

/* Lists the factors whose equations add up to 0 = 1. Without any one of them, the other equations
 * have a solution. @param set out; the caller must free the array `factor`. */
gbs_status gbsi_parity_conflict(const gbsi_parity *parity, gbsi_conflict_set *set, gbs_error *err);

static inline bool gbsi_bit(const uint64_t *bits, size_t i)
{
    return (bits[i / 64] >> (i % 64) & 1) != 0;
}

static inline void gbsi_flip_bit(uint64_t *bits, size_t i)
{
    bits[i / 64] ^= (uint64_t)1 << (i % 64);
}

#endif
