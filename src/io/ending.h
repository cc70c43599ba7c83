/* SPDX-License-Identifier: Apache-2.0 */
/* What a path ends in. Letters of either case are the same, everywhere. */
#ifndef GBSI_IO_ENDING_H
#define GBSI_IO_ENDING_H

#include <stdbool.h>
#include <stddef.h>

bool gbsi_equal_any_case(const char *a, const char *b, size_t n);

/* Whether text[0 .. n) ends in ending[0 .. m), with something before it. */
bool gbsi_ends_in(const char *text, size_t n, const char *ending, size_t m);

/* Whether path has that ending (".tab"), perhaps with .gz or .zst behind it. */
bool gbsi_has_ending(const char *path, const char *ending);

#endif
