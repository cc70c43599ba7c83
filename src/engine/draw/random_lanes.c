/* SPDX-License-Identifier: Apache-2.0 */
/* The random draw: inverts the distribution function, with one 32-bit word per update [M6].
 *
 * The frequency of a value differs from the value's computed probability by at most 2^-32 in
 * absolute terms and 2^-22 in relative terms. A value of weight 0 is never drawn. A binary draw
 * with log-odds l takes the less likely value, whose probability is e / (1 + e) with e = exp(-|l|),
 * if and only if u (1 + e) < e. Here u is the word as a number in [0, 1]. If u rounds to 1, the
 * likely value is drawn. With up to 32 states, the weight of each state a becomes a whole number
 * r_a; the sum T of these numbers is just below 2^32. The word then picks one of the T units, t =
 * floor(word T / 2^32), without further rounding. With more states, sums of weights are in double,
 * which represents a 32-bit word exactly. A word of 0 means u < 2^-32; a second word refines it. */
#include "draw/tile_lanes.h"

#include <math.h>
#include <stdbool.h>

#include "rng/philox.h"
#include "simd/math_lanes.h"

/* Largest number of states for which a draw uses whole numbers as weights. */
#define MOST_WHOLE 32

/* Uniform number u of a lane whose word was 0, refined by a second word. */
static double second_uniform(const gbsi_tile *tile, uint32_t row, uint32_t lane)
{
    const uint32_t chain = tile->lanes == 1 ? tile->chain : tile->chain + lane;
    const uint64_t place = tile->place + (tile->lanes == 1 ? 16u * row + lane : row);
    return gbsi_word(tile->seed, chain, tile->pass, place, GBSI_PURPOSE_REFINE) * 0x1p-64;
}

/* Replaces the uniform numbers u, in [0, 1], by refined numbers in the lanes whose word was 0. */
static __attribute__((noinline)) vf refine(const gbsi_tile *tile, uint32_t row, vf u,
                                           unsigned zeros)
{
    float value[GBSI_LANES];
    vf_store(value, u);
    for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
        if ((zeros >> lane & 1u) != 0) {
            value[lane] = (float)second_uniform(tile, row, lane);
        }
    }
    return vf_load(value);
}

GBSI_INLINE vf uniform(const gbsi_tile *tile, uint32_t row)
{
    const vu word = vu_load(tile->word + (size_t)row * GBSI_LANES);
    const vf u = vf_mul(vf_from_vu(word), vf_set1(0x1p-32F));
    const vm zero = vu_eq(word, vu_set1(0));
    return vm_any(zero) ? refine(tile, row, u, vm_bits(zero)) : u;
}

/* Stores state 1 in the lanes of the mask and state 0 in the other lanes. */
GBSI_INLINE void store_mask(const gbsi_tile *tile, uint32_t row, vm one)
{
    if (tile->value_bytes == 1) {
        vb_store((uint8_t *)tile->value + (size_t)row * GBSI_LANES, vb_from_vm(one));
    } else {
        gbsi_store_values(tile, row, vu_select(one, vu_set1(1), vu_set1(0)));
    }
}

/* Draws rows of two states. The tile has the odds r = p(1) / p(0) or their logarithms. If r <= 1,
 * the less likely value has probability r / (1 + r); if r > 1, the formula holds with 1 / r in
 * place of r. */
GBSI_INLINE void binary_rows(const gbsi_tile *given_tile, const bool want_p, const bool linear)
{
    const gbsi_tile copy =
        *given_tile; /* a local copy, which the compiler can see that no store changes */
    const gbsi_tile *tile = &copy;
    const vf zero = vf_set1(0.0F);
    const vf one = vf_set1(1.0F);
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const vf given = vf_load(tile->w + (size_t)row * GBSI_LANES);
        const vf u = uniform(tile, row);
        const vf r = linear ? given : vf_exp_low(vf_neg(vf_abs(given)));
        const vm minority = vf_lt(vf_fma(u, r, u), linear ? vf_min(r, one) : r);
        const vm likely_one = vf_lt(linear ? one : zero, given);
        store_mask(tile, row, vm_xor(likely_one, minority));
        if (want_p) {
            const vf rest = vf_div(one, vf_add(one, r));
            const vf p = linear ? vf_mul(r, rest) : vf_select(likely_one, rest, vf_mul(r, rest));
            vf_store(tile->p + (size_t)row * GBSI_LANES, p);
        }
    }
}

static void binary(void *state, gbsi_tile *tile)
{
    (void)state;
    if (tile->linear && tile->p != NULL) {
        binary_rows(tile, true, true);
    } else if (tile->linear) {
        binary_rows(tile, false, true);
    } else {
        binary_rows(tile, tile->p != NULL, false);
    }
}

/* Flags the lanes whose conditional has no positive weight. @param top maximum of the log-weights
 * of each lane or, if `linear` is set, total of the weights. @return top, with `instead` in the
 * flagged lanes. */
static __attribute__((noinline)) vf flag_dead(gbsi_tile *tile, uint32_t row, vf top, vm dead,
                                              float instead)
{
    gbsi_tile_flag_row(tile, row, vm_bits(dead));
    return vf_select(dead, vf_set1(instead), top);
}

