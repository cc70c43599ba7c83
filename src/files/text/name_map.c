/* SPDX-License-Identifier: Apache-2.0 */
#include "text/common.h"

#include <string.h>

#include "base/memory.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

static size_t slot_of(const gbsi_name_map *map, uint32_t owner, const char *at, size_t n)
{
    size_t mask = map->n_slots - 1;
    size_t slot = (size_t)XXH3_64bits_withSeed(at, n, owner) & mask;
    for (;; slot = (slot + 1) & mask) {
        const gbsi_name_entry *e = &map->entry[slot];
        if (e->at == NULL || (e->owner == owner && e->n == n && memcmp(e->at, at, n) == 0)) {
            return slot;
        }
    }
}

static gbs_status grow(gbsi_name_map *map, gbs_error *err)
{
    gbsi_name_map larger = {.n_slots = map->n_slots == 0 ? 64 : map->n_slots * 2,
                            .n_used = map->n_used};
    larger.entry = gbsi_alloc_array_zero(larger.n_slots, sizeof *larger.entry);
    GBSI_PASS(GBSI_HAVE(err, "names", larger.entry));
    for (size_t i = 0; i < map->n_slots; i++) {
        const gbsi_name_entry *e = &map->entry[i];
        if (e->at != NULL) {
            larger.entry[slot_of(&larger, e->owner, e->at, e->n)] = *e;
        }
    }
    gbsi_free(map->entry);
    *map = larger;
    return GBS_OK;
}

gbs_status gbsi_name_map_add(gbsi_name_map *map, uint32_t owner, const char *at, size_t n,
                             uint32_t value, bool *added, gbs_error *err)
{
    if (2 * (map->n_used + 1) > map->n_slots) {
        GBSI_PASS(grow(map, err));
    }
    gbsi_name_entry *e = &map->entry[slot_of(map, owner, at, n)];
    *added = e->at == NULL;
    if (*added) {
        *e = (gbsi_name_entry){.at = at, .n = n, .owner = owner, .value = value};
        map->n_used++;
    }
    return GBS_OK;
}

bool gbsi_name_map_find(const gbsi_name_map *map, uint32_t owner, const char *at, size_t n,
                        uint32_t *value)
{
    if (map->n_slots == 0) {
        return false;
    }
    const gbsi_name_entry *e = &map->entry[slot_of(map, owner, at, n)];
    if (e->at != NULL) {
        *value = e->value;
    }
    return e->at != NULL;
}

void gbsi_name_map_free(gbsi_name_map *map)
{
    gbsi_free(map->entry);
    *map = (gbsi_name_map){0};
}
