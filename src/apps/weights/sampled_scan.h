/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the variables that a sweep of the chains draws while weights are learnt: all in their
 * order, any at random, or those of a scan that is optimised for the weights of the moment [M39],
 * [M67]. */
#ifndef GBSI_WEIGHTS_SAMPLED_SCAN_H
#define GBSI_WEIGHTS_SAMPLED_SCAN_H

#include "gibbsite/learn.h"
#include "weights/pseudo.h"

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

#endif