GBSI_INLINE vf checked_top(gbsi_tile *tile, uint32_t row, vf top)
{
    const vm dead = vf_eq(top, vf_set1(-INFINITY));
    return vm_any(dead) ? flag_dead(tile, row, top, dead, 0.0F) : top;
}

GBSI_INLINE vf checked_total(gbsi_tile *tile, uint32_t row, vf total)
{
    const vm dead = vf_eq(total, vf_set1(0.0F));
    return vm_any(dead) ? flag_dead(tile, row, total, dead, 1.0F) : total;
}

/* Maximum of the log-weights of a row, lane by lane; the draw subtracts this maximum from the
 * log-weights. */
GBSI_INLINE vf row_top(gbsi_tile *tile, uint32_t row, const uint32_t k)
{
    const float *logw = tile->w + (size_t)row * k * GBSI_LANES;
    vf top = vf_load(logw);
    for (uint32_t a = 1; a < k; ++a) {
        top = vf_max(top, vf_load(logw + (size_t)a * GBSI_LANES));
    }
    return checked_top(tile, row, top);
}

/* Returns `value` with new values in the lanes whose random word is 0, computed from a refined u <
 * 2^-32 and the float weights. */
static __attribute__((noinline)) vu refine_values(const gbsi_tile *tile, uint32_t row, uint32_t k,
                                                  const vf *weight, vu value, unsigned zeros)
{
    uint32_t refined[GBSI_LANES];
    float kept[MOST_WHOLE][GBSI_LANES];
    vu_store(refined, value);
    for (uint32_t a = 0; a < k; ++a) {
        vf_store(kept[a], weight[a]);
    }
    for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
        double total = 0.0;
        for (uint32_t a = 0; a < k; ++a) {
            total += (double)kept[a][lane];
        }
        if ((zeros >> lane & 1u) == 0 || !(total > 0.0)) {
            continue;
        }
        const double target = second_uniform(tile, row, lane) * total;
        double cdf = 0.0;
        for (uint32_t a = 0; a < k; ++a) {
            cdf += (double)kept[a][lane];
            if (target < cdf) {
                refined[lane] = a;
                break;
            }
        }
    }
    return vu_load(refined);
}

/* Returns 2^m such that the weights times 2^m add up to less than 2^32 and to at least 2^31 (1 -
 * 2^-18). The relative error of the float sum of the weights is below 2^-19. A float whose exponent
 * field is E is at least 2^(E - 127), and the exponent field of 2^(31 - (E - 127)) is 158 - E +
 * 127. */
GBSI_INLINE vf unit_scale(vf total)
{
    const vf above = vf_mul(total, vf_set1(1.0F + 0x1p-18F));
    const vu exponent = vu_and(vf_bits(above), vu_set1(0x7F800000u));
    return vf_from_bits(vu_sub(vu_set1((158u + 127u) << 23), exponent));
}

/* Draws rows of up to MOST_WHOLE states. The value is the first state a with r_0 + ... + r_a > t.
 * Such a state exists because t < T, and its r_a is not 0. The number of states k is a compile-time
 * constant for the usual arities, so that a row stays in registers. */
GBSI_INLINE void whole_rows(gbsi_tile *tile, const uint32_t k, const bool want_p, const bool linear)
{
    const vu one = vu_set1(1);
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const float *given = tile->w + (size_t)row * k * GBSI_LANES;
        const vu word = vu_load(tile->word + (size_t)row * GBSI_LANES);
        vf weight[MOST_WHOLE];
        vu cdf[MOST_WHOLE];
        const vf top = linear ? vf_set1(0.0F) : row_top(tile, row, k);
        vf total = vf_set1(0.0F);
        for (uint32_t a = 0; a < k; ++a) {
            const vf w = vf_load(given + (size_t)a * GBSI_LANES);
            weight[a] = linear ? w : vf_exp_low(vf_sub(w, top));
            total = a == 0 ? weight[a] : vf_add(total, weight[a]);
        }
        total = linear ? checked_total(tile, row, total) : total;
        const vf scale = unit_scale(total);
        for (uint32_t a = 0; a < k; ++a) {
            const vu r = vf_to_vu_near(vf_mul(weight[a], scale));
            cdf[a] = a == 0 ? r : vu_add(cdf[a - 1], r);
        }
        const vu t = vu_mul_hi(word, cdf[k - 1]);
        vu value = vu_set1(0);
        for (uint32_t a = 0; a + 1 < k; ++a) {
            value = vu_select(vu_lt(t, cdf[a]), value, vu_add(value, one));
        }
        const vm zero = vu_eq(word, vu_set1(0));
        if (vm_any(zero)) {
            value = refine_values(tile, row, k, weight, value, vm_bits(zero));
        }
        gbsi_store_values(tile, row, value);
        if (want_p) {
            const vf over = vf_div(vf_set1(1.0F), total);
            float *p = tile->p + (size_t)row * k * GBSI_LANES;
            for (uint32_t a = 0; a < k; ++a) {
                vf_store(p + (size_t)a * GBSI_LANES, vf_mul(weight[a], over));
            }
        }
    }
}

