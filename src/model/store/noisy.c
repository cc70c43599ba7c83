/* SPDX-License-Identifier: Apache-2.0 */
/* Noisy-or, noisy-and, noisy-max and noisy-min [M56]. Each parent takes effect independently of the
 * other parents (Pearl 1988, Probabilistic Reasoning in Intelligent Systems, section 4.3.2; the
 * leak comes from Henrion 1987). */
#include "store/factors.h"

#include <math.h>

#include "simd/math.h"

bool gbsi_noisy_is_graded(unsigned kind)
{
    return kind == GBS_FACTOR_NOISY_MAX || kind == GBS_FACTOR_NOISY_MIN;
}

bool gbsi_is_noisy(unsigned kind)
{
    return (kind >= GBS_FACTOR_NOISY_OR && kind <= GBS_FACTOR_NOISY_MIN) ||
           (kind >= GBSI_FACTOR_EFFECT && kind <= GBSI_FACTOR_FALLING);
}

bool gbsi_has_table(unsigned kind)
{
    return kind == GBS_FACTOR_TABLE || gbsi_is_noisy(kind);
}

static bool is_falling(unsigned kind)
{
    return kind == GBS_FACTOR_NOISY_AND || kind == GBS_FACTOR_NOISY_MIN ||
           kind == GBSI_FACTOR_FALLING;
}

gbsi_noisy gbsi_noisy_of(const gbsi_factors *factors, size_t f)
{
    const size_t first = factors->scope_start[f];
    const uint32_t n = (uint32_t)(factors->scope_start[f + 1] - first);
    const unsigned kind = factors->kind[f];
    const bool observed = kind == GBSI_FACTOR_EFFECT;
    const bool level = kind == GBSI_FACTOR_RISING || kind == GBSI_FACTOR_FALLING;
    return (gbsi_noisy){.n_parents = observed ? n : n - 1,
                        .parent = factors->scope + first,
                        .child = observed ? GBSI_NONE : factors->scope[first + n - 1],
                        .effect = level ? (uint32_t)factors->weight[f] : !is_falling(kind),
                        .falling = is_falling(kind),
                        .log_q = factors->table + factors->table_start[factors->aux[f]]};
}

uint32_t gbsi_noisy_n_levels(const gbsi_factors *factors, const uint32_t *arity, size_t f)
{
    return gbsi_noisy_is_graded(factors->kind[f])
               ? arity[factors->scope[factors->scope_start[f + 1] - 1]] - 1
               : 1;
}

gbsi_noisy gbsi_noisy_level(const gbsi_factors *factors, const uint32_t *arity, size_t f,
                            uint32_t level)
{
    gbsi_noisy noisy = gbsi_noisy_of(factors, f);
    if (gbsi_noisy_is_graded(factors->kind[f])) {
        const size_t *start = factors->table_start + factors->aux[f];
        const uint32_t n = arity[noisy.child] - 1;
        noisy.effect = noisy.falling ? n - 1 - level : level + 1;
        noisy.log_q += (start[1] - start[0]) / n * level;
    }
    return noisy;
}

double gbsi_noisy_value(double log_none, gbsi_noisy_part part)
{
    return part == GBSI_NOISY_BEYOND ? 0.0 : gbsi_noisy_log(log_none, part == GBSI_NOISY_EFFECT);
}

double gbsi_noisy_log(double log_none, bool effect)
{
    if (!effect) {
        return log_none;
    }
    /* ln(1 - e^-x), without loss of precision for small or large x (Maechler 2012) */
    return log_none > -0.693 ? gbsi_log(-gbsi_expm1(log_none)) : gbsi_log1p(-gbsi_exp(log_none));
}
