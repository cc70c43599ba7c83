/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of lanes.h on the NEON of every AArch64 (Armv8.0-A), with four registers of four
 * lanes. A truth value is a lane whose bits are all 1 or all 0. The code requires little-endian
 * order: if a lane is read as several narrower lanes, the low part comes first. */
#ifndef GBSI_SIMD_LANES_NEON_H
#define GBSI_SIMD_LANES_NEON_H

#include <arm_neon.h>
#include <stdint.h>

typedef struct vf {
    float32x4_t q[4]; /* lanes 0-3, 4-7, 8-11, 12-15 */
} vf;
typedef struct vf2 {
    vf first;
    vf second;
} vf2;
typedef struct vu {
    uint32x4_t q[4];
} vu;
typedef struct vm {
    uint32x4_t q[4];
} vm;
typedef uint8x16_t vb;
typedef struct vd {
    float64x2_t q[8]; /* two lanes each */
} vd;
/* The multiplier reads 32-bit lanes and writes 64-bit lanes. The results are stored as low and high
 * halves in lane order, and need no narrowing before the next multiplication. */
typedef struct vw {
    uint32x4_t low[4];
    uint32x4_t high[4];
} vw;

/* Applies an intrinsic to all four quarters. */
#define GBSI_QUARTERS_1(type, name, from, op)                        \
    static inline type name(from a)                                  \
    {                                                                \
        type r = {{op(a.q[0]), op(a.q[1]), op(a.q[2]), op(a.q[3])}}; \
        return r;                                                    \
    }
#define GBSI_QUARTERS_2(type, name, from, op)                                                  \
    static inline type name(from a, from b)                                                    \
    {                                                                                          \
        type r = {                                                                             \
            {op(a.q[0], b.q[0]), op(a.q[1], b.q[1]), op(a.q[2], b.q[2]), op(a.q[3], b.q[3])}}; \
        return r;                                                                              \
    }
#define GBSI_QUARTERS_3(type, name, first, op)                               \
    static inline type name(first a, type b, type c)                         \
    {                                                                        \
        type r = {{op(a.q[0], b.q[0], c.q[0]), op(a.q[1], b.q[1], c.q[1]),   \
                   op(a.q[2], b.q[2], c.q[2]), op(a.q[3], b.q[3], c.q[3])}}; \
        return r;                                                            \
    }

/* ---- integer ---- */

