/* SPDX-License-Identifier: Apache-2.0 */
/* The estimates that are made from the draws. */
#ifndef GBSI_CHAINS_ESTIMATES_H
#define GBSI_CHAINS_ESTIMATES_H

#include "chains/moves.h"
#include "chains/stays.h"
#include "estimate/estimate.h"
#include "estimate/trace.h"
#include "gibbsite/run.h"
#include "lattice/spins.h"

struct gbsi_engine;

typedef struct gbsi_estimates {
    gbsi_estimate *estimate; /* NULL if only traces are kept */
    gbsi_trace *trace;       /* traces of a lattice: GBSI_TRACE_* */
    size_t estimate_bytes;
    bool rao_blackwell;
    gbsi_moves
        moves; /* how often the variables of the part have changed; only for chains with a plan */
    gbsi_stays stays; /* how long chains stay in a state, for variables of small models */
    double *exact_p;  /* [whole state_offset] exact marginals, written by gbs_run_execute(); NULL if
                         no marginal is exact */
    /* [states of the part] marginals by belief propagation; NULL if there are none. */
    double *first_p;
    const size_t *first_offset; /* [variables of the part + 1] index in first_p of the first state
                                   of each variable; borrowed */
    double exact_mcse; /* standard error of the marginals in exact_p: 0 if they are exact, NAN if
                          they are an approximation */
} gbsi_estimates;

/* Traces of spins: the first function allocates their memory, the second adds a pass that is kept,
 * and the third writes their figures to the report. */
gbs_status gbsi_traces_take(gbsi_estimates *estimates, const gbsi_spins *spins, uint32_t n_chains,
                            gbs_error *err);
void gbsi_traces_put(const gbsi_estimates *estimates, const struct gbsi_engine *engine);
void gbsi_traces_report(const gbsi_estimates *estimates, const gbsi_spins *spins, gbs_report *r);
/* Writes the largest error of the estimates to the report, if any error is known. */
gbs_status gbsi_estimates_report(const gbsi_estimates *estimates, gbsi_pool *pool, gbs_report *r,
                                 gbs_error *err);
void gbsi_estimates_free(gbsi_estimates *estimates); /* frees the members, not the struct itself */

#endif
