/* SPDX-License-Identifier: Apache-2.0 */
/* The double operations of lanes_neon.h, with eight registers of two lanes. Only lanes_neon.h
 * includes this file. */
#ifndef GBSI_SIMD_LANES_NEON_DOUBLE_H
#define GBSI_SIMD_LANES_NEON_DOUBLE_H

static inline vd vd_set1(double a)
{
    float64x2_t v = vdupq_n_f64(a);
    vd r = {{v, v, v, v, v, v, v, v}};
    return r;
}
static inline vd vd_zero(void)
{
    return vd_set1(0.0);
}
static inline vd vd_load(const double *p)
{
    vd r;
    for (int i = 0; i < 8; i++) {
        r.q[i] = vld1q_f64(p + 2 * i);
    }
    return r;
}
static inline void vd_store(double *p, vd a)
{
    for (int i = 0; i < 8; i++) {
        vst1q_f64(p + 2 * i, a.q[i]);
    }
}
static inline vd vd_from_vf(vf a)
{
    vd r;
    for (int i = 0; i < 4; i++) {
        r.q[2 * i] = vcvt_f64_f32(vget_low_f32(a.q[i]));
        r.q[2 * i + 1] = vcvt_high_f64_f32(a.q[i]);
    }
    return r;
}
static inline vf vf_from_vd(vd a)
{
    vf r;
    for (int i = 0; i < 4; i++) {
        r.q[i] = vcvt_high_f32_f64(vcvt_f32_f64(a.q[2 * i]), a.q[2 * i + 1]);
    }
    return r;
}
#define GBSI_PAIRS(name, op)             \
    static inline vd name(vd a, vd b)    \
    {                                    \
        vd r;                            \
        for (int i = 0; i < 8; i++) {    \
            r.q[i] = op(a.q[i], b.q[i]); \
        }                                \
        return r;                        \
    }
GBSI_PAIRS(vd_add, vaddq_f64)
GBSI_PAIRS(vd_sub, vsubq_f64)
GBSI_PAIRS(vd_mul, vmulq_f64)
static inline vd vd_fma(vd a, vd b, vd c)
{
    vd r;
    for (int i = 0; i < 8; i++) {
        r.q[i] = vfmaq_f64(c.q[i], a.q[i], b.q[i]);
    }
    return r;
}
static inline float64x2_t gbsi_max_f64(float64x2_t a, float64x2_t b)
{
    return vbslq_f64(vcgtq_f64(a, b), a, b);
}
GBSI_PAIRS(vd_max, gbsi_max_f64)
static inline vd vd_select(vm m, vd a, vd b)
{
    vd r;
    for (int i = 0; i < 4; i++) {
        const int32x4_t wide = vreinterpretq_s32_u32(m.q[i]);
        const uint64x2_t low = vreinterpretq_u64_s64(vmovl_s32(vget_low_s32(wide)));
        const uint64x2_t high = vreinterpretq_u64_s64(vmovl_high_s32(wide));
        r.q[2 * i] = vbslq_f64(low, a.q[2 * i], b.q[2 * i]);
        r.q[2 * i + 1] = vbslq_f64(high, a.q[2 * i + 1], b.q[2 * i + 1]);
    }
    return r;
}
static inline vd vd_gather(const double *base, vu index)
{
    uint32_t at[16];
    vd r;
    vu_store(at, index);
    for (int i = 0; i < 8; i++) {
        r.q[i] = vld1q_lane_f64(base + at[2 * i + 1], vld1q_dup_f64(base + at[2 * i]), 1);
    }
    return r;
}
static inline vm vd_lt(vd a, vd b)
{
    vm r;
    for (int i = 0; i < 4; i++) {
        r.q[i] = gbsi_low_words(vcltq_f64(a.q[2 * i], b.q[2 * i]),
                                vcltq_f64(a.q[2 * i + 1], b.q[2 * i + 1]));
    }
    return r;
}

#undef GBSI_PAIRS

#endif
