/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum likelihood for the parameters of spin models: gradient ascent along the moments of the
 * data minus the moments of the model [M41]. A callback computes the moments of the model. */
#ifndef LAB_SPIN_FIT_H
#define LAB_SPIN_FIT_H

#include "base/status.h"
#include "gibbsite/model.h"

/* The model exp( sum of h_i s_i + sum over pairs of J_k s_i s_j ), s = -1, +1. Arrays of parameters
 * and moments have n + n_pairs entries: fields or means of s_i, then couplings or means of s_i s_j.
 */
typedef struct gbsi_spins {
    uint32_t n;
    uint32_t n_pairs;
    const uint32_t *pair; /* [2 n_pairs] the two variables of each pair; borrowed */
} gbsi_spins;

static inline size_t lab_spins_size(const gbsi_spins *spins)
{
    return (size_t)spins->n + spins->n_pairs;
}

gbs_status lab_spins_model(const gbsi_spins *spins, const double *theta, gbs_model **model,
                           gbs_error *err);
/* Adds the statistics of a state, times a weight, to sums. @param state [n] states, each 0 or 1. */
void lab_spins_add(const gbsi_spins *spins, const uint32_t *state, double weight, double *sum);
/* Moments by enumeration of all 2^n states. @return GBS_ERR_LIMIT if there are too many states. */
gbs_status lab_spins_moments(const gbsi_spins *spins, const gbs_model *model, double *moment,
                             gbs_error *err);

/* Computes the model's moments at a step, exactly or by an estimate. @param moment out. @return
 * GBS_STOPPED ends the ascent. */
typedef gbs_status lab_model_moments(void *context, uint32_t step, const gbs_model *model,
                                     double *moment, gbs_error *err);

/* Gradient ascent theta_{k+1} = theta_k + a_k (data - model), a_k = rate / (1 + k / half). */
typedef struct lab_ascent {
    const double *data; /* moments that the model must match */
    uint32_t steps;
    double rate, half;
    lab_model_moments *moments;
    void *context;
    /* [steps + 1][n + n_pairs] out: theta before the first step, and after each step */
    double *path;
} lab_ascent;

/* Fits a model from theta = 0. Entries of the path from the first failing step on are not changed.
 */
gbs_status lab_spins_fit(const gbsi_spins *spins, const lab_ascent *ascent, gbs_error *err);

#endif
