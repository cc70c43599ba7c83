/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-spin coding [M16]: one bit per site, 32 sites of one colour to a word, 16 words to a row of
 * lanes, all of them updated at once by logic alone.
 *
 * Site (X, Y, Z) of colour X + Y + Z mod 2. The slowest side is cut into blocks of an even number
 * `height` of layers, and bit b of a word is the site of block b: so neighbours of a word in the
 * other directions are whole words, and shifts by one bit happen between blocks only.
 *
 * First and last of a closed side of odd length are neighbours of one colour: a seam. A site lies
 * on as many seams as it has last coordinates on such sides, and neighbours of one colour differ in
 * that number by one; so colour and number together say when a site is updated. Word
 *     w = ((color * height + Z mod height) * n_rows + Y) * padded + X div 2.
 * A state has three more layers: what lies below the first and above the last layer, and above the
 * very last site where that is elsewhere; and 16 words between rows, so that loads of a word's
 * neighbours stay inside. */
#ifndef GBSI_LATTICE_LATTICE_H
#define GBSI_LATTICE_LATTICE_H

#include "lattice/grid.h"

#define GBSI_LATTICE_LANES      16u
#define GBSI_LATTICE_NEIGHBOURS 6u
#define GBSI_LATTICE_KINDS      32u /* of sites: field, bonds in each group */
#define GBSI_LATTICE_THRESHOLDS 96u /* different ones, after p and 1 - p are made one */
#define GBSI_LATTICE_LEVELS     512u
#define GBSI_LATTICE_FOLDED     7u /* levels of one kind with one group: 0 to 6 neighbours up */
#define GBSI_LATTICE_COUNTERS   8u /* levels of vertical counters: 128 passes */

/* A value of the local log-odds: a kind and how many neighbours are up in each group. */
typedef struct gbsi_lattice_level {
    uint8_t count[GBSI_SPIN_GROUPS];
    uint8_t threshold; /* index */
    uint8_t flip;      /* state 0 is the less likely one, which the threshold decides */
} gbsi_lattice_level;

typedef struct gbsi_lattice_kind {
    uint32_t field;
    uint8_t degree[GBSI_SPIN_GROUPS];
    uint32_t first_level, n_levels;
} gbsi_lattice_kind;

/* Compiled: read-only, shared by chains and threads. */
typedef struct gbsi_lattice {
    gbsi_spins spins; /* groups are directions with the same J, up to sign */
    uint32_t side[GBSI_GRID_DIRECTIONS];
    bool wraps[GBSI_GRID_DIRECTIONS];
    bool seam[GBSI_GRID_DIRECTIONS]; /* closed and odd */
    uint32_t n_seams;
    /* words */
    uint32_t width, padded; /* words in a row; and rounded up to 16 */
    uint32_t n_rows;        /* of a layer: side[1] */
    uint32_t height;        /* layers in a block, even */
    uint32_t n_blocks;      /* bits in use */
    uint32_t n_words;       /* of one color: height * n_rows * padded */
    /* a state, in words */
    size_t row_words, color_words, state_words;
    /* neighbours, those of a group side by side */
    uint32_t n_neighbours;
    uint8_t direction[GBSI_LATTICE_NEIGHBOURS];
    bool forward[GBSI_LATTICE_NEIGHBOURS];
    uint32_t group_size[GBSI_SPIN_GROUPS];
    /* conditionals */
    uint32_t n_kinds, n_levels, n_thresholds;
    gbsi_lattice_kind kind[GBSI_LATTICE_KINDS];
    gbsi_lattice_level level[GBSI_LATTICE_LEVELS];
    uint32_t threshold[GBSI_LATTICE_THRESHOLDS]; /* of 2^32, at most 2^31 */
    /* ~0 where a bit of the threshold is set, most significant first */
    uint32_t bit[GBSI_SPIN_PLANES][GBSI_LATTICE_THRESHOLDS];
    /* The kind that most sites are of, with one group and every bond J: plain ones. Folded: c and
     * n - c neighbours up share a threshold. */
    uint32_t plain_kind; /* GBSI_NONE: no row of lanes is plain */
    bool folded;
    uint32_t plain_bit[GBSI_SPIN_PLANES][GBSI_LATTICE_FOLDED];
    uint32_t plain_flip[GBSI_LATTICE_FOLDED];
    /* masks by word, [2 * n_words]; NULL where they would say nothing */
    uint32_t *valid; /* bits that are sites */
    uint8_t *plain;  /* [2 * n_words / 16] rows of lanes with plain sites only; NULL: all, or
                        none without a plain kind */
    uint32_t *present[GBSI_LATTICE_NEIGHBOURS];  /* all or none of these: the bond exists */
    uint32_t *negative[GBSI_LATTICE_NEIGHBOURS]; /* it is -J */
    uint32_t *kind_mask[GBSI_LATTICE_KINDS];     /* only with several kinds */
    size_t bytes;
} gbsi_lattice;

/* Where a site is. */
typedef struct gbsi_lattice_place {
    uint32_t color, layer, row, x, bit;
} gbsi_lattice_place;

gbsi_lattice_place gbsi_lattice_locate(const gbsi_lattice *lattice, uint32_t site);
uint32_t gbsi_lattice_word(const gbsi_lattice *lattice, gbsi_lattice_place place);
size_t gbsi_lattice_state_word(const gbsi_lattice *lattice, gbsi_lattice_place place);

/* Compile. @param reason out: NULL, or why the model is none (status GBS_OK, *out NULL). */
gbs_status gbsi_lattice_new(const gbsi_conditioned *model, gbsi_lattice **out, const char **reason,
                            gbs_error *err);
void gbsi_lattice_free(gbsi_lattice *lattice);

/* Share of the bits worked on that are sites: what a lattice of this shape gets of the speed. */
double gbsi_lattice_share(const gbsi_lattice *lattice);

#endif
