/* SPDX-License-Identifier: Apache-2.0 */
/* Exact inference on a chain of labels [M60]: Viterbi's algorithm, and sums with scaling. */
#ifndef GBSI_CRF_CRF_CHAIN_H
#define GBSI_CRF_CRF_CHAIN_H

#include "crf/features.h"

/* Log-weights of pairs of labels, a matrix for each combination of features. Zero-initialise. */
typedef struct gbsi_crf_pairs {
    uint32_t n_labels, n;
    double *logw;    /* [n][L previous][L] */
    double *scaled;  /* [n][L][L] exp(logw - largest); NULL: no sums are wanted */
    double *largest; /* [n] */
    double *span;    /* [n] largest less least */
} gbsi_crf_pairs;

gbs_status gbsi_crf_pairs_new(const gbs_crf *crf, const gbsi_features *features, bool sums,
                              gbsi_crf_pairs *pairs, gbs_error *err);
/* Fills matrix c, from weights that need not be those of the model. */
void gbsi_crf_pairs_fill(gbsi_crf_pairs *pairs, uint32_t c, const gbs_crf *crf,
                         const gbsi_features *features, const double *weight);
void gbsi_crf_pairs_free(gbsi_crf_pairs *pairs);

/* Scratch memory that serves one sequence at a time. */
typedef struct gbsi_crf_chain {
    const gbs_crf *crf;
    const gbsi_features *features;
    const gbsi_crf_pairs *pairs;
    const double *weight;
    gbsi_watch *watch; /* NULL: nobody waits */
    bool spends;       /* whether this thread looks */
    size_t first, n;   /* its tokens */
    double *logw;      /* [n][L] of single labels */
    double *scaled;    /* [n][L] exp(logw - largest) */
    double *scale;     /* [n] the numbers that the sums were divided by */
    double *best;      /* [2][L] */
    uint32_t *before;  /* [n][L] the best label before each */
} gbsi_crf_chain;

/* @param most_tokens largest number of tokens of a sequence. @return memory taken, or
 * GBS_ERR_MEMORY. */
gbs_status gbsi_crf_chain_new(gbsi_crf_chain *chain, size_t most_tokens, gbs_error *err);
void gbsi_crf_chain_free(gbsi_crf_chain *chain);

/* Turns to the tokens [first, end). */
void gbsi_crf_chain_take(gbsi_crf_chain *chain, size_t first, size_t end);
/* The score of labels: of all tokens [M60]. @param label [n]. */
double gbsi_crf_chain_score(const gbsi_crf_chain *chain, const uint32_t *label);
/* The labels with the highest score, that of the last label first. @param label [n], out. */
void gbsi_crf_chain_best(gbsi_crf_chain *chain, uint32_t *label);

/* The largest difference of log-weights at one token for which no sum falls below the least
 * double. */
#define GBSI_MOST_SPAN 690.0

/* ln Z, and the factors of probabilities: P(y_t) = alpha_t(y) beta_t(y), and
 * P(y_(t-1) = a, y_t = b) = alpha_(t-1)(a) scaled(a, b) after_t(b).
 * @param alpha,beta,after [n][L], out.
 * @return the first token, from 0, whose log-weights differ by more than GBSI_MOST_SPAN; nothing is
 * computed then. n if no token has such log-weights. */
size_t gbsi_crf_chain_sum(gbsi_crf_chain *chain, double *alpha, double *beta, double *after,
                          double *log_z);

/* Labels of one sequence as a factor graph, for what Viterbi's algorithm cannot do: links between
 * tokens, annealed and herded Gibbs sampling [M65]. */

#define GBSI_NO_TABLE UINT32_MAX

/* The memory for a sequence's labels and probabilities. */
typedef struct gbsi_found {
    uint32_t *label;   /* [n] */
    double *posterior; /* [n][L] or NULL */
    double *log_p;     /* one, or NULL; NAN if ln Z is not known */
    bool proved;       /* the labels are the most probable ones */
    bool converged;    /* the probabilities can be trusted; without them, true */
    uint64_t updates;
} gbsi_found;

/* Searches by gbs_map(), and takes probabilities from a run if they are wanted, on this thread.
 * @param run options of both methods, with a seed for this sequence. */
gbs_status gbsi_search_sequence(const gbsi_crf_chain *chain, size_t sequence, uint32_t *table,
                                const gbs_run_options *run, gbsi_found *found, gbs_error *err);

#endif
