/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of one sequence as a factor graph, for what Viterbi's algorithm cannot do: links between
 * tokens, annealed and herded Gibbs sampling [M65]. */
#ifndef GBSI_CRF_SEARCH_H
#define GBSI_CRF_SEARCH_H

#include "crf/crf_chain.h"

#define GBSI_NO_TABLE UINT32_MAX

/* The memory for a sequence's labels and probabilities. */
typedef struct gbsi_found {
    uint32_t *label;   /* [n] */
    double *posterior; /* [n][L] or NULL */
    double *log_p;     /* one, or NULL; NAN where ln Z is not known */
    bool proved;       /* the labels are the most probable ones */
    bool converged;    /* the probabilities can be trusted; without them, true */
    uint64_t updates;
} gbsi_found;

/* Searches by gbs_map(), and takes probabilities from a run if they are wanted, on this thread.
 * @param run options of both, with a seed for this sequence. */
gbs_status gbsi_search_sequence(const gbsi_crf_chain *chain, size_t sequence, uint32_t *table,
                                const gbs_run_options *run, gbsi_found *found, gbs_error *err);

#endif
