/* SPDX-License-Identifier: Apache-2.0 */
/* The herding rule for vectors [M19], and its bounded form [M29]. */
#include <math.h>

#include "draw/herding.h"

/* Draws the first state whose cumulative probability exceeds u, among the states of positive
 * probability. */
static uint32_t draw_random(const double *p, uint32_t k, uint32_t word)
{
    const double u = ((double)word + 0.5) * 0x1p-32;
    double f = 0.0;
    uint32_t value = 0;
    for (uint32_t a = 0; a < k; ++a) {
        f += p[a];
        value = p[a] > 0.0 ? a : value;
        if (p[a] > 0.0 && f > u) {
            break;
        }
    }
    return value;
}

uint32_t gbsi_herd_vector(const gbsi_herding *how, const double *p, double *w, uint32_t k,
                          uint32_t word)
{
    uint32_t value = k;
    double most = -INFINITY;
    for (uint32_t a = 0; a < k; ++a) {
        const double grown = w[a] + p[a];
        const double weight = how->post ? grown : w[a];
        if (p[a] > 0.0 && weight > most) {
            most = weight;
            value = a;
        }
        w[a] = grown;
    }
    if (value == k) {
        return k;
    }
    if (how->bounded && how->threshold > 0.0 && !(most > how->threshold)) {
        value = draw_random(p, k, word);
    }
    w[value] -= 1.0;
    return value;
}

uint32_t gbsi_bounded_value(const gbsi_herding *how, int64_t w, uint32_t chance, uint32_t word)
{
    if (how->bound == 0 || w > how->bound || w < -how->bound) {
        return w > 0;
    }
    return word < chance;
}

/* Rule pre decides by w = t 2^32 + u + P + 1 - 2^32, the weight of the phase u after t turns.
 * Then w += P - x [M29]. */
uint32_t gbsi_bounded_phase(const gbsi_herding *how, uint32_t chance, uint32_t word,
                            uint32_t *phase, uint32_t *turns)
{
    const int64_t whole = INT64_C(1) << 32;
    const int64_t w = (int64_t)(int32_t)*turns * whole + *phase + chance + 1 - whole;
    const uint32_t value = gbsi_bounded_value(how, w, chance, word);
    *phase += chance;
    *turns += (*phase < chance ? 1u : 0u) - value;
    return value;
}
