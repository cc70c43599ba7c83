/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of sampled maximum likelihood share: chains, what they say, and the matrix. */
#ifndef GBSI_LEARN_SAMPLED_CLIMBING_H
#define GBSI_LEARN_SAMPLED_CLIMBING_H

#include <stdatomic.h>

#include "learn/keep.h"
#include "learn/sampled.h"

typedef struct gbsi_climbing {
    gbsi_pseudo *pseudo;
    const gbsi_climb *how;
    const gbs_learn_options *options;
    size_t n, n_variables;
    double *w;        /* [n] the weights */
    double *average;  /* [n] of the weights after the steps of the last half */
    uint64_t n_steps; /* done */
    bool drawn;       /* the chains of the next one are */
    uint64_t pass;
    double n_rows;
    double *complete; /* [n] features of complete rows */
    size_t n_partial;
    size_t *partial;  /* [n_partial] rows with missing values */
    uint32_t *state;  /* [chains + n_partial][n_variables] */
    uint8_t *clamped; /* [members][n_variables] scratch */
    double *feature;  /* [chains + n_partial][n] at the last sweep */
    const double *at; /* [n] weights of the sweep */
    double *second;   /* [n][n] lower triangle: covariance of the chains at the last sweep */
    _Atomic size_t next;
    double *mean;       /* [n] of the chains, at the last sweep */
    double *rows;       /* [n] of the rows, at the last sweep */
    double *covariance; /* [n][n] lower triangle */
    double *root;       /* [n][n] */
    double *step;       /* [n] */
    gbsi_keep keep;
    uint32_t *kept; /* the chains, as state, when all were last drawn; NULL: of no use */
} gbsi_climbing;

static inline bool gbsi_climbing_stopped(const gbsi_climbing *c)
{
    return gbsi_watch_stopped(c->pseudo->watch);
}

/* row[0 .. k] += share * feature k * features 0 to k. */
static inline void gbsi_add_products(const double *feature, size_t k, double share, double *row)
{
    for (size_t j = 0; j <= k; ++j) {
        row[j] += share * feature[k] * feature[j];
    }
}

/* sampled.c: draws all chains once. */
void gbsi_climbing_draw(gbsi_climbing *c, const double *w);
/* The matrix times the gradient at these sums over rows and means of chains, in c->step.
 * @return the gradient's length. */
double gbsi_climbing_step(gbsi_climbing *c, const double *w, const double *rows,
                          const double *mean);
/* sampled_look.c: one step of Newton's method from w. */
gbs_status gbsi_climbing_finish(gbsi_climbing *c, double *w, gbsi_climbed *found, gbs_error *err);
/* sampled_keep.c: where a checkpoint has it, or as it is; and the first one. */
gbs_status gbsi_climbing_resume(gbsi_climbing *c, gbs_error *err);
/* Once all chains are drawn. */
void gbsi_climbing_keep(gbsi_climbing *c);

#endif
