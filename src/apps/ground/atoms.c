/* SPDX-License-Identifier: Apache-2.0 */
#include "ground/grounding.h"

#include "base/memory.h"

/* Fibonacci hashing: the high bits of a product with 2^64 / golden ratio. */
static size_t slot_of(const gbsi_atoms *atoms, uint64_t key)
{
    size_t at = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (atoms->n_slots - 1);
    while (atoms->key[at] != 0 && atoms->key[at] != key + 1) {
        at = (at + 1) & (atoms->n_slots - 1);
    }
    return at;
}

uint32_t *gbsi_atoms_find(const gbsi_atoms *atoms, uint64_t key)
{
    if (atoms->n == 0) {
        return NULL;
    }
    const size_t at = slot_of(atoms, key);
    return atoms->key[at] == 0 ? NULL : &atoms->value[at];
}

static gbs_status grow(gbsi_atoms *atoms, gbs_error *err)
{
    gbsi_atoms larger = {.n_slots = atoms->n_slots == 0 ? 64 : 2 * atoms->n_slots, .n = atoms->n};
    larger.key = gbsi_alloc_array_zero(larger.n_slots, sizeof *larger.key);
    larger.value = gbsi_alloc_array_zero(larger.n_slots, sizeof *larger.value);
    if (larger.key == NULL || larger.value == NULL) {
        gbsi_atoms_free(&larger);
        return gbsi_no_memory(err, "ground atoms", 12 * larger.n_slots);
    }
    for (size_t i = 0; i < atoms->n_slots; i++) {
        if (atoms->key[i] != 0) {
            const size_t at = slot_of(&larger, atoms->key[i] - 1);
            larger.key[at] = atoms->key[i];
            larger.value[at] = atoms->value[i];
        }
    }
    gbsi_atoms_free(atoms);
    *atoms = larger;
    return GBS_OK;
}

gbs_status gbsi_atoms_add(gbsi_atoms *atoms, uint64_t key, uint32_t value, gbs_error *err)
{
    if (2 * (atoms->n + 1) > atoms->n_slots) {
        GBSI_PASS(grow(atoms, err));
    }
    const size_t at = slot_of(atoms, key);
    atoms->key[at] = key + 1;
    atoms->value[at] = value;
    atoms->n++;
    return GBS_OK;
}

void gbsi_atoms_clear(gbsi_atoms *atoms)
{
    if (atoms->n != 0) {
        memset(atoms->key, 0, atoms->n_slots * sizeof *atoms->key);
        atoms->n = 0;
    }
}

void gbsi_atoms_free(gbsi_atoms *atoms)
{
    GBSI_FREE(atoms->key, atoms->value);
    *atoms = (gbsi_atoms){0};
}
