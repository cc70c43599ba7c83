/* SPDX-License-Identifier: Apache-2.0 */
/* A model without the variables that are cheap to sum out: what tempered sampling works on.
 *
 * A variable v is eliminated as long as it and its neighbours n have few states together. The
 * bucket B_v, which has the factors that contain v, is replaced by one factor [M45] psi_new(n) =
 * sum_v prod_{f in B_v} psi_f(v, n), cheapest variable first. Sums are exact, so that Z does not
 * change; marginals of eliminated variables come back as conditional probabilities p(v | n). */
#ifndef GBSI_COLLAPSE_COLLAPSE_H
#define GBSI_COLLAPSE_COLLAPSE_H

#include "base/watch.h"
#include "condition/condition.h"
#include "simd/dispatch.h"

/* Entries of v and its neighbours, at most: more made no difference (2^9), and less is slower. */
#define GBSI_COLLAPSE_ENTRIES 128u
/* The largest number of entries that may be asked for. */
#define GBSI_COLLAPSE_MOST 1024u

enum { GBSI_COLLAPSE_LANES = 16 };

typedef struct gbsi_collapse {
    const gbsi_conditioned *model; /* borrowed */
    gbsi_conditioned *core;  /* what is left. Factors it does not share with the model are tables of
                                largest weight 1; their constants are in log_constant. A state of
                                one variable may have weight zero in every state of the others. */
    uint32_t *core_variable; /* [model->n_variables] GBSI_NONE if eliminated */
    uint32_t n_eliminated;
    uint32_t *variable;  /* [n_eliminated] in the order of elimination */
    size_t *scope_start; /* [n_eliminated + 1] */
    uint32_t *scope;     /* scope of each: the neighbours that v had when it was eliminated */
    size_t *p_start;     /* [n_eliminated + 1] */
    double *p; /* p(v | n) of each: a row of arity(v) for each state of its neighbours, the last of
                  them fastest; equal numbers where the state has no weight */
} gbsi_collapse;

/**
 * @param model   borrowed while the collapse lives. Factors may be of any kind: a factor with more
 * entries than `entries` stays, with all its variables.
 * @param entries most entries of an elimination, up to GBSI_COLLAPSE_MOST; below 2 nothing is
 * eliminated.
 * @param watch   borrowed or NULL.
 * @return GBS_ERR_IMPOSSIBLE where sums show that no state has positive weight; GBS_ERR_MEMORY;
 *         GBS_ERR_LIMIT where a budget refused memory; GBS_ERR_STOPPED by the watch.
 */
gbs_status gbsi_collapse_new(const gbsi_conditioned *model, uint32_t entries, gbsi_watch *watch,
                             gbsi_collapse **out, gbs_error *err);
void gbsi_collapse_free(gbsi_collapse *collapse);

/* States of the core in sixteen lanes, and the eliminated variables that are drawn and counted with
 * them. */
typedef struct gbsi_recovery {
    gbsi_simd level;
    uint64_t seed, pass;
    uint32_t chain;       /* chain number of lane 0: random numbers are keyed by chain + lane, pass
                             and variable */
    const double *weight; /* [GBSI_COLLAPSE_LANES] weight of the state in each lane; 0: it does not
                             count */
    uint32_t *x;          /* [model->n_variables][GBSI_COLLAPSE_LANES] in: states of the core at the
                             model's variables; out: the drawn ones are added */
    double *p;      /* [model->state_offset[n_variables]][GBSI_COLLAPSE_LANES] or NULL: adds weight
                       times p(v | n) for eliminated variables, and does not change the entries of
                       other variables */
    uint32_t *word; /* [gbsi_recovery_words()] scratch */
} gbsi_recovery;

size_t gbsi_recovery_words(const gbsi_collapse *collapse);

/* Draws the eliminated variables, backward through the buckets: v ~ p(v | n), once its neighbours
 * are known. */
void gbsi_collapse_recover(const gbsi_collapse *collapse, const gbsi_recovery *recovery);

#endif
