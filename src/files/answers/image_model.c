/* SPDX-License-Identifier: Apache-2.0 */
/* Reads states of variables from pictures, as the start of chains or as observations. */
#include "answers/evidence_set.h"
#include "base/memory.h"
#include "base/plural.h"
#include "pictures/image_file.h"
#include "store/model.h"
#include "text/text.h"

/* Reads a picture, and checks that its number of pixels is the number of variables. */
static gbs_status read_fitting(const gbsi_input *input, uint32_t n_variables, bool keep_hidden,
                               const gbs_read_options *options, gbs_image *image, gbs_error *err)
{
    gbs_image read = {0};
    const gbs_image_read_options read_options = {
        .keep_hidden = keep_hidden,
        .warn = options == NULL ? NULL : options->warn,
        .context = options == NULL ? NULL : options->context,
    };
    gbs_status status = gbsi_image_read_input(input, &read_options, &read, err);
    if (status < 0) {
        return status;
    }
    uint64_t n_pixels = (uint64_t)read.width * read.height;
    if (n_pixels != n_variables) {
        status =
            gbsi_fail(err, GBS_ERR_FORMAT,
                      "%s: found a picture of %u x %u (width x height) = %llu pixels, expected "
                      "one for each of the %u variable%s of the model",
                      input->name, read.width, read.height, (unsigned long long)n_pixels,
                      n_variables, gbsi_plural(n_variables));
        gbs_image_free(&read);
        return GBS_ERR_FORMAT;
    }
    *image = read;
    return GBS_OK;
}

/* ---- a start ----------------------------------------------------------------------------- */

static bool all_below(const gbs_image *image, uint32_t n_states)
{
    size_t n = (size_t)image->width * image->height;
    for (size_t i = 0; i < n; i++) {
        if (image->sample[i] >= n_states) {
            return false;
        }
    }
    return true;
}

/* @return the arity that all variables have, or 0 if their arities differ. */
static uint32_t common_arity(const gbs_model *model)
{
    uint32_t n = gbs_model_n_variables(model);
    uint32_t arity = n == 0 ? 0 : gbs_model_arity(model, 0);
    for (uint32_t v = 1; v < n; v++) {
        if (gbs_model_arity(model, v) != arity) {
            return 0;
        }
    }
    return arity;
}

gbs_status gbsi_image_start(const gbsi_input *input, const gbs_model *model,
                            const gbs_read_options *options, uint32_t *state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_error local = {0};
    gbs_image image = {0};
    uint32_t n = gbs_model_n_variables(model);
    uint32_t arity = common_arity(model);
    GBSI_TRY(read_fitting(input, n, false, options, &image, err));
    if (arity == 0) {
        status = gbsi_fail(err, GBS_ERR_FORMAT,
                           "%s: found a picture, expected a list of states: the numbers of states "
                           "of the model's variables differ",
                           input->name);
        goto cleanup;
    }
    bool labels = image.kind == GBS_IMAGE_PALETTE && all_below(&image, 2);
    if (arity == 2 && !labels) {
        status = gbs_image_to_spins(&image, 0, state, &local);
    } else {
        status = gbs_image_to_labels(&image, arity, state, &local);
    }
    if (status < 0) { /* wrong pixels are an error of the file's format */
        status = gbsi_fail(err, GBS_ERR_FORMAT, "%.400s: %s", input->name, local.message);
    }

cleanup:
    gbs_image_free(&image);
    return status;
}

/* ---- evidence ---------------------------------------------------------------------------- */

/* Pixel value of unobserved variables. In an 8-bit grey picture the value is white. In a palette
 * the value is the last index, which no state uses. */
#define UNOBSERVED 255

/* Whether pixel i is an observation. Fails with GBS_ERR_FORMAT if the value of the pixel is not
 * a state. */
static gbs_status observed(const gbsi_input *input, const gbs_image *image, size_t i,
                           const gbs_model *model, bool *says, gbs_error *err)
{
    uint32_t value = image->sample[i];
    uint32_t arity = gbs_model_arity(model, (uint32_t)i);
    *says = !(image->hidden != NULL && image->hidden[i] != 0) &&
            !(image->maxval == 255 && value == UNOBSERVED);
    if (*says && value >= arity) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: row %zu, column %zu: found a pixel of value %u, expected a state of "
                         "its variable, less than %u, or %d or transparent for not observed",
                         input->name, i / image->width, i % image->width, value, arity, UNOBSERVED);
    }
    return GBS_OK;
}

gbs_status gbsi_evidence_read_image(gbsi_evidence_set *set, const gbs_read_options *options,
                                    gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_image image = {0};
    bool says = false;
    const gbsi_input *input = &set->input;
    uint32_t n = gbs_model_n_variables(set->model);
    GBSI_TRY(gbsi_evidence_set_begin(set, err));
    GBSI_TRY(read_fitting(input, n, true, options, &image, err));
    if (image.kind == GBS_IMAGE_COLOR) {
        status = gbsi_fail(err, GBS_ERR_FORMAT,
                           "%s: found a picture in colour, expected grey or a palette: values of "
                           "pixels are states",
                           input->name);
        goto cleanup;
    }
    for (size_t i = 0; i < n; i++) {
        GBSI_TRY(observed(input, &image, i, set->model, &says, err));
        if (says) {
            const gbsi_observation pixel = {(uint32_t)i, image.sample[i], NULL};
            GBSI_TRY(gbsi_evidence_set_add(set, pixel, err));
        }
    }

cleanup:
    gbs_image_free(&image);
    return status;
}
