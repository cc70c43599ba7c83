/* SPDX-License-Identifier: Apache-2.0 */
/* The one loop: passes of a schedule over groups of chains, tile by tile. */
#ifndef GBSI_SAMPLER_EXECUTOR_H
#define GBSI_SAMPLER_EXECUTOR_H

#include "estimate/estimate.h"
#include "lattice/chains.h"
#include "parallel/pool.h"
#include "plan/draw.h"
#include "plan/kernel.h"
#include "rng/words.h"
#include "splash/splash.h"

/* What one thread needs to run a tile. */
typedef struct gbsi_worker {
    uint32_t *word; /* the window of places whose words are made */
    float *w;
    void *value;
    gbsi_barrier *team;        /* those who share a group with this worker, NULL: nobody */
    uint32_t rank, team_size;  /* within the team */
    uint32_t shared_group;     /* the group they share, valid with a team */
    uint32_t impossible_group; /* of the first conditional without positive weight in this pass; */
    uint64_t impossible_place; /* UINT64_MAX: none */
    uint32_t impossible_slot;
} gbsi_worker;

typedef struct gbsi_executor {
    const gbsi_plan *plan;
    const gbsi_draw *draw;
    void *draw_state;
    const gbsi_words *words;
    gbsi_simd level;
    uint64_t seed;
    uint32_t n_chains;
    uint32_t lanes; /* 16 with 8 chains or more, else 1 */
    uint32_t n_groups;
    gbsi_group *group;         /* [n_groups] */
    gbsi_spin_chains *lattice; /* owned; NULL: none. Else it has the states and runs the passes,
                                     and plan, draw, groups and workers are not there */
    gbsi_splash *splash;       /* owned; NULL: passes are schedules */
    gbsi_watch *watch;         /* of passes of splashes; borrowed, NULL: nobody waits */
    uint64_t n_updates;        /* of each chain in the last pass */
    const float *beta;         /* [lanes] inverse temperatures, NULL: 1 */
    gbsi_pool *pool;           /* borrowed, NULL: one thread */
    uint32_t n_workers;
    gbsi_worker *worker; /* [n_workers] */
    uint32_t n_teams;    /* groups that several workers share */
    gbsi_barrier *team;  /* [n_teams] */
} gbsi_executor;

/* Lanes and groups for a number of chains. */
uint32_t gbsi_lanes_of(uint32_t n_chains);
uint32_t gbsi_groups_of(uint32_t n_chains);

/* What gbsi_executor_init() takes, bytes: states, counters, scratch. */
size_t gbsi_executor_bytes(const gbsi_plan *plan, uint32_t n_chains, uint32_t n_threads);
/* @param pool borrowed, NULL for one thread: bits do not depend on it.
 * @param draw_room bytes the draw may take. */
gbs_status gbsi_executor_init(gbsi_executor *executor, const gbsi_plan *plan, const gbsi_draw *draw,
                              const gbs_run_options *options, gbsi_simd level, gbsi_pool *pool,
                              uint64_t draw_room, gbs_error *err);
/* Another draw, or the same from its start. On failure it has the draw without a state. */
gbs_status gbsi_executor_redraw(gbsi_executor *executor, const gbs_run_options *options,
                                uint64_t draw_room, gbs_error *err);
/* For chains in bits, which it takes. Variables are those of the model they were compiled from. */
void gbsi_executor_init_spins(gbsi_executor *executor, gbsi_spin_chains *chains, gbsi_simd level);
void gbsi_executor_free(gbsi_executor *executor); /* what init took, not the struct */

/* States of one chain by free variable of the plan's model. Padded lanes repeat the last chain's
 * start: call gbsi_executor_ready() once all chains are set. */
void gbsi_executor_set(gbsi_executor *x, uint32_t chain, const uint32_t *states);
void gbsi_executor_get(const gbsi_executor *x, uint32_t chain, uint32_t *states);
void gbsi_executor_ready(gbsi_executor *x);
/* Lattices: visits counted since the last time into the estimate. Nothing to do otherwise. */
void gbsi_executor_fetch_visits(const gbsi_executor *x, gbsi_estimate *estimate);

/* pass.c: one pass of all groups. @param estimate NULL: nothing is kept.
 * @return GBS_ERR_IMPOSSIBLE naming the variable if a conditional had no positive weight. */
gbs_status gbsi_executor_pass(gbsi_executor *x, const gbsi_schedule *schedule, uint64_t pass,
                              gbsi_estimate *estimate, bool rao_blackwell, gbs_error *err);

#endif
