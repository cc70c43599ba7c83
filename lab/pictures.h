/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of two values, for experiments that add noise and remove it: generated shapes, or the
 * pictures of a folder. */
#ifndef LAB_PICTURES_H
#define LAB_PICTURES_H

#include "gibbsite/generate.h"
#include "lab/contest.h"
#include "lab/plot.h"

typedef struct lab_picture {
    char name[64];
    uint32_t width, height;
    uint32_t *pixel; /* [height][width] 1 if the pixel belongs to the shape, else 0 */
} lab_picture;

typedef struct lab_pictures {
    size_t n;
    size_t n_pixels;      /* number of pixels of all pictures */
    lab_picture *picture; /* [n] */
} lab_pictures;

/* Reads the pictures in the lab's folder of data, in the order of their names (PNG and PNM; bright
 * pixels become 1). Quick runs read only the first pictures, until these have side x side pixels
 * together, and reduce wider pictures to this side. If no folder is given, the function makes six
 * shapes of side x side pixels.
 * @param pictures out; must be zero before, and must be freed in any case. */
gbs_status lab_pictures_make(const laboratory *lab, uint32_t side, lab_pictures *pictures,
                             gbs_error *err);
void lab_pictures_free(lab_pictures *pictures);
/* Adds a note to the verdict if pixels were left out. */
void lab_pictures_note(laboratory *lab);

/* Makes the model exp( coupling sum over neighbours of s s + sum of field s ), s = -1, +1.
 * @param field [height][width]. */
gbs_status lab_picture_model(const lab_picture *picture, double coupling, const double *field,
                             gbs_model **model, gbs_error *err);

/* Options of a noisy picture of five grey levels in patches, as in Gonzalez et al. (2011): 200 x
 * 200 pixels, or 64 x 64 in quick runs, with the factor exp( -3 [x_i != x_j] ) between neighbours.
 */
#define LAB_GREY_LEVELS 5
gbs_generate_potts_options lab_grey_picture(const laboratory *lab, double noise);

/* Error of the running means of runs over a picture, after each sweep. */
typedef struct lab_restoration {
    const lab_picture *truth; /* borrowed */
    uint32_t n_runs;
    uint32_t n_sweeps;
    /* [n_sweeps][n_runs] number of pixels whose mean over all sweeps so far is on the wrong side of
     * 1/2; a tie counts as 1/2 */
    double *wrong;
    double *squares; /* [n_sweeps][n_runs] sum over pixels of (mean over all sweeps so far - true
                        value)^2 */
    uint32_t *sum;   /* [n_runs][n_pixels] number of sweeps in which the pixel was 1 */
} lab_restoration;

/* Runs a contender from a start. @param start [n_pixels]. @param sequence [n_pixels] order of the
 * updates; NULL for row by row. @param out must be zero before, and must be freed in any case. */
gbs_status lab_restore(laboratory *lab, const gbs_model *model, const lab_picture *truth,
                       const lab_contender *contender, const uint32_t *start,
                       const uint32_t *sequence, uint32_t n_runs, uint32_t n_sweeps,
                       lab_restoration *out, gbs_error *err);
/* Makes one run of mean-field iterations in place of sweeps. Each iteration updates all pixels at
 * once, with this damping, and the first one starts from the fields alone. The last iterate takes
 * the place of the mean over sweeps, and `sum` is the last iterate times n_sweeps. */
gbs_status lab_restore_mean_field(const gbs_model *model, const lab_picture *truth, double damping,
                                  uint32_t n_sweeps, lab_restoration *out, gbs_error *err);
void lab_restoration_free(lab_restoration *restoration);

/* Makes a grey picture of the mean over all sweeps of one run. @param image out, which the caller
 * frees. */
gbs_status lab_restoration_image(const lab_restoration *restoration, uint32_t run, gbs_image *image,
                                 gbs_error *err);
/* Pictures for a figure: the truth, the noisy picture, and the mean of the first run of each
 * contender. */
typedef struct lab_gallery {
    gbs_image truth, noisy;
    size_t n;
    gbs_image restored[LAB_MAX_CONTENDERS];
} lab_gallery;

/* Adds another picture that was restored from the same noisy picture. @param gallery must be zero
 * before the first call. */
gbs_status lab_gallery_add(lab_gallery *gallery, const lab_picture *picture, const uint32_t *noisy,
                           const lab_restoration *restoration, gbs_error *err);
void lab_gallery_free(lab_gallery *gallery);
/* Draws the pictures of a gallery. @param which number of the figure. @param noisy title of the
 * noisy picture. @param contender [gallery->n]. */
gbs_status lab_gallery_draw(const laboratory *lab, const lab_gallery *gallery, lab_figure_id which,
                            const char *noisy, const lab_contender *contender, gbs_error *err);
/* Makes a picture in which 0 is black and 1 is white. */
gbs_status lab_picture_image(const lab_picture *picture, const uint32_t *pixel, gbs_image *image,
                             gbs_error *err);

#endif
