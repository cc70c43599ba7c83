/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the splash scan, private to splash_rounds.c, saved_rounds.c and life.c. */
#ifndef GBSI_SPLASH_SPLASH_INSIDE_H
#define GBSI_SPLASH_SPLASH_INSIDE_H

#include "splash/grow.h"
#include "splash/held_blocks.h"
#include "splash/loops.h"
#include "splash/roots.h"
#include "splash/splash_rounds.h"
#include "splash/worker.h"

typedef struct block {
    gbsi_growth growth;
    gbsi_splash_program program;
    uint32_t root;
    uint32_t tag;
    uint64_t place; /* of its first variable */
    bool settled;
} block;

struct gbsi_splash {
    gbsi_pass_setting setting;
    gbsi_potentials *potentials;
    gbsi_turns turns;    /* turns of a single rank, if the model is not shared */
    gbsi_roots roots[2]; /* roots of splashes that reach the interior and the boundary: gbsi_reach
                          */
    gbsi_ownership own;
    gbsi_rw_lock *lock; /* NULL under reservation */
    uint32_t next_tag;
    uint64_t round;
    uint64_t adapt; /* rounds of adaptive growth left */
    int order;      /* of growth, gbs_grow_kind */
    int score;      /* of adaptive growth, gbs_score_kind */
    uint64_t seed;
    uint32_t n_blocks; /* of the round */
    uint32_t most_blocks;
    block *block;           /* [most_blocks] */
    uint8_t *fresh;         /* [most_blocks] scratch, see gbsi_growing */
    bool in_turn;           /* splashes of the last round were in each other's way */
    uint32_t n_bundles;     /* of sixteen chains */
    gbsi_splash_view *view; /* [n_bundles] */
    uint32_t n_workers;
    gbsi_splash_worker *worker;
    gbsi_zeros zeros;
    gbsi_wholes wholes;
    gbsi_splash_counts counts; /* except for n_log_entries, which the workers count */
    bool crowded;
    gbsi_pass_job job;       /* the pass that is being run */
    uint32_t half;           /* half of a turn of the pass, 0 to 2 turns.n */
    uint64_t n_updates;      /* updates of each chain in the present pass */
    uint64_t n_of[2];        /* updates of the present pass in rounds of either kind of roots */
    gbsi_on_block *on_block; /* NULL: nobody watches */
    void *context;           /* of that */
};

/* life.c: slots of the pass. */
uint64_t gbsi_splash_bytes(const gbsi_pass_setting *setting);
gbs_status gbsi_splash_prepare(const gbsi_pass_setting *setting, void **out, gbs_error *err);
void gbsi_splash_free(void *state);

/* saved_rounds.c: slots of the pass. */
gbs_status gbsi_splash_save(const void *state, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_splash_load(void *state, const gbsi_source *source, gbs_error *err);

#endif
