/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as draws in a table, alone and twice: then there are twice as many chains. */
#include "fuzz.h"
#include "gibbsite/diagnose.h"

#include <string.h>

static gbs_draws *read_files(const char *path, size_t n, gbs_error *err)
{
    const char *const paths[2] = {path, path};
    const gbs_read_options options = {.size = sizeof options, .warn = fuzz_take_warning};
    gbs_draws *draws = NULL;
    const gbs_status status = gbs_draws_read(paths, n, &options, &draws, err);
    FUZZ_REQUIRE((status >= 0) == (draws != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, err);
    }
    return draws;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbs_error err = {0};
    const char *path = fuzz_file(data, size);
    gbs_draws *one = read_files(path, 1, &err);
    gbs_draws *two = one == NULL ? NULL : read_files(path, 2, &err);
    const size_t n = gbs_draws_n_draws(one);
    FUZZ_REQUIRE((one == NULL) == (n == 0));
    if (two != NULL) { /* labels and numbers may come in the other order */
        FUZZ_REQUIRE(gbs_draws_n_chains(two) == 2 * gbs_draws_n_chains(one));
        FUZZ_REQUIRE(gbs_draws_n_draws(two) == n);
        FUZZ_REQUIRE(gbs_draws_n_quantities(two) == gbs_draws_n_quantities(one));
    }
    for (size_t i = 0; i < gbs_draws_n_quantities(two); i++) {
        const size_t bytes = gbs_draws_n_chains(one) * n * sizeof(double);
        const double *values = gbs_draws_values(two, i);
        FUZZ_REQUIRE(strcmp(gbs_draws_name(one, i), gbs_draws_name(two, i)) == 0);
        FUZZ_REQUIRE(memcmp(values, gbs_draws_values(one, i), bytes) == 0);
        FUZZ_REQUIRE(memcmp((const char *)values + bytes, values, bytes) == 0);
    }
    gbs_draws_free(one);
    gbs_draws_free(two);
    return 0;
}
