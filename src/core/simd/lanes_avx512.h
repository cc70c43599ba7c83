/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of lanes.h on AVX-512 (F, BW, DQ, VL), with one register of sixteen lanes and
 * with masks in mask registers. All shifts use the instruction that takes a vector of counts. It is
 * one operation for constant and for variable counts; the instruction that takes the count from a
 * scalar register needs two. */
#ifndef GBSI_SIMD_LANES_AVX512_H
#define GBSI_SIMD_LANES_AVX512_H

#include <immintrin.h>
#include <stdint.h>

/* Without optimisation, the intrinsics for gathers and rounding are macros in GCC's header. In
 * these macros the full mask is converted to another sign, and GCC reports this conversion at the
 * lines of this file. (Some intrinsics below are used in their masked form with a full mask. Their
 * plain forms read an undefined register, about which GCC 12 warns; a full mask costs nothing.) */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

typedef __m512 vf;
typedef __m512i vu;
typedef __mmask16 vm;
typedef __m128i vb;
typedef struct vf2 {
    vf first;
    vf second;
} vf2;
typedef struct vd {
    __m512d lo; /* lanes 0-7 */
    __m512d hi; /* lanes 8-15 */
} vd;
typedef struct vw {
    __m512i even; /* lanes 0, 2, ..., 14, 64 bits each */
    __m512i odd;  /* lanes 1, 3, ..., 15 */
} vw;

/* ---- integer ---- */

static inline vu vu_set1(uint32_t a)
{
    return _mm512_set1_epi32((int)a);
}
static inline vu vu_iota(void)
{
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
static inline vu vu_load(const uint32_t *p)
{
    return _mm512_loadu_si512(p);
}
static inline void vu_store(uint32_t *p, vu a)
{
    _mm512_storeu_si512(p, a);
}
static inline vu vu_add(vu a, vu b)
{
    return _mm512_add_epi32(a, b);
}
static inline vu vu_sub(vu a, vu b)
{
    return _mm512_sub_epi32(a, b);
}
static inline vu vu_mul(vu a, vu b)
{
    return _mm512_mullo_epi32(a, b);
}
static inline vu vu_and(vu a, vu b)
{
    return _mm512_and_si512(a, b);
}
static inline vu vu_or(vu a, vu b)
{
    return _mm512_or_si512(a, b);
}
static inline vu vu_xor(vu a, vu b)
{
    return _mm512_xor_si512(a, b);
}
static inline vu vu_andnot(vu a, vu b)
{
    return _mm512_andnot_si512(b, a);
}
/* Ternary logic: the constant is the truth table of the operation; the bit of `a` is the high bit
 * of the index into this table. */
static inline vu vu_xor3(vu a, vu b, vu c)
{
    return _mm512_ternarylogic_epi32(a, b, c, 0x96);
}
static inline vu vu_majority(vu a, vu b, vu c)
{
    return _mm512_ternarylogic_epi32(a, b, c, 0xE8);
}
static inline vu vu_or_and(vu a, vu b, vu c)
{
    return _mm512_ternarylogic_epi32(a, b, c, 0xF8);
}
static inline vu vu_and_same(vu a, vu b, vu c)
{
    return _mm512_ternarylogic_epi32(a, b, c, 0x90);
}
/* Looks up the bit count of each nibble in a table and adds up the four bytes. */
static inline vu vu_popcount(vu a)
{
    const vu nibble = _mm512_set1_epi32(0x0F0F0F0F);
    const vu table = _mm512_set4_epi32(0x04030302, 0x03020201, 0x03020201, 0x02010100);
    const vu low = _mm512_shuffle_epi8(table, _mm512_and_si512(a, nibble));
    const vu high = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi32(a, 4), nibble));
    const vu pairs = _mm512_maddubs_epi16(_mm512_add_epi8(low, high), _mm512_set1_epi8(1));
    return _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
}
static inline int vu_any(vu a)
{
    return _mm512_test_epi32_mask(a, a) != 0;
}
static inline vu vu_min(vu a, vu b)
{
    return _mm512_min_epu32(a, b);
}
static inline vu vu_shl(vu a, int n)
{
    return _mm512_sllv_epi32(a, _mm512_set1_epi32(n));
}
static inline vu vu_shr(vu a, int n)
{
    return _mm512_srlv_epi32(a, _mm512_set1_epi32(n));
}
static inline vm vu_eq(vu a, vu b)
{
    return _mm512_cmpeq_epu32_mask(a, b);
}
static inline vm vu_lt(vu a, vu b)
{
    return _mm512_cmplt_epu32_mask(a, b);
}
static inline vu vu_select(vm m, vu a, vu b)
{
    return _mm512_mask_blend_epi32(m, b, a);
}
/* The destination register starts as zeros, because a gather waits for the old value of this
 * register. */
