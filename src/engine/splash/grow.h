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
    /* [n + n_long] locks of the slots, then locks of the long factors; NULL if no owner changes
     * while splashes grow, apart from owners that `fresh` marks */
    gbsi_rw_lock *lock;
    uint32_t first_tag; /* first tag of this round */
    /* [tag - first_tag] 1 if the growing splash must not know of the splash with this tag, because
     * on several threads growth would have begun before this splash was settled; may be NULL */
    const uint8_t *fresh;
    int order; /* gbs_grow_kind */
    int score; /* gbs_score_kind */
    uint64_t seed, round;
    const gbsi_turns *turns; /* turns of the ranks, from which the reach of each slot is read */
    gbsi_reach reach;        /* largest reach of the slots that the splash may take */
    const gbsi_splash_view *states; /* states on which adaptive growth depends */
} gbsi_growing;

typedef struct gbsi_candidate {
    uint64_t key; /* candidates are taken in ascending order of keys */
    uint32_t slot, version;
} gbsi_candidate;

/* Data that one thread needs to grow splashes. */
typedef struct gbsi_grower {
    uint32_t *mark; /* [n] stamp of the last splash that met each slot */
    /* [n] for each slot: its number in the splash, REJECTED, or the version of its key; valid if
     * its `mark` equals `stamp` */
    uint32_t *place;
    uint32_t stamp;
    uint32_t *near; /* [most links + 1] neighbours of the current variable by links */
    uint32_t n_near;
    gbsi_shares shares;
    gbsi_watch *watch; /* watch that may stop growth, after which growth->n is 0; NULL if nothing
                          stops growth */
    bool spends;       /* whether this thread may read the clock of the watch */
    uint64_t
        n_spent; /* number of entries, out of n_looked, that were already reported to the watch */
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

/* Returns whether the slot and all its neighbours belong to no other splash of the round. */
bool gbsi_is_safe(const gbsi_growing *job, uint32_t tag, uint32_t slot);

/* Makes the splash with this tag the owner of the slot and of its long factors. */
void gbsi_own(const gbsi_growing *job, uint32_t tag, uint32_t slot);

/* Grows a splash with tag `tag` from a root into an empty tree. If job->lock is NULL, the splash
 * does not become the owner of its slots. The splash avoids slots with other owners in this round,
 * and the neighbours of these slots. growth->n is 0 if the root itself must be avoided. Growth ends
 * if the splash would take a variable of a fresh splash, or a neighbour of such a variable, because
 * the growing splash could not be settled then. In this case growth->clashed is set.
 *
 * The time is the product of the width, the logarithm of the number of variables met, and the
 * number of entries read. These entries are the links and long factors of the variables that the
 * splash takes, meets or refuses, and the scopes of its long factors. Each scope is walked once;
 * adaptive growth walks the scopes once per variable taken. */
gbs_status gbsi_grow(gbsi_grower *grower, const gbsi_growing *job, uint32_t tag, uint32_t root,
                     gbsi_growth *growth, gbs_error *err);

#endif
