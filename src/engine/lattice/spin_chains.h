/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of spins in bits: their states, passes over all chains, counts of visits and sums. There
 * are two forms: a word holds sites of one chain (lattice.h), or chains of one site
 * (packed.h). */
#ifndef GBSI_LATTICE_SPIN_CHAINS_H
#define GBSI_LATTICE_SPIN_CHAINS_H

#include "lattice/spins.h"
#include "parallel/pool.h"

#define GBSI_SPIN_MOST_COUNTED 128u /* passes until visits must be taken */
/* A pass with fewer updates is over before a second thread has woken up. */
#define GBSI_SPIN_LEAST_SHARED (UINT64_C(1) << 17)

typedef struct gbsi_spin_chains gbsi_spin_chains;

/* The data of a pass that are kept for the estimates: the states, or the conditionals that they
 * were drawn from. */
typedef enum gbsi_spin_keep {
    GBSI_SPIN_KEEP_NOTHING,
    GBSI_SPIN_KEEP_VISITS,
    GBSI_SPIN_KEEP_NEIGHBOURS,
} gbsi_spin_keep;

typedef struct gbsi_spin_form {
    /* @param state [n_sites] 0 or 1. */
    void (*set)(gbsi_spin_chains *chains, uint32_t chain, const uint32_t *state);
    void (*get)(const gbsi_spin_chains *chains, uint32_t chain, uint32_t *state);
    /* The number of batches of a pass: the colours, then the counting if it comes last. */
    uint32_t (*n_batches)(const gbsi_spin_chains *chains);
    /* Runs batches [first, end) of all chains. @param count add the final states to the visits. */
    void (*run)(gbsi_spin_chains *chains, uint64_t pass, bool count, uint32_t first, uint32_t end);
    /* The number of parts that a batch can be cut into. @param n_updates out: in a part, about. */
    uint64_t (*n_parts)(const gbsi_spin_chains *chains, uint32_t batch, double *n_updates);
    /* Runs parts [first, end) of one batch: what run() does, in pieces. */
    void (*run_parts)(gbsi_spin_chains *chains, uint64_t pass, bool count, uint32_t batch,
                      uint64_t first, uint64_t end);
    /* After a pass that ended before this part of this batch: adds the states of all sites whose
     * final states it has not added, as they are, to the visits. */
    void (*count_rest)(gbsi_spin_chains *chains, uint32_t batch, uint64_t part);
    /* Adds the visits to state 1 of every chain to its bytes (site v at [v * stride]) and sets the
     * counters to 0. @param bytes_of(context, chain) returns the bytes of a chain. */
    void (*take_visits)(gbsi_spin_chains *chains, size_t stride,
                        uint8_t *(*bytes_of)(void *context, uint32_t chain), void *context);
    /* Rao-Blackwell: of slots [first, first + n), the probabilities of state 1 of one chain that
     * were drawn from since n_counted was 0, added up pass by pass. NULL: has none. */
    void (*average)(const gbsi_spin_chains *chains, uint32_t chain, uint32_t first, uint32_t n,
                    float *sum);
} gbsi_spin_form;

/* The first member of the struct of each form. */
struct gbsi_spin_chains {
    const gbsi_spin_form *form;
    const gbsi_spins *spins; /* borrowed */
    gbsi_pool *pool;         /* borrowed, NULL: one thread */
    uint64_t seed;
    uint32_t n_chains, n_members;
    uint32_t *state;
    uint32_t *visits; /* or neighbours; NULL: nothing is kept */
    gbsi_spin_keep keep;
    size_t n_state, n_visits; /* words */
    uint32_t n_counted;       /* passes in visits */
    gbsi_spin_sums *partial;  /* [n_members][n_chains] */
    gbsi_spin_sums *sums;     /* [n_chains] sums after the last pass; undefined if it was cut short
                               */
};

/* The bytes of a form, and its allocation. @param n_state, n_visits words; n_visits 0: no visits.
 * @param size bytes of the form's struct, whose first member becomes *out; the rest is zeroed. */
size_t gbsi_spin_chains_bytes(size_t n_state, size_t n_visits, uint32_t n_chains,
                              uint32_t n_threads);
gbs_status gbsi_spin_chains_new(const gbsi_spin_form *form, size_t size, const gbsi_spins *spins,
                                size_t n_state, size_t n_visits, uint32_t n_chains, uint64_t seed,
                                gbsi_pool *pool, gbsi_spin_chains **out, gbs_error *err);
void gbsi_spin_chains_free(gbsi_spin_chains *chains);

/* The work of a pass before the batches of its form; gbsi_spin_chains_add_up() is the work after
 * them.
 * @param count add the states at the end of the pass to the visits. */
void gbsi_spin_chains_begin(gbsi_spin_chains *chains, bool count);
void gbsi_spin_chains_add_up(gbsi_spin_chains *chains);

/* Whether threads share a pass; used by the forms. */
bool gbsi_spin_chains_shared(const gbsi_spin_chains *chains);

/* Reads the vertical counters [M16] of the 32 bits of a word as bytes, 8 to a uint64_t, and sets
 * them to 0. @param visits plane 0. @param plane_words distance between planes. */
void gbsi_spin_take_counts(uint32_t *visits, size_t plane_words, uint32_t n_counted,
                           uint64_t count[4]);

/* Adds 32 states to such counters. @param n_counted passes, this one included. */
void gbsi_spin_count(uint32_t *visits, size_t plane_words, uint32_t n_counted, uint32_t states);

#endif
