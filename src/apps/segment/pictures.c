/* SPDX-License-Identifier: Apache-2.0 */
/* Draws label maps and overlays, and compares labels with the truth. */
#include "base/memory.h"
#include "pictures/image_file.h"
#include "segment/aspects.h"

/* @return the patch whose centre is nearest to a pixel, along one axis. */
static uint32_t nearest(uint32_t pixel, uint32_t side, uint32_t step, uint32_t n)
{
    const int64_t from_first = 2 * (int64_t)pixel + 1 - (int64_t)side + (int64_t)step;
    const int64_t at = from_first < 0 ? 0 : from_first / (2 * (int64_t)step);
    return at < (int64_t)n ? (uint32_t)at : n - 1;
}

static size_t patch_of(const gbs_segment *s, uint32_t row, uint32_t column)
{
    const gbsi_grid *g = &s->grid;
    return (size_t)nearest(row, g->side, g->step, g->rows) * g->columns +
           nearest(column, g->side, g->step, g->columns);
}

static gbs_status check_labels(const gbs_segment *s, const uint32_t *label, gbs_error *err)
{
    for (size_t i = 0; i < gbsi_segment_n(s); i++) {
        if (label[i] >= s->aspects->n_classes) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "patch %zu: found class %u of %u", i, label[i],
                             s->aspects->n_classes);
        }
    }
    return GBS_OK;
}

static gbs_status check_size(const gbs_segment *s, const gbs_image *image, const char *name,
                             gbs_error *err)
{
    if (image->width != s->width || image->height != s->height) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: found %u x %u pixels, expected %u x %u as in the picture", name,
                         image->width, image->height, s->width, s->height);
    }
    return GBS_OK;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static gbs_status draw_map(const gbs_segment *s, const uint32_t *label, gbs_image *map,
                           gbs_error *err)
{
    const size_t n = (size_t)s->width * s->height;
    uint32_t *of_pixel = gbsi_alloc_array(n, sizeof *of_pixel);
    GBSI_PASS(GBSI_HAVE(err, "picture", of_pixel));
    for (uint32_t r = 0; r < s->height; r++) {
        for (uint32_t c = 0; c < s->width; c++) {
            of_pixel[(size_t)r * s->width + c] = label[patch_of(s, r, c)];
        }
    }
    const gbs_status status =
        gbs_image_from_labels(of_pixel, s->width, s->height, s->aspects->n_classes, map, err);
    gbsi_free(of_pixel);
    return status;
}

/* @return whether a pixel is on the frame of a rectangle, which is the border of the cells of its
 * patches. */
static bool is_frame(const gbs_segment *s, const gbs_rectangle *r, uint32_t row, uint32_t column)
{
    if (r == NULL || !gbsi_rectangle_has(s, r, patch_of(s, row, column))) {
        return false;
    }
    return row == 0 || column == 0 || row + 1 == s->height || column + 1 == s->width ||
           !gbsi_rectangle_has(s, r, patch_of(s, row - 1, column)) ||
           !gbsi_rectangle_has(s, r, patch_of(s, row + 1, column)) ||
           !gbsi_rectangle_has(s, r, patch_of(s, row, column - 1)) ||
           !gbsi_rectangle_has(s, r, patch_of(s, row, column + 1));
}

/* Draws each pixel half in the light of the picture and half in the colour of its class. */
static gbs_status draw_overlay(const gbs_segment *s, const gbs_image *picture,
                               const uint32_t *label, const gbs_rectangle *rectangle,
                               gbs_image *image, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_image map = {0};
    gbs_image colored = {0};
    gbs_image made = {0};
    GBSI_TRY(draw_map(s, label, &map, err));
    GBSI_TRY(gbsi_image_colored(picture, &colored, err));
    GBSI_TRY(gbs_image_new(GBS_IMAGE_COLOR, s->width, s->height, 255, 0, &made, err));
    for (size_t i = 0; i < (size_t)s->width * s->height; i++) {
        const uint32_t light = gbsi_image_grey(&colored, i) * 255 / colored.maxval;
        const bool frame =
            is_frame(s, rectangle, (uint32_t)(i / s->width), (uint32_t)(i % s->width));
        for (size_t c = 0; c < 3; c++) {
            made.sample[3 * i + c] =
                (uint16_t)(frame ? 255 : (light + map.color[map.sample[i]][c]) / 2);
        }
    }
    *image = made;
    made = (gbs_image){0};
cleanup:
    gbs_image_free(&map);
    gbs_image_free(&colored);
    gbs_image_free(&made);
    return status;
}

