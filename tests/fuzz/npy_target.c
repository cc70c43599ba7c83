/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a .npy file; what was read is written and read again. */
#include <string.h>

#include "arrays/arrays.h"
#include "fuzz.h"
#include "npy_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    gbsi_array array = {.data = NULL};
    gbsi_array back = {.data = NULL};
    gbs_error err = {0};
    gbs_status status = gbsi_npy_read(path, &array, &err);
    FUZZ_REQUIRE((status >= 0) == (array.data != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
        return 0;
    }
    fuzz_check_array(&array);
    gbs_output *output = NULL;
    char *bytes = NULL;
    size_t n = 0;
    FUZZ_REQUIRE(gbs_output_open_memory(&output, NULL) == GBS_OK);
    FUZZ_REQUIRE(gbsi_npy_write(output, &array, NULL, NULL, NULL) == GBS_OK);
    FUZZ_REQUIRE(gbs_output_take(output, &bytes, &n, NULL) == GBS_OK);
    FUZZ_REQUIRE(gbsi_npy_read(fuzz_file(bytes, n), &back, NULL) == GBS_OK);
    FUZZ_REQUIRE(back.type == array.type && back.n_dims == array.n_dims);
    FUZZ_REQUIRE(gbsi_array_size(&back) == gbsi_array_size(&array));
    FUZZ_REQUIRE(memcmp(back.shape, array.shape, array.n_dims * sizeof *array.shape) == 0);
    FUZZ_REQUIRE(memcmp(back.data, array.data,
                        gbsi_array_size(&array) * gbsi_array_type_bytes(array.type)) == 0);
    gbs_free(bytes);
    gbsi_array_free(&array);
    gbsi_array_free(&back);
    return 0;
}
