/* SPDX-License-Identifier: Apache-2.0 */
/* Chains on any graph of spins, with 32 chains in a word. */
#ifndef GBSI_LATTICE_PACKED_CHAINS_H
#define GBSI_LATTICE_PACKED_CHAINS_H

#include "lattice/packed.h"
#include "lattice/spin_chains.h"
#include "simd/dispatch.h"

size_t gbsi_packed_chains_bytes(const gbsi_packed *packed, uint32_t n_chains, uint32_t n_threads,
                                bool count);
/* @param packed, pool borrowed. @param count whether visits are counted. */
gbs_status gbsi_packed_chains_new(const gbsi_packed *packed, uint32_t n_chains, uint64_t seed,
                                  bool count, gbsi_simd level, gbsi_pool *pool,
                                  gbsi_spin_chains **out, gbs_error *err);

#endif
