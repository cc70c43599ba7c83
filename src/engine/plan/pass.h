/* SPDX-License-Identifier: Apache-2.0 */
/* A pass updates the variables of all chains, usually once each. Each kind of pass is a table of
 * functions.
 *
 * Tiles (chains/tiles.c) update variables one by one, splashes (splash/) update blocks of
 * variables, and bit lattices (lattice/) update spins by operations on bits. The executor
 * (chains/executor.h) owns the chains and calls the kind of pass that the run's scan needs. A pass
 * is begun, run batch by batch, and ended. No two updates of a batch depend on one another, and
 * states are consistent between two batches. Only between batches may lanes be permuted or states
 * exchanged with other processes. */
#ifndef GBSI_PLAN_PASS_H
#define GBSI_PLAN_PASS_H

#include "base/saved.h"
#include "base/watch.h"
#include "parallel/pool.h"
#include "plan/draw.h"
#include "plan/kernel.h"

struct gbsi_estimate;

#define GBSI_HELD_OFTEN 20u /* see gbsi_pass.held */

/* Traits of a kind of pass. */
#define GBSI_PASS_HEATS 1u /* applies the inverse temperatures job.beta */
#define GBSI_PASS_OWNS  2u /* stores states in a form of its own; plan, group and draw are NULL */
/* May cross hard zeros that single updates cannot cross; see connects() */
#define GBSI_PASS_CONNECT 4u

/* The ranks whose variables share factors with a slot, if the model is divided among ranks. */
typedef enum gbsi_reach {
    GBSI_REACH_INTERIOR, /* only this rank */
    GBSI_REACH_BOUNDARY, /* also other ranks: some factor contains the slot's variable and a
                            variable of another rank */
    GBSI_REACH_HALO,     /* the slot belongs to another rank */
} gbsi_reach;

/* Ranks take turns to change slots that other ranks see. A turn has two batches. In its own turn, a
 * rank changes its boundary slots in the first batch. In every turn, the first batch may also
 * change interior slots. The second batch changes only interior slots, while the changes of the
 * first batch are sent to other ranks. */
typedef struct gbsi_turns {
    uint32_t n_ranks, rank;
    uint32_t n;           /* number of turns of a pass */
    uint32_t own;         /* number of the turn of this rank */
    const uint8_t *reach; /* [slots] a gbsi_reach for each slot; NULL: all slots are interior */
} gbsi_turns;

static inline gbsi_reach gbsi_reach_of(const gbsi_turns *turns, uint32_t slot)
{
    return turns->reach == NULL ? GBSI_REACH_INTERIOR : (gbsi_reach)turns->reach[slot];
}

/* The inputs from which gbsi_pass.prepare() makes the state of a pass. All pointers are borrowed
 * until the pass is freed, except `options`, which is borrowed until prepare() returns. */
typedef struct gbsi_pass_setting {
    const gbsi_plan *plan;
    const void *compiled; /* with GBSI_PASS_OWNS: the model in the form that the pass uses */
    const gbs_run_options *options;
    gbsi_group *group; /* [n_groups] states of the chains */
    uint32_t n_chains, lanes, n_groups;
    uint32_t first_chain; /* number of the first chain of this process; earlier chains are in other
                             processes */
    gbsi_simd level;
    gbsi_pool *pool;    /* NULL: one thread */
    uint32_t n_threads; /* number of threads of the pool; the pool does not exist yet when bytes()
                           is called */
    const gbsi_turns *turns; /* NULL: no other rank has a part of the model */
} gbsi_pass_setting;

/* Arguments of gbsi_pass.begin(), for one pass over all chains. */
typedef struct gbsi_pass_job {
    uint64_t pass; /* number of the pass; random numbers are functions of this number and of the
                      place in the whole pass */
    const gbsi_schedule *schedule; /* schedule of the pass; NULL if the scan has none */
    const gbsi_draw *draw;
    void *draw_state;
    const float
        *beta; /* [n_groups * lanes] inverse temperature of each chain, including padded lanes; the
                  numbers may change between batches. NULL if all inverse temperatures are 1 */
    struct gbsi_estimate *estimate; /* NULL: no estimates are kept */
    bool rao_blackwell;
    gbsi_watch *watch; /* watch that may stop a long pass; end() then keeps the states drawn so far.
                          NULL if the pass cannot be stopped */
} gbsi_pass_job;