static inline vu vu_set1(uint32_t a)
{
    uint32x4_t v = vdupq_n_u32(a);
    vu r = {{v, v, v, v}};
    return r;
}
static inline vu vu_iota(void)
{
    const uint32x4_t first = {0, 1, 2, 3};
    vu r = {{first, vaddq_u32(first, vdupq_n_u32(4)), vaddq_u32(first, vdupq_n_u32(8)),
             vaddq_u32(first, vdupq_n_u32(12))}};
    return r;
}
static inline vu vu_load(const uint32_t *p)
{
    vu r = {{vld1q_u32(p), vld1q_u32(p + 4), vld1q_u32(p + 8), vld1q_u32(p + 12)}};
    return r;
}
static inline void vu_store(uint32_t *p, vu a)
{
    vst1q_u32(p, a.q[0]);
    vst1q_u32(p + 4, a.q[1]);
    vst1q_u32(p + 8, a.q[2]);
    vst1q_u32(p + 12, a.q[3]);
}
GBSI_QUARTERS_2(vu, vu_add, vu, vaddq_u32)
GBSI_QUARTERS_2(vu, vu_sub, vu, vsubq_u32)
GBSI_QUARTERS_2(vu, vu_mul, vu, vmulq_u32)
GBSI_QUARTERS_2(vu, vu_and, vu, vandq_u32)
GBSI_QUARTERS_2(vu, vu_or, vu, vorrq_u32)
GBSI_QUARTERS_2(vu, vu_xor, vu, veorq_u32)
GBSI_QUARTERS_2(vu, vu_andnot, vu, vbicq_u32)
static inline uint32x4_t gbsi_xor3_128(uint32x4_t a, uint32x4_t b, uint32x4_t c)
{
    return veorq_u32(veorq_u32(a, b), c);
}
/* Takes the bits of c where a and b differ, and the bits of a elsewhere. */
static inline uint32x4_t gbsi_majority128(uint32x4_t a, uint32x4_t b, uint32x4_t c)
{
    return vbslq_u32(veorq_u32(a, b), c, a);
}
static inline uint32x4_t gbsi_or_and128(uint32x4_t a, uint32x4_t b, uint32x4_t c)
{
    return vorrq_u32(a, vandq_u32(b, c));
}
static inline uint32x4_t gbsi_and_same128(uint32x4_t a, uint32x4_t b, uint32x4_t c)
{
    return vbicq_u32(a, veorq_u32(b, c));
}
/* Counts the bits of every byte and adds up the four bytes. */
static inline uint32x4_t gbsi_popcount128(uint32x4_t a)
{
    return vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u32(a))));
}
GBSI_QUARTERS_3(vu, vu_xor3, vu, gbsi_xor3_128)
GBSI_QUARTERS_3(vu, vu_majority, vu, gbsi_majority128)
GBSI_QUARTERS_3(vu, vu_or_and, vu, gbsi_or_and128)
GBSI_QUARTERS_3(vu, vu_and_same, vu, gbsi_and_same128)
GBSI_QUARTERS_1(vu, vu_popcount, vu, gbsi_popcount128)
static inline int vu_any(vu a)
{
    uint32x4_t any = vorrq_u32(vorrq_u32(a.q[0], a.q[1]), vorrq_u32(a.q[2], a.q[3]));
    return vmaxvq_u32(any) != 0;
}
GBSI_QUARTERS_2(vu, vu_min, vu, vminq_u32)
/* The NEON instruction shifts left by the count in a register, and right if the count is
 * negative. The instruction reads the low byte of the count, and counts of 32 or more give 0 as
 * on other machines. */
static inline vu vu_shl(vu a, int n)
{
    int32x4_t count = vdupq_n_s32(n);
    vu r = {{vshlq_u32(a.q[0], count), vshlq_u32(a.q[1], count), vshlq_u32(a.q[2], count),
             vshlq_u32(a.q[3], count)}};
    return r;
}
static inline vu vu_shr(vu a, int n)
{
    return vu_shl(a, -n);
}
GBSI_QUARTERS_2(vm, vu_eq, vu, vceqq_u32)
GBSI_QUARTERS_2(vm, vu_lt, vu, vcltq_u32)
GBSI_QUARTERS_3(vu, vu_select, vm, vbslq_u32)
/* NEON has no gather instruction: loads each lane by itself. */
static inline uint32x4_t gbsi_gather128(const uint32_t *base, uint32x4_t index)
{
    uint32x4_t r = vld1q_dup_u32(base + vgetq_lane_u32(index, 0));
    r = vld1q_lane_u32(base + vgetq_lane_u32(index, 1), r, 1);
    r = vld1q_lane_u32(base + vgetq_lane_u32(index, 2), r, 2);
    return vld1q_lane_u32(base + vgetq_lane_u32(index, 3), r, 3);
}
static inline vu vu_gather(const uint32_t *base, vu index)
{
    vu r = {{gbsi_gather128(base, index.q[0]), gbsi_gather128(base, index.q[1]),
             gbsi_gather128(base, index.q[2]), gbsi_gather128(base, index.q[3])}};
    return r;
}
/* NEON has no scatter instruction: stores each lane by itself. */
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
/* Returns the low halves of the four 64-bit lanes in two registers, which are the even words. */
static inline uint32x4_t gbsi_low_words(uint64x2_t a, uint64x2_t b)
{
    return vuzp1q_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b));
}
static inline uint32x4_t gbsi_high_words(uint64x2_t a, uint64x2_t b)
{
    return vuzp2q_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b));
}
static inline uint32x4_t gbsi_mul_hi128(uint32x4_t a, uint32x4_t b)
{
    return gbsi_high_words(vmull_u32(vget_low_u32(a), vget_low_u32(b)), vmull_high_u32(a, b));
}
GBSI_QUARTERS_2(vu, vu_mul_hi, vu, gbsi_mul_hi128)
static inline void vu_store_transposed4(uint32_t *out, vu a, vu b, vu c, vu d)
{
    for (int i = 0; i < 4; i++) {
        uint32x4x4_t columns = {{a.q[i], b.q[i], c.q[i], d.q[i]}};
        vst4q_u32(out + 16 * i, columns);
    }
}

