/* SPDX-License-Identifier: Apache-2.0 */
/* For tests only: makes every operation of lanes.h callable through a function pointer. Each
 * lanes_probe_*.c includes this file once, with its instruction set enabled for that file alone,
 * and names the array of pointers. lanes_test.c compares the arrays. */
#ifndef GBSI_SIMD_LANES_PROBE_H
#define GBSI_SIMD_LANES_PROBE_H

#include <stddef.h>
#include <stdint.h>

enum { PROBE_TABLE = 256, PROBE_WORDS = 64 };

typedef struct probe_input {
    uint32_t a[16]; /* words, or the bits of floats */
    uint32_t b[16];
    uint32_t c[16];
    double x[16];
    double y[16];
    double z[16];
    uint32_t table[PROBE_TABLE + 4]; /* gathers read up to 3 bytes past an element */
} probe_input;

typedef enum probe_kind {
    PROBE_WORD,   /* 64 words of output */
    PROBE_FLOAT,  /* the output is 16 floats; the test counts all NaNs as equal */
    PROBE_DOUBLE, /* 16 doubles of output */
} probe_kind;

typedef struct lane_probe {
    const char *name;
    probe_kind kind;
    /* @param out zeros at the time of the call */
    void (*run)(const probe_input *in, uint32_t out[PROBE_WORDS]);
} lane_probe;

extern const lane_probe gbsi_probes_portable[];
extern const lane_probe gbsi_probes_neon[];
extern const lane_probe gbsi_probes_avx2[];
extern const lane_probe gbsi_probes_avx512[];
extern const size_t gbsi_n_probes; /* number of probes in each array */

#ifdef PROBE_NAME

#include <string.h>

#include "simd/math_lanes.h"

static inline vf probe_float(const uint32_t *bits)
{
    return vf_from_bits(vu_load(bits));
}
static inline vu probe_index(const uint32_t *word)
{
    return vu_and(vu_load(word), vu_set1(PROBE_TABLE - 1));
}
/* Returns numbers in [1, 2) or (-2, -1], for operations that are only defined on normal numbers. */
static inline vf probe_near_one(const uint32_t *bits)
{
    return vf_from_bits(vu_or(vu_and(vu_load(bits), vu_set1(0x807FFFFFu)), vu_set1(0x3F800000u)));
}
static inline void probe_mask(uint32_t *out, vm m)
{
    out[0] = vm_bits(m);
    vu_store(out + 16, vu_select(m, vu_set1(1), vu_set1(2)));
    vb_store((uint8_t *)(out + 32), vb_from_vm(m));
}
static inline void probe_bytes(uint32_t *out, vb bytes)
{
    vb_store((uint8_t *)out, bytes);
}

#define PROBE(name, ...)                                                     \
    static void run_##name(const probe_input *in, uint32_t out[PROBE_WORDS]) \
    {                                                                        \
        (void)in;                                                            \
        __VA_ARGS__;                                                         \
    }
#define FLOAT_PROBE(name, value)  PROBE(name, vu_store(out, vf_bits(value)))
#define WORD_PROBE(name, value)   PROBE(name, vu_store(out, value))
#define MASK_PROBE(name, value)   PROBE(name, probe_mask(out, value))
#define BYTE_PROBE(name, value)   PROBE(name, probe_bytes(out, value))
#define DOUBLE_PROBE(name, value) PROBE(name, double r[16]; vd_store(r, value); memcpy(out, r, 128))

#define FA probe_float(in->a)
#define FB probe_float(in->b)
#define FC probe_float(in->c)
#define UA vu_load(in->a)
#define UB vu_load(in->b)
#define UC vu_load(in->c)
#define MA vm_from_bits(in->a[0])
#define MB vm_from_bits(in->b[0])
#define BA vb_load((const uint8_t *)in->a)
#define BB vb_load((const uint8_t *)in->b)

