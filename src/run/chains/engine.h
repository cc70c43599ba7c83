/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that make the draws: the scan, the plan, the schedule, the functions that run a pass
 * of the schedule, and the chains. */
#ifndef GBSI_CHAINS_ENGINE_H
#define GBSI_CHAINS_ENGINE_H

#include "chains/executor.h"
#include "chains/runner.h"
#include "chains/start.h"
#include "lattice/lattice.h"
#include "lattice/packed.h"
#include "levels/levels.h"
#include "scan/scan.h"

/* A form of the model that replaces the plan: spins in bits, or levels of a picture. */
typedef struct gbsi_form {
    const gbsi_pass *pass;
    const void *compiled; /* compiled model of this form; NULL if the chains have a plan */
    size_t n_places;
    uint32_t n_colors;
    uint64_t bytes;   /* bytes of the compiled model, the states and the counters */
    uint64_t scratch; /* bytes of scratch memory while compiling */
    double share;     /* share of the bits of words that are in use */
} gbsi_form;

typedef struct gbsi_engine {
    const gbsi_scan *scan;
    void *scan_state;
    unsigned scan_traits;
    bool named;     /* whether the user named the scan */
    bool undecided; /* whether a pilot must still choose the scan; memory is taken after the pilot
                     */
    bool by_need;   /* whether this scan is used only if it is not proved that updates of single
                       variables cross all hard zeros */
    gbsi_plan *plan;
    gbsi_schedule schedule;
    const gbsi_pass *pass; /* the functions that run a pass of the scan */
    /* Form of the chains, chosen before a form or a plan is made. */
    gbsi_form_kind form_kind;
    uint32_t n_components; /* number of connected components of the spins */
    gbsi_form form;
    gbsi_pool *pool; /* NULL until memory is taken */
    gbsi_own_chains own;
    /* Turns of a scan of blocks if ranks share the model, else NULL; borrowed. */
    const gbsi_turns *turns;
    gbsi_executor executor;
    gbsi_lattice *lattice;   /* lattice whose sites are bits, or NULL */
    gbsi_packed *packed;     /* spins whose chains are bits, or NULL */
    const gbsi_spins *spins; /* the spins of `lattice` or `packed`, or NULL */
    gbsi_levels *levels;     /* a picture whose variables are levels, or NULL */
    gbsi_starter *starter;   /* draws the fresh starts of a run with restarts */
    uint32_t *fresh;         /* [part variables] fresh start of one chain, in a run with restarts */
} gbsi_engine;

/* Makes the chains run on the spins of engine->lattice or of engine->packed, as `kind` says. */
void gbsi_engine_take_spins(gbsi_engine *engine, gbsi_form_kind kind, const gbsi_spins *spins);

/* Returns the functions that run a pass of scans of this kind. */
const gbsi_pass *gbsi_pass_of(int scan_kind);

/* The setting from which the engine's chains are made. @param draw_room number of bytes that the
 * drawing method may take. */
gbsi_executor_setting gbsi_engine_setting(const gbsi_engine *engine, const gbs_run_options *options,
                                          uint64_t draw_room);

void gbsi_engine_free(gbsi_engine *engine); /* frees the members, not the struct itself */

#endif
