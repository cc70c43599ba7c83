/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises models that are spin lattices and can be run in bits.
 *
 * Conditions: binary variables without hard zeros, numbered row by row (and layer by layer);
 * factors of one or two variables of any kind; at most one factor per pair; a pair is adjacent in
 * one of two or three directions, or is the first and last site of a line of three or more; all
 * couplings along a direction are J, -J or missing; at most GBSI_SPIN_FIELDS different fields. This
 * form covers uniform and anisotropic lattices with open or closed boundaries, +-J glasses, diluted
 * lattices, and fields of a few values. */
#ifndef GBSI_LATTICE_GRID_H
#define GBSI_LATTICE_GRID_H

#include "lattice/spins.h"

#define GBSI_GRID_DIRECTIONS 3

typedef struct gbsi_grid {
    uint32_t n_sites;
    uint32_t side[GBSI_GRID_DIRECTIONS];   /* fastest first; two directions: side[1] is 1 */
    bool wraps[GBSI_GRID_DIRECTIONS];      /* some bond joins last and first */
    double coupling[GBSI_GRID_DIRECTIONS]; /* J; 0 if the direction has no bonds */
    int8_t *bond[GBSI_GRID_DIRECTIONS];    /* [n_sites] the bond forward: 1: J, -1: -J, 0: none */
    gbsi_spins spins;                      /* without groups and bonds */
    uint8_t *field_of;                     /* [n_sites]; NULL: there is one field */
} gbsi_grid;

/* @param grid out; must be freed if GBS_OK is returned.
 * @param reason out: NULL if the model is a lattice, else why it is not. O(factors). */
gbs_status gbsi_grid_find(const gbsi_conditioned *model, gbsi_grid *grid, const char **reason,
                          gbs_error *err);
/* A whole open grid of two directions, numbered row by row, one J in both.
 * @param field [n_fields] h of each kind of site. @param field_of [width * height] the function
 * takes ownership even if it fails; each below n_fields; NULL with one field. */
gbs_status gbsi_grid_open(uint32_t width, uint32_t height, double coupling, const double *field,
                          uint32_t n_fields, uint8_t *field_of, gbsi_grid *grid, gbs_error *err);
void gbsi_grid_free(gbsi_grid *grid); /* the arrays */
/* The most bytes that gbsi_grid_find() takes. */
uint64_t gbsi_grid_bytes(uint32_t n_sites);

#endif
