/* SPDX-License-Identifier: Apache-2.0 */
/* Maps pixels to the variables of a model (variable row * width + column) and pixel values to
 * states. */
#include "base/memory.h"
#include "base/plural.h"
#include "pictures/image_file.h"

static size_t n_pixels(const gbs_image *image)
{
    return (size_t)image->width * image->height;
}

/* ---- pixels to states -------------------------------------------------------------------- */

gbs_status gbs_image_to_spins(const gbs_image *image, uint32_t threshold, uint32_t *state,
                              gbs_error *err)
{
    GBSI_NEED(image, state);
    GBSI_PASS(gbsi_image_check(image, "picture", err));
    bool bitmap = image->kind == GBS_IMAGE_BITMAP;
    if (threshold > image->maxval || (bitmap && threshold != 0)) {
        return bitmap ? gbsi_fail(err, GBS_ERR_ARGUMENT, "a bitmap takes no threshold")
                      : gbsi_fail(err, GBS_ERR_ARGUMENT,
                                  "found threshold %u, expected at most the largest sample, %u",
                                  threshold, image->maxval);
    }
    threshold = threshold == 0 ? image->maxval / 2 + image->maxval % 2 : threshold;
    for (size_t i = 0; i < n_pixels(image); i++) {
        state[i] = bitmap ? image->sample[i] : gbsi_image_grey(image, i) >= threshold;
    }
    return GBS_OK;
}

gbs_status gbs_image_to_labels(const gbs_image *image, uint32_t n_states, uint32_t *state,
                               gbs_error *err)
{
    GBSI_NEED(image, state);
    GBSI_PASS(gbsi_image_check(image, "picture", err));
    if (image->kind == GBS_IMAGE_COLOR) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found a picture in colour, expected grey or a palette: values of pixels "
                         "are states");
    }
    for (size_t i = 0; i < n_pixels(image); i++) {
        if (image->sample[i] >= n_states) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "row %zu, column %zu: found a pixel of value %u, expected a state: "
                             "less than %u",
                             i / image->width, i % image->width, image->sample[i], n_states);
        }
    }
    for (size_t i = 0; i < n_pixels(image); i++) {
        state[i] = image->sample[i];
    }
    return GBS_OK;
}

gbs_status gbs_image_to_levels(const gbs_image *image, uint32_t n_levels, uint32_t *state,
                               gbs_error *err)
{
    GBSI_NEED(image, state);
    GBSI_PASS(gbsi_image_check(image, "picture", err));
    if (n_levels == 0 || image->kind == GBS_IMAGE_BITMAP) {
        return n_levels == 0 ? gbsi_fail(err, GBS_ERR_ARGUMENT, "no picture has 0 levels")
                             : gbsi_fail(err, GBS_ERR_ARGUMENT, "a bitmap has no levels of grey");
    }
    for (size_t i = 0; i < n_pixels(image); i++) {
        /* a = floor( g (K - 1) / maxval + 1/2 ) */
        uint64_t twice = 2 * (uint64_t)gbsi_image_grey(image, i) * (n_levels - 1);
        state[i] = (uint32_t)((twice + image->maxval) / (2 * (uint64_t)image->maxval));
    }
    return GBS_OK;
}

/* ---- colours ----------------------------------------------------------------------------- */

/* The palette of Okabe, M. & Ito, K. (2008), "Color Universal Design: how to make figures and
 * presentations that are friendly to colorblind people". */
static const uint8_t okabe_ito[8][3] = {{0, 0, 0},     {230, 159, 0},  {86, 180, 233},
                                        {0, 158, 115}, {240, 228, 66}, {0, 114, 178},
                                        {213, 94, 0},  {204, 121, 167}};

/* @return the lightness, in 256ths, of the shades of a round: 64, 192, 32, 160, ... for rounds 0,
 *   1, 2, 3, ... The bits of the index are reversed (van der Corput), so the shades of the first
 *   rounds differ much. The lightness 128 does not occur, because it is the colour itself. */
static uint32_t lightness(uint32_t round)
{
    uint32_t reversed = 0;
    uint32_t index = round + 2;
    for (int bit = 0; bit < 8; bit++) {
        reversed |= (index >> bit & 1) << (7 - bit);
    }
    return reversed;
}

