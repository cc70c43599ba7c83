/* SPDX-License-Identifier: Apache-2.0 */
/* The data that one thread needs, and drawing one splash in up to sixteen chains. */
#ifndef GBSI_SPLASH_WORKER_H
#define GBSI_SPLASH_WORKER_H

#include "rng/words.h"
#include "splash/grow.h"
#include "splash/loops.h"
#include "splash/splash_rounds.h"

typedef struct gbsi_splash_worker {
    gbsi_grower grower;
    gbsi_splash_work work;
    const gbsi_splash_loops *loops;
    const gbsi_words *words;
    gbsi_watch *watch;         /* NULL: never stops */
    bool spends;               /* this is the thread that may look */
    uint64_t n_log_entries;    /* entries of cliques that single chains computed in logarithms */
    gbs_status status;         /* of the tasks it ran; */
    gbs_error error;           /* the reason if that is negative */
    uint64_t impossible_place; /* place of the first conditional without weight in this pass,
                                  UINT64_MAX */
    uint32_t impossible_slot;
} gbsi_splash_worker;

typedef struct gbsi_splash_task {
    const gbsi_pass_setting *setting;
    gbsi_splash_job job;
    const gbsi_pass_job *sweep;
    uint64_t seed;
    uint64_t pass;   /* number of the pass that the random words depend on; it differs between ranks
                      */
    uint64_t place;  /* of its first variable */
    uint32_t bundle; /* of sixteen chains */
} gbsi_splash_task;

/* Room for splashes of at most this many variables. */
gbs_status gbsi_splash_work_init(gbsi_splash_work *work, const gbsi_potentials *potentials,
                                 uint32_t width, uint32_t most, gbs_error *err);
void gbsi_splash_work_free(gbsi_splash_work *work);
uint64_t gbsi_splash_work_bytes(const gbsi_plan *plan, uint32_t width, uint32_t most);

/* Draws new states of all variables of the splash in all chains of the bundle, and feeds the
 * estimate. */
void gbsi_splash_draw(gbsi_splash_worker *worker, const gbsi_splash_task *task);

#endif
