/* SPDX-License-Identifier: Apache-2.0 */
/* Passes of spins in bits: the two forms as rows of the table of passes. Their state is a
 * gbsi_spin_chains, a batch is a colour. */
#ifndef GBSI_LATTICE_BITS_H
#define GBSI_LATTICE_BITS_H

#include "lattice/spin_chains.h"
#include "plan/pass.h"

extern const gbsi_pass gbsi_pass_sites;  /* of a gbsi_lattice */
extern const gbsi_pass gbsi_pass_packed; /* chains, of a gbsi_packed */

/* The chains of either, for their sums. */
const gbsi_spin_chains *gbsi_bits_chains(const void *state);

#endif
