/* SPDX-License-Identifier: Apache-2.0 */
/* A tempered run, shared by tempered*.c alone. */
#ifndef GBSI_SAMPLER_TEMPERED_INSIDE_H
#define GBSI_SAMPLER_TEMPERED_INSIDE_H

#include "exact/collapse.h"
#include "sampler/run.h"
#include "sampler/tempered.h"
#include "temper/exchange.h"
#include "temper/overlap.h"

struct gbsi_tempered {
    const gbsi_conditioned *part; /* what is asked about */
    gbsi_collapse *collapse;      /* part and what is left of it ... */
    const gbsi_conditioned *core; /* ... which the chains are of */
    gbs_run_options options;      /* of the chains: as many as lanes, a scan by colours */
    bool chooses_levels;          /* the user named neither levels nor ladders */
    /* the chains */
    double penalty;         /* of a violated zero, nats */
    gbsi_conditioned *soft; /* core without zeros */
    gbsi_graph *graph;
    void *scan_state;
    gbsi_plan *plan;
    gbsi_schedule schedule;
    gbsi_executor executor;
    gbsi_exchange *exchange;
    double *density; /* [lanes] U */
    bool observing;  /* local moves go into ... */
    gbsi_overlap *overlap;
    uint32_t *before; /* [core variables][lanes] states before a local move */
    uint32_t *row;    /* [lanes] scratch */
    uint64_t iteration;
    /* what is counted */
    size_t n_hard;
    size_t *hard;             /* [n_hard] factors of the core with zeros */
    uint32_t *one;            /* [core variables] of one lane */
    uint32_t *state;          /* [part variables][16] of sixteen ladders */
    double *p;                /* [part states][16] of eliminated variables */
    uint32_t *word;           /* scratch of the recovery */
    uint64_t *counted;        /* [lanes] 1: the cold state of this ladder violates no zero */
    uint64_t *trips;          /* [lanes] round trips of a ladder that this iteration ended */
    gbsi_means *means;        /* NULL during burn-in */
    uint64_t drop_at;         /* iterations kept when the first window becomes burn-in */
    uint64_t n_cold, n_valid; /* cold states since the last round began, and those that count */
};

/* tempered_estimates.c: the cold states, into the means if there are any. */
void gbsi_tempered_count(gbsi_tempered *t);

/* tempered_chains.c: the chains of levels x ladders, at random states. */
gbs_status gbsi_tempered_begin(gbs_run *run, gbsi_drive *drive, gbsi_tempered **tempered,
                               gbs_error *err);
/* Another penalty, states kept. */
gbs_status gbsi_tempered_harden(gbsi_tempered *t, gbsi_pool *pool, double penalty, gbs_error *err);
/* Levels of equal rejection from level `first` on; states stay where temperatures are nearest. */
gbs_status gbsi_tempered_respace(gbsi_tempered *t, uint32_t first, uint32_t n_levels,
                                 uint32_t n_ladders, gbs_error *err);

#endif
