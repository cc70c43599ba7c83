/* SPDX-License-Identifier: Apache-2.0 */
/* Sums out the variables of a model for which this is cheap. Tempered sampling works on the
 * remaining model.
 *
 * A variable v is eliminated as long as it and its neighbours n have few states together. The
 * bucket B_v, which holds the factors that contain v, is replaced by one factor [M45] psi_new(n) =
 * sum_v prod_{f in B_v} psi_f(v, n). The cheapest variable is eliminated first. Sums are exact, so
 * that Z does not change. The marginals of an eliminated variable v are computed from the
 * conditional probabilities p(v | n). */
#ifndef GBSI_COLLAPSE_COLLAPSE_H
#define GBSI_COLLAPSE_COLLAPSE_H

#include "base/watch.h"
#include "condition/condition.h"
#include "simd/dispatch.h"

/* Default limit on the joint states of v and its neighbours. A limit of 2^9 made no difference in
 * measurements, and smaller limits are slower. */
#define GBSI_COLLAPSE_ENTRIES 128u
/* The largest limit that a caller may set. */
#define GBSI_COLLAPSE_MOST 1024u

enum { GBSI_COLLAPSE_LANES = 16 };

typedef struct gbsi_collapse {
    const gbsi_conditioned *model; /* borrowed */
    gbsi_conditioned
        *core; /* the remaining model. Factors that the core does not share with the model are
                  tables whose largest weight is 1; their scales are part of log_constant. A state
                  of a variable may have weight zero for all states of the other variables. */
    uint32_t *core_variable; /* [model->n_variables] number in the core; GBSI_NONE if eliminated */
    uint32_t n_eliminated;
    uint32_t *variable;  /* [n_eliminated] eliminated variables, in the order of elimination */
    size_t *scope_start; /* [n_eliminated + 1] start in `scope` */
    uint32_t *scope; /* the neighbours that each eliminated variable v had when it was eliminated */
    size_t *p_start; /* [n_eliminated + 1] start in `p` */
    double *p; /* p(v | n) of each eliminated variable v: a row of arity(v) numbers for each joint
                  state of its neighbours, the last neighbour fastest; the numbers of a row are
                  equal if its state has no weight */
} gbsi_collapse;

/**
 * @param model   borrowed until the collapse is freed. Factors may be of any kind: a factor with
 * more entries than `entries` stays, with all its variables.
 * @param entries limit on the entries of an elimination, at most GBSI_COLLAPSE_MOST. With a limit
 * below 2, no variable is eliminated.
 * @param watch   borrowed or NULL.
 * @return GBS_ERR_IMPOSSIBLE if sums show that no state has positive weight; GBS_ERR_MEMORY;
 *         GBS_ERR_LIMIT if a budget refused memory; GBS_ERR_STOPPED if the watch stopped. */
gbs_status gbsi_collapse_new(const gbsi_conditioned *model, uint32_t entries, gbsi_watch *watch,
                             gbsi_collapse **out, gbs_error *err);
void gbsi_collapse_free(gbsi_collapse *collapse);

/* States of the core in sixteen lanes, for which the eliminated variables are drawn and counted. */
typedef struct gbsi_recovery {
    gbsi_simd level;
    uint64_t seed, pass;
    uint32_t chain; /* chain number of lane 0; random numbers are functions of (chain + lane), pass
                       and variable */
    const double *weight; /* [GBSI_COLLAPSE_LANES] weight of the state in each lane; a state of
                             weight 0 is ignored */
    uint32_t *x; /* [model->n_variables][GBSI_COLLAPSE_LANES] in: states of the core's variables, at
                    the places of the model's variables; out: also the drawn states */
    double *p;   /* [model->state_offset[n_variables]][GBSI_COLLAPSE_LANES] NULL, or sums to which
                    weight times p(v | n) is added for each eliminated variable v; the entries of
                    other variables do not change */
    uint32_t *word; /* [gbsi_recovery_words()] scratch */
} gbsi_recovery;

size_t gbsi_recovery_words(const gbsi_collapse *collapse);

/* Draws the eliminated variables in reverse order of elimination: v ~ p(v | n), when the states of
 * its neighbours are known. */
void gbsi_collapse_recover(const gbsi_collapse *collapse, const gbsi_recovery *recovery);

#endif
