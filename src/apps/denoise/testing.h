/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers and grey pictures, for the tests of noisy pictures. */
#ifndef GBSI_DENOISE_TESTING_H
#define GBSI_DENOISE_TESTING_H

#include "base/test_random.h"
#include "gibbsite/gibbsite.h"
#include "gibbsite/image.h"

typedef struct test_random {
    uint64_t state;
} test_random;

static uint32_t test_below(test_random *random, uint32_t n)
{
    return (uint32_t)((next_random(&random->state) >> 32) * n >> 32);
}

static gbs_image grey(uint32_t width, uint32_t height, uint32_t maxval)
{
    gbs_image image = {0};
    assert_int_equal(gbs_image_new(GBS_IMAGE_GREY, width, height, maxval, 0, &image, NULL), GBS_OK);
    return image;
}

#endif
