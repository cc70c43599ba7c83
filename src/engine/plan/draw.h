/* SPDX-License-Identifier: Apache-2.0 */
/* Draws: rules by which a value is picked from a conditional, one file per rule in
 * src/engine/draw/. */
#ifndef GBSI_PLAN_DRAW_H
#define GBSI_PLAN_DRAW_H

#include "base/weave.h"
#include "gibbsite/run.h"
#include "graph/graph.h"
#include "plan/tile.h"
#include "simd/dispatch.h"

struct gbsi_plan;
struct gbsi_group;
struct gbsi_schedule;

/* Traits: properties that a rule has or requires; a run that does not meet a requirement is
 * refused. */
#define GBSI_DRAW_EXACT    1u /* leaves the target invariant */
#define GBSI_DRAW_CONTEXT  2u /* reads the neighbours' states: tile.state */
#define GBSI_DRAW_POSITION 4u /* needs the place's position in the sequence */
#define GBSI_DRAW_TABLED                                                           \
    8u /* looks up every conditional by its context: no kernel runs, and tile.w is \
          only room for p */
#define GBSI_DRAW_INDEPENDENT                                                        \
    16u                          /* independent random numbers for every update: all \
                                    theorems on Gibbs sampling hold, and blocks of   \
                                    variables may be drawn together */
#define GBSI_DRAW_HEATS     32u  /* follows inverse temperatures: tile.beta */
#define GBSI_DRAW_THRESHOLD 64u  /* uses options.threshold, which a search may find */
#define GBSI_DRAW_ROUNDS    128u /* rounds p at random to a multiple of 1 / bins */
#define GBSI_DRAW_HERDS     256u /* keeps weights between updates; with CONTEXT, by neighbours */

/* The inputs from which a draw is made. All pointers are borrowed for the life of the draw. */
typedef struct gbsi_draw_job {
    const struct gbsi_plan *plan;
    const gbs_run_options *options;
    unsigned traits;          /* of the draw */
    uint32_t lanes, n_groups; /* chains are in groups of lanes: states are [group][slot][lane] */
    uint32_t first_chain;     /* the number of the first chain of group 0 */
    uint64_t room;            /* bytes that it may take in all, later growth included */
    const struct gbsi_surroundings *around; /* surroundings of the plan, needed by bytes(); NULL:
                                               computed if needed */
} gbsi_draw_job;

#define GBSI_WARNING_SIZE 256

typedef struct gbsi_draw {
    const char *name;      /* used by command line, Python and files; never changes */
    const char *reference; /* the publication that describes the rule */
    unsigned traits;
    unsigned n_words; /* random words per update, 0 or 1 */
    /* Names of the options that this draw has and not all others; NULL after the last, NULL: none.
     * A draw without these functions is refused where they are needed. */
    const char *const *options;
    /* The rule to use with keys that do not determine the conditional; NULL: this one. */
    const struct gbsi_draw *by_bins;
    /* Sets options that were left open and that this rule decides; GBS_ERR_ARGUMENT for options
     * that it does not support. @param warning [GBSI_WARNING_SIZE] "" on entry, for the user. */
    gbs_status (*settle)(gbs_run_options *options, char *warning, gbs_error *err);
    /* Pairs of variables that must not be in the same batch although they share no factor. */
    gbs_status (*extra_edges)(const gbsi_conditioned *model, const gbs_run_options *options,
                              gbsi_edges *edges, gbs_error *err);
    /* An upper bound on the bytes that init and all passes of the run take. */
    gbs_status (*bytes)(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
    gbs_status (*init)(const gbsi_draw_job *job, void **state, gbs_error *err);
    /* Grows tables, so that there is room for every key that the pass can add.
     * @param group [n_groups], with the states before the pass. */
    gbs_status (*begin_pass)(void *state, const struct gbsi_schedule *schedule,
                             const struct gbsi_group *group, uint64_t pass, gbs_error *err);
    /* For passes without a schedule: makes room for one more update of the slot in all chains. */
    gbs_status (*expect)(void *state, uint32_t slot, gbs_error *err);
    void (*binary)(void *state, gbsi_tile *tile);      /* odds or log-odds in, values out */
    void (*categorical)(void *state, gbsi_tile *tile); /* weights or log-weights in, values out */
    /* The draw to advise if n_weights per variable are too many for the sweeps; NULL, or -1: the
     * random draw. */
    int (*advise)(const gbs_run_options *options, uint32_t n_slots, double n_weights);
    /* The number of herding weights of one chain (in hashed tables, the number so far); NULL: there
     * are none. */
    double (*n_weights)(const void *state);
    gbs_status (*save)(const void *state, const gbsi_sink *sink, gbs_error *err);
    gbs_status (*load)(void *state, const gbsi_source *source, gbs_error *err);
    /* save() writes group after group; this skips the data of a group that belongs to another
     * process. */
    gbs_status (*skip)(const void *state, const gbsi_source *source, gbs_error *err);
    /* save() and load() if slots are divided among ranks, by gbsi_weave_rows(). */
    gbs_status (*weave)(void *state, const gbsi_weave *weave, const gbsi_sink *sink,
                        const gbsi_source *source, gbs_error *err);
    void (*free)(void *state);
} gbsi_draw; /* a function is NULL if the rule does not need it */

/* GBS_ERR_ARGUMENT, with the reason, if the draw does not support the herding options. */
gbs_status gbsi_draw_check(const gbs_run_options *options, gbs_error *err);

/* Whether every joint state of all other variables has its own herding weight. */
bool gbsi_draw_completes(const gbs_run_options *options);

/* The draw that the options ask for (they were checked), on an instruction set. */
const gbsi_draw *gbsi_draw_of(const gbs_run_options *options, gbsi_simd level);
/* The traits of options.draw; 0 if no draw has that number. */
unsigned gbsi_draw_traits(const gbs_run_options *options);
/* The number of the first draw with these traits. */
int gbsi_draw_with(unsigned traits);
/* gbsi_draw.options of a draw. @param draw_kind number of a row of draws.def. */
const char *const *gbsi_draw_options(int draw_kind);
/* gbsi_draw_takes_herding() of a draw. @param name name of the draw, for the message. */
gbs_status gbsi_draw_check_herding(const gbsi_draw *draw, const char *name, const char *option,
                                   gbs_error *err);
/* The options with another draw, and with defaults for all options that only some draws have. */
gbs_run_options gbsi_draw_instead(const gbs_run_options *options, int draw_kind);

/* Values that herding uses: the number of bins (0 for draws without bins), and the number of passes
 * that it expects from the options. */
uint32_t gbsi_draw_bins(const gbs_run_options *options, uint32_t n_slots);
uint64_t gbsi_draw_passes(const gbs_run_options *options, uint32_t n_slots);

/* The name of a value of options.draw; NULL beyond the last. */
const char *gbsi_draw_name(int draw_kind);

#endif
