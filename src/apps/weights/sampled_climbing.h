/* SPDX-License-Identifier: Apache-2.0 */
/* The data and functions that the files of sampled maximum likelihood share: chains, their
 * averages, and the matrix by which steps are divided. The matrix is the covariance of the features
 * or, if there are many, its diagonal. */
#ifndef GBSI_WEIGHTS_SAMPLED_CLIMBING_H
#define GBSI_WEIGHTS_SAMPLED_CLIMBING_H

#include <stdatomic.h>

#include "learn/keep.h"
#include "weights/sampled.h"

typedef struct gbsi_climbing {
    gbsi_pseudo *pseudo;
    const gbsi_climb *how;
    const gbs_learn_options *options;
    size_t n, n_variables;
    bool many;        /* whether there are many weights; the matrix is then diagonal */
    double *w;        /* [n] the current weights */
    double *average;  /* [n] mean of the weights after the steps of the last half of the round */
    uint32_t round;   /* counts down from GBSI_ROUNDS - 1 to 0. The last three rounds look at the
                         average after a quarter, a half and all of the steps */
    uint64_t n_steps; /* number of steps that are complete */
    bool drawn;       /* whether the chains of the next step are already drawn */
    uint64_t pass;
    double n_rows;
    double *complete; /* [n] sums of the weighted features of complete rows */
    size_t n_partial;
    size_t *partial;  /* [n_partial] rows with missing values */
    uint32_t *state;  /* [chains + n_partial][n_variables] states of the chains */
    uint8_t *clamped; /* [members][n_variables] scratch */
    double *feature;  /* [chains + n_partial][n] features at the last sweep; for many weights
                         [members][2][n] scratch */
    const double *at; /* [n] weights at which the current sweep draws */
    _Atomic size_t next;
    double *mean;       /* [n] mean features of the free chains at the last sweep */
    double *rows;       /* [n] sums of the weighted features over the rows at the last sweep */
    double *step;       /* [n] step of the weights */
    double *covariance; /* [n][n] lower triangle; NULL for many weights, like `second` and `root` */
    double *second; /* [n][n] lower triangle of the chains' covariance at the last sweep, or of the
                       information */
    double *root;   /* [n][n] Cholesky factor */
    double *variance; /* [n] variances of the features; only for many weights, like the members up
                         to `longest` */
    double *scale;    /* [n] P: N variance + l2 and a small constant */
    double *towards; /* [n] mean of P^-1/2 (N C + l2) d over the steps, where C is the covariance */
    double *along;   /* [n] d: P^-1/2 towards, scaled to d^T P d = 1 */
    double longest;  /* length of `towards`, which estimates the largest eigenvalue of P^-1/2 (N C +
                        l2) P^-1/2 */
    gbsi_keep keep;
    /* copy of `state` after all chains were last drawn; NULL: no checkpoint is wanted */
    uint32_t *kept;
    uint64_t kept_pass;
} gbsi_climbing;

static inline bool gbsi_climbing_stopped(const gbsi_climbing *c)
{
    return gbsi_watch_stopped(c->pseudo->watch);
}

/* Adds share * feature[k] * feature[j] to row[j], for j = 0 to k. */
static inline void gbsi_add_products(const double *feature, size_t k, double share, double *row)
{
    for (size_t j = 0; j <= k; ++j) {
        row[j] += share * feature[k] * feature[j];
    }
}

/* @return the weight of a step's covariance in the average: 1, 1/2, 1/3, ... and 1/50 at least. */
static inline double gbsi_climbing_fresh(const gbsi_climbing *c)
{
    return c->n_steps < 50 ? 1.0 / (double)(c->n_steps + 1) : 0.02;
}

/* sampled.c: draws a chain in a pass, and fills in its features. @param feature [n] out. */
void gbsi_climbing_draw_chain(const gbsi_climbing *c, uint32_t member, size_t chain, uint64_t pass,
                              double *feature);
/* Draws all chains once. */
void gbsi_climbing_draw(gbsi_climbing *c, const double *w);
/* Computes the gradient from sums of features over rows and means over chains, divides it by the
 * matrix, and stores the result in c->step. @return the gradient's length. */
double gbsi_climbing_step(gbsi_climbing *c, const double *w, const double *rows,
                          const double *mean);
/* sampled_diagonal.c, for many weights: allocates the diagonal and the scratch memory of members.
 */
gbs_status gbsi_diagonal_new(gbsi_climbing *c, gbs_error *err);
void gbsi_diagonal_free(gbsi_climbing *c);
/* Draws all chains once: computes c->mean, c->rows, and the divisors of steps. */
gbs_status gbsi_diagonal_sweep(gbsi_climbing *c, gbs_error *err);
/* Computes the scale of steps from c->variance and c->towards. */
void gbsi_diagonal_scale(gbsi_climbing *c);
/* Judges whether the chains agree with each other and with the rows at the weights w. */
gbs_status gbsi_diagonal_finish(gbsi_climbing *c, const double *w, gbsi_climbed *found,
                                gbs_error *err);
/* sampled_look.c: takes one step of Newton's method from w. */
gbs_status gbsi_climbing_finish(gbsi_climbing *c, double *w, gbsi_climbed *found, gbs_error *err);
/* sampled_keep.c: resumes from a checkpoint if there is one, and writes the first checkpoint. */
gbs_status gbsi_climbing_resume(gbsi_climbing *c, gbs_error *err);
/* Keep a copy of the state after all chains are drawn in a step, and after they were drawn at
 * weights held still. */
void gbsi_climbing_keep(gbsi_climbing *c);

#endif
