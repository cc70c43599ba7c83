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

/* The pseudo-likelihood or likelihood of rows, such as held-out rows, at any tied weights. */
typedef struct gbsi_judge {
    gbsi_learnt learnt;
    gbsi_pseudo pseudo;          /* pseudo-likelihood of the rows; always set up */
    gbsi_likelihood *likelihood; /* likelihood; NULL if `pseudo` is judged */
} gbsi_judge;

/* Checks that the data belong to a model with these variables, and have rows. */
gbs_status gbsi_judge_check(const gbs_model *model, const gbs_data *data, gbs_error *err);

/* Borrows all arguments. Zero-initialise the struct, call gbsi_judge_free() even after a failure,
 * and do not move the struct. @param exact true for the likelihood, false for the
 * pseudo-likelihood. @param memory_limit limit on the bytes of the likelihood's junction tree.
 * @param pool pool for the pseudo-likelihood; NULL: only the calling thread works. @param watch
 * NULL: the call cannot be stopped. @return an error that gbs_learn_weights() also returns. */
gbs_status gbsi_judge_init(gbsi_judge *judge, const gbs_model *model, const gbs_data *data,
                           bool exact, uint64_t memory_limit, gbsi_pool *pool, gbsi_watch *watch,
                           gbs_error *err);
void gbsi_judge_free(gbsi_judge *judge);

/* @param w [learnt.n]. @param sum out: sum over rows of weight times ln PL or ln P. */
gbs_status gbsi_judge_at(gbsi_judge *judge, const double *w, double *sum, gbs_error *err);

/* ---- learning.c ----------------------------------------------------------------------------- */

typedef struct gbsi_learning {
    const gbs_model *model;
    const gbs_data *data;
    gbsi_learnt learnt;
    gbsi_pseudo pseudo; /* pseudo-likelihood, which is the objective if `likelihood` is NULL */
    gbsi_likelihood *likelihood; /* likelihood, which is the objective unless NULL */
    /* products of second derivatives with vectors, if `information` is NULL */
    gbsi_products products;
    gbsi_judge held_out; /* judge of options.held_out */
    gbs_learn_options options;
    gbsi_work work;
    size_t n;
    double *w, *tried;   /* [n] current weights, and weights after a step that is tried */
    double *gradient;    /* [n] gradient of the objective at w */
    double *information; /* [n][n] minus the second derivatives at w, lower triangle; or NULL */
    double *root;        /* [n][n] Cholesky factor of `information`, or NULL */
    double *step;        /* [n] step of Newton's method */
    double *variance;    /* [n] variances of the weights */
    double *room;        /* [members][n] scratch */
    double sum; /* sum over rows of weight times ln PL or ln P at w: the objective without the
                   penalty */
    gbs_learn_report report;
} gbsi_learning;

/* weights_errors.c: factorises root root^T = information + more * unit matrix.
 * @return whether the matrix is positive definite. */
bool gbsi_learning_factorise(gbsi_learning *learning, double more);
/* Computes the variances at the maximum if report.has_errors says that they can be known. Probes
 * are used only if `wanted` is true. */
gbs_status gbsi_learning_errors(gbsi_learning *learning, bool wanted, gbs_error *err);

/* Checks the options of gbs_learn_weights(), and replaces options that are 0 by defaults. @param
 * given NULL: the defaults. @param taken out. */
gbs_status gbsi_learn_options_settle(const gbs_learn_options *given, gbs_learn_options *o,
                                     gbs_error *err);

/* ---- blocks.c ------------------------------------------------------------------------------- */

/* Sums over many items on many threads. The items form fixed blocks, whose sums are added in the
 * order of the blocks; the number of threads therefore changes no bit. */
typedef struct gbsi_blocks {
    size_t n;        /* number of items */
    size_t of_block; /* number of items in a block; the last block may have fewer */
    size_t n_sums;
    void *context;
    /* Adds items first to end - 1 to the sums of a block. Members of the pool call this function at
     * the same time. */
    void (*add)(void *context, uint32_t member, size_t first, size_t end, double *sum);
} gbsi_blocks;

/* @param pool NULL: only the calling thread works. @param sum out: [n_sums] sums, followed by
 * scratch memory of the members; the caller frees the array. */
gbs_status gbsi_blocks_sum(const gbsi_blocks *blocks, gbsi_pool *pool, double **sum,
                           gbs_error *err);

#endif
