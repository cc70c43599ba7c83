/* SPDX-License-Identifier: Apache-2.0 */
/* The estimates of a run: sums per (slot, lane, cell) and second moments of batch means, which give
 * marginals, standard errors and R-hat.
 *
 * A slot of arity 2 has one cell (state 1), other slots have one cell per state. Lanes are chains:
 * chain = lanes * group + lane; padded lanes (chain >= n_chains) are never counted. */
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
    const uint32_t *arity; /* [n_slots], borrowed for the life of the estimate; NULL: same_arity */
    uint32_t same_arity;   /* the arity of every slot, if arity is NULL */
    uint32_t n_chains;
    uint32_t lanes; /* 16 or 1 */
    uint32_t n_groups;
    uint32_t value_bytes; /* of the state: 1 or 2 */
    gbs_estimator_kind kind;
    bool each_once;        /* every slot is updated exactly once per pass */
    uint32_t first_length; /* passes of the first batches, a power of two; 0: the shortest */
    uint32_t n_batches;    /* batches of a block and chain, a power of two; 0: 128 of all chains */
    /* For a model that is partitioned over ranks: */
    const uint8_t *own;     /* [n_slots] 1: updated here; borrowed, NULL: all are */
    const gbs_ranks *ranks; /* the others'; NULL: none. gbsi_estimate_find_worst() is then called on
                               all of them */
    size_t n_all_cells;     /* of all ranks */
    size_t n_all_runs;      /* runs of slots of the same arity, over all ranks */
    const gbsi_weave *weave; /* how they are saved together; borrowed, NULL: the model is not shared
                              */
    bool feeds;              /* spread.c: has fast sums alone, which another estimate takes */
    bool held; /* Rao-Blackwell, all slots binary: chains hold the probabilities that they add, see
                  gbsi_held; one lane, each slot once per pass */
    uint32_t n_padding; /* held: padding slots, whose sums are 0 */
} gbsi_estimate_shape;

static inline uint32_t gbsi_shape_arity(const gbsi_estimate_shape *shape, size_t slot)
{
    return shape->arity == NULL ? shape->same_arity : shape->arity[slot];
}

typedef struct gbsi_estimate gbsi_estimate;

/* The bytes that gbsi_estimate_new() takes. @return GBS_ERR_LIMIT if they do not fit a size_t. */
gbs_status gbsi_estimate_bytes(const gbsi_estimate_shape *shape, size_t *bytes, gbs_error *err);
gbs_status gbsi_estimate_new(const gbsi_estimate_shape *shape, gbsi_simd level,
                             gbsi_estimate **estimate, gbs_error *err);
void gbsi_estimate_free(gbsi_estimate *estimate);

/* Rao-Blackwell: add the probabilities of a tile ([M7]). Called per tile, after the draw. */
void gbsi_estimate_tile(gbsi_estimate *estimate, uint32_t group, const gbsi_tile *tile);
/* Whether the sums or counts of a group exceed the L2 cache. In that case, announce slots [first,
 * end) some time before they are added, so that their sums are prefetched. */
bool gbsi_estimate_is_far(const gbsi_estimate *estimate);
void gbsi_estimate_ahead(const gbsi_estimate *estimate, uint32_t group, uint32_t first,
                         uint32_t end);
/* Whether every slot is updated exactly once per pass, so that its state may be counted with its
 * update. */
bool gbsi_estimate_each_once(const gbsi_estimate *estimate);
/* Counting: add the states of slots [first, end) of one group at the end of a pass.
 * @param state [slot][lane]. */
void gbsi_estimate_state(gbsi_estimate *estimate, uint32_t group, const void *state, uint32_t first,
                         uint32_t end);
/* If the caller counts visits itself (all slots binary): whether the next gbsi_estimate_end_pass()
 * reads the counts, and the bytes to which the visits of a chain to state 1 must be added before
 * that (slot s at [s * stride], at most one per pass), and before any estimate below is read. */
