/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Observables of spin and Potts models: energy, magnetisation, specific heat, susceptibility,
 * Binder ratio, with standard errors and autocorrelation times.
 *
 *     gbs_run *run = NULL;
 *     gbs_run_setup setup = {.size = sizeof setup, .model = model, .observables = 1};
 *     gbs_observable seen = {.size = sizeof seen};
 *     gbs_run_new_with(&setup, &run, &err);
 *     gbs_run_execute(run, NULL, &err);
 *     for (uint32_t i = 0; i < gbs_run_n_observables(run); i++) {
 *         gbs_run_observable(run, i, &seen, &err);
 *         printf("%s %g +- %g %s\n", seen.name, seen.value, seen.mcse, seen.unit);
 *     }
 *
 * The variables of the model all have the same number q of states. N is the number of sampled
 * variables: observed variables act as fields and are not counted. The energy of a state for each
 * variable is e = -ln(weight of the state) / N. With f_a the share of the variables in state a, the
 * magnetisation is m = f_1 - f_0 for q = 2, which is the mean spin, and its square is m^2 = q / (q
 * - 1) times the sum over a of (f_a - 1 / q)^2 for any q. docs/math.md [M92] has the formula of
 * every observable. Temperatures do not appear: a coupling J of the model is J / (k_B T), energies
 * are in units of k_B T, and k_B = 1.
 *
 * Threads and errors: as in run.h.
 */
#ifndef GIBBSITE_OBSERVABLES_H
#define GIBBSITE_OBSERVABLES_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The quantities of the state of a chain after a sweep, for gbs_run_callbacks.observed. */
typedef struct gbs_observed {
    size_t size;   /**< size of the library's struct in bytes; fields beyond this size must not
                      be read */
    double energy; /**< e */
    double magnetisation; /**< m; NAN unless q = 2 */
    double square;        /**< m^2 of the state */
    double order;         /**< (q max f - 1) / (q - 1), which is |m| for q = 2 */
    /** means of m^2 and m^4 given the bonds, with scan cluster and without fields; else m^2 and m^4
     * of the state */
    double improved_square, improved_fourth;
} gbs_observed;

typedef struct gbs_observable {
    size_t size;         /**< in: sizeof(gbs_observable), set by the caller */
    const char *name;    /**< "energy", "specific_heat", ...; static */
    const char *unit;    /**< "k_B T per variable"; "" for a pure number; static */
    const char *formula; /**< "N (<e^2> - <e>^2)"; static */
    double value; /**< estimate from all kept sweeps of all chains; a function of means is corrected
                     for its bias by the jackknife */
    double mcse;  /**< standard error by the jackknife over batches of sweeps of all chains; NAN
                     after  too few sweeps */
    double tau;   /**< integrated autocorrelation time 1/2 + sum of autocorrelations, in sweeps; NAN
                     if   the sweeps of all chains together are fewer than 1000 tau */
    double tau_mcse; /**< standard error of tau */
} gbs_observable;

/** @return the number of observables of a run that was made with gbs_run_setup.observables; 0 for
 * other runs, before gbs_run_execute(), and if nothing was sampled. */
GBS_API uint32_t gbs_run_n_observables(const gbs_run *run);

/**
 * Read one observable of an executed run.
 *
 * @param i number of the observable, below gbs_run_n_observables().
 * @return GBS_ERR_ARGUMENT if there is no such observable.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_observable(const gbs_run *run, uint32_t i,
                                                   gbs_observable *observable, gbs_error *err);

/** @return the number of sweeps of the batches from which the errors of observables are computed.
 * An error is too small if this number is below about 20 tau. 0 after too few sweeps. */
GBS_API uint64_t gbs_run_observables_batch(const gbs_run *run);

#ifdef __cplusplus
}
#endif
#endif
