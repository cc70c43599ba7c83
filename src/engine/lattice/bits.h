/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over spins in bits. Each of the two forms has its gbsi_pass. The state of such a pass is a
 * gbsi_spin_chains. A batch of the pass updates the sites of one colour. */
#ifndef GBSI_LATTICE_BITS_H
#define GBSI_LATTICE_BITS_H

#include "lattice/spin_chains.h"
#include "plan/pass.h"

extern const gbsi_pass gbsi_pass_sites;  /* a word holds sites of one chain: gbsi_lattice */
extern const gbsi_pass gbsi_pass_packed; /* a word holds one site of 32 chains: gbsi_packed */

/* Returns the chains of a pass of either form, so that the caller can read their sums. */
const gbsi_spin_chains *gbsi_bits_chains(const void *state);

/* For tests: sets the number of operations between two looks at the watch. */
void gbsi_bits_look_every(void *state, double operations);

#endif
