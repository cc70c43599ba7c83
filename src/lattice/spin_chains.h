/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of spins in bits: their states, passes over all of them, what is counted and what is
 * summed. There are two forms, sites in bits (lattice_chains.h) and chains in bits
 * (packed_chains.h). */
#ifndef GBSI_LATTICE_SPIN_CHAINS_H
#define GBSI_LATTICE_SPIN_CHAINS_H

#include "lattice/spins.h"
#include "parallel/pool.h"

#define GBSI_SPIN_MOST_COUNTED 128u /* passes until visits must be taken */
/* Updates below which a pass is over before a second thread has woken up. */
#define GBSI_SPIN_LEAST_SHARED (UINT64_C(1) << 17)

typedef struct gbsi_spin_chains gbsi_spin_chains;

typedef struct gbsi_spin_form {
    /* @param state [n_sites] 0 or 1. */
    void (*set)(gbsi_spin_chains *chains, uint32_t chain, const uint32_t *state);
    void (*get)(const gbsi_spin_chains *chains, uint32_t chain, uint32_t *state);
    /* Batches of a pass: colours, and what counts after them. */
    uint32_t (*n_batches)(const gbsi_spin_chains *chains);
    /* Some of them, of all chains. @param count add the states at the end to the visits. */
    void (*run)(gbsi_spin_chains *chains, uint64_t pass, bool count, uint32_t first, uint32_t end);
    /* Visits to state 1 since the last time, added to bytes (of site v at [v * stride]) of every
     * chain; then they start again. @param bytes_of(context, chain): where. */
    void (*take_visits)(gbsi_spin_chains *chains, size_t stride,
                        uint8_t *(*bytes_of)(void *context, uint32_t chain), void *context);
} gbsi_spin_form;

/* Begins what each form has of its own. */
struct gbsi_spin_chains {
    const gbsi_spin_form *form;
    const gbsi_spins *spins; /* borrowed */
    gbsi_pool *pool;         /* borrowed, NULL: one thread */
    uint64_t seed;
    uint32_t n_chains, n_members;
    uint32_t *state;
    uint32_t *visits;         /* NULL: no site is counted */
    size_t n_state, n_visits; /* words */
    uint32_t n_counted;       /* passes in visits */
    gbsi_spin_sums *partial;  /* [n_members][n_chains] */
    gbsi_spin_sums *sums;     /* [n_chains] after the last pass */
};

/* What a form takes, and taking it. @param n_state, n_visits words; no visits: 0.
 * @param size of the form's struct, which *out begins; the rest of it is 0. */
size_t gbsi_spin_chains_bytes(size_t n_state, size_t n_visits, uint32_t n_chains,
                              uint32_t n_threads);
gbs_status gbsi_spin_chains_new(const gbsi_spin_form *form, size_t size, const gbsi_spins *spins,
                                size_t n_state, size_t n_visits, uint32_t n_chains, uint64_t seed,
                                gbsi_pool *pool, gbsi_spin_chains **out, gbs_error *err);
void gbsi_spin_chains_free(gbsi_spin_chains *chains);

/* A pass of all chains; and its parts, before and after the batches.
 * @param count add the states at its end to the visits. */
void gbsi_spin_chains_pass(gbsi_spin_chains *chains, uint64_t pass, bool count);
void gbsi_spin_chains_begin(gbsi_spin_chains *chains, bool count);
void gbsi_spin_chains_add_up(gbsi_spin_chains *chains);

/* For the forms: whether threads share a pass. */
bool gbsi_spin_chains_shared(const gbsi_spin_chains *chains);

/* Visits to state 1 in the 32 bits of a word by vertical counters [M16], as bytes, 8 to a word;
 * then the counters are empty. @param visits plane 0. @param plane_words from plane to plane. */
void gbsi_spin_take_counts(uint32_t *visits, size_t plane_words, uint32_t n_counted,
                           uint64_t count[4]);

#endif
