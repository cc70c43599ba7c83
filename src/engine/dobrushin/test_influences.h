/* SPDX-License-Identifier: Apache-2.0 */
/* Dobrushin's influences by enumeration of all states of a small model, for tests. */
#ifndef GBSI_DOBRUSHIN_TEST_INFLUENCES_H
#define GBSI_DOBRUSHIN_TEST_INFLUENCES_H

#include "condition/condition.h"
#include "generate/random_models.h"
#include "simd/math.h"

static inline int has(const gbsi_factors *factors, size_t f, uint32_t i)
{
    int found = 0;
    for (size_t s = factors->scope_start[f]; s < factors->scope_start[f + 1]; ++s) {
        found |= factors->scope[s] == i;
    }
    return found;
}

/* Computes the conditional of i at x; uniform if no state is allowed. */
static inline void enumerated_conditional(const gbsi_conditioned *c, uint32_t i, uint32_t *x,
                                          double *p)
{
    const uint32_t k = c->arity[i];
    const uint32_t keep = x[i];
    double most = -INFINITY;
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        x[i] = a;
        p[a] = 0.0;
        for (size_t f = 0; f < c->factors.n_factors; ++f) {
            if (has(&c->factors, f,
                    i)) { /* other factors cancel, even if they forbid the rest of x */
                p[a] += gbsi_factor_value(&c->factors, c->arity, f, x);
            }
        }
        most = p[a] > most ? p[a] : most;
    }
    x[i] = keep;
    for (uint32_t a = 0; a < k; ++a) {
        p[a] = most == -INFINITY ? 1.0 : gbsi_exp(p[a] - most);
        sum += p[a];
    }
    for (uint32_t a = 0; a < k; ++a) {
        p[a] /= sum;
    }
}

static inline double exact_influence(const gbsi_conditioned *c, uint32_t i, uint32_t j)
{
    uint32_t x[MOST_VARIABLES + 4] = {0};
    double worst = 0.0;
    do {
        double p[70];
        double q[70];
        const uint32_t keep = x[j];
        enumerated_conditional(c, i, x, p);
        for (x[j] = 0; x[j] < keep; ++x[j]) {
            double tv = 0.0;
            enumerated_conditional(c, i, x, q);
            for (uint32_t a = 0; a < c->arity[i]; ++a) {
                tv += 0.5 * fabs(p[a] - q[a]);
            }
            worst = tv > worst ? tv : worst;
        }
    } while (next_assignment(c->n_variables, c->arity, x));
    return worst;
}

#endif
