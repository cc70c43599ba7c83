/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of a lattice of spins or levels without the lattice: parts are blocks, colours those of a
 * chessboard, and slots, places and numbers of factors follow from coordinates. */
#ifndef GBSI_RANKS_LATTICE_H
#define GBSI_RANKS_LATTICE_H

#include "generate/grid_model.h"
#include "graph/partition.h"
#include "ranks/share.h"

/* The set of variables whose conditionals span too much for products of weights; they get the first
 * slots of their colour. Bits are sorted by chessboard colour, then by number. */
typedef struct gbsi_lattice_sums {
    uint64_t *bit;    /* [(variables + 63) / 64] NULL: the set is empty */
    uint32_t *before; /* [(variables + 63) / 64] how many in the words before */
    uint32_t n[2];    /* of each colour */
} gbsi_lattice_sums;

typedef struct gbsi_share_lattice {
    gbsi_grid_model grid;
    gbsi_grid_shape shape;
    uint32_t n_even; /* variables of the first colour */
    bool by_count;   /* all couplings are equal */
    gbsi_lattice_sums sums;
    gbsi_block *block;   /* [n_ranks] */
    gbsi_schedule whole; /* its batches and pieces */
    size_t batch_start[3];
    gbsi_piece piece[4];
    gbsi_share_facts facts;
} gbsi_share_lattice;

/* Walks once through all factors.
 * @param scan stands in facts.scan: the number of the chromatic scan.
 * @return GBS_ERR_UNSUPPORTED, with the reason, where a model file would be divided otherwise. */
gbs_status gbsi_share_lattice_init(gbsi_share_lattice *lattice, const gbsi_grid_model *grid,
                                   uint32_t n_ranks, int scan, gbs_error *err);
void gbsi_share_lattice_free(gbsi_share_lattice *lattice);

/* Makes the same share as gbsi_share_make() does from the model, at no more than the cost of the
 * share. */
gbs_status gbsi_share_of_lattice(const gbsi_share_lattice *lattice, uint32_t rank, gbs_share **out,
                                 gbs_error *err);

/* Coordinates, places and slots of a lattice: private to src/run/ranks. */

void gbsi_lattice_at(const gbsi_share_lattice *l, uint32_t v, uint32_t at[3]);
/* The position of a variable in the sequence of a pass: by chessboard colour, then by number. */
uint32_t gbsi_lattice_position(const gbsi_share_lattice *l, uint32_t v);
/* The slot, which is the place too: by colour, then products of weights after sums of logarithms,
 * then number. */
uint32_t gbsi_lattice_slot(const gbsi_share_lattice *l, uint32_t v);

#endif
