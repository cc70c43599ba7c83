/* SPDX-License-Identifier: Apache-2.0 */
/* Early stopping by held-out rows (Prechelt 1998, in: Neural Networks: Tricks of the Trade) [M63]:
 * keeps the weights of the epoch after which the held-out rows had the highest pseudo-likelihood.
 */
#include <math.h>
#include <string.h>

#include "rbm/rbm.h"

void gbsi_rbm_mark_best(gbsi_rbm *rbm)
{
    const gbsi_rbm *r = rbm;
    const uint64_t now = r->report->epochs;
    const uint64_t best = r->report->best_epoch;
    if (r->options.patience == 0 ||
        (best > 0 && !(r->curve[2 * now - 1] > r->curve[2 * best - 1]))) {
        return;
    }
    r->report->best_epoch = now;
    memcpy(r->best, r->w, r->n * r->wide_m * sizeof *r->w);
    memcpy(r->best + r->n * r->wide_m, r->a, r->n * sizeof *r->a);
    memcpy(r->best + r->n * r->wide_m + r->n, r->b, r->m * sizeof *r->b);
}

bool gbsi_rbm_is_done(const gbsi_rbm *rbm)
{
    const gbs_rbm_report *report = rbm->report;
    return report->epochs >= rbm->options.epochs >> rbm->round ||
           (report->best_epoch > 0 && report->epochs - report->best_epoch >= rbm->options.patience);
}

double gbsi_rbm_rise(const gbsi_rbm *rbm)
{
    const uint64_t now = rbm->report->epochs;
    const double *curve = rbm->curve;
    const double whole = now < 2 ? 0.0 : curve[2 * now - 2] - curve[0];
    return whole > 0.0 ? (curve[2 * now - 2] - curve[now / 2 * 2 - 2]) / whole : (double)NAN;
}

void gbsi_rbm_take_best(gbsi_rbm *rbm)
{
    const uint64_t best = rbm->report->best_epoch;
    if (best == 0) {
        return;
    }
    memcpy(rbm->w, rbm->best, rbm->n * rbm->wide_m * sizeof *rbm->w);
    memcpy(rbm->a, rbm->best + rbm->n * rbm->wide_m, rbm->n * sizeof *rbm->a);
    memcpy(rbm->b, rbm->best + rbm->n * rbm->wide_m + rbm->n, rbm->m * sizeof *rbm->b);
    gbsi_rbm_turn(rbm);
    rbm->report->mean_pl = rbm->curve[2 * best - 2];
    rbm->report->held_out_pl = rbm->curve[2 * best - 1];
}
