/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises models that are spin lattices, whose sites can be updated as bits.
 *
 * Conditions: binary variables without hard zeros, numbered row by row (and layer by layer);
 * factors of one or two variables of any kind; at most one factor per pair; the two sites of a pair
 * are adjacent in one of two or three directions, or are the first and last site of a line of three
 * or more; all
 * couplings along a direction are J, -J or missing; at most GBSI_SPIN_FIELDS different fields. This
 * form covers uniform and anisotropic lattices with open or closed boundaries, +-J glasses, diluted
 * lattices, and fields with few different values. */
#ifndef GBSI_LATTICE_GRID_H
#define GBSI_LATTICE_GRID_H

#include "lattice/spins.h"

#define GBSI_GRID_DIRECTIONS 3

typedef struct gbsi_grid {
    uint32_t n_sites;
    /* number of sites along each direction, the fastest direction first; side[1] is 1 if there are
     * two directions */
    uint32_t side[GBSI_GRID_DIRECTIONS];
    /* whether some bond joins the last and the first site of a line */
    bool wraps[GBSI_GRID_DIRECTIONS];
    double coupling[GBSI_GRID_DIRECTIONS]; /* coupling J of each direction; 0 if the direction has
                                              no bonds */
    /* [n_sites] bond to the next site: 1 stands for J, -1 for -J, 0 for no bond */
    int8_t *bond[GBSI_GRID_DIRECTIONS];
    gbsi_spins
        spins; /* fields and constants of the model; the members for groups and bonds are not set */
    /* [n_sites] index of each site's field; NULL if there is one field */
    uint8_t *field_of;
} gbsi_grid;

/* @param grid out; must be freed if GBS_OK is returned.
 * @param reason out: NULL if the model is a lattice, else the reason why the model is not a
 * lattice. The time is O(factors). */
gbs_status gbsi_grid_find(const gbsi_conditioned *model, gbsi_grid *grid, const char **reason,
                          gbs_error *err);
/* Makes an open grid of two directions without missing bonds, numbered row by row, with one J in
 * both directions.
 * @param field [n_fields] h of each kind of site. @param field_of [width * height] index of each
 * site's field, below n_fields; NULL if there is one field. gbsi_grid_open() takes ownership of the
 * array even if it fails. */
gbs_status gbsi_grid_open(uint32_t width, uint32_t height, double coupling, const double *field,
                          uint32_t n_fields, uint8_t *field_of, gbsi_grid *grid, gbs_error *err);
void gbsi_grid_free(gbsi_grid *grid); /* frees the arrays, not the struct */
/* Largest number of bytes that gbsi_grid_find() takes. */
uint64_t gbsi_grid_bytes(uint32_t n_sites);

#endif
