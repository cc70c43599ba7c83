/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as column data: every text is there, and not empty. */
#include "fuzz.h"
#include "gibbsite/crf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbs_sequences *s = NULL;
    gbs_error err = {0};
    const char *path = fuzz_file(data, size);
    const gbs_status status = gbs_sequences_read(path, &s, &err);
    FUZZ_REQUIRE((status >= 0) == (s != NULL));
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
        return 0;
    }
    const size_t *first = gbs_sequences_first(s);
    const size_t n = gbs_sequences_n(s);
    FUZZ_REQUIRE(n > 0 && first[0] == 0 && first[n] == gbs_sequences_n_tokens(s));
    for (size_t i = 0; i < n; i++) {
        FUZZ_REQUIRE(first[i] < first[i + 1]);
    }
    for (size_t t = 0; t < gbs_sequences_n_tokens(s); t++) {
        for (uint32_t c = 0; c < gbs_sequences_n_columns(s); c++) {
            FUZZ_REQUIRE(gbs_sequences_text(s, t, c)[0] != '\0');
        }
    }
    gbs_sequences_free(s);
    return 0;
}
