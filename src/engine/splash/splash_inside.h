/* SPDX-License-Identifier: Apache-2.0 */
/* State of the splash scan, which splash_rounds.c, saved_rounds.c and life.c share. */
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
    uint64_t place; /* place, in the pass, of the splash's first variable */
    bool settled;
} block;

struct gbsi_splash {
    gbsi_pass_setting setting;
    gbsi_potentials *potentials;
    gbsi_turns
        turns; /* turns of the ranks; a single rank if the model is not divided among ranks */
    /* [gbsi_reach] roots of splashes in the interior, and roots of splashes that may reach the
     * boundary */
    gbsi_roots roots[2];
    gbsi_ownership own;
    gbsi_rw_lock
        *lock; /* NULL if splashes compete by deterministic reservations instead of locks */
    uint32_t next_tag;
    uint64_t round;
    uint64_t adapt; /* number of rounds of adaptive growth that are left */
    int order;      /* order of growth, gbs_grow_kind */
    int score;      /* score of adaptive growth, gbs_score_kind */
    uint64_t seed;
    uint32_t most;     /* largest number of variables of a splash */
    uint32_t n_blocks; /* number of splashes of the round */
    uint32_t most_blocks;
    block *block;   /* [most_blocks] */
    uint8_t *fresh; /* [most_blocks] scratch, see gbsi_growing */
    /* whether one thread must grow the splashes of this round one after another, because most
     * splashes of the last round clashed */
    bool in_turn;
    uint32_t n_bundles;     /* number of bundles of sixteen chains */
    gbsi_splash_view *view; /* [n_bundles] */
    uint32_t n_workers;
    gbsi_splash_worker *worker;
    gbsi_splash_team team; /* all workers, for rounds with fewer splashes than workers */
    gbsi_zeros zeros;
    gbsi_wholes wholes;
    gbsi_splash_counts counts; /* all counts except n_log_entries, which the workers count */
    bool crowded;
    gbsi_pass_job job;  /* the pass in progress */
    uint32_t half;      /* number of the current half turn of the pass, from 0 to 2 turns.n */
    uint64_t n_updates; /* number of updates of each chain in the current pass */
    uint64_t n_of[2]; /* [gbsi_reach] number of updates of slots of each reach in the current pass;
                         only rounds whose roots have this reach count */
    gbsi_on_block *on_block; /* callback for each variable of a splash; may be NULL */
    void *context;           /* context of on_block */
};

/* life.c: entries of the table of the pass. */
uint64_t gbsi_splash_bytes(const gbsi_pass_setting *setting);
gbs_status gbsi_splash_prepare(const gbsi_pass_setting *setting, void **out, gbs_error *err);
void gbsi_splash_free(void *state);

/* saved_rounds.c: entries of the table of the pass. */
gbs_status gbsi_splash_save(const void *state, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_splash_load(void *state, const gbsi_source *source, gbs_error *err);

#endif
