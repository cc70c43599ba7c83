/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/result.h"

#include <string.h>

#include "base/memory.h"

void gbsi_result_last_solution(gbsi_text *text, gbsi_token task)
{
    gbsi_text ahead = *text;
    for (;;) {
        gbsi_token token = gbsi_text_next(&ahead);
        if (token.n == 0) {
            break;
        }
        if (gbsi_token_is(token, "-BEGIN-")) {
            text->at = ahead.at;
        }
    }
    gbsi_token repeated = gbsi_text_peek(text);
    if (repeated.n == task.n && memcmp(repeated.at, task.at, task.n) == 0) {
        (void)gbsi_text_next(text);
    }
}

gbs_status gbsi_result_skip_samples(gbsi_text *text, bool (*fits)(gbsi_text text),
                                    const char *expected, gbs_error *err)
{
    gbsi_token token = gbsi_text_peek(text);
    gbsi_text behind = *text;
    (void)gbsi_text_next(&behind);
    if (fits(*text) || !gbsi_token_is(token, "1") || !fits(behind)) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_text_deviation(
        text, token, err, "found a number of evidence samples, expected %s (--lenient skips it)",
        expected));
    *text = behind;
    return GBS_OK;
}

gbs_status gbsi_result_texts(const char *pool, size_t n_bytes, size_t n, char ***texts,
                             gbs_error *err)
{
    const size_t pointers = n * sizeof **texts;
    char **made = gbsi_alloc(pointers + n_bytes + 1);
    GBSI_PASS(GBSI_HAVE(err, "names", made));
    char *at = (char *)made + pointers;
    if (n_bytes > 0) {
        memcpy(at, pool, n_bytes);
    }
    for (size_t i = 0; i < n; ++i) {
        made[i] = at;
        at += strlen(at) + 1;
    }
    *texts = made;
    return GBS_OK;
}