static inline vu vu_gather(const uint32_t *base, vu index)
{
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), (__mmask16)0xFFFF, index, base, 4);
}
static inline void vu_scatter(uint32_t *base, vu index, vu a)
{
    _mm512_i32scatter_epi32(base, index, a, 4);
}
static inline vu vu_mul_hi(vu a, vu b)
{
    vu even = _mm512_mul_epu32(a, b);
    vu odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32));
    return _mm512_mask_shuffle_epi32(odd, (__mmask16)0x5555, even, (_MM_PERM_ENUM)0xF5);
}
/* Stores out[4*i + j] = lane i of the j-th argument. */
static inline void vu_store_transposed4(uint32_t *out, vu a, vu b, vu c, vu d)
{
    /* Each quarter q (lanes 4q to 4q + 3) has columns of a 4 x 4 block. */
    vu ab_lo = _mm512_unpacklo_epi32(a, b);
    vu ab_hi = _mm512_unpackhi_epi32(a, b);
    vu cd_lo = _mm512_unpacklo_epi32(c, d);
    vu cd_hi = _mm512_unpackhi_epi32(c, d);
    vu r0 = _mm512_unpacklo_epi64(ab_lo, cd_lo);
    vu r1 = _mm512_unpackhi_epi64(ab_lo, cd_lo);
    vu r2 = _mm512_unpacklo_epi64(ab_hi, cd_hi);
    vu r3 = _mm512_unpackhi_epi64(ab_hi, cd_hi);
    /* Now r_j holds lanes j, 4 + j, 8 + j and 12 + j, and only the 4 x 4 transpose of quarters is
     * left to do. */
    vu s0 = _mm512_shuffle_i32x4(r0, r1, 0x44);
    vu s1 = _mm512_shuffle_i32x4(r0, r1, 0xEE);
    vu s2 = _mm512_shuffle_i32x4(r2, r3, 0x44);
    vu s3 = _mm512_shuffle_i32x4(r2, r3, 0xEE);
    _mm512_storeu_si512(out, _mm512_shuffle_i32x4(s0, s2, 0x88));
    _mm512_storeu_si512(out + 16, _mm512_shuffle_i32x4(s0, s2, 0xDD));
    _mm512_storeu_si512(out + 32, _mm512_shuffle_i32x4(s1, s3, 0x88));
    _mm512_storeu_si512(out + 48, _mm512_shuffle_i32x4(s1, s3, 0xDD));
}

/* ---- 64-bit products ---- */

static inline vw vw_set1(uint32_t a)
{
    vw r = {_mm512_set1_epi32((int)a), _mm512_set1_epi32((int)a)};
    return r;
}
static inline vw vw_from_vu(vu a)
{
    vw r = {a, _mm512_srli_epi64(a, 32)};
    return r;
}
static inline vu vu_from_vw(vw a)
{
    return _mm512_mask_shuffle_epi32(a.even, (__mmask16)0xAAAA, a.odd, (_MM_PERM_ENUM)0xA0);
}
static inline vw vw_mul(vw a, vw b)
{
    vw r = {_mm512_mul_epu32(a.even, b.even), _mm512_mul_epu32(a.odd, b.odd)};
    return r;
}
/* Moves the words of one half with a shift and the words of the other half with a shuffle, because
 * these instructions run on different ports of the processor. The shuffle leaves arbitrary bits in
 * the upper halves of 64-bit lanes. */
static inline vw vw_xor_high(vw a, vw b, vw c)
{
    vw r = {_mm512_ternarylogic_epi32(_mm512_srli_epi64(a.even, 32), b.even, c.even, 0x96),
            _mm512_ternarylogic_epi32(_mm512_shuffle_epi32(a.odd, (_MM_PERM_ENUM)0xF5), b.odd,
                                      c.odd, 0x96)};
    return r;
}

/* ---- states and bytes ---- */

