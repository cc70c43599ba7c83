/* SPDX-License-Identifier: Apache-2.0 */
/* The log-likelihood of labels and its gradient by the weights [M60, M65], with the same bits on
 * any number of threads. One thread computes each sequence. Then one thread sums the derivative by
 * each weight, over the tokens that have the weight's feature, in their order. */
#ifndef GBSI_CRF_GRADIENT_H
#define GBSI_CRF_GRADIENT_H

#include "crf/crf_chain.h"
#include "crf/model.h"

/* The objective whose gradient is computed. */
typedef enum gbsi_objective {
    GBSI_EXACT,    /* the likelihood of chains, without links */
    GBSI_PSEUDO,   /* the pseudo-likelihood */
    GBSI_CONTRAST, /* the likelihood, whose gradient is estimated from sampled labels */
} gbsi_objective;

/* For each item, such as a feature: the rows, such as tokens, that have the item, in their order.
 */
typedef struct gbsi_holders {
    size_t *begin; /* [n_items + 1] where the list of rows of each item begins */
    uint32_t *row;
} gbsi_holders;

typedef struct gbsi_gradient {
    const gbs_crf *crf; /* only the labels and features of this model are used, not its weights */
    const gbs_sequences *data;
    const gbsi_features *features;
    const uint32_t *truth; /* [n_tokens] labels */
    gbsi_objective objective;
    const uint32_t *given; /* [n_tokens] labels on which the distributions of single labels are
                              conditioned: true or sampled */
    uint32_t *state;       /* [n_tokens] sampled labels; at first the true labels */
    uint64_t seed, pass;   /* seed of the random numbers; number of the next sweep */
    gbsi_work *work;
    gbsi_crf_pairs pairs;
    gbsi_crf_chain *chain;     /* [members] scratch memory of each thread */
    double *alpha;             /* [n_tokens][L] */
    double *surplus;           /* [n_tokens][L] P(y_t = b), minus 1 for the true b */
    double *after;             /* [n_tokens][L] */
    double *log_p;             /* [n sequences] log-probabilities of the true labels */
    double *pair_surplus;      /* [n_combinations][L][L] surplus of pairs of labels, summed over the
                                  tokens of each combination */
    gbsi_holders tokens;       /* tokens of each feature */
    gbsi_holders pair_tokens;  /* tokens of each combination; the first token of a sequence has no
                                  combination */
    gbsi_holders pair_links;   /* links of each combination; none if the templates have no links */
    gbsi_holders token_links;  /* links of each token */
    gbsi_holders combinations; /* combinations of each feature */
    const double *weight; /* weights of the current evaluation; the members below also belong to
                             this evaluation */
    double *out;
    double l2;
    _Atomic size_t next;
    _Atomic bool wide; /* whether the log-weights at some token are too far apart */
} gbsi_gradient;

/* Borrows all arguments. Zero-initialise the struct, and call gbsi_gradient_free() even after a
 * failure. */
gbs_status gbsi_gradient_new(const gbs_crf *crf, const gbs_sequences *data,
                             const gbsi_features *features, const uint32_t *truth, gbsi_work *work,
                             gbsi_gradient *gradient, gbs_error *err);
void gbsi_gradient_free(gbsi_gradient *gradient);

/* Sets the objective. PSEUDO and CONTRAST are for templates with links. */
void gbsi_gradient_turn(gbsi_gradient *gradient, gbsi_objective objective);

/* Computes the value and gradient of -ln P(labels | data) + l2/2 |weight|^2, or of another
 * objective. CONTRAST draws all labels once more, and its value is the pseudo-likelihood of the
 * true labels given the sampled labels. @return the value; INFINITY, with a gradient of zeros, if
 * log-weights are too far apart for sums, or if the call was stopped. @param out [n_weights], out.
 */
double gbsi_gradient_at(gbsi_gradient *gradient, const double *weight, double l2, double *out);

/* contrast.c: takes steps along the gradient of CONTRAST, each with a sweep of all labels. @param
 * weight [n_weights] in: the first weights; out: the mean over the last half of the steps. @param
 * change out: distance by which this mean moved in the second half of the averaged steps, as a
 * share of its length. If these steps together are shorter than one step of Newton's method, the
 * distance is scaled to one such step. @param tell NULL, or called after each step. @param slope
 * [n_weights] the sampled gradient of the step. */
gbs_status gbsi_contrast(gbsi_gradient *gradient, double l2, uint64_t steps, double *weight,
                         double *change, void (*tell)(void *context, const double *slope),
                         void *context, gbs_error *err);

/* pseudo.c: jobs for gbsi_pool_run(). The first job computes surplus and log_p of sequences. The
 * second job computes pair_surplus. */
void gbsi_pseudo_sequences(void *gradient, uint32_t member);
void gbsi_pseudo_pairs(void *gradient, uint32_t member);
/* A job for gbsi_pool_run(): writes the derivative by each weight to `out`. A derivative is l2
 * times the weight plus the sum of the surplus or pair_surplus of the weight's feature. */
void gbsi_gradient_features(void *gradient, uint32_t member);
/* @return whether the watch stops the call, after it has counted n_operations. */
bool gbsi_gradient_stops(gbsi_gradient *gradient, uint32_t member, uint64_t n_operations);

#endif
