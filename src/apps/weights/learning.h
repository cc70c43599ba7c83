/* SPDX-License-Identifier: Apache-2.0 */
/* The data and functions that the files of gbs_learn_weights() share. */
#ifndef GBSI_WEIGHTS_LEARNING_H
#define GBSI_WEIGHTS_LEARNING_H

#include "gibbsite/learn.h"
#include "parallel/pool.h"
#include "weights/likelihood.h"
#include "weights/products.h"
#include "weights/pseudo.h"

/* ---- judge.c -------------------------------------------------------------------------------- */

/* The pseudo-likelihood or likelihood of rows, such as held-out ones, at any tied weights. */
typedef struct gbsi_judge {
    gbsi_learnt learnt;
    gbsi_pseudo pseudo;          /* of one of these, as of the objective that is learnt */
    gbsi_likelihood *likelihood; /* NULL: the pseudo-likelihood */
} gbsi_judge;

/* Whether the data are of a model with these variables, and have rows. */
gbs_status gbsi_judge_check(const gbs_model *model, const gbs_data *data, gbs_error *err);

/* All is borrowed. Zero-initialise; free in any case; does not move.
 * @param exact true for the likelihood, false for the pseudo-likelihood. @param memory_limit limit
 * on the bytes of its junction tree.
 * @param pool pool for the pseudo-likelihood, NULL: this thread alone.
 * @param watch NULL: nobody waits. @return errors are those of gbs_learn_weights(). */
gbs_status gbsi_judge_init(gbsi_judge *judge, const gbs_model *model, const gbs_data *data,
                           bool exact, uint64_t memory_limit, gbsi_pool *pool, gbsi_watch *watch,
                           gbs_error *err);
void gbsi_judge_free(gbsi_judge *judge);

/* @param w [learnt.n]. @param sum out: over rows, of weight times ln PL or ln P. */
gbs_status gbsi_judge_at(gbsi_judge *judge, const double *w, double *sum, gbs_error *err);

/* ---- learning.c ----------------------------------------------------------------------------- */

typedef struct gbsi_learning {
    const gbs_model *model;
    const gbs_data *data;
    gbsi_learnt learnt;
    gbsi_pseudo pseudo;          /* the objective uses one of the two members below */
    gbsi_likelihood *likelihood; /* NULL: the pseudo-likelihood */
    gbsi_products products;      /* products of second derivatives with vectors, in place of ... */
    gbsi_judge held_out;         /* of options.held_out */
    gbs_learn_options options;
    gbsi_work work;
    size_t n;
    double *w, *tried;   /* [n] now, and a step further */
    double *gradient;    /* [n] of the objective, at w */
    double *information; /* [n][n] minus second derivatives, at w; the lower triangle, or NULL */
    double *root;        /* [n][n] its Cholesky factor, or NULL */
    double *step;        /* [n] */
    double *variance;    /* [n] of the weights */
    double *room;        /* [members][n] scratch */
    double sum;          /* over rows, at w: the objective without the penalty */
    gbs_learn_report report;
} gbsi_learning;

/* weights_errors.c: factorises root root^T = information + more * unit matrix.
 * @return whether the matrix is positive definite. */
bool gbsi_learning_factorise(gbsi_learning *learning, double more);
/* Computes the variances at the maximum, if report.has_errors says that they are known; by probes
 * only if they are wanted. */
gbs_status gbsi_learning_errors(gbsi_learning *learning, bool wanted, gbs_error *err);

/* Checks the options of gbs_learn_weights(), and puts defaults for those that are 0.
 * @param given NULL: the defaults.
 * @param taken out. */
gbs_status gbsi_learn_options_settle(const gbs_learn_options *given, gbs_learn_options *o,
                                     gbs_error *err);

/* ---- blocks.c ------------------------------------------------------------------------------- */

/* Sums over many things, on many threads: over fixed blocks of them, which are added in their
 * order, so that threads change no bit. */
typedef struct gbsi_blocks {
    size_t n;        /* things */
    size_t of_block; /* number of things in a block; the last block may have fewer */
    size_t n_sums;
    void *context;
    /* Adds things first to end - 1 to a block's sums. Members of the pool call this function at the
     * same time. */
    void (*add)(void *context, uint32_t member, size_t first, size_t end, double *sum);
} gbsi_blocks;

/* @param pool NULL: this thread alone. @param sum out, caller frees: [n_sums], and behind it room
 * of the members. */
gbs_status gbsi_blocks_sum(const gbsi_blocks *blocks, gbsi_pool *pool, double **sum,
                           gbs_error *err);

#endif
