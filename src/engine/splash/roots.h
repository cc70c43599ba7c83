/* SPDX-License-Identifier: Apache-2.0 */
/* Roots of splashes. Slots become roots in a random order, which stays the same for the whole run
 * and begins again after the last slot. A slot whose splash had to be given up stays at the front
 * of the order. Every slot is therefore a root within a bounded number of rounds (the second
 * condition of theorem 4.1 of Gonzalez et al. 2011). */
#ifndef GBSI_SPLASH_ROOTS_H
#define GBSI_SPLASH_ROOTS_H

#include <stdint.h>

#include "plan/pass.h"

typedef struct gbsi_roots {
    uint32_t n;
    uint32_t *order; /* [n] a ring of slots */
    uint32_t head;
    uint32_t n_taken;
    uint32_t *deferred; /* [most] roots of this round that were put back */
    uint32_t n_deferred;
} gbsi_roots;

/* @param n_slots number of slots. @param reach reach of the slots that become roots. @param most
 * largest number of roots of a round. */
gbs_status gbsi_roots_init(gbsi_roots *roots, uint32_t n_slots, const gbsi_turns *turns,
                           gbsi_reach reach, uint32_t most, uint64_t seed, gbs_error *err);
void gbsi_roots_free(gbsi_roots *roots);

/* Takes the next root. At most min(n, most) different roots may be taken before the next
 * gbsi_roots_end_round(). */
uint32_t gbsi_roots_next(gbsi_roots *roots);
/* Puts a root back; roots must be put back in the order in which they were taken. */
void gbsi_roots_defer(gbsi_roots *roots, uint32_t root);
void gbsi_roots_end_round(gbsi_roots *roots);

#endif