FLOAT_PROBE(vf_set1, vf_set1((float)in->x[0]))
PROBE(vf_load, float v[16]; memcpy(v, in->a, 64); vf_store(v, vf_load(v)); memcpy(out, v, 64))
FLOAT_PROBE(vf_add, vf_add(FA, FB))
FLOAT_PROBE(vf_sub, vf_sub(FA, FB))
FLOAT_PROBE(vf_mul, vf_mul(FA, FB))
FLOAT_PROBE(vf_div, vf_div(FA, FB))
FLOAT_PROBE(vf_max, vf_max(FA, FB))
FLOAT_PROBE(vf_min, vf_min(FA, FB))
FLOAT_PROBE(vf_fma, vf_fma(FA, FB, FC))
FLOAT_PROBE(vf_fnma, vf_fnma(FA, FB, FC))
FLOAT_PROBE(vf_abs, vf_abs(FA))
FLOAT_PROBE(vf_neg, vf_neg(FA))
FLOAT_PROBE(vf_round, vf_round(FA))
MASK_PROBE(vf_lt, vf_lt(FA, FB))
MASK_PROBE(vf_le, vf_le(FA, FB))
MASK_PROBE(vf_eq, vf_eq(FA, FB))
FLOAT_PROBE(vf_select, vf_select(vu_lt(UC, UA), FA, FB))
FLOAT_PROBE(vf_gather, vf_gather((const float *)(const void *)in->table, probe_index(in->a)))
FLOAT_PROBE(vf_permute16, vf_permute16(FA, UB))
FLOAT_PROBE(vf_permute32, vf_permute32(FA, FC, UB))
PROBE(vf_gather2, vf2 r = vf_gather2((const float *)(const void *)in->table, probe_index(in->a));
      vu_store(out, vf_bits(r.first)); vu_store(out + 16, vf_bits(r.second)))
FLOAT_PROBE(vf_from_vu, vf_from_vu(UA))
FLOAT_PROBE(vf_from_small, vf_from_small(vu_shr(UA, 1)))
FLOAT_PROBE(vf_scale2,
            vf_scale2(probe_near_one(in->a),
                      vf_sub(vf_from_small(vu_min(vu_shr(UB, 24), vu_set1(253))), vf_set1(126.0f))))
WORD_PROBE(vf_to_vu, vf_to_vu(FA))
/* Makes numbers from 2^-4 to 2^32; some of them are halfway between two integers. */
WORD_PROBE(vf_to_vu_near,
           vf_to_vu_near(vf_from_bits(
               vu_add(vu_and(UA, vu_set1(0x7FFFFFu)),
                      vu_shl(vu_add(vu_min(vu_shr(UB, 26), vu_set1(35)), vu_set1(123)), 23)))))
WORD_PROBE(vu_iota, vu_add(vu_iota(), vu_set1(in->a[0])))
WORD_PROBE(vu_add, vu_add(UA, UB))
WORD_PROBE(vu_sub, vu_sub(UA, UB))
WORD_PROBE(vu_mul, vu_mul(UA, UB))
WORD_PROBE(vu_and, vu_and(UA, UB))
WORD_PROBE(vu_or, vu_or(UA, UB))
WORD_PROBE(vu_xor, vu_xor(UA, UB))
WORD_PROBE(vu_andnot, vu_andnot(UA, UB))
WORD_PROBE(vu_xor3, vu_xor3(UA, UB, UC))
WORD_PROBE(vu_majority, vu_majority(UA, UB, UC))
WORD_PROBE(vu_or_and, vu_or_and(UA, UB, UC))
WORD_PROBE(vu_and_same, vu_and_same(UA, UB, UC))
WORD_PROBE(vu_popcount, vu_popcount(UA))
PROBE(vu_any, out[0] = (uint32_t)vu_any(UA); out[1] = (uint32_t)vu_any(vu_set1(0));
      out[2] = (uint32_t)vu_any(vu_select(vu_eq(vu_iota(), vu_set1(in->b[0] & 15)), vu_shl(UA, 31),
                                          vu_set1(0))))
