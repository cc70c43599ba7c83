/* SPDX-License-Identifier: Apache-2.0 */
/* Endings of words after a number in messages: "1 variable", "2 variables", "0 variables". */
#ifndef GBSI_BASE_PLURAL_H
#define GBSI_BASE_PLURAL_H

#include <stdint.h>

/* @return `one` for n = 1, otherwise `more`: a word such as "is" or "are", or an ending such as
 * "y" or "ies". */
static inline const char *gbsi_plural_of(uint64_t n, const char *one, const char *more)
{
    return n == 1 ? one : more;
}

/* @return the ending "s", or "" for n = 1. */
static inline const char *gbsi_plural(uint64_t n)
{
    return gbsi_plural_of(n, "", "s");
}

#endif
