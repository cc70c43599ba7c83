/* SPDX-License-Identifier: Apache-2.0 */
/* The estimates of a run: marginals, standard errors and R-hat. They are computed from sums per
 * (slot, lane, cell) and from second moments of batch means.
 *
 * A slot of arity 2 has one cell, for state 1; other slots have one cell per state. Each lane of a
 * group is a chain, whose number is lanes * group + lane. Padded lanes, whose number is n_chains or
 * more, are never counted. */
#ifndef GBSI_ESTIMATE_ESTIMATE_H
#define GBSI_ESTIMATE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/weave.h"
#include "gibbsite/ranks.h"
#include "gibbsite/run.h"
#include "parallel/pool.h"
#include "plan/tile.h"
#include "simd/dispatch.h"

typedef struct gbsi_estimate_shape {
    uint32_t n_slots;
    /* [n_slots] borrowed for the life of the estimate; NULL if all slots have the arity same_arity
     */
    const uint32_t *arity;
    uint32_t same_arity; /* the arity of every slot, if arity is NULL */
    uint32_t n_chains;
    uint32_t lanes; /* 16 or 1 */
    uint32_t n_groups;
    uint32_t value_bytes; /* bytes of a state: 1 or 2 */
    gbs_estimator_kind kind;
    bool each_once; /* whether every slot is updated exactly once per pass */
    /* number of passes of a batch in the first block, a power of two; 0 for the default */
    uint32_t first_length;
    /* number of batches per chain in a block, a power of two; 0: chosen by the number of chains */
    uint32_t n_batches;
    /* the next members are for a model that is partitioned over ranks */
    /* [n_slots] 1 if this rank updates the slot; borrowed; NULL if this rank updates all slots */
    const uint8_t *own;
    /* all ranks of the model; NULL if there is one process. All ranks must then call
     * gbsi_estimate_find_worst() */
    const gbs_ranks *ranks;
    size_t n_all_cells; /* number of cells of all ranks */
    size_t n_all_runs;  /* number of runs of slots of equal arity, on all ranks */
    /* functions that save the arrays of all ranks as one array; borrowed; NULL if the model is not
     * divided among ranks */
    const gbsi_weave *weave;
    /* spread.c: whether this estimate has fast sums only, which another estimate takes over */
    bool feeds;
    /* whether the chains hold the sums of probabilities themselves, see gbsi_held. Requires
     * Rao-Blackwell, binary slots, one lane, and one update of each slot per pass */
    bool held;
    uint32_t n_padding; /* if `held`: number of padding slots, whose sums are 0 */
} gbsi_estimate_shape;

static inline uint32_t gbsi_shape_arity(const gbsi_estimate_shape *shape, size_t slot)
{
    return shape->arity == NULL ? shape->same_arity : shape->arity[slot];
}

typedef struct gbsi_estimate gbsi_estimate;

/* Bytes that gbsi_estimate_new() allocates. @return GBS_ERR_LIMIT if their number does not fit a
 * size_t. */
gbs_status gbsi_estimate_bytes(const gbsi_estimate_shape *shape, size_t *bytes, gbs_error *err);
gbs_status gbsi_estimate_new(const gbsi_estimate_shape *shape, gbsi_simd level,
                             gbsi_estimate **estimate, gbs_error *err);
void gbsi_estimate_free(gbsi_estimate *estimate);

/* Rao-Blackwell: adds the probabilities of a tile [M7]. Must be called for each tile, after its
 * draw. */
void gbsi_estimate_tile(gbsi_estimate *estimate, uint32_t group, const gbsi_tile *tile);
/* gbsi_estimate_is_far() says whether the sums or counts of a group exceed the L2 cache. If they
 * do, gbsi_estimate_ahead() prefetches the sums of slots [first, end), and should be called some
 * time before these slots are added. */
bool gbsi_estimate_is_far(const gbsi_estimate *estimate);
void gbsi_estimate_ahead(const gbsi_estimate *estimate, uint32_t group, uint32_t first,
                         uint32_t end);
/* Whether every slot is updated exactly once per pass, so that the state of a slot may be counted
 * when it is updated. */
bool gbsi_estimate_each_once(const gbsi_estimate *estimate);
/* Counting: adds the states of slots [first, end) of one group at the end of a pass.
 * @param state [slot][lane]. */
void gbsi_estimate_state(gbsi_estimate *estimate, uint32_t group, const void *state, uint32_t first,
                         uint32_t end);
