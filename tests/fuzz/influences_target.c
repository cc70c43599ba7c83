/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as influences of variables on one another. */
#include "fuzz.h"
#include "gibbsite/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    const gbs_model *model = fuzz_small_model();
    const uint32_t n_variables = gbs_model_n_variables(model);
    gbs_pair *pair = NULL;
    size_t n = 0;
    gbs_error err = {0};
    const gbs_status status = gbs_influences_read(path, model, &pair, &n, &err);
    if (status < 0) {
        FUZZ_REQUIRE(pair == NULL && n == 0);
        fuzz_check_refusal(path, status, &err);
    }
    for (size_t e = 0; e < n; e++) {
        FUZZ_REQUIRE(pair[e].i < n_variables && pair[e].j < n_variables);
        FUZZ_REQUIRE(pair[e].value >= 0.0 && pair[e].value <= 1.0);
        FUZZ_REQUIRE(pair[e].i != pair[e].j || pair[e].value == 0.0);
    }
    gbs_free(pair);
    return 0;
}
