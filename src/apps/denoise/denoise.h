/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the files of this folder share. */
#ifndef GBSI_DENOISE_DENOISE_H
#define GBSI_DENOISE_DENOISE_H

#include <stdbool.h>

#include "gibbsite/denoise.h"
#include "levels/levels.h"

/* Fills in the defaults of the options, and checks the picture against them. */
gbs_status gbsi_denoise_settle(const gbs_image *noisy, const gbs_denoise_options *options,
                               gbs_denoise_options *settled, gbs_error *err);

/* @return the value of a pixel in units of levels; a whole number for labels and bitmaps. */
double gbsi_denoise_shown(const gbs_image *image, const gbs_denoise_options *o, size_t pixel);
/* @return the level nearest to the value `shown`. */
uint32_t gbsi_denoise_nearest(const gbs_denoise_options *o, double shown);

/* @return the grey value or label of a pixel: a grey value is at most the picture's maxval, and a
 * label is less than the number of levels. */
uint32_t gbsi_denoise_value(const gbs_image *image, const gbs_denoise_options *o, size_t pixel);
/* @return ln p(y | x), without the terms that do not depend on x. */
double gbsi_denoise_log_seen(const gbs_denoise_options *o, double shown, uint32_t level);

/* @return d(a, b) of two neighbouring levels. */
double gbsi_denoise_distance(const gbs_denoise_options *o, uint32_t a, uint32_t b);

/* @return the field h of a pixel with the value `shown`, for two levels: ln p(y | 1) - ln p(y | 0)
 * = 2 h. */
double gbsi_denoise_field(const gbs_denoise_options *o, double shown);
/* Makes a model with a variable for each pixel, and no factor. */
gbs_status gbsi_denoise_pixels(const gbs_image *noisy, const gbs_denoise_options *o,
                               gbs_model **model, gbs_error *err);
/* @return whether a picture is so narrow that a junction tree, whose width is the shorter side, may
 * answer it exactly. */
bool gbsi_denoise_is_narrow(const gbs_image *noisy);

/* levels.c: makes a grid of levels from the picture, without a factor graph. */
gbs_status gbsi_denoise_levels(const gbs_image *noisy, const gbs_denoise_options *o,
                               gbsi_levels **levels, gbs_error *err);

/* @return whether a run with these options stores levels in bytes. These are runs of lattices whose
 * sites cannot be stored in bits. */
bool gbsi_denoise_is_levels(const gbs_image *noisy, const gbs_denoise_options *o,
                            const gbs_run_options *run);
/* @return whether a run with these options stores sites in bits. A picture whose shape would waste
 * bits is not stored in bits. */
bool gbsi_denoise_is_lattice(const gbs_image *noisy, const gbs_denoise_options *o,
                             const gbs_run_options *run);

/* The offset from a pixel to a neighbour that comes later in the order of rows; each pair therefore
 * occurs once. These neighbours are the pixel to the right and the pixel below; with 8 neighbours
 * also the two diagonal pixels below. */
typedef struct gbsi_denoise_step {
    int row, column;
    double weight; /* the weight w in gibbsite/denoise.h */
} gbsi_denoise_step;
extern const gbsi_denoise_step gbsi_denoise_steps[4];
/* @return the number of steps in use: 2 or 4. */
unsigned gbsi_denoise_n_steps(const gbs_denoise_options *o);

/* Counts the pixels that would hardly ever leave the level they show if every neighbour kept the
 * level it shows. @param o settled options. */
gbs_status gbsi_denoise_held(const gbs_image *noisy, const gbs_denoise_options *o, uint64_t *n_held,
                             gbs_error *err);

#endif
