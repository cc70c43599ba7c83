/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a tempered run, used only by the files tempered*.c. */
#ifndef GBSI_LADDERS_TEMPERED_INSIDE_H
#define GBSI_LADDERS_TEMPERED_INSIDE_H

#include "block/block.h"
#include "chains/run.h"
#include "collapse/collapse.h"
#include "ladders/tempered.h"
#include "temper/exchange.h"
#include "temper/overlap.h"
#include "temper/ratios.h"

/* The number of levels of a ladder at the beginning. */
#define GBSI_TEMPERED_LEVELS 16u

/* Number of sweeps of an iteration without blocks. In an iteration with blocks, one sweep follows
 * the blocks. */
#define GBSI_TEMPERED_SWEEPS 4u

/* Number of rounds of burn-in; levels may move after each round. */
#define GBSI_TEMPERED_ROUNDS 7u

/* Number of iterations of burn-in at most: all rounds, and a first window of iterations if the run
 * has not converged by then. */
#define GBSI_LADDER_BURN_IN 2784u

/* The largest penalty of a violated hard zero, in nats. */
#define GBSI_TEMPERED_MOST_PENALTY 60.0

/* The ladder is cut at the level where the memory of the slowest variable reaches this value;
 * memory is the overlap of its states before and after local moves. */
#define GBSI_TEMPERED_MEMORY 0.8

/* Data for joint draws of blocks, see tempered_blocks.c. */
typedef struct gbsi_tempered_blocks {
    gbsi_blocks *plans; /* plans of the softened core; NULL if no blocks are used */
    bool used;          /* whether every iteration draws blocks, before its sweep */
    uint32_t n_groups;
    gbsi_block_lanes **lanes; /* [n_groups] */
    uint32_t *x;              /* [n_groups][core variables][16] scratch */
    uint32_t *redrawn; /* [core variables][16] states redrawn at the cold level; lane l holds a
                          state of ladder l mod the number of ladders */
} gbsi_tempered_blocks;

/* The data that ranks send one another after local moves. */
typedef struct gbsi_tempered_told {
    unsigned char *bytes; /* saved bytes of all ranks, one rank after the other */
    size_t *start;        /* [ranks] index in `bytes` of the first byte of each rank */
    gbs_message *message; /* [2 * ranks] messages to send, then messages to receive */
} gbsi_tempered_told;

/* Results of the plain chains that ran before the ladders. They give the answer if the ladders are
 * stopped before their first draw. */
typedef struct gbsi_found_before {
    uint64_t burn_in, sweeps, chains, support, starts_dispersed;
    double target_error;
} gbsi_found_before;

struct gbsi_tempered {
    const gbsi_conditioned *part; /* the sampled part of the model, whose estimates are wanted */
    /* The collapse of `part`: variables that are cheap to sum out are removed. */
    gbsi_collapse *collapse;
    const gbsi_conditioned *core; /* the core of `collapse`, which the chains sample */
    gbs_run_options options;      /* options of the chains: one chain per lane, chromatic scan */
    /* Ranks, each of which moves some of the lanes; NULL if this process moves all lanes. */
    const gbs_ranks *ranks;
    bool chooses_levels; /* whether the user set neither the number of levels nor the number of
                          * ladders */
    /* the chains */
    double penalty;         /* penalty of a violated hard zero, in nats */
    gbsi_conditioned *soft; /* the core with softened hard zeros */
    gbsi_graph *graph;
    void *scan_state;
    gbsi_plan *plan;
    gbsi_schedule schedule;
    gbsi_executor executor;
    gbsi_exchange *exchange;
    gbsi_ratios *ratios; /* ratios of Z at neighbouring levels, for runs that estimate only ln Z;
                            NULL if marginals are estimated */
    double *density;     /* [lanes] log density U of the softened core in the state of each lane */
    /* `overlap` or `overlap_of_sweeps` in the round that measures this overlap; else NULL. */
    gbsi_overlap *observed;
    gbsi_overlap *overlap;
    gbsi_overlap *overlap_of_sweeps; /* overlap of the states before and after sweeps, measured
                                        before blocks are tried */
    gbsi_tempered_blocks blocks;
    gbsi_tempered_told told;
    uint32_t *before; /* [core variables][lanes] states before the present local move */
    uint32_t *row;    /* [lanes] scratch */
    uint64_t iteration;
    uint64_t round, in_round; /* number of the present round of burn-in, and number of its finished
                                 iterations */
    gbsi_found_before found;
    /* the counts */
    size_t n_hard;
    size_t *hard;      /* [n_hard] factors of the core with hard zeros */
    uint32_t *one;     /* [core variables] state of one lane */
    uint32_t *state;   /* [part variables][16] states of sixteen ladders */
    double *p;         /* [part states][16] probabilities of variables that were summed out */
    uint32_t *word;    /* random words for the recovery of variables that were summed out */
    uint64_t *counted; /* [lanes] for each ladder, 1 if its cold state violates no hard zero */
    uint64_t
        *trips; /* [lanes] for each ladder, number of round trips that ended in this iteration */
    gbsi_means *means; /* NULL during burn-in */
    uint64_t
        drop_at; /* number of kept iterations after which the first window is counted as burn-in */
    /* draws for the user; the pointers are NULL if the user wants no draws */
    uint32_t *drawn;          /* [part variables] a draw */
    uint32_t *user;           /* [model variables] the draw in the user's numbering */
    uint64_t n_given;         /* number of draws that were given to the user from each ladder */
    uint64_t n_cold, n_valid; /* number of cold states, and number of valid cold states, since the
                                 last round began */
};

