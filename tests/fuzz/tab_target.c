/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as libDAI data: samples of evidence, all of them. */
#include "answers/answers.h"
#include "fuzz.h"

/* A sample that cannot be observed leaves nothing behind. */
static void check_sample(const gbsi_evidence_set *set, size_t index)
{
    const gbs_model *model = fuzz_small_model();
    gbs_evidence *evidence = NULL;
    gbs_error err = {0};
    uint32_t n = 0;
    FUZZ_REQUIRE(gbs_evidence_new(model, &evidence, &err) == GBS_OK);
    gbs_status status = gbsi_evidence_set_observe(set, index, evidence, &err);
    for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
        uint32_t state = 0;
        if (gbs_evidence_state(evidence, v, &state) != 0) {
            FUZZ_REQUIRE(state < gbs_model_arity(model, v));
            n++;
        }
    }
    FUZZ_REQUIRE(n == gbs_evidence_n_observed(evidence));
    if (status < 0) {
        fuzz_check_failure(status, &err);
        FUZZ_REQUIRE(n == 0);
    }
    gbs_evidence_free(evidence);
}

/* @return how many samples, 0 if it was not read. */
static size_t read_with(const char *path, int lenient)
{
    enum { MOST_SAMPLES = 64 };
    const gbs_read_options options = {
        .evidence_format = "tab", .lenient = lenient, .warn = fuzz_take_warning};
    gbsi_evidence_set *set = NULL;
    gbs_error err = {0};
    gbs_status status = gbsi_evidence_set_read(fuzz_small_model(), path, &options, &set, &err);
    FUZZ_REQUIRE((status >= 0) == (set != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
        return 0;
    }
    size_t n = gbsi_evidence_set_size(set);
    FUZZ_REQUIRE(n > 0);
    for (size_t i = 0; i < n && i < MOST_SAMPLES; i++) {
        check_sample(set, i);
    }
    gbsi_evidence_set_free(set);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    size_t strict = read_with(path, 0);
    size_t lenient = read_with(path, 1);
    FUZZ_REQUIRE(strict == 0 || strict == lenient);
    return 0;
}
