/* SPDX-License-Identifier: Apache-2.0 */
/* A hash map from numbers of 64 bits, such as the code of a ground atom, to numbers of 32 bits. */
#ifndef GBSI_GROUND_ATOMS_H
#define GBSI_GROUND_ATOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A hash table with open addressing, at most half full. Zero-initialise. */
typedef struct gbsi_atoms {
    uint64_t *key; /* [n_slots] plus one; 0: empty */
    uint32_t *value;
    size_t n_slots; /* a power of 2, or 0 */
    size_t n;
} gbsi_atoms;

/* @return the value of a key that is there, else NULL. Valid until one is added. */
uint32_t *gbsi_atoms_find(const gbsi_atoms *atoms, uint64_t key);
/* @param key less than UINT64_MAX, not there yet. */
gbs_status gbsi_atoms_add(gbsi_atoms *atoms, uint64_t key, uint32_t value, gbs_error *err);
void gbsi_atoms_clear(gbsi_atoms *atoms); /* keeps the memory */
void gbsi_atoms_free(gbsi_atoms *atoms);

#endif