/* tempered_blocks.c: makes plans for blocks of the core. No plans are made if no block is worth
 * its cost, or if the plans would take more than `bytes`. */
gbs_status gbsi_tempered_take_blocks(gbsi_tempered *t, uint64_t bytes, gbsi_watch *watch,
                                     gbs_error *err);
void gbsi_tempered_free_blocks(gbsi_tempered *t);
/* Called when temperatures or weights have changed. */
void gbsi_tempered_heat_blocks(gbsi_tempered *t);
/* Draws each block once in the state of every lane. In iterations that are kept, also draws sixteen
 * additional states of the cold level. */
void gbsi_tempered_draw_blocks(gbsi_tempered *t);
/* Whether blocks make chains forget more than sweeps alone, for equal counted operations. */
bool gbsi_tempered_prefers_blocks(const gbsi_tempered *t);
/* Whether blocks also redraw states of the cold level. */
bool gbsi_tempered_redraws(const gbsi_tempered *t);
/* Mean number of variables of a block; 0 if no block is drawn. */
uint32_t gbsi_tempered_block_variables(const gbsi_tempered *t);

/* tempered_ranks.c: takes memory for the data that ranks send one another. The chains must have
 * been made. */
gbs_status gbsi_tempered_take_told(gbsi_tempered *t, gbs_error *err);
void gbsi_tempered_free_told(gbsi_tempered *t);
/* Sends the results of this rank's local moves to all other ranks, and receives the results of the
 * other ranks. Does nothing if there is only one process. @param moved status of this rank's local
 * moves. @return `moved`; but if the moves failed on some rank, all ranks get the status of that
 * rank. */
gbs_status gbsi_tempered_tell(gbsi_tempered *t, gbs_status moved, gbs_error *err);

/* tempered_estimates.c: takes memory for the means that the estimates need. */
gbs_status gbsi_tempered_take_means(gbsi_tempered *t, gbs_error *err);
/* Two functions for the draws that the user gets. The first function tells whether the cold states
 * of all ladders are valid; the second copies the cold state of one ladder. */
bool gbsi_tempered_has_cold(gbsi_tempered *t);
double gbsi_tempered_draw(gbsi_tempered *t, uint32_t ladder);
/* Counts the cold states of this iteration. If means exist, also adds the cold states to the means.
 */
void gbsi_tempered_count(gbsi_tempered *t);

/* tempered_chains.c: sets another penalty of violated hard zeros, and keeps all states. */
gbs_status gbsi_tempered_harden(gbsi_tempered *t, gbsi_pool *pool, double penalty, gbs_error *err);
/* Places levels with equal rejection rates, from position `first` of the present levels on. Each
 * new level gets the states of the old level with the nearest temperature. */
gbs_status gbsi_tempered_respace(gbsi_tempered *t, double first, uint32_t n_levels,
                                 uint32_t n_ladders, gbs_error *err);
/* Changes the numbers of levels and ladders, and the penalty, to those of a checkpoint. The
 * caller must then load the states and temperatures, and call gbsi_tempered_set_temperatures(). */
gbs_status gbsi_tempered_reshape(gbsi_tempered *t, gbsi_pool *pool, uint32_t n_levels,
                                 uint32_t n_ladders, double penalty, gbs_error *err);
/* Sets the temperatures of chains and blocks to those of their levels. */
void gbsi_tempered_set_temperatures(gbsi_tempered *t);

#endif
