/* SPDX-License-Identifier: Apache-2.0 */
/* The chains of a run: their states, their drawing method, and the functions that run their passes.
 */
#ifndef GBSI_CHAINS_EXECUTOR_H
#define GBSI_CHAINS_EXECUTOR_H

#include "estimate/estimate.h"
#include "gibbsite/ranks.h"
#include "plan/pass.h"

/* A function that is called after every batch of a pass, when states are consistent. It may permute
 * lanes or exchange states with other processes. @param batch number of the batch, from 0. */
typedef struct gbsi_batch_hook {
    gbs_status (*after)(void *context, uint32_t batch,
                        gbs_error *err); /* NULL: no function is called */
    void *context;
} gbsi_batch_hook;

typedef struct gbsi_executor {
    const gbsi_pass *pass;
    void *pass_state;
    /* `plan`, `draw` and `group` are NULL if the pass keeps states in its own form. */
    const gbsi_plan *plan;
    const gbsi_draw *draw;
    void *draw_state;
    gbsi_simd level;
    uint64_t seed;
    uint32_t n_chains;    /* number of chains of this process */
    uint32_t n_all;       /* number of chains of the run */
    uint32_t first_chain; /* number of the first chain of this process in the run; functions count
                             chains of this process from 0 */
    uint32_t lanes;       /* 16 if the run has at least 8 chains, else 1 */
    uint32_t n_groups;
    uint32_t first_moved,
        n_moved; /* range of the groups that this rank updates; see gbsi_executor_setting.moved */
    gbsi_group *group;  /* [n_groups] */
    uint64_t n_updates; /* updates of each chain in the last pass */
    float *beta;        /* [n_groups * lanes] inverse temperatures; NULL means 1 for every chain */
    gbsi_pool *pool;    /* borrowed; NULL means one thread */
    /* Watch that may stop a long pass before its end; borrowed; NULL if passes are never stopped.
     */
    gbsi_watch *watch;
    gbsi_batch_hook hook;
    const gbs_ranks *ranks; /* ranks that have the other chains, for gbsi_executor_save(); NULL if
                               this process has all chains */
    /* [plan variables] own factors of a rank that has a share of the model, see density.h;
     * borrowed; NULL if all factors count. */
    const uint8_t *own;
    /* Ranks over which log densities are summed if `own` is set; borrowed. */
    const gbs_ranks *sum_ranks;
    const gbsi_turns
        *turns; /* turns of the ranks that share the model, see gbsi_pass_setting.turns; borrowed */
    const gbsi_weave *weave; /* order in which a file has the slots of all ranks; borrowed; NULL if
                                ranks do not share the model */
    uint32_t woven_bytes;    /* bytes of a state of the whole model; used with `weave` */
    gbs_error
        *lost; /* first error of a sum over ranks; the next pass returns this error; borrowed */
} gbsi_executor;

/* The chains of this process in a run with several processes: whole groups, or no chain. */
typedef struct gbsi_own_chains {
    bool some; /* false: this process has all chains of the run */
    uint32_t first, n;
} gbsi_own_chains;

/* The inputs from which chains are made. All pointers are borrowed for the life of the chains,
 * except options. */
typedef struct gbsi_executor_setting {
    const gbsi_pass *pass;
    const gbsi_plan *plan; /* NULL if `form` is set */
    const void *compiled;  /* compiled model for a pass with the trait GBSI_PASS_OWNS, or NULL */
    const gbs_run_options *options;
    gbsi_simd level;
    gbsi_pool *pool;    /* NULL for one thread; results have the same bits with every pool */
    uint64_t draw_room; /* number of bytes that the drawing method may take */
    gbsi_own_chains own;
    gbsi_own_chains moved;   /* chains of this rank that its passes update; other ranks update the
                                other chains and send their states */
    const gbsi_turns *turns; /* see gbsi_pass_setting.turns */
} gbsi_executor_setting;

/* Return the number of lanes of a group, and the number of groups, for a number of chains. */
uint32_t gbsi_lanes_of(uint32_t n_chains);
uint32_t gbsi_groups_of(uint32_t n_chains);

/* Number of groups of chains that lower ranks have, and that higher ranks have. */
static inline uint32_t gbsi_groups_before(const gbsi_executor *x)
{
    return (x->first_chain + x->lanes - 1) / x->lanes;
}

