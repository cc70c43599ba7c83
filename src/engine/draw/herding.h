/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of herding, a rule and a key scheme, that follow from the options once presets are
 * resolved. */
#ifndef GBSI_DRAW_HERDING_H
#define GBSI_DRAW_HERDING_H

#include <stdbool.h>

#include "plan/draw.h"

#define GBSI_MOST_THRESHOLD 1e9
#define GBSI_LEAST_TRIAL    256u /* sweeps of the runs that find a threshold */

typedef struct gbsi_herding {
    int keys;        /* gbs_keys_kind, never AUTO */
    bool post;       /* add p before deciding */
    int init;        /* gbs_herd_init */
    bool left_edge;  /* bins are [b/B, (b+1)/B) */
    uint32_t n_bins; /* keys bins; 1 for one */
    bool argmax;     /* for bins and more than two states: one vector of weights; otherwise one
                        state after another */
    bool rounded;    /* p is rounded at random to a multiple of 1/B */
    bool bounded;    /* draw at random if no weight exceeds the threshold */
    double threshold;
    int64_t bound; /* the threshold in units of 2^-32 */
} gbsi_herding;

/* gbsi_draw.options of herding, and of herding with a threshold. */
extern const char *const gbsi_herding_options[];
extern const char *const gbsi_bounded_options[];

/* ---- rows of draws.def (draw_rows.c) --------------------------------------------------------- */

/* The key scheme of the options; for AUTO, the scheme in the row of draws.def, which is
 * GBS_KEYS_AUTO if the draw does not use keys. */
int gbsi_herding_keys(const gbs_run_options *options);
/* The number of the first draw whose row has these keys. */
int gbsi_draw_keyed(int keys);
/* The number of rows. */
int gbsi_n_draws(void);

/* ---- settings (herding.c) -------------------------------------------------------------------- */

/* gbsi_draw.advise: a draw with fewer weights, or -1. */
int gbsi_herding_advise(const gbs_run_options *options, uint32_t n_slots, double n_weights);

/* @param traits traits of the draw. @param n_slots decides the number of bins if neither bins nor
 * sweeps are given. */
gbsi_herding gbsi_herding_of(const gbs_run_options *options, unsigned traits, uint32_t n_slots);

/* Whether the conditional is the same whenever the key is. */
static inline bool gbsi_keys_decide(int keys)
{
    return keys != GBS_KEYS_BINS && keys != GBS_KEYS_ONE;
}

/* Whether draws by bins with more than two states decide one state after another, with a phase for
 * each. */
static inline bool gbsi_herding_sticks(const gbsi_herding *how)
{
    return !how->argmax && !how->rounded && !how->bounded;
}

/* ---- rules (herding_rule.c) ------------------------------------------------------------------ */

/* One herding step of a vector of weights: takes the state with the largest weight among the states
 * of positive probability, and the smallest of equal ones. Then w += p, w_x -= 1. BEG: at random,
 * by word, where no weight exceeds the threshold.
 * @return k: no state has any. */
uint32_t gbsi_herd_vector(const gbsi_herding *how, const double *p, double *w, uint32_t k,
                          uint32_t word);
/* The value by BEG for two states: decided by w if it is beyond the bound, else by the random word.
 * w in units of 2^-32. */
uint32_t gbsi_bounded_value(const gbsi_herding *how, int64_t w, uint32_t chance, uint32_t word);
/* A step of a phase whose weight may leave the interval of herding: whole turns are counted. */
uint32_t gbsi_bounded_phase(const gbsi_herding *how, uint32_t chance, uint32_t word,
                            uint32_t *phase, uint32_t *turns);

#endif
