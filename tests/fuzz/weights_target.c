/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as weights of targets. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "answers/answers.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    const gbs_model *model = fuzz_small_model();
    const uint32_t n = gbs_model_n_variables(model);
    double *weight = malloc(n * sizeof *weight);
    FUZZ_REQUIRE(weight != NULL);
    for (uint32_t v = 0; v < n; v++) {
        weight[v] = -7.0;
    }
    gbs_error err = {0};
    const gbs_status status = gbsi_weights_read(path, model, weight, &err);
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
    }
    for (uint32_t v = 0; v < n; v++) {
        FUZZ_REQUIRE(status < 0 ? weight[v] == -7.0 : weight[v] >= 0.0 && isfinite(weight[v]));
    }
    free(weight);
    return 0;
}