/* Returns the uniform numbers of a row, exact in double; a word of 0 is refined by a second
 * word. */
GBSI_INLINE vd exact_uniform(const gbsi_tile *tile, uint32_t row)
{
    const vu word = vu_load(tile->word + (size_t)row * GBSI_LANES);
    const vd high = vd_from_vf(vf_from_small(vu_shr(word, 16)));
    const vd low = vd_from_vf(vf_from_small(vu_and(word, vu_set1(0xFFFF))));
    const vd u = vd_fma(high, vd_set1(0x1p-16), vd_mul(low, vd_set1(0x1p-32)));
    const vm zero = vu_eq(word, vu_set1(0));
    if (!vm_any(zero)) {
        return u;
    }
    double refined[GBSI_LANES];
    vd_store(refined, u);
    for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
        if ((vm_bits(zero) >> lane & 1u) != 0) {
            refined[lane] = second_uniform(tile, row, lane);
        }
    }
    return vd_load(refined);
}

/* Replaces the log-weights of a row by weights. @return the sums of the weights in double. */
GBSI_INLINE vd sum_weights(gbsi_tile *tile, uint32_t row, uint32_t k)
{
    float *w = tile->w + (size_t)row * k * GBSI_LANES;
    const vf top = tile->linear ? vf_set1(0.0F) : row_top(tile, row, k);
    vd total = vd_zero();
    for (uint32_t a = 0; a < k; ++a, w += GBSI_LANES) {
        if (!tile->linear) {
            vf_store(w, vf_exp_low(vf_sub(vf_load(w), top)));
        }
        total = vd_add(total, vd_from_vf(vf_load(w)));
    }
    if (tile->linear) {
        (void)checked_total(tile, row, vf_from_vd(total));
    }
    return total;
}

/* Last value of positive weight, used if rounding makes u * total equal to the total. */
static __attribute__((noinline)) vu last_positive(const float *weight, uint32_t k)
{
    vu last = vu_set1(0);
    for (uint32_t a = 0; a < k; ++a) {
        const vm positive = vf_lt(vf_set1(0.0F), vf_load(weight + (size_t)a * GBSI_LANES));
        last = vu_select(positive, vu_set1(a), last);
    }
    return last;
}

/* Draws rows of more than MOST_WHOLE states: turns log-weights into weights, and takes the first a
 * whose cumulative weight exceeds u * total. */
static void double_rows(gbsi_tile *tile)
{
    const uint32_t k = tile->arity;
    const vu one = vu_set1(1);
    for (uint32_t row = 0; row < tile->n_rows; ++row) {
        const float *weight = tile->w + (size_t)row * k * GBSI_LANES;
        const vd total = sum_weights(tile, row, k);
        const vd target = vd_mul(exact_uniform(tile, row), total);
        vd cdf = vd_zero();
        vu value = vu_set1(0);
        for (uint32_t a = 0; a < k; ++a) {
            cdf = vd_add(cdf, vd_from_vf(vf_load(weight + (size_t)a * GBSI_LANES)));
            value = vu_select(vd_lt(target, cdf), value, vu_add(value, one));
        }
        gbsi_store_values(tile, row, vu_min(value, last_positive(weight, k)));
        if (tile->p != NULL) {
            const vf scale = vf_div(vf_set1(1.0F), vf_from_vd(total));
            float *p = tile->p + (size_t)row * k * GBSI_LANES;
            for (uint32_t a = 0; a < k; ++a) {
                const size_t at = (size_t)a * GBSI_LANES;
                vf_store(p + at, vf_mul(vf_load(weight + at), scale));
            }
        }
    }
}

GBSI_INLINE void whole_tile(gbsi_tile *tile, const bool want_p, const bool linear)
{
    switch (tile->arity) {
    case 2:
        whole_rows(tile, 2, want_p, linear);
        return;
    case 3:
        whole_rows(tile, 3, want_p, linear);
        return;
    case 4:
        whole_rows(tile, 4, want_p, linear);
        return;
    case 5:
        whole_rows(tile, 5, want_p, linear);
        return;
    case 6:
        whole_rows(tile, 6, want_p, linear);
        return;
    default:
        whole_rows(tile, tile->arity, want_p, linear);
        return;
    }
}

static void categorical(void *state, gbsi_tile *tile)
{
    (void)state;
    if (tile->arity > MOST_WHOLE) {
        double_rows(tile);
    } else if (tile->linear && tile->p != NULL) {
        whole_tile(tile, true, true);
    } else if (tile->linear) {
        whole_tile(tile, false, true);
    } else {
        whole_tile(tile, tile->p != NULL, false);
    }
}

const gbsi_draw GBSI_V(gbsi_draw_random) = {
    .name = "random",
    .reference = "Geman & Geman (1984), IEEE Trans. PAMI 6(6):721-741",
    .traits = GBSI_DRAW_EXACT | GBSI_DRAW_INDEPENDENT | GBSI_DRAW_HEATS,
    .n_words = 1,
    .binary = binary,
    .categorical = categorical,
};
