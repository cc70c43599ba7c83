/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Traces: the states of chosen variables, and the log density, in the course of a run, for
 * convergence diagnostics (gibbsite/diagnose.h) and for pictures.
 *
 *     gbs_run *run = NULL;
 *     gbs_run_new(model, evidence, NULL, &run, &err);
 *     gbs_run_monitor(run, &rain, 1, &err);
 *     gbs_run_execute(run, NULL, &err);
 *     static double value[GBS_MOST_TRACED * 16];      // of 16 chains, or fewer
 *     gbs_traces traces = {.size = sizeof traces};
 *     gbs_diagnostics d = {.size = sizeof d};
 *     gbs_run_traces(run, &traces, &err);
 *     gbs_run_trace_density(run, value, &err);
 *     gbs_diagnose(value, traces.n_chains, traces.n_draws, &d, &err);
 *
 * Memory does not grow with the length of a run: fewer than GBS_MOST_TRACED draws of each chain are
 * kept, evenly spaced. When a chain reaches this number, every other kept draw is dropped.
 * Diagnostics of traces equal the diagnostics of a run that keeps every stride-th sweep. Effective
 * sample sizes are therefore smaller than the effective sample sizes of all sweeps would be.
 * Estimates, their errors and the digest of a run are the same with traces and without.
 *
 * Threads and errors: as in run.h.
 */
#ifndef GIBBSITE_TRACES_H
#define GIBBSITE_TRACES_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_MOST_TRACED 1024

typedef struct gbs_traces {
    size_t size; /**< in: sizeof(gbs_traces), set by the caller */
    uint32_t n_chains;
    uint32_t n_draws; /**< number of kept draws of each chain; 0: nothing was sampled, or the run
                         was too short */
    uint64_t stride;  /**< number of sweeps from one kept draw to the next */
} gbs_traces;

/**
 * Keep traces of the log density and of variables. Runs of more than 65 536 updates a sweep, over
 * all chains, keep at most every sixteenth sweep, so that traces cost little time.
 *
 * @param variable [n] ids; copied. n may be 0.
 * @return GBS_ERR_STATE after gbs_run_execute(); GBS_ERR_UNSUPPORTED for a run that is tempered
 *         from the beginning. A run that goes on with ladders of temperatures has the traces of its
 *         plain chains.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_monitor(gbs_run *run, const uint32_t *variable, size_t n,
                                                gbs_error *err);

/** Get the shape of the traces. @return GBS_ERR_STATE if the run is not monitored or was not
 * executed.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_traces(const gbs_run *run, gbs_traces *traces,
                                               gbs_error *err);

/**
 * Get the trace of the log density: ln of the unnormalised probability of the chain's state under
 * the sampled distribution.
 *
 * @param value [n_chains][n_draws], chain after chain; NAN if the scan leaves out variables.
 * @return the values of gbs_run_traces().
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_trace_density(const gbs_run *run, double *value,
                                                      gbs_error *err);

/**
 * Get the trace of a variable.
 *
 * @param state [n_chains][n_draws], chain after chain.
 * @return the values of gbs_run_traces(); GBS_ERR_ARGUMENT if the variable is not monitored;
 *         GBS_ERR_UNSUPPORTED if the variable is not sampled because it is observed, answered
 *         exactly or left out.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_trace_state(const gbs_run *run, uint32_t variable,
                                                    uint32_t *state, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
