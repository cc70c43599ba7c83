/* SPDX-License-Identifier: Apache-2.0 */
/* A draw, in this file, is a drawing method: a rule that picks a value from a conditional. Each
 * rule has one file in src/engine/draw/. */
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

/* Traits of a draw, which are properties that the draw has or requires. A run that does not meet a
 * requirement is refused. */
#define GBSI_DRAW_EXACT    1u /* leaves the target invariant */
#define GBSI_DRAW_CONTEXT  2u /* reads the neighbours' states: tile.state */
#define GBSI_DRAW_POSITION 4u /* needs the place's position in the sequence */
/* Finds every conditional in a table by its context. No kernel runs, and tile.w is only used as
 * room for p */
#define GBSI_DRAW_TABLED 8u
/* Uses independent random numbers for every update: all theorems on Gibbs sampling hold, and
 * blocks of variables may be drawn together */
#define GBSI_DRAW_INDEPENDENT 16u
#define GBSI_DRAW_HEATS       32u /* applies inverse temperatures, tile.beta */
#define GBSI_DRAW_THRESHOLD   64u /* uses options.threshold, which a search by trial runs may set */
#define GBSI_DRAW_ROUNDS      128u /* rounds p at random to a multiple of 1 / bins */
/* Keeps weights between updates. A draw that also has GBSI_DRAW_CONTEXT keeps a weight for each
 * joint state of the neighbours */
#define GBSI_DRAW_HERDS 256u

/* The inputs from which a draw is made. All pointers are borrowed until the draw is freed. */
typedef struct gbsi_draw_job {
    const struct gbsi_plan *plan;
    const gbs_run_options *options;
    unsigned traits;          /* traits of the draw */
    uint32_t lanes, n_groups; /* number of chains of a group, and number of groups; states are
                                 stored as [group][slot][lane] */
    uint32_t first_chain;     /* the number of the first chain of group 0 */
    uint64_t room;            /* limit on the bytes of the draw, including later growth */
    const struct gbsi_surroundings *around; /* factors and neighbours of the plan's slots, which
                                               bytes() may need; if NULL, bytes() finds them */
} gbsi_draw_job;

#define GBSI_WARNING_SIZE 256

typedef struct gbsi_draw {
    const char *name;      /* name of the draw in the command line, in Python and in files; the name
                              never changes */
    const char *reference; /* the publication that describes the rule */
    unsigned traits;
    unsigned n_words; /* random words per update, 0 or 1 */
    /* Names of the options that apply to this draw but not to all other draws, followed by NULL.
     * The pointer is NULL if there are no such options. */
    const char *const *options;
    /* The rule for keys that do not determine the conditional; NULL if this rule serves these
     * keys as well. */
    const struct gbsi_draw *by_bins;
    /* Sets the options that the user left open and that this draw must decide. Returns
     * GBS_ERR_ARGUMENT for options that the rule does not support. @param warning
     * [GBSI_WARNING_SIZE] "" on entry; out: a warning for the user. */
    gbs_status (*settle)(gbs_run_options *options, char *warning, gbs_error *err);
    /* Lists pairs of variables that must not be updated in the same batch although they share no
     * factor. */
    gbs_status (*extra_edges)(const gbsi_conditioned *model, const gbs_run_options *options,
                              gbsi_edges *edges, gbs_error *err);
    /* Computes an upper bound on the bytes that init and all passes of the run take. */
    gbs_status (*bytes)(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
    gbs_status (*init)(const gbsi_draw_job *job, void **state, gbs_error *err);
    /* Grows the draw's tables, so that they have room for every key that the pass can add.
     * @param group [n_groups] groups with the states before the pass. */
    gbs_status (*begin_pass)(void *state, const struct gbsi_schedule *schedule,
                             const struct gbsi_group *group, uint64_t pass, gbs_error *err);
    /* Makes room in the draw's tables for one more update of the slot in all chains; used by passes
     * without a schedule. */
    gbs_status (*expect)(void *state, uint32_t slot, gbs_error *err);
    void (*binary)(void *state, gbsi_tile *tile); /* reads odds or log-odds, writes values */
    void (*categorical)(void *state,
                        gbsi_tile *tile); /* reads weights or log-weights, writes values */
    /* Returns the number of the draw that a message must recommend if n_weights per variable are
     * too many for the number of sweeps. The random draw is recommended if the result is -1 or the
     * function is NULL. */
    int (*advise)(const gbs_run_options *options, uint32_t n_slots, double n_weights);
    /* Returns the number of herding weights of one chain; for hashed tables, the number of
     * weights so far. The pointer is NULL if the draw has no weights. */
    double (*n_weights)(const void *state);
    gbs_status (*save)(const void *state, const gbsi_sink *sink, gbs_error *err);
    gbs_status (*load)(void *state, const gbsi_source *source, gbs_error *err);
    /* Skips the saved data of one group, because it belongs to another process. save() writes group
     * after group. */
    gbs_status (*skip)(const void *state, const gbsi_source *source, gbs_error *err);
    /* Replaces save() and load() if slots are divided among ranks; uses gbsi_weave_rows(). */
    gbs_status (*weave)(void *state, const gbsi_weave *weave, const gbsi_sink *sink,
                        const gbsi_source *source, gbs_error *err);
    void (*free)(void *state);
} gbsi_draw; /* functions that the rule does not need are NULL */

/* Returns GBS_ERR_ARGUMENT, with the reason, if the draw does not support the herding options. */
gbs_status gbsi_draw_check(const gbs_run_options *options, gbs_error *err);

/* Whether every joint state of all other variables has its own herding weight. */
bool gbsi_draw_completes(const gbs_run_options *options);

/* Returns the draw that the options name, for an instruction set. The options must have been
 * checked. */
const gbsi_draw *gbsi_draw_of(const gbs_run_options *options, gbsi_simd level);
/* Returns the traits of options.draw; 0 if no draw has this number. */
unsigned gbsi_draw_traits(const gbs_run_options *options);
/* Returns the number of the first draw with these traits. */
int gbsi_draw_with(unsigned traits);
/* Returns the member `options` of a draw. @param draw_kind number of a row of draws.def. */
const char *const *gbsi_draw_options(int draw_kind);
/* Does the work of gbsi_draw_takes_herding() for a given draw. @param name name of the draw, for
 * the message. */
gbs_status gbsi_draw_check_herding(const gbsi_draw *draw, const char *name, const char *option,
                                   gbs_error *err);
/* Returns the options with another draw, and with defaults for all options that only some draws
 * have. */
gbs_run_options gbsi_draw_instead(const gbs_run_options *options, int draw_kind);

/* gbsi_draw_bins() returns the number of bins of a draw that herds by bins; 0 for other draws.
 * gbsi_draw_passes() returns the number of passes that a run with these options is expected to
 * make. */
uint32_t gbsi_draw_bins(const gbs_run_options *options, uint32_t n_slots);
uint64_t gbsi_draw_passes(const gbs_run_options *options, uint32_t n_slots);

/* Returns the name of a value of options.draw; NULL if there is no such draw. */
const char *gbsi_draw_name(int draw_kind);

#endif
