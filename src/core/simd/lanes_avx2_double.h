/* SPDX-License-Identifier: Apache-2.0 */
/* The double operations of lanes_avx2.h, with four registers of four lanes. Only lanes_avx2.h
 * includes this file. */
#ifndef GBSI_SIMD_LANES_AVX2_DOUBLE_H
#define GBSI_SIMD_LANES_AVX2_DOUBLE_H

static inline vd vd_set1(double a)
{
    __m256d v = _mm256_set1_pd(a);
    vd r = {{v, v, v, v}};
    return r;
}
static inline vd vd_zero(void)
{
    return vd_set1(0.0);
}
static inline vd vd_load(const double *p)
{
    vd r = {{_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4), _mm256_loadu_pd(p + 8),
             _mm256_loadu_pd(p + 12)}};
    return r;
}
static inline void vd_store(double *p, vd a)
{
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_pd(p + 4 * i, a.q[i]);
    }
}
static inline vd vd_from_vf(vf a)
{
    vd r = {{_mm256_cvtps_pd(_mm256_castps256_ps128(a.lo)),
             _mm256_cvtps_pd(_mm256_extractf128_ps(a.lo, 1)),
             _mm256_cvtps_pd(_mm256_castps256_ps128(a.hi)),
             _mm256_cvtps_pd(_mm256_extractf128_ps(a.hi, 1))}};
    return r;
}
static inline __m256 gbsi_to_float256(__m256d a, __m256d b)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(a)), _mm256_cvtpd_ps(b), 1);
}
static inline vf vf_from_vd(vd a)
{
    vf r = {gbsi_to_float256(a.q[0], a.q[1]), gbsi_to_float256(a.q[2], a.q[3])};
    return r;
}
#define GBSI_QUARTERS(name, op)                                                                    \
    static inline vd name(vd a, vd b)                                                              \
    {                                                                                              \
        vd r = {{op(a.q[0], b.q[0]), op(a.q[1], b.q[1]), op(a.q[2], b.q[2]), op(a.q[3], b.q[3])}}; \
        return r;                                                                                  \
    }
GBSI_QUARTERS(vd_add, _mm256_add_pd)
GBSI_QUARTERS(vd_sub, _mm256_sub_pd)
GBSI_QUARTERS(vd_mul, _mm256_mul_pd)
static inline vd vd_fma(vd a, vd b, vd c)
{
    vd r = {{_mm256_fmadd_pd(a.q[0], b.q[0], c.q[0]), _mm256_fmadd_pd(a.q[1], b.q[1], c.q[1]),
             _mm256_fmadd_pd(a.q[2], b.q[2], c.q[2]), _mm256_fmadd_pd(a.q[3], b.q[3], c.q[3])}};
    return r;
}
GBSI_QUARTERS(vd_max, _mm256_max_pd)
static inline __m256d gbsi_select256(__m128i m, __m256d a, __m256d b)
{
    return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(_mm256_cvtepi32_epi64(m)));
}
static inline vd vd_select(vm m, vd a, vd b)
{
    vd r = {{gbsi_select256(_mm256_castsi256_si128(m.lo), a.q[0], b.q[0]),
             gbsi_select256(_mm256_extracti128_si256(m.lo, 1), a.q[1], b.q[1]),
             gbsi_select256(_mm256_castsi256_si128(m.hi), a.q[2], b.q[2]),
             gbsi_select256(_mm256_extracti128_si256(m.hi, 1), a.q[3], b.q[3])}};
    return r;
}
static inline vd vd_gather(const double *base, vu index)
{
    vd r = {{_mm256_i32gather_pd(base, _mm256_castsi256_si128(index.lo), 8),
             _mm256_i32gather_pd(base, _mm256_extracti128_si256(index.lo, 1), 8),
             _mm256_i32gather_pd(base, _mm256_castsi256_si128(index.hi), 8),
             _mm256_i32gather_pd(base, _mm256_extracti128_si256(index.hi, 1), 8)}};
    return r;
}
/* Joins two masks of four 64-bit lanes to a mask of eight 32-bit lanes. */
static inline __m256i gbsi_join_masks(__m256d a, __m256d b)
{
    __m256 low = _mm256_shuffle_ps(_mm256_castpd_ps(a), _mm256_castpd_ps(b), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(low), 0xD8);
}
static inline vm vd_lt(vd a, vd b)
{
    vm r = {gbsi_join_masks(_mm256_cmp_pd(a.q[0], b.q[0], _CMP_LT_OQ),
                            _mm256_cmp_pd(a.q[1], b.q[1], _CMP_LT_OQ)),
            gbsi_join_masks(_mm256_cmp_pd(a.q[2], b.q[2], _CMP_LT_OQ),
                            _mm256_cmp_pd(a.q[3], b.q[3], _CMP_LT_OQ))};
    return r;
}

#endif