/* The next two functions are for a caller that counts visits itself, in a model whose slots are all
 * binary. gbsi_estimate_due() says whether the next gbsi_estimate_end_pass() reads the counts.
 * gbsi_estimate_visits() returns the bytes of a chain, slot s at [s * stride]. The caller must add
 * the visits to state 1, at most one per slot and pass, before such an end of a pass, and before
 * any estimate below is read. */
bool gbsi_estimate_due(const gbsi_estimate *estimate);
uint8_t *gbsi_estimate_visits(gbsi_estimate *estimate, uint32_t chain, size_t *stride);
/* Functions of a caller whose chains hold the sums of their conditionals themselves. The estimate
 * calls these functions when it needs the sums, and after every GBSI_PASSES_HELD passes of a batch.
 */
#define GBSI_PASSES_HELD 4u
/* largest number of slots in a call of gbsi_held.sum(). If a call has more than one slot, its first
 * slot is a multiple of this number */
#define GBSI_SLOTS_HELD 512u
typedef struct gbsi_held {
    void *context;
    /* Adds up the probabilities of state 1 of one chain, over the passes since forget() was last
     * called, for slots [first, first + n). @param sum [n] out. */
    void (*sum)(void *context, uint32_t chain, uint32_t first, uint32_t n, float *sum);
    /* makes the chains forget the sums of all passes so far, which the estimate has read */
    void (*forget)(void *context);
} gbsi_held;
/* Sets the functions by which chains tell the sums that they hold. Must be called before the pass
 * ends, and before any estimate below is read. @param held copied. */
void gbsi_estimate_hold(gbsi_estimate *estimate, const gbsi_held *held);
/* Estimates of GBSI_SLOTS_HELD consecutive slots, whose first slot is a multiple of
 * GBSI_SLOTS_HELD. */
typedef struct gbsi_held_row {
    double p[GBSI_SLOTS_HELD], mcse[GBSI_SLOTS_HELD], rhat[GBSI_SLOTS_HELD];
    /* whether the slot had one state in every chain at every pass */
    bool constant[GBSI_SLOTS_HELD];
} gbsi_held_row;
void gbsi_estimate_held_row(const gbsi_estimate *estimate, uint32_t first, gbsi_held_row *out);
/* Ends the pass of all groups: flushes sums and closes batches when due. @param pool threads that
 * share the slots; NULL if the calling thread does all work. Results do not depend on the pool. */
void gbsi_estimate_end_pass(gbsi_estimate *estimate, gbsi_pool *pool);

/* Records that a slot was updated in a pass that will not be finished. The function is for scans
 * that update every slot once per pass. The estimate includes the updates of the unfinished pass.
 * gbsi_estimate_end_pass() then does nothing, and no more passes may follow. */
void gbsi_estimate_cut(gbsi_estimate *estimate, uint32_t slot);

/* Sums over the long stays of chains in one state. The length of a stay is its number of passes. */
typedef struct gbsi_stay {
    uint64_t length; /* sum of the lengths of the stays */
    uint64_t square; /* sum of the squared lengths, in units of GBSI_STAY_UNIT^2 squared passes */
} gbsi_stay;
#define GBSI_STAY_UNIT 64u
#define GBSI_LONG_STAY 64u /* least number of looks without a change in a long stay */
#define GBSI_STAY_EACH 8u  /* passes from one look at the state to the next */
typedef struct gbsi_cell_stays {
    gbsi_stay in, out; /* `in`: stays in the state of the cell; `out`: stays in any other state */
    /* number of looks that found the slot in another state than the look before */
    uint64_t changes;
} gbsi_cell_stays;
/* Sets the long stays of chains. From then on, each standard error is at least the value that the
 * stays imply [M8].
 * @param stays [cells of all slots] stays of all chains; borrowed, and read each time that errors
 * are computed. */
void gbsi_estimate_heed_stays(gbsi_estimate *estimate, const gbsi_cell_stays *stays);

uint64_t gbsi_estimate_n_passes(const gbsi_estimate *estimate);

/* Rounding of sums in float. Adding a term rounds a sum of k terms of size p by up to 2^-24 k p.
 * The mean of the n <= 256 terms of a batch therefore has an error of up to 2^-25 n p. The terms
 * themselves are floats with an error of about 2^-21 p. If batches are long, a reported standard
 * error of an average of conditionals with mean p is at least GBSI_RESOLUTION p. [M8] */
#define GBSI_SUM_TERMS     256u
#define GBSI_SUM_ROUNDING  0x1p-25
#define GBSI_TERM_ROUNDING 0x1p-21
#define GBSI_RESOLUTION    (GBSI_SUM_ROUNDING * GBSI_SUM_TERMS + GBSI_TERM_ROUNDING)

/* Estimates of one slot. @param p, mcse, ess, rhat [arity] out; each may be NULL. Undefined numbers
 * are NAN. */
