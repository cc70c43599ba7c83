/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/* Operations on vectors of sixteen lanes. Every inner loop is written once, with these operations,
 * in a file named *_lanes.c; the file is compiled once per instruction set. All instruction sets
 * give the same bits. They only use IEEE operations with one rounding, and fused multiply-add where
 * it is written explicitly; they never use estimate instructions and never flush subnormals to
 * zero. Tests compare all sets with lanes_portable.h.
 *
 * types   vf 16 float, vu 16 uint32_t, vm 16 truth values, vb 16 bytes, vd 16 double,
 *         vw 16 uint64_t
 *
 * float   vf vf_set1(float)              vf vf_load(const float *)      void vf_store(float *, vf)
 *         vf_add vf_sub vf_mul vf_div (vf, vf)      vf_max vf_min (a > b ? a : b; a < b ? a : b)
 *         vf vf_fma(a, b, c) = a*b + c   vf vf_fnma(a, b, c) = c - a*b  (one rounding)
 *         vf vf_abs(vf)  vf vf_neg(vf)   vf vf_round(vf)  (to nearest even, |x| < 2^22)
 *         vm vf_lt vf_le vf_eq (vf, vf)  (false on NaN)   vf vf_select(vm, a, b) = m ? a : b
 *         vf vf_gather(const float *base, vu index)       base[index]
 *         vf vf_permute16(vf table, vu index)             table[index & 15]
 *         vf vf_permute32(vf low, vf high, vu index)      of both, index & 31
 *         vf2 vf_gather2(const float *base, vu index)     .first base[index], .second the next
 *         vf vf_from_vu(vu)  (uint32 -> float, nearest)   vf vf_from_bits(vu)  vu vf_bits(vf)
 *         vf vf_from_small(vu)  (values < 2^31: may use the signed conversion)
 *         vf vf_scale2(vf x, vf n) = x * 2^n, n integral in [-126, 127], result normal or exact
 *         vu vf_to_vu(vf)  (truncate, 0 <= x < 2^31)
 *         vu vf_to_vu_near(vf)  (to nearest even, 0 <= x < 2^32)
 * integer vu vu_set1(uint32_t)  vu vu_iota(void) {0..15}  vu vu_load(const uint32_t *)
 *         void vu_store(uint32_t *, vu)
 *         vu_add vu_sub vu_mul (low 32 bits) vu_and vu_or vu_xor vu_min (unsigned) (vu, vu)
 *         bits: vu_andnot = a & ~b  vu_xor3 = a ^ b ^ c  vu_majority(a, b, c)
 *         vu_or_and = a | (b & c)  vu_and_same = a & ~(b ^ c)  vu vu_popcount(vu) bits set per lane
 *         int vu_any(vu) whether any bit of any lane is set
 *         vu vu_shl(vu, int) vu vu_shr(vu, int)  (0 to 31)  vm vu_eq vu_lt (unsigned) (vu, vu)
 *         vu vu_select(vm, a, b)         vu vu_gather(const uint32_t *base, vu index)
 *         void vu_scatter(uint32_t *base, vu index, vu a)  base[index] = a, indices all different
 *         vu vu_mul_hi(vu, vu)  (high 32 bits of the product)
 *         vu_store_transposed4(uint32_t *out, vu, vu, vu, vu)
 *                                         out[4*i + j] = lane i of the j-th, 64 words
 * wide    vw, sixteen products of 64 bits, kept as the multiplier leaves them (what Philox needs)
 *         vw vw_set1(uint32_t)  vw vw_from_vu(vu)  vu vu_from_vw(vw)  (low 32 bits)
 *         vw vw_mul(vw, vw)  (product of the low 32 bits, all 64 of it)
 *         vw vw_xor_high(a, b, c) = a >> 32 ^ b ^ c, of which only the low 32 bits are defined
 * states  vu vu_load_u8(const uint8_t *)  vu vu_load_u16(const uint16_t *)  (16 elements, widened)
 *         void vu_store_u8(uint8_t *, vu)  void vu_store_u16(uint16_t *, vu)  (low bits)
 *         vu vu_gather_u8(const uint8_t *, vu index)  vu vu_gather_u16(const uint16_t *, vu index)
 *         (index < 2^31, in elements, in all gathers; gathers may read up to 3 bytes past the
 *         element: arrays come from gbsi_alloc_lanes)
 * masks   vm vm_and vm_or vm_xor  vm vm_andnot(a, b) = a & ~b  vm vm_not(vm)  vm vm_none(void)
 *         int vm_any(vm)  int vm_all(vm)  unsigned vm_bits(vm)  (bit i = lane i)
 *         vm vm_from_bits(unsigned)
 * bytes   vb vb_load(const uint8_t *)  void vb_store(uint8_t *, vb)  vb vb_set1(uint8_t)
 *         vb vb_add vb_sub (vb, vb)  vb vb_eq(vb, vb)  (255 or 0)  vu vb_widen(vb)
 *         void vb_add_u16(uint16_t *sum, vb a)  (sum[i] += lane i)
 *         vb vb_zip_low vb_zip_high (vb, vb)  (a0 b0 a1 b1 .. of the first, the last eight)
 *         vb vb_narrow(vu)  (low bytes)  vb vb_from_vm(vm)  (1 or 0)  vm vb_mask(vb)  (not 0)
 * double  vd vd_zero(void)  vd vd_from_vf(vf)  vd_add vd_sub vd_mul (vd, vd)  vd vd_set1(double)
 *         vd vd_fma(a, b, c)  vm vd_lt(vd, vd)  vf vf_from_vd(vd)  vd vd_load  vd_store
 *         vd vd_max(vd, vd)  (a > b ? a : b)      vd vd_select(vm, a, b) = m ? a : b
 *         vd vd_gather(const double *base, vu index)
 *
 * None of the operations traps, branches on data, or needs alignment. */
/* clang-format on */
#ifndef GBSI_SIMD_LANES_H
#define GBSI_SIMD_LANES_H

#include <stdint.h>

#if defined(GBSI_LANES_AVX512)
#include "simd/lanes_avx512.h"
#define GBSI_V(name) name##_avx512
#elif defined(GBSI_LANES_AVX2)
#include "simd/lanes_avx2.h"
#define GBSI_V(name) name##_avx2
#elif defined(GBSI_LANES_NEON)
#include "simd/lanes_neon.h"
#define GBSI_V(name) name##_neon
#else
#include "simd/lanes_portable.h"
#define GBSI_V(name) name##_portable
#endif

#endif
