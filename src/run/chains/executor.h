/* SPDX-License-Identifier: Apache-2.0 */
/* The chains of a run: their states, their draw, and the pass that moves them on. */
#ifndef GBSI_CHAINS_EXECUTOR_H
#define GBSI_CHAINS_EXECUTOR_H

#include "estimate/estimate.h"
#include "gibbsite/ranks.h"
#include "plan/pass.h"

/* Called after every batch of a pass, when states are consistent: to permute lanes or exchange
 * states with other processes. @param batch counts from 0. */
typedef struct gbsi_batch_hook {
    gbs_status (*after)(void *context, uint32_t batch, gbs_error *err); /* NULL: nobody */
    void *context;
} gbsi_batch_hook;

typedef struct gbsi_executor {
    const gbsi_pass *pass;
    void *pass_state;
    const gbsi_plan *plan; /* NULL, like draw and group, if the pass keeps states in its own form */
    const gbsi_draw *draw;
    void *draw_state;
    gbsi_simd level;
    uint64_t seed;
    uint32_t n_chains;    /* number of chains of this process */
    uint32_t n_all;       /* number of chains of the run */
    uint32_t first_chain; /* number of the first chain of this process in the run; functions count
                             chains of this process from 0 */
    uint32_t lanes;       /* 16 with 8 chains or more in the run, else 1 */
    uint32_t n_groups;
    uint32_t first_moved, n_moved; /* groups that passes move, see gbsi_executor_setting.moved */
    gbsi_group *group;             /* [n_groups] */
    uint64_t n_updates;            /* updates of each chain in the last pass */
    float *beta;                   /* [n_groups * lanes] inverse temperatures, NULL: 1 */
    gbsi_pool *pool;               /* borrowed, NULL: one thread */
    gbsi_watch *watch;             /* watch during long passes; borrowed, NULL: never stops */
    gbsi_batch_hook hook;
    const gbs_ranks *ranks;     /* ranks that have the other chains, for save(); NULL: no others */
    const uint8_t *own;         /* own factors of a share: see density.h; borrowed, NULL: all
                                   factors count */
    const gbs_ranks *sum_ranks; /* ranks among which log densities are then summed; borrowed */
    const gbsi_turns *turns;    /* turns of a share, see gbsi_pass_setting; borrowed */
    const gbsi_weave *weave;    /* order of a share's slots in files; borrowed, NULL: no share */
    uint32_t woven_bytes;       /* bytes of a state of the whole model, with weave */
    gbs_error *lost;            /* error of a sum over ranks, which the next pass returns; borrowed
                                 */
} gbsi_executor;

/* The chains that this process has, if a run has several processes: whole groups, or none. */
typedef struct gbsi_own_chains {
    bool some; /* false: this process has all chains of the run */
    uint32_t first, n;
} gbsi_own_chains;

/* The inputs from which chains are made. All pointers are borrowed for the life of the chains,
 * except options. */
typedef struct gbsi_executor_setting {
    const gbsi_pass *pass;
    const gbsi_plan *plan; /* NULL if `form` is set */
    const void *compiled;  /* the form of a pass with GBSI_PASS_OWNS, or NULL */
    const gbs_run_options *options;
    gbsi_simd level;
    gbsi_pool *pool;    /* NULL: one thread; bits do not depend on it */
    uint64_t draw_room; /* bytes the draw may take */
    gbsi_own_chains own;
    gbsi_own_chains moved;   /* chains of this rank that passes update; other ranks update the
                                others and send their states */
    const gbsi_turns *turns; /* see gbsi_pass_setting */
} gbsi_executor_setting;

/* The numbers of lanes and of groups for a number of chains. */
uint32_t gbsi_lanes_of(uint32_t n_chains);
uint32_t gbsi_groups_of(uint32_t n_chains);

/* Groups of chains that other ranks have. */
static inline uint32_t gbsi_groups_before(const gbsi_executor *x)
{
    return (x->first_chain + x->lanes - 1) / x->lanes;
}

