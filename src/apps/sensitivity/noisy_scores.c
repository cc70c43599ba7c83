/* SPDX-License-Identifier: Apache-2.0 */
#include "sensitivity/noisy_scores.h"

#include <math.h>

#include "simd/math.h"

/* Adds a score to the sums of parameter k of n. */
static void add(double *sum, size_t n, size_t k, double score)
{
    sum[2 * k] += score;
    sum[2 * (n + k)] += fabs(score);
    sum[2 * (2 * n + k)] += score * score;
}

/* Let N be the product of all q, and M = N / q for the current cause. The score is 1 / q if the
 * effect is absent, and -M / (1 - N) if it is present. */
void gbsi_scores_add(const gbsi_reduced *reduced, size_t factor, const uint32_t *state, double *sum)
{
    const gbsi_factors *f = &reduced->user->factors;
    const uint32_t *arity = reduced->user->arity;
    const gbsi_noisy noisy = gbsi_noisy_of(f, factor);
    const bool effect = state[noisy.child] == noisy.effect;
    size_t n = 1;
    size_t n_never = 0; /* number of causes with q = 0 */
    double log_none = 0.0;
    for (uint32_t i = 0; i <= noisy.n_parents; ++i) {
        const double log_q = noisy.log_q[i == 0 ? 0 : n + state[noisy.parent[i - 1]]];
        n += i == 0 ? 0 : arity[noisy.parent[i - 1]];
        n_never += log_q == -INFINITY;
        log_none += log_q == -INFINITY ? 0.0 : log_q;
    }
    const double p_effect = n_never > 0 ? 1.0 : -gbsi_expm1(log_none);
    size_t at = 0;
    for (uint32_t i = 0; i <= noisy.n_parents; ++i) {
        const size_t k = i == 0 ? 0 : at + state[noisy.parent[i - 1]];
        const double log_q = noisy.log_q[k];
        const bool never = log_q == -INFINITY;
        const double others = n_never > never ? 0.0 : gbsi_exp(log_none - (never ? 0.0 : log_q));
        const double score = effect ? -others / p_effect : gbsi_exp(-log_q);
        add(sum, n, k, i == 0 ? -score : score); /* q_0 = 1 - leak */
        at += i == 0 ? 1 : arity[noisy.parent[i - 1]];
    }
}

/* @return whether the evidence of the child allows the effect (`effect` true) or its absence
 * (false). */
static bool may_be(const gbsi_reduced *r, const gbsi_noisy *noisy, bool effect)
{
    const uint32_t wanted = effect ? noisy->effect : 1 - noisy->effect;
    const double *l = gbsi_log_likelihood(r->evidence, noisy->child);
    return r->number[noisy->child] == GBSI_NONE ? r->state[noisy->child] == wanted
                                                : l == NULL || l[wanted] > -INFINITY;
}

static bool is_left(const gbsi_reduced *r, uint32_t v, uint32_t state)
{
    return r->number[v] != GBSI_NONE || r->state[v] == state;
}

void gbsi_scores_judge(const gbsi_reduced *reduced, size_t factor, gbsi_score *score)
{
    const gbsi_reduced *r = reduced;
    const gbsi_noisy noisy = gbsi_noisy_of(&r->user->factors, factor);
    const uint32_t *arity = r->user->arity;
    const bool none = may_be(r, &noisy, false);
    const bool effect = may_be(r, &noisy, true);
    size_t n_certain =
        noisy.log_q[0] < 0.0; /* number of causes that may have an effect in every state */
    size_t at = 1;
    for (uint32_t i = 0; i < noisy.n_parents; ++i) {
        bool certain = true;
        for (uint32_t a = 0; a < arity[noisy.parent[i]]; ++a) {
            certain &= noisy.log_q[at + a] < 0.0 || !is_left(r, noisy.parent[i], a);
        }
        n_certain += certain;
        at += arity[noisy.parent[i]];
    }
    at = 0;
    for (uint32_t i = 0; i <= noisy.n_parents; ++i) {
        const uint32_t n = i == 0 ? 1 : arity[noisy.parent[i - 1]];
        for (uint32_t a = 0; a < n; ++a) {
            const double log_q = noisy.log_q[at + a];
            const bool left = i == 0 || is_left(r, noisy.parent[i - 1], a);
            const bool known =
                !(none && log_q == -INFINITY) && !(effect && log_q == 0.0 && n_certain == 0);
            score[at + a] = !left ? GBSI_SCORE_ZERO : known ? GBSI_SCORE_KNOWN : GBSI_SCORE_UNKNOWN;
        }
        at += n;
    }
}
