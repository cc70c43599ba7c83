/* SPDX-License-Identifier: Apache-2.0 */
/* The small spin models of Yamashita & Suzuki (2019): eight or nine spins, on a ring or all
 * coupled, with uniform couplings and fields. The fields and couplings of the authors' models are
 * read from a folder of data. Without a folder, fields and couplings with the paper's distribution
 * are drawn from the seed. */
#ifndef LAB_SMALL_SPIN_MODELS_H
#define LAB_SMALL_SPIN_MODELS_H

#include "lab/decomposition.h"
#include "lab/lab.h"

typedef struct lab_small_model {
    const char *name;
    const char *file; /* name of the file in a folder of data; NULL if the model is always drawn */
    bool complete;    /* 1 if all spins are coupled; 0 if the spins form a ring */
    uint32_t n;
    double low, high; /* range of fields and couplings */
} lab_small_model;

#define LAB_SOURCE_TEXT 160

extern const lab_small_model lab_ring_positive; /* fields and couplings in the range [0, 1] */
extern const lab_small_model lab_ring_mixed;    /* fields and couplings in the range [-1, 1] */
/* fields and couplings in the ranges [0, 0.1] and [0, 0.5] */
extern const lab_small_model lab_complete_weak, lab_complete_strong;
extern const lab_small_model lab_complete_mixed; /* fields and couplings in the range [-0.5, 0.5] */

gbs_status lab_small_model_draw(const lab_small_model *which, uint64_t seed, gbs_model **model,
                                gbs_error *err);
/* Reads the model if there is a folder of data; otherwise draws it from the laboratory's seed. */
gbs_status lab_small_model_make(const laboratory *lab, const lab_small_model *which,
                                gbs_model **model, gbs_error *err);
/* Makes a model for which the estimated limit of D cor of the last variable is 0.004 or more, as
 * for the models of the paper. The model is the first such model drawn from the seed or from the
 * seeds after it. A model of the folder is taken unchanged.
 * @param seed out: seed of the model. @param model, limit out; must be zero before, and must be
 * freed in any case. */
gbs_status lab_correlated_model(const laboratory *lab, const lab_small_model *which, uint64_t *seed,
                                gbs_model **model, lab_asymptotic *limit, gbs_error *err);
/* Source of a model for subtitles and notes: "drawn from seed 1", or the name of the file. @param
 * text [LAB_SOURCE_TEXT]. */
const char *lab_small_model_source(const laboratory *lab, const lab_small_model *which, char *text);

#endif