static inline vu vu_load_u8(const uint8_t *p)
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline vu vu_load_u16(const uint16_t *p)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline void vu_store_u8(uint8_t *p, vu a)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_maskz_cvtepi32_epi8((__mmask16)0xFFFF, a));
}
static inline void vu_store_u16(uint16_t *p, vu a)
{
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_maskz_cvtepi32_epi16((__mmask16)0xFFFF, a));
}
static inline vu vu_gather_u8(const uint8_t *base, vu index)
{
    vu word =
        _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), (__mmask16)0xFFFF, index, base, 1);
    return _mm512_and_si512(word, _mm512_set1_epi32(0xFF));
}
static inline vu vu_gather_u16(const uint16_t *base, vu index)
{
    vu word =
        _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), (__mmask16)0xFFFF, index, base, 2);
    return _mm512_and_si512(word, _mm512_set1_epi32(0xFFFF));
}
static inline vb vb_load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}
static inline void vb_store(uint8_t *p, vb a)
{
    _mm_storeu_si128((__m128i *)(void *)p, a);
}
static inline vb vb_set1(uint8_t a)
{
    return _mm_set1_epi8((char)a);
}
static inline vb vb_add(vb a, vb b)
{
    return _mm_add_epi8(a, b);
}
static inline vb vb_sub(vb a, vb b)
{
    return _mm_sub_epi8(a, b);
}
static inline vb vb_eq(vb a, vb b)
{
    return _mm_cmpeq_epi8(a, b);
}
static inline void vb_add_u16(uint16_t *sum, vb a)
{
    __m256i *to = (__m256i *)sum;
    _mm256_storeu_si256(to, _mm256_add_epi16(_mm256_loadu_si256(to), _mm256_cvtepu8_epi16(a)));
}
static inline vb vb_zip_low(vb a, vb b)
{
    return _mm_unpacklo_epi8(a, b);
}
static inline vb vb_zip_high(vb a, vb b)
{
    return _mm_unpackhi_epi8(a, b);
}
static inline vu vb_widen(vb a)
{
    return _mm512_cvtepu8_epi32(a);
}
static inline vb vb_narrow(vu a)
{
    return _mm512_maskz_cvtepi32_epi8((__mmask16)0xFFFF, a);
}
static inline vb vb_from_vm(vm m)
{
    return _mm_maskz_set1_epi8(m, 1);
}
static inline vm vb_mask(vb a)
{
    return _mm_test_epi8_mask(a, a);
}

/* ---- masks ---- */

static inline vm vm_and(vm a, vm b)
{
    return (vm)(a & b);
}
static inline vm vm_or(vm a, vm b)
{
    return (vm)(a | b);
}
static inline vm vm_xor(vm a, vm b)
{
    return (vm)(a ^ b);
}
static inline vm vm_andnot(vm a, vm b)
{
    return (vm)(a & ~b);
}
static inline vm vm_not(vm a)
{
    return (vm)~a;
}
static inline vm vm_none(void)
{
    return 0;
}
static inline int vm_any(vm a)
{
    return a != 0;
}
static inline int vm_all(vm a)
{
    return a == 0xFFFF;
}
static inline unsigned vm_bits(vm a)
{
    return a;
}
static inline vm vm_from_bits(unsigned bits)
{
    return (vm)(bits & 0xFFFF);
}

/* ---- float ---- */

static inline vf vf_set1(float a)
{
    return _mm512_set1_ps(a);
}
static inline vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
static inline void vf_store(float *p, vf a)
{
    _mm512_storeu_ps(p, a);
}
static inline vf vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}
static inline vf vf_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}
static inline vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}
static inline vf vf_div(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}
static inline vf vf_max(vf a, vf b)
{
    return _mm512_maskz_max_ps((__mmask16)0xFFFF, a, b);
}
static inline vf vf_min(vf a, vf b)
{
    return _mm512_maskz_min_ps((__mmask16)0xFFFF, a, b);
}
static inline vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
static inline vf vf_fnma(vf a, vf b, vf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}
static inline vf vf_abs(vf a)
{
    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(0x7FFFFFFF)));
}
static inline vf vf_neg(vf a)
{
    return _mm512_castsi512_ps(
        _mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32((int)0x80000000u)));
}
static inline vf vf_round(vf a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vm vf_lt(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
static inline vm vf_le(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
}
static inline vm vf_eq(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
static inline vf vf_select(vm m, vf a, vf b)
{
    return _mm512_mask_blend_ps(m, b, a);
}
static inline vf vf_gather(const float *base, vu index)
{
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), (__mmask16)0xFFFF, index, base, 4);
}
static inline vf vf_permute16(vf table, vu index)
{
    return _mm512_maskz_permutexvar_ps((__mmask16)0xFFFF, index, table);
}
static inline vf vf_permute32(vf low, vf high, vu index)
{
    return _mm512_permutex2var_ps(low, index, high);
}
/* Loads eight pairs at a time as 64-bit numbers; the permutes then separate the two members of each
 * pair. */
static inline vf2 vf_gather2(const float *base, vu index)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m256i low = _mm512_castsi512_si256(index);
    const __m256i high = _mm512_maskz_extracti32x8_epi32((__mmask8)0xFF, index, 1);
    const __m512 a =
        _mm512_castsi512_ps(_mm512_mask_i32gather_epi64(zero, (__mmask8)0xFF, low, base, 4));
    const __m512 b =
        _mm512_castsi512_ps(_mm512_mask_i32gather_epi64(zero, (__mmask8)0xFF, high, base, 4));
    vf2 r = {_mm512_permutex2var_ps(a, even, b),
             _mm512_permutex2var_ps(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b)};
    return r;
}
static inline vf vf_from_vu(vu a)
{
    return _mm512_maskz_cvtepu32_ps((__mmask16)0xFFFF, a);
}
static inline vf vf_from_bits(vu a)
{
    return _mm512_castsi512_ps(a);
}
static inline vu vf_bits(vf a)
{
    return _mm512_castps_si512(a);
}
static inline vf vf_from_small(vu a)
{
    return _mm512_maskz_cvtepi32_ps((__mmask16)0xFFFF, a);
}
static inline vf vf_scale2(vf a, vf n)
{
    return _mm512_maskz_scalef_ps((__mmask16)0xFFFF, a, n);
}
static inline vu vf_to_vu(vf a)
{
    return _mm512_maskz_cvttps_epi32((__mmask16)0xFFFF, a);
}
static inline vu vf_to_vu_near(vf a)
{
    return _mm512_maskz_cvtps_epu32((__mmask16)0xFFFF, a);
}

