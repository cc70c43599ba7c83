/* SPDX-License-Identifier: Apache-2.0 */
/* Two Gibbs chains X and Y of one model, of which X is L passes ahead, coupled so that they meet
 * (Biswas, Jacob & Vanetti 2019) [M82]. After they have met, X_(t+L) = Y_t for ever. */
#ifndef GBSI_ASK_COUPLE_H
#define GBSI_ASK_COUPLE_H

#include "graph/graph.h"
#include "scan/scan.h"

/* What all pairs have in common. */
typedef struct gbsi_couple_job {
    const gbsi_conditioned *model;
    const gbsi_incident_factors *incident; /* all factors of each variable */
    gbsi_sequence pass;   /* the pass that is repeated; variable NULL: n draws, all as likely */
    uint32_t longest;     /* variables of the longest scope */
    uint32_t most_states; /* the largest arity */
    uint64_t seed;
    uint64_t lag;              /* L, passes */
    uint64_t sweeps;           /* passes of Y after which a pair is given up */
    size_t n_sets;             /* sets of variables that are looked at together */
    const uint8_t *const *set; /* [n_sets][n_variables] 1: in the set; NULL: all variables */
    size_t n_times;
    const uint64_t *time; /* [n_times] passes t of Y that the bounds are for */
} gbsi_couple_job;

typedef enum gbsi_couple_state {
    GBSI_COUPLE_IDLE, /* no pair yet, or its counts were taken */
    GBSI_COUPLE_GOING,
    GBSI_COUPLE_MET,
    GBSI_COUPLE_APART, /* did not meet within the passes allowed */
} gbsi_couple_state;

/* A pair under way: a thread moves it, whoever has it. */
typedef struct gbsi_couple {
    gbsi_couple_state state;
    uint32_t pair;   /* its number, from which its random numbers follow */
    uint64_t pass;   /* of X, under way or next; Y is at pass - lag */
    size_t at;       /* updates of this pass that are done */
    uint64_t spent;  /* operations since the caller set it to 0 */
    uint32_t *x, *y; /* [n_variables] states of the two chains */
    /* counts of j for which X_(t+(j+1)L) and Y_(t+jL) differ */
    uint32_t *apart;     /* [n_times][n_variables] at the variable */
    uint32_t *set_apart; /* [n_times][n_sets] at any variable of the set */
    uint32_t *different; /* [n_variables] scratch */
    uint32_t *scope;     /* [2][longest] scratch: states around a variable */
    double *p;           /* [2][most_states] scratch: conditionals */
} gbsi_couple;

gbs_status gbsi_couple_init(const gbsi_couple_job *job, gbsi_couple *c, gbs_error *err);
void gbsi_couple_free(gbsi_couple *c);

/* Begins with the states in x and y, X at the start of its first pass. */
void gbsi_couple_begin(const gbsi_couple_job *job, uint32_t pair, gbsi_couple *c);

/* Goes on for about so many operations, or until the pair has met or is given up. */
void gbsi_couple_go(const gbsi_couple_job *job, uint64_t operations, gbsi_couple *c);

/* Draws from the maximal coupling of p and q (Thorisson 2000): P(a = b) = sum of min(p, q), the
 * largest there is.
 * @param p, q [k] probabilities. @param word four random words. @param a, b out. */
void gbsi_couple_draw(const double *p, const double *q, uint32_t k, const uint32_t word[4],
                      uint32_t *a, uint32_t *b);

#endif