WORD_PROBE(vu_min, vu_min(UA, UB))
WORD_PROBE(vu_shl, vu_add(vu_shl(UA, (int)(in->b[0] & 31)), vu_shl(UB, 23)))
WORD_PROBE(vu_shr, vu_add(vu_shr(UA, (int)(in->b[0] & 31)), vu_shr(UB, 9)))
MASK_PROBE(vu_eq, vu_eq(UA, UB))
MASK_PROBE(vu_lt, vu_lt(UA, UB))
WORD_PROBE(vu_select, vu_select(vu_lt(UC, UA), UA, UB))
WORD_PROBE(vu_gather, vu_gather(in->table, probe_index(in->a)))
WORD_PROBE(vu_mul_hi, vu_mul_hi(UA, UB))
PROBE(vu_store_transposed4, vu_store_transposed4(out, UA, UB, UC, vu_add(UA, UB)))
WORD_PROBE(vw_mul, vu_from_vw(vw_mul(vw_from_vu(UA), vw_from_vu(UB))))
WORD_PROBE(vw_xor_high, vu_from_vw(vw_xor_high(vw_mul(vw_from_vu(UA), vw_set1(in->c[0])),
                                               vw_from_vu(UB), vw_from_vu(UC))))
WORD_PROBE(vu_load_u8, vu_load_u8((const uint8_t *)in->a + 3))
WORD_PROBE(vu_load_u16, vu_load_u16((const uint16_t *)(const void *)in->a + 3))
PROBE(vu_store_u8, vu_store_u8((uint8_t *)out + 1, UA))
PROBE(vu_store_u16, uint16_t v[16]; vu_store_u16(v, UA); memcpy(out, v, 32))
WORD_PROBE(vu_gather_u8, vu_gather_u8((const uint8_t *)in->table, probe_index(in->a)))
WORD_PROBE(vu_gather_u16,
           vu_gather_u16((const uint16_t *)(const void *)in->table, probe_index(in->a)))
MASK_PROBE(vm_and, vm_and(MA, MB))
MASK_PROBE(vm_or, vm_or(MA, MB))
MASK_PROBE(vm_xor, vm_xor(MA, MB))
MASK_PROBE(vm_andnot, vm_andnot(MA, MB))
MASK_PROBE(vm_not, vm_not(MA))
MASK_PROBE(vm_none, vm_none())
PROBE(vm_any, out[0] = (uint32_t)vm_any(MA); out[1] = (uint32_t)vm_any(vm_none());
      out[2] = (uint32_t)vm_any(vm_from_bits(1u << (in->a[0] & 15))))
PROBE(vm_all, out[0] = (uint32_t)vm_all(MA); out[1] = (uint32_t)vm_all(vm_not(vm_none()));
      out[2] = (uint32_t)vm_all(vm_not(vm_from_bits(1u << (in->a[0] & 15)))))
BYTE_PROBE(vb_set1, vb_set1((uint8_t)in->a[0]))
BYTE_PROBE(vb_add, vb_add(BA, BB))
PROBE(vb_add_u16, uint16_t sum[16]; memcpy(sum, in->b, 32); vb_add_u16(sum, BA);
      memcpy(out, sum, 32))
