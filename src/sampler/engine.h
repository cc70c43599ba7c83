/* SPDX-License-Identifier: Apache-2.0 */
/* What makes the draws: scan, plan, schedule, the pass that runs them, and its chains. */
#ifndef GBSI_SAMPLER_ENGINE_H
#define GBSI_SAMPLER_ENGINE_H

#include "lattice/lattice.h"
#include "lattice/packed.h"
#include "sampler/executor.h"
#include "sampler/start.h"
#include "scan/scan.h"

typedef struct gbsi_engine {
    const gbsi_scan *scan;
    void *scan_state;
    unsigned scan_traits;
    gbsi_plan *plan;
    gbsi_schedule schedule;
    bool executor_ready;
    gbsi_pool *pool; /* NULL until memory is taken */
    gbsi_executor executor;
    gbsi_lattice *lattice;   /* sites in bits, or NULL */
    gbsi_packed *packed;     /* chains in bits, or NULL */
    const gbsi_spins *spins; /* of either; NULL: a plan is run */
    gbsi_starter *starter;   /* with restarts: ... */
    uint32_t *fresh;         /* ... [part variables] a start */
} gbsi_engine;

#endif
