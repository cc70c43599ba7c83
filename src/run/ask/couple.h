/* SPDX-License-Identifier: Apache-2.0 */
/* Two Gibbs chains X and Y of one model, where X is L passes ahead (Biswas, Jacob & Vanetti
 * 2019) [M82]. The chains are coupled, so that they meet. After the meeting, X_(t+L) = Y_t for
 * all later t. */
#ifndef GBSI_ASK_COUPLE_H
#define GBSI_ASK_COUPLE_H

#include "graph/graph.h"
#include "scan/scan.h"

/* Data that all pairs of chains share. */
typedef struct gbsi_couple_job {
    const gbsi_conditioned *model;
    const gbsi_incident_factors *incident; /* all factors of each variable */
    gbsi_sequence pass; /* the pass that is repeated; if its `variable` is NULL, a pass is n updates
                           of variables drawn uniformly */
    uint32_t longest;   /* number of variables in the longest scope */
    uint32_t most_states; /* the largest arity */
    uint64_t seed;
    uint64_t lag;    /* L, in passes */
    uint64_t sweeps; /* number of passes of Y after which a pair that has not met is given up */
    size_t n_sets;   /* number of sets of variables for which bounds are computed */
    const uint8_t *const *set; /* [n_sets][n_variables] 1 if a variable is in the set; a NULL
                                  pointer stands for the set of all variables */
    size_t n_times;
    /* [n_times] the numbers t of passes of Y after which bounds are computed. */
    const uint64_t *time;
} gbsi_couple_job;

typedef enum gbsi_couple_state {
    GBSI_COUPLE_IDLE, /* there is no pair yet, or the counts of the pair were taken */
    GBSI_COUPLE_GOING,
    GBSI_COUPLE_MET,
    GBSI_COUPLE_APART, /* the chains did not meet within job->sweeps passes of Y */
} gbsi_couple_state;

/* A pair of chains. Any thread may move the pair. */
typedef struct gbsi_couple {
    gbsi_couple_state state;
    uint32_t pair;   /* number of the pair, which keys its random numbers */
    uint64_t pass;   /* pass of X that is under way or next; Y is at pass - lag */
    size_t at;       /* number of finished updates of the present pass */
    uint64_t spent;  /* number of operations since the caller set this member to 0 */
    uint32_t *x, *y; /* [n_variables] states of the two chains */
    /* number of indices j for which X_(t+(j+1)L) and Y_(t+jL) differ */
    uint32_t *apart;     /* [n_times][n_variables] at each variable */
    uint32_t *set_apart; /* [n_times][n_sets] at any variable of each set */
    uint32_t *different; /* [n_variables] scratch */
    uint32_t *scope;     /* [2][longest] scratch: states of the variables of a factor */
    double *p;           /* [2][most_states] scratch: conditionals */
} gbsi_couple;

gbs_status gbsi_couple_init(const gbsi_couple_job *job, gbsi_couple *c, gbs_error *err);
void gbsi_couple_free(gbsi_couple *c);

/* Begins a pair whose starts are in c->x and c->y; X is at the start of its first pass. */
void gbsi_couple_begin(const gbsi_couple_job *job, uint32_t pair, gbsi_couple *c);

/* Moves the pair for about this many operations, or until the chains have met or the pair is
 * given up. */
void gbsi_couple_go(const gbsi_couple_job *job, uint64_t operations, gbsi_couple *c);

/* Draws a from p and b from q by their maximal coupling (Thorisson 2000): P(a = b) = sum of min(p,
 * q), the largest possible value. @param p, q [k] probabilities. @param word four random words.
 * @param a, b out. */
void gbsi_couple_draw(const double *p, const double *q, uint32_t k, const uint32_t word[4],
                      uint32_t *a, uint32_t *b);

#endif
