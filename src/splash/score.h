/* SPDX-License-Identifier: Apache-2.0 */
/* How strongly a variable is coupled to the splash next to it, for adaptive growth [M36]. */
#ifndef GBSI_SPLASH_SCORE_H
#define GBSI_SPLASH_SCORE_H

#include "gibbsite/run.h"
#include "splash/potentials.h"
#include "splash/view.h"

#define GBSI_SCORE_STATES 4096u /* of the neighbours in the splash; beyond, so many at random */

typedef struct gbsi_score_scratch {
    double *r;    /* [GBSI_SCORE_STATES] */
    double *logw; /* [2][largest arity] */
    uint32_t *at; /* [largest scope] */
    uint32_t *x;  /* [largest degree] states of the neighbours at hand */
} gbsi_score_scratch;

gbs_status gbsi_score_scratch_init(gbsi_score_scratch *scratch, const gbsi_potentials *potentials,
                                   uint32_t most_near, gbs_error *err);
void gbsi_score_scratch_free(gbsi_score_scratch *scratch);

/* Mean over the chains of the kind's score: with u the states of the neighbours inside, mu uniform
 * over them, r(u) = p(x_v | u, the rest as it is), rbar = sum_u mu(u) r(u),
 *     COUPLING  sum_u mu(u) | ln( rbar / r(u) ) |
 *     LITERAL   sum_u mu(u) ( -ln r(u) )              their (4.1) over the number of states
 * @param inside [n_inside] those neighbours, different from each other. */
double gbsi_score(const gbsi_potentials *potentials, const gbsi_splash_view *states,
                  gbs_score_kind kind, uint32_t slot, uint32_t n_inside, const uint32_t *inside,
                  uint64_t hash, gbsi_score_scratch *scratch);

#endif
