/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of log-weights in float, or products of weights [M15]. slice_terms.h, terms_rows.h and
 * terms_scalar.h use these operations; in_double.h defines the same operations in double. To join a
 * table means to add (or multiply) the entries index + a to the sums of the own states a = 0 ..
 * width - 1. */
#ifndef GBSI_KERNEL_IN_FLOAT_H
#define GBSI_KERNEL_IN_FLOAT_H

#include "kernel/lookup.h"

typedef float real;
typedef vf vr; /* sixteen floats */

GBSI_INLINE const real *pool_of(const gbsi_plan *plan)
{
    return plan->pool;
}

GBSI_INLINE const real *field_of(const gbsi_plan *plan, uint32_t slot)
{
    return plan->field + gbsi_offset(&plan->field_start, slot);
}

GBSI_INLINE vr vr_set1(real a)
{
    return vf_set1(a);
}

GBSI_INLINE vr vr_load(const real *a)
{
    return vf_load(a);
}

GBSI_INLINE vr vr_select(vm m, vr a, vr b)
{
    return vf_select(m, a, b);
}

GBSI_INLINE vr vr_gather(const real *base, vu index)
{
    return vf_gather(base, index);
}

GBSI_INLINE vr vr_join(vr a, vr b, const bool linear)
{
    return join(a, b, linear);
}

GBSI_INLINE real real_join(real a, real b, bool linear)
{
    return join1(a, b, linear);
}

/* Sums are written without a subtraction, because the draw subtracts the largest sum. */
enum { SUMS_ARE_SHIFTED = 0 };

GBSI_INLINE vr vr_largest(vr top, const vr *sum, const uint32_t width)
{
    (void)sum;
    (void)width;
    return top;
}

GBSI_INLINE void vr_store_below(float *out, vr sum, vr top)
{
    (void)top;
    vf_store(out, sum);
}

GBSI_INLINE void join_gathered(const float *table, vu index, const uint32_t width, vf *sum,
                               const bool linear)
{
    uint32_t a = 0;
    for (; a + 1 < width; a += 2) {
        const vf2 two = vf_gather2(table + a, index);
        sum[a] = join(sum[a], two.first, linear);
        sum[a + 1] = join(sum[a + 1], two.second, linear);
    }
    if (a < width) {
        sum[a] = join(sum[a], vf_gather(table + a, index), linear);
    }
}

/* Joins a table of n entries that all lanes share. Up to 32 entries are looked up in registers,
 * because a gather takes as long as sixteen loads. Pools have room for 16 entries after the last
 * one. */
GBSI_INLINE void join_entries(const float *table, size_t n, vu index, const uint32_t width, vf *sum,
                              const bool linear)
{
    if (n <= 16) {
        for (uint32_t a = 0; a < width; ++a) {
            sum[a] = join(sum[a], vf_permute16(vf_load(table + a), index), linear);
        }
    } else if (n <= 32) {
        const vf low = vf_load(table);
        const vf high = vf_load(table + 16);
        for (uint32_t a = 0; a < width; ++a) {
            const vu at = vu_add(index, vu_set1(a));
            sum[a] = join(sum[a], vf_permute32(low, high, at), linear);
        }
    } else {
        join_gathered(table, index, width, sum, linear);
    }
}

/* Looks up one entry of a small table held in vectors. */
GBSI_INLINE vf entry_of(const float *table, size_t n, vu index)
{
    if (n <= 16) {
        return vf_permute16(vf_load(table), index);
    }
    return n <= 32 ? vf_permute32(vf_load(table), vf_load(table + 16), index)
                   : vf_gather(table, index);
}

#endif