gbs_status gbs_segment_draw(const gbs_segment *segment, const gbs_image *picture,
                            const uint32_t *label, const gbs_rectangle *rectangle,
                            gbs_segment_picture what, gbs_image *image, gbs_error *err)
{
    GBSI_NEED(segment, picture, label, image);
    GBSI_PASS(gbsi_image_check(picture, "picture", err));
    GBSI_PASS(check_size(segment, picture, "picture", err));
    GBSI_PASS(check_labels(segment, label, err));
    GBSI_PASS(gbsi_rectangle_check(segment, rectangle, err));
    if (what != GBS_SEGMENT_MAP && what != GBS_SEGMENT_OVERLAY) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "there is no picture number %d", (int)what);
    }
    return what == GBS_SEGMENT_MAP ? draw_map(segment, label, image, err)
                                   : draw_overlay(segment, picture, label, rectangle, image, err);
}

/* ---- the truth ------------------------------------------------------------------------------- */

/* @return the class that most pixels of a patch have, or the first of several such classes;
 * n_classes if no pixel has a class. */
static uint32_t true_class(const gbs_segment *s, const gbs_image *truth, size_t patch)
{
    const gbsi_grid *g = &s->grid;
    const uint32_t k = s->aspects->n_classes;
    const size_t top = patch / g->columns * g->step;
    const size_t left = patch % g->columns * g->step;
    uint32_t count[GBS_MAX_CLASSES + 1] = {0};
    uint32_t best = k;
    for (size_t r = top; r < top + g->side; r++) {
        for (size_t c = left; c < left + g->side; c++) {
            const uint16_t value = truth->sample[r * truth->width + c];
            count[value < k ? value : k]++;
        }
    }
    for (uint32_t a = k; a-- > 0;) {
        best = count[a] >= count[best] ? a : best;
    }
    return best;
}

gbs_status gbs_segment_compare(const gbs_segment *segment, const gbs_image *truth,
                               const uint32_t *label, const gbs_rectangle *rectangle,
                               gbs_segment_score *score, gbs_error *err)
{
    GBSI_NEED(segment, truth, label, score);
    GBSI_PASS(gbsi_image_check(truth, "truth", err));
    GBSI_PASS(check_size(segment, truth, "truth", err));
    GBSI_PASS(check_labels(segment, label, err));
    GBSI_PASS(gbsi_rectangle_check(segment, rectangle, err));
    if (truth->kind == GBS_IMAGE_COLOR) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "truth: found a picture in colour, expected grey or a palette, whose "
                         "pixel values are classes");
    }
    const uint32_t k = segment->aspects->n_classes;
    memset(score, 0, (k + 1) * sizeof *score);
    for (size_t i = 0; i < gbsi_segment_n(segment); i++) {
        const bool counts = gbsi_rectangle_has(segment, rectangle, i);
        const uint32_t a = counts ? true_class(segment, truth, i) : k;
        if (a == k) {
            continue;
        }
        score[a].n_patches++;
        score[label[i]].n_given++;
        score[a].n_right += a == label[i];
    }
    for (uint32_t a = 0; a < k; a++) {
        score[k].n_patches += score[a].n_patches;
        score[k].n_right += score[a].n_right;
        score[k].n_given += score[a].n_given;
    }
    return GBS_OK;
}