static inline uint32_t gbsi_groups_behind(const gbsi_executor *x)
{
    return gbsi_groups_of(x->n_all) - gbsi_groups_before(x) - x->n_groups;
}

/* The bytes that gbsi_executor_init() takes for states, counters and the pass, but not for the
 * drawing method. @param n_threads number of threads of the future pool. */
uint64_t gbsi_executor_bytes(const gbsi_executor_setting *setting, uint32_t n_threads);
gbs_status gbsi_executor_init(gbsi_executor *x, const gbsi_executor_setting *setting,
                              gbs_error *err);
/* Sets another drawing method, or restarts the present one. The pass is restarted too. After a
 * failure, draw_state is undefined. */
gbs_status gbsi_executor_redraw(gbsi_executor *x, const gbs_run_options *options,
                                uint64_t draw_room, gbs_error *err);
void gbsi_executor_free(
    gbsi_executor *x); /* frees the members that gbsi_executor_init() allocated, not the struct */

/* Set and get the states of one chain, one state for each free variable of the plan's model. Padded
 * lanes repeat the start of the last chain: call gbsi_executor_ready() once all chains are set. */
void gbsi_executor_set(gbsi_executor *x, uint32_t chain, const uint32_t *states);
void gbsi_executor_get(const gbsi_executor *x, uint32_t chain, uint32_t *states);
/* The state of one variable of a chain, for passes that keep states by slots (pass->get is NULL).
 */
uint32_t gbsi_executor_state(const gbsi_executor *x, uint32_t chain, uint32_t variable);
void gbsi_executor_ready(gbsi_executor *x);
/* Exchanges the states of two chains, but not what the drawing method keeps for each chain. The
 * pass must not have GBSI_PASS_OWNS. */
void gbsi_executor_swap(gbsi_executor *x, uint32_t a, uint32_t b);
/* Sets one inverse temperature for all chains. The pass must have the trait GBSI_PASS_HEATS, and
 * the drawing method GBSI_DRAW_HEATS. Later, each chain may be given its own inverse temperature in
 * executor->beta. */
gbs_status gbsi_executor_heat(gbsi_executor *x, float beta, gbs_error *err);

/* Moves the counts that passes have collected into the estimate. Must be called before the estimate
 * is read. */
void gbsi_executor_fetch(const gbsi_executor *x, gbsi_estimate *estimate);
/* Whether the blocks that were drawn up to now show that the support is connected; false if the
 * pass draws no blocks. */
bool gbsi_executor_connects(const gbsi_executor *x);
/* Whether the pass draws blocks, which may show that the support is connected. */
bool gbsi_executor_may_connect(const gbsi_executor *x);
void gbsi_executor_watch(gbsi_executor *x, gbsi_on_block *on_block, void *context);

/* Runs one pass of all groups that this rank updates. @param estimate NULL: the draws are not kept.
 * @return GBS_ERR_NOT_FOUND, with the name of the variable, if a conditional had no positive
 * weight. */
gbs_status gbsi_executor_pass(gbsi_executor *x, const gbsi_schedule *schedule, uint64_t pass,
                              gbsi_estimate *estimate, bool rao_blackwell, gbs_error *err);

/* Save and load all data on which later passes depend; called between two passes. Saving is called
 * on all ranks, and writes the chains of all ranks to the sink of rank 0. Loading reads the chains
 * of this process into an executor with an equal setting. @return the status of the sink or source;
 * GBS_ERR_FORMAT if the data were saved by a run with other chains. */
gbs_status gbsi_executor_save(const gbsi_executor *x, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_executor_load(gbsi_executor *x, const gbsi_source *source, gbs_error *err);
/* executor_weave.c: saves or loads the chains of ranks that share the model; numbers that describe
 * their shape come first. Called by gbsi_executor_save() and gbsi_executor_load(). */
gbs_status gbsi_executor_weave(const gbsi_executor *x, const gbsi_sink *sink,
                               const gbsi_source *source, gbs_error *err);
/* Checks loaded states before they are used as indices. @return GBS_ERR_FORMAT if a state is not
 * below the number of states of its variable. */
gbs_status gbsi_executor_check_states(const gbsi_executor *x, uint32_t g, uint32_t slot,
                                      gbs_error *err);

#endif
