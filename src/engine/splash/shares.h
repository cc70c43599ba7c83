/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps track of the variables of each long factor that a growing splash holds, without walking its
 * scope. */
#ifndef GBSI_SPLASH_SHARES_H
#define GBSI_SPLASH_SHARES_H

#include "splash/potentials.h"
#include "splash/splash_tree.h"

typedef struct gbsi_shares {
    uint32_t n;     /* long factors */
    uint32_t *mark; /* [n] stamp of the splash that holds variables of the factor */
    uint32_t *last; /* [n] valid where so: the latest share */
    uint32_t stamp;
} gbsi_shares;

gbs_status gbsi_shares_init(gbsi_shares *shares, const gbsi_potentials *potentials, gbs_error *err);
void gbsi_shares_free(gbsi_shares *shares); /* what init took */

/* Starts an empty splash. */
void gbsi_shares_begin(gbsi_shares *shares, gbsi_growth *growth);
/* Adds the latest variable of the splash to the shares of its long factors. */
gbs_status gbsi_shares_join(gbsi_shares *shares, const gbsi_potentials *potentials,
                            gbsi_growth *growth, gbs_error *err);

/* The latest share of a long factor in the splash, UINT32_MAX if it has no share there. The others
 * follow by `before`. */
static inline uint32_t gbsi_shares_last(const gbsi_shares *shares, uint32_t number)
{
    return shares->mark[number] == shares->stamp ? shares->last[number] : UINT32_MAX;
}

#endif
