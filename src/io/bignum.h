/* SPDX-License-Identifier: Apache-2.0 */
/* Natural numbers of up to 4608 bits, for exact conversion between decimal and binary. The largest
 * that occurs is 10^1145 shifted by 64 (a subnormal written with 801 digits): 3868 bits. */
#ifndef GBSI_IO_BIGNUM_H
#define GBSI_IO_BIGNUM_H

#include <stdbool.h>
#include <stdint.h>

#define GBSI_BIG_LIMBS 144u

typedef struct gbsi_big {
    uint32_t n;                    /* limbs in use; the topmost is not 0 */
    uint32_t limb[GBSI_BIG_LIMBS]; /* least significant first */
} gbsi_big;

void gbsi_big_set(gbsi_big *a, uint64_t value);
void gbsi_big_multiply_add(gbsi_big *a, uint32_t factor,
                           uint32_t summand); /* a = a*factor + summand */
void gbsi_big_multiply_pow10(gbsi_big *a, uint32_t exponent);
void gbsi_big_shift_left(gbsi_big *a, uint32_t bits);
void gbsi_big_add(gbsi_big *a, const gbsi_big *b);
void gbsi_big_subtract(gbsi_big *a, const gbsi_big *b);     /* b <= a */
int gbsi_big_compare(const gbsi_big *a, const gbsi_big *b); /* sign of a - b */
uint32_t gbsi_big_bits(const gbsi_big *a);                  /* 0 for zero */

#endif
