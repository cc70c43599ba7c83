/* SPDX-License-Identifier: Apache-2.0 */
/* A picture as a grid of sites, which needs no factors and no plan. Each site has one of up to 256
 * levels, stored in a byte. Site i shows a value v_i; each level x_i has a log-weight given v_i.
 * Neighbours i ~ j tend to have close levels:
 *
 *     p(x) ~ exp( sum_i seen[x_i][v_i] - sum_{i ~ j} c_ij min((x_i - x_j)^2, t) )
 *
 * Straight neighbours have one coupling c, and diagonal neighbours have another one. With t = 1
 * neighbours are only compared for equality, as labels are. No two sites of a colour are
 * neighbours. Without diagonal neighbours the colours are the two of a chessboard, otherwise the
 * four places in a 2 x 2 square.
 *
 * Sites are stored row by row. Each row is stored as two halves: first its even columns, then its
 * odd columns. The sixteen sites of a block are updated together. The sites of a block lie side by
 * side in their half of the row, and their neighbours in any one direction lie side by side in
 * another half of a row. */
#ifndef GBSI_LEVELS_LEVELS_H
#define GBSI_LEVELS_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define GBSI_LEVELS_MOST       256u
#define GBSI_LEVELS_BLOCK      16u /* sites in a block */
#define GBSI_LEVELS_NEIGHBOURS 8u
/* largest number of levels with tables of factors, plus one for missing neighbours */
#define GBSI_LEVELS_FACTORS 16u
/* level that stands for a missing neighbour in a table of factors, where its factor is 1 */
#define GBSI_LEVELS_ABSENT 15u

/* Arrays of weights, 1 or 0, that multiply the terms of a site's neighbours. A neighbour outside
 * the picture has the weight 0. There is a row for even columns and a row for odd columns. */
typedef enum gbsi_levels_weight {
    GBSI_LEVELS_NONE,   /* 0 everywhere */
    GBSI_LEVELS_IS,     /* [half] 1 if the place has a site, 0 if it is padding */
    GBSI_LEVELS_BESIDE, /* neighbours above and below */
    GBSI_LEVELS_LEFT,
    GBSI_LEVELS_RIGHT,
    GBSI_LEVELS_DIAGONAL_LEFT,
    GBSI_LEVELS_DIAGONAL_RIGHT,
    GBSI_LEVELS_WEIGHTS,
} gbsi_levels_weight;

typedef struct gbsi_levels {
    uint32_t width, height;
    uint32_t n_levels;
    uint32_t n_neighbours; /* 4 or 8 */
    uint32_t n_colors;     /* 2 or 4 */
    uint32_t n_values;     /* number of different values that sites show */
    uint32_t half;         /* number of sites of half a row, rounded up to whole blocks */
    uint32_t n_blocks;     /* number of blocks of the picture */
    float truncation;      /* t in the formula */
    /* [n_levels][n_values] log-weights minus the largest log-weight of the value */
    float *seen;
    double *top; /* [n_values] largest log-weight of each value, which was subtracted from the
                    log-weights of the value */
    /* [n_values][n_levels] for a site without neighbours: cumulative probability up to each level,
     * in units of 2^-32; the last entry is 2^32 - 1 */
    uint32_t *start;
    /* Whether weights are computed as products. This requires that a register holds a row of
     * factors, and that no product can underflow. The next two members are the tables of factors of
     * these products. */
    bool multiplies;
    float *weight_seen; /* [n_levels][n_values] exp(seen), or 0 if the level is never drawn */
    /* [0: straight, 1: diagonal neighbour][level][level of the neighbour] exp(-c min((a - b)^2, t))
     */
    float factor[2][GBSI_LEVELS_FACTORS][GBSI_LEVELS_FACTORS];
    uint16_t *value;     /* [height][2][half] the value that each site shows */
    float *weight;       /* [2][GBSI_LEVELS_WEIGHTS][half] */
    double log_constant; /* sum of `top` over all sites */
    /* numbers of the blocks whose sites are watched (their standard errors are estimated),
     * ascending; one block in each stretch of blocks */
    uint32_t n_watched;
    uint32_t *watched; /* [n_watched] */
    /* [2 * height + 1] for each half of a row, index in `watched` of the first block in this half
     * or a later one */
    uint32_t *watched_of_half;
    /* [n_watched + 1] for each watched block, number of sites in the watched blocks before it */
    uint32_t *slot_of_watched;
    size_t bytes;
} gbsi_levels;

typedef struct gbsi_levels_setting {
    uint32_t width, height, n_levels, n_neighbours;
    double coupling, diagonal; /* couplings of straight and of diagonal neighbours */
    double truncation;
    uint32_t n_values;
    const double *seen; /* [n_values][n_levels] log-weights, finite */
    /* Value that a site shows, below n_values. */
    uint32_t (*value)(const void *context, size_t site);
    const void *context;
} gbsi_levels_setting;

/* @return GBS_ERR_LIMIT if there are more than 2^31 sites, or GBS_ERR_MEMORY. */
gbs_status gbsi_levels_new(const gbsi_levels_setting *setting, gbsi_levels **out, gbs_error *err);
void gbsi_levels_free(gbsi_levels *levels); /* NULL is allowed */

/* Position of a site in the arrays. */
typedef struct gbsi_levels_place {
    uint32_t half;  /* number of the half of a row: 2 * row + column mod 2 */
    uint32_t index; /* index of the site in its half of the row */
} gbsi_levels_place;

static inline gbsi_levels_place gbsi_levels_locate(const gbsi_levels *l, uint32_t site)
{
    const uint32_t column = site % l->width;
    return (gbsi_levels_place){2 * (site / l->width) + column % 2, column / 2};
}

/* Number of sites of half a row, without padding. */
static inline uint32_t gbsi_levels_sites_of(const gbsi_levels *l, uint32_t half)
{
    return (l->width + 1 - half % 2) / 2;
}

/* gbsi_levels_rows_of() returns the number of rows that have sites of a colour.
 * gbsi_levels_half_of() returns the half of the i-th of these rows that has the colour. Conversely,
 * gbsi_levels_color_of() finds the colour and i from the half. */
uint32_t gbsi_levels_rows_of(const gbsi_levels *levels, uint32_t color);
uint32_t gbsi_levels_half_of(const gbsi_levels *levels, uint32_t color, uint32_t i);
uint32_t gbsi_levels_color_of(const gbsi_levels *levels, uint32_t half, uint32_t *i);

/* Index of a watched site among all watched sites; UINT32_MAX if the site is not watched. */
uint32_t gbsi_levels_slot_of(const gbsi_levels *levels, uint32_t site);
static inline uint32_t gbsi_levels_n_slots(const gbsi_levels *levels)
{
    return levels->slot_of_watched[levels->n_watched];
}

static inline const float *gbsi_levels_weights(const gbsi_levels *l, uint32_t parity,
                                               gbsi_levels_weight kind)
{
    return l->weight + ((size_t)parity * GBSI_LEVELS_WEIGHTS + kind) * l->half;
}

#endif
