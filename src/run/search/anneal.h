/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the most probable state. anneal.c sweeps, anneal_blocks.c improves states by
 * maxima over blocks, and anneal_saved.c saves and loads the progress of the search. */
#ifndef GBSI_SEARCH_ANNEAL_H
#define GBSI_SEARCH_ANNEAL_H

#include "chains/run.h"
#include "gibbsite/map.h"
#include "search/quench.h"

/* The next step of an annealing. */
typedef enum gbsi_stage {
    GBSI_STAGE_SWEEP,
    GBSI_STAGE_RAISE, /* the chains' states, by maxima over blocks */
    GBSI_STAGE_COOL,  /* these, by block draws */
    GBSI_STAGE_OVER,
} gbsi_stage;

/* The progress of a search, without its states: numbers of 8 bytes, saved as they are. */
typedef struct gbsi_search_standing {
    uint64_t rounds;
    uint64_t n, t;       /* sweeps of the annealing: in all, done */
    uint64_t stage;      /* of the annealing */
    uint64_t has_plans;  /* 0 until plans of blocks are made, or if there are none */
    uint64_t n_draws;    /* of blocks, in all */
    uint64_t first;      /* chain of the states that are quenched and cooled */
    uint64_t cool_draws; /* draws of each block in this annealing */
    uint64_t cool_pass;  /* number of the first of these draws */
    uint64_t cool_steps; /* done */
    double tau0;         /* first temperature of an annealing */
    double best;         /* log density of the sampled part in the best state */
    double offset;       /* log density of the rest of the model */
    double before;       /* value of `best` before the annealing */
    double swept;        /* value of `best` before the last block draws */
    double spent;        /* counted ns of sweeps before the annealing */
    double block_share;  /* time of block draws for each of the sweeps before them */
} gbsi_search_standing;

typedef struct gbsi_search {
    gbs_run *run;
    gbsi_drive drive;
    const gbs_map_callbacks *callbacks;
    double exact_share; /* of --time, for the components that are solved exactly */
    bool heats;
    bool may_quench;     /* false until plans of blocks are made, or if there are none */
    gbsi_quench *quench; /* NULL: no blocks */
    double *density; /* [n_groups * lanes] log densities of the sampled part after the last sweep */
    uint32_t *x;     /* [part variables] scratch */
    uint32_t *best_x; /* [part variables] the best state until now */
    uint32_t
        *state; /* [model variables] the best state until now, with the components solved exactly */
    gbsi_search_standing at;
    /* While maxima are searched for, a signal may cut the search short. What is saved then is the
     * state from before, in the members that begin with kept. */
    bool raising;
    gbsi_search_standing kept;
    uint32_t *kept_x;     /* [part variables], NULL without checkpoints */
    uint32_t *kept_lanes; /* [part variables][GBSI_BLOCK_LANES] */
    bool closed;          /* the last checkpoint was written */
} gbsi_search;

/* Compares the state of the part in search->x with the best one so far; if it is better, keeps it
 * and calls callbacks->improve. */
gbs_status gbsi_search_consider(gbsi_search *search, double density, gbs_error *err);

/* anneal_blocks.c: improves states by blocks, after sweeps that took `operations` counted ns. */
gbs_status gbsi_search_quench(gbsi_search *search, double operations, gbs_error *err);
/* Makes the plans of blocks; they stay NULL if no block is worth it. */
gbs_status gbsi_search_plan(gbsi_search *search, gbs_error *err);

/* anneal_saved.c: saves and loads the search's part of a checkpoint; object is a gbsi_search. */
gbs_status gbsi_search_save(const void *object, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_search_load(void *object, const gbsi_source *source, gbs_error *err);
/* Called after a sweep or a step: writes a checkpoint if one is due. Once something stops the
 * search, later work is only for this call, and is not saved. */
gbs_status gbsi_search_keep(gbsi_search *search, gbs_error *err);
/* Called before maxima are searched for: keeps the state that is saved until they are found,
 * because a signal may cut the search short. */
void gbsi_search_mark(gbsi_search *search);

#endif
