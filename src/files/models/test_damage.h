/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for tests with damaged files. The damage follows from a fixed seed. Include cmocka.h
 * first. */
#ifndef GBSI_MODELS_TEST_DAMAGE_H
#define GBSI_MODELS_TEST_DAMAGE_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/test_random.h"
#include "text/test_models.h"

/* Reads a model from n bytes of text that end where their allocation ends, so that a memory checker
 * reports any read beyond the text.
 * @return whether the text is a model. */
static inline bool read_exactly(const char *text, size_t n, const gbs_read_options *options)
{
    gbs_model *model = NULL;
    gbs_error err = {0};
    char *copy = malloc(n == 0 ? 1 : n);
    assert_non_null(copy);
    memcpy(copy, text, n);
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

/* Damages a text: changes a byte, removes a run, inserts a word, or overwrites bytes with a word.
 * @param words [n_words] words of the format.
 * @return the new length of the text, at most `size`. */
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

/* Reads the text 3000 times, each time with one to three mutations and with the options that
 * options_of() gives.
 * @return the number of texts that were models. */
static inline int read_mutations(const char *original, size_t n, const char *const *words,
                                 size_t n_words, uint64_t *seed,
                                 gbs_read_options (*options_of)(const void *sample, int round),
                                 const void *sample)
{
    char text[8192];
    int n_read = 0;
    assert_true(n < sizeof text);
    for (int round = 0; round < 3000; round++) {
        size_t m = n;
        memcpy(text, original, n);
        for (int k = 0; k <= round % 3; k++) {
            m = mutate(text, m, sizeof text, words, n_words, seed);
        }
        const gbs_read_options options = options_of(sample, round);
        n_read += read_exactly(text, m, &options);
    }
    return n_read;
}

/* Reads a model repeatedly until reading succeeds. In attempt n = 0, 1, 2, ... only the first n
 * allocations succeed.
 * @param text text to be read; NULL if the file `name` is read. */
static inline gbs_model *read_starved(const char *name, const char *text,
                                      const gbs_read_options *options)
{
    gbs_model *model = NULL;
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t n = 0;
    for (; status != GBS_OK; n++) {
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        status = text == NULL
                     ? gbs_model_read(name, options, &model, &err)
                     : gbs_model_read_memory(name, text, strlen(text), options, &model, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        assert_true((status == GBS_OK) == (model != NULL));
    }
    assert_true(n > 5);
    return model;
}

/* Writes a model repeatedly until writing succeeds. In attempt n = 0, 1, 2, ... only the first n
 * allocations succeed. */
static inline void write_starved(const gbs_model *model, const char *format)
{
    const char *path = scratch_path("m");
    const gbs_write_options options = {.format = format};
    gbs_status status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status != GBS_OK; n++) {
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        status = gbs_model_write(model, path, &options, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
    }
}

#endif
