/* SPDX-License-Identifier: Apache-2.0 */
/* Reads UAI queries: the number N, then N variables. */
#include "answers/answers.h"
#include "base/memory.h"
#include "base/sized.h"
#include "text/text.h"

static gbs_status read_variables(gbsi_text *text, const gbs_model *model, uint32_t *variable,
                                 size_t n, uint8_t *seen, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    for (size_t i = 0; i < n; i++) {
        uint32_t v = 0;
        const gbsi_token token = gbsi_text_peek(text);
        GBSI_PASS(gbsi_text_variable(text, gbs_model_n_variables(model), &v, err));
        if (seen[v] != 0) {
            return gbsi_text_fail(text, token, err, "found variable %s a second time",
                                  gbsi_token_show(token, shown));
        }
        seen[v] = 1;
        variable[i] = v;
    }
    return gbsi_text_expect_end(text, "the last variable", err);
}

static gbs_status read_query(gbsi_text *text, const gbs_model *model, uint32_t **variable,
                             size_t *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *read = NULL;
    uint8_t *seen = NULL;
    uint64_t count = 0;
    GBSI_TRY(gbsi_text_count(text, "the number of query variables", 2, &count, err));
    read = gbsi_alloc_array((size_t)count, sizeof *read);
    seen = gbsi_alloc_array_zero(gbs_model_n_variables(model), 1);
    GBSI_TRY(GBSI_HAVE(err, text->name, read, seen));
    GBSI_TRY(read_variables(text, model, read, (size_t)count, seen, err));
    *variable = read;
    *n = (size_t)count;
    read = NULL;

cleanup:
    GBSI_FREE(read, seen);
    return status;
}

gbs_status gbsi_query_read(const char *path, const gbs_model *model,
                           const gbs_read_options *options, uint32_t **variable, size_t *n,
                           gbs_error *err)
{
    GBSI_NEED(path, model, variable, n);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, options, err));
    text.comment = '#';
    text.is_glued = true;
    status = read_query(&text, model, variable, n, err);

cleanup:
    gbsi_input_free(&input);
    return status;
}
