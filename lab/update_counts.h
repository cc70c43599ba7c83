/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how often adaptive splashes update each pixel of a noisy picture (Gonzalez et al. 2011,
 * figure 4), in comparison with splashes that grow at random. Also grows splashes that fill a
 * picture (figure 2), and their junction trees (figure 3). */
#ifndef LAB_UPDATE_COUNTS_H
#define LAB_UPDATE_COUNTS_H

#include "lab/curves.h"
#include "lab/splash_trees.h"

/* Counts over rounds [first, last) of a run. */
typedef struct lab_tally {
    uint32_t n;
    uint64_t first, last;
    uint32_t *updates; /* [n] number of updates of each pixel */
    uint32_t *early;   /* [n] number of updates of each pixel in the first rounds of the run */
    /* [n] number of the splash that took the pixel in the last of these rounds, from 1 on; 0 if no
     * splash took the pixel */
    uint32_t *owner;
    uint32_t *place; /* [n] position of the pixel in the order of its splash, from 0 on */
    uint32_t *state; /* [n] final states of the chain */
    /* mean number of updates of pixels next to a pixel of another state, divided by the mean number
     * of updates of all other pixels */
    double edge;
    double early_edge; /* the same of the updates in the first rounds */
} lab_tally;

typedef struct lab_update_counts {
    uint32_t side;
    gbs_image noisy;
    /* counts over one round in which splashes grow until they fill the picture */
    lab_tally fifo, coupled;
    lab_tally random, adaptive;
    lab_splash_tree first_come,
        by_coupling;     /* tree of the largest splash in each of these rounds */
    uint32_t n_splashes; /* number of splashes of the two rounds */
    /* number of pairs of neighbouring pixels that belong to different splashes */
    uint32_t touching;
    uint32_t widest, differ; /* maxima of the fields of lab_splash_tree over all trees */
} lab_update_counts;

double lab_update_counts_updates(const laboratory *lab);
/* @param out must be zero before, and must be freed in any case. */
gbs_status lab_update_counts_run(laboratory *lab, lab_update_counts *out, gbs_error *err);
void lab_update_counts_free(lab_update_counts *adapted);
/* Writes updates.csv, pictures.svg and trees.svg. lab_update_counts_run() writes tree.csv. */
gbs_status lab_update_counts_draw(const laboratory *lab, const lab_update_counts *adapted,
                                  gbs_error *err);
void lab_update_counts_judge(laboratory *lab, const lab_update_counts *adapted);

#endif