static inline uint32_t gbsi_groups_behind(const gbsi_executor *x)
{
    return gbsi_groups_of(x->n_all) - gbsi_groups_before(x) - x->n_groups;
}

/* The bytes that gbsi_executor_init() takes without the draw: states, counters, the pass.
 * @param n_threads number of threads of the future pool. */
uint64_t gbsi_executor_bytes(const gbsi_executor_setting *setting, uint32_t n_threads);
gbs_status gbsi_executor_init(gbsi_executor *x, const gbsi_executor_setting *setting,
                              gbs_error *err);
/* Sets another draw, or restarts the same one; passes restart too. After a failure the draw has no
 * state. */
gbs_status gbsi_executor_redraw(gbsi_executor *x, const gbs_run_options *options,
                                uint64_t draw_room, gbs_error *err);
void gbsi_executor_free(gbsi_executor *x); /* frees the members that init allocated, not the struct
                                            */

/* Sets and gets the states of one chain by free variable of the plan's model. Padded lanes repeat
 * the last chain's start: call gbsi_executor_ready() once all chains are set. */
void gbsi_executor_set(gbsi_executor *x, uint32_t chain, const uint32_t *states);
void gbsi_executor_get(const gbsi_executor *x, uint32_t chain, uint32_t *states);
/* The state of one variable of a chain, for passes that keep states by slots (pass->get is NULL).
 */
uint32_t gbsi_executor_state(const gbsi_executor *x, uint32_t chain, uint32_t variable);
void gbsi_executor_ready(gbsi_executor *x);
/* Exchanges the states of two chains, draws left where they are: a pass without GBSI_PASS_OWNS. */
void gbsi_executor_swap(gbsi_executor *x, uint32_t a, uint32_t b);
/* An inverse temperature for all chains: a pass with GBSI_PASS_HEATS, a draw with GBSI_DRAW_HEATS.
 * Each chain may then have a temperature of its own in executor->beta. */
gbs_status gbsi_executor_heat(gbsi_executor *x, float beta, gbs_error *err);

/* Moves what passes have counted into the estimate; must come before the estimate is read. */
void gbsi_executor_fetch(const gbsi_executor *x, gbsi_estimate *estimate);
/* Whether blocks drawn so far show the support connected; false if passes have no blocks. */
bool gbsi_executor_connects(const gbsi_executor *x);
/* Whether passes draw blocks, which may show that. */
bool gbsi_executor_may_connect(const gbsi_executor *x);
void gbsi_executor_watch(gbsi_executor *x, gbsi_on_block *on_block, void *context);

/* Runs one pass of all groups that this rank moves. @param estimate NULL: nothing is kept.
 * @return GBS_ERR_NOT_FOUND naming the variable if a conditional had no positive weight. */
gbs_status gbsi_executor_pass(gbsi_executor *x, const gbsi_schedule *schedule, uint64_t pass,
                              gbsi_estimate *estimate, bool rao_blackwell, gbs_error *err);

/* Save and load, between two passes, everything that later passes depend on. Saving is called on
 * all ranks, and writes the chains of all to the sink of rank 0; loading reads the chains of this
 * process into an executor with an equal setting.
 * @return the status of the sink or source; GBS_ERR_FORMAT if the data were saved by a run with
 * other chains.
 */
gbs_status gbsi_executor_save(const gbsi_executor *x, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_executor_load(gbsi_executor *x, const gbsi_source *source, gbs_error *err);
/* executor_weave.c: the same for a share, after the numbers of the shape. Used by the two above. */
gbs_status gbsi_executor_weave(const gbsi_executor *x, const gbsi_sink *sink,
                               const gbsi_source *source, gbs_error *err);
/* States are used as indices: GBS_ERR_FORMAT for one beyond the arity. */
gbs_status gbsi_executor_check_states(const gbsi_executor *x, uint32_t g, uint32_t slot,
                                      gbs_error *err);

#endif
