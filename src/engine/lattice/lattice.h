/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-spin coding [M16]: one bit per site, 32 sites of one colour in a word, 16 words in a row of
 * lanes; bit operations update a row at once.
 *
 * Site (X, Y, Z) has colour X + Y + Z mod 2. The slowest side is cut into blocks of `height`
 * layers, where `height` is even, and bit b of a word is the site in block b. The neighbours of a
 * word's sites in one direction therefore form a whole word, and bits are shifted only between
 * blocks.
 *
 * On a closed side of odd length the first and the last site are neighbours with equal colours;
 * this is a seam. A site lies on one seam for each closed side of odd length on which the site's
 * coordinate is the last. For two neighbours of equal colours the numbers of seams differ by one.
 * The colour and the number of seams together therefore determine when a site is updated. The word
 * of a site is
 *     w = ((color * height + Z mod height) * n_rows + Y) * padded + X div 2.
 * The state of a chain has three additional layers with copies of sites: one below the first layer
 * of a block, one above the last layer, and one above the layer of the very last site if this layer
 * is not the last of its block. There are 16 unused words between two rows, so that loads of a
 * word's neighbours stay inside the array. */
#ifndef GBSI_LATTICE_LATTICE_H
#define GBSI_LATTICE_LATTICE_H

#include "lattice/grid.h"
#include "lattice/spin_chains.h"
#include "simd/dispatch.h"

#define GBSI_LATTICE_LANES      16u
#define GBSI_LATTICE_NEIGHBOURS 6u
/* Largest number of kinds of sites; a kind is a field and a number of bonds in each group */
#define GBSI_LATTICE_KINDS 32u
/* Largest number of different thresholds; p and 1 - p share a threshold */
#define GBSI_LATTICE_THRESHOLDS 96u
#define GBSI_LATTICE_LEVELS     512u
/* Number of levels of one kind with one group, from 0 to 6 neighbours up */
#define GBSI_LATTICE_FOLDED 7u

/* Value of the local log-odds: a kind of site, and the number of neighbours up in each group. */
typedef struct gbsi_lattice_level {
    uint8_t count[GBSI_SPIN_GROUPS];
    uint8_t threshold; /* index of the threshold */
    /* 1 if state 0 is the less likely state, 0 if state 1 is; the threshold is the probability of
     * the less likely state */
    uint8_t flip;
} gbsi_lattice_level;

typedef struct gbsi_lattice_kind {
    uint32_t field;
    uint8_t degree[GBSI_SPIN_GROUPS];
    uint32_t first_level, n_levels;
} gbsi_lattice_kind;

