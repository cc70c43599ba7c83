/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of lanes.h on AVX2 and FMA, with two registers of eight lanes. A truth value is a
 * lane whose bits are all 1 or all 0. */
#ifndef GBSI_SIMD_LANES_AVX2_H
#define GBSI_SIMD_LANES_AVX2_H

#include <immintrin.h>
#include <stdint.h>

typedef struct vf {
    __m256 lo; /* lanes 0-7 */
    __m256 hi; /* lanes 8-15 */
} vf;
typedef struct vu {
    __m256i lo;
    __m256i hi;
} vu;
typedef struct vm {
    __m256i lo;
    __m256i hi;
} vm;
typedef __m128i vb;
typedef struct vf2 {
    vf first;
    vf second;
} vf2;
typedef struct vd {
    __m256d q[4]; /* four lanes each */
} vd;
typedef struct vw {
    __m256i even[2]; /* lanes 0, 2, 4, 6 and 8, 10, 12, 14, 64 bits each */
    __m256i odd[2];  /* lanes 1, 3, 5, 7 and 9, 11, 13, 15 */
} vw;

/* Applies an intrinsic to both halves. */
#define GBSI_HALVES_1(type, name, op)  \
    static inline type name(type a)    \
    {                                  \
        type r = {op(a.lo), op(a.hi)}; \
        return r;                      \
    }
#define GBSI_HALVES_2(type, name, op)              \
    static inline type name(type a, type b)        \
    {                                              \
        type r = {op(a.lo, b.lo), op(a.hi, b.hi)}; \
        return r;                                  \
    }
#define GBSI_HALVES_3(type, name, op)                          \
    static inline type name(type a, type b, type c)            \
    {                                                          \
        type r = {op(a.lo, b.lo, c.lo), op(a.hi, b.hi, c.hi)}; \
        return r;                                              \
    }

static inline __m256i gbsi_load256(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}
static inline void gbsi_store256(void *p, __m256i a)
{
    _mm256_storeu_si256((__m256i *)p, a);
}

/* ---- integer ---- */

static inline vu vu_set1(uint32_t a)
{
    vu r = {_mm256_set1_epi32((int)a), _mm256_set1_epi32((int)a)};
    return r;
}
static inline vu vu_iota(void)
{
    vu r = {_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
            _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15)};
    return r;
}
static inline vu vu_load(const uint32_t *p)
{
    vu r = {gbsi_load256(p), gbsi_load256(p + 8)};
    return r;
}
static inline void vu_store(uint32_t *p, vu a)
{
    gbsi_store256(p, a.lo);
    gbsi_store256(p + 8, a.hi);
}
GBSI_HALVES_2(vu, vu_add, _mm256_add_epi32)
GBSI_HALVES_2(vu, vu_sub, _mm256_sub_epi32)
GBSI_HALVES_2(vu, vu_mul, _mm256_mullo_epi32)
GBSI_HALVES_2(vu, vu_and, _mm256_and_si256)
GBSI_HALVES_2(vu, vu_or, _mm256_or_si256)
GBSI_HALVES_2(vu, vu_xor, _mm256_xor_si256)
static inline vu vu_andnot(vu a, vu b)
{
    vu r = {_mm256_andnot_si256(b.lo, a.lo), _mm256_andnot_si256(b.hi, a.hi)};
    return r;
}
static inline vu vu_xor3(vu a, vu b, vu c)
{
    return vu_xor(vu_xor(a, b), c);
}
static inline vu vu_majority(vu a, vu b, vu c)
{
    return vu_or(vu_and(a, b), vu_and(c, vu_or(a, b)));
}
static inline vu vu_or_and(vu a, vu b, vu c)
{
    return vu_or(a, vu_and(b, c));
}
static inline vu vu_and_same(vu a, vu b, vu c)
{
    return vu_andnot(a, vu_xor(b, c));
}
/* Looks up the bit count of each nibble in a table and adds up the four bytes. */
static inline __m256i gbsi_popcount256(__m256i a)
{
    const __m256i nibble = _mm256_set1_epi32(0x0F0F0F0F);
    const __m256i table = _mm256_setr_epi32(0x02010100, 0x03020201, 0x03020201, 0x04030302,
                                            0x02010100, 0x03020201, 0x03020201, 0x04030302);
    const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(a, nibble));
    const __m256i high =
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi32(a, 4), nibble));
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_add_epi8(low, high), _mm256_set1_epi8(1));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
static inline vu vu_popcount(vu a)
{
    vu r = {gbsi_popcount256(a.lo), gbsi_popcount256(a.hi)};
    return r;
}
static inline int vu_any(vu a)
{
    const __m256i bits = _mm256_or_si256(a.lo, a.hi);
    return !_mm256_testz_si256(bits, bits);
}
GBSI_HALVES_2(vu, vu_min, _mm256_min_epu32)
static inline vu vu_shl(vu a, int n)
{
    __m256i count = _mm256_set1_epi32(n);
    vu r = {_mm256_sllv_epi32(a.lo, count), _mm256_sllv_epi32(a.hi, count)};
    return r;
}
static inline vu vu_shr(vu a, int n)
{
    __m256i count = _mm256_set1_epi32(n);
    vu r = {_mm256_srlv_epi32(a.lo, count), _mm256_srlv_epi32(a.hi, count)};
    return r;
}
static inline vm vu_eq(vu a, vu b)
{
    vm r = {_mm256_cmpeq_epi32(a.lo, b.lo), _mm256_cmpeq_epi32(a.hi, b.hi)};
    return r;
}
/* AVX2 has no unsigned comparison. If the top bits of both operands are flipped first, the signed
 * comparison gives the result of the unsigned comparison. */
