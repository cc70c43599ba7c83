/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/templates.h"

#include <stdint.h>

#define NOWHERE SIZE_MAX

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_in_class(char name, char c)
{
    const bool letter = is_small(c) || is_capital(c);
    switch (name) {
    case 'a':
        return letter;
    case 'd':
        return is_digit(c);
    case 'l':
        return is_small(c);
    case 'u':
        return is_capital(c);
    case 'w':
        return letter || is_digit(c);
    case 's':
        return c == ' ' || (c >= '\t' && c <= '\r');
    default: /* class p: punctuation */
        return c > ' ' && c < 0x7f && !letter && !is_digit(c);
    }
}

static bool is_class(char name)
{
    return name == 'a' || name == 'd' || name == 'l' || name == 'u' || name == 'w' || name == 's' ||
           name == 'p';
}

/* @return the number of bytes of the pattern's character at `at`. */
static size_t character_length(const char *at, const char *end)
{
    return *at == '\\' && end - at > 1 ? 2 : 1;
}

static bool matches(const char *at, size_t length, char c)
{
    if (length == 1) {
        return *at == '.' || *at == c;
    }
    const char small = is_capital(at[1]) ? (char)(at[1] - 'A' + 'a') : at[1];
    return is_class(small) ? is_in_class(small, c) == (small == at[1]) : at[1] == c;
}

const char *gbsi_pattern_check(const char *pattern, size_t n)
{
    const char *end = pattern + n;
    const char *at = pattern + (n > 0 && *pattern == '^');
    while (at < end) {
        if (*at == '*' || *at == '?') {
            return at;
        }
        at += character_length(at, end);
        at += at < end && (*at == '*' || *at == '?');
    }
    return NULL;
}

/* Puts one more character of the pattern before the part of the pattern that was matched already.
 * ends[t] is the end of the match that begins at t, in and out: of the part without and with this
 * character. */
static void put_before(const char *at, size_t length, char repeat, const char *text, size_t n_text,
                       size_t *ends)
{
    if (repeat == '*') {
        for (size_t t = n_text; t-- > 0;) {
            if (ends[t] == NOWHERE && matches(at, length, text[t])) {
                ends[t] = ends[t + 1];
            }
        }
        return;
    }
    for (size_t t = 0; t < n_text; t++) {
        const size_t one = matches(at, length, text[t]) ? ends[t + 1] : NOWHERE;
        ends[t] = one != NOWHERE || repeat != '?' ? one : ends[t];
    }
    ends[n_text] = repeat == '?' ? ends[n_text] : NOWHERE;
}

bool gbsi_pattern_find(const char *pattern, size_t n, const char *text, size_t n_text, size_t *room,
                       size_t *begin, size_t *length)
{
    const char *end = pattern + n;
    size_t *start = room; /* [n_characters] where each character of the pattern begins */
    size_t *ends = room + n;
    size_t n_characters = 0;
    const bool at_begin = n > 0 && *pattern == '^';
    bool at_end = false;
    for (const char *at = pattern + at_begin; at < end;) {
        at_end = *at == '$' && end - at == 1;
        start[n_characters] = (size_t)(at - pattern);
        n_characters += !at_end;
        at += character_length(at, end);
        at += at < end && (*at == '*' || *at == '?');
    }
    for (size_t t = 0; t <= n_text; t++) {
        ends[t] = at_end && t < n_text ? NOWHERE : t;
    }
    while (n_characters-- > 0) {
        const char *at = pattern + start[n_characters];
        const size_t bytes = character_length(at, end);
        put_before(at, bytes, at + bytes < end ? at[bytes] : '\0', text, n_text, ends);
    }
    size_t t = 0;
    while (t < (at_begin ? 0 : n_text) && ends[t] == NOWHERE) {
        t++;
    }
    const bool found = ends[t] != NOWHERE;
    *begin = found ? t : 0;
    *length = found ? ends[t] - t : 0;
    return found;
}
