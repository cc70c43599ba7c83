/* SPDX-License-Identifier: Apache-2.0 */
/* How often adaptive splashes update each pixel of a noisy picture (Gonzalez et al. 2011, figure
 * 4), beside splashes that grow at random; splashes that share a picture (figure 2) and their
 * junction trees (figure 3). */
#ifndef LAB_UPDATE_COUNTS_H
#define LAB_UPDATE_COUNTS_H

#include "lab/curves.h"
#include "lab/splash_trees.h"

/* Counts over rounds [first, last) of a run. */
typedef struct lab_tally {
    uint32_t n;
    uint64_t first, last;
    uint32_t *updates; /* [n] of each pixel */
    uint32_t *owner;   /* [n] splash of the last of these rounds, from 1 on; 0: none */
    uint32_t *place;   /* [n] order in which its splash took the variable, from 0 on */
    uint32_t *state;   /* [n] final states of the chain */
    double edge; /* mean updates of the pixels beside a pixel of another state, divided by the mean
                    of all other pixels */
} lab_tally;

typedef struct lab_update_counts {
    uint32_t side;
    gbs_image noisy;
    lab_tally fifo, coupled; /* tallies of one round in which as many splashes grow as fit */
    lab_tally random, adaptive;
    lab_splash_tree first_come, by_coupling; /* of the largest splash of each */
    uint32_t n_splashes;                     /* of both rounds */
    uint32_t touching;                       /* neighbouring pixels of different splashes */
    uint32_t widest, differ;                 /* of all trees */
} lab_update_counts;

double lab_update_counts_updates(const laboratory *lab);
/* @param out zero before; free in any case. */
gbs_status lab_update_counts_run(laboratory *lab, lab_update_counts *out, gbs_error *err);
void lab_update_counts_free(lab_update_counts *adapted);
/* updates.csv, pictures.svg and trees.svg. lab_update_counts_run() writes tree.csv. */
gbs_status lab_update_counts_draw(const laboratory *lab, const lab_update_counts *adapted,
                                  gbs_error *err);
void lab_update_counts_judge(laboratory *lab, const lab_update_counts *adapted);

#endif
