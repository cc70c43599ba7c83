/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as the states of all variables, plain or as a UAI result of the task MAP. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 16, UNTOUCHED = 1000 };
    const char *path = fuzz_file(data, size);
    const gbs_model *model = fuzz_small_model();
    uint32_t n = gbs_model_n_variables(model);
    uint32_t state[MOST];
    gbs_error err = {0};
    FUZZ_REQUIRE(n <= MOST);
    for (uint32_t v = 0; v < n; v++) {
        state[v] = UNTOUCHED;
    }
    gbs_status status = gbs_state_read(path, model, NULL, state, &err);
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
    }
    for (uint32_t v = 0; v < n; v++) {
        FUZZ_REQUIRE(status < 0 ? state[v] == UNTOUCHED : state[v] < gbs_model_arity(model, v));
    }
    return 0;
}
