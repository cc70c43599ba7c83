/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a native model file: as it is, which the checksum lets through only unharmed, and
 * with its size and checksum made right, so that what a forger could write comes to the checks
 * behind them. What is read comes back when written. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "fuzz.h"
#include "models/gbm.h"

static gbs_model *read_input(const uint8_t *data, size_t size)
{
    const gbs_read_options options = {.format = "gbm", .warn = fuzz_take_warning};
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbs_status status = gbs_model_read_memory("input", data, size, &options, &model, &err);
    FUZZ_REQUIRE((status >= 0) == (model != NULL));
    if (status < 0) {
        fuzz_check_refusal("input", status, &err);
        FUZZ_REQUIRE(status != GBS_ERR_ARGUMENT);
    }
    return model;
}

static void check(const uint8_t *data, size_t size)
{
    const gbs_read_options plain = {.warn = fuzz_take_warning};
    gbs_model *model = read_input(data, size);
    if (model == NULL) {
        return;
    }
    fuzz_check_model(model);
    const char *digest = gbs_model_digest(model);
    gbs_model *back = fuzz_through_file(model, "gbm", &plain);
    if (back != NULL) {
        FUZZ_REQUIRE(strcmp(gbs_model_digest(back), digest) == 0);
    }
    gbs_model_free(back);
    gbs_model_free(model);
}

/* Makes magic, size and digest right, as whoever forges a file would. */
static void seal(uint8_t *bytes, size_t n)
{
    char text[GBSI_GBM_DIGEST_BYTES + 1];
    const uint64_t size = n;
    gbsi_digest *digest = NULL;
    memcpy(bytes, gbsi_gbm_magic, sizeof gbsi_gbm_magic);
    memcpy(bytes + GBSI_GBM_FILE_BYTES_AT, &size, sizeof size);
    FUZZ_REQUIRE(gbsi_digest_new(&digest, NULL) == GBS_OK);
    gbsi_digest_bytes(digest, bytes, n - GBSI_GBM_DIGEST_BYTES);
    gbsi_digest_text(digest, text);
    gbsi_digest_free(digest);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes, not a string */
    memcpy(bytes + n - GBSI_GBM_DIGEST_BYTES, text, GBSI_GBM_DIGEST_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(data, size);
    if (size >= GBSI_GBM_HEADER_BYTES + GBSI_GBM_DIGEST_BYTES) {
        uint8_t *copy = malloc(size);
        FUZZ_REQUIRE(copy != NULL);
        memcpy(copy, data, size);
        seal(copy, size);
        check(copy, size);
        free(copy);
    }
    return 0;
}
