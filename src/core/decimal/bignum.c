/* SPDX-License-Identifier: Apache-2.0 */
#include "decimal/decimal.h"

#include <assert.h>
#include <string.h>

static void push(gbsi_big *a, uint32_t limb)
{
    assert(a->n < GBSI_BIG_LIMBS);
    a->limb[a->n++] = limb;
}

void gbsi_big_set(gbsi_big *a, uint64_t value)
{
    a->n = 0;
    for (; value != 0; value >>= 32) {
        push(a, (uint32_t)value);
    }
}

void gbsi_big_multiply_add(gbsi_big *a, uint32_t factor, uint32_t summand)
{
    uint64_t carry = summand;
    for (uint32_t i = 0; i < a->n; i++) {
        carry += (uint64_t)a->limb[i] * factor;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        push(a, (uint32_t)carry);
    }
}

void gbsi_big_multiply_pow10(gbsi_big *a, uint32_t exponent)
{
    static const uint32_t small[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    for (; exponent >= 9; exponent -= 9) {
        gbsi_big_multiply_add(a, 1000000000, 0);
    }
    gbsi_big_multiply_add(a, small[exponent], 0);
}

void gbsi_big_shift_left(gbsi_big *a, uint32_t bits)
{
    if (a->n == 0) {
        return;
    }
    uint32_t limbs = bits / 32;
    assert(a->n + limbs <= GBSI_BIG_LIMBS);
    memmove(a->limb + limbs, a->limb, a->n * sizeof a->limb[0]);
    memset(a->limb, 0, limbs * sizeof a->limb[0]);
    a->n += limbs;
    bits %= 32;
    uint64_t carry = 0;
    for (uint32_t i = limbs; i < a->n; i++) {
        carry |= (uint64_t)a->limb[i] << bits;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        push(a, (uint32_t)carry);
    }
}

void gbsi_big_add(gbsi_big *a, const gbsi_big *b)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < b->n || (carry != 0 && i < a->n); i++) {
        if (i == a->n) {
            push(a, 0);
        }
        carry += (uint64_t)a->limb[i] + (i < b->n ? b->limb[i] : 0);
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        push(a, (uint32_t)carry);
    }
}

void gbsi_big_subtract(gbsi_big *a, const gbsi_big *b)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < b->n || (borrow != 0 && i < a->n); i++) {
        uint64_t difference = (uint64_t)a->limb[i] - (i < b->n ? b->limb[i] : 0) - borrow;
        a->limb[i] = (uint32_t)difference;
        borrow = difference >> 63;
    }
    assert(borrow == 0);
    while (a->n > 0 && a->limb[a->n - 1] == 0) {
        a->n--;
    }
}

int gbsi_big_compare(const gbsi_big *a, const gbsi_big *b)
{
    if (a->n != b->n) {
        return a->n < b->n ? -1 : 1;
    }
    for (uint32_t i = a->n; i-- > 0;) {
        if (a->limb[i] != b->limb[i]) {
            return a->limb[i] < b->limb[i] ? -1 : 1;
        }
    }
    return 0;
}

uint32_t gbsi_big_bits(const gbsi_big *a)
{
    uint32_t bits = a->n * 32;
    if (bits != 0) {
        for (uint32_t top = a->limb[a->n - 1]; top < 0x80000000u; top <<= 1) {
            bits--;
        }
    }
    return bits;
}
