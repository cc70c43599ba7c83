/* SPDX-License-Identifier: Apache-2.0 */
/* Records which variables of each long factor a growing splash holds. A share is a variable of the
 * splash in a long factor; shares make walks through the factor's scope unnecessary. */
#ifndef GBSI_SPLASH_SHARES_H
#define GBSI_SPLASH_SHARES_H

#include "splash/potentials.h"
#include "splash/splash_tree.h"

typedef struct gbsi_shares {
    uint32_t n;     /* number of long factors */
    uint32_t *mark; /* [n] stamp of the latest splash that took a variable of each factor */
    uint32_t
        *last; /* [n] latest share of each factor; valid if the factor's `mark` equals `stamp` */
    uint32_t stamp;
} gbsi_shares;

gbs_status gbsi_shares_init(gbsi_shares *shares, const gbsi_potentials *potentials, gbs_error *err);
void gbsi_shares_free(gbsi_shares *shares); /* frees the arrays, not the struct */

/* Begins a new splash, which has no variable yet. */
void gbsi_shares_begin(gbsi_shares *shares, gbsi_growth *growth);
/* Adds a share for each long factor of the variable that the splash took last. */
gbs_status gbsi_shares_join(gbsi_shares *shares, const gbsi_potentials *potentials,
                            gbsi_growth *growth, gbs_error *err);

/* Returns the latest share of a long factor in the splash; UINT32_MAX if the splash has no variable
 * of the factor. Member `before` of each share leads to the previous share of the factor. */
static inline uint32_t gbsi_shares_last(const gbsi_shares *shares, uint32_t number)
{
    return shares->mark[number] == shares->stamp ? shares->last[number] : UINT32_MAX;
}

#endif
