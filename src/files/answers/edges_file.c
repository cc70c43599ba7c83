/* SPDX-License-Identifier: Apache-2.0 */
/* Reads dummy edges of herded draws: "edges 1", "variables N", then two variables for each edge.
 * A # starts a comment. */
#include <stdio.h>

#include "answers/answers.h"
#include "base/memory.h"
#include "text/text.h"

static gbs_status read_number(gbsi_text *text, const char *word, uint64_t expected, gbs_error *err)
{
    char what[64];
    uint64_t found = 0;
    (void)snprintf(what, sizeof what, "'%s'", word);
    gbsi_token token = gbsi_text_next(text);
    if (!gbsi_token_is(token, word)) {
        return gbsi_text_unexpected(text, token, what, err);
    }
    token = gbsi_text_peek(text);
    (void)snprintf(what, sizeof what, "%llu", (unsigned long long)expected);
    GBSI_PASS(gbsi_text_integer(text, what, UINT64_MAX, &found, err));
    if (found != expected) {
        return gbsi_text_unexpected(text, token, what, err);
    }
    return GBS_OK;
}

static gbs_status read_pairs(gbsi_text *text, uint32_t n_variables, uint32_t **pair, size_t *n,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    char shown[GBSI_SHOWN];
    void *read = NULL;
    size_t capacity = 0;
    size_t count = 0;
    gbsi_token token = gbsi_text_peek(text);
    for (; token.n != 0 || count % 2 != 0 || count == 0; token = gbsi_text_peek(text)) {
        uint32_t variable = 0;
        GBSI_TRY(gbsi_text_variable(text, n_variables, &variable, err));
        if (count % 2 == 1 && variable == ((uint32_t *)read)[count - 1]) {
            status = gbsi_text_fail(text, token, err, "found variable %s twice, expected another",
                                    gbsi_token_show(token, shown));
            goto cleanup;
        }
        GBSI_TRY(gbsi_reserve(&read, &capacity, count + 1, sizeof(uint32_t), text->name, err));
        ((uint32_t *)read)[count++] = variable;
    }
    *pair = read;
    *n = count / 2;
    return GBS_OK;

cleanup:
    gbsi_free(read);
    return status;
}

gbs_status gbsi_edges_read(const char *path, const gbs_model *model, uint32_t **pair, size_t *n,
                           gbs_error *err)
{
    GBSI_NEED(path, model, pair, n);
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    const uint32_t n_variables = gbs_model_n_variables(model);
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, NULL, err));
    text.comment = '#';
    GBSI_TRY(read_number(&text, "edges", 1, err));
    GBSI_TRY(read_number(&text, "variables", n_variables, err));
    status = read_pairs(&text, n_variables, pair, n, err);

cleanup:
    gbsi_input_free(&input);
    return status;
}
