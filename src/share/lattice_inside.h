/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates and slots of a lattice: private to src/share. */
#ifndef GBSI_SHARE_LATTICE_INSIDE_H
#define GBSI_SHARE_LATTICE_INSIDE_H

#include "share/lattice.h"

void gbsi_lattice_at(const gbsi_share_lattice *l, uint32_t v, uint32_t at[3]);
/* The slot, which is the place too. */
uint32_t gbsi_lattice_slot(const gbsi_share_lattice *l, uint32_t v);

#endif
