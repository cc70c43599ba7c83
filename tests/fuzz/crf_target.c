/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a text model of CRF++ or Wapiti: what is read labels a sentence, and what is written
 * of it is read again. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gibbsite/crf.h"

static const char sentence[] = "the D x\nAnt N y\n\nX9 N z\n";

static void check_labels(const gbs_crf *crf)
{
    const gbs_label_options options = {.size = sizeof options, .threads = 1};
    gbs_sequences *data = NULL;
    gbs_error err = {0};
    uint32_t label[3] = {7, 7, 7};
    double log_p[2];
    FUZZ_REQUIRE(gbs_sequences_read_memory("s", sentence, sizeof sentence - 1, &data, &err) ==
                 GBS_OK);
    gbs_status status = gbs_crf_label(crf, data, &options, NULL, label, NULL, log_p, NULL, &err);
    if (status == GBS_ERR_UNSUPPORTED) { /* sums that doubles cannot hold */
        status = gbs_crf_label(crf, data, &options, NULL, label, NULL, NULL, NULL, &err);
    }
    if (status < 0) {
        fuzz_check_failure(status, &err);
        FUZZ_REQUIRE(gbs_crf_n_columns(crf) > 3);
    }
    for (size_t t = 0; status >= 0 && t < 3; t++) {
        FUZZ_REQUIRE(label[t] < gbs_crf_n_labels(crf));
    }
    gbs_sequences_free(data);
}

static void check_written(const gbs_crf *crf)
{
    const char *path = fuzz_file("", 0);
    gbs_crf *again = NULL;
    gbs_error err = {0};
    FUZZ_REQUIRE(gbs_crf_write(crf, path, &err) == GBS_OK);
    FUZZ_REQUIRE(gbs_crf_read(path, &again, &err) == GBS_OK);
    FUZZ_REQUIRE(gbs_crf_n_weights(again) == gbs_crf_n_weights(crf));
    FUZZ_REQUIRE(gbs_crf_n_features(again) == gbs_crf_n_features(crf));
    FUZZ_REQUIRE(gbs_crf_n_labels(again) == gbs_crf_n_labels(crf));
    gbs_crf_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbs_crf *crf = NULL;
    gbs_error err = {0};
    const gbs_status status = gbs_crf_read_memory("m", data, size, &crf, &err);
    FUZZ_REQUIRE((status >= 0) == (crf != NULL));
    if (status < 0) {
        fuzz_check_failure(status, &err);
        return 0;
    }
    check_labels(crf);
    check_written(crf);
    gbs_crf_free(crf);
    return 0;
}
