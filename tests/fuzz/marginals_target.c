/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as marginals, a UAI result of the task MAR. */
#include "fuzz.h"

static gbs_status read_with(const char *path, int lenient, gbs_marginals *marginals)
{
    gbs_error err = {0};
    const gbs_read_options options = {.lenient = lenient, .warn = fuzz_take_warning};
    gbs_status status = gbs_marginals_read(path, &options, marginals, &err);
    FUZZ_REQUIRE((status >= 0) == (marginals->offset != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
    }
    return status;
}

static void check_marginals(const gbs_marginals *m)
{
    FUZZ_REQUIRE(m->offset[0] == 0);
    for (uint32_t v = 0; v < m->n_variables; v++) {
        FUZZ_REQUIRE(m->offset[v] < m->offset[v + 1]);
    }
    for (size_t i = 0; i < m->offset[m->n_variables]; i++) {
        FUZZ_REQUIRE(m->p[i] >= 0 && m->p[i] < 1.01);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    gbs_marginals strict = {0};
    gbs_marginals lenient = {0};
    gbs_comparison comparison = {.worst = 0};
    gbs_status status = read_with(path, 0, &strict);
    gbs_status more = read_with(path, 1, &lenient);
    if (more >= 0) {
        check_marginals(&lenient);
    }
    if (status >= 0) {
        check_marginals(&strict);
        FUZZ_REQUIRE(more >= 0);
        FUZZ_REQUIRE(gbs_marginals_compare(&strict, &lenient, &comparison, NULL) == GBS_OK);
        FUZZ_REQUIRE(comparison.max_abs == 0 && comparison.mean_tv == 0);
    }
    gbs_marginals_free(&strict);
    gbs_marginals_free(&lenient);
    return 0;
}
