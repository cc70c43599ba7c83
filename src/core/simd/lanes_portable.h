/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of lanes.h in plain C. This file is the reference and runs on any machine. For
 * inputs outside of the ranges in lanes.h, the results are those of the x86 instruction sets. */
#ifndef GBSI_SIMD_LANES_PORTABLE_H
#define GBSI_SIMD_LANES_PORTABLE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* If a sanitizer adds its checks to every lane, GCC takes minutes to inline the functions below. */
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#pragma GCC optimize("no-inline")
#endif

typedef struct vf {
    float lane[16];
} vf;
typedef struct vf2 {
    vf first;
    vf second;
} vf2;
typedef struct vu {
    uint32_t lane[16];
} vu;
typedef struct vm {
    uint8_t lane[16]; /* 0 or 1 */
} vm;
typedef struct vb {
    uint8_t lane[16];
} vb;
typedef struct vd {
    double lane[16];
} vd;
typedef struct vw {
    uint64_t lane[16];
} vw;

/* The body of a function that evaluates one expression in i for every lane of the result. */
#define GBSI_EACH_LANE(type, expression) \
    type r;                              \
    for (int i = 0; i < 16; i++) {       \
        r.lane[i] = (expression);        \
    }                                    \
    return r

static inline uint32_t gbsi_float_bits(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}
static inline float gbsi_bits_float(uint32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

/* ---- integer ---- */

static inline vu vu_set1(uint32_t a)
{
    GBSI_EACH_LANE(vu, a);
}
static inline vu vu_iota(void)
{
    GBSI_EACH_LANE(vu, (uint32_t)i);
}
static inline vu vu_load(const uint32_t *p)
{
    GBSI_EACH_LANE(vu, p[i]);
}
static inline void vu_store(uint32_t *p, vu a)
{
    memcpy(p, a.lane, sizeof a.lane);
}
static inline vu vu_add(vu a, vu b)
{
    GBSI_EACH_LANE(vu, a.lane[i] + b.lane[i]);
}
static inline vu vu_sub(vu a, vu b)
{
    GBSI_EACH_LANE(vu, a.lane[i] - b.lane[i]);
}
static inline vu vu_mul(vu a, vu b)
{
    GBSI_EACH_LANE(vu, a.lane[i] * b.lane[i]);
}
static inline vu vu_and(vu a, vu b)
{
    GBSI_EACH_LANE(vu, a.lane[i] & b.lane[i]);
}
static inline vu vu_or(vu a, vu b)
{
    GBSI_EACH_LANE(vu, a.lane[i] | b.lane[i]);
}
static inline vu vu_xor(vu a, vu b)
{
    GBSI_EACH_LANE(vu, a.lane[i] ^ b.lane[i]);
}
static inline vu vu_andnot(vu a, vu b)
{
    GBSI_EACH_LANE(vu, a.lane[i] & ~b.lane[i]);
}
static inline vu vu_xor3(vu a, vu b, vu c)
{
    GBSI_EACH_LANE(vu, a.lane[i] ^ b.lane[i] ^ c.lane[i]);
}
static inline vu vu_majority(vu a, vu b, vu c)
{
    GBSI_EACH_LANE(vu, (a.lane[i] & b.lane[i]) | (c.lane[i] & (a.lane[i] | b.lane[i])));
}
static inline vu vu_or_and(vu a, vu b, vu c)
{
    GBSI_EACH_LANE(vu, a.lane[i] | (b.lane[i] & c.lane[i]));
}
static inline vu vu_and_same(vu a, vu b, vu c)
{
    GBSI_EACH_LANE(vu, a.lane[i] & ~(b.lane[i] ^ c.lane[i]));
}
/* Adds up bits in pairs, then pairs in fours, and then the four bytes by a product. */
static inline uint32_t gbsi_popcount(uint32_t a)
{
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    a = (a + (a >> 4)) & 0x0F0F0F0Fu;
    return a * 0x01010101u >> 24;
}
static inline vu vu_popcount(vu a)
{
    GBSI_EACH_LANE(vu, gbsi_popcount(a.lane[i]));
}
static inline int vu_any(vu a)
{
    uint32_t bits = 0;
    for (int i = 0; i < 16; i++) {
        bits |= a.lane[i];
    }
    return bits != 0;
}
static inline vu vu_min(vu a, vu b)
{
    GBSI_EACH_LANE(vu, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline vu vu_shl(vu a, int n)
{
    GBSI_EACH_LANE(vu, (unsigned)n < 32 ? a.lane[i] << n : 0);
}
static inline vu vu_shr(vu a, int n)
{
    GBSI_EACH_LANE(vu, (unsigned)n < 32 ? a.lane[i] >> n : 0);
}
static inline vm vu_eq(vu a, vu b)
{
    GBSI_EACH_LANE(vm, a.lane[i] == b.lane[i]);
}
static inline vm vu_lt(vu a, vu b)
{
    GBSI_EACH_LANE(vm, a.lane[i] < b.lane[i]);
}
static inline vu vu_select(vm m, vu a, vu b)
{
    GBSI_EACH_LANE(vu, m.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline vu vu_gather(const uint32_t *base, vu index)
{
    GBSI_EACH_LANE(vu, base[index.lane[i]]);
}
static inline void vu_scatter(uint32_t *base, vu index, vu a)
{
    for (int i = 0; i < 16; i++) {
        base[index.lane[i]] = a.lane[i];
    }
}
static inline vu vu_mul_hi(vu a, vu b)
{
    GBSI_EACH_LANE(vu, (uint32_t)((uint64_t)a.lane[i] * b.lane[i] >> 32));
}
static inline void vu_store_transposed4(uint32_t *out, vu a, vu b, vu c, vu d)
{
    for (int i = 0; i < 16; i++) {
        out[4 * i] = a.lane[i];
        out[4 * i + 1] = b.lane[i];
        out[4 * i + 2] = c.lane[i];
        out[4 * i + 3] = d.lane[i];
    }
}

/* ---- 64-bit products ---- */

static inline vw vw_set1(uint32_t a)
{
    GBSI_EACH_LANE(vw, a);
}
static inline vw vw_from_vu(vu a)
{
    GBSI_EACH_LANE(vw, a.lane[i]);
}
static inline vu vu_from_vw(vw a)
{
    GBSI_EACH_LANE(vu, (uint32_t)a.lane[i]);
}
static inline vw vw_mul(vw a, vw b)
{
    GBSI_EACH_LANE(vw, (uint64_t)(uint32_t)a.lane[i] * (uint32_t)b.lane[i]);
}
static inline vw vw_xor_high(vw a, vw b, vw c)
{
    GBSI_EACH_LANE(vw, a.lane[i] >> 32 ^ b.lane[i] ^ c.lane[i]);
}

/* ---- states and bytes ---- */

static inline vu vu_load_u8(const uint8_t *p)
{
    GBSI_EACH_LANE(vu, p[i]);
}
static inline vu vu_load_u16(const uint16_t *p)
{
    GBSI_EACH_LANE(vu, p[i]);
}
static inline void vu_store_u8(uint8_t *p, vu a)
{
    for (int i = 0; i < 16; i++) {
        p[i] = (uint8_t)a.lane[i];
    }
}
static inline void vu_store_u16(uint16_t *p, vu a)
{
    for (int i = 0; i < 16; i++) {
        p[i] = (uint16_t)a.lane[i];
    }
}
static inline vu vu_gather_u8(const uint8_t *base, vu index)
{
    GBSI_EACH_LANE(vu, base[index.lane[i]]);
}
static inline vu vu_gather_u16(const uint16_t *base, vu index)
{
    GBSI_EACH_LANE(vu, base[index.lane[i]]);
}
static inline vb vb_load(const uint8_t *p)
{
    GBSI_EACH_LANE(vb, p[i]);
}
static inline void vb_store(uint8_t *p, vb a)
{
    memcpy(p, a.lane, sizeof a.lane);
}
static inline vb vb_set1(uint8_t a)
{
    GBSI_EACH_LANE(vb, a);
}
static inline vb vb_add(vb a, vb b)
{
    GBSI_EACH_LANE(vb, (uint8_t)(a.lane[i] + b.lane[i]));
}
static inline vb vb_sub(vb a, vb b)
{
    GBSI_EACH_LANE(vb, (uint8_t)(a.lane[i] - b.lane[i]));
}
static inline vb vb_eq(vb a, vb b)
{
    GBSI_EACH_LANE(vb, a.lane[i] == b.lane[i] ? 255 : 0);
}
static inline void vb_add_u16(uint16_t *sum, vb a)
{
    for (int i = 0; i < 16; i++) {
        sum[i] = (uint16_t)(sum[i] + a.lane[i]);
    }
}
static inline vb vb_zip_low(vb a, vb b)
{
    GBSI_EACH_LANE(vb, (i % 2 == 0 ? a : b).lane[i / 2]);
}
static inline vb vb_zip_high(vb a, vb b)
{
    GBSI_EACH_LANE(vb, (i % 2 == 0 ? a : b).lane[8 + i / 2]);
}
static inline vu vb_widen(vb a)
{
    GBSI_EACH_LANE(vu, a.lane[i]);
}
static inline vb vb_narrow(vu a)
{
    GBSI_EACH_LANE(vb, (uint8_t)a.lane[i]);
}
static inline vb vb_from_vm(vm m)
{
    GBSI_EACH_LANE(vb, m.lane[i]);
}
static inline vm vb_mask(vb a)
{
    GBSI_EACH_LANE(vm, a.lane[i] != 0);
}

/* ---- masks ---- */

static inline vm vm_and(vm a, vm b)
{
    GBSI_EACH_LANE(vm, a.lane[i] & b.lane[i]);
}
static inline vm vm_or(vm a, vm b)
{
    GBSI_EACH_LANE(vm, a.lane[i] | b.lane[i]);
}
static inline vm vm_xor(vm a, vm b)
{
    GBSI_EACH_LANE(vm, a.lane[i] ^ b.lane[i]);
}
static inline vm vm_andnot(vm a, vm b)
{
    GBSI_EACH_LANE(vm, a.lane[i] & !b.lane[i]);
}
static inline vm vm_not(vm a)
{
    GBSI_EACH_LANE(vm, !a.lane[i]);
}
static inline vm vm_none(void)
{
    GBSI_EACH_LANE(vm, 0);
}
static inline unsigned vm_bits(vm a)
{
    unsigned bits = 0;
    for (int i = 0; i < 16; i++) {
        bits |= (unsigned)a.lane[i] << i;
    }
    return bits;
}
static inline vm vm_from_bits(unsigned bits)
{
    GBSI_EACH_LANE(vm, bits >> i & 1);
}
static inline int vm_any(vm a)
{
    return vm_bits(a) != 0;
}
static inline int vm_all(vm a)
{
    return vm_bits(a) == 0xFFFF;
}

/* ---- float ---- */

static inline vf vf_set1(float a)
{
    GBSI_EACH_LANE(vf, a);
}
static inline vf vf_load(const float *p)
{
    GBSI_EACH_LANE(vf, p[i]);
}
static inline void vf_store(float *p, vf a)
{
    memcpy(p, a.lane, sizeof a.lane);
}
static inline vf vf_add(vf a, vf b)
{
    GBSI_EACH_LANE(vf, a.lane[i] + b.lane[i]);
}
static inline vf vf_sub(vf a, vf b)
{
    GBSI_EACH_LANE(vf, a.lane[i] - b.lane[i]);
}
static inline vf vf_mul(vf a, vf b)
{
    GBSI_EACH_LANE(vf, a.lane[i] * b.lane[i]);
}
static inline vf vf_div(vf a, vf b)
{
    GBSI_EACH_LANE(vf, a.lane[i] / b.lane[i]);
}
static inline vf vf_max(vf a, vf b)
{
    GBSI_EACH_LANE(vf, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline vf vf_min(vf a, vf b)
{
    GBSI_EACH_LANE(vf, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline vf vf_fma(vf a, vf b, vf c)
{
    GBSI_EACH_LANE(vf, fmaf(a.lane[i], b.lane[i], c.lane[i]));
}
static inline vf vf_fnma(vf a, vf b, vf c)
{
    GBSI_EACH_LANE(vf, fmaf(-a.lane[i], b.lane[i], c.lane[i]));
}
static inline vf vf_abs(vf a)
{
    GBSI_EACH_LANE(vf, gbsi_bits_float(gbsi_float_bits(a.lane[i]) & 0x7FFFFFFFu));
}
static inline vf vf_neg(vf a)
{
    GBSI_EACH_LANE(vf, gbsi_bits_float(gbsi_float_bits(a.lane[i]) ^ 0x80000000u));
}

/* For |a| < 2^23, the sum |a| + 2^23 has no bits for a fraction, so the addition rounds. The sign
 * of a is restored at the end, which matters for -0. */
static inline float gbsi_round_even(float a)
{
    uint32_t sign = gbsi_float_bits(a) & 0x80000000u;
    float size = gbsi_bits_float(gbsi_float_bits(a) ^ sign);
    if (!(size < 0x1p23f)) {
        return a;
    }
    float whole = (size + 0x1p23f) - 0x1p23f;
    return gbsi_bits_float(gbsi_float_bits(whole) | sign);
}
static inline vf vf_round(vf a)
{
    GBSI_EACH_LANE(vf, gbsi_round_even(a.lane[i]));
}
static inline vm vf_lt(vf a, vf b)
{
    GBSI_EACH_LANE(vm, a.lane[i] < b.lane[i]);
}
static inline vm vf_le(vf a, vf b)
{
    GBSI_EACH_LANE(vm, a.lane[i] <= b.lane[i]);
}
static inline vm vf_eq(vf a, vf b)
{
    GBSI_EACH_LANE(vm, a.lane[i] == b.lane[i]);
}
static inline vf vf_select(vm m, vf a, vf b)
{
    GBSI_EACH_LANE(vf, m.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline vf vf_gather(const float *base, vu index)
{
    GBSI_EACH_LANE(vf, base[index.lane[i]]);
}
static inline vf vf_permute16(vf table, vu index)
{
    GBSI_EACH_LANE(vf, table.lane[index.lane[i] & 15]);
}
static inline vf vf_permute32(vf low, vf high, vu index)
{
    GBSI_EACH_LANE(vf, (index.lane[i] & 16 ? high : low).lane[index.lane[i] & 15]);
}
static inline vf2 vf_gather2(const float *base, vu index)
{
    vf2 r;
    for (int i = 0; i < 16; i++) {
        r.first.lane[i] = base[index.lane[i]];
        r.second.lane[i] = base[index.lane[i] + 1];
    }
    return r;
}
static inline vf vf_from_vu(vu a)
{
    GBSI_EACH_LANE(vf, (float)a.lane[i]);
}
static inline vf vf_from_bits(vu a)
{
    GBSI_EACH_LANE(vf, gbsi_bits_float(a.lane[i]));
}
static inline vu vf_bits(vf a)
{
    GBSI_EACH_LANE(vu, gbsi_float_bits(a.lane[i]));
}
static inline vf vf_from_small(vu a)
{
    GBSI_EACH_LANE(vf, (float)(int32_t)a.lane[i]);
}

/* Numbers out of range become 2^31, as in the conversion instruction of x86. */
static inline uint32_t gbsi_truncate(float a)
{
    return a >= -0x1p31f && a < 0x1p31f ? (uint32_t)(int32_t)a : 0x80000000u;
}
static inline vu vf_to_vu(vf a)
{
    GBSI_EACH_LANE(vu, gbsi_truncate(a.lane[i]));
}
/* The sum with 2^23 has no bits for a fraction, so the addition rounds; numbers above 2^23 have no
 * fraction. */
static inline uint32_t gbsi_near(float a)
{
    return (uint32_t)(a < 0x1p23f ? (a + 0x1p23f) - 0x1p23f : a);
}
static inline vu vf_to_vu_near(vf a)
{
    GBSI_EACH_LANE(vu, gbsi_near(a.lane[i]));
}
static inline vf vf_scale2(vf a, vf n)
{
    GBSI_EACH_LANE(vf, a.lane[i] * gbsi_bits_float((gbsi_truncate(n.lane[i]) + 127) << 23));
}

/* ---- double ---- */

static inline vd vd_zero(void)
{
    GBSI_EACH_LANE(vd, 0.0);
}
static inline vd vd_set1(double a)
{
    GBSI_EACH_LANE(vd, a);
}
static inline vd vd_load(const double *p)
{
    GBSI_EACH_LANE(vd, p[i]);
}
static inline void vd_store(double *p, vd a)
{
    memcpy(p, a.lane, sizeof a.lane);
}
static inline vd vd_from_vf(vf a)
{
    GBSI_EACH_LANE(vd, (double)a.lane[i]);
}
static inline vf vf_from_vd(vd a)
{
    GBSI_EACH_LANE(vf, (float)a.lane[i]);
}
static inline vd vd_add(vd a, vd b)
{
    GBSI_EACH_LANE(vd, a.lane[i] + b.lane[i]);
}
static inline vd vd_sub(vd a, vd b)
{
    GBSI_EACH_LANE(vd, a.lane[i] - b.lane[i]);
}
static inline vd vd_mul(vd a, vd b)
{
    GBSI_EACH_LANE(vd, a.lane[i] * b.lane[i]);
}
static inline vd vd_fma(vd a, vd b, vd c)
{
    GBSI_EACH_LANE(vd, fma(a.lane[i], b.lane[i], c.lane[i]));
}
static inline vd vd_max(vd a, vd b)
{
    GBSI_EACH_LANE(vd, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline vd vd_select(vm m, vd a, vd b)
{
    GBSI_EACH_LANE(vd, m.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline vd vd_gather(const double *base, vu index)
{
    GBSI_EACH_LANE(vd, base[index.lane[i]]);
}
static inline vm vd_lt(vd a, vd b)
{
    GBSI_EACH_LANE(vm, a.lane[i] < b.lane[i]);
}

#undef GBSI_EACH_LANE

#endif
