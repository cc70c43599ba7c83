/* SPDX-License-Identifier: Apache-2.0 */
/* The patterns of Wapiti's templates: any character is itself; "." is any; \a letters, \d digits,
 * \l small letters, \u capitals, \w letters and digits, \p punctuation, \s white space, in capitals
 * what is not one; \ in front of any other character is that character; "*" behind one: any number
 * of it, "?": one or none; "^" at the begin and "$" at the end tie it to the ends of the text. All
 * of ASCII. */
#ifndef GBSI_CRF_PATTERN_H
#define GBSI_CRF_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* @return NULL, or where a "*" or "?" has nothing in front of it. */
const char *gbsi_pattern_check(const char *pattern, size_t n);

/* The first place in a text where the pattern matches: "*" takes as few as will do, "?" one if that
 * will do. @param room [n + n_text + 1]. @return false, with 0 and 0: nowhere. */
bool gbsi_pattern_find(const char *pattern, size_t n, const char *text, size_t n_text, size_t *room,
                       size_t *begin, size_t *length);

#endif
