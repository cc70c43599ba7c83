/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates for the inhibitions and the leak of a noisy factor, from draws. Its score is d ln
 * P(child | parents) / dt: the mean of the score over draws is d ln P(e) / dt, and its covariance
 * with 1[X = x] is the derivative [M55]. */
#ifndef GBSI_SENSITIVITY_NOISY_SCORES_H
#define GBSI_SENSITIVITY_NOISY_SCORES_H

#include "sensitivity/reduced.h"

/* Sums over draws for each of n parameters: n of the score, n of its size, n of its square. */
#define GBSI_SCORE_CELLS 3u

/* @param state states of the user's variables in a draw. @param sum [3 * n] each other entry of it
 * is the one to be added to: sum[0], sum[2], ... */
void gbsi_scores_add(const gbsi_reduced *reduced, size_t factor, const uint32_t *state,
                     double *sum);

typedef enum gbsi_score {
    GBSI_SCORE_KNOWN,
    GBSI_SCORE_ZERO,    /* evidence rules the parent's state out */
    GBSI_SCORE_UNKNOWN, /* the parameter only affects states that are impossible at present: draws
                           say nothing about it */
} gbsi_score;

/* Judges whether draws determine each parameter. Draws do not determine the following: an
 * inhibition of 0 if the cause may have no effect; if the cause may have an effect, a leak of 0, or
 * an inhibition of 1 if no other cause need take effect.
 * @param score [n] out. */
void gbsi_scores_judge(const gbsi_reduced *reduced, size_t factor, gbsi_score *score);

#endif
