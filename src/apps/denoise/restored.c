/* SPDX-License-Identifier: Apache-2.0 */
/* Draws pictures from marginals, and compares them with the truth (gibbsite/denoise.h). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "denoise/denoise.h"

static size_t n_pixels(const gbs_image *image)
{
    return (size_t)image->width * image->height;
}

/* @return the most probable level; among equal probabilities the first level. */
static uint32_t mode_of(const double *p, uint32_t levels)
{
    uint32_t best = 0;
    for (uint32_t a = 1; a < levels; a++) {
        best = p[a] > p[best] ? a : best;
    }
    return best;
}

static double mean_of(const double *p, uint32_t levels)
{
    double sum = 0.0;
    for (uint32_t a = 1; a < levels; a++) {
        sum += a * p[a];
    }
    return sum;
}

/* Draws labels in the colours of the noisy picture's palette. */
static gbs_status draw_labels(const gbs_image *noisy, const gbs_denoise_options *o,
                              const uint32_t *level, gbs_image *image, gbs_error *err)
{
    const gbs_status status =
        gbs_image_from_labels(level, noisy->width, noisy->height, o->levels, image, err);
    if (status >= 0 && noisy->kind == GBS_IMAGE_PALETTE) {
        image->n_colors = noisy->n_colors;
        memcpy(image->color, noisy->color, sizeof image->color);
    }
    return status;
}

static gbs_status draw_levels(const gbs_image *noisy, const gbs_denoise_options *o,
                              const uint32_t *level, gbs_image *image, gbs_error *err)
{
    if (noisy->kind == GBS_IMAGE_BITMAP) {
        return gbs_image_from_spins(level, noisy->width, noisy->height, GBS_IMAGE_BITMAP, image,
                                    err);
    }
    return o->labels
               ? draw_labels(noisy, o, level, image, err)
               : gbs_image_from_levels(level, noisy->width, noisy->height, o->levels, image, err);
}

gbs_status gbs_denoise_draw_levels(const gbs_image *noisy, const gbs_denoise_options *options,
                                   const uint32_t *level, gbs_image *image, gbs_error *err)
{
    gbs_denoise_options o;
    GBSI_NEED(level, image);
    GBSI_PASS(gbsi_denoise_settle(noisy, options, &o, err));
    for (size_t i = 0; i < n_pixels(noisy); i++) {
        if (level[i] >= o.levels) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "pixel %zu: found level %u of %u", i, level[i],
                             o.levels);
        }
    }
    return draw_levels(noisy, &o, level, image, err);
}

/* @return the mean level as a shade of the picture's format; 1 is black in bitmaps. */
static double shade_of(const gbs_image *noisy, const double *p, uint32_t levels)
{
    const double share = mean_of(p, levels) / (levels - 1);
    return noisy->kind == GBS_IMAGE_BITMAP ? 1.0 - share : share;
}

static gbs_status draw_values(const gbs_image *noisy, const gbs_denoise_options *o, const double *p,
                              gbs_denoise_picture what, gbs_image *image, gbs_error *err)
{
    const size_t n = n_pixels(noisy);
    const double most = 1.0 - 1.0 / o->levels;
    double *value = gbsi_alloc_array(n, sizeof *value);
    GBSI_PASS(GBSI_HAVE(err, "picture", value));
    for (size_t i = 0; i < n; i++) {
        const double *row = p + i * o->levels;
        const double raw = what == GBS_DENOISE_MEAN ? shade_of(noisy, row, o->levels)
                                                    : (1.0 - row[mode_of(row, o->levels)]) / most;
        value[i] = raw < 0.0 ? 0.0 : (raw > 1.0 ? 1.0 : raw);
    }
    const gbs_status status =
        gbs_image_from_probabilities(value, noisy->width, noisy->height, image, err);
    gbsi_free(value);
    return status;
}

static gbs_status draw_modes(const gbs_image *noisy, const gbs_denoise_options *o, const double *p,
                             gbs_image *image, gbs_error *err)
{
    const size_t n = n_pixels(noisy);
    uint32_t *level = gbsi_alloc_array(n, sizeof *level);
    GBSI_PASS(GBSI_HAVE(err, "picture", level));
    for (size_t i = 0; i < n; i++) {
        level[i] = mode_of(p + i * o->levels, o->levels);
    }
    const gbs_status status = draw_levels(noisy, o, level, image, err);
    gbsi_free(level);
    return status;
}

gbs_status gbs_denoise_draw(const gbs_image *noisy, const gbs_denoise_options *options,
                            const double *p, gbs_denoise_picture what, gbs_image *image,
                            gbs_error *err)
{
    gbs_denoise_options o;
    GBSI_NEED(p, image);
    GBSI_PASS(gbsi_denoise_settle(noisy, options, &o, err));
    if (what != GBS_DENOISE_MODE && what != GBS_DENOISE_MEAN && what != GBS_DENOISE_UNCERTAINTY) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "there is no picture number %d", (int)what);
    }
    if (what == GBS_DENOISE_MEAN && o.labels) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "labels have no mean");
    }
    return what == GBS_DENOISE_MODE ? draw_modes(noisy, &o, p, image, err)
                                    : draw_values(noisy, &o, p, what, image, err);
}

gbs_status gbs_denoise_compare(const gbs_image *truth, const gbs_image *noisy,
                               const gbs_denoise_options *options, const double *p,
                               gbs_denoise_errors *errors, gbs_error *err)
{
    gbs_denoise_options o;
    gbs_denoise_options of_truth;
    GBSI_NEED(p, errors);
    GBSI_OUT_STRUCT(errors, gbs_denoise_errors);
    GBSI_PASS(gbsi_denoise_settle(noisy, options, &o, err));
    GBSI_PASS(gbsi_denoise_settle(truth, options, &of_truth, err));
    if (truth->width != noisy->width || truth->height != noisy->height) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "the truth is a picture of %u x %u pixels, the noisy one of %u x %u",
                         truth->width, truth->height, noisy->width, noisy->height);
    }
    if ((truth->kind == GBS_IMAGE_BITMAP) != (noisy->kind == GBS_IMAGE_BITMAP)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "one picture is a bitmap, in which black is 1, expected both or neither");
    }
    const size_t n = n_pixels(noisy);
    gbs_denoise_errors own = {0};
    for (size_t i = 0; i < n; i++) {
        const double *row = p + i * o.levels;
        const double shown = gbsi_denoise_shown(noisy, &o, i);
        const uint32_t level = gbsi_denoise_nearest(&o, gbsi_denoise_shown(truth, &o, i));
        const uint32_t mode = mode_of(row, o.levels);
        const double off = mean_of(row, o.levels) - level;
        own.noisy_wrong += gbsi_denoise_nearest(&o, shown) != level;
        own.wrong += mode != level;
        own.expected_wrong += 1.0 - row[mode];
        own.noisy_square += (shown - level) * (shown - level);
        own.square += off * off;
    }
    own.noisy_wrong /= (double)n;
    own.wrong /= (double)n;
    own.expected_wrong /= (double)n;
    own.noisy_square = o.labels ? (double)NAN : own.noisy_square / (double)n;
    own.square = o.labels ? (double)NAN : own.square / (double)n;
    gbsi_struct_give(errors, &own, sizeof own);
    return GBS_OK;
}
