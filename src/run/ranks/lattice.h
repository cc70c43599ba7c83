/* SPDX-License-Identifier: Apache-2.0 */
/* Makes shares of a lattice of spins or levels without making the lattice. The shares are blocks of
 * sites, and the colours are those of a chessboard. Slots, places and numbers of factors are
 * computed from coordinates. */
#ifndef GBSI_RANKS_LATTICE_H
#define GBSI_RANKS_LATTICE_H

#include "generate/grid_model.h"
#include "graph/partition.h"
#include "ranks/share.h"

/* A set of variables: the range of their weights is too wide for products, and their conditionals
 * are computed as sums of logarithms. These variables have the first slots of their colour. The
 * bits of the set are sorted by chessboard colour, then by number of the variable. */
typedef struct gbsi_lattice_sums {
    uint64_t *bit;    /* [(variables + 63) / 64] the set; NULL if it is empty */
    uint32_t *before; /* [(variables + 63) / 64] for each word of bits, number of members in all
                         earlier words */
    uint32_t n[2];    /* number of members of each colour */
} gbsi_lattice_sums;

typedef struct gbsi_share_lattice {
    gbsi_grid_model grid;
    gbsi_grid_shape shape;
    uint32_t n_even; /* number of variables of the chessboard colour that comes first */
    bool by_count;   /* whether all couplings are equal */
    gbsi_lattice_sums sums;
    gbsi_block *block;   /* [n_ranks] */
    gbsi_schedule whole; /* batches and pieces of the schedule of the whole model */
    size_t batch_start[3];
    gbsi_piece piece[4];
    gbsi_share_facts facts;
} gbsi_share_lattice;

/* Walks once through all factors. @param scan number of the chromatic scan, stored in facts.scan.
 * @return GBS_ERR_UNSUPPORTED, with the reason, if a model file of this lattice would be divided in
 * another way. */
gbs_status gbsi_share_lattice_init(gbsi_share_lattice *lattice, const gbsi_grid_model *grid,
                                   uint32_t n_ranks, int scan, gbs_error *err);
void gbsi_share_lattice_free(gbsi_share_lattice *lattice);

/* Makes the same share that gbsi_share_make() would make from the model. The time is proportional
 * to the size of the share. */
gbs_status gbsi_share_of_lattice(const gbsi_share_lattice *lattice, uint32_t rank, gbs_share **out,
                                 gbs_error *err);

/* The functions from here on give coordinates, places and slots of a lattice; used only in
 * src/run/ranks. */

void gbsi_lattice_at(const gbsi_share_lattice *l, uint32_t v, uint32_t at[3]);
/* The place of a variable in the sequence of updates of a pass: sorted by chessboard colour, then
 * by number. */
uint32_t gbsi_lattice_position(const gbsi_share_lattice *l, uint32_t v);
/* The slot of a variable, which is also the place of its update. Slots are sorted by colour; within
 * a colour, variables computed as sums of logarithms come first; then the number decides. */
uint32_t gbsi_lattice_slot(const gbsi_share_lattice *l, uint32_t v);

#endif
