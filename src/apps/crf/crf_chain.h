/* SPDX-License-Identifier: Apache-2.0 */
/* Exact inference on a chain of labels [M60]: Viterbi's algorithm, and sums with scaling. */
#ifndef GBSI_CRF_CRF_CHAIN_H
#define GBSI_CRF_CRF_CHAIN_H

#include "crf/features.h"

/* Log-weights of pairs of labels, a matrix for each combination of features. Zero-initialise. */
typedef struct gbsi_crf_pairs {
    uint32_t n_labels, n;
    double *logw;    /* [n][L previous][L] log-weights */
    double *scaled;  /* [n][L][L] exp(logw - largest); NULL if no sums are needed */
    double *largest; /* [n] largest log-weight of each matrix */
    double *span;    /* [n] largest minus smallest log-weight of each matrix */
} gbsi_crf_pairs;

gbs_status gbsi_crf_pairs_new(const gbs_crf *crf, const gbsi_features *features, bool sums,
                              gbsi_crf_pairs *pairs, gbs_error *err);
/* Fills matrix c from `weight`, which may differ from the weights of the model. */
void gbsi_crf_pairs_fill(gbsi_crf_pairs *pairs, uint32_t c, const gbs_crf *crf,
                         const gbsi_features *features, const double *weight);
void gbsi_crf_pairs_free(gbsi_crf_pairs *pairs);

/* Scratch memory that serves one sequence at a time. */
typedef struct gbsi_crf_chain {
    const gbs_crf *crf;
    const gbsi_features *features;
    const gbsi_crf_pairs *pairs;
    const double *weight;
    gbsi_watch *watch; /* NULL: the work cannot be stopped */
    bool spends;       /* whether this thread counts operations for the watch */
    size_t first, n;   /* tokens of the current sequence */
    double *logw;      /* [n][L] log-weight of each label at each token */
    double *scaled;    /* [n][L] exp(logw - largest log-weight of the token) */
    double *scale;     /* [n] divisor of the sums at each token */
    double *best; /* [2][L] for two successive tokens: highest score of the labels up to the token,
                     for each label of the token */
    uint32_t *before; /* [n][L] best label of the previous token, for each label of each token */
} gbsi_crf_chain;

/* @param most_tokens largest number of tokens of a sequence. @return GBS_OK, or GBS_ERR_MEMORY. */
gbs_status gbsi_crf_chain_new(gbsi_crf_chain *chain, size_t most_tokens, gbs_error *err);
void gbsi_crf_chain_free(gbsi_crf_chain *chain);

/* Sets the sequence to the tokens [first, end). */
void gbsi_crf_chain_take(gbsi_crf_chain *chain, size_t first, size_t end);
/* @return the score of the labels of all tokens [M60]. @param label [n]. */
double gbsi_crf_chain_score(const gbsi_crf_chain *chain, const uint32_t *label);
/* Finds the labels with the highest score. Among equal scores, the first label is chosen, from the
 * last token backwards. @param label [n], out. */
void gbsi_crf_chain_best(gbsi_crf_chain *chain, uint32_t *label);

/* Largest difference of the log-weights at a token for which no sum can underflow. */
#define GBSI_MOST_SPAN 690.0

/* Computes ln Z, and three arrays from which the probabilities of labels follow: P(y_t) =
 * alpha_t(y) beta_t(y), and P(y_(t-1) = a, y_t = b) = alpha_(t-1)(a) scaled(a, b) after_t(b).
 * @param alpha,beta,after [n][L], out. @return n if the log-weights at each token differ by at most
 * GBSI_MOST_SPAN. Otherwise the number of the first token with larger differences is returned,
 * counted from 0, and the results are undefined. */
size_t gbsi_crf_chain_sum(gbsi_crf_chain *chain, double *alpha, double *beta, double *after,
                          double *log_z);

/* The labels of one sequence as a factor graph. The graph serves tasks that Viterbi's algorithm
 * cannot do: links between tokens, annealed and herded Gibbs sampling [M65]. */

#define GBSI_NO_TABLE UINT32_MAX

/* The memory for a sequence's labels and probabilities. */
typedef struct gbsi_found {
    uint32_t *label;   /* [n] labels */
    double *posterior; /* [n][L] or NULL */
    double *log_p;     /* log-probability of the labels, or NULL; NAN if ln Z is not known */
    bool proved;       /* whether the labels are known to be the most probable labels */
    bool converged;    /* whether the probabilities can be trusted; true if no probabilities are
                          computed */
    uint64_t updates;
} gbsi_found;

/* Searches for labels by gbs_map() and, if probabilities are wanted, takes them from a run. Both
 * use only the calling thread. @param run options of both methods, with a seed for this sequence.
 */
gbs_status gbsi_search_sequence(const gbsi_crf_chain *chain, size_t sequence, uint32_t *table,
                                const gbs_run_options *run, gbsi_found *found, gbs_error *err);

#endif
