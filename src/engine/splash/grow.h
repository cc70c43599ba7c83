/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of splashes from their roots (Gonzalez, Low, Gretton & Guestrin 2011, algorithm 4; [M36]).
 */
#ifndef GBSI_SPLASH_GROW_H
#define GBSI_SPLASH_GROW_H

#include "base/watch.h"
#include "gibbsite/run.h"
#include "parallel/rw_lock.h"
#include "plan/pass.h"
#include "splash/program.h"
#include "splash/score.h"
#include "splash/shares.h"

/* Data that all splashes of a round share. */
typedef struct gbsi_growing {
    const gbsi_potentials *potentials;
    gbsi_ownership *own;
    /* [n + n_long] locks of the slots, then of the long factors; NULL if owners do not change while
     * splashes grow, except in `fresh` */
    gbsi_rw_lock *lock;
    uint32_t first_tag; /* first tag of this round */
    /* by tag minus first_tag: 1 if the splash may have been settled after this splash should have
     * begun, so that this splash must not know of it; may be NULL */
    const uint8_t *fresh;
    int order; /* gbs_grow_kind */
    int score; /* gbs_score_kind */
    uint64_t seed, round;
    const gbsi_turns *turns;        /* turns of the ranks, which say what ranks see a slot */
    gbsi_reach reach;               /* slots beyond this reach are not taken */
    const gbsi_splash_view *states; /* states on which adaptive growth depends */
} gbsi_growing;

typedef struct gbsi_candidate {
    uint64_t key; /* the candidate with the least key comes first */
    uint32_t slot, version;
} gbsi_candidate;

/* Data that one thread needs to grow splashes. */
typedef struct gbsi_grower {
    uint32_t *mark; /* [n] stamp of the last splash that met the slot */
    /* [n] valid if `mark` is the stamp: number in the splash, REJECTED, or version of the key */
    uint32_t *place;
    uint32_t stamp;
    uint32_t *near; /* [most links + 1] neighbours, by links, of the current variable */
    uint32_t n_near;
    gbsi_shares shares;
    gbsi_watch *watch; /* NULL if growth never stops. growth->n is 0 after a stop */
    bool spends;       /* whether this thread may read the clock */
    uint64_t n_spent;  /* part of n_looked that was reported to the watch */
    uint64_t n_looked; /* number of entries of links, long factors and scopes read so far */
    gbsi_candidate *heap;
    size_t n_heap, heap_capacity;
    uint64_t n_met;
    gbsi_score_scratch score;
} gbsi_grower;

gbs_status gbsi_grower_init(gbsi_grower *grower, const gbsi_potentials *potentials, int order,
                            gbs_error *err);
void gbsi_grower_free(gbsi_grower *grower); /* frees the arrays, not the struct */
uint64_t gbsi_grower_bytes(const gbsi_plan *plan, int order);

/* Whether neither the slot nor a neighbour belongs to another splash of the round. */
bool gbsi_is_safe(const gbsi_growing *job, uint32_t tag, uint32_t slot);

/* Makes the tag the owner of the slot and of its long factors. */
void gbsi_own(const gbsi_growing *job, uint32_t tag, uint32_t slot);

/* Grows a splash with tag `tag` from a root into an empty tree. If job->lock is NULL, no slot is
 * claimed. The splash must avoid slots with other owners in this round, and their neighbours.
 * growth->n is 0 if the root itself must be avoided. If the splash takes a variable of a fresh
 * splash, or a neighbour of such a variable, growth->clashed is set and growth ends, because the
 * splash could not be settled.
 *
 * The time is the product of the width, the logarithm of the number of variables met, and the
 * number of entries read. These entries are the links and long factors of the variables that the
 * splash takes, meets or refuses, and the scopes of its long factors, each of which is walked once.
 * Adaptive growth walks the scopes once per variable taken. */
gbs_status gbsi_grow(gbsi_grower *grower, const gbsi_growing *job, uint32_t tag, uint32_t root,
                     gbsi_growth *growth, gbs_error *err);

#endif
