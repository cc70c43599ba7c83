/* SPDX-License-Identifier: Apache-2.0 */
/* Reads weights of target variables: "weights 1", "variables N", then pairs of a variable and
 * its weight. A # starts a comment. */
#include "answers/answers.h"

#include <stdio.h>

#include "base/memory.h"
#include "text/text.h"

static gbs_status expect(gbsi_text *text, const char *word, uint64_t number, gbs_error *err)
{
    uint64_t found = 0;
    char expected[48];
    gbsi_token token = gbsi_text_next(text);
    if (!gbsi_token_is(token, word)) {
        (void)snprintf(expected, sizeof expected, "'%s'", word);
        return gbsi_text_unexpected(text, token, expected, err);
    }
    (void)snprintf(expected, sizeof expected, "%llu", (unsigned long long)number);
    token = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_integer(text, expected, UINT64_MAX, &found, err));
    if (found != number) {
        return gbsi_text_unexpected(text, token, expected, err);
    }
    return GBS_OK;
}

static gbs_status read_pairs(gbsi_text *text, uint32_t n, double *weight, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    gbsi_token token = gbsi_text_peek(text);
    for (; token.n != 0; token = gbsi_text_peek(text)) {
        uint32_t variable = 0;
        double value = 0.0;
        GBSI_PASS(gbsi_text_variable(text, n, &variable, err));
        if (weight[variable] >= 0.0) {
            return gbsi_text_fail(text, token, err, "variable %s was given a weight before",
                                  gbsi_token_show(token, shown));
        }
        token = gbsi_text_peek(text);
        GBSI_PASS(gbsi_text_double(text, "a weight", &value, NULL, err));
        if (!(value >= 0.0 && value <= 1e140)) {
            return gbsi_text_fail(text, token, err, "found the weight %s, expected 0 to 1e140",
                                  gbsi_token_show(token, shown));
        }
        weight[variable] = value;
    }
    return GBS_OK;
}

gbs_status gbsi_weights_read(const char *path, const gbs_model *model, double *weight,
                             gbs_error *err)
{
    GBSI_NEED(path, model, weight);
    gbs_status status = GBS_OK;
    const uint32_t n = gbs_model_n_variables(model);
    gbsi_input input = {0};
    gbsi_text text;
    double *read = gbsi_alloc_array(n, sizeof *read);
    GBSI_PASS(GBSI_HAVE(err, "weights", read));
    for (uint32_t v = 0; v < n; ++v) {
        read[v] = -1.0; /* this value means that variable v is not listed */
    }
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, NULL, err));
    text.comment = '#';
    GBSI_TRY(expect(&text, "weights", 1, err));
    GBSI_TRY(expect(&text, "variables", n, err));
    GBSI_TRY(read_pairs(&text, n, read, err));
    for (uint32_t v = 0; v < n; ++v) {
        weight[v] = read[v] > 0.0 ? read[v] : 0.0;
    }

cleanup:
    gbsi_input_free(&input);
    gbsi_free(read);
    return status;
}
