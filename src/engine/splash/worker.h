/* SPDX-License-Identifier: Apache-2.0 */
/* Data of one thread that draws a splash in up to sixteen chains. */
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
    gbsi_watch *watch;      /* NULL if work never stops */
    bool spends;            /* whether this thread may read the clock */
    uint64_t n_log_entries; /* number of entries of cliques that were computed in logarithms,
                               counted for each chain */
    gbs_status status; /* status of the first of the worker's tasks that failed; 0 if none failed */
    gbs_error error;   /* the reason if `status` is negative */
    /* place of the first conditional of this pass whose weights are all 0; UINT64_MAX if there is
     * none */
    uint64_t impossible_place;
    uint32_t impossible_slot;
} gbsi_splash_worker;

typedef struct gbsi_splash_task {
    const gbsi_pass_setting *setting;
    gbsi_splash_job job;
    const gbsi_pass_job *sweep;
    uint64_t seed;
    /* number of the pass from which random words are made; it differs between ranks */
    uint64_t pass;
    uint64_t place;  /* place of the splash's first variable */
    uint32_t bundle; /* number of the bundle of sixteen chains */
} gbsi_splash_task;

/* Allocates scratch for splashes of at most `most` variables. */
gbs_status gbsi_splash_work_init(gbsi_splash_work *work, const gbsi_potentials *potentials,
                                 uint32_t width, uint32_t most, gbs_error *err);
void gbsi_splash_work_free(gbsi_splash_work *work);
uint64_t gbsi_splash_work_bytes(const gbsi_plan *plan, uint32_t width, uint32_t most);

/* Draws the states of all variables of the splash in all chains of the bundle, and feeds the
 * estimate. */
void gbsi_splash_draw(gbsi_splash_worker *worker, const gbsi_splash_task *task);

#endif