static inline vm vu_lt(vu a, vu b)
{
    __m256i top = _mm256_set1_epi32((int)0x80000000u);
    vm r = {_mm256_cmpgt_epi32(_mm256_xor_si256(b.lo, top), _mm256_xor_si256(a.lo, top)),
            _mm256_cmpgt_epi32(_mm256_xor_si256(b.hi, top), _mm256_xor_si256(a.hi, top))};
    return r;
}
static inline vu vu_select(vm m, vu a, vu b)
{
    vu r = {_mm256_blendv_epi8(b.lo, a.lo, m.lo), _mm256_blendv_epi8(b.hi, a.hi, m.hi)};
    return r;
}
static inline vu vu_gather(const uint32_t *base, vu index)
{
    const int *p = (const int *)base;
    vu r = {_mm256_i32gather_epi32(p, index.lo, 4), _mm256_i32gather_epi32(p, index.hi, 4)};
    return r;
}
/* AVX2 has no scatter instruction: stores each lane by itself. */
static inline void vu_scatter(uint32_t *base, vu index, vu a)
{
    uint32_t at[16];
    uint32_t value[16];
    vu_store(at, index);
    vu_store(value, a);
    for (int i = 0; i < 16; i++) {
        base[at[i]] = value[i];
    }
}
static inline __m256i gbsi_mul_hi256(__m256i a, __m256i b)
{
    __m256i even = _mm256_mul_epu32(a, b);
    __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32));
    return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
}
GBSI_HALVES_2(vu, vu_mul_hi, gbsi_mul_hi256)
static inline void gbsi_store_transposed256(uint32_t *out, __m256i a, __m256i b, __m256i c,
                                            __m256i d)
{
    __m256i ab_lo = _mm256_unpacklo_epi32(a, b);
    __m256i ab_hi = _mm256_unpackhi_epi32(a, b);
    __m256i cd_lo = _mm256_unpacklo_epi32(c, d);
    __m256i cd_hi = _mm256_unpackhi_epi32(c, d);
    /* r_j holds lanes j and 4 + j. */
    __m256i r0 = _mm256_unpacklo_epi64(ab_lo, cd_lo);
    __m256i r1 = _mm256_unpackhi_epi64(ab_lo, cd_lo);
    __m256i r2 = _mm256_unpacklo_epi64(ab_hi, cd_hi);
    __m256i r3 = _mm256_unpackhi_epi64(ab_hi, cd_hi);
    gbsi_store256(out, _mm256_permute2x128_si256(r0, r1, 0x20));
    gbsi_store256(out + 8, _mm256_permute2x128_si256(r2, r3, 0x20));
    gbsi_store256(out + 16, _mm256_permute2x128_si256(r0, r1, 0x31));
    gbsi_store256(out + 24, _mm256_permute2x128_si256(r2, r3, 0x31));
}
static inline void vu_store_transposed4(uint32_t *out, vu a, vu b, vu c, vu d)
{
    gbsi_store_transposed256(out, a.lo, b.lo, c.lo, d.lo);
    gbsi_store_transposed256(out + 32, a.hi, b.hi, c.hi, d.hi);
}

/* ---- 64-bit products ---- */