/* ---- double ---- */

static inline vd vd_zero(void)
{
    vd r = {_mm512_setzero_pd(), _mm512_setzero_pd()};
    return r;
}
static inline vd vd_set1(double a)
{
    vd r = {_mm512_set1_pd(a), _mm512_set1_pd(a)};
    return r;
}
static inline vd vd_load(const double *p)
{
    vd r = {_mm512_loadu_pd(p), _mm512_loadu_pd(p + 8)};
    return r;
}
static inline void vd_store(double *p, vd a)
{
    _mm512_storeu_pd(p, a.lo);
    _mm512_storeu_pd(p + 8, a.hi);
}
static inline vd vd_from_vf(vf a)
{
    __m256 lo = _mm512_castps512_ps256(a);
    __m256 hi = _mm512_maskz_extractf32x8_ps((__mmask8)0xFF, a, 1);
    vd r = {_mm512_maskz_cvtps_pd((__mmask8)0xFF, lo), _mm512_maskz_cvtps_pd((__mmask8)0xFF, hi)};
    return r;
}
static inline vf vf_from_vd(vd a)
{
    __m512 lo = _mm512_castps256_ps512(_mm512_maskz_cvtpd_ps((__mmask8)0xFF, a.lo));
    return _mm512_insertf32x8(lo, _mm512_maskz_cvtpd_ps((__mmask8)0xFF, a.hi), 1);
}
static inline vd vd_add(vd a, vd b)
{
    vd r = {_mm512_add_pd(a.lo, b.lo), _mm512_add_pd(a.hi, b.hi)};
    return r;
}
static inline vd vd_sub(vd a, vd b)
{
    vd r = {_mm512_sub_pd(a.lo, b.lo), _mm512_sub_pd(a.hi, b.hi)};
    return r;
}
static inline vd vd_mul(vd a, vd b)
{
    vd r = {_mm512_mul_pd(a.lo, b.lo), _mm512_mul_pd(a.hi, b.hi)};
    return r;
}
static inline vd vd_fma(vd a, vd b, vd c)
{
    vd r = {_mm512_fmadd_pd(a.lo, b.lo, c.lo), _mm512_fmadd_pd(a.hi, b.hi, c.hi)};
    return r;
}
static inline vd vd_max(vd a, vd b)
{
    vd r = {_mm512_maskz_max_pd((__mmask8)0xFF, a.lo, b.lo),
            _mm512_maskz_max_pd((__mmask8)0xFF, a.hi, b.hi)};
    return r;
}
static inline vd vd_select(vm m, vd a, vd b)
{
    vd r = {_mm512_mask_blend_pd((__mmask8)m, b.lo, a.lo),
            _mm512_mask_blend_pd((__mmask8)(m >> 8), b.hi, a.hi)};
    return r;
}
static inline vd vd_gather(const double *base, vu index)
{
    const __m512d zero = _mm512_setzero_pd();
    const __m256i low = _mm512_castsi512_si256(index);
    const __m256i high = _mm512_maskz_extracti32x8_epi32((__mmask8)0xFF, index, 1);
    vd r = {_mm512_mask_i32gather_pd(zero, (__mmask8)0xFF, low, base, 8),
            _mm512_mask_i32gather_pd(zero, (__mmask8)0xFF, high, base, 8)};
    return r;
}
static inline vm vd_lt(vd a, vd b)
{
    unsigned lo = _mm512_cmp_pd_mask(a.lo, b.lo, _CMP_LT_OQ);
    unsigned hi = _mm512_cmp_pd_mask(a.hi, b.hi, _CMP_LT_OQ);
    return (vm)(lo | hi << 8);
}

#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)
#pragma GCC diagnostic pop
#endif

#endif
