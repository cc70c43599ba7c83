/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes in strings of JSON (RFC 8259, section 7). */
#ifndef GBSI_TEXT_JSON_TEXT_H
#define GBSI_TEXT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the escape behind a backslash, such as n or u00e9. If there is an escape, *at moves behind
 * it, and its character is appended to `text` in UTF-8. The character is never longer than the
 * escape with its backslash. @param n length of `text`, in and out. @return whether there is an
 * escape of a character other than 0. */
bool gbsi_json_escape(const char **at, const char *end, char *text, size_t *n);

#endif
