/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of two values, to which noise is added and from which it is removed: generated shapes,
 * or the pictures of a folder. */
#ifndef LAB_PICTURES_H
#define LAB_PICTURES_H

#include "gibbsite/generate.h"
#include "lab/contest.h"
#include "lab/plot.h"

typedef struct lab_picture {
    char name[64];
    uint32_t width, height;
    uint32_t *pixel; /* [height][width] 0 or 1, 1 is the shape */
} lab_picture;

typedef struct lab_pictures {
    size_t n;
    size_t n_pixels;      /* of all */
    lab_picture *picture; /* [n] */
} lab_pictures;

/* Reads the pictures in the lab's folder of data, in the order of their names (PNG and PNM; 1 if
 * bright). If quick, only the first ones, until they have side x side pixels together, and wider
 * ones are reduced to that side. Makes six shapes of side x side pixels if no folder is given.
 * @param pictures out, zero before; free in any case. */
gbs_status lab_pictures_make(const laboratory *lab, uint32_t side, lab_pictures *pictures,
                             gbs_error *err);
void lab_pictures_free(lab_pictures *pictures);
/* A note in the verdict, if pixels were left out. */
void lab_pictures_note(laboratory *lab);

/* Makes the model exp( coupling sum over neighbours of s s + sum of field s ), s = -1, +1.
 * @param field [height][width]. */
gbs_status lab_picture_model(const lab_picture *picture, double coupling, const double *field,
                             gbs_model **model, gbs_error *err);

/* A noisy picture of five grey levels in patches, as Gonzalez et al. (2011) have them: 200 x 200
 * pixels, or 64 x 64 quick, and exp( -3 [x_i != x_j] ) between neighbours. */
#define LAB_GREY_LEVELS 5
gbs_generate_potts_options lab_grey_picture(const laboratory *lab, double noise);

/* How far what runs have seen is from the truth, after each sweep. */
typedef struct lab_restoration {
    const lab_picture *truth; /* borrowed */
    uint32_t n_runs;
    uint32_t n_sweeps;
    double *wrong;   /* [n_sweeps][n_runs] pixels on the wrong side of 1/2 in the mean of all sweeps
                        so far, a tie counting half */
    double *squares; /* [n_sweeps][n_runs] sum over pixels of (mean - truth)^2 */
    uint32_t *sum;   /* [n_runs][n_pixels] sweeps in which a pixel was 1 */
} lab_restoration;

/* Run a contender from a start. @param start [n_pixels]. @param sequence [n_pixels] order of the
 * updates, NULL for rows. @param out zero before; free in any case. */
gbs_status lab_restore(laboratory *lab, const gbs_model *model, const lab_picture *truth,
                       const lab_contender *contender, const uint32_t *start,
                       const uint32_t *sequence, uint32_t n_runs, uint32_t n_sweeps,
                       lab_restoration *out, gbs_error *err);
/* Runs iterations of mean field in place of sweeps, once. mean is the last iterate, and sum is mean
 * times n_sweeps. Updates all pixels at once, with this damping, starting from the fields alone. */
gbs_status lab_restore_mean_field(const gbs_model *model, const lab_picture *truth, double damping,
                                  uint32_t n_sweeps, lab_restoration *out, gbs_error *err);
void lab_restoration_free(lab_restoration *restoration);

/* The mean over all sweeps of one run as a grey picture. @param image out, caller frees. */
gbs_status lab_restoration_image(const lab_restoration *restoration, uint32_t run, gbs_image *image,
                                 gbs_error *err);
/* Pictures to show side by side: the truth, the noisy picture, and the mean of the first run of
 * each contender. */
typedef struct lab_gallery {
    gbs_image truth, noisy;
    size_t n;
    gbs_image restored[LAB_MAX_CONTENDERS];
} lab_gallery;

/* Adds another picture that was restored from the same noisy picture. @param gallery zero before
 * the first. */
gbs_status lab_gallery_add(lab_gallery *gallery, const lab_picture *picture, const uint32_t *noisy,
                           const lab_restoration *restoration, gbs_error *err);
void lab_gallery_free(lab_gallery *gallery);
/* @param which figure. @param noisy title. @param contender [gallery->n]. */
gbs_status lab_gallery_draw(const laboratory *lab, const lab_gallery *gallery, lab_figure_id which,
                            const char *noisy, const lab_contender *contender, gbs_error *err);
/* Draws 0 and 1 in black and white. */
gbs_status lab_picture_image(const lab_picture *picture, const uint32_t *pixel, gbs_image *image,
                             gbs_error *err);

#endif
