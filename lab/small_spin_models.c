/* SPDX-License-Identifier: Apache-2.0 */
/* Small spin models, drawn from the seed or read from NAME.uai, or else from NAME.txt. The text
 * file has a line "variables couplings", a line for each field, and a line "i j coupling" for each
 * coupling. */
#include "lab/small_spin_models.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "gibbsite/generate.h"
#include "text/text.h"

enum { MOST_VARIABLES = 12, MOST_MODELS = 1000 };
#define LEAST_COR 0.004

const lab_small_model lab_ring_positive = {"ring, positive", "G1_largec", false, 8, 0.0, 1.0};
const lab_small_model lab_ring_mixed = {"ring, mixed signs", "G2_largec", false, 8, -1.0, 1.0};
const lab_small_model lab_complete_strong = {"complete, strong", "G3_largec", true, 8, 0.0, 0.5};
const lab_small_model lab_complete_weak = {"complete, weak", "G3_smallc", true, 8, 0.0, 0.1};
const lab_small_model lab_complete_mixed = {
    "complete, mixed signs", "G4_largec", true, 8, -0.5, 0.5};

gbs_status lab_small_model_draw(const lab_small_model *which, uint64_t seed, gbs_model **model,
                                gbs_error *err)
{
    const double centre = 0.5 * (which->low + which->high);
    const double spread = 0.5 * (which->high - which->low);
    if (which->complete) {
        const gbs_generate_complete_options options = {.variables = which->n,
                                                       .coupling = centre,
                                                       .coupling_spread = spread,
                                                       .field = centre,
                                                       .random_field = spread,
                                                       .seed = seed};
        return gbs_generate_complete(&options, model, err);
    }
    const gbs_generate_ring_options options = {.variables = which->n,
                                               .coupling = centre,
                                               .coupling_spread = spread,
                                               .field = centre,
                                               .random_field = spread,
                                               .seed = seed};
    return gbs_generate_ring(&options, model, err);
}

static gbs_status read_couplings(gbsi_text *text, gbs_builder *builder, uint64_t n,
                                 uint64_t n_couplings, gbs_error *err)
{
    static const uint32_t two = 2;
    gbs_status status = GBS_OK;
    double number = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        GBSI_TRY(gbsi_text_double(text, "a field", &number, NULL, err));
        GBSI_TRY(gbs_builder_add_variables(builder, 1, &two, NULL, err));
        GBSI_TRY(gbs_builder_add_field(builder, i, number, err));
    }
    for (uint64_t e = 0; e < n_couplings; e++) {
        const gbsi_token token = gbsi_text_peek(text);
        uint64_t i = 0;
        uint64_t j = 0;
        GBSI_TRY(gbsi_text_integer(text, "a variable", n - 1, &i, err));
        GBSI_TRY(gbsi_text_integer(text, "a variable", n - 1, &j, err));
        GBSI_TRY(gbsi_text_double(text, "a coupling", &number, NULL, err));
        status = gbs_builder_add_ising(builder, (uint32_t)i, (uint32_t)j, number, err);
        if (status < 0) {
            return gbsi_text_blame(text, token, status, err);
        }
    }
    GBSI_TRY(gbsi_text_expect_end(text, "the couplings", err));
cleanup:
    return status;
}

static gbs_status read_text(const char *path, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    gbs_builder *builder = NULL;
    uint64_t n = 0;
    uint64_t n_couplings = 0;
    GBSI_TRY(gbsi_input_read(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, NULL, err));
    GBSI_TRY(gbsi_text_integer(&text, "the number of variables, 1 to 12", MOST_VARIABLES, &n, err));
    if (n == 0) {
        GBSI_TRY(gbsi_text_fail(&text, gbsi_text_peek(&text), err, "a model without variables"));
    }
    GBSI_TRY(gbsi_text_count(&text, "the number of couplings", 6, &n_couplings, err));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(read_couplings(&text, builder, n, n_couplings, err));
    GBSI_TRY(gbs_builder_build(builder, model, err));
cleanup:
    gbs_builder_free(builder);
    gbsi_input_free(&input);
    return status;
}

static gbs_status read_uai(const char *path, gbs_model **model, gbs_error *err)
{
    gbs_model *read = NULL;
    const gbs_status status = gbs_model_read(path, NULL, &read, err);
    const uint32_t n = gbs_model_n_variables(read);
    bool suits = n >= 1 && n <= MOST_VARIABLES;
    if (status < 0) {
        return status;
    }
    for (uint32_t v = 0; v < n && suits; v++) {
        suits = gbs_model_arity(read, v) == 2;
    }
    if (!suits) {
        gbs_model_free(read);
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: expected 1 to %d variables of two states", path,
                         MOST_VARIABLES);
    }
    *model = read;
    return GBS_OK;
}

/* Reads FOLDER/NAME.uai, or else FOLDER/NAME.txt. */
static gbs_status read_model(const char *folder, const char *name, gbs_model **model,
                             gbs_error *err)
{
    char file[64];
    char *path = NULL;
    (void)snprintf(file, sizeof file, "%s.uai", name);
    gbs_status status = lab_path_in(folder, file, &path, err);
    const bool is_uai = status >= 0 && access(path, F_OK) == 0;
    if (status >= 0 && !is_uai) {
        gbs_free(path);
        (void)snprintf(file, sizeof file, "%s.txt", name);
        status = lab_path_in(folder, file, &path, err);
    }
    if (status >= 0) {
        status = is_uai ? read_uai(path, model, err) : read_text(path, model, err);
    }
    gbs_free(path);
    return status;
}

gbs_status lab_small_model_make(const laboratory *lab, const lab_small_model *which,
                                gbs_model **model, gbs_error *err)
{
    if (lab->options->data == NULL || which->file == NULL) {
        return lab_small_model_draw(which, lab->options->seed, model, err);
    }
    return read_model(lab->options->data, which->file, model, err);
}

gbs_status lab_correlated_model(const laboratory *lab, const lab_small_model *which, uint64_t *seed,
                                gbs_model **model, lab_asymptotic *limit, gbs_error *err)
{
    const bool is_read = lab->options->data != NULL && which->file != NULL;
    *seed = lab->options->seed;
    for (uint64_t tried = 1;; tried++) {
        GBSI_PASS(is_read ? lab_small_model_make(lab, which, model, err)
                          : lab_small_model_draw(which, *seed, model, err));
        GBSI_PASS(lab_decompose_asymptotic(*model, NULL, NULL, gbs_model_n_variables(*model) - 1,
                                           NULL, limit, err));
        if (is_read || limit->total >= LEAST_COR || tried == MOST_MODELS) {
            return GBS_OK;
        }
        gbs_model_free(*model);
        *model = NULL;
        lab_asymptotic_free(limit);
        (*seed)++;
    }
}

const char *lab_small_model_source(const laboratory *lab, const lab_small_model *which, char *text)
{
    if (lab->options->data == NULL || which->file == NULL) {
        (void)snprintf(text, LAB_SOURCE_TEXT, "%s%s in [%g, %g] drawn from seed %" PRIu64,
                       which->complete ? "all coupled, fields and couplings" : "ring",
                       which->complete ? "" : ", fields and couplings", which->low, which->high,
                       lab->options->seed);
    } else {
        (void)snprintf(text, LAB_SOURCE_TEXT, "%s of the folder of data", which->file);
    }
    return text;
}
