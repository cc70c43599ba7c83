/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a query file. */
#include "answers/answers.h"
#include "fuzz.h"

/* @return whether it was read. */
static int read_with(const char *path, int lenient)
{
    const gbs_model *model = fuzz_small_model();
    const gbs_read_options options = {.lenient = lenient, .warn = fuzz_take_warning};
    uint32_t *variable = NULL;
    size_t n = 0;
    gbs_error err = {0};
    gbs_status status = gbsi_query_read(path, model, &options, &variable, &n, &err);
    FUZZ_REQUIRE((status >= 0) == (variable != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
        return 0;
    }
    FUZZ_REQUIRE(n <= gbs_model_n_variables(model));
    for (size_t i = 0; i < n; i++) {
        FUZZ_REQUIRE(variable[i] < gbs_model_n_variables(model));
        for (size_t j = 0; j < i; j++) {
            FUZZ_REQUIRE(variable[i] != variable[j]);
        }
    }
    gbs_free(variable);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    int strict = read_with(path, 0);
    int lenient = read_with(path, 1);
    FUZZ_REQUIRE(lenient || !strict);
    return 0;
}
