/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the tests of pictures. Include cmocka.h first. */
#ifndef GBSI_PICTURES_TEST_IMAGES_H
#define GBSI_PICTURES_TEST_IMAGES_H

#include "base/test_random.h"
#include "gibbsite/image.h"
#include "text/test_models.h"

/* Reads a picture from n bytes that end where their allocation ends. A memory checker then detects
 * a read behind them. */
static inline gbs_status read_image_bytes(const char *bytes, size_t n,
                                          const gbs_image_read_options *options, gbs_image *image,
                                          gbs_error *err)
{
    char *copy = malloc(n == 0 ? 1 : n);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    gbs_image untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    memset(image, 0x5a, sizeof *image);
    gbs_status status = gbs_image_read_memory("x", copy, n, options, image, err);
    if (status != GBS_OK) {
        assert_memory_equal(image, &untouched, sizeof untouched);
        assert_int_equal(strncmp(err->message, "x:", 2), 0);
        assert_int_equal(err->status, status);
        *image = (gbs_image){0};
    }
    free(copy);
    return status;
}

static inline gbs_image read_image(const char *bytes, size_t n)
{
    gbs_image image;
    gbs_error err = {0};
    if (read_image_bytes(bytes, n, NULL, &image, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return image;
}

static inline void refuse_image(const char *bytes, size_t n, gbs_status expected, const char *part)
{
    gbs_image image;
    gbs_error err = {0};
    gbs_status status = read_image_bytes(bytes, n, NULL, &image, &err);
    if (status != expected || strstr(err.message, part) == NULL) {
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", status, err.message, expected, part);
    }
}

static inline void expect_same(const gbs_image *a, const gbs_image *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->maxval, b->maxval);
    assert_int_equal(a->n_colors, b->n_colors);
    assert_memory_equal(a->color, b->color, 3 * (size_t)a->n_colors);
    size_t n = (size_t)a->width * a->height * a->channels;
    assert_memory_equal(a->sample, b->sample, n * sizeof *a->sample);
}

/* Makes a picture of a kind, 5 x 3 pixels, with samples up to maxval. */
static inline gbs_image make_image(gbs_image_kind kind, uint32_t maxval)
{
    gbs_image image = {0};
    gbs_error err = {0};
    bool palette = kind == GBS_IMAGE_PALETTE;
    assert_int_equal(gbs_image_new(kind, 5, 3, maxval, palette ? 4 : 0, &image, &err), GBS_OK);
    uint32_t most = palette ? 3 : maxval;
    for (size_t i = 0; i < (size_t)15 * image.channels; i++) {
        image.sample[i] = (uint16_t)(i * i * 7919 % (most + 1));
    }
    image.sample[3] = (uint16_t)most;
    for (size_t i = 0; palette && i < 4; i++) {
        for (size_t c = 0; c < 3; c++) {
            image.color[i][c] = (uint8_t)(80 * i + c);
        }
    }
    return image;
}

static inline void write_image(const gbs_image *image, const char *path, int plain)
{
    gbs_error err = {0};
    const gbs_image_write_options options = {.plain = plain};
    if (gbs_image_write(image, path, &options, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
}

static inline gbs_image read_path(const char *path)
{
    gbs_image image = {0};
    gbs_error err = {0};
    if (gbs_image_read(path, NULL, &image, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return image;
}

#endif
