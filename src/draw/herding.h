/* SPDX-License-Identifier: Apache-2.0 */
/* Herding is rule x key scheme: what the options, presets resolved, come to. */
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
    bool argmax;     /* by bins, more than two states: a vector, else one after another */
    bool rounded;    /* p is rounded at random to a multiple of 1/B */
    bool bounded;    /* at random where no weight exceeds the threshold */
    double threshold;
    int64_t bound; /* the same in units of 2^-32 */
} gbsi_herding;

/* The key scheme of the options; AUTO by the draw, GBS_KEYS_AUTO where it has none. */
int gbsi_herding_keys(const gbs_run_options *options);

/* gbsi_draw.advise: a draw with fewer weights. */
int gbsi_herding_advise(const gbs_run_options *options, uint32_t n_slots, double n_weights);

/* @param n_slots decides the bins where neither they nor the sweeps are given. */
gbsi_herding gbsi_herding_of(const gbs_run_options *options, uint32_t n_slots);

/* Whether the conditional is the same whenever the key is. */
static inline bool gbsi_keys_decide(int keys)
{
    return keys != GBS_KEYS_BINS && keys != GBS_KEYS_ONE;
}

#endif