/* ---- 64-bit products ---- */

static inline vw vw_from_vu(vu a)
{
    uint32x4_t zero = vdupq_n_u32(0);
    vw r = {{a.q[0], a.q[1], a.q[2], a.q[3]}, {zero, zero, zero, zero}};
    return r;
}
static inline vw vw_set1(uint32_t a)
{
    return vw_from_vu(vu_set1(a));
}
static inline vu vu_from_vw(vw a)
{
    vu r = {{a.low[0], a.low[1], a.low[2], a.low[3]}};
    return r;
}
static inline vw vw_mul(vw a, vw b)
{
    vw r;
    for (int i = 0; i < 4; i++) {
        uint64x2_t lower = vmull_u32(vget_low_u32(a.low[i]), vget_low_u32(b.low[i]));
        uint64x2_t upper = vmull_high_u32(a.low[i], b.low[i]);
        r.low[i] = gbsi_low_words(lower, upper);
        r.high[i] = gbsi_high_words(lower, upper);
    }
    return r;
}
static inline vw vw_xor_high(vw a, vw b, vw c)
{
    vu r;
    for (int i = 0; i < 4; i++) {
        r.q[i] = veorq_u32(a.high[i], veorq_u32(b.low[i], c.low[i]));
    }
    return vw_from_vu(r);
}

/* ---- states and bytes ---- */

