/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of variables during sampling, for gibbsite/traces.h. */
#ifndef GBSI_DRIVE_MONITOR_H
#define GBSI_DRIVE_MONITOR_H

#include "estimate/thinned.h"
#include "gibbsite/traces.h"

struct gbsi_engine;
struct gbsi_problem;
struct gbsi_report;

typedef struct gbsi_monitor {
    bool asked;
    uint32_t n;
    uint32_t *variable;  /* [n] monitored variables in the user's numbering */
    gbsi_thinned traces; /* traces of the monitored variables, if any of them is sampled */
    uint32_t *x, *user;  /* scratch: `x` has the states of two chains of the part, `user` a state of
                            the model */
    uint32_t *state;     /* [n] scratch */
} gbsi_monitor;

/* Allocates traces for the chains of a run that is about to begin or to resume. */
gbs_status gbsi_monitor_begin(const struct gbsi_problem *problem, gbsi_monitor *monitor,
                              const struct gbsi_report *report, gbs_error *err);
/* Adds a pass whose draws are kept to the traces. */
void gbsi_monitor_pass(const struct gbsi_problem *problem, struct gbsi_engine *engine,
                       gbsi_monitor *monitor, const struct gbsi_report *report);
/* Gathers the traces of the chains of all ranks, and gives them to all ranks. */
gbs_status gbsi_monitor_gather(const gbs_ranks *ranks, const gbs_ranks *spread,
                               const struct gbsi_engine *engine, const gbsi_monitor *monitor,
                               gbs_error *err);
void gbsi_monitor_free(gbsi_monitor *monitor); /* frees the members, not the struct itself */

#endif
