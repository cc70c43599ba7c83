/* SPDX-License-Identifier: Apache-2.0 */
/* The log-likelihood of labels and its gradient by the weights [M60]: the same bits on any number
 * of threads. Sequences are computed by one thread each; then every weight is summed by one thread,
 * over its tokens in their order. */
#ifndef GBSI_CRF_GRADIENT_H
#define GBSI_CRF_GRADIENT_H

#include "crf/chain.h"
#include "crf/work.h"

/* Rows that hold each item, in their order. */
typedef struct gbsi_holders {
    size_t *begin; /* [n_items + 1] */
    uint32_t *row;
} gbsi_holders;

typedef struct gbsi_gradient {
    const gbs_crf *crf; /* its weights are not used */
    const gbs_sequences *data;
    const gbsi_features *features;
    const uint32_t *truth; /* [n_tokens] labels */
    gbsi_work *work;
    gbsi_pairs pairs;
    gbsi_chain *chain;         /* [members] */
    double *alpha;             /* [n_tokens][L] */
    double *surplus;           /* [n_tokens][L] P(y_t = b), less 1 for the true b */
    double *after;             /* [n_tokens][L] */
    double *log_p;             /* [n sequences] of the true labels */
    double *pair_surplus;      /* [n_combinations][L][L] the same of pairs, over all tokens */
    gbsi_holders tokens;       /* of each feature */
    gbsi_holders pair_tokens;  /* of each combination, but for first tokens */
    gbsi_holders combinations; /* of each feature */
    const double *weight;      /* of the evaluation, as what follows */
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

/* -ln P(labels | data) + l2/2 |weight|^2 and its gradient.
 * @param out [n_weights], out. @return INFINITY, with zeros, where log-weights are too far apart
 * for sums, or where it was stopped. */
double gbsi_gradient_at(gbsi_gradient *gradient, const double *weight, double l2, double *out);

#endif