/* A function that is called for every variable of every block before the block is drawn; see
 * gbs_run_callbacks. */
typedef void gbsi_on_block(void *context, uint64_t round, uint32_t block, uint32_t variable);

typedef struct gbsi_pass {
    const char *name;
    unsigned traits;

    /* REQUIRED. Returns an upper bound of the bytes that prepare() takes. */
    uint64_t (*bytes)(const gbsi_pass_setting *setting);
    /* REQUIRED. Allocates all memory that passes need. The functions below allocate memory only to
     * grow tables of draws and of blocks. */
    gbs_status (*prepare)(const gbsi_pass_setting *setting, void **state, gbs_error *err);
    /* REQUIRED. Begins a pass. @param job is copied. */
    gbs_status (*begin)(void *state, const gbsi_pass_job *job, gbs_error *err);
    /* REQUIRED. Runs at most `most` further batches. @param more out: whether the pass has
     * further batches. */
    gbs_status (*batch)(void *state, uint32_t most, bool *more, gbs_error *err);
    /* REQUIRED. Ends the pass, after the last batch. @return GBS_STOPPED if the watch ended the
     * pass early; GBS_ERR_NOT_FOUND, with a message that names the variable, if some conditional
     * had no positive weight. */
    gbs_status (*end)(void *state, gbs_error *err);
    /* REQUIRED. Returns the number of updates of each chain in the last pass. */
    uint64_t (*n_updates)(const void *state);
    /* REQUIRED. Returns the number of operations of all passes so far, for n_chains chains. It is
     * counted work times calibrated nanoseconds. No clock is read. */
    double (*operations)(void *state, uint32_t n_chains);
    /* REQUIRED. Returns a lower bound of the operations of a pass, from setting->plan or
     * setting->compiled, and setting->n_chains. */
    double (*least_operations)(const gbsi_pass_setting *setting);

    /* Set and get the state of one chain: x has the state of each variable, from 0 to its arity -
     * 1. NULL without GBSI_PASS_OWNS. */
    void (*set)(void *state, uint32_t chain, const uint32_t *x);
    void (*get)(const void *state, uint32_t chain, uint32_t *x);
    /* OPTIONAL. Gives each chain a start of its own, far from the starts of other chains. If the
     * pointer is NULL, starts are computed from the model's factors. */
    void (*scatter)(void *state);
    /* Returns the log density of a chain after the last pass. NULL without GBSI_PASS_OWNS. */
    double (*log_density)(const void *state, uint32_t chain);
    /* Moves the counts of visits that the pass keeps itself to the estimate. The function is called
     * before the estimate is read; NULL if the pass keeps no counts. */
    void (*fetch)(void *state, struct gbsi_estimate *estimate);

    /* Whether the blocks drawn so far prove that every state of positive weight can be reached from
     * every other one. NULL without GBSI_PASS_CONNECT. */
    bool (*connects)(const void *state);
    /* OPTIONAL; a pass has both functions or neither. held() returns how often, up to
     * GBSI_HELD_OFTEN, one block held the variable of a slot together with its whole connected
     * component. A draw of such a block is independent of all earlier draws. set_held() sets this
     * number when a saved run is continued. */
    uint8_t (*held)(const void *state, uint32_t slot);
    void (*set_held)(void *state, uint32_t slot, uint8_t n);
    /* Returns the largest number of variables that a block may have. NULL if the pass has no
     * blocks. */
    uint32_t (*block_size)(const void *state);
    /* OPTIONAL. Sets a callback for blocks. @param on_block NULL: no callback. */
    void (*watch)(void *state, gbsi_on_block *on_block, void *context);

    /* OPTIONAL; a pass has both functions or neither. They save and load, between two passes, all
     * data on which later passes depend, except the setting, the job, the states of groups and the
     * draw. load() is called after prepare() with an equal setting. */
    gbs_status (*save)(const void *state, const gbsi_sink *sink, gbs_error *err);
    gbs_status (*load)(void *state, const gbsi_source *source, gbs_error *err);

    /* REQUIRED. Frees the state; NULL is allowed. */
    void (*free)(void *state);
} gbsi_pass;

#endif
