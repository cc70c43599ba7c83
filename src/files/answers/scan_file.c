/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes scans: "scan 1", "variables N", optionally "model DIGEST", then a row q_t of
 * probabilities for each update (Mitliagkas & Mackey 2017, definition 7): a variable, which has
 * probability 1, or *, which gives all free variables the same probability. A # starts a comment.
 */
#include "base/memory.h"
#include "base/plural.h"
#include "gibbsite/options.h"
#include "text/output.h"
#include "text/text.h"

static gbs_status expect_word(gbsi_text *text, const char *word, gbs_error *err)
{
    gbsi_token token = gbsi_text_next(text);
    if (gbsi_token_is(token, word)) {
        return GBS_OK;
    }
    char expected[32] = "'";
    (void)strncat(expected, word, 16);
    (void)strncat(expected, "'", 2);
    return gbsi_text_unexpected(text, token, expected, err);
}

static gbs_status read_head(gbsi_text *text, const gbs_model *model, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t version = 0;
    uint64_t n = 0;
    GBSI_PASS(expect_word(text, "scan", err));
    gbsi_token token = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_integer(text, "the version of the format, 1", UINT64_MAX, &version, err));
    if (version != 1) {
        return gbsi_text_unexpected(text, token, "version 1 of the format", err);
    }
    GBSI_PASS(expect_word(text, "variables", err));
    token = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_integer(text, "the number of variables", UINT64_MAX, &n, err));
    if (n != gbs_model_n_variables(model)) {
        return gbsi_text_fail(text, token, err,
                              "found %s variables, expected those of the model: %u",
                              gbsi_token_show(token, shown), gbs_model_n_variables(model));
    }
    if (gbsi_token_is(gbsi_text_peek(text), "model")) {
        (void)gbsi_text_next(text);
        token = gbsi_text_next(text);
        if (!gbsi_token_is(token, gbs_model_digest(model))) {
            return gbsi_text_unexpected(text, token, gbs_model_digest(model), err);
        }
    }
    return GBS_OK;
}

static gbs_status read_sequence(gbsi_text *text, const gbs_model *model, uint32_t **sequence,
                                size_t *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    void *read = NULL;
    size_t capacity = 0;
    size_t count = 0;
    for (; gbsi_text_peek(text).n != 0 || count == 0; ++count) {
        uint32_t variable = 0;
        if (gbsi_token_is(gbsi_text_peek(text), "*")) {
            (void)gbsi_text_next(text);
            variable = GBS_STEP_UNIFORM;
        } else {
            GBSI_TRY(gbsi_text_variable(text, gbs_model_n_variables(model), &variable, err));
        }
        GBSI_TRY(gbsi_reserve(&read, &capacity, count + 1, sizeof(uint32_t), text->name, err));
        ((uint32_t *)read)[count] = variable;
    }
    *sequence = read;
    *n = count;
    return GBS_OK;

cleanup:
    gbsi_free(read);
    return status;
}

gbs_status gbs_scan_read(const char *path, const gbs_model *model, uint32_t **sequence, size_t *n,
                         gbs_error *err)
{
    GBSI_NEED(path, model, sequence, n);
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, NULL, err));
    text.comment = '#';
    GBSI_TRY(read_head(&text, model, err));
    status = read_sequence(&text, model, sequence, n, err);

cleanup:
    gbsi_input_free(&input);
    return status;
}

#define PER_LINE 20u

gbs_status gbs_scan_write(const char *path, const gbs_model *model, const uint32_t *sequence,
                          size_t n, const char *comment, gbs_error *err)
{
    GBSI_NEED(path, model, sequence);
    gbs_output *output = NULL;
    for (size_t t = 0; t < n; t++) {
        if (sequence[t] >= gbs_model_n_variables(model) && sequence[t] != GBS_STEP_UNIFORM) {
            return gbsi_fail(
                err, GBS_ERR_ARGUMENT,
                "%s: entry %zu of the scan is variable %u, the model has %u variable%s", path, t,
                sequence[t], gbs_model_n_variables(model),
                gbsi_plural(gbs_model_n_variables(model)));
        }
    }
    GBSI_PASS(gbs_output_open(path, &output, err));
    gbsi_output_text(output, "scan 1\nvariables ");
    gbsi_output_uint(output, gbs_model_n_variables(model));
    gbsi_output_text(output, "\nmodel ");
    gbsi_output_text(output, gbs_model_digest(model));
    gbsi_output_text(output, "\n");
    if (comment != NULL) {
        gbsi_output_text(output, "# ");
        gbsi_output_text(output, comment);
        gbsi_output_text(output, "\n");
    }
    for (size_t t = 0; t < n; t++) {
        if (sequence[t] == GBS_STEP_UNIFORM) {
            gbsi_output_text(output, "*");
        } else {
            gbsi_output_uint(output, sequence[t]);
        }
        gbsi_output_bytes(output, t % PER_LINE == PER_LINE - 1 || t == n - 1 ? "\n" : " ", 1);
    }
    return gbs_output_commit(output, err);
}
