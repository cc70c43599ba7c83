/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum likelihood of tied weights where every junction tree is too large. Expectations are
 * estimated by Markov chains that continue while the weights move [M67]. */
#ifndef GBSI_WEIGHTS_SAMPLED_H
#define GBSI_WEIGHTS_SAMPLED_H

#include "gibbsite/learn.h"
#include "weights/pseudo.h"

/* ---- sampled_scan.c ------------------------------------------------------------------------- */

/* The variables that a sweep of the chains draws while weights are learnt: all variables in their
 * order, random variables, or the variables of a scan that is optimised for the current weights
 * [M39], [M67]. */
typedef struct gbsi_learning_scan {
    const gbsi_pseudo *pseudo;
    gbs_learn_scan kind;
    double accuracy; /* optimised scans: bound on the total variation that a scan must reach */
    uint64_t memory_limit; /* largest number of bytes for the optimisation of a scan */
    gbsi_sweep_order order;
    uint32_t *variable; /* owned array of the variables of `order` */
    double *at;         /* [n] weights for which the optimised scan was made */
    uint64_t n_made;
} gbsi_learning_scan;

/* The caller sets pseudo, kind, accuracy and memory_limit, and calls gbsi_learning_scan_free() even
 * after a failure. */
gbs_status gbsi_learning_scan_init(gbsi_learning_scan *scan, gbs_error *err);
void gbsi_learning_scan_free(gbsi_learning_scan *scan);

/* Optimises a new scan if weights have moved. @param w [n]. @return GBS_ERR_UNSUPPORTED if
 * Dobrushin's condition fails or no scan meets the bound; GBS_ERR_STOPPED if the watch stopped the
 * optimisation. After an error the scan is unchanged. */
gbs_status gbsi_learning_scan_follow(gbsi_learning_scan *scan, const double *w, gbs_error *err);

/* ---- sampled.c ------------------------------------------------------------------------------ */

typedef struct gbsi_climb {
    const gbs_learn_options *options; /* options after gbsi_learn_options_settle() */
    gbsi_learning_scan *scan;
    /* Called before each step. @param gradient length of the sampled gradient. */
    gbs_status (*tell)(void *context, uint64_t step, const double *w, double objective,
                       double gradient, gbs_error *err);
    void *tell_context;
} gbsi_climb;

typedef struct gbsi_climbed {
    double *variance; /* [n] out: variances of the weights, from the information and from the chance
                         of the chains */
    bool has_errors;  /* whether the information is positive definite */
    double rhat;      /* largest R-hat of a feature */
    double share;     /* largest change of a weight in the last step, in standard errors */
    double error;     /* largest error by chance of a weight, as a share of its standard error */
    double misfit; /* for many weights, in place of `share` and `error`: length of the gradient, in
                      standard errors of the gradient of the rows */
    bool converged;
    uint64_t steps; /* number of steps, including the steps before a checkpoint; set even after an
                       error, like n_unwritten */
    uint64_t n_unwritten; /* number of checkpoints that could not be written */
} gbsi_climbed;

/* @param pseudo the pseudo-likelihood of rows that may lack values. @param w [n] in: the first
 * weights; out: the maximum. @return GBS_ERR_STOPPED if the watch stopped the steps;
 * GBS_ERR_NOT_FOUND if no start of positive weight was found for a row. */
gbs_status gbsi_climb_likelihood(gbsi_pseudo *pseudo, const gbsi_climb *how, double *w,
                                 gbsi_climbed *found, gbs_error *err);

#endif