static inline vw vw_set1(uint32_t a)
{
    __m256i v = _mm256_set1_epi32((int)a);
    vw r = {{v, v}, {v, v}};
    return r;
}
static inline vw vw_from_vu(vu a)
{
    vw r = {{a.lo, a.hi}, {_mm256_srli_epi64(a.lo, 32), _mm256_srli_epi64(a.hi, 32)}};
    return r;
}
static inline vu vu_from_vw(vw a)
{
    vu r = {_mm256_blend_epi32(a.even[0], _mm256_slli_epi64(a.odd[0], 32), 0xAA),
            _mm256_blend_epi32(a.even[1], _mm256_slli_epi64(a.odd[1], 32), 0xAA)};
    return r;
}
static inline vw vw_mul(vw a, vw b)
{
    vw r = {{_mm256_mul_epu32(a.even[0], b.even[0]), _mm256_mul_epu32(a.even[1], b.even[1])},
            {_mm256_mul_epu32(a.odd[0], b.odd[0]), _mm256_mul_epu32(a.odd[1], b.odd[1])}};
    return r;
}
static inline __m256i gbsi_xor_high256(__m256i a, __m256i b, __m256i c)
{
    return _mm256_xor_si256(_mm256_srli_epi64(a, 32), _mm256_xor_si256(b, c));
}
static inline vw vw_xor_high(vw a, vw b, vw c)
{
    vw r = {{gbsi_xor_high256(a.even[0], b.even[0], c.even[0]),
             gbsi_xor_high256(a.even[1], b.even[1], c.even[1])},
            {gbsi_xor_high256(a.odd[0], b.odd[0], c.odd[0]),
             gbsi_xor_high256(a.odd[1], b.odd[1], c.odd[1])}};
    return r;
}

/* ---- states and bytes ---- */

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
    vu r = {_mm256_cvtepu8_epi32(a), _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(a, a))};
    return r;
}
/* Packs sixteen words, all below 2^16, into sixteen half words in lane order. */
static inline __m256i gbsi_pack_u16(__m256i lo, __m256i hi)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(lo, hi), 0xD8);
}
static inline vb vb_narrow(vu a)
{
    __m256i low = _mm256_set1_epi32(0xFF);
    __m256i half = gbsi_pack_u16(_mm256_and_si256(a.lo, low), _mm256_and_si256(a.hi, low));
    return _mm_packus_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}
static inline vb vb_from_vm(vm m)
{
    /* the signed packs keep -1 as -1 */
    __m256i half = _mm256_permute4x64_epi64(_mm256_packs_epi32(m.lo, m.hi), 0xD8);
    __m128i byte = _mm_packs_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return _mm_and_si128(byte, _mm_set1_epi8(1));
}
static inline vm vb_mask(vb a)
{
    const __m128i one = _mm_set1_epi8(1);
    const __m128i set = _mm_cmpeq_epi8(_mm_min_epu8(a, one), one);
    vm r = {_mm256_cvtepi8_epi32(set), _mm256_cvtepi8_epi32(_mm_srli_si128(set, 8))};
    return r;
}
static inline vu vu_load_u8(const uint8_t *p)
{
    vu r = {_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)),
            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p + 8)))};
    return r;
}
static inline vu vu_load_u16(const uint16_t *p)
{
    vu r = {_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)),
            _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p + 8)))};
    return r;
}
static inline void vu_store_u8(uint8_t *p, vu a)
{
    vb_store(p, vb_narrow(a));
}
static inline void vu_store_u16(uint16_t *p, vu a)
{
    __m256i low = _mm256_set1_epi32(0xFFFF);
    gbsi_store256(p, gbsi_pack_u16(_mm256_and_si256(a.lo, low), _mm256_and_si256(a.hi, low)));
}
static inline vu vu_gather_u8(const uint8_t *base, vu index)
{
    const int *p = (const int *)(const void *)base;
    __m256i low = _mm256_set1_epi32(0xFF);
    vu r = {_mm256_and_si256(_mm256_i32gather_epi32(p, index.lo, 1), low),
            _mm256_and_si256(_mm256_i32gather_epi32(p, index.hi, 1), low)};
    return r;
}
static inline vu vu_gather_u16(const uint16_t *base, vu index)
{
    const int *p = (const int *)(const void *)base;
    __m256i low = _mm256_set1_epi32(0xFFFF);
    vu r = {_mm256_and_si256(_mm256_i32gather_epi32(p, index.lo, 2), low),
            _mm256_and_si256(_mm256_i32gather_epi32(p, index.hi, 2), low)};
    return r;
}

