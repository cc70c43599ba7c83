/* SPDX-License-Identifier: Apache-2.0 */
/* Observables of spin and Potts models [M92]: the quantities of a state, their means over passes
 * and chains, and functions of these means with errors and autocorrelation times. No states are
 * kept.
 *
 * All N variables have the same number q of states. With f_a the share of variables in state a:
 *
 *     e   = - ln(weight of the state) / N
 *     m   = f_1 - f_0                               q = 2: the mean spin
 *     m^2 = q / (q - 1) sum over a (f_a - 1 / q)^2  the squared length of the mean of unit vectors
 * that point to the corners of a simplex (Wu (1982), The Potts model, Rev. Mod. Phys. 54:235); m m
 * if q = 2 order parameter = (q max f - 1) / (q - 1) */
#ifndef GBSI_OBSERVE_OBSERVABLES_H
#define GBSI_OBSERVE_OBSERVABLES_H

#include "base/saved.h"
#include "gibbsite/observables.h"

/* What a state of a chain is summed up to. */
typedef struct gbsi_seen {
    double log_density;
    const uint32_t *count; /* [n_states] number of variables in each state */
    /* Means of m^2 and m^4 given the bonds of a move of clusters [M92]; NAN without such a move. */
    double square, fourth;
} gbsi_seen;

typedef struct gbsi_observables gbsi_observables;

uint64_t gbsi_observables_bytes(uint32_t n_chains);
/* @param n_states q, at least 2. */
gbs_status gbsi_observables_new(uint32_t n_chains, uint32_t n_states, uint32_t n_variables,
                                gbsi_observables **out, gbs_error *err);
void gbsi_observables_free(gbsi_observables *o);

/* Adds the state of one chain after a pass that is kept, chain after chain.
 * @return the quantities of the state. */
gbs_observed gbsi_observables_put(gbsi_observables *o, uint32_t chain, const gbsi_seen *seen);
void gbsi_observables_end_pass(gbsi_observables *o);

/* Number of observables of this model. @param o NULL: none. */
uint32_t gbsi_observables_count(const gbsi_observables *o);
/* @param i below gbsi_observables_count(). */
gbs_observable gbsi_observables_tell(const gbsi_observables *o, uint32_t i);
/* Number of passes of the batches from which errors are computed; 0 if there are too few passes. */
uint64_t gbsi_observables_batch(const gbsi_observables *o);

/* Save and load between two passes, as gbsi_trace_save() and gbsi_trace_load() do. */
gbs_status gbsi_observables_save(const gbsi_observables *o, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_observables_load(gbsi_observables *o, const gbsi_source *source, gbs_error *err);

#endif
