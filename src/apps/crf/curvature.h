/* SPDX-License-Identifier: Apache-2.0 */
/* Second derivatives of the likelihood of chains [M60]: products of vectors with the covariance H
 * of features given the tokens, and random vectors whose covariance is H. Results have the same
 * bits on any number of threads. */
#ifndef GBSI_CRF_CURVATURE_H
#define GBSI_CRF_CURVATURE_H

#include "crf/gradient.h"

typedef struct gbsi_curvature {
    gbsi_gradient
        *gradient; /* borrowed gradient, evaluated at the weights; its member `truth` is not used */
    gbsi_crf_pairs along; /* log-weights of pairs of labels, by the weights of the direction */
    const double *direction;
    double *past;  /* [n_tokens][L] score, by the weights of the direction, of the sequence up to
                      each token: the score's expectation given the token's label, minus the score's
                      expectation */
    double *ahead; /* [n_tokens][L] for the score of the sequence from each token on: differences as
                      in `past` */
    uint64_t seed, probe;
} gbsi_curvature;

/* The caller sets `gradient`, sets the other members to zero, and calls gbsi_curvature_free() even
 * after a failure. */
gbs_status gbsi_curvature_new(gbsi_curvature *curvature, gbs_error *err);
void gbsi_curvature_free(gbsi_curvature *curvature);

/* Computes (H + l2) direction.
 * @param product [n_weights] out.
 * @return false if the watch stopped the work. */
bool gbsi_curvature_product(gbsi_curvature *curvature, const double *direction, double l2,
                            double *product);
/* Approximates the diagonal of H + l2, as if tokens were independent. @param diagonal [n_weights]
 * out. */
bool gbsi_curvature_diagonal(gbsi_curvature *curvature, double l2, double *diagonal);
/* Draws the labels of all sequences from the model, into gradient->state. */
bool gbsi_curvature_draw(gbsi_curvature *curvature, uint64_t seed, uint64_t probe);

#endif
