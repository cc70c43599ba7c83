/* SPDX-License-Identifier: Apache-2.0 */
/* From names in the text of a file to numbers: variables, and states of each variable. */
#ifndef GBSI_IO_NAME_MAP_H
#define GBSI_IO_NAME_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

typedef struct gbsi_name_entry {
    const char *at; /* borrowed; NULL: empty */
    size_t n;
    uint32_t owner;
    uint32_t value;
} gbsi_name_entry;

/* Open addressing, at most half full. Zero-initialise. */
typedef struct gbsi_name_map {
    gbsi_name_entry *entry;
    size_t n_slots; /* a power of 2, or 0 */
    size_t n_used;
} gbsi_name_map;

/* Adds a name under its owner. *added is false, and nothing changes, if it is there already. */
gbs_status gbsi_name_map_add(gbsi_name_map *map, uint32_t owner, const char *at, size_t n,
                             uint32_t value, bool *added, gbs_error *err);
bool gbsi_name_map_find(const gbsi_name_map *map, uint32_t owner, const char *at, size_t n,
                        uint32_t *value);
void gbsi_name_map_free(gbsi_name_map *map);

#endif
