/* SPDX-License-Identifier: Apache-2.0 */
/* The small spin models of Yamashita & Suzuki (2019): eight or nine spins on a ring or all coupled,
 * couplings and fields uniform. The authors' own numbers are read from a folder of data; without
 * one, numbers of the same law are drawn from the seed. */
#ifndef LAB_SMALL_SPIN_MODELS_H
#define LAB_SMALL_SPIN_MODELS_H

#include "lab/decomposition.h"
#include "lab/lab.h"

typedef struct lab_small_model {
    const char *name;
    const char *file; /* in a folder of data; NULL: always drawn */
    bool complete;    /* all coupled; else a ring */
    uint32_t n;
    double low, high; /* of fields and couplings */
} lab_small_model;

#define LAB_SOURCE_TEXT 160

extern const lab_small_model lab_ring_positive;                      /* all in [0, 1] */
extern const lab_small_model lab_ring_mixed;                         /* [-1, 1] */
extern const lab_small_model lab_complete_weak, lab_complete_strong; /* [0, 0.1], [0, 0.5] */
extern const lab_small_model lab_complete_mixed;                     /* [-0.5, 0.5] */

gbs_status lab_small_model_draw(const lab_small_model *which, uint64_t seed, gbs_model **model,
                                gbs_error *err);
/* Read if there is a folder of data, else drawn from the laboratory's seed. */
gbs_status lab_small_model_make(const laboratory *lab, const lab_small_model *which,
                                gbs_model **model, gbs_error *err);
/* A model for which D cor, with its last variable herded, is estimated to tend to 0.004 or more,
 * like the models of the paper. It is the first such model that is drawn from the seed or from one
 * of the seeds after it. A model of the folder is taken as it is.
 * @param seed out. @param model, limit out, zero before; free in any case. */
gbs_status lab_correlated_model(const laboratory *lab, const lab_small_model *which, uint64_t *seed,
                                gbs_model **model, lab_asymptotic *limit, gbs_error *err);
/* "drawn from seed 1", or the file: for subtitles and notes. @param text [LAB_SOURCE_TEXT]. */
const char *lab_small_model_source(const laboratory *lab, const lab_small_model *which, char *text);

#endif
