/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as an evidence file, of a form that shows and of each that is named. */
#include <stddef.h>

#include "fuzz.h"

/* @return the evidence, or NULL if there is none to be had; then nothing is half done. */
static gbs_evidence *read_as(const char *path, const char *form, uint32_t index, int lenient)
{
    gbs_error err = {0};
    gbs_evidence *evidence = NULL;
    const gbs_read_options options = {
        .evidence_format = form, .lenient = lenient, .warn = fuzz_take_warning};
    FUZZ_REQUIRE(gbs_evidence_new(fuzz_small_model(), &evidence, &err) == GBS_OK);
    gbs_status status = gbs_evidence_read(evidence, path, index, &options, &err);
    if (status >= 0) {
        return evidence;
    }
    fuzz_check_refusal(path, status, &err);
    FUZZ_REQUIRE(gbs_evidence_n_observed(evidence) == 0);
    gbs_evidence_free(evidence);
    return NULL;
}

static void check_states(const gbs_evidence *evidence)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < gbs_model_n_variables(fuzz_small_model()); v++) {
        uint32_t state = 0;
        if (gbs_evidence_state(evidence, v, &state) != 0) {
            FUZZ_REQUIRE(state < gbs_model_arity(fuzz_small_model(), v));
            n++;
        }
    }
    FUZZ_REQUIRE(n == gbs_evidence_n_observed(evidence));
}

static int equal(const gbs_evidence *a, const gbs_evidence *b)
{
    for (uint32_t v = 0; v < gbs_model_n_variables(fuzz_small_model()); v++) {
        uint32_t in_a = 0;
        uint32_t in_b = 0;
        if (gbs_evidence_state(a, v, &in_a) != gbs_evidence_state(b, v, &in_b) || in_a != in_b) {
            return 0;
        }
    }
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    uint32_t index = fuzz_choose(data, size, 4) == 0 ? 1 : 0;
    gbs_evidence *plain = read_as(path, NULL, index, 0);
    gbs_evidence *single = read_as(path, "single", index, 1);
    gbs_evidence *multi = read_as(path, "multi", index, 1);
    gbs_evidence *names = read_as(path, "names", index, 1);
    if (plain != NULL) { /* what was found out could have been said */
        check_states(plain);
        FUZZ_REQUIRE((single != NULL && equal(plain, single)) ||
                     (multi != NULL && equal(plain, multi)) ||
                     (names != NULL && equal(plain, names)));
    }
    if (names != NULL) {
        check_states(names);
    }
    if (single != NULL) {
        check_states(single);
    }
    if (multi != NULL) {
        check_states(multi);
    }
    gbs_evidence_free(plain);
    gbs_evidence_free(single);
    gbs_evidence_free(multi);
    gbs_evidence_free(names);
    return 0;
}