bool gbsi_estimate_due(const gbsi_estimate *estimate);
uint8_t *gbsi_estimate_visits(gbsi_estimate *estimate, uint32_t chain, size_t *stride);
/* Chains that keep their conditionals themselves: the estimate asks for their sums when it needs
 * them, after every GBSI_PASSES_HELD passes of a batch. */
#define GBSI_PASSES_HELD 4u
#define GBSI_SLOTS_HELD  512u /* asked for at a time, from a multiple of that on; or one slot */
typedef struct gbsi_held {
    void *context;
    /* Adds up the probabilities of state 1 of one chain, over the passes since forget() was last
     * called, for slots [first, first + n). @param sum [n] out. */
    void (*sum)(void *context, uint32_t chain, uint32_t first, uint32_t n, float *sum);
    void (*forget)(void *context); /* they have been taken */
} gbsi_held;
/* To be called before the pass ends, and before any estimate below is read: sets the chains that
 * keep their sums. @param held copied. */
void gbsi_estimate_hold(gbsi_estimate *estimate, const gbsi_held *held);
/* Estimates of GBSI_SLOTS_HELD slots; the first slot is a multiple of that number. */
typedef struct gbsi_held_row {
    double p[GBSI_SLOTS_HELD], mcse[GBSI_SLOTS_HELD], rhat[GBSI_SLOTS_HELD];
    bool constant[GBSI_SLOTS_HELD]; /* the same state in every chain at every pass */
} gbsi_held_row;
void gbsi_estimate_held_row(const gbsi_estimate *estimate, uint32_t first, gbsi_held_row *out);
/* Ends the pass, after all groups: flushes sums and closes batches when due. @param pool shares the
 * work by slots; NULL: the calling thread does it. The bits are the same in both cases. */
void gbsi_estimate_end_pass(gbsi_estimate *estimate, gbsi_pool *pool);

/* Tells that this slot was updated in a pass that will not be finished, in scans that update every
 * slot once per pass. The update that was cut short counts; gbsi_estimate_end_pass() then does
 * nothing, and no more passes may follow. */
void gbsi_estimate_cut(gbsi_estimate *estimate, uint32_t slot);

/* Stays of chains in one state that were long, in passes. */
typedef struct gbsi_stay {
    uint64_t length; /* their sum */
    uint64_t square; /* the sum of their squares, in units of GBSI_STAY_UNIT passes */
} gbsi_stay;
#define GBSI_STAY_UNIT 64u
#define GBSI_LONG_STAY 64u /* looks without a change */
#define GBSI_STAY_EACH 8u  /* passes, of which the last is looked at */
typedef struct gbsi_cell_stays {
    gbsi_stay in, out; /* in the state of the cell, and in one of the others */
    uint64_t changes;  /* of the slot, from one look to the next */
} gbsi_cell_stays;
/* Raises standard errors to the values that these stays imply [M8], where they are below.
 * @param stays [cells of all slots] borrowed, of all chains; as it is when errors are asked for. */
void gbsi_estimate_heed_stays(gbsi_estimate *estimate, const gbsi_cell_stays *stays);

uint64_t gbsi_estimate_n_passes(const gbsi_estimate *estimate);

/* Adding a term rounds the sum of k terms of p by up to 2^-24 k p, so that the mean of the n terms
 * of a batch, 256 at most, is off by up to 2^-25 n p; the terms are floats, off by some 2^-21 p: no
 * standard error of an average of conditionals with mean p is below GBSI_RESOLUTION p once batches
 * are that long. [M8] */
#define GBSI_SUM_TERMS     256u
#define GBSI_SUM_ROUNDING  0x1p-25
#define GBSI_TERM_ROUNDING 0x1p-21
#define GBSI_RESOLUTION    (GBSI_SUM_ROUNDING * GBSI_SUM_TERMS + GBSI_TERM_ROUNDING)

/* Estimates of one slot. @param p, mcse, ess, rhat [arity] or NULL. NAN if undefined. */
void gbsi_estimate_slot(const gbsi_estimate *estimate, uint32_t slot, double *p, double *mcse,
                        double *ess, double *rhat);

