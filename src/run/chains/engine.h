/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that make the draws: scan, plan, schedule, the pass that runs them, and its
 * chains. */
#ifndef GBSI_CHAINS_ENGINE_H
#define GBSI_CHAINS_ENGINE_H

#include "chains/executor.h"
#include "chains/start.h"
#include "lattice/lattice.h"
#include "lattice/packed.h"
#include "levels/levels.h"
#include "scan/scan.h"

typedef struct gbsi_engine {
    const gbsi_scan *scan;
    void *scan_state;
    unsigned scan_traits;
    bool named;     /* the user named the scan */
    bool undecided; /* until a pilot has chosen the scan; memory is taken then */
    bool by_need;   /* only if single variables were not shown to cross all hard zeros */
    gbsi_plan *plan;
    gbsi_schedule schedule;
    const gbsi_pass *pass; /* that runs it */
    gbsi_pool *pool;       /* NULL until memory is taken */
    gbsi_own_chains own;
    const gbsi_turns
        *turns; /* of a scan of blocks where ranks share the model; borrowed, or NULL */
    gbsi_executor executor;
    gbsi_lattice *lattice;   /* sites in bits, or NULL */
    gbsi_packed *packed;     /* chains in bits, or NULL */
    const gbsi_spins *spins; /* of either, or NULL */
    gbsi_levels *levels;     /* a picture of levels, or NULL */
    gbsi_starter *starter;   /* with restarts: ... */
    uint32_t *fresh;         /* ... [part variables] a start */
} gbsi_engine;

/* Whether chains run in a special form (spins in bits, or levels of a picture), without a plan. */
static inline bool gbsi_engine_has_form(const gbsi_engine *engine)
{
    return engine->spins != NULL || engine->levels != NULL;
}

/* The kind of pass that runs a scan. */
const gbsi_pass *gbsi_pass_of(int scan_kind);

/* The setting of the engine's chains. @param draw_room bytes that the draw may take. */
gbsi_executor_setting gbsi_engine_setting(const gbsi_engine *engine, const gbs_run_options *options,
                                          uint64_t draw_room);

/* Whether chains keep the sums of their conditionals themselves, see gbsi_held: so for sites in
 * bits. */
bool gbsi_engine_holds(const gbsi_engine *engine, const gbs_run_options *options);
/* The slot of a variable of the part in the estimates; UINT32_MAX: its errors are not watched. */
uint32_t gbsi_engine_slot(const gbsi_engine *engine, const gbs_run_options *options, uint32_t v);

void gbsi_engine_free(gbsi_engine *engine); /* what it owns, not the struct */

#endif
