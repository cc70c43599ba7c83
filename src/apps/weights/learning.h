/* SPDX-License-Identifier: Apache-2.0 */
/* The data and functions that the files of gbs_learn_weights() share. */
#ifndef GBSI_WEIGHTS_LEARNING_H
#define GBSI_WEIGHTS_LEARNING_H

#include "gibbsite/learn.h"
#include "weights/judge.h"
#include "weights/products.h"

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

#endif
