/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of log-weights in double [M13]. Weights are never multiplied in double. in_float.h defines
 * the same operations in float. */
#ifndef GBSI_KERNEL_IN_DOUBLE_H
#define GBSI_KERNEL_IN_DOUBLE_H

#include <math.h>

#include "kernel/lookup.h"

typedef double real;
typedef vd vr; /* sixteen doubles */

GBSI_INLINE const real *pool_of(const gbsi_plan *plan)
{
    return plan->pool64;
}

GBSI_INLINE const real *field_of(const gbsi_plan *plan, uint32_t slot)
{
    return plan->field64 + gbsi_offset(&plan->field_start, slot);
}

GBSI_INLINE vr vr_set1(real a)
{
    return vd_set1(a);
}

GBSI_INLINE vr vr_load(const real *a)
{
    return vd_load(a);
}

GBSI_INLINE vr vr_select(vm m, vr a, vr b)
{
    return vd_select(m, a, b);
}

GBSI_INLINE vr vr_gather(const real *base, vu index)
{
    return vd_gather(base, index);
}

GBSI_INLINE vr vr_join(vr a, vr b, const bool linear)
{
    (void)linear;
    return vd_add(a, b);
}

GBSI_INLINE real real_join(real a, real b, bool linear)
{
    (void)linear;
    return a + b;
}

/* The sums of all own states are rounded to float after the largest sum is subtracted, so that a
 * large common part costs no precision. Log-odds are rounded without a subtraction. Nothing is
 * subtracted either if the largest sum is -infinity. */
enum { SUMS_ARE_SHIFTED = 1 };

GBSI_INLINE vr vr_largest(vr top, const vr *sum, const uint32_t width)
{
    for (uint32_t a = 0; a < width; ++a) {
        top = vd_max(sum[a], top);
    }
    return top;
}

GBSI_INLINE void vr_store_below(float *out, vr sum, vr top)
{
    const vm any = vd_lt(vd_set1(-INFINITY), top);
    vf_store(out, vf_from_vd(vd_sub(sum, vd_select(any, top, vd_zero()))));
}

GBSI_INLINE void join_gathered(const real *table, vu index, const uint32_t width, vr *sum,
                               const bool linear)
{
    for (uint32_t a = 0; a < width; ++a) {
        sum[a] = vr_join(sum[a], vd_gather(table + a, index), linear);
    }
}

GBSI_INLINE vr entry_of(const real *table, size_t n, vu index)
{
    (void)n;
    return vd_gather(table, index);
}

#endif
