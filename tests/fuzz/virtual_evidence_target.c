/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a file of virtual evidence. */
#include <math.h>

#include "fuzz.h"
#include "store/model.h"

static void check_likelihoods(const gbs_evidence *evidence)
{
    const gbs_model *model = fuzz_small_model();
    for (uint32_t v = 0; evidence->log_likelihood != NULL && v < model->n_variables; v++) {
        const double *logw = &evidence->log_likelihood[model->state_offset[v]];
        int possible = 0;
        for (uint32_t a = 0; a < model->arity[v]; a++) {
            FUZZ_REQUIRE(logw[a] < INFINITY);
            possible |= logw[a] > -INFINITY;
        }
        FUZZ_REQUIRE(possible);
    }
}

/* @return whether it was read. */
static int read_with(const char *path, int lenient)
{
    gbs_error err = {0};
    gbs_evidence *evidence = NULL;
    const gbs_read_options options = {.lenient = lenient, .warn = fuzz_take_warning};
    FUZZ_REQUIRE(gbs_evidence_new(fuzz_small_model(), &evidence, &err) == GBS_OK);
    gbs_status status = gbs_evidence_read_virtual(evidence, path, &options, &err);
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
    }
    check_likelihoods(evidence);
    FUZZ_REQUIRE(gbs_evidence_n_observed(evidence) == 0);
    gbs_evidence_free(evidence);
    return status >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    int strict = read_with(path, 0);
    int lenient = read_with(path, 1);
    FUZZ_REQUIRE(lenient || !strict);
    return 0;
}
