/* SPDX-License-Identifier: Apache-2.0 */
#include "chains/start.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "rng/philox.h"
#include "simd/math.h"

/* The row of v's conditional table for the present states of its parents. */
static const double *table_row(const gbsi_conditioned *model, uint32_t v, const uint32_t *x,
                               size_t *stride)
{
    const gbsi_factors *factors = &model->factors;
    const size_t f = model->cpt[v];
    size_t index = 0;
    size_t step = 1;
    for (size_t i = factors->scope_start[f + 1]; i-- > factors->scope_start[f];) {
        const uint32_t u = factors->scope[i];
        if (u == v) {
            *stride = step;
        } else {
            index += step * x[u];
        }
        step *= model->arity[u];
    }
    return &factors->table[factors->table_start[factors->aux[f]] + index];
}

/* Adds the log-values of one noisy factor, a level of P(v | its parents), to the weights of the
 * states of v. */
static void add_level(const gbsi_conditioned *model, size_t f, uint32_t v, const uint32_t *x,
                      double *weight)
{
    const gbsi_noisy noisy = gbsi_noisy_of(&model->factors, f);
    const double *log_q = noisy.log_q + 1;
    double log_none = noisy.log_q[0];
    for (uint32_t i = 0; i < noisy.n_parents; ++i) {
        log_none += log_q[x[noisy.parent[i]]];
        log_q += model->arity[noisy.parent[i]];
    }
    for (uint32_t a = 0; a < model->arity[v]; ++a) {
        weight[a] += gbsi_noisy_value(log_none, gbsi_noisy_part_of(noisy.effect, noisy.falling, a));
    }
}

/* Adds ln P(v | its parents) if v has noisy factors, one for each level, which are stored one after
 * the other. */
static void add_levels(const gbsi_conditioned *model, uint32_t v, const uint32_t *x, double *weight)
{
    const size_t last = model->cpt[v];
    const size_t origin = gbsi_conditioned_origin(model, last);
    for (size_t f = last + 1; f-- > 0 && gbsi_conditioned_origin(model, f) == origin &&
                              gbsi_is_noisy(model->factors.kind[f]);) {
        add_level(model, f, v, x, weight);
    }
}

void gbsi_forward_weights(const gbsi_conditioned *model, uint32_t v, const uint32_t *x,
                          double *weight)
{
    const uint32_t k = model->arity[v];
    double largest = -INFINITY;
    if (model->cpt != NULL && model->cpt[v] != GBSI_NONE) {
        memset(weight, 0, k * sizeof *weight);
        if (gbsi_is_noisy(model->factors.kind[model->cpt[v]])) {
            add_levels(model, v, x, weight);
        } else {
            size_t stride = 1;
            const double *row = table_row(model, v, x, &stride);
            for (uint32_t a = 0; a < k; ++a) {
                weight[a] = row[a * stride];
            }
        }
        for (uint32_t a = 0; a < k; ++a) {
            largest = weight[a] > largest ? weight[a] : largest;
        }
    }
    for (uint32_t a = 0; a < k; ++a) {
        weight[a] = largest == -INFINITY ? 1.0 : gbsi_exp(weight[a] - largest);
    }
}

uint32_t gbsi_forward_pick(const double *weight, uint32_t n, const uint32_t *word)
{
    double total = 0.0;
    uint32_t last = 0;
    for (uint32_t a = 0; a < n; ++a) {
        total += weight[a];
        last = weight[a] > 0.0 ? a : last;
    }
    assert(total > 0.0);
    const double u = gbsi_uniform(word[0], word[1]) * total;
    double cdf = 0.0;
    for (uint32_t a = 0; a < last; ++a) {
        cdf += weight[a];
        if (u < cdf) {
            return a;
        }
    }
    return last;
}
