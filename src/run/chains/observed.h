/* SPDX-License-Identifier: Apache-2.0 */
/* The observables of spin and Potts models (observe/observables.h) of the chains of a run. */
#ifndef GBSI_CHAINS_OBSERVED_H
#define GBSI_CHAINS_OBSERVED_H

#include <stdbool.h>

#include "gibbsite/run.h"
#include "observe/observables.h"

struct gbsi_engine;
struct gbsi_problem;
struct gbsi_task;

typedef struct gbsi_observed {
    gbsi_observables *sums; /* NULL: no observables are kept */
    uint32_t n_states, n_chains;
    bool labels_differ; /* whether states of the part differ from states of the user, because
                           evidence has removed states */
    uint32_t *count;    /* [lanes][n_states] number of variables in each state, of one group */
    double *density;    /* [groups * lanes] log densities */
    gbs_observed *last; /* [n_chains] quantities of the states after the last pass */
} gbsi_observed;

/* Refuses models and options without observables. @return GBS_ERR_UNSUPPORTED, with a message that
 * names what was found. */
gbs_status gbsi_observed_check(const gbs_model *model, const gbs_run_options *options,
                               gbs_error *err);
/* Upper bound of the bytes that gbsi_observed_take() takes. */
uint64_t gbsi_observed_bytes(const struct gbsi_task *task);
/* Takes the memory of the observables of all chains. */
gbs_status gbsi_observed_take(const struct gbsi_task *task, const struct gbsi_engine *engine,
                              gbsi_observed *observed, gbs_error *err);
void gbsi_observed_free(gbsi_observed *observed); /* frees the members, not the struct itself */

/* Adds a pass that is kept, and tells callbacks->observed. Does nothing if no observables are kept.
 * @param sweep number of the pass among those that are kept, from 0.
 * @return the status of the callback. */
gbs_status gbsi_observed_pass(gbsi_observed *observed, const struct gbsi_problem *problem,
                              const struct gbsi_engine *engine, const gbs_run_callbacks *callbacks,
                              uint64_t sweep, gbs_error *err);

#endif
