/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a .npz archive, every member of it. */
#include "arrays/arrays.h"
#include "fuzz.h"
#include "npy_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    enum { MOST_MEMBERS = 64 };
    gbsi_npz *npz = NULL;
    gbs_error err = {0};
    gbs_status status = gbsi_npz_open(path, &npz, &err);
    FUZZ_REQUIRE((status >= 0) == (npz != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
        return 0;
    }
    for (size_t i = 0; i < gbsi_npz_n_members(npz) && i < MOST_MEMBERS; i++) {
        gbsi_array array = {.data = NULL};
        gbs_error why = {0};
        status = gbsi_npz_read(npz, gbsi_npz_name(npz, i), &array, &why);
        FUZZ_REQUIRE((status >= 0) == (array.data != NULL));
        if (status < 0) {
            fuzz_check_refusal(path, status, &why);
        } else {
            fuzz_check_array(&array);
        }
        gbsi_array_free(&array);
    }
    gbsi_npz_close(npz);
    return 0;
}
