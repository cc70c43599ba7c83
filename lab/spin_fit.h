/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of spins by maximum likelihood: ascent along the data's moments minus the model's,
 * wherever these come from [M41]. */
#ifndef LAB_SPIN_FIT_H
#define LAB_SPIN_FIT_H

#include "base/status.h"
#include "gibbsite/model.h"

/* exp( sum of h_i s_i + sum over pairs of J_k s_i s_j ), s = -1, +1. Parameters and moments are
 * [n + n_pairs]: fields and means of s_i, then couplings and means of s_i s_j. */
typedef struct gbsi_spins {
    uint32_t n;
    uint32_t n_pairs;
    const uint32_t *pair; /* [2 n_pairs] borrowed */
} gbsi_spins;

static inline size_t lab_spins_size(const gbsi_spins *spins)
{
    return (size_t)spins->n + spins->n_pairs;
}

gbs_status lab_spins_model(const gbsi_spins *spins, const double *theta, gbs_model **model,
                           gbs_error *err);
/* A state's statistics times a weight, added to sums. @param state [n] 0 or 1. */
void lab_spins_add(const gbsi_spins *spins, const uint32_t *state, double weight, double *sum);
/* Moments by enumeration of all 2^n states. @return GBS_ERR_LIMIT where there are too many. */
gbs_status lab_spins_moments(const gbsi_spins *spins, const gbs_model *model, double *moment,
                             gbs_error *err);

/* The model's moments at a step, exact or estimated. @param moment out. @return GBS_STOPPED ends
 * the ascent. */
typedef gbs_status lab_model_moments(void *context, uint32_t step, const gbs_model *model,
                                     double *moment, gbs_error *err);

/* theta_{k+1} = theta_k + a_k (data - model), a_k = rate / (1 + k / half). */
typedef struct lab_ascent {
    const double *data; /* moments to be matched */
    uint32_t steps;
    double rate, half;
    lab_model_moments *moments;
    void *context;
    double *path; /* [steps + 1][n + n_pairs] out: theta before the first step and after each */
} lab_ascent;

/* Fits from theta = 0. The path is left unchanged from the first step that fails. */
gbs_status lab_spins_fit(const gbsi_spins *spins, const lab_ascent *ascent, gbs_error *err);

#endif
