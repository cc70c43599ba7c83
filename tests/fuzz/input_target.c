/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a file that may be compressed: unpacked from memory and from a file alike. */
#include <string.h>

#include "fuzz.h"
#include "text/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbsi_input memory = {0};
    gbsi_input file = {0};
    gbs_error err = {0};
    gbs_error same = {0};
    gbs_status status = gbsi_input_memory("input", data, size, &memory, &err);
    FUZZ_REQUIRE(gbsi_input_read(fuzz_file(data, size), &file, &same) == status);
    if (status < 0) {
        fuzz_check_refusal("input", status, &err);
        FUZZ_REQUIRE(memory.owned == NULL && file.owned == NULL);
    } else {
        FUZZ_REQUIRE(memory.n == file.n);
        FUZZ_REQUIRE(memory.n == 0 || memcmp(memory.bytes, file.bytes, memory.n) == 0);
        FUZZ_REQUIRE(memory.owned != NULL || memory.bytes == (const char *)data);
    }
    gbsi_input_free(&memory);
    gbsi_input_free(&file);
    return 0;
}
