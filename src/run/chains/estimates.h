/* SPDX-License-Identifier: Apache-2.0 */
/* The estimates that are made from the draws. */
#ifndef GBSI_CHAINS_ESTIMATES_H
#define GBSI_CHAINS_ESTIMATES_H

#include "estimate/estimate.h"
#include "estimate/trace.h"

typedef struct gbsi_estimates {
    gbsi_estimate *estimate; /* NULL: traces alone */
    gbsi_trace *trace;       /* of a lattice: GBSI_TRACE_* */
    size_t estimate_bytes;
    bool rao_blackwell;
    double *exact_p;   /* [whole state_offset] filled by execute; NULL if none is exact */
    double exact_mcse; /* their standard errors: 0, or NAN if they are an approximation */
} gbsi_estimates;

void gbsi_estimates_free(gbsi_estimates *estimates); /* what it owns, not the struct */

#endif
