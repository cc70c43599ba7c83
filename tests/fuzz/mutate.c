/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test_random.h"
#include "fuzz.h"

typedef struct mutator {
    uint8_t *buffer;
    size_t n;
    size_t room;
    uint64_t seed;
} mutator;

static size_t below(mutator *m, size_t n)
{
    return n == 0 ? 0 : (size_t)(next_random(&m->seed) % n);
}

/* Bytes [at, at + n) become those given, as far as there is room. */
static void replace(mutator *m, size_t at, size_t n, const uint8_t *bytes, size_t n_bytes)
{
    if (m->n - n + n_bytes > m->room) {
        return;
    }
    memmove(m->buffer + at + n_bytes, m->buffer + at + n, m->n - at - n);
    if (n_bytes > 0) {
        memcpy(m->buffer + at, bytes, n_bytes);
    }
    m->n = m->n - n + n_bytes;
}

static void put_word(mutator *m, const fuzz_words *words)
{
    if (words->n == 0) {
        return;
    }
    fuzz_bytes word = words->word[below(m, words->n)];
    size_t at = below(m, m->n + 1);
    size_t over = below(m, 2) == 0 ? 0 : word.n;
    replace(m, at, over < m->n - at ? over : m->n - at, word.at, word.n);
}

static void repeat_run(mutator *m)
{
    uint8_t run[64];
    size_t at = below(m, m->n);
    size_t n = 1 + below(m, sizeof run);
    n = n < m->n - at ? n : m->n - at;
    memcpy(run, m->buffer + at, n);
    replace(m, at, 0, run, n);
}

/* The tail of another input behind the head of this one. */
static void splice(mutator *m, fuzz_bytes other)
{
    size_t at = below(m, m->n + 1);
    size_t from = below(m, other.n + 1);
    replace(m, at, m->n - at, other.at + from, other.n - from);
}

/* A line as often as there is room for: what takes time that grows with its square shows. */
static void repeat_line(mutator *m)
{
    uint8_t line[256];
    size_t begin = below(m, m->n);
    while (begin > 0 && m->buffer[begin - 1] != '\n') {
        begin--;
    }
    const uint8_t *newline = memchr(m->buffer + begin, '\n', m->n - begin);
    size_t n = newline == NULL ? m->n - begin : (size_t)(newline - m->buffer) + 1 - begin;
    if (n > sizeof line) {
        return;
    }
    memcpy(line, m->buffer + begin, n);
    size_t tail = m->n - begin;
    size_t times = (m->room - m->n) / n;
    memmove(m->buffer + begin + times * n, m->buffer + begin, tail);
    for (size_t i = 0; i < times; i++) {
        memcpy(m->buffer + begin + i * n, line, n);
    }
    m->n += times * n;
}

static void mutate_once(mutator *m, fuzz_bytes other, const fuzz_words *words)
{
    size_t at = below(m, m->n);
    size_t run = 1 + below(m, 8);
    if (m->n == 0) {
        put_word(m, words);
        return;
    }
    switch (below(m, 8)) {
    case 0:
        m->buffer[at] ^= (uint8_t)(1u << below(m, 8));
        break;
    case 1:
        m->buffer[at] = (uint8_t)below(m, 256);
        break;
    case 2:
        replace(m, at, run < m->n - at ? run : m->n - at, NULL, 0);
        break;
    case 3:
        m->n = at;
        break;
    case 4:
        repeat_run(m);
        break;
    case 5:
        splice(m, other);
        break;
    default:
        put_word(m, words);
        break;
    }
}

size_t fuzz_mutate(uint8_t *buffer, size_t n, size_t room, fuzz_bytes other,
                   const fuzz_words *words, uint64_t seed)
{
    enum { LONG_ONES = 50 }; /* one of as many becomes as long as there is room for */
    mutator m = {.buffer = buffer, .n = n, .room = room, .seed = seed};
    bool long_one = n > 0 && below(&m, LONG_ONES) == 0;
    size_t times = long_one ? below(&m, 2) : 1 + below(&m, 4);
    for (size_t i = 0; i < times; i++) {
        mutate_once(&m, other, words);
    }
    if (long_one && m.n > 0) {
        repeat_line(&m);
    }
    return m.n;
}

/* ---- dictionaries ------------------------------------------------------------------------- */

static unsigned hexadecimal(char c)
{
    FUZZ_REQUIRE((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
    return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* The word in the quotes that begin at text, unescaped in place. */
static fuzz_bytes unescape(char *text)
{
    uint8_t *to = (uint8_t *)text;
    fuzz_bytes word = {.at = to};
    const char *c = text + 1;
    for (; *c != '"'; c++) {
        FUZZ_REQUIRE(*c != 0 && *c != '\n');
        if (*c != '\\') {
            *to++ = (uint8_t)*c;
        } else if (c[1] == 'x') {
            *to++ = (uint8_t)(hexadecimal(c[2]) * 16 + hexadecimal(c[3]));
            c += 3;
        } else {
            FUZZ_REQUIRE(c[1] == '"' || c[1] == '\\');
            *to++ = (uint8_t) * ++c;
        }
    }
    word.n = (size_t)(to - word.at);
    return word;
}

fuzz_words fuzz_read_words(const char *path)
{
    enum { LINE_BYTES = 512, MOST_WORDS = 512 };
    char line[LINE_BYTES];
    fuzz_words words = {.word = calloc(MOST_WORDS, sizeof *words.word)};
    FILE *file = fopen(path, "rb");
    FUZZ_REQUIRE(file != NULL && words.word != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        char *quote = strchr(line, '"');
        if (line[0] == '#' || line[0] == '\n') {
            continue;
        }
        FUZZ_REQUIRE(quote != NULL && words.n < MOST_WORDS);
        fuzz_bytes word = unescape(quote);
        uint8_t *copy = malloc(word.n + 1);
        FUZZ_REQUIRE(copy != NULL && word.n > 0);
        memcpy(copy, word.at, word.n);
        words.word[words.n++] = (fuzz_bytes){.at = copy, .n = word.n};
    }
    FUZZ_REQUIRE(fclose(file) == 0 && words.n > 0);
    return words;
}

void fuzz_free_words(fuzz_words *words)
{
    for (size_t i = 0; i < words->n; i++) {
        free(words->word[i].at);
    }
    free(words->word);
    *words = (fuzz_words){0};
}
