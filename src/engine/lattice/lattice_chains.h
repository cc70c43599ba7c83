/* SPDX-License-Identifier: Apache-2.0 */
/* Chains on a lattice, with 32 sites of a chain in a word. */
#ifndef GBSI_LATTICE_LATTICE_CHAINS_H
#define GBSI_LATTICE_LATTICE_CHAINS_H

#include "lattice/lattice.h"
#include "lattice/spin_chains.h"
#include "simd/dispatch.h"

size_t gbsi_lattice_chains_bytes(const gbsi_lattice *lattice, uint32_t n_chains, uint32_t n_threads,
                                 gbsi_spin_keep keep);
/* @param lattice, pool borrowed. @param keep neighbours: of a lattice that
 * gbsi_lattice_averages_refusal() does not refuse. */
gbs_status gbsi_lattice_chains_new(const gbsi_lattice *lattice, uint32_t n_chains, uint64_t seed,
                                   gbsi_spin_keep keep, gbsi_simd level, gbsi_pool *pool,
                                   gbsi_spin_chains **out, gbs_error *err);

#endif