/* ---- masks ---- */

GBSI_HALVES_2(vm, vm_and, _mm256_and_si256)
GBSI_HALVES_2(vm, vm_or, _mm256_or_si256)
GBSI_HALVES_2(vm, vm_xor, _mm256_xor_si256)
static inline vm vm_andnot(vm a, vm b)
{
    vm r = {_mm256_andnot_si256(b.lo, a.lo), _mm256_andnot_si256(b.hi, a.hi)};
    return r;
}
static inline vm vm_none(void)
{
    vm r = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    return r;
}
static inline vm vm_not(vm a)
{
    __m256i all = _mm256_set1_epi32(-1);
    vm r = {_mm256_xor_si256(a.lo, all), _mm256_xor_si256(a.hi, all)};
    return r;
}
static inline unsigned vm_bits(vm a)
{
    unsigned lo = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(a.lo));
    unsigned hi = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(a.hi));
    return lo | hi << 8;
}
static inline int vm_any(vm a)
{
    __m256i either = _mm256_or_si256(a.lo, a.hi);
    return !_mm256_testz_si256(either, either);
}
static inline int vm_all(vm a)
{
    return _mm256_testc_si256(_mm256_and_si256(a.lo, a.hi), _mm256_set1_epi32(-1));
}
static inline vm vm_from_bits(unsigned bits)
{
    __m256i all = _mm256_set1_epi32((int)(bits & 0xFFFF));
    __m256i lo = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i hi = _mm256_slli_epi32(lo, 8);
    vm r = {_mm256_cmpeq_epi32(_mm256_and_si256(all, lo), lo),
            _mm256_cmpeq_epi32(_mm256_and_si256(all, hi), hi)};
    return r;
}

/* ---- float ---- */

static inline vf vf_set1(float a)
{
    vf r = {_mm256_set1_ps(a), _mm256_set1_ps(a)};
    return r;
}
static inline vf vf_load(const float *p)
{
    vf r = {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
    return r;
}
static inline void vf_store(float *p, vf a)
{
    _mm256_storeu_ps(p, a.lo);
    _mm256_storeu_ps(p + 8, a.hi);
}
GBSI_HALVES_2(vf, vf_add, _mm256_add_ps)
GBSI_HALVES_2(vf, vf_sub, _mm256_sub_ps)
GBSI_HALVES_2(vf, vf_mul, _mm256_mul_ps)
GBSI_HALVES_2(vf, vf_div, _mm256_div_ps)
GBSI_HALVES_2(vf, vf_max, _mm256_max_ps)
GBSI_HALVES_2(vf, vf_min, _mm256_min_ps)
GBSI_HALVES_3(vf, vf_fma, _mm256_fmadd_ps)
GBSI_HALVES_3(vf, vf_fnma, _mm256_fnmadd_ps)
static inline __m256 gbsi_abs256(__m256 a)
{
    return _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF)));
}
static inline __m256 gbsi_neg256(__m256 a)
{
    return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32((int)0x80000000u)));
}
static inline __m256 gbsi_round256(__m256 a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
GBSI_HALVES_1(vf, vf_abs, gbsi_abs256)
GBSI_HALVES_1(vf, vf_neg, gbsi_neg256)
GBSI_HALVES_1(vf, vf_round, gbsi_round256)
#define GBSI_COMPARE(name, how)                                       \
    static inline vm name(vf a, vf b)                                 \
    {                                                                 \
        vm r = {_mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, how)),  \
                _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, how))}; \
        return r;                                                     \
    }
GBSI_COMPARE(vf_lt, _CMP_LT_OQ)
GBSI_COMPARE(vf_le, _CMP_LE_OQ)
GBSI_COMPARE(vf_eq, _CMP_EQ_OQ)
static inline vf vf_select(vm m, vf a, vf b)
{
    vf r = {_mm256_blendv_ps(b.lo, a.lo, _mm256_castsi256_ps(m.lo)),
            _mm256_blendv_ps(b.hi, a.hi, _mm256_castsi256_ps(m.hi))};
    return r;
}
static inline vf vf_gather(const float *base, vu index)
{
    vf r = {_mm256_i32gather_ps(base, index.lo, 4), _mm256_i32gather_ps(base, index.hi, 4)};
    return r;
}
/* The permute instruction reads bits 0 to 2 of the index. Bit 3, moved to the sign bit, selects the
 * half of the table. */
