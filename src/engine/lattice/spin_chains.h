/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of spins in bits: their states, passes over all chains, counts of visits and sums. In the
 * first form a word holds 32 sites of one chain (lattice.h), in the second form one site of 32
 * chains (packed.h). */
#ifndef GBSI_LATTICE_SPIN_CHAINS_H
#define GBSI_LATTICE_SPIN_CHAINS_H

#include "lattice/spins.h"
#include "parallel/pool.h"

#define GBSI_SPIN_MOST_COUNTED 128u /* most passes between two calls of take_visits() */
/* Threads share a pass if it has at least this number of updates. A shorter pass ends before a
 * second thread has woken up. */
#define GBSI_SPIN_LEAST_SHARED (UINT64_C(1) << 17)

typedef struct gbsi_spin_chains gbsi_spin_chains;

/* Data of a pass that are kept for the estimates: the states, or the conditionals from which the
 * states were drawn. */
typedef enum gbsi_spin_keep {
    GBSI_SPIN_KEEP_NOTHING,
    GBSI_SPIN_KEEP_VISITS,
    GBSI_SPIN_KEEP_NEIGHBOURS,
} gbsi_spin_keep;

typedef struct gbsi_spin_form {
    /* Sets the states of a chain. @param state [n_sites] 0 or 1. */
    void (*set)(gbsi_spin_chains *chains, uint32_t chain, const uint32_t *state);
    void (*get)(const gbsi_spin_chains *chains, uint32_t chain, uint32_t *state);
    /* Number of batches of a pass: one or more per colour, and for lattices with seams two batches
     * at the end that count. */
    uint32_t (*n_batches)(const gbsi_spin_chains *chains);
    /* Runs batches [first, end) of all chains. @param count whether the final states are added to
     * the visits. */
    void (*run)(gbsi_spin_chains *chains, uint64_t pass, bool count, uint32_t first, uint32_t end);
    /* Number of parts into which a batch can be cut. @param n_updates out: approximate number of
     * updates in a part. */
    uint64_t (*n_parts)(const gbsi_spin_chains *chains, uint32_t batch, double *n_updates);
    /* Runs parts [first, end) of one batch. All parts together do the work of run() for the batch.
     */
    void (*run_parts)(gbsi_spin_chains *chains, uint64_t pass, bool count, uint32_t batch,
                      uint64_t first, uint64_t end);
    /* Completes the visits of a pass that was cut short before `part` of `batch`: adds the current
     * states of all sites whose final states the pass has not added. */
    void (*count_rest)(gbsi_spin_chains *chains, uint32_t batch, uint64_t part);
    /* Adds each chain's visits to state 1 to the bytes of the chain, in which site v is at [v *
     * stride], and sets the counters to 0. @param bytes_of(context, chain) returns the bytes of a
     * chain. */
    void (*take_visits)(gbsi_spin_chains *chains, size_t stride,
                        uint8_t *(*bytes_of)(void *context, uint32_t chain), void *context);
    /* Rao-Blackwell: for each slot from first to first + n - 1 of one chain, adds up the
     * probabilities of state 1 from which the slot's states were drawn since n_counted was 0. NULL
     * if the form keeps no probabilities. */
    void (*average)(const gbsi_spin_chains *chains, uint32_t chain, uint32_t first, uint32_t n,
                    float *sum);
} gbsi_spin_form;

/* Common part of the chains of the two forms, which is the first member of the struct of each form.
 */
struct gbsi_spin_chains {
    const gbsi_spin_form *form;
    const gbsi_spins *spins; /* borrowed */
    gbsi_pool *pool;         /* borrowed; NULL if there is one thread */
    uint64_t seed;
    uint32_t n_chains, n_members;
    uint32_t *state;
    uint32_t
        *visits; /* counters of visits, or kept numbers of neighbours up; NULL if nothing is kept */
    gbsi_spin_keep keep;
    size_t n_state, n_visits; /* lengths of `state` and `visits`, in words */
    uint32_t n_counted;       /* number of passes whose data are in `visits` */
    gbsi_spin_sums *partial;  /* [n_members][n_chains] */
    /* [n_chains] sums after the last pass; undefined if the pass was cut short */
    gbsi_spin_sums *sums;
};

/* gbsi_spin_chains_bytes() returns the number of bytes of the chains of a form, and
 * gbsi_spin_chains_new() allocates the chains. @param n_state, n_visits numbers of words of all
 * chains; n_visits is 0 if no visits are kept.
 * @param size bytes of the form's struct, whose first member becomes *out; the other members are
 * zeroed. */
size_t gbsi_spin_chains_bytes(size_t n_state, size_t n_visits, uint32_t n_chains,
                              uint32_t n_threads);
gbs_status gbsi_spin_chains_new(const gbsi_spin_form *form, size_t size, const gbsi_spins *spins,
                                size_t n_state, size_t n_visits, uint32_t n_chains, uint64_t seed,
                                gbsi_pool *pool, gbsi_spin_chains **out, gbs_error *err);
void gbsi_spin_chains_free(gbsi_spin_chains *chains);

/* Does the work of a pass before its batches; gbsi_spin_chains_add_up() does the work after them.
 * @param count whether the states at the end of the pass are added to the visits. */
void gbsi_spin_chains_begin(gbsi_spin_chains *chains, bool count);
void gbsi_spin_chains_add_up(gbsi_spin_chains *chains);

/* Whether threads share a pass; the forms call this function. */
bool gbsi_spin_chains_shared(const gbsi_spin_chains *chains);

/* Reads the vertical counters [M16] of the 32 bits of a word as bytes, 8 to a uint64_t, and sets
 * the counters to 0. @param visits plane 0 of the word. @param plane_words distance between planes.
 */
void gbsi_spin_take_counts(uint32_t *visits, size_t plane_words, uint32_t n_counted,
                           uint64_t count[4]);

/* Adds 32 states to the vertical counters of a word. @param n_counted number of passes, including
 * this one. */
void gbsi_spin_count(uint32_t *visits, size_t plane_words, uint32_t n_counted, uint32_t states);

#endif
