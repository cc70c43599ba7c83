/* SPDX-License-Identifier: Apache-2.0 */
/* Chains in bits [M16]: a word holds one site of 32 chains. This form supports any graph of spins
 * whose conditionals take few values: up to three sizes of couplings, few neighbours and few
 * fields.
 *
 * Slots are sorted by colour, kind and variable, and each kind of a colour starts a new row of
 * sixteen. All sites of a row therefore have the same kind and are updated together. The neighbours
 * of these sites may have any slots, so that their words are gathered. */
#ifndef GBSI_LATTICE_PACKED_H
#define GBSI_LATTICE_PACKED_H

#include "lattice/spin_chains.h"
#include "lattice/spins.h"
#include "simd/dispatch.h"

#define GBSI_PACKED_CHAINS     32u
#define GBSI_PACKED_LANES      16u
#define GBSI_PACKED_KINDS      64u
#define GBSI_PACKED_THRESHOLDS 64u /* largest number of thresholds of a kind */

/* Bits of an entry for a neighbour: the neighbour's slot, a flag for the coupling -J, and a flag
 * that the neighbour has a lower colour than the site. */
#define GBSI_PACKED_SLOT     0x3FFFFFFFu
#define GBSI_PACKED_NEGATIVE 0x80000000u
#define GBSI_PACKED_LOWER    0x40000000u

typedef struct gbsi_packed_kind {
    uint32_t field;
    uint8_t degree[GBSI_SPIN_GROUPS];
    uint32_t first_level, n_levels;
    uint32_t first_threshold, n_thresholds;
} gbsi_packed_kind;

/* A value that the log-odds of sites of a kind can take. */
typedef struct gbsi_packed_level {
    uint8_t count[GBSI_SPIN_GROUPS]; /* number of neighbours up in each group */
    uint8_t threshold;               /* index among the thresholds of the kind */
    uint8_t flip;                    /* 1 if state 0 is the less likely state, 0 if state 1 is */
} gbsi_packed_level;

typedef struct gbsi_packed_row {
    uint32_t kind;
    uint32_t n_sites; /* from 1 to 16 */
    /* index of the first block of sixteen neighbours; blocks are listed group by group */
    uint32_t first_block;
} gbsi_packed_row;

/* A compiled graph, which is read-only and shared by chains and threads. */
typedef struct gbsi_packed {
    gbsi_spins spins;
    uint32_t n_slots; /* number of slots, sixteen in each row */
    uint32_t n_rows, n_colors;
    uint32_t *color_row; /* [n_colors + 1] first row of each colour */
    gbsi_packed_row *row;
    uint32_t *neighbour;   /* [number of blocks][16] */
    uint32_t *variable_of; /* [n_slots] variable of the slot; GBSI_NONE if the slot has no site */
    uint32_t n_kinds;
    gbsi_packed_kind kind[GBSI_PACKED_KINDS];
    gbsi_packed_level *level;
    uint32_t n_thresholds; /* number of thresholds of all kinds together */
    /* [32][n_thresholds] for each bit and threshold, most significant bit first: ~0 if the bit of
     * the threshold is set, else 0 */
    uint32_t *bit;
    size_t bytes;
} gbsi_packed;

/* Compiles a model. @param color [n_variables] a proper colouring, each below n_colors.
 * @param reason out: NULL, or the reason why the model cannot be packed; *out is then NULL and the
 * status is GBS_OK. */
gbs_status gbsi_packed_new(const gbsi_conditioned *model, const uint32_t *color, uint32_t n_colors,
                           uint32_t n_components, gbsi_packed **out, const char **reason,
                           gbs_error *err);
void gbsi_packed_free(gbsi_packed *packed);

/* Largest number of bytes that compiling takes for scratch. */
uint64_t gbsi_packed_compile_bytes(uint32_t n_sites);

/* Bytes of chains on a graph of spins, with 32 chains in a word. */

size_t gbsi_packed_chains_bytes(const gbsi_packed *packed, uint32_t n_chains, uint32_t n_threads,
                                bool count);
/* @param packed, pool borrowed. @param count whether visits are counted. */
gbs_status gbsi_packed_chains_new(const gbsi_packed *packed, uint32_t n_chains, uint64_t seed,
                                  bool count, gbsi_simd level, gbsi_pool *pool,
                                  gbsi_spin_chains **out, gbs_error *err);

#endif
