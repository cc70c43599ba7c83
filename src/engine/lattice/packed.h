/* SPDX-License-Identifier: Apache-2.0 */
/* Chains in bits [M16]: a word holds one site of 32 chains. This form supports any graph of spins
 * whose conditionals take few values: it may have up to three sizes of couplings, few neighbours
 * and few fields.
 *
 * Slots are sorted by colour, kind and variable, and each kind of a colour starts a new row of
 * sixteen. All sites of a row therefore have the same kind and are updated together; their
 * neighbours are gathered from anywhere. */
#ifndef GBSI_LATTICE_PACKED_H
#define GBSI_LATTICE_PACKED_H

#include "lattice/spin_chains.h"
#include "lattice/spins.h"
#include "simd/dispatch.h"

#define GBSI_PACKED_CHAINS     32u
#define GBSI_PACKED_LANES      16u
#define GBSI_PACKED_KINDS      64u
#define GBSI_PACKED_THRESHOLDS 64u /* of a kind */

/* A neighbour: its slot, whether the coupling is -J, whether its colour is lower. */
#define GBSI_PACKED_SLOT     0x3FFFFFFFu
#define GBSI_PACKED_NEGATIVE 0x80000000u
#define GBSI_PACKED_LOWER    0x40000000u

typedef struct gbsi_packed_kind {
    uint32_t field;
    uint8_t degree[GBSI_SPIN_GROUPS];
    uint32_t first_level, n_levels;
    uint32_t first_threshold, n_thresholds;
} gbsi_packed_kind;

/* A value of a kind's log-odds. */
typedef struct gbsi_packed_level {
    uint8_t count[GBSI_SPIN_GROUPS]; /* neighbours up, by group */
    uint8_t threshold;               /* index among the thresholds of the kind */
    uint8_t flip;                    /* the less likely state is 0 */
} gbsi_packed_level;

typedef struct gbsi_packed_row {
    uint32_t kind;
    uint32_t n_sites;     /* 1 to 16 */
    uint32_t first_block; /* blocks of sixteen neighbours, group by group */
} gbsi_packed_row;

/* Compiled: read-only, shared by chains and threads. */
typedef struct gbsi_packed {
    gbsi_spins spins;
    uint32_t n_slots; /* sixteen to a row */
    uint32_t n_rows, n_colors;
    uint32_t *color_row; /* [n_colors + 1] */
    gbsi_packed_row *row;
    uint32_t *neighbour;   /* [blocks][16] */
    uint32_t *variable_of; /* [n_slots] GBSI_NONE: no site */
    uint32_t n_kinds;
    gbsi_packed_kind kind[GBSI_PACKED_KINDS];
    gbsi_packed_level *level;
    uint32_t n_thresholds; /* of all kinds */
    uint32_t *bit;         /* [32][n_thresholds] ~0 if the bit is set, most significant first */
    size_t bytes;
} gbsi_packed;

/* Compiles a model. @param color [n_variables] a proper colouring, each below n_colors.
 * @param reason out: NULL, or why the model cannot be packed (then *out is NULL and the status is
 * GBS_OK). */
gbs_status gbsi_packed_new(const gbsi_conditioned *model, const uint32_t *color, uint32_t n_colors,
                           uint32_t n_components, gbsi_packed **out, const char **reason,
                           gbs_error *err);
void gbsi_packed_free(gbsi_packed *packed);

/* The most bytes of scratch that compiling takes. */
uint64_t gbsi_packed_compile_bytes(uint32_t n_sites);

/* Chains on any graph of spins, with 32 chains in a word. */

size_t gbsi_packed_chains_bytes(const gbsi_packed *packed, uint32_t n_chains, uint32_t n_threads,
                                bool count);
/* @param packed, pool borrowed. @param count whether visits are counted. */
gbs_status gbsi_packed_chains_new(const gbsi_packed *packed, uint32_t n_chains, uint64_t seed,
                                  bool count, gbsi_simd level, gbsi_pool *pool,
                                  gbsi_spin_chains **out, gbs_error *err);

#endif
