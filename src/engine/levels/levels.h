/* SPDX-License-Identifier: Apache-2.0 */
/* A picture as a grid of sites with up to 256 levels, each in a byte: no factors, no plan. A site
 * shows a value, of which its level has a log-weight, and resembles its neighbours:
 *
 *     p(x) ~ exp( sum_i seen[x_i][v_i] - sum_{i ~ j} c_ij min((x_i - x_j)^2, t) )
 *
 * with one coupling c for straight neighbours and one for diagonal ones. Labels that are the same
 * or not have t = 1. Sites of a colour have no neighbours among one another: the two colours of a
 * chessboard, or with diagonal neighbours the four places of a 2 x 2 square.
 *
 * Sites are stored by rows, and a row by halves: its even columns, then its odd ones, so that the
 * sixteen sites of a block, which are updated together, lie side by side, and so do their
 * neighbours. */
#ifndef GBSI_LEVELS_LEVELS_H
#define GBSI_LEVELS_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define GBSI_LEVELS_MOST       256u
#define GBSI_LEVELS_BLOCK      16u /* sites */
#define GBSI_LEVELS_NEIGHBOURS 8u
#define GBSI_LEVELS_FACTORS    16u /* entries of a table of factors */
#define GBSI_LEVELS_ABSENT     15u /* level of a missing neighbour, of weight 1 */

/* Rows of the weights of a site's neighbours, 0 if a neighbour is missing; there is a row for even
 * and one for odd columns. */
typedef enum gbsi_levels_weight {
    GBSI_LEVELS_NONE,   /* 0 everywhere */
    GBSI_LEVELS_IS,     /* 1 if the block has a site */
    GBSI_LEVELS_BESIDE, /* above and below */
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
    uint32_t n_values;     /* that sites show */
    uint32_t half;         /* sites of half a row, padded to whole blocks */
    uint32_t n_blocks;     /* number of blocks in all halves of rows */
    float truncation;      /* t */
    float *seen;           /* [n_levels][n_values]; the largest of each value is 0 */
    double *top;           /* [n_values] the maximum subtracted from the log-weights */
    uint32_t *start;       /* [n_values][n_levels] chances of levels up to this one where a site
                              has no neighbours, in units of 2^-32, the last one 2^32 - 1 */
    /* If a register holds a row of factors, and no product of weights can underflow: */
    bool multiplies;
    float *weight_seen; /* [n_levels][n_values] exp(seen), 0 if it makes no difference */
    /* [diagonal or not][level][level of the neighbour] exp(-c min((a - b)^2, t)) */
    float factor[2][GBSI_LEVELS_FACTORS][GBSI_LEVELS_FACTORS];
    uint16_t *value;     /* [height][2][half] */
    float *weight;       /* [2][GBSI_LEVELS_WEIGHTS][half] */
    double log_constant; /* the sum of top over all sites */
    /* blocks whose sites are watched one by one, for errors: one of each stretch of blocks, in
     * ascending order */
    uint32_t n_watched;
    uint32_t *watched;         /* [n_watched] */
    uint32_t *watched_of_half; /* [2 * height + 1] the first that is not before half a row */
    uint32_t *slot_of_watched; /* [n_watched + 1] sites before it */
    size_t bytes;
} gbsi_levels;

typedef struct gbsi_levels_setting {
    uint32_t width, height, n_levels, n_neighbours;
    double coupling, diagonal; /* straight and diagonal neighbours */
    double truncation;
    uint32_t n_values;
    const double *seen; /* [n_values][n_levels] log-weights, finite */
    /* The value that a site shows, below n_values. */
    uint32_t (*value)(const void *context, size_t site);
    const void *context;
} gbsi_levels_setting;

/* @return GBS_ERR_LIMIT for more than 2^31 sites, GBS_ERR_MEMORY. */
gbs_status gbsi_levels_new(const gbsi_levels_setting *setting, gbsi_levels **out, gbs_error *err);
void gbsi_levels_free(gbsi_levels *levels); /* NULL is allowed */

/* The position of a site. */
typedef struct gbsi_levels_place {
    uint32_t half;  /* 2 * row + parity of the column */
    uint32_t index; /* index of the block in its half of the row */
} gbsi_levels_place;

static inline gbsi_levels_place gbsi_levels_locate(const gbsi_levels *l, uint32_t site)
{
    const uint32_t column = site % l->width;
    return (gbsi_levels_place){2 * (site / l->width) + column % 2, column / 2};
}

/* Sites of half a row, without padding. */
static inline uint32_t gbsi_levels_sites_of(const gbsi_levels *l, uint32_t half)
{
    return (l->width + 1 - half % 2) / 2;
}

/* The rows of one colour, and which half of the i-th row has that colour; the colour of a half, and
 * its number among the rows of that colour. */
uint32_t gbsi_levels_rows_of(const gbsi_levels *levels, uint32_t color);
uint32_t gbsi_levels_half_of(const gbsi_levels *levels, uint32_t color, uint32_t i);
uint32_t gbsi_levels_color_of(const gbsi_levels *levels, uint32_t half, uint32_t *i);

/* The number of a watched site among all watched sites; UINT32_MAX: it is not watched. */
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
