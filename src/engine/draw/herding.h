/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of herding: a rule and a key scheme, which follow from the options once presets are
 * resolved. */
#ifndef GBSI_DRAW_HERDING_H
#define GBSI_DRAW_HERDING_H

#include <stdbool.h>

#include "plan/draw.h"

#define GBSI_MOST_THRESHOLD 1e9
#define GBSI_LEAST_TRIAL    256u /* least number of sweeps of trial runs that find a threshold */

typedef struct gbsi_herding {
    int keys;        /* gbs_keys_kind, but never GBS_KEYS_AUTO */
    bool post;       /* rule post: p is added before the decision */
    int init;        /* gbs_herd_init */
    bool left_edge;  /* bins are [b/B, (b+1)/B) instead of (b/B, (b+1)/B] */
    uint32_t n_bins; /* number of bins, for keys by bins; 1 if a variable has a single weight */
    /* for bins and more than two states: true if one vector of weights decides; false if one
     * state after another is decided */
    bool argmax;
    bool rounded; /* whether p is rounded at random to a multiple of 1/B */
    bool bounded; /* values are drawn at random if no weight exceeds the threshold */
    double threshold;
    int64_t bound; /* the threshold in units of 2^-32 */
} gbsi_herding;

/* The lists gbsi_draw.options of drawing methods that herd without a threshold, and with a
 * threshold. */
extern const char *const gbsi_herding_options[];
extern const char *const gbsi_bounded_options[];

/* ---- rows of draws.def (draw_rows.c) --------------------------------------------------------- */

/* Key scheme that the options name. GBS_KEYS_AUTO is replaced by the scheme in the row of
 * draws.def, which is GBS_KEYS_AUTO if the draw has no keys. */
int gbsi_herding_keys(const gbs_run_options *options);
/* Number of the first draw whose row has these keys. */
int gbsi_draw_keyed(int keys);
/* Number of rows of draws.def. */
int gbsi_n_draws(void);

/* ---- settings (herding.c) -------------------------------------------------------------------- */

/* Implements gbsi_draw.advise: returns the number of a drawing method with fewer weights, or -1. */
int gbsi_herding_advise(const gbs_run_options *options, uint32_t n_slots, double n_weights);

/* @param traits traits of the drawing method. @param n_slots number of slots, which determines the
 * number of bins if the options give neither bins nor sweeps. */
gbsi_herding gbsi_herding_of(const gbs_run_options *options, unsigned traits, uint32_t n_slots);

/* Whether, in this key scheme, equal keys imply equal conditionals. */
static inline bool gbsi_keys_decide(int keys)
{
    return keys != GBS_KEYS_BINS && keys != GBS_KEYS_ONE;
}

/* Whether draws by bins decide one state after another, with a phase for each, if a variable has
 * more than two states. */
static inline bool gbsi_herding_sticks(const gbsi_herding *how)
{
    return !how->argmax && !how->rounded && !how->bounded;
}

/* ---- rules (herding_rule.c) ------------------------------------------------------------------ */

/* Herding step of a vector of weights. Chooses, among the states of positive probability, the state
 * x with the largest weight; if several states have this weight, the first of them. Then w += p and
 * w_x -= 1. Bounded-error herding chooses x at random, by `word`, if no weight exceeds the
 * threshold.
 * @return x, or k if no state has a positive probability. */
uint32_t gbsi_herd_vector(const gbsi_herding *how, const double *p, double *w, uint32_t k,
                          uint32_t word);
/* Value of a variable of two states in bounded-error herding: the weight w decides if w is
 * beyond the bound, otherwise the random word decides. @param w in units of 2^-32. */
uint32_t gbsi_bounded_value(const gbsi_herding *how, int64_t w, uint32_t chance, uint32_t word);
/* Updates a phase in bounded-error herding and returns the value. The weight may leave the interval
 * of herding, so that `turns` counts the whole turns of the phase. */
uint32_t gbsi_bounded_phase(const gbsi_herding *how, uint32_t chance, uint32_t word,
                            uint32_t *phase, uint32_t *turns);

#endif
