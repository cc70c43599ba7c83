/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a picture, PNM or PNG by its first bytes, and as states. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gibbsite/image.h"

enum { MOST_PIXELS = 1 << 20 };

static void check_image(const gbs_image *image)
{
    size_t n = (size_t)image->width * image->height;
    FUZZ_REQUIRE(image->width >= 1 && image->height >= 1 && image->sample != NULL);
    FUZZ_REQUIRE(image->channels == (image->kind == GBS_IMAGE_COLOR ? 3 : 1));
    FUZZ_REQUIRE(image->maxval >= 1 && image->maxval <= 65535);
    FUZZ_REQUIRE((image->kind == GBS_IMAGE_PALETTE) == (image->n_colors > 0));
    FUZZ_REQUIRE(image->n_colors <= 256);
    for (size_t i = 0; i < n * image->channels; i++) {
        FUZZ_REQUIRE(image->sample[i] <= image->maxval);
        FUZZ_REQUIRE(image->n_colors == 0 || image->sample[i] < image->n_colors);
    }
    for (size_t i = 0; image->hidden != NULL && i < n; i++) {
        FUZZ_REQUIRE(image->hidden[i] <= 1);
    }
}

/* Each way of taking pixels for states gives states that are there. */
static void check_states(const gbs_image *image)
{
    enum { LEVELS = 5, LABELS = 3 };
    size_t n = (size_t)image->width * image->height;
    if (n > MOST_PIXELS) {
        return;
    }
    uint32_t *state = calloc(n, sizeof *state);
    FUZZ_REQUIRE(state != NULL);
    const uint32_t n_states[] = {2, LABELS, LEVELS};
    for (int way = 0; way < 3; way++) {
        gbs_error err = {0};
        gbs_status status = way == 0   ? gbs_image_to_spins(image, 0, state, &err)
                            : way == 1 ? gbs_image_to_labels(image, LABELS, state, &err)
                                       : gbs_image_to_levels(image, LEVELS, state, &err);
        if (status < 0) {
            fuzz_check_failure(status, &err);
        }
        for (size_t i = 0; status >= 0 && i < n; i++) {
            FUZZ_REQUIRE(state[i] < n_states[way]);
        }
    }
    free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbs_image image = {.sample = NULL};
    gbs_error err = {0};
    const gbs_image_read_options options = {.max_width = 1 << 14,
                                            .max_height = 1 << 14,
                                            .keep_hidden = fuzz_choose(data, size, 2) != 0,
                                            .warn = fuzz_take_warning};
    gbs_status status = gbs_image_read_memory("input", data, size, &options, &image, &err);
    FUZZ_REQUIRE((status >= 0) == (image.sample != NULL));
    if (status < 0) {
        fuzz_check_refusal("input", status, &err);
    } else {
        check_image(&image);
        check_states(&image);
    }
    gbs_image_free(&image);
    return 0;
}
