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
    int (*stop)(void *context); /* of the user, may be NULL */
    void *stop_context;
    gbsi_budget budget; /* budget in force during all calls on this object */
    gbs_influence_report report;
};

/* A watch for one call, which asks the user. */
gbsi_watch gbsi_influences_watch(const gbs_influences *influences);

/* The bytes that the memory limit leaves. */
uint64_t gbsi_influences_room(const gbs_influences *influences);

/* A call on influences, with their budget in force: what gbsi_budget_leave() wants. Counting what
 * a call holds is all that changes in them. */
gbsi_budget *gbsi_influences_enter(const gbs_influences *influences);

/* Computes the weights of free variables from the user's, after checking them. @param weight NULL:
 * *d = NULL, all 1.
 * @param d out, [n] of gbsi_alloc. */
gbs_status gbsi_weights_of(const gbs_influences *influences, const double *weight, double **d,
                           gbs_error *err);

/* A pass of a scan that every pass repeats, or of a random one no sequence but its length. */
typedef struct gbsi_scan_pass {
    const gbsi_scan *scan;
    void *state;
    gbsi_sequence sequence; /* the sequence; for a random scan `variable` is NULL */
} gbsi_scan_pass;

/* @param options NULL for the defaults. Sequences may omit variables. */
gbs_status gbsi_scan_pass_init(const gbs_influences *influences, const gbs_run_options *options,
                               gbsi_scan_pass *pass, gbs_error *err);
void gbsi_scan_pass_free(gbsi_scan_pass *pass);

#endif
