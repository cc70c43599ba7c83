/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the pass that tiles.c prepares and tile_places.c runs: private to these two. */
#ifndef GBSI_CHAINS_TILES_INSIDE_H
#define GBSI_CHAINS_TILES_INSIDE_H

#include "chains/counted_operations.h"
#include "chains/tiles.h"
#include "parallel/pool.h"

/* Number of rows of 16 random words that are made at a time. */
#define GBSI_WINDOW_ROWS GBSI_TILE_ROWS

/* The number of updates below which a batch is not shared. A thread does about as many updates
 * while a team crosses the two barriers that sharing costs. */
#define GBSI_LEAST_SHARED 8192u

/* The largest number of stretches that a pass is cut into. */
#define GBSI_MOST_CUTS 1024u

/* The data that one thread needs to run a tile. */
typedef struct gbsi_tile_worker {
    uint32_t *word; /* random words of one window of places */
    float *w;
    void *value;
    gbsi_barrier *team; /* barrier of the workers that share a group with this worker; NULL if this
                           worker shares no group */
    uint32_t rank,
        team_size; /* number of this worker in its team, and number of workers in the team */
    uint32_t shared_group; /* the group that the team shares; undefined without a team */
    /* Group of the first conditional without positive weight in this pass. */
    uint32_t impossible_group;
    uint64_t impossible_place; /* place of the first conditional without positive weight; UINT64_MAX
                                  if there is none */
    uint32_t impossible_slot;
} gbsi_tile_worker;

typedef struct gbsi_tiles {
    gbsi_pass_setting setting;
    const gbsi_words *words;
    uint64_t seed;
    uint32_t n_workers;
    gbsi_tile_worker *worker; /* [n_workers] */
    uint32_t n_teams;         /* number of teams, one for each group that several workers share */
    gbsi_barrier *team;
    uint64_t n_updates; /* number of updates of each chain in all passes so far */
    uint32_t counted_chains;
    double operations_each; /* number of operations of a pass that updates one variable at a time in
                               counted_chains chains */
    double between_looks;   /* number of operations between two looks at the watch */
    double operations_short; /* number of operations of a pass without long updates */
    uint32_t n_cuts;         /* number of stretches of a long pass */
    gbsi_stretch cut[GBSI_MOST_CUTS];
    gbsi_group *before; /* [n_groups] copy of the states before the pass, if updates read this copy;
                           NULL if updates read the present states */
    float *w; /* [n_groups][tile cells] results of the kernels of a long update, for all groups;
                 NULL if no update is long */
    /* the pass that is being run */
    gbsi_pass_job job;
    uint32_t first_batch, end_batch; /* range of the batches that are requested */
    uint32_t next_cut;               /* index in `cut` of the cut where the present stretch ends */
    uint32_t stretch_batch;          /* batch of the first place of the present stretch */
    uint64_t first_place, end_place; /* range of the places of the present stretch */
    bool is_long;       /* whether the stretch consists of the one place of a long update */
    bool filled;        /* whether the kernels of the long update have run */
    bool tiles_counted; /* whether states are counted when they are stored, because each slot is
                           updated once in the pass */
    bool far;           /* whether the sums and counts of the estimate are prefetched */
} gbsi_tiles;

/* Number of floats in the work area of a tile. */
static inline size_t gbsi_tile_cells(const gbsi_plan *plan)
{
    const size_t row = (size_t)GBSI_LANES * plan->max_arity;
    return row > GBSI_TILE_CELLS ? row : GBSI_TILE_CELLS;
}

/* The first place of a batch. If other processes run parts of the pass, a batch may have no places
 * here. */
uint64_t gbsi_batch_place(const gbsi_schedule *schedule, uint32_t batch);
/* Runs the kernels of the one place of a long update, in all groups. Nothing except t->w changes
 * until all kernels have ended. @return false if the watch stopped a kernel. */
bool gbsi_tiles_fill_long(const gbsi_tiles *t);
/* The piece of the schedule to which a place belongs. */
size_t gbsi_piece_of(const gbsi_schedule *schedule, uint64_t place);
/* Runs the present stretch in one group, by one worker. */
void gbsi_tiles_run_group(const gbsi_tiles *t, gbsi_tile_worker *by, uint32_t g);
/* Runs the groups that one member of the pool must run. @param context a gbsi_tiles. */
void gbsi_tiles_run_member(void *context, uint32_t member);

#endif