static inline vb vb_load(const uint8_t *p)
{
    return vld1q_u8(p);
}
static inline void vb_store(uint8_t *p, vb a)
{
    vst1q_u8(p, a);
}
static inline vb vb_set1(uint8_t a)
{
    return vdupq_n_u8(a);
}
static inline vb vb_add(vb a, vb b)
{
    return vaddq_u8(a, b);
}
static inline vb vb_sub(vb a, vb b)
{
    return vsubq_u8(a, b);
}
static inline vb vb_eq(vb a, vb b)
{
    return vceqq_u8(a, b);
}
/* Widens sixteen half words to sixteen words. */
static inline vu gbsi_widen_u16(uint16x8_t lo, uint16x8_t hi)
{
    vu r = {{vmovl_u16(vget_low_u16(lo)), vmovl_high_u16(lo), vmovl_u16(vget_low_u16(hi)),
             vmovl_high_u16(hi)}};
    return r;
}
/* Returns the low halves of eight words. */
static inline uint16x8_t gbsi_narrow_u16(uint32x4_t a, uint32x4_t b)
{
    return vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
}
static inline void vb_add_u16(uint16_t *sum, vb a)
{
    vst1q_u16(sum, vaddw_u8(vld1q_u16(sum), vget_low_u8(a)));
    vst1q_u16(sum + 8, vaddw_high_u8(vld1q_u16(sum + 8), a));
}
static inline vb vb_zip_low(vb a, vb b)
{
    return vzip1q_u8(a, b);
}
static inline vb vb_zip_high(vb a, vb b)
{
    return vzip2q_u8(a, b);
}
static inline vu vb_widen(vb a)
{
    return gbsi_widen_u16(vmovl_u8(vget_low_u8(a)), vmovl_high_u8(a));
}
static inline vb vb_narrow(vu a)
{
    uint16x8_t lo = gbsi_narrow_u16(a.q[0], a.q[1]);
    uint16x8_t hi = gbsi_narrow_u16(a.q[2], a.q[3]);
    return vuzp1q_u8(vreinterpretq_u8_u16(lo), vreinterpretq_u8_u16(hi));
}
static inline vb vb_from_vm(vm m)
{
    vu word = {{m.q[0], m.q[1], m.q[2], m.q[3]}};
    return vandq_u8(vb_narrow(word), vdupq_n_u8(1));
}
static inline vm vb_mask(vb a)
{
    const int8x16_t set = vreinterpretq_s8_u8(vtstq_u8(a, a));
    const int16x8_t lo = vmovl_s8(vget_low_s8(set));
    const int16x8_t hi = vmovl_high_s8(set);
    vm r = {{vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(lo))),
             vreinterpretq_u32_s32(vmovl_high_s16(lo)),
             vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(hi))),
             vreinterpretq_u32_s32(vmovl_high_s16(hi))}};
    return r;
}
static inline vu vu_load_u8(const uint8_t *p)
{
    return vb_widen(vb_load(p));
}
static inline vu vu_load_u16(const uint16_t *p)
{
    return gbsi_widen_u16(vld1q_u16(p), vld1q_u16(p + 8));
}
static inline void vu_store_u8(uint8_t *p, vu a)
{
    vb_store(p, vb_narrow(a));
}
static inline void vu_store_u16(uint16_t *p, vu a)
{
    vst1q_u16(p, gbsi_narrow_u16(a.q[0], a.q[1]));
    vst1q_u16(p + 8, gbsi_narrow_u16(a.q[2], a.q[3]));
}
static inline uint32x4_t gbsi_gather_u8(const uint8_t *base, uint32x4_t index)
{
    uint8x16_t r = vdupq_n_u8(0);
    r = vld1q_lane_u8(base + vgetq_lane_u32(index, 0), r, 0);
    r = vld1q_lane_u8(base + vgetq_lane_u32(index, 1), r, 4);
    r = vld1q_lane_u8(base + vgetq_lane_u32(index, 2), r, 8);
    r = vld1q_lane_u8(base + vgetq_lane_u32(index, 3), r, 12);
    return vreinterpretq_u32_u8(r);
}
static inline vu vu_gather_u8(const uint8_t *base, vu index)
{
    vu r = {{gbsi_gather_u8(base, index.q[0]), gbsi_gather_u8(base, index.q[1]),
             gbsi_gather_u8(base, index.q[2]), gbsi_gather_u8(base, index.q[3])}};
    return r;
}
static inline uint32x4_t gbsi_gather_u16(const uint16_t *base, uint32x4_t index)
{
    uint16x8_t r = vdupq_n_u16(0);
    r = vld1q_lane_u16(base + vgetq_lane_u32(index, 0), r, 0);
    r = vld1q_lane_u16(base + vgetq_lane_u32(index, 1), r, 2);
    r = vld1q_lane_u16(base + vgetq_lane_u32(index, 2), r, 4);
    r = vld1q_lane_u16(base + vgetq_lane_u32(index, 3), r, 6);
    return vreinterpretq_u32_u16(r);
}
static inline vu vu_gather_u16(const uint16_t *base, vu index)
{
    vu r = {{gbsi_gather_u16(base, index.q[0]), gbsi_gather_u16(base, index.q[1]),
             gbsi_gather_u16(base, index.q[2]), gbsi_gather_u16(base, index.q[3])}};
    return r;
}

/* ---- masks ---- */

