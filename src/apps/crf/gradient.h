/* SPDX-License-Identifier: Apache-2.0 */
/* The log-likelihood of labels and its gradient by the weights [M60, M65]: the same bits on any
 * number of threads. Sequences are computed by one thread each; then every weight is summed by one
 * thread, over its tokens in their order. */
#ifndef GBSI_CRF_GRADIENT_H
#define GBSI_CRF_GRADIENT_H

#include "crf/crf_chain.h"
#include "crf/model.h"

/* The objective whose gradient is computed. */
typedef enum gbsi_objective {
    GBSI_EXACT,    /* the likelihood of chains: links do not count */
    GBSI_PSEUDO,   /* the pseudo-likelihood */
    GBSI_CONTRAST, /* the likelihood, its gradient estimated from sampled labels */
} gbsi_objective;

/* Rows that hold each item, in their order. */
typedef struct gbsi_holders {
    size_t *begin; /* [n_items + 1] */
    uint32_t *row;
} gbsi_holders;

typedef struct gbsi_gradient {
    const gbs_crf *crf; /* only the labels and features of this model are used, not its weights */
    const gbs_sequences *data;
    const gbsi_features *features;
    const uint32_t *truth; /* [n_tokens] labels */
    gbsi_objective objective;
    const uint32_t *given; /* [n_tokens] labels that single ones are given: true or sampled */
    uint32_t *state;       /* [n_tokens] sampled labels; the true ones at first */
    uint64_t seed, pass;   /* of the next sweep */
    gbsi_work *work;
    gbsi_crf_pairs pairs;
    gbsi_crf_chain *chain;     /* [members] */
    double *alpha;             /* [n_tokens][L] */
    double *surplus;           /* [n_tokens][L] P(y_t = b), less 1 for the true b */
    double *after;             /* [n_tokens][L] */
    double *log_p;             /* [n sequences] log-probabilities of the true labels */
    double *pair_surplus;      /* [n_combinations][L][L] the same of pairs, over all tokens */
    gbsi_holders tokens;       /* of each feature */
    gbsi_holders pair_tokens;  /* tokens, other than first tokens, of each combination */
    gbsi_holders pair_links;   /* links of each combination; none without links in the templates */
    gbsi_holders token_links;  /* links of each token */
    gbsi_holders combinations; /* of each feature */
    const double *weight;      /* weights of the current evaluation, as are the members below */
    double *out;
    double l2;
    _Atomic size_t next;
    _Atomic bool wide; /* log-weights at some token are too far apart */
} gbsi_gradient;

/* All is borrowed. Zero-initialise; free in any case. */
gbs_status gbsi_gradient_new(const gbs_crf *crf, const gbs_sequences *data,
                             const gbsi_features *features, const uint32_t *truth, gbsi_work *work,
                             gbsi_gradient *gradient, gbs_error *err);
void gbsi_gradient_free(gbsi_gradient *gradient);

/* Turns to an objective; PSEUDO and CONTRAST are for templates with links. */
void gbsi_gradient_turn(gbsi_gradient *gradient, gbsi_objective objective);

/* @return -ln P(labels | data) + l2/2 |weight|^2 with its gradient, or value and gradient of
 * another objective; INFINITY, with zeros, if log-weights are too far apart for sums, or if the
 * call was stopped. CONTRAST draws all labels once more, and gives the pseudo-likelihood of the
 * true labels given those.
 * @param out [n_weights], out. */
double gbsi_gradient_at(gbsi_gradient *gradient, const double *weight, double l2, double *out);

/* contrast.c: steps along CONTRAST, each with a sweep of all labels. @param weight [n_weights] from
 * there, and out: the mean over the last half of the steps. @param change out: how far that moved
 * in its own last half, as a share of its length, scaled to a step of Newton's where the steps
 * there are shorter in all. @param tell NULL, or called after each step. @param slope [n_weights]
 * the sampled gradient that it took. */
gbs_status gbsi_contrast(gbsi_gradient *gradient, double l2, uint64_t steps, double *weight,
                         double *change, void (*tell)(void *context, const double *slope),
                         void *context, gbs_error *err);

/* pseudo.c, for pools: surplus and log_p of sequences, then pair_surplus. */
void gbsi_pseudo_sequences(void *gradient, uint32_t member);
void gbsi_pseudo_pairs(void *gradient, uint32_t member);
/* A job for gbsi_pool_run(): writes surplus and pair_surplus, summed up by features, plus l2 times
 * the weight, to out. */
void gbsi_gradient_features(void *gradient, uint32_t member);
/* @return whether to stop. */
bool gbsi_gradient_stops(gbsi_gradient *gradient, uint32_t member, uint64_t n_operations);

#endif
