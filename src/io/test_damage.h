/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: files damaged from a fixed seed. Include cmocka.h first. */
#ifndef GBSI_IO_TEST_DAMAGE_H
#define GBSI_IO_TEST_DAMAGE_H

#include <stdbool.h>

#include "base/test_random.h"
#include "io/test_models.h"

/* Reads n bytes that lie at the end of their allocation, so that a checker sees a step too far.
 * @return whether they are a model. */
static inline bool read_exactly(const char *bytes, size_t n, const gbs_read_options *options)
{
    gbs_model *model = NULL;
    gbs_error err = {0};
    char *copy = malloc(n == 0 ? 1 : n);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    gbs_status status = gbs_model_read_memory("name", copy, n, options, &model, &err);
    if (status == GBS_OK) {
        assert_non_null(model);
        gbs_model_free(model);
    } else {
        assert_null(model);
        if (strncmp(err.message, "name:", 5) != 0) {
            fail_msg("%s", err.message);
        }
        assert_true(strlen(err.message) > 10);
    }
    free(copy);
    return status == GBS_OK;
}

/* Another byte, a run left out, a word put in or over what is there.
 * @param words of the format, n_words of them. @return the new length, at most size. */
static inline size_t mutate(char *text, size_t n, size_t size, const char *const *words,
                            size_t n_words, uint64_t *seed)
{
    uint64_t r = next_random(seed);
    size_t at = (size_t)(next_random(seed) % (n + 1));
    const char *word = words[next_random(seed) % n_words];
    size_t length = strlen(word);
    if (r % 4 == 0 && at < n) {
        text[at] = (char)(next_random(seed) % 256);
    } else if (r % 4 == 1 && at < n) {
        size_t run = 1 + (size_t)(next_random(seed) % 8);
        run = run < n - at ? run : n - at;
        memmove(text + at, text + at + run, n - at - run);
        n -= run;
    } else if (r % 4 == 2 && n + length < size) {
        memmove(text + at + length, text + at, n - at);
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes, not a string */
        memcpy(text + at, word, length);
        n += length;
    } else if (at + length <= n) {
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes, not a string */
        memcpy(text + at, word, length);
    }
    return n;
}

#endif
