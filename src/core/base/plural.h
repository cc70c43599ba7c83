/* SPDX-License-Identifier: Apache-2.0 */
/* Words behind a number in messages: "1 variable", "2 variables", "0 variables". */
#ifndef GBSI_BASE_PLURAL_H
#define GBSI_BASE_PLURAL_H

#include <stdint.h>

/* @return the word, or the end of it, that n things have: "y" or "ies", "is" or "are". */
static inline const char *gbsi_plural_of(uint64_t n, const char *one, const char *more)
{
    return n == 1 ? one : more;
}

/* @return the ending "s", empty for one thing. */
static inline const char *gbsi_plural(uint64_t n)
{
    return gbsi_plural_of(n, "", "s");
}

#endif
