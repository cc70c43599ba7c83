/* SPDX-License-Identifier: Apache-2.0 */
/* How a value is picked from a conditional: one file per rule in src/draw/. */
#ifndef GBSI_PLAN_DRAW_H
#define GBSI_PLAN_DRAW_H

#include "base/saved.h"
#include "gibbsite/run.h"
#include "graph/graph.h"
#include "plan/tile.h"
#include "simd/dispatch.h"

struct gbsi_plan;
struct gbsi_group;
struct gbsi_schedule;

/* Traits: what a rule promises or asks for; unmet ones are refused before the run. */
#define GBSI_DRAW_EXACT    1u /* leaves the target invariant */
#define GBSI_DRAW_CONTEXT  2u /* reads the neighbours' states: tile.state */
#define GBSI_DRAW_POSITION 4u /* needs the place's position in the sequence */
#define GBSI_DRAW_TABLED                                                       \
    8u /* knows every conditional by its context: no kernel is asked, and w is \
          only room for p */
#define GBSI_DRAW_INDEPENDENT                                                                 \
    16u                         /* numbers of its own for every update: all that is proved of \
                                   Gibbs sampling holds, and values may be drawn in blocks */
#define GBSI_DRAW_HEATS     32u /* follows inverse temperatures: tile.beta */
#define GBSI_DRAW_THRESHOLD 64u /* has options.threshold, which a search may find */

/* What a draw is made for. All borrowed for its life. */
typedef struct gbsi_draw_job {
    const struct gbsi_plan *plan;
    const gbs_run_options *options;
    uint32_t lanes, n_groups; /* of chains: states are [group][slot][lane] */
    uint64_t room;            /* bytes it may take in all, what it grows by included */
    const struct gbsi_surroundings *around; /* of the plan, for bytes(); NULL: found when needed */
} gbsi_draw_job;

#define GBSI_WARNING_SIZE 256

typedef struct gbsi_draw {
    const char *name;      /* used by command line, Python and files; never changes */
    const char *reference; /* where the rule is written down */
    unsigned traits;
    unsigned n_words; /* random words per update, 0 or 1 */
    /* Options that were left open and are this rule's to decide; GBS_ERR_ARGUMENT for what it
     * cannot do. @param warning [GBSI_WARNING_SIZE] "" on entry, what the user should know. */
    gbs_status (*settle)(gbs_run_options *options, char *warning, gbs_error *err);
    /* Pairs of variables whose updates must not meet beyond what factors say. */
    gbs_status (*extra_edges)(const gbsi_conditioned *model, const gbs_run_options *options,
                              gbsi_edges *edges, gbs_error *err);
    /* At most what init and all passes of the options will take. */
    gbs_status (*bytes)(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
    gbs_status (*init)(const gbsi_draw_job *job, void **state, gbs_error *err);
    /* Tables grow here, with room for every key that the pass can add.
     * @param group [n_groups], states as they are before the pass. */
    gbs_status (*begin_pass)(void *state, const struct gbsi_schedule *schedule,
                             const struct gbsi_group *group, uint64_t pass, gbs_error *err);
    /* Where there is no schedule: room for one more update of the slot in all chains. */
    gbs_status (*expect)(void *state, uint32_t slot, gbs_error *err);
    void (*binary)(void *state, gbsi_tile *tile);      /* odds or their logs in, values out */
    void (*categorical)(void *state, gbsi_tile *tile); /* weights or their logs in, values out */
    /* The draw to take instead where n_weights of a variable are too many for the sweeps; NULL: the
     * independent one. */
    int (*advise)(const gbs_run_options *options, uint32_t n_slots, double n_weights);
    /* Herding weights of one chain, those that hashed tables have met by now; NULL: none. */
    double (*n_weights)(const void *state);
    gbs_status (*save)(const void *state, const gbsi_sink *sink, gbs_error *err);
    gbs_status (*load)(void *state, const gbsi_source *source, gbs_error *err);
    void (*free)(void *state);
} gbsi_draw; /* NULL where a rule has nothing to do */

/* Legal herding options for the draw, or GBS_ERR_ARGUMENT with the reason. */
gbs_status gbsi_draw_check(const gbs_run_options *options, gbs_error *err);

/* Whether every weight is told apart by the state of all other variables. */
bool gbsi_draw_completes(const gbs_run_options *options);

/* The draw that the options ask for (they were checked), on an instruction set. */
const gbsi_draw *gbsi_draw_of(const gbs_run_options *options, gbsi_simd level);
/* Its traits; 0 where there is no such draw. */
unsigned gbsi_draw_traits(const gbs_run_options *options);
/* The number of the first draw with these traits. */
int gbsi_draw_with(unsigned traits);
/* The options with another draw: those that draws alone have are at their defaults. */
gbs_run_options gbsi_draw_instead(const gbs_run_options *options, int draw_kind);

/* What herding takes where options leave it open: bins of a draw that has any, else 0, and the
 * passes that the options come to. */
uint32_t gbsi_draw_bins(const gbs_run_options *options, uint32_t n_slots);
uint64_t gbsi_draw_passes(const gbs_run_options *options, uint32_t n_slots);

/* The names that options.draw may have, and what of them leaves the target invariant; NULL beyond
 * the last. */
const char *gbsi_draw_name(int draw_kind);

#endif
