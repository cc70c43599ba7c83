/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates, places and slots of a lattice: private to src/run/ranks. */
#ifndef GBSI_RANKS_LATTICE_INSIDE_H
#define GBSI_RANKS_LATTICE_INSIDE_H

#include "ranks/lattice.h"

void gbsi_lattice_at(const gbsi_share_lattice *l, uint32_t v, uint32_t at[3]);
/* The position of a variable in the sequence of a pass: by chessboard colour, then by number. */
uint32_t gbsi_lattice_position(const gbsi_share_lattice *l, uint32_t v);
/* The slot, which is the place too: by colour, then products of weights after sums of logarithms,
 * then number. */
uint32_t gbsi_lattice_slot(const gbsi_share_lattice *l, uint32_t v);

#endif
