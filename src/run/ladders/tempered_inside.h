/* SPDX-License-Identifier: Apache-2.0 */
/* A tempered run, shared by tempered*.c alone. */
#ifndef GBSI_LADDERS_TEMPERED_INSIDE_H
#define GBSI_LADDERS_TEMPERED_INSIDE_H

#include "block/block.h"
#include "chains/run.h"
#include "collapse/collapse.h"
#include "ladders/tempered.h"
#include "temper/exchange.h"
#include "temper/overlap.h"
#include "temper/ratios.h"

/* The number of levels at the beginning. */
#define GBSI_TEMPERED_LEVELS 16u

/* Sweeps of an iteration without blocks; a block is followed by one. */
#define GBSI_TEMPERED_SWEEPS 4u

/* The rounds of burn-in; levels move after each. */
#define GBSI_TEMPERED_ROUNDS 7u

/* Iterations of burn-in: all rounds, and a window that was not enough. */
#define GBSI_LADDER_BURN_IN 2784u

/* The largest penalty of a violated zero, nats. */
#define GBSI_TEMPERED_MOST_PENALTY 60.0

/* The largest memory of the slowest variable at the hottest level; the ladder is cut where it is
 * reached. */
#define GBSI_TEMPERED_MEMORY 0.8

/* Joint draws of blocks: see tempered_blocks.c. */
typedef struct gbsi_tempered_blocks {
    gbsi_blocks *plans; /* of the soft core; NULL: there are none */
    bool used;          /* blocks are used in every iteration, before a sweep */
    uint32_t n_groups;
    gbsi_block_lanes **lanes; /* [n_groups] */
    uint32_t *x;              /* [n_groups][core variables][16] scratch */
    uint32_t *redrawn;        /* [core variables][16] states of the cold level, lane l of ladder
                                 l mod the number of ladders */
} gbsi_tempered_blocks;

/* The data that ranks send each other after local moves. */
typedef struct gbsi_tempered_told {
    unsigned char *bytes; /* saved bytes of all ranks, one rank after the other ... */
    size_t *start;        /* ... from here on, [ranks] */
    gbs_message *message; /* [2 * ranks] out, then in */
} gbsi_tempered_told;

/* The results of the plain chains before the ladders, used if the ladders are stopped without a
 * draw. */
typedef struct gbsi_found_before {
    uint64_t burn_in, sweeps, chains, support, starts_dispersed;
    double target_error;
} gbsi_found_before;

struct gbsi_tempered {
    const gbsi_conditioned *part; /* what is asked about */
    gbsi_collapse *collapse;      /* the collapse of part, whose core is sampled ... */
    const gbsi_conditioned *core; /* ... which the chains are of */
    gbs_run_options options;      /* options of the chains in the lanes: one chain per lane,
                                     chromatic scan */
    const gbs_ranks *ranks;       /* ranks that each move some of the lanes; NULL: all are moved
                                     here */
    bool chooses_levels;          /* the user named neither levels nor ladders */
    /* the chains */
    double penalty;         /* penalty of a violated zero, nats */
    gbsi_conditioned *soft; /* core without zeros */
    gbsi_graph *graph;
    void *scan_state;
    gbsi_plan *plan;
    gbsi_schedule schedule;
    gbsi_executor executor;
    gbsi_exchange *exchange;
    gbsi_ratios *ratios;    /* ratios of Z between levels, the only averages of a run that has
                               them; NULL: marginals are averaged */
    double *density;        /* [lanes] U */
    gbsi_overlap *observed; /* overlaps of local moves, NULL: not recorded */
    gbsi_overlap *overlap;
    gbsi_overlap *overlap_of_sweeps; /* before blocks were tried */
    gbsi_tempered_blocks blocks;
    gbsi_tempered_told told;
    uint32_t *before; /* [core variables][lanes] states before a local move */
    uint32_t *row;    /* [lanes] scratch */
    uint64_t iteration;
    uint64_t round, in_round; /* round of burn-in, and number of its iterations done */
    gbsi_found_before found;
    /* what is counted */
    size_t n_hard;
    size_t *hard;      /* [n_hard] factors of the core with zeros */
    uint32_t *one;     /* [core variables] states of one lane */
    uint32_t *state;   /* [part variables][16] states of sixteen ladders */
    double *p;         /* [part states][16] probabilities of eliminated variables */
    uint32_t *word;    /* scratch of the recovery */
    uint64_t *counted; /* [lanes] 1: the cold state of this ladder violates no zero */
    uint64_t *trips;   /* [lanes] round trips of a ladder that this iteration ended */
    gbsi_means *means; /* NULL during burn-in */
    uint64_t drop_at;  /* iterations kept when the first window becomes burn-in */
    /* draws in the user's numbering of variables; NULL: no draws */
    uint32_t *drawn;          /* [part variables] a draw ... */
    uint32_t *user;           /* [model variables] ... in the user's numbering */
    uint64_t n_given;         /* draws given of every ladder */
    uint64_t n_cold, n_valid; /* number of cold states since the last round began, and of those
                                 that count */
};

