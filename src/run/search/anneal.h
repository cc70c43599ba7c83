/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the most probable state. anneal.c runs sweeps, anneal_blocks.c improves states by
 * maxima over blocks, guess.c finds a state by belief propagation, anneal_bound.c lowers the upper
 * bound, and anneal_saved.c saves and loads the progress of the search. */
#ifndef GBSI_SEARCH_ANNEAL_H
#define GBSI_SEARCH_ANNEAL_H

#include "chains/run.h"
#include "gibbsite/map.h"
#include "search/quench.h"
#include "variational/bound.h"

/* The largest number of rounds of the upper bound. */
#define GBSI_MOST_BOUND_ROUNDS 10000u

/* Kinds of steps of an annealing; the next step is of the kind `stage`. */
typedef enum gbsi_stage {
    GBSI_STAGE_SWEEP,
    GBSI_STAGE_RAISE, /* the next step makes the states of the chains more probable by maxima over
                         blocks */
    GBSI_STAGE_COOL,  /* the next step moves these states by block draws */
    GBSI_STAGE_OVER,
} gbsi_stage;

/* The progress of a search, except its states. All members are numbers of 8 bytes, which
 * checkpoints save unchanged. */
typedef struct gbsi_search_standing {
    uint64_t rounds;
    uint64_t n,
        t; /* number of sweeps of the present annealing, and number of sweeps that are done */
    uint64_t stage; /* gbsi_stage of the present annealing */
    uint64_t
        has_plans; /* 1 once plans of blocks have been made; 0 before, or if there are no blocks */
    uint64_t n_draws;    /* number of block draws in all annealings so far */
    uint64_t first;      /* first of the sixteen chains whose states the present steps change */
    uint64_t cool_draws; /* approximate number of block draws for each sixteen chains */
    uint64_t cool_pass;  /* pass number of the first block draw of this annealing */
    uint64_t cool_steps; /* number of cooling steps that are done */
    double tau0;         /* temperature at which an annealing begins */
    double best;         /* log density of the sampled part in the best state */
    double offset;       /* log density of the model outside the sampled part */
    double before;       /* value of `best` before the present annealing */
    double swept;        /* value of `best` before the last block draws */
    double spent;        /* counted nanoseconds of all sweeps before the present annealing */
    double
        block_share; /* time of block draws, as a multiple of the time of the sweeps before them */
    uint64_t bound_rounds; /* number of whole rounds of the upper bound */
    uint64_t has_guessed;  /* 1 once belief propagation was asked for a state */
    double first_ns; /* counted nanoseconds of the upper bound besides a share of the sweeps' */
    double upper;    /* least upper bound of the log density of the sampled part */
} gbsi_search_standing;

typedef struct gbsi_search {
    gbs_run *run;
    gbsi_drive drive;
    const gbs_map_callbacks *callbacks;
    double exact_share; /* share of --time after which exact components are given up */
    bool heats;
    bool may_quench;           /* whether plans of blocks may still be made */
    gbsi_quench *quench;       /* maxima over blocks and block draws; NULL if there are no blocks */
    gbsi_conditioned *chained; /* sampled part with chains for long factors; NULL if none is long */
    gbsi_bound *bound;         /* NULL before it is made, and if it does not fit the memory */
    double round_ns;           /* counted nanoseconds of a round of the bound; 0: not yet known */
    uint64_t n_bound_rounds;   /* number of rounds that `bound` has made */
    double *density; /* [n_groups * lanes] log densities of the sampled part after the last sweep */
    uint32_t *x;     /* [part variables] scratch */
    uint32_t *best_x; /* [part variables] the best state so far */
    /* [model variables] the best state so far, including the components solved exactly. */
    uint32_t *state;
    gbsi_search_standing at;
    /* Whether maxima over blocks are being computed; a signal may cut this work short. A checkpoint
     * then saves the members whose names begin with `kept`; they have the progress before this
     * work. */
    bool raising;
    gbsi_search_standing kept;
    uint32_t *kept_x; /* [part variables] the best state before this work; NULL if no checkpoints
                         are written */
    uint32_t *kept_lanes; /* [part variables][GBSI_BLOCK_LANES] states of sixteen chains before this
                             work */
    bool closed;          /* whether the last checkpoint of the search was written */
} gbsi_search;

/* Compares the state in search->x with the best state so far. A better state is kept, and
 * callbacks->improve is called. */
gbs_status gbsi_search_consider(gbsi_search *search, double density, gbs_error *err);

/* anneal_blocks.c: improves states by blocks, after sweeps that took `operations`, in counted
 * nanoseconds. */
gbs_status gbsi_search_quench(gbsi_search *search, double operations, gbs_error *err);
/* Makes the plans of blocks; search->quench stays NULL if no block is worth its cost. */
gbs_status gbsi_search_plan(gbsi_search *search, gbs_error *err);

/* anneal_bound.c: whether the upper bound proves that the best state is optimal. */
bool gbsi_search_is_proved(const gbsi_search *search);
/* Computes a first upper bound, before the first sweep. */
gbs_status gbsi_search_first_bound(gbsi_search *search, gbs_error *err);
/* Lowers the upper bound. @param operations counted nanoseconds of all sweeps until now. */
gbs_status gbsi_search_bound(gbsi_search *search, double operations, gbs_error *err);

/* guess.c: considers a state found by decimation of belief propagation, once in a search.
 * @param operations the call does nothing if it would take more counted nanoseconds. */
gbs_status gbsi_search_guess(gbsi_search *search, double operations, gbs_error *err);

/* anneal_saved.c: save and load the search's part of a checkpoint. @param object a gbsi_search. */
gbs_status gbsi_search_save(const void *object, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_search_load(void *object, const gbsi_source *source, gbs_error *err);
/* Called after a sweep or another step: writes a checkpoint if one is due. Work done after the
 * search was stopped is only for the answer of this call, and is not saved. */
gbs_status gbsi_search_keep(gbsi_search *search, gbs_error *err);
/* Called before maxima over blocks are computed: stores the progress so far. If a signal cuts the
 * work short, a checkpoint saves this progress. */
void gbsi_search_mark(gbsi_search *search);

#endif
