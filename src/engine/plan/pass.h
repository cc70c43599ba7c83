/* SPDX-License-Identifier: Apache-2.0 */
/* Passes, which update chains: one table of functions per kind of pass.
 *
 * Tiles (chains/tiles.c) update variables one by one, splashes (splash/) update blocks of
 * variables, and bit lattices (lattice/) update spins by operations on bits. The executor
 * (chains/executor.h) owns the chains and calls whichever the run's scan needs. A pass is begun,
 * run batch by batch, and ended. No two updates of a batch depend on one another, so that states
 * are consistent between two batches; only then may lanes be permuted or states exchanged with
 * other processes. */
#ifndef GBSI_PLAN_PASS_H
#define GBSI_PLAN_PASS_H

#include "base/saved.h"
#include "base/watch.h"
#include "parallel/pool.h"
#include "plan/draw.h"
#include "plan/kernel.h"

struct gbsi_estimate;

#define GBSI_HELD_OFTEN 20u /* see gbsi_pass.held */

/* Traits. */
#define GBSI_PASS_HEATS   1u /* follows job.beta */
#define GBSI_PASS_OWNS    2u /* the pass keeps states in its own form: plan, group, draw are NULL */
#define GBSI_PASS_CONNECT 4u /* single updates need not cross hard zeros: see connects() */

/* The ranks that see a slot, if the model is partitioned over ranks. */
typedef enum gbsi_reach {
    GBSI_REACH_INTERIOR, /* this rank alone */
    GBSI_REACH_BOUNDARY, /* others too: a factor has it and a variable of another rank */
    GBSI_REACH_HALO,     /* the place belongs to another rank */
} gbsi_reach;

/* Ranks take turns to change what others see. A turn is two batches. The first changes the
 * boundary, in the rank's own turn alone, and may change the interior. The second changes the
 * interior alone, while the changes of the first travel to other ranks. */
typedef struct gbsi_turns {
    uint32_t n_ranks, rank;
    uint32_t n;           /* of a pass */
    uint32_t own;         /* that of this rank */
    const uint8_t *reach; /* [slots] gbsi_reach; NULL: all is interior */
} gbsi_turns;

static inline gbsi_reach gbsi_reach_of(const gbsi_turns *turns, uint32_t slot)
{
    return turns->reach == NULL ? GBSI_REACH_INTERIOR : (gbsi_reach)turns->reach[slot];
}

/* The inputs from which a pass is made. All pointers are borrowed for its life, but options only
 * until prepare() returns. */
typedef struct gbsi_pass_setting {
    const gbsi_plan *plan;
    const void *compiled; /* the model in the form that the pass runs, with OWNS */
    const gbs_run_options *options;
    gbsi_group *group; /* [n_groups] the chains' states */
    uint32_t n_chains, lanes, n_groups;
    uint32_t first_chain; /* number of the first chain here: the chains before it are in other
                             processes */
    gbsi_simd level;
    gbsi_pool *pool;         /* NULL: one thread */
    uint32_t n_threads;      /* number of threads of the pool, which does not exist yet when bytes()
                                is called */
    const gbsi_turns *turns; /* NULL: no other rank has a part of the model */
} gbsi_pass_setting;

/* Arguments of one pass over all chains. */
typedef struct gbsi_pass_job {
    uint64_t pass;                 /* random numbers are a function of it and of the global place */
    const gbsi_schedule *schedule; /* schedule of a scan that has one */
    const gbsi_draw *draw;
    void *draw_state;
    const float *beta; /* [n_groups * lanes] inverse temperature by chain, padded lanes included;
                          may change between batches. NULL: 1 */
    struct gbsi_estimate *estimate; /* NULL: nothing is kept */
    bool rao_blackwell;
    gbsi_watch *watch; /* asked during long passes; if it stops the pass, end() keeps the states
                          drawn up to then. NULL: never stops */
} gbsi_pass_job;

/* Called for every variable of every block before it is drawn; see gbs_run_callbacks. */
typedef void gbsi_on_block(void *context, uint64_t round, uint32_t block, uint32_t variable);

typedef struct gbsi_pass {
    const char *name;
    unsigned traits;

    /* REQUIRED. An upper bound of the bytes that prepare() takes. */
    uint64_t (*bytes)(const gbsi_pass_setting *setting);
    /* REQUIRED. Allocates all that passes need: none of the functions below allocates, except for
     * growing tables of draws and blocks. */
    gbs_status (*prepare)(const gbsi_pass_setting *setting, void **state, gbs_error *err);
    /* REQUIRED. Begins a pass. @param job copied. */
    gbs_status (*begin)(void *state, const gbsi_pass_job *job, gbs_error *err);
    /* REQUIRED. Runs the next batches, at most `most` of them. @param more out: whether any are
     * left. */
    gbs_status (*batch)(void *state, uint32_t most, bool *more, gbs_error *err);
    /* REQUIRED. Ends the pass, after the last batch. @return GBS_STOPPED where the watch cut the
     * pass short; GBS_ERR_NOT_FOUND naming a variable whose conditional had no positive weight. */
    gbs_status (*end)(void *state, gbs_error *err);
    /* REQUIRED. Updates of each chain in the last pass. */
    uint64_t (*n_updates)(const void *state);
    /* REQUIRED. The operations of all passes so far if there were n_chains chains: counted work
     * times calibrated nanoseconds, without a clock. */
    double (*operations)(void *state, uint32_t n_chains);
    /* REQUIRED. The operations that a pass takes at least, from plan or compiled, and n_chains. */
    double (*least_operations)(const gbsi_pass_setting *setting);

    /* With OWNS, else NULL: set and get the states of one chain by variable, 0 .. arity - 1. */
    void (*set)(void *state, uint32_t chain, const uint32_t *x);
    void (*get)(const void *state, uint32_t chain, uint32_t *x);
    /* OPTIONAL: gives each chain its own dispersed start; NULL: starts come from the model's
     * factors. */
    void (*scatter)(void *state);
    /* The log density of a chain after the last pass; NULL without OWNS. */
    double (*log_density)(const void *state, uint32_t chain);
    /* For passes that count inside, else NULL: moves the counts to the estimate, before the
     * estimate is read. */
    void (*fetch)(void *state, struct gbsi_estimate *estimate);

    /* With CONNECT, else NULL: whether the blocks so far show that all states of positive weight
     * are reached from each other. */
    bool (*connects)(const void *state);
    /* OPTIONAL, both or neither: the first tells how often (up to GBSI_HELD_OFTEN) one block held
     * the variable of a slot and all variables that factors join to it, directly or through others;
     * such a draw is independent of all earlier ones. The second sets that number, for a run that
     * goes on. */
    uint8_t (*held)(const void *state, uint32_t slot);
    void (*set_held)(void *state, uint32_t slot, uint8_t n);
    /* OPTIONAL. Sets a callback for blocks. @param on_block NULL: none. */
    void (*watch)(void *state, gbsi_on_block *on_block, void *context);

    /* OPTIONAL, both or neither: save and load, between two passes, everything on which passes
     * depend besides setting, job, states of groups and the draw. load() comes after prepare() with
     * an equal setting. */
    gbs_status (*save)(const void *state, const gbsi_sink *sink, gbs_error *err);
    gbs_status (*load)(void *state, const gbsi_source *source, gbs_error *err);

    /* REQUIRED. Frees the state; NULL is allowed. */
    void (*free)(void *state);
} gbsi_pass;

#endif