/* Degrees of freedom of the current standard errors, for Student's t; 0 if no standard errors exist
 * yet. */
double gbsi_estimate_df(const gbsi_estimate *estimate);

typedef struct gbsi_estimate_worst {
    double max_mcse; /* largest standard error; with more than 10^5 marginals their 99.99 %
                        quantile; NAN: none yet */
    double max_rhat; /* +inf if chains are frozen at different values */
    double min_ess;
    uint64_t n_constant;  /* slots with the same state in every chain at every pass */
    uint64_t n_unvisited; /* slots never updated: they have no estimate */
} gbsi_estimate_worst;

gbs_status gbsi_estimate_find_worst(const gbsi_estimate *estimate, gbsi_pool *pool,
                                    gbsi_estimate_worst *worst, gbs_error *err);

/* ---- chains on several ranks: spread.c ---------------------------------------------------------
 *
 * Each rank feeds the chains that it has, whole groups, in ascending order, and keeps the sums of
 * all chains for some of the slots. When a batch ends, the values fed are sent there, so that every
 * sum is made where all its terms are, in the same order as on one rank: bits do not depend on
 * ranks. */

/* The first group of a rank, that of rank n_ranks being n_groups: rank 0 has one. */
uint32_t gbsi_first_group(uint32_t n_groups, uint32_t n_ranks, uint32_t rank);
/* The bytes that gbsi_estimate_spread() takes on this rank. @param ranks NULL: this is the only
 * one.
 */
gbs_status gbsi_estimate_spread_bytes(const gbs_ranks *ranks, const gbsi_estimate_shape *shape,
                                      size_t *bytes, gbs_error *err);
/* @param shape shape of all chains; the groups fed are those of this rank, counted from 0.
 * @param ranks borrowed; NULL: all chains are here, as gbsi_estimate_new() has it. */
gbs_status gbsi_estimate_spread(const gbs_ranks *ranks, const gbsi_estimate_shape *shape,
                                gbsi_simd level, gbsi_estimate **estimate, gbs_error *err);
/* The next two functions must be called on all ranks; they do nothing if the estimate is not spread
 * over ranks. After every gbsi_estimate_end_pass(): */
gbs_status gbsi_estimate_meet(gbsi_estimate *estimate, gbsi_pool *pool, gbs_error *err);
/* and before gbsi_estimate_slot(), which then tells of that moment. gbsi_estimate_find_worst() of a
 * spread estimate is called on all ranks too. */
gbs_status gbsi_estimate_tell(gbsi_estimate *estimate, gbs_error *err);
bool gbsi_estimate_has_told(const gbsi_estimate *estimate);

/* resume.c, between two passes: saves an estimate, and loads it into an estimate of the same shape.
 * @return the status of the sink or source; GBS_ERR_FORMAT if the saved estimate has another shape
 * or is damaged; the estimate is then undefined. */
gbs_status gbsi_estimate_save(const gbsi_estimate *estimate, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_estimate_load(gbsi_estimate *estimate, const gbsi_source *source, gbs_error *err);

/* Split R-hat (Gelman et al. 2013, BDA3 11.4) of traces. @param trace [n_chains][n], n >= 4.
 * Constant and equal traces give 1; constant but different ones +inf. */
double gbsi_split_rhat(const double *trace, uint32_t n_chains, size_t n, size_t stride);

/* Computes the standard error of the probability of a state that n draws had `visits` times. With
 * few visits the spread of the batches says nothing, because the current batches may have no visit.
 * The result is therefore at least the binomial error of n independent draws at the Jeffreys
 * estimate (visits + 1/2) / (n + 1), which is positive even without visits. A state that is rarely
 * left is treated in the same way. [M8]
 * @return the floor, 0 if visits are many. */
double gbsi_rare_error(double visits, double n);

/* The number of standard errors that the largest deviation of n estimates does not exceed by
 * chance: a bound on the largest of n normal variables, and 2. */
double gbsi_most_deviations(size_t n);
/* The square of an error, 0 if the error is unknown, as for a variable that never moved. */
double gbsi_known_square(double error);

#endif