BYTE_PROBE(vb_zip_low, vb_zip_low(BA, BB))
BYTE_PROBE(vb_zip_high, vb_zip_high(BA, BB))
BYTE_PROBE(vb_sub, vb_sub(BA, BB))
BYTE_PROBE(vb_eq, vb_eq(BA, BB))
MASK_PROBE(vb_mask, vb_mask(BA))
WORD_PROBE(vb_widen, vb_widen(BA))
BYTE_PROBE(vb_narrow, vb_narrow(UA))
DOUBLE_PROBE(vd_zero, vd_zero())
DOUBLE_PROBE(vd_set1, vd_set1(in->x[0]))
DOUBLE_PROBE(vd_from_vf, vd_from_vf(FA))
FLOAT_PROBE(vf_from_vd, vf_from_vd(vd_load(in->x)))
DOUBLE_PROBE(vd_add, vd_add(vd_load(in->x), vd_load(in->y)))
DOUBLE_PROBE(vd_sub, vd_sub(vd_load(in->x), vd_load(in->y)))
DOUBLE_PROBE(vd_mul, vd_mul(vd_load(in->x), vd_load(in->y)))
DOUBLE_PROBE(vd_fma, vd_fma(vd_load(in->x), vd_load(in->y), vd_load(in->z)))
DOUBLE_PROBE(vd_max, vd_max(vd_load(in->x), vd_load(in->y)))
DOUBLE_PROBE(vd_gather, vd_gather(in->x, vu_and(UA, vu_set1(15))))
DOUBLE_PROBE(vd_select, vd_select(vu_lt(UC, UA), vd_load(in->x), vd_load(in->y)))
MASK_PROBE(vd_lt, vd_lt(vd_load(in->x), vd_load(in->y)))
FLOAT_PROBE(vf_exp, vf_exp(FA))
FLOAT_PROBE(vf_exp_low, vf_exp_low(vf_min(vf_set1(0.0f), FA)))
FLOAT_PROBE(vf_log, vf_log(FA))
FLOAT_PROBE(vf_tanh, vf_tanh(FA))

#define W(name)                       \
    {                                 \
#name, PROBE_WORD, run_##name \
    }
#define F(name)                        \
    {                                  \
#name, PROBE_FLOAT, run_##name \
    }
#define D(name)                         \
    {                                   \
#name, PROBE_DOUBLE, run_##name \
    }

const lane_probe PROBE_NAME[] = {
    F(vf_set1),      F(vf_load),       F(vf_add),
    F(vf_sub),       F(vf_mul),        F(vf_div),
    F(vf_max),       F(vf_min),        F(vf_fma),
    F(vf_fnma),      W(vf_abs),        W(vf_neg),
    F(vf_round),     W(vf_lt),         W(vf_le),
    W(vf_eq),        F(vf_select),     F(vf_gather),
    F(vf_permute16), F(vf_permute32),  W(vf_gather2),
    F(vf_from_vu),   F(vf_from_small), F(vf_scale2),
    W(vf_to_vu),     W(vf_to_vu_near), W(vu_iota),
    W(vu_add),       W(vu_sub),        W(vu_mul),
    W(vu_and),       W(vu_or),         W(vu_xor),
    W(vu_min),       W(vu_shl),        W(vu_shr),
    W(vu_eq),        W(vu_lt),         W(vu_select),
    W(vu_gather),    W(vu_mul_hi),     W(vu_store_transposed4),
    W(vw_mul),       W(vw_xor_high),   W(vu_load_u8),
    W(vu_load_u16),  W(vu_store_u8),   W(vu_store_u16),
    W(vu_gather_u8), W(vu_gather_u16), W(vu_andnot),
    W(vu_xor3),      W(vu_majority),   W(vu_or_and),
    W(vu_and_same),  W(vu_popcount),   W(vu_any),
    W(vm_and),       W(vm_or),         W(vm_xor),
    W(vm_andnot),    W(vm_not),        W(vm_none),
    W(vm_any),       W(vm_all),        W(vb_set1),
    W(vb_add),       W(vb_sub),        W(vb_zip_low),
    W(vb_zip_high),  W(vb_add_u16),    W(vb_eq),
    W(vb_mask),      W(vb_widen),      W(vb_narrow),
    D(vd_zero),      D(vd_set1),       D(vd_from_vf),
    F(vf_from_vd),   D(vd_add),        D(vd_sub),
    D(vd_mul),       D(vd_fma),        D(vd_max),
    D(vd_select),    D(vd_gather),     W(vd_lt),
    F(vf_exp),       F(vf_exp_low),    F(vf_log),
    F(vf_tanh),
};

#endif
#endif
