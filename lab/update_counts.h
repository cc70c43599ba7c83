/* SPDX-License-Identifier: Apache-2.0 */
/* How often adaptive splashes update each pixel of a noisy picture (Gonzalez et al. 2011, figure
 * 4), beside splashes that grow at random. */
#ifndef GBSI_LAB_UPDATE_COUNTS_H
#define GBSI_LAB_UPDATE_COUNTS_H

#include "lab/curves.h"

#define GBSI_LEAST_SHOWN 1e-6 /* distance in charts */

/* Of rounds [first, last) of a run. */
typedef struct gbsi_tally {
    uint32_t n;
    uint64_t first, last;
    uint32_t *updates; /* [n] of each pixel */
    uint32_t *owner;   /* [n] splash of the last of these rounds, from 1 on; 0: none */
    uint32_t *state;   /* [n] of the chain, when they were over */
    double edge;       /* mean updates of pixels beside one of another state, over the mean of the
                          others */
} gbsi_tally;

typedef struct gbsi_adapted {
    uint32_t side;
    gbs_image noisy;
    gbsi_tally fifo, random, adaptive;
} gbsi_adapted;

double gbsi_adapted_updates(const gbsi_lab *lab);
/* @param out zero before; free in any case. */
gbs_status gbsi_adapted_run(gbsi_lab *lab, gbsi_adapted *out, gbs_error *err);
void gbsi_adapted_free(gbsi_adapted *adapted);
/* updates.csv and pictures.svg. */
gbs_status gbsi_adapted_draw(const gbsi_lab *lab, const gbsi_adapted *adapted, gbs_error *err);
void gbsi_adapted_judge(gbsi_lab *lab, const gbsi_adapted *adapted);

#endif