static void color_of(uint32_t label, uint8_t color[3])
{
    uint32_t hue = label < 8 ? label : 1 + (label - 8) % 7;
    uint32_t light = label < 8 ? 128 : lightness((label - 8) / 7);
    for (int c = 0; c < 3; c++) {
        uint32_t pure = okabe_ito[hue][c];
        color[c] = (uint8_t)(light <= 128 ? pure * (light + 32) / 160
                                          : pure + (255 - pure) * (light - 128) / 160);
    }
}

/* ---- states to pixels -------------------------------------------------------------------- */

/* Begins a new picture. Fails if a state is not below n_states. */
static gbs_status start(const uint32_t *state, uint32_t n_states, gbs_image_kind kind,
                        uint32_t width, uint32_t height, uint32_t maxval, gbs_image *image,
                        gbs_error *err)
{
    size_t n = (size_t)width * height;
    for (size_t i = 0; i < n; i++) {
        if (state[i] >= n_states) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "row %zu, column %zu: found state %u, expected less than %u",
                             i / width, i % width, state[i], n_states);
        }
    }
    return gbs_image_new(kind, width, height, maxval, kind == GBS_IMAGE_PALETTE ? n_states : 0,
                         image, err);
}

gbs_status gbs_image_from_spins(const uint32_t *state, uint32_t width, uint32_t height,
                                gbs_image_kind kind, gbs_image *image, gbs_error *err)
{
    GBSI_NEED(state, image);
    uint16_t one = kind == GBS_IMAGE_BITMAP ? 1 : 255;
    if (kind != GBS_IMAGE_BITMAP && kind != GBS_IMAGE_GREY) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "two states make a bitmap or a grey picture");
    }
    gbs_status status = start(state, 2, kind, width, height, one, image, err);
    for (size_t i = 0; status == GBS_OK && i < n_pixels(image); i++) {
        image->sample[i] = state[i] == 1 ? one : 0;
    }
    return status;
}

gbs_status gbs_image_from_labels(const uint32_t *state, uint32_t width, uint32_t height,
                                 uint32_t n_states, gbs_image *image, gbs_error *err)
{
    GBSI_NEED(state, image);
    if (n_states == 0 || n_states > 256) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found %u state%s, expected 1 to 256: a palette has no more", n_states,
                         gbsi_plural(n_states));
    }
    gbs_status status = start(state, n_states, GBS_IMAGE_PALETTE, width, height, 255, image, err);
    for (size_t i = 0; status == GBS_OK && i < n_pixels(image); i++) {
        image->sample[i] = (uint16_t)state[i];
    }
    for (uint32_t a = 0; status == GBS_OK && a < n_states; a++) {
        color_of(a, image->color[a]);
    }
    return status;
}

gbs_status gbs_image_from_levels(const uint32_t *state, uint32_t width, uint32_t height,
                                 uint32_t n_levels, gbs_image *image, gbs_error *err)
{
    GBSI_NEED(state, image);
    if (n_levels == 0 || n_levels > 65536) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found %u level%s, expected 1 to 65536", n_levels,
                         gbsi_plural(n_levels));
    }
    uint32_t maxval = n_levels <= 256 ? 255 : 65535;
    uint64_t steps = n_levels == 1 ? 1 : n_levels - 1;
    gbs_status status = start(state, n_levels, GBS_IMAGE_GREY, width, height, maxval, image, err);
    for (size_t i = 0; status == GBS_OK && i < n_pixels(image); i++) {
        image->sample[i] = (uint16_t)((2 * (uint64_t)state[i] * maxval + steps) / (2 * steps));
    }
    return status;
}

gbs_status gbs_image_from_probabilities(const double *p, uint32_t width, uint32_t height,
                                        gbs_image *image, gbs_error *err)
{
    GBSI_NEED(p, image);
    size_t n = (size_t)width * height;
    for (size_t i = 0; i < n; i++) {
        if (!(p[i] >= 0 && p[i] <= 1)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "row %zu, column %zu: found %g, expected a probability", i / width,
                             i % width, p[i]);
        }
    }
    gbs_status status = gbs_image_new(GBS_IMAGE_GREY, width, height, 65535, 0, image, err);
    for (size_t i = 0; status == GBS_OK && i < n; i++) {
        image->sample[i] = (uint16_t)(p[i] * 65535 + 0.5);
    }
    return status;
}