GBSI_QUARTERS_2(vm, vm_and, vm, vandq_u32)
GBSI_QUARTERS_2(vm, vm_or, vm, vorrq_u32)
GBSI_QUARTERS_2(vm, vm_xor, vm, veorq_u32)
GBSI_QUARTERS_2(vm, vm_andnot, vm, vbicq_u32)
GBSI_QUARTERS_1(vm, vm_not, vm, vmvnq_u32)
static inline vm vm_none(void)
{
    uint32x4_t zero = vdupq_n_u32(0);
    vm r = {{zero, zero, zero, zero}};
    return r;
}
/* Returns a vector with bit i set in lane i. */
static inline vu gbsi_lane_bits(void)
{
    const uint32x4_t first = {1, 2, 4, 8};
    vu r = {{first, vshlq_n_u32(first, 4), vshlq_n_u32(first, 8), vshlq_n_u32(first, 12)}};
    return r;
}
static inline unsigned vm_bits(vm a)
{
    vu bit = gbsi_lane_bits();
    uint32x4_t lo = vorrq_u32(vandq_u32(a.q[0], bit.q[0]), vandq_u32(a.q[1], bit.q[1]));
    uint32x4_t hi = vorrq_u32(vandq_u32(a.q[2], bit.q[2]), vandq_u32(a.q[3], bit.q[3]));
    return vaddvq_u32(vorrq_u32(lo, hi));
}
static inline int vm_any(vm a)
{
    uint32x4_t any = vorrq_u32(vorrq_u32(a.q[0], a.q[1]), vorrq_u32(a.q[2], a.q[3]));
    return vmaxvq_u32(any) != 0;
}
static inline int vm_all(vm a)
{
    uint32x4_t all = vandq_u32(vandq_u32(a.q[0], a.q[1]), vandq_u32(a.q[2], a.q[3]));
    return vminvq_u32(all) != 0;
}
static inline vm vm_from_bits(unsigned bits)
{
    uint32x4_t all = vdupq_n_u32(bits);
    vu bit = gbsi_lane_bits();
    vm r = {{vtstq_u32(all, bit.q[0]), vtstq_u32(all, bit.q[1]), vtstq_u32(all, bit.q[2]),
             vtstq_u32(all, bit.q[3])}};
    return r;
}

/* ---- float ---- */

static inline vf vf_set1(float a)
{
    float32x4_t v = vdupq_n_f32(a);
    vf r = {{v, v, v, v}};
    return r;
}
static inline vf vf_load(const float *p)
{
    vf r = {{vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}};
    return r;
}
static inline void vf_store(float *p, vf a)
{
    vst1q_f32(p, a.q[0]);
    vst1q_f32(p + 4, a.q[1]);
    vst1q_f32(p + 8, a.q[2]);
    vst1q_f32(p + 12, a.q[3]);
}
/* The NEON maximum and minimum instructions return a NaN if either operand is one; a comparison
 * and a select are used instead. */
