/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates for the inhibitions and the leak of a noisy factor, from draws. The score of a
 * parameter t is d ln P(child | parents) / dt. The mean of the score over draws is d ln P(e) / dt,
 * and the covariance of the score with 1[X = x] is the derivative [M55]. */
#ifndef GBSI_SENSITIVITY_NOISY_SCORES_H
#define GBSI_SENSITIVITY_NOISY_SCORES_H

#include "sensitivity/reduced.h"

/* Sums over draws for each of n parameters: n of the score, n of its size, n of its square. */
#define GBSI_SCORE_CELLS 3u

/* Adds the scores of a draw. @param state states of the user's variables in the draw. @param sum
 * [6 * n] the 3 * n sums are its entries 0, 2, 4, ...; the other entries do not change. */
void gbsi_scores_add(const gbsi_reduced *reduced, size_t factor, const uint32_t *state,
                     double *sum);

typedef enum gbsi_score {
    GBSI_SCORE_KNOWN,
    GBSI_SCORE_ZERO,    /* evidence excludes the parent's state */
    GBSI_SCORE_UNKNOWN, /* the parameter affects only states that are impossible at its current
                           value; draws say nothing about it */
} gbsi_score;

/* Judges whether draws determine each parameter. Draws do not determine an inhibition of 0 if the
 * effect may be absent. If the effect may be present, draws do not determine a leak of 0 or an
 * inhibition of 1, unless some cause may have an effect in each of its states. @param score [n]
 * out. */
void gbsi_scores_judge(const gbsi_reduced *reduced, size_t factor, gbsi_score *score);

#endif
