/* SPDX-License-Identifier: Apache-2.0 */
/* Sums out those variables of a model that can be summed out cheaply. Tempered sampling works on
 * the remaining model.
 *
 * Variables are eliminated one after another. A variable v can be eliminated if v and its
 * neighbours n together have few joint states. The bucket B_v, which holds the factors that contain
 * v, is replaced by one factor [M45] psi_new(n) = sum_v prod_{f in B_v} psi_f(v, n). The cheapest
 * variable is eliminated first. Sums are exact, so that Z does not change. The marginals of an
 * eliminated variable v are computed from the conditional probabilities p(v | n). */
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
    gbsi_conditioned *
        core; /* the remaining model. New factors of the core are tables whose largest weight is 1;
                 the logarithms of their scales are part of core->log_constant. Some state of a
                 variable of the core may have weight zero for all states of the other variables. */
    uint32_t *core_variable; /* [model->n_variables] number of each variable in the core; GBSI_NONE
                                if the variable is eliminated */
    uint32_t n_eliminated;
    uint32_t *variable;  /* [n_eliminated] eliminated variables, in the order of elimination */
    size_t *scope_start; /* [n_eliminated + 1] start of each eliminated variable's neighbours in
                            `scope` */
    uint32_t *scope; /* the neighbours that each eliminated variable v had when it was eliminated */
    size_t *p_start; /* [n_eliminated + 1] start in `p` */
    double *p; /* p(v | n) of each eliminated variable v: for each joint state of its neighbours n,
                  of which the last varies fastest, a row of arity(v) numbers. If a joint state of
                  the neighbours has weight 0, the numbers of its row are equal */
} gbsi_collapse;

/**
 * @param model   borrowed until the collapse is freed. The factors may be of any kind. A factor
 * with more entries than `entries` stays, and so do all its variables.
 * @param entries limit on the entries of an elimination (joint states of v and its neighbours), at
 * most GBSI_COLLAPSE_MOST. With a limit below 2, no variable is eliminated.
 * @param watch   borrowed or NULL.
 * @return GBS_ERR_IMPOSSIBLE if sums show that no state has positive weight; GBS_ERR_MEMORY;
 *         GBS_ERR_LIMIT if a budget refused memory; GBS_ERR_STOPPED if the watch stopped. */
gbs_status gbsi_collapse_new(const gbsi_conditioned *model, uint32_t entries, gbsi_watch *watch,
                             gbsi_collapse **out, gbs_error *err);
void gbsi_collapse_free(gbsi_collapse *collapse);

/* Arguments of gbsi_collapse_recover(), which draws the eliminated variables given states of the
 * core in sixteen lanes. */
typedef struct gbsi_recovery {
    gbsi_simd level;
    uint64_t seed, pass;
    uint32_t chain; /* chain number of lane 0; random numbers are functions of (chain + lane), pass
                       and variable */
    const double *weight; /* [GBSI_COLLAPSE_LANES] weight of the state of each lane in the sums p; a
                             state of weight 0 is ignored */
    uint32_t *x; /* [model->n_variables][GBSI_COLLAPSE_LANES] in: states of the variables that are
                    in the core; out: also the drawn states of the eliminated variables */
    double *p;   /* [model->state_offset[n_variables]][GBSI_COLLAPSE_LANES] NULL, or sums to which
                    weight times p(v | n) is added for each eliminated variable v; the entries of
                    other variables do not change */
    uint32_t *word; /* [gbsi_recovery_words()] scratch */
} gbsi_recovery;

size_t gbsi_recovery_words(const gbsi_collapse *collapse);

/* Draws the eliminated variables in reverse order of elimination. The states of a variable's
 * neighbours n are then known, and v is drawn from p(v | n). */
void gbsi_collapse_recover(const gbsi_collapse *collapse, const gbsi_recovery *recovery);

#endif