static inline float32x4_t gbsi_max128(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
static inline float32x4_t gbsi_min128(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
/* The NEON intrinsics take the addend first. */
static inline float32x4_t gbsi_fma128(float32x4_t a, float32x4_t b, float32x4_t c)
{
    return vfmaq_f32(c, a, b);
}
static inline float32x4_t gbsi_fnma128(float32x4_t a, float32x4_t b, float32x4_t c)
{
    return vfmsq_f32(c, a, b);
}
GBSI_QUARTERS_2(vf, vf_add, vf, vaddq_f32)
GBSI_QUARTERS_2(vf, vf_sub, vf, vsubq_f32)
GBSI_QUARTERS_2(vf, vf_mul, vf, vmulq_f32)
GBSI_QUARTERS_2(vf, vf_div, vf, vdivq_f32)
GBSI_QUARTERS_2(vf, vf_max, vf, gbsi_max128)
GBSI_QUARTERS_2(vf, vf_min, vf, gbsi_min128)
GBSI_QUARTERS_3(vf, vf_fma, vf, gbsi_fma128)
GBSI_QUARTERS_3(vf, vf_fnma, vf, gbsi_fnma128)
GBSI_QUARTERS_1(vf, vf_abs, vf, vabsq_f32)
GBSI_QUARTERS_1(vf, vf_neg, vf, vnegq_f32)
GBSI_QUARTERS_1(vf, vf_round, vf, vrndnq_f32)
GBSI_QUARTERS_2(vm, vf_lt, vf, vcltq_f32)
GBSI_QUARTERS_2(vm, vf_le, vf, vcleq_f32)
GBSI_QUARTERS_2(vm, vf_eq, vf, vceqq_f32)
GBSI_QUARTERS_3(vf, vf_select, vm, vbslq_f32)
static inline float32x4_t gbsi_gather_float(const float *base, uint32x4_t index)
{
    float32x4_t r = vld1q_dup_f32(base + vgetq_lane_u32(index, 0));
    r = vld1q_lane_f32(base + vgetq_lane_u32(index, 1), r, 1);
    r = vld1q_lane_f32(base + vgetq_lane_u32(index, 2), r, 2);
    return vld1q_lane_f32(base + vgetq_lane_u32(index, 3), r, 3);
}
static inline vf vf_gather(const float *base, vu index)
{
    vf r = {{gbsi_gather_float(base, index.q[0]), gbsi_gather_float(base, index.q[1]),
             gbsi_gather_float(base, index.q[2]), gbsi_gather_float(base, index.q[3])}};
    return r;
}
/* The table look-up instruction takes indices of bytes: the index i of a word becomes the byte
 * indices 4i, 4i + 1, 4i + 2, 4i + 3. */
static inline float32x4_t gbsi_permute128(uint8x16x4_t table, uint32x4_t index)
{
    uint32x4_t lane = vandq_u32(index, vdupq_n_u32(15));
    uint32x4_t byte = vmlaq_u32(vdupq_n_u32(0x03020100), lane, vdupq_n_u32(0x04040404));
    return vreinterpretq_f32_u8(vqtbl4q_u8(table, vreinterpretq_u8_u32(byte)));
}
static inline vf vf_permute16(vf table, vu index)
{
    uint8x16x4_t bytes = {{vreinterpretq_u8_f32(table.q[0]), vreinterpretq_u8_f32(table.q[1]),
                           vreinterpretq_u8_f32(table.q[2]), vreinterpretq_u8_f32(table.q[3])}};
    vf r = {{gbsi_permute128(bytes, index.q[0]), gbsi_permute128(bytes, index.q[1]),
             gbsi_permute128(bytes, index.q[2]), gbsi_permute128(bytes, index.q[3])}};
    return r;
}
static inline vf vf_permute32(vf low, vf high, vu index)
{
    const vf a = vf_permute16(low, index);
    const vf b = vf_permute16(high, index);
    vf r;
    for (int i = 0; i < 4; i++) {
        r.q[i] = vbslq_f32(vtstq_u32(index.q[i], vdupq_n_u32(16)), b.q[i], a.q[i]);
    }
    return r;
}
static inline vf2 vf_gather2(const float *base, vu index)
{
    vf2 r = {vf_gather(base, index), vf_gather(base + 1, index)};
    return r;
}
static inline float32x4_t gbsi_from_small(uint32x4_t a)
{
    return vcvtq_f32_s32(vreinterpretq_s32_u32(a));
}
GBSI_QUARTERS_1(vf, vf_from_vu, vu, vcvtq_f32_u32)
GBSI_QUARTERS_1(vf, vf_from_small, vu, gbsi_from_small)
GBSI_QUARTERS_1(vf, vf_from_bits, vu, vreinterpretq_f32_u32)
GBSI_QUARTERS_1(vu, vf_bits, vf, vreinterpretq_u32_f32)
static inline float32x4_t gbsi_scale128(float32x4_t a, float32x4_t n)
{
    int32x4_t biased = vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127));
    return vmulq_f32(a, vreinterpretq_f32_s32(vshlq_n_s32(biased, 23)));
}
GBSI_QUARTERS_2(vf, vf_scale2, vf, gbsi_scale128)
/* The conversion instruction saturates, but numbers out of range must become 2^31. The number
 * -2^31, which is in range, also becomes 2^31. */
static inline uint32x4_t gbsi_truncate128(float32x4_t a)
{
    uint32x4_t fits = vcaltq_f32(a, vdupq_n_f32(0x1p31f));
    uint32x4_t whole = vreinterpretq_u32_s32(vcvtq_s32_f32(a));
    return vbslq_u32(fits, whole, vdupq_n_u32(0x80000000u));
}
GBSI_QUARTERS_1(vu, vf_to_vu, vf, gbsi_truncate128)
GBSI_QUARTERS_1(vu, vf_to_vu_near, vf, vcvtnq_u32_f32)

#include "simd/lanes_neon_double.h"

#undef GBSI_QUARTERS_1
#undef GBSI_QUARTERS_2
#undef GBSI_QUARTERS_3

#endif
