/* SPDX-License-Identifier: Apache-2.0 */
/* Scores how strongly a variable is coupled to the splash next to it, for adaptive growth [M36]. */
#ifndef GBSI_SPLASH_SCORE_H
#define GBSI_SPLASH_SCORE_H

#include "gibbsite/run.h"
#include "splash/shares.h"
#include "splash/view.h"

#define GBSI_SCORE_STATES 4096u /* joint states that are enumerated; beyond, as many are drawn */
#define GBSI_SCORE_LONG   16u   /* variables of a scope, beyond which its sums are kept */

/* The neighbours in the splash that a score is given. */
typedef struct gbsi_score_inside {
    const gbsi_growth *growth;
    const gbsi_shares *shares;
    uint32_t n;
    const uint32_t *number; /* [n] numbers in the splash, all different */
} gbsi_score_inside;

/* A variable's part in the sum of a long factor. */
typedef struct gbsi_score_part {
    size_t e; /* entry of the scopes */
    size_t stride;
    uint32_t inside; /* which of those inside */
} gbsi_score_part;

/* A long factor of the variable scored. */
typedef struct gbsi_score_factor {
    size_t f;
    uint64_t outside; /* sum of the variables outside, in the present chain */
    size_t e, stride; /* of the variable scored */
    uint32_t first_part, n_parts;
} gbsi_score_factor;

typedef struct gbsi_score_scratch {
    double *r;                     /* [GBSI_SCORE_STATES] */
    double *logw;                  /* [2][largest arity] */
    gbsi_score_factor *factor;     /* [most long factors of a variable] */
    gbsi_score_part *part;         /* [those][GBSI_SPLASH_WIDTH] */
    uint32_t x[GBSI_SPLASH_WIDTH]; /* states of the neighbours being processed */
    /* Sums over whole scopes of more than GBSI_SCORE_LONG variables: they change with states
     * alone, which stand still while a splash grows. */
    uint32_t *sum_of;   /* [n_long] index of the sum of each factor, GBSI_NONE for a short one */
    uint32_t *sum_mark; /* [n_sums] stamp of the splash that knows it */
    uint64_t *sum;      /* [n_sums][GBSI_LANES] */
    uint32_t n_sums, stamp;
    uint64_t n_looked; /* links and long factors, by the states inside, and entries of scopes */
} gbsi_score_scratch;

gbs_status gbsi_score_scratch_init(gbsi_score_scratch *scratch, const gbsi_potentials *potentials,
                                   gbs_error *err);
void gbsi_score_scratch_free(gbsi_score_scratch *scratch);
/* Forgets sums that were kept: states may have changed. */
void gbsi_score_begin(gbsi_score_scratch *scratch);

/* Mean over the chains of the kind's score. Let u be the states of the neighbours inside, mu
 * uniform over them, r(u) = p(x_v | u, the rest as it is), rbar = sum_u mu(u) r(u), COUPLING  sum_u
 * mu(u) | ln( rbar / r(u) ) | LITERAL   sum_u mu(u) ( -ln r(u) )              their (4.1) over the
 * number of states Time: links, and long factors times neighbours inside, times the states of the
 * latter; scopes of long factors are walked once a splash. */
double gbsi_score(const gbsi_potentials *potentials, const gbsi_splash_view *states,
                  gbs_score_kind kind, uint32_t slot, const gbsi_score_inside *inside,
                  uint64_t hash, gbsi_score_scratch *scratch);

#endif