/* tempered_blocks.c: makes plans of blocks of the core, unless no plan exists or the plans would
 * take more bytes ... */
gbs_status gbsi_tempered_take_blocks(gbsi_tempered *t, uint64_t bytes, gbsi_watch *watch,
                                     gbs_error *err);
void gbsi_tempered_free_blocks(gbsi_tempered *t);
/* ... temperatures or weights are new ... */
void gbsi_tempered_heat_blocks(gbsi_tempered *t);
/* ... one draw in every lane and, once states are kept, sixteen of the cold level ... */
void gbsi_tempered_draw_blocks(gbsi_tempered *t);
/* ... and whether they forget more than sweeps alone, for the same counted operations. */
bool gbsi_tempered_prefers_blocks(const gbsi_tempered *t);
/* Whether they redraw the cold level too. */
bool gbsi_tempered_redraws(const gbsi_tempered *t);
/* Variables of a block, on average; 0: none is drawn. */
uint32_t gbsi_tempered_block_variables(const gbsi_tempered *t);

/* tempered_ranks.c: takes memory for the data that ranks send each other, once there are chains
 * ... */
gbs_status gbsi_tempered_take_told(gbsi_tempered *t, gbs_error *err);
void gbsi_tempered_free_told(gbsi_tempered *t);
/* ... and what local moves of this rank have made to all others, theirs from them. Alone: nothing.
 * @param moved status of the moves. @return `moved`; if moves failed on one rank, its status on all
 * ranks. */
gbs_status gbsi_tempered_tell(gbsi_tempered *t, gbs_status moved, gbs_error *err);

/* tempered_estimates.c: takes memory for the means, ... */
gbs_status gbsi_tempered_take_means(gbsi_tempered *t, gbs_error *err);
/* ... draws for the user: the cold states of all ladders, unless one of them violates a zero ... */
bool gbsi_tempered_has_cold(gbsi_tempered *t);
double gbsi_tempered_draw(gbsi_tempered *t, uint32_t ladder);
/* ... the cold states, into the means if there are any. */
void gbsi_tempered_count(gbsi_tempered *t);

/* tempered_chains.c: sets another penalty; states are kept. */
gbs_status gbsi_tempered_harden(gbsi_tempered *t, gbsi_pool *pool, double penalty, gbs_error *err);
/* Levels of equal rejection from `first` on, in levels; states stay where temperatures are nearest.
 */
gbs_status gbsi_tempered_respace(gbsi_tempered *t, double first, uint32_t n_levels,
                                 uint32_t n_ladders, gbs_error *err);
/* Takes the ladders of a checkpoint in place of those with which a run begins: this number of
 * levels and ladders, and this penalty. Their states and temperatures are still to be loaded ... */
gbs_status gbsi_tempered_reshape(gbsi_tempered *t, gbsi_pool *pool, uint32_t n_levels,
                                 uint32_t n_ladders, double penalty, gbs_error *err);
/* ... and, once they are, told to the chains and the blocks. */
void gbsi_tempered_set_temperatures(gbsi_tempered *t);

#endif
