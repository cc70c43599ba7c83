/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum likelihood of tied weights where no tree holds: expectations are those of chains that go
 * on while the weights move [M67]. */
#ifndef GBSI_WEIGHTS_SAMPLED_H
#define GBSI_WEIGHTS_SAMPLED_H

#include "gibbsite/learn.h"
#include "weights/pseudo.h"

/* ---- sampled_scan.c ------------------------------------------------------------------------- */

/* Chooses the variables that a sweep of the chains draws while weights are learnt: all in their
 * order, random ones, or those of a scan that is optimised for the current weights [M39], [M67]. */
typedef struct gbsi_learning_scan {
    const gbsi_pseudo *pseudo;
    gbs_learn_scan kind;
    double accuracy;       /* optimised: bound on the total variation that its scans meet */
    uint64_t memory_limit; /* bytes */
    gbsi_sweep_order order;
    uint32_t *variable; /* ours: those of the order */
    double *at;         /* [n] optimised: the weights that the scan was made for */
    uint64_t n_made;
} gbsi_learning_scan;

/* The caller sets pseudo, kind, accuracy and memory_limit, and frees it in any case. */
gbs_status gbsi_learning_scan_init(gbsi_learning_scan *scan, gbs_error *err);
void gbsi_learning_scan_free(gbsi_learning_scan *scan);

/* Makes an optimised scan anew where weights moved. @param w [n].
 * @return GBS_ERR_UNSUPPORTED where Dobrushin's condition fails, or no scan meets the bound;
 *         GBS_ERR_STOPPED if the watch stopped it. The scan is not changed then. */
gbs_status gbsi_learning_scan_follow(gbsi_learning_scan *scan, const double *w, gbs_error *err);

/* ---- sampled.c ------------------------------------------------------------------------------ */

typedef struct gbsi_climb {
    const gbs_learn_options *options; /* settled */
    gbsi_learning_scan *scan;
    /* Told before each step. @param gradient the length of the sampled one. */
    gbs_status (*tell)(void *context, uint64_t step, const double *w, double objective,
                       double gradient, gbs_error *err);
    void *tell_context;
} gbsi_climb;

typedef struct gbsi_climbed {
    double *variance; /* [n] out: of the weights, by the information and by chance of the chains */
    bool has_errors;  /* the information is positive definite */
    double rhat;      /* largest of the features */
    double share;     /* largest move of the last step, in standard errors */
    double error;     /* largest share of chance in the standard error of a weight */
    double misfit;    /* many weights, instead of the two above: length of the gradient, in standard
                         errors of that of the rows */
    bool converged;
    uint64_t steps; /* done, those before a checkpoint included; out in any case, as what follows */
    uint64_t n_unwritten; /* checkpoints */
} gbsi_climbed;

/* @param pseudo the pseudo-likelihood of rows that may lack values. @param w [n] from there, and
 * out.
 * @return GBS_ERR_STOPPED by the watch; GBS_ERR_NOT_FOUND if no start was found for a row. */
gbs_status gbsi_climb_likelihood(gbsi_pseudo *pseudo, const gbsi_climb *how, double *w,
                                 gbsi_climbed *found, gbs_error *err);

#endif
