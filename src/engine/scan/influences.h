/* SPDX-License-Identifier: Apache-2.0 */
/* The implementation of gibbsite/dobrushin.h. */
#ifndef GBSI_SCAN_INFLUENCES_H
#define GBSI_SCAN_INFLUENCES_H

#include "base/budget.h"
#include "dobrushin/variation.h"
#include "scan/scan.h"

struct gbs_influences {
    const gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    gbsi_influences *c;
    int (*stop)(void *context); /* the user's callback; may be NULL */
    void *stop_context;
    gbsi_budget budget; /* budget in force during all calls on this object */
    gbs_influence_report report;
};

/* Returns a watch for one call, which asks the user's callback whether to stop. */
gbsi_watch gbsi_influences_watch(const gbs_influences *influences);

/* Returns the number of bytes that the memory limit still allows. */
uint64_t gbsi_influences_room(const gbs_influences *influences);

/* Puts the budget of `influences` in force for a call. @return the argument for
 * gbsi_budget_leave(), which must be called at the end. The function changes nothing in
 * `influences` except the count of used memory. */
gbsi_budget *gbsi_influences_enter(const gbs_influences *influences);

/* Checks the user's weights and computes the weights of the free variables. @param weight the
 * user's weights; if NULL, all weights are 1 and *d becomes NULL. @param d out, [n], from
 * gbsi_alloc. */
gbs_status gbsi_weights_of(const gbs_influences *influences, const double *weight, double **d,
                           gbs_error *err);

/* The sequence of a scan that repeats the same sequence in every pass. For a random scan, only the
 * length of the pass is known. */
typedef struct gbsi_scan_pass {
    const gbsi_scan *scan;
    void *state;
    gbsi_sequence sequence; /* sequence of the pass; for a random scan `variable` is NULL */
    size_t n_uniform; /* number of entries of the sequence that are drawn uniformly (GBSI_NONE) */
} gbsi_scan_pass;

/* Makes one pass of the scan of `options`; its sequence may omit variables. @param options options
 * of the run; if NULL, the defaults. */
gbs_status gbsi_scan_pass_init(const gbs_influences *influences, const gbs_run_options *options,
                               gbsi_scan_pass *pass, gbs_error *err);
void gbsi_scan_pass_free(gbsi_scan_pass *pass);

#endif
