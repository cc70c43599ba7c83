/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that readers and writers of several kinds of files need. */
#ifndef GBSI_TEXT_COMMON_H
#define GBSI_TEXT_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"
#include "gibbsite/status.h"

/* ---- system.c ------------------------------------------------------------------------------ */

/* Sets the message "NAME: WHAT: reason of code" and returns GBS_ERR_IO.
 * @param code a value of errno. */
gbs_status gbsi_fail_errno(gbs_error *err, const char *name, const char *what, int code);

/* ---- extension.c ---------------------------------------------------------------------------- */

/* Functions for file name extensions. All of them ignore the difference of upper and lower case. */

bool gbsi_equal_any_case(const char *a, const char *b, size_t n);

/* Whether text[0 .. n) ends in ending[0 .. m), and has at least one character before the ending. */
bool gbsi_ends_in(const char *text, size_t n, const char *ending, size_t m);

/* Whether path has the ending (".tab"), perhaps followed by .gz, .zst, .xz or .bz2. */
bool gbsi_has_ending(const char *path, const char *ending);

/* ---- name_map.c ---------------------------------------------------------------------------- */

/* Maps the names of variables, and the names of the states of each variable, to numbers. The names
 * are bytes of a file. */

typedef struct gbsi_name_entry {
    const char *at; /* borrowed; NULL if the slot is empty */
    size_t n;
    uint32_t owner;
    uint32_t value;
} gbsi_name_entry;

/* A hash table with open addressing, at most half full. The caller must initialise it with
 * zeros. */
typedef struct gbsi_name_map {
    gbsi_name_entry *entry;
    size_t n_slots; /* a power of 2, or 0 */
    size_t n_used;
} gbsi_name_map;

/* Adds a name with its value. Names of different owners may be equal. If the table already has the
 * name of this owner, *added is false and nothing changes. */
gbs_status gbsi_name_map_add(gbsi_name_map *map, uint32_t owner, const char *at, size_t n,
                             uint32_t value, bool *added, gbs_error *err);
bool gbsi_name_map_find(const gbsi_name_map *map, uint32_t owner, const char *at, size_t n,
                        uint32_t *value);
void gbsi_name_map_free(gbsi_name_map *map);

#endif
