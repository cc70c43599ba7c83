/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as rows: every state is below the number of states, and names are not empty. */
#include "fuzz.h"
#include "gibbsite/machines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbs_rows *rows = NULL;
    gbs_error err = {0};
    const char *path = fuzz_file(data, size);
    const gbs_status status = gbs_rows_read_as(path, NULL, 0, GBS_ALPHABET_AUTO, &rows, &err);
    FUZZ_REQUIRE((status >= 0) == (rows != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
        return 0;
    }
    const uint32_t n_sites = gbs_rows_n_sites(rows);
    const uint32_t n_states = gbs_rows_n_states(rows);
    FUZZ_REQUIRE(gbs_rows_n(rows) > 0 && n_sites > 0 && n_states >= 2);
    FUZZ_REQUIRE(gbs_rows_weight(rows) == (double)gbs_rows_n(rows));
    for (size_t k = 0; k < gbs_rows_n(rows); k++) {
        for (uint32_t i = 0; i < n_sites; i++) {
            FUZZ_REQUIRE(gbs_rows_state(rows, k, i) < n_states);
        }
    }
    for (uint32_t i = 0; i < n_sites; i++) {
        const char *name = gbs_rows_site_name(rows, i);
        FUZZ_REQUIRE(name == NULL || name[0] != '\0');
    }
    gbs_rows_free(rows);
    return 0;
}
