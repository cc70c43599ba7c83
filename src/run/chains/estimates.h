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
    gbsi_estimate *estimate; /* NULL: traces alone */
    gbsi_trace *trace;       /* of a lattice: GBSI_TRACE_* */
    size_t estimate_bytes;
    bool rao_blackwell;
    gbsi_moves moves; /* of variables of the part, where chains have a plan */
    gbsi_stays stays; /* how long chains stay in a state, for variables of small models */
    double *exact_p;  /* [whole state_offset] filled by execute; NULL if none is exact */
    double
        *first_p; /* [states of the part] the answer by belief propagation; NULL: there is none */
    const size_t *first_offset; /* [variables of the part + 1] of their states; borrowed */
    double exact_mcse;          /* standard errors of the exact marginals: 0, or NAN if they are an
                                   approximation */
} gbsi_estimates;

/* Traces of spins: allocate their memory, add a pass that is kept, and write the numbers of the
 * report. */
gbs_status gbsi_traces_take(gbsi_estimates *estimates, const gbsi_spins *spins, uint32_t n_chains,
                            gbs_error *err);
void gbsi_traces_put(const gbsi_estimates *estimates, const struct gbsi_engine *engine);
void gbsi_traces_report(const gbsi_estimates *estimates, const gbsi_spins *spins, gbs_report *r);
/* Writes the largest error of the estimate, if it has one, to the report. */
gbs_status gbsi_estimates_report(const gbsi_estimates *estimates, gbsi_pool *pool, gbs_report *r,
                                 gbs_error *err);
void gbsi_estimates_free(gbsi_estimates *estimates); /* frees the members, not the struct itself */

#endif
