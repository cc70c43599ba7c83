/* SPDX-License-Identifier: Apache-2.0 */
/* Damages an input; the damage is the same for the same seed everywhere. */
#ifndef GBSI_TESTS_MUTATE_H
#define GBSI_TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

typedef struct fuzz_bytes {
    uint8_t *at;
    size_t n;
} fuzz_bytes;

typedef struct fuzz_words {
    fuzz_bytes *word;
    size_t n;
} fuzz_words;

/* Reads the words of a dictionary as libFuzzer has it: lines of name="word" with \\, \" and \xAB,
 * # comments. Ends the program if the file is not of that form. */
fuzz_words fuzz_read_words(const char *path);
void fuzz_free_words(fuzz_words *words);

/* @param buffer [room] holds n bytes; @param other a second input to splice from.
 * @return how many bytes it holds now. */
size_t fuzz_mutate(uint8_t *buffer, size_t n, size_t room, fuzz_bytes other,
                   const fuzz_words *words, uint64_t seed);

#endif
