/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a model is a spin lattice that bits can hold, and which.
 *
 * Recognised: binary variables without hard zeros, numbered row by row (and layer by layer);
 * factors of one or two variables of any kind, at most one that couples a pair; pairs are next to
 * each other in one of two or three directions, or first and last of a line of three or more; along
 * one direction one J, with either sign or missing; at most GBSI_SPIN_FIELDS different fields. So
 * uniform and anisotropic lattices with open or closed sides, +-J glasses, diluted lattices, fields
 * of a few values. */
#ifndef GBSI_LATTICE_GRID_H
#define GBSI_LATTICE_GRID_H

#include "lattice/spins.h"

#define GBSI_GRID_DIRECTIONS 3

typedef struct gbsi_grid {
    uint32_t n_sites;
    uint32_t side[GBSI_GRID_DIRECTIONS];   /* fastest first; two directions: side[1] is 1 */
    bool wraps[GBSI_GRID_DIRECTIONS];      /* some bond joins last and first */
    double coupling[GBSI_GRID_DIRECTIONS]; /* J; 0 where a direction has no bonds */
    int8_t *bond[GBSI_GRID_DIRECTIONS];    /* [n_sites] the bond forward: 1: J, -1: -J, 0: none */
    gbsi_spins spins;                      /* but for groups and bonds */
    uint8_t *field_of;                     /* [n_sites]; NULL: there is one field */
} gbsi_grid;

/* @param grid out, to be freed in any case that returns GBS_OK.
 * @param reason out: NULL if it is one, else why not. O(factors). */
gbs_status gbsi_grid_find(const gbsi_conditioned *model, gbsi_grid *grid, const char **reason,
                          gbs_error *err);
void gbsi_grid_free(gbsi_grid *grid); /* the arrays */
/* What that takes at most, beside the model. */
uint64_t gbsi_grid_bytes(uint32_t n_sites);

/* Site next to `site` in a direction, forward or back, with sides closed. */
uint32_t gbsi_grid_next(const gbsi_grid *grid, uint32_t site, unsigned direction, bool forward);
/* The bond to it: 1, -1 or 0. */
int gbsi_grid_bond(const gbsi_grid *grid, uint32_t site, unsigned direction, bool forward);

#endif