void gbsi_estimate_slot(const gbsi_estimate *estimate, uint32_t slot, double *p, double *mcse,
                        double *ess, double *rhat);

/* Degrees of freedom of the current standard errors, for Student's t; 0 as long as there are no
 * standard errors. */
double gbsi_estimate_df(const gbsi_estimate *estimate);

typedef struct gbsi_estimate_worst {
    /* largest standard error, or the 99.99 % quantile of the standard errors if there are more than
     * 10^5 marginals; NAN before the first standard error */
    double max_mcse;
    double max_rhat; /* largest R-hat; +inf if chains are frozen at different values */
    double min_ess;
    uint64_t n_constant;  /* number of slots that had one state in every chain at every pass */
    uint64_t n_unvisited; /* number of slots that were never updated and have no estimate */
} gbsi_estimate_worst;

gbs_status gbsi_estimate_find_worst(const gbsi_estimate *estimate, gbsi_pool *pool,
                                    gbsi_estimate_worst *worst, gbs_error *err);

/* ---- chains on several ranks: spread.c ---------------------------------------------------------
 *
 * The groups of chains are divided among ranks in ascending order, and each rank feeds the tiles of
 * its groups to the estimate. Each rank also keeps the sums of all chains for some of the slots.
 * When a batch ends, every rank sends its values to the ranks that keep the sums. The terms of a
 * sum are added in one order for all numbers of ranks, so that results do not depend on the number
 * of ranks. */

/* First group of a rank. The first group of rank n_ranks is n_groups, and rank 0 has at least one
 * group. */
uint32_t gbsi_first_group(uint32_t n_groups, uint32_t n_ranks, uint32_t rank);
/* Bytes that gbsi_estimate_spread() allocates on this rank. @param ranks NULL if this is the only
 * rank. */
gbs_status gbsi_estimate_spread_bytes(const gbs_ranks *ranks, const gbsi_estimate_shape *shape,
                                      size_t *bytes, gbs_error *err);
/* @param shape shape of all chains. The caller feeds the tiles of this rank's groups; group numbers
 * of a rank begin at 0.
 * @param ranks borrowed; NULL if this rank has all chains, as in gbsi_estimate_new(). */
gbs_status gbsi_estimate_spread(const gbs_ranks *ranks, const gbsi_estimate_shape *shape,
                                gbsi_simd level, gbsi_estimate **estimate, gbs_error *err);
/* The next two functions must be called on all ranks; they do nothing if the estimate is not spread
 * over ranks. gbsi_estimate_meet() must be called after every gbsi_estimate_end_pass(). */
gbs_status gbsi_estimate_meet(gbsi_estimate *estimate, gbsi_pool *pool, gbs_error *err);
/* Must be called before gbsi_estimate_slot(), which then returns the estimates as they were at this
 * call. All ranks must also call gbsi_estimate_find_worst() of a spread estimate. */
gbs_status gbsi_estimate_tell(gbsi_estimate *estimate, gbs_error *err);
bool gbsi_estimate_has_told(const gbsi_estimate *estimate);

/* resume.c: saves an estimate between two passes, and loads it into an estimate of the same shape.
 * @return the status of the sink or source; GBS_ERR_FORMAT if the saved estimate has another shape
 * or is damaged; the estimate is then undefined. */
gbs_status gbsi_estimate_save(const gbsi_estimate *estimate, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_estimate_load(gbsi_estimate *estimate, const gbsi_source *source, gbs_error *err);

/* Split R-hat (Gelman et al. 2013, BDA3 11.4) of traces. @param trace [n_chains][n], n >= 4. If all
 * traces are constant, the result is 1 for equal traces and +inf for different traces. */
double gbsi_split_rhat(const double *trace, uint32_t n_chains, size_t n, size_t stride);

/* Computes the standard error of the probability of a state that n draws had `visits` times. If
 * visits are few, the spread of the batches says nothing, because the current batches may have no
 * visit. The result is therefore at least the binomial error of n independent draws at the Jeffreys
 * estimate (visits + 1/2) / (n + 1), which is positive even without visits. A state that is rarely
 * left gets the same bound, with the draws in other states as visits. [M8]
 * @return lower bound of the standard error; 0 if there are many visits. */
double gbsi_rare_error(double visits, double n);

/* Number of standard errors that the largest deviation of n estimates rarely exceeds by chance. The
 * returned number is 2 plus a bound on the largest of n normal variables. */
double gbsi_most_deviations(size_t n);
/* Square of an error; 0 if the error is unknown, as for a variable that never moved. */
double gbsi_known_square(double error);

#endif
