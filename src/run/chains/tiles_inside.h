/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the pass that tiles.c prepares and tile_places.c runs: private to these two. */
#ifndef GBSI_CHAINS_TILES_INSIDE_H
#define GBSI_CHAINS_TILES_INSIDE_H

#include "chains/counted_operations.h"
#include "chains/tiles.h"
#include "parallel/pool.h"

/* Words are made for this many rows of 16 at a time. */
#define GBSI_WINDOW_ROWS GBSI_TILE_ROWS

/* The number of updates below which a batch is not shared: about as many as run while a team
 * crosses the two barriers that sharing costs. */
#define GBSI_LEAST_SHARED 8192u

/* The largest number of stretches that a pass is cut into. */
#define GBSI_MOST_CUTS 1024u

/* The data that one thread needs to run a tile. */
typedef struct gbsi_tile_worker {
    uint32_t *word; /* the window of places whose words are made */
    float *w;
    void *value;
    gbsi_barrier *team;        /* barrier of the workers that share a group with this one, NULL if
                                  no other does */
    uint32_t rank, team_size;  /* within the team */
    uint32_t shared_group;     /* the group they share, valid with a team */
    uint32_t impossible_group; /* group of the first conditional without positive weight in this
                                  pass; */
    uint64_t impossible_place; /* UINT64_MAX: none */
    uint32_t impossible_slot;
} gbsi_tile_worker;

typedef struct gbsi_tiles {
    gbsi_pass_setting setting;
    const gbsi_words *words;
    uint64_t seed;
    uint32_t n_workers;
    gbsi_tile_worker *worker; /* [n_workers] */
    uint32_t n_teams;         /* groups that several workers share */
    gbsi_barrier *team;
    uint64_t n_updates; /* updates of each chain in all passes until now */
    uint32_t counted_chains;
    double operations_each;  /* operations of a pass of single updates of this many chains */
    double between_looks;    /* operations; an update of twice as many is called long */
    double operations_short; /* operations of a pass without long updates */
    uint32_t n_cuts;         /* stretches of a long pass */
    gbsi_stretch cut[GBSI_MOST_CUTS];
    gbsi_group *before; /* [n_groups] the states before the pass, which it reads; NULL: its own */
    float *w; /* [n_groups][tile cells] results of kernels for a long update; NULL: there is none */
    /* the pass that is being run */
    gbsi_pass_job job;
    uint32_t first_batch, end_batch; /* range of the batches to run */
    uint32_t next_cut;               /* last cut of the stretch that is being run */
    uint32_t stretch_batch;          /* batch of its first place */
    uint64_t first_place, end_place; /* its places */
    bool is_long;                    /* or the one place of a long update */
    bool filled;                     /* whether the kernels have run for that place */
    bool tiles_counted; /* states are counted as they are stored: each is the last of its pass */
    bool far;           /* sums and counts are asked for before they are needed */
} gbsi_tiles;

/* Room for the numbers of a tile: floats. */
static inline size_t gbsi_tile_cells(const gbsi_plan *plan)
{
    const size_t row = (size_t)GBSI_LANES * plan->max_arity;
    return row > GBSI_TILE_CELLS ? row : GBSI_TILE_CELLS;
}

/* The first place of a batch. Batches may be empty in a pass of which other processes run parts. */
uint64_t gbsi_batch_place(const gbsi_schedule *schedule, uint32_t batch);
/* The kernels of the one place of a long update, in all groups. Only t->w changes until the watch
 * has let all of them end. @return whether they did. */
bool gbsi_tiles_fill_long(const gbsi_tiles *t);
/* The piece of a place. */
size_t gbsi_piece_of(const gbsi_schedule *schedule, uint64_t place);
/* The stretch in one group, by one worker. */
void gbsi_tiles_run_group(const gbsi_tiles *t, gbsi_tile_worker *by, uint32_t g);
/* Runs the groups of one member of the pool. @param context gbsi_tiles. */
void gbsi_tiles_run_member(void *context, uint32_t member);

#endif
