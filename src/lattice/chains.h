/* SPDX-License-Identifier: Apache-2.0 */
/* Chains on a lattice: their states, passes over all of them, what is counted and what is summed.
 */
#ifndef GBSI_LATTICE_CHAINS_H
#define GBSI_LATTICE_CHAINS_H

#include "lattice/sweep.h"
#include "parallel/pool.h"

#define GBSI_LATTICE_MOST_COUNTED 128u /* passes until counts must be taken */

typedef struct gbsi_lattice_chains {
    const gbsi_lattice *lattice; /* borrowed */
    gbsi_lattice_sweep_function sweep;
    gbsi_pool *pool; /* borrowed, NULL: one thread */
    uint64_t seed;
    uint32_t n_chains, n_members;
    uint32_t *state;            /* [n_chains][state_words] */
    uint32_t *visits;           /* [n_chains][2 * counters][2 n_words]; NULL: no site is counted */
    uint32_t n_counted;         /* passes in visits */
    gbsi_lattice_sums *partial; /* [n_members][n_chains] */
    gbsi_lattice_sums *sums;    /* [n_chains] after the last pass */
} gbsi_lattice_chains;

size_t gbsi_lattice_chains_bytes(const gbsi_lattice *lattice, uint32_t n_chains, uint32_t n_threads,
                                 bool count);
gbs_status gbsi_lattice_chains_new(const gbsi_lattice *lattice, uint32_t n_chains, uint64_t seed,
                                   bool count, gbsi_simd level, gbsi_pool *pool,
                                   gbsi_lattice_chains **out, gbs_error *err);
void gbsi_lattice_chains_free(gbsi_lattice_chains *chains);

/* @param state [n_sites] 0 or 1. */
void gbsi_lattice_set(gbsi_lattice_chains *chains, uint32_t chain, const uint32_t *state);
void gbsi_lattice_get(const gbsi_lattice_chains *chains, uint32_t chain, uint32_t *state);

/* One pass of all chains, both colours. @param count add the states at its end to the visits. */
void gbsi_lattice_pass(gbsi_lattice_chains *chains, uint64_t pass, bool count);

/* Visits to state 1 since the last time, added to bytes (of site v at [v * stride]) of every chain;
 * then they start again. @param bytes_of(context, chain): where. */
void gbsi_lattice_take_visits(gbsi_lattice_chains *chains, size_t stride,
                              uint8_t *(*bytes_of)(void *context, uint32_t chain), void *context);

/* Of a chain after a pass: log density as gbsi_conditioned_log_density() up to rounding, and
 * the sum of spins. */
double gbsi_lattice_log_density(const gbsi_lattice_chains *chains, uint32_t chain);
int64_t gbsi_lattice_spin_sum(const gbsi_lattice_chains *chains, uint32_t chain);

#endif
