/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one state for each variable from a plain list, from a UAI result (MAP or MPE, n, then n
 * states) or from a picture. */
#include "answers/result.h"
#include "base/memory.h"
#include "base/sized.h"
#include "pictures/image_file.h"
#include "store/builder.h"

static gbs_status read_head(gbsi_text *text, uint32_t n_variables, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    uint64_t n = 0;
    gbsi_token token = gbsi_text_peek(text);
    if (!gbsi_token_is_any_case(token, "MAP") && !gbsi_token_is_any_case(token, "MPE")) {
        return GBS_OK;
    }
    (void)gbsi_text_next(text);
    gbsi_result_last_solution(text, token);
    token = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_integer(text, "the number of variables", UINT64_MAX, &n, err));
    if (n != n_variables) {
        return gbsi_text_fail(text, token, err,
                              "found %s variables, expected those of the model: %u",
                              gbsi_token_show(token, shown), n_variables);
    }
    return GBS_OK;
}

static gbs_status read_states(gbsi_text *text, const gbs_model *model, uint32_t *state,
                              gbs_error *err)
{
    char shown[GBSI_SHOWN];
    for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
        uint64_t value = 0;
        gbsi_token token = gbsi_text_peek(text);
        GBSI_PASS(gbsi_text_integer(text, "a state", UINT64_MAX, &value, err));
        if (value >= gbs_model_arity(model, v)) {
            char name[128];
            return gbsi_text_fail(
                text, token, err, "found state %s of variable %s, expected less than %u",
                gbsi_token_show(token, shown), gbsi_variable_text(model, v, name, sizeof name),
                gbs_model_arity(model, v));
        }
        state[v] = (uint32_t)value;
    }
    return gbsi_text_expect_end(text, "the state of the last variable", err);
}

gbs_status gbs_state_read(const char *path, const gbs_model *model, const gbs_read_options *options,
                          uint32_t *state, gbs_error *err)
{
    GBSI_NEED(path, model, state);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    size_t n = gbs_model_n_variables(model);
    gbs_read_options strict = {0};
    uint32_t *read = gbsi_alloc_array_zero(n, sizeof *read);
    GBSI_PASS(GBSI_HAVE(err, path, read));
    if (options != NULL) {
        strict.warn = options->warn;
        strict.context = options->context;
    }
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    if (gbsi_is_image(&input)) {
        GBSI_TRY(gbsi_image_start(&input, model, &strict, read, err));
    } else {
        GBSI_TRY(gbsi_text_open(&text, &input, &strict, err));
        GBSI_TRY(read_head(&text, (uint32_t)n, err));
        GBSI_TRY(read_states(&text, model, read, err));
    }
    memcpy(state, read, n * sizeof *state);

cleanup:
    gbsi_input_free(&input);
    gbsi_free(read);
    return status;
}