static inline __m256 gbsi_permute256(vf table, __m256i index)
{
    __m256 lo = _mm256_permutevar8x32_ps(table.lo, index);
    __m256 hi = _mm256_permutevar8x32_ps(table.hi, index);
    return _mm256_blendv_ps(lo, hi, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
}
static inline vf vf_permute16(vf table, vu index)
{
    vf r = {gbsi_permute256(table, index.lo), gbsi_permute256(table, index.hi)};
    return r;
}
static inline vf vf_permute32(vf low, vf high, vu index)
{
    const vf a = vf_permute16(low, index);
    const vf b = vf_permute16(high, index);
    const __m256 in_lo = _mm256_castsi256_ps(_mm256_slli_epi32(index.lo, 27));
    const __m256 in_hi = _mm256_castsi256_ps(_mm256_slli_epi32(index.hi, 27));
    vf r = {_mm256_blendv_ps(a.lo, b.lo, in_lo), _mm256_blendv_ps(a.hi, b.hi, in_hi)};
    return r;
}
/* Loads four pairs at a time as 64-bit numbers. */
static inline void gbsi_gather2_256(const float *base, __m256i index, __m256 *first, __m256 *second)
{
    const long long *p = (const long long *)(const void *)base;
    const __m256i a = _mm256_i32gather_epi64(p, _mm256_castsi256_si128(index), 4);
    const __m256i b = _mm256_i32gather_epi64(p, _mm256_extracti128_si256(index, 1), 4);
    const __m256 even = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
    const __m256 odd = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xDD);
    *first = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(even), 0xD8));
    *second = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(odd), 0xD8));
}
static inline vf2 vf_gather2(const float *base, vu index)
{
    vf2 r;
    gbsi_gather2_256(base, index.lo, &r.first.lo, &r.second.lo);
    gbsi_gather2_256(base, index.hi, &r.first.hi, &r.second.hi);
    return r;
}
/* AVX2 has no conversion from unsigned integers. The low half of a word is put into the significand
 * of 2^23, and the high half into the significand of 2^39. The subtraction of both powers from the
 * second number is exact; only the final sum rounds. */
static inline __m256 gbsi_from_u32(__m256i a)
{
    __m256i lo = _mm256_blend_epi16(a, _mm256_set1_epi32(0x4B000000), 0xAA);
    __m256i hi = _mm256_blend_epi16(_mm256_srli_epi32(a, 16), _mm256_set1_epi32(0x53000000), 0xAA);
    __m256 upper = _mm256_sub_ps(_mm256_castsi256_ps(hi), _mm256_set1_ps(0x1.0001p39f));
    return _mm256_add_ps(upper, _mm256_castsi256_ps(lo));
}
static inline vf vf_from_vu(vu a)
{
    vf r = {gbsi_from_u32(a.lo), gbsi_from_u32(a.hi)};
    return r;
}
static inline vf vf_from_bits(vu a)
{
    vf r = {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)};
    return r;
}
static inline vu vf_bits(vf a)
{
    vu r = {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)};
    return r;
}
static inline vf vf_from_small(vu a)
{
    vf r = {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)};
    return r;
}
static inline __m256 gbsi_scale256(__m256 a, __m256 n)
{
    __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_mul_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23)));
}
GBSI_HALVES_2(vf, vf_scale2, gbsi_scale256)
static inline vu vf_to_vu(vf a)
{
    vu r = {_mm256_cvttps_epi32(a.lo), _mm256_cvttps_epi32(a.hi)};
    return r;
}
/* AVX2 has no conversion to unsigned integers. From 2^31 on, where all floats are integers, 2^31
 * is subtracted before the conversion and added after it. */
static inline __m256i gbsi_near256(__m256 a)
{
    const __m256 half = _mm256_set1_ps(0x1p31f);
    const __m256 large = _mm256_cmp_ps(half, a, _CMP_LE_OQ);
    const __m256i low = _mm256_cvtps_epi32(_mm256_sub_ps(a, _mm256_and_ps(large, half)));
    return _mm256_add_epi32(low, _mm256_slli_epi32(_mm256_castps_si256(large), 31));
}
static inline vu vf_to_vu_near(vf a)
{
    vu r = {gbsi_near256(a.lo), gbsi_near256(a.hi)};
    return r;
}

#include "simd/lanes_avx2_double.h"

#undef GBSI_HALVES_1
#undef GBSI_HALVES_2
#undef GBSI_HALVES_3
#undef GBSI_COMPARE
#undef GBSI_QUARTERS

#endif