/* A compiled lattice, which is read-only and shared by chains and threads. */
typedef struct gbsi_lattice {
    gbsi_spins spins; /* directions with equal |J| form a group */
    uint32_t side[GBSI_GRID_DIRECTIONS];
    bool wraps[GBSI_GRID_DIRECTIONS];
    bool seam[GBSI_GRID_DIRECTIONS]; /* whether the side is closed and of odd length */
    uint32_t n_seams;
    /* sizes in words */
    uint32_t width,
        padded;      /* number of words in a row, and this number rounded up to a multiple of 16 */
    uint32_t n_rows; /* number of rows in a layer: side[1] */
    uint32_t height; /* number of layers in a block, which is even */
    uint32_t n_blocks; /* number of blocks, which is the number of bits of a word that are used */
    uint32_t n_words;  /* number of words of one colour: height * n_rows * padded */
    /* sizes of a row, of the sites of a colour, and of the state of a chain, in words */
    size_t row_words, color_words, state_words;
    /* the neighbours of a site, sorted by group */
    uint32_t n_neighbours;
    uint8_t direction[GBSI_LATTICE_NEIGHBOURS];
    bool forward[GBSI_LATTICE_NEIGHBOURS];
    uint32_t group_size[GBSI_SPIN_GROUPS];
    /* conditionals */
    uint32_t n_kinds, n_levels, n_thresholds;
    gbsi_lattice_kind kind[GBSI_LATTICE_KINDS];
    gbsi_lattice_level level[GBSI_LATTICE_LEVELS];
    uint32_t threshold[GBSI_LATTICE_THRESHOLDS]; /* thresholds in units of 2^-32, at most 2^31 */
    /* for each bit and threshold, most significant bit first: ~0 if the bit of the threshold is
     * set, else 0 */
    uint32_t bit[GBSI_SPIN_PLANES][GBSI_LATTICE_THRESHOLDS];
    /* Plain sites: the lattice has one group, all bonds of the site are J, and the site has the
     * most frequent kind or the kind of the opposite field. `folded`: with c and with n - c
     * neighbours up, a plain site has the same threshold. */
    uint32_t plain_kind;  /* GBSI_NONE if no row of lanes is plain */
    uint32_t mirror_kind; /* kind of the opposite field; GBSI_NONE if there is none */
    bool folded;
    uint32_t plain_bit[GBSI_SPIN_PLANES][GBSI_LATTICE_FOLDED];
    uint32_t plain_flip[GBSI_LATTICE_FOLDED];
    /* masks with a bit for each site, [2 * n_words]; NULL if a mask is not needed */
    uint32_t *valid; /* bits that are sites */
    /* [2 * n_words / 16] 1 if the row of lanes has plain sites only; NULL if all rows are plain, or
     * if the lattice has no plain kind */
    uint8_t *plain;
    /* 1 if the bond exists; these arrays are all NULL or all set */
    uint32_t *present[GBSI_LATTICE_NEIGHBOURS];
    uint32_t *negative[GBSI_LATTICE_NEIGHBOURS]; /* 1 if the bond is -J */
    uint32_t *kind_mask[GBSI_LATTICE_KINDS];     /* NULL if there is one kind */
    size_t bytes;
} gbsi_lattice;

/* Word and bit of a site. */
typedef struct gbsi_lattice_place {
    uint32_t color, layer, row, x, bit;
} gbsi_lattice_place;

gbsi_lattice_place gbsi_lattice_locate(const gbsi_lattice *lattice, uint32_t site);
uint32_t gbsi_lattice_word(const gbsi_lattice *lattice, gbsi_lattice_place place);
size_t gbsi_lattice_state_word(const gbsi_lattice *lattice, gbsi_lattice_place place);

/* Compiles a model. @param reason out: NULL, or the reason why the model is not a lattice; *out is
 * then NULL and the status is GBS_OK. */
gbs_status gbsi_lattice_new(const gbsi_conditioned *model, gbsi_lattice **out, const char **reason,
                            gbs_error *err);
/* Compiles a grid as gbsi_lattice_new() compiles a model. */
gbs_status gbsi_lattice_of_grid(const gbsi_grid *grid, gbsi_lattice **out, const char **reason,
                                gbs_error *err);
void gbsi_lattice_free(gbsi_lattice *lattice);

/* Fraction of the bits that are sites. A lattice of this shape reaches this fraction of the full
 * speed. */
double gbsi_lattice_share(const gbsi_lattice *lattice);

/* Chains on a lattice, with 32 sites of a chain in a word. */

size_t gbsi_lattice_chains_bytes(const gbsi_lattice *lattice, uint32_t n_chains, uint32_t n_threads,
                                 gbsi_spin_keep keep);
/* @param lattice, pool borrowed. @param keep GBSI_SPIN_KEEP_NEIGHBOURS only if
 * gbsi_lattice_averages_refusal() does not refuse the lattice. */
gbs_status gbsi_lattice_chains_new(const gbsi_lattice *lattice, uint32_t n_chains, uint64_t seed,
                                   gbsi_spin_keep keep, gbsi_simd level, gbsi_pool *pool,
                                   gbsi_spin_chains **out, gbs_error *err);

#endif
