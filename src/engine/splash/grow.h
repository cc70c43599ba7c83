/* SPDX-License-Identifier: Apache-2.0 */
/* Splashes grown from their roots (Gonzalez, Low, Gretton & Guestrin 2011, algorithm 4; [M36]). */
#ifndef GBSI_SPLASH_GROW_H
#define GBSI_SPLASH_GROW_H

#include "base/watch.h"
#include "gibbsite/run.h"
#include "parallel/rw_lock.h"
#include "plan/pass.h"
#include "splash/program.h"
#include "splash/score.h"
#include "splash/shares.h"

/* The data that all splashes of a round share. */
typedef struct gbsi_growing {
    const gbsi_potentials *potentials;
    gbsi_ownership *own;
    gbsi_rw_lock *lock; /* [n + n_long] one per slot, then one per long factor; NULL: owners do not
                           change while splashes grow, except in `fresh` */
    uint32_t first_tag; /* tags from here on are of this round */
    const uint8_t *fresh; /* NULL, or by tag less the first: 1 if the splash may have been settled
                             since this one should have begun, which is not to know of it */
    int order;            /* gbs_grow_kind */
    int score;            /* gbs_score_kind */
    uint64_t seed, round;
    const gbsi_turns *turns;        /* which ranks see a slot */
    gbsi_reach reach;               /* limit: slots beyond this reach are not taken */
    const gbsi_splash_view *states; /* states that adaptive growth looks at */
} gbsi_growing;

typedef struct gbsi_candidate {
    uint64_t key; /* least first */
    uint32_t slot, version;
} gbsi_candidate;

/* The data that one thread needs to grow splashes. */
typedef struct gbsi_grower {
    uint32_t *mark;  /* [n] stamp of the splash that has met the slot */
    uint32_t *place; /* [n] if mark is the stamp: number, rejected, or version of the key */
    uint32_t stamp;
    uint32_t *near; /* [most links + 1] neighbours by links of the variable being processed */
    uint32_t n_near;
    gbsi_shares shares;
    gbsi_watch *watch; /* NULL: never stops. If the watch stops it, growth->n is 0 */
    bool spends;       /* this thread may look at the clock */
    uint64_t n_spent;  /* how many of n_looked the watch has been told of */
    uint64_t n_looked; /* entries of links, long factors and scopes read until now */
    gbsi_candidate *heap;
    size_t n_heap, heap_capacity;
    uint64_t n_met;
    gbsi_score_scratch score;
} gbsi_grower;

gbs_status gbsi_grower_init(gbsi_grower *grower, const gbsi_potentials *potentials, int order,
                            gbs_error *err);
void gbsi_grower_free(gbsi_grower *grower); /* what init took */
uint64_t gbsi_grower_bytes(const gbsi_plan *plan, int order);

/* Whether neither the slot nor a neighbour belongs to another splash of the round. */
bool gbsi_is_safe(const gbsi_growing *job, uint32_t tag, uint32_t slot);

/* Makes the tag the owner of the slot and of its long factors. */
void gbsi_own(const gbsi_growing *job, uint32_t tag, uint32_t slot);

/* Grows a splash with the tag from a root, into an empty tree. If job->lock is NULL, no slot is
 * claimed. The splash must avoid slots with other owners in this round, and their neighbours.
 * growth->n is 0 if the root itself must be avoided. As soon as the splash takes a variable of a
 * fresh splash, or one next to it, growth->clashed is set and the splash is given up, because it
 * could not be settled.
 *
 * The time is a product: the width, times the logarithm of the number of variables met, times the
 * number of entries read. These entries are the links and long factors of the variables that the
 * splash takes, meets or refuses, and the scopes of its long factors, which are walked once.
 * Adaptive growth walks the scopes once per variable taken. */
gbs_status gbsi_grow(gbsi_grower *grower, const gbsi_growing *job, uint32_t tag, uint32_t root,
                     gbsi_growth *growth, gbs_error *err);

#endif
