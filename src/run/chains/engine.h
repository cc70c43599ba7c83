/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that make the draws: scan, plan, schedule, the pass that runs them, and its
 * chains. */
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
    const void *compiled; /* NULL: there is a plan */
    size_t n_places;
    uint32_t n_colors;
    uint64_t bytes;   /* bytes of the compiled model, with states and counters */
    uint64_t scratch; /* while compiling */
    double share;     /* share of bits that are in use */
} gbsi_form;

typedef struct gbsi_engine {
    const gbsi_scan *scan;
    void *scan_state;
    unsigned scan_traits;
    bool named;     /* the user named the scan */
    bool undecided; /* true until a pilot has chosen the scan; memory is taken then */
    bool by_need;   /* only if updates of single variables were not shown to cross all hard zeros */
    gbsi_plan *plan;
    gbsi_schedule schedule;
    const gbsi_pass *pass;    /* that runs it */
    gbsi_form_kind form_kind; /* the form of the chains, chosen before a form or a plan is made */
    uint32_t n_components;    /* number of components of its spins */
    gbsi_form form;
    gbsi_pool *pool; /* NULL until memory is taken */
    gbsi_own_chains own;
    const gbsi_turns *turns; /* turns of a scan of blocks if ranks share the model; borrowed, or
                                NULL */
    gbsi_executor executor;
    gbsi_lattice *lattice;   /* sites in bits, or NULL */
    gbsi_packed *packed;     /* chains in bits, or NULL */
    const gbsi_spins *spins; /* of either, or NULL */
    gbsi_levels *levels;     /* a picture of levels, or NULL */
    gbsi_starter *starter;   /* with restarts */
    uint32_t *fresh;         /* [part variables] a start, with restarts */
} gbsi_engine;

/* Chains run on the spins of a lattice, of which the engine has sites or chains in bits. */
void gbsi_engine_take_spins(gbsi_engine *engine, gbsi_form_kind kind, const gbsi_spins *spins);

/* The kind of pass that runs a scan. */
const gbsi_pass *gbsi_pass_of(int scan_kind);

/* The setting of the engine's chains. @param draw_room bytes that the draw may take. */
gbsi_executor_setting gbsi_engine_setting(const gbsi_engine *engine, const gbs_run_options *options,
                                          uint64_t draw_room);

void gbsi_engine_free(gbsi_engine *engine); /* frees the members, not the struct itself */

#endif
