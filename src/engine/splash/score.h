/* SPDX-License-Identifier: Apache-2.0 */
/* Scores for adaptive growth [M36]: how strongly a variable depends on its neighbours
 * in the splash. */
#ifndef GBSI_SPLASH_SCORE_H
#define GBSI_SPLASH_SCORE_H

#include "gibbsite/run.h"
#include "splash/shares.h"
#include "splash/view.h"

/* largest number of joint states that are enumerated; if there are more states, this number of
 * states is drawn at random */
#define GBSI_SCORE_STATES 4096u
#define GBSI_SCORE_LONG   16u /* longest scope whose sum is not stored */

/* The neighbours inside the splash of a variable whose score is computed. */
typedef struct gbsi_score_inside {
    const gbsi_growth *growth;
    const gbsi_shares *shares;
    uint32_t n;
    const uint32_t *number; /* [n] numbers of the neighbours in the splash, all different */
} gbsi_score_inside;

/* A neighbour inside the splash as part of the sum on which a long factor depends. */
typedef struct gbsi_score_part {
    size_t e; /* index of the neighbour in the array of all scopes */
    size_t stride;
    uint32_t inside; /* index of the neighbour in gbsi_score_inside.number */
} gbsi_score_part;

/* A long factor of the scored variable. */
typedef struct gbsi_score_factor {
    size_t f;
    uint64_t outside; /* contribution of the variables outside the splash to the factor's sum, in
                         the current chain */
    size_t e, stride; /* index of the scored variable in the array of all scopes, and its stride */
    uint32_t first_part, n_parts;
} gbsi_score_factor;

typedef struct gbsi_score_scratch {
    double *r;                     /* [GBSI_SCORE_STATES] */
    double *logw;                  /* [2][largest arity] */
    gbsi_score_factor *factor;     /* [most long factors of a variable] */
    gbsi_score_part *part;         /* [most long factors of a variable][GBSI_SPLASH_WIDTH] */
    uint32_t x[GBSI_SPLASH_WIDTH]; /* states of the neighbours inside */
    /* Sums of long factors over their whole scopes, for factors of more than GBSI_SCORE_LONG
     * variables. The sums depend only on the states, which do not change while a splash grows. */
    uint32_t *sum_of;   /* [n_long] index of each factor's sum; GBSI_NONE for a short factor */
    uint32_t *sum_mark; /* [n_sums] stamp of the splash for which the sum was computed */
    uint64_t *sum;      /* [n_sums][GBSI_LANES] */
    uint32_t n_sums, stamp;
    /* work so far: number of links and long factors read, times joint states of the neighbours
     * inside, plus number of scope entries read */
    uint64_t n_looked;
} gbsi_score_scratch;

gbs_status gbsi_score_scratch_init(gbsi_score_scratch *scratch, const gbsi_potentials *potentials,
                                   gbs_error *err);
void gbsi_score_scratch_free(gbsi_score_scratch *scratch);
/* Forgets the stored sums, because states may have changed. */
void gbsi_score_begin(gbsi_score_scratch *scratch);

/* Returns the mean of the score over the chains. Let u be the states of the neighbours inside the
 * splash, mu the uniform distribution of u, and r(u) = p(x_v | u, current states of the rest). Let
 * rbar = sum_u mu(u) r(u).
 *
 *     COUPLING  sum_u mu(u) | ln( rbar / r(u) ) |
 *     LITERAL   sum_u mu(u) ( -ln r(u) )
 *
 * The second score is (4.1) of the paper divided by the number of joint states u. The time is
 * proportional to a number of factors times the number of joint states of the neighbours inside.
 * The number of factors is that of links plus that of long factors times neighbours inside. Scopes
 * of long factors are walked once per splash. */
double gbsi_score(const gbsi_potentials *potentials, const gbsi_splash_view *states,
                  gbs_score_kind kind, uint32_t slot, const gbsi_score_inside *inside,
                  uint64_t hash, gbsi_score_scratch *scratch);

#endif
