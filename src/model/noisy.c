/* SPDX-License-Identifier: Apache-2.0 */
/* Noisy-or and noisy-and [M56]: each parent inhibits the effect, or does not, on its own (Pearl
 * 1988, Probabilistic Reasoning in Intelligent Systems, section 4.3.2; the leak is Henrion's 1987).
 */
#include "model/factors.h"

#include <math.h>

#include "simd/math.h"

bool gbsi_is_noisy(unsigned kind)
{
    return kind >= GBS_FACTOR_NOISY_OR && kind <= GBSI_FACTOR_EFFECT;
}

bool gbsi_has_table(unsigned kind)
{
    return kind == GBS_FACTOR_TABLE || gbsi_is_noisy(kind);
}

gbsi_noisy gbsi_noisy_of(const gbsi_factors *factors, size_t f)
{
    const size_t first = factors->scope_start[f];
    const uint32_t n = (uint32_t)(factors->scope_start[f + 1] - first);
    const bool effect = factors->kind[f] == GBSI_FACTOR_EFFECT;
    return (gbsi_noisy){.n_parents = effect ? n : n - 1,
                        .parent = factors->scope + first,
                        .child = effect ? GBSI_NONE : factors->scope[first + n - 1],
                        .none = factors->kind[f] == GBS_FACTOR_NOISY_AND ? 1 : 0,
                        .log_q = factors->table + factors->table_start[factors->aux[f]]};
}

double gbsi_noisy_log(double log_none, bool effect)
{
    if (!effect) {
        return log_none;
    }
    /* ln(1 - e^-x), without loss for small x or large (Maechler 2012) */
    return log_none > -0.693 ? gbsi_log(-gbsi_expm1(log_none)) : gbsi_log1p(-gbsi_exp(log_none));
}
