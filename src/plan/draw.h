/* SPDX-License-Identifier: Apache-2.0 */
/* How a value is picked from a conditional: one file per rule in src/draw/. */
#ifndef GBSI_PLAN_DRAW_H
#define GBSI_PLAN_DRAW_H

#include "gibbsite/run.h"
#include "graph/graph.h"
#include "plan/tile.h"
#include "simd/dispatch.h"

struct gbsi_plan;

/* Traits: what a rule promises or asks for; unmet ones are refused before the run. */
#define GBSI_DRAW_EXACT    1u /* leaves the target invariant */
#define GBSI_DRAW_CONTEXT  2u /* needs tile.code */
#define GBSI_DRAW_POSITION 4u /* needs the place's position in the sequence */

typedef struct gbsi_draw {
    const char *name;      /* used by command line, Python and files; never changes */
    const char *reference; /* where the rule is written down */
    unsigned traits;
    unsigned n_words; /* random words per update, 0 or 1 */
    gbs_status (*extra_edges)(const gbsi_graph *graph, const gbs_run_options *options,
                              gbsi_edges *edges, gbs_error *err);
    gbs_status (*bytes)(const struct gbsi_plan *plan, const gbs_run_options *options, size_t *n,
                        gbs_error *err);
    gbs_status (*init)(const struct gbsi_plan *plan, const gbs_run_options *options, void **state,
                       gbs_error *err);
    gbs_status (*begin_pass)(void *state, uint64_t pass, gbs_error *err); /* tables grow here */
    void (*binary)(void *state, gbsi_tile *tile);      /* odds or their logs in, values out */
    void (*categorical)(void *state, gbsi_tile *tile); /* weights or their logs in, values out */
    void (*free)(void *state);
} gbsi_draw; /* NULL where a rule has nothing to do */

/* The draw of gbs_run_options.draw on an instruction set; NULL if there is none. */
const gbsi_draw *gbsi_draw_of(int draw_kind, gbsi_simd level);

#endif
