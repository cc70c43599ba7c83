/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a program of Markov logic and, behind the first '~', its database. */
#include <string.h>

#include "fuzz.h"
#include "gibbsite/ground.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const gbs_ground_options options = {
        .size = sizeof options, .time_s = 1.0, .memory_limit = UINT64_C(1) << 32};
    gbs_ground_report report = {.size = sizeof report};
    gbs_model *model = NULL;
    gbs_error err = {0};
    const uint8_t *mark = size == 0 ? NULL : memchr(data, '~', size);
    const size_t n = mark == NULL ? size : (size_t)(mark - data);
    const gbs_status status =
        gbs_ground_memory("m", data, n, "d", mark == NULL ? data + size : mark + 1,
                          mark == NULL ? 0 : size - n - 1, &options, NULL, &model, &report, &err);
    FUZZ_REQUIRE((status >= 0) == (model != NULL));
    if (status < 0) {
        FUZZ_REQUIRE(err.message[0] != '\0');
        return 0;
    }
    FUZZ_REQUIRE(gbs_model_n_variables(model) == report.n_variables);
    FUZZ_REQUIRE(gbs_model_n_factors(model) == report.n_factors);
    gbs_model_free(model);
    return 0;
}
