/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a summary of a run, from which a page is made: alone, and beside itself. */
#include <string.h>

#include "fuzz.h"
#include "gibbsite/report.h"

static void check_page(const char *page)
{
    FUZZ_REQUIRE(strncmp(page, "<!DOCTYPE html>", 15) == 0);
    FUZZ_REQUIRE(strcmp(page + strlen(page) - 8, "</html>\n") == 0);
    FUZZ_REQUIRE(strstr(page, "<script") == NULL);
    for (const char *at = page; *at != '\0'; at++) {
        FUZZ_REQUIRE((unsigned char)*at >= 0x20 || *at == '\n' || *at == '\t');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const gbs_report_source source[2] = {{"s", (const char *)data, size},
                                         {"s", (const char *)data, size}};
    for (size_t n = 1; n <= 2; n++) {
        gbs_error err = {GBS_OK, ""};
        gbs_output *output = NULL;
        char *page = NULL;
        size_t length = 0;
        FUZZ_REQUIRE(gbs_output_open_memory(&output, NULL) == GBS_OK);
        const gbs_status status = gbs_report_html(source, n, output, &err);
        FUZZ_REQUIRE(gbs_output_take(output, &page, &length, NULL) == GBS_OK);
        if (status < 0) {
            FUZZ_REQUIRE(length == 0);
            fuzz_check_refusal("s", status, &err);
        } else {
            FUZZ_REQUIRE(strlen(page) == length);
            check_page(page);
        }
        gbs_free(page);
    }
    return 0;
}
