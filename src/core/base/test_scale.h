/* SPDX-License-Identifier: Apache-2.0 */
/* The scale of the tests, which determines the amount of their work. */
#ifndef GBSI_BASE_TEST_SCALE_H
#define GBSI_BASE_TEST_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* GIBBSITE_TEST_SCALE has three values. The first value is for sanitizers, under which tests take
 * long; the second is for ordinary runs; the third is for nightly runs. */
typedef enum test_scale { TEST_SMALL, TEST_USUAL, TEST_FULL } test_scale;

static inline test_scale test_scale_asked(void)
{
    const char *text = getenv("GIBBSITE_TEST_SCALE");
    return text == NULL                 ? TEST_USUAL
           : strcmp(text, "small") == 0 ? TEST_SMALL
           : strcmp(text, "full") == 0  ? TEST_FULL
                                        : TEST_USUAL;
}

/* @return the argument `full`, `usual` or `small`, depending on the scale of this run. */
static inline size_t test_scaled(size_t full, size_t usual, size_t small)
{
    const size_t of_scale[] = {small, usual, full};
    return of_scale[test_scale_asked()];
}

/* @return `few` at small scale, otherwise `all`. */
static inline size_t test_share(size_t all, size_t few)
{
    return test_scaled(all, all, few);
}

/* @return whether a test only has to find races, which is so at small scale under the thread
 * sanitizer. The builds without this sanitizer compare the bits and the answers in the same test.
 */
static inline bool test_races_alone(void)
{
#ifdef __SANITIZE_THREAD__
    return test_scale_asked() == TEST_SMALL;
#else
    return false;
#endif
}

#endif
