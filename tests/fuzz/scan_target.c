/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a scan file. */
#include <stddef.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    const gbs_model *model = fuzz_small_model();
    uint32_t *sequence = NULL;
    size_t n = 0;
    gbs_error err = {0};
    gbs_status status = gbs_scan_read(path, model, &sequence, &n, &err);
    FUZZ_REQUIRE((status >= 0) == (sequence != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
        FUZZ_REQUIRE(n == 0);
    } else {
        FUZZ_REQUIRE(n > 0);
    }
    for (size_t i = 0; i < n; i++) {
        FUZZ_REQUIRE(sequence[i] < gbs_model_n_variables(model));
    }
    gbs_free(sequence);
    return 0;
}
