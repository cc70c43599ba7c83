/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a file of dummy edges. */
#include <stddef.h>

#include "answers/answers.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    const gbs_model *model = fuzz_small_model();
    uint32_t *pair = NULL;
    size_t n = 0;
    gbs_error err = {0};
    gbs_status status = gbsi_edges_read(path, model, &pair, &n, &err);
    FUZZ_REQUIRE((status >= 0) == (pair != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
        FUZZ_REQUIRE(n == 0);
    } else {
        FUZZ_REQUIRE(n > 0);
    }
    for (size_t i = 0; i < n; i++) {
        FUZZ_REQUIRE(pair[2 * i] != pair[2 * i + 1]);
        FUZZ_REQUIRE(pair[2 * i] < gbs_model_n_variables(model));
        FUZZ_REQUIRE(pair[2 * i + 1] < gbs_model_n_variables(model));
    }
    gbs_free(pair);
    return 0;
}
