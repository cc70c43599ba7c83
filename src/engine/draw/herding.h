/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of herding: a rule and a key scheme, which follow from the options once presets are
 * resolved. */
#ifndef GBSI_DRAW_HERDING_H
#define GBSI_DRAW_HERDING_H

#include <stdbool.h>

#include "plan/draw.h"

#define GBSI_MOST_THRESHOLD 1e9
#define GBSI_LEAST_TRIAL    256u /* fewest sweeps of the runs that find a threshold */

typedef struct gbsi_herding {
    int keys;        /* gbs_keys_kind, never GBS_KEYS_AUTO */
    bool post;       /* rule post: p is added before the decision */
    int init;        /* gbs_herd_init */
    bool left_edge;  /* bins are [b/B, (b+1)/B) instead of (b/B, (b+1)/B] */
    uint32_t n_bins; /* number of bins of keys by bins; 1 if there is one weight */
    /* for bins and more than two states: true if one vector of weights decides; false if one
     * state after another is decided */
    bool argmax;
    bool rounded; /* whether p is rounded at random to a multiple of 1/B */
    bool bounded; /* values are drawn at random if no weight exceeds the threshold */
    double threshold;
    int64_t bound; /* the threshold in units of 2^-32 */
} gbsi_herding;

/* gbsi_draw.options of herding without and with a threshold. */
extern const char *const gbsi_herding_options[];
extern const char *const gbsi_bounded_options[];

/* ---- rows of draws.def (draw_rows.c) --------------------------------------------------------- */

/* Key scheme of the options. GBS_KEYS_AUTO is replaced by the scheme in the row of draws.def, which
 * is GBS_KEYS_AUTO if the draw has no keys. */
int gbsi_herding_keys(const gbs_run_options *options);
/* Number of the first draw whose row has these keys. */
int gbsi_draw_keyed(int keys);
/* Number of rows of draws.def. */
int gbsi_n_draws(void);

/* ---- settings (herding.c) -------------------------------------------------------------------- */

/* gbsi_draw.advise: number of a draw with fewer weights, or -1. */
int gbsi_herding_advise(const gbs_run_options *options, uint32_t n_slots, double n_weights);

/* @param traits traits of the draw. @param n_slots number of slots, which determines the number of
 * bins if the options give neither bins nor sweeps. */
gbsi_herding gbsi_herding_of(const gbs_run_options *options, unsigned traits, uint32_t n_slots);

/* Whether equal keys imply equal conditionals. */
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

/* Herding step of a vector of weights. Among the states of positive probability, the state x with
 * the largest weight is chosen, and the first of several such states. Then w += p and w_x -= 1.
 * Bounded-error herding chooses x at random, by `word`, if no weight exceeds the threshold.
 * @return x, or k if no state has a positive probability. */
uint32_t gbsi_herd_vector(const gbsi_herding *how, const double *p, double *w, uint32_t k,
                          uint32_t word);
/* Value of a variable of two states in bounded-error herding: the weight w decides if w is
 * beyond the bound, otherwise the random word decides. @param w in units of 2^-32. */
uint32_t gbsi_bounded_value(const gbsi_herding *how, int64_t w, uint32_t chance, uint32_t word);
/* Step of a phase whose weight may leave the interval of herding; `turns` counts the whole turns.
 */
uint32_t gbsi_bounded_phase(const gbsi_herding *how, uint32_t chance, uint32_t word,
                            uint32_t *phase, uint32_t *turns);

#endif
