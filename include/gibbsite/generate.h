/* SPDX-License-Identifier: Apache-2.0 */
/** Models from a seed: the same model on every machine. */
#ifndef GIBBSITE_GENERATE_H
#define GIBBSITE_GENERATE_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Spins on a grid or ring, J_ij uniform in coupling -+ spread, h_i uniform in field -+
 * random_field. */
typedef struct gbs_generate_ising_options {
    uint32_t side[3]; /**< rows, columns, layers; layers 1 for two dimensions */
    int torus;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_ising_options;
GBS_API gbs_status gbs_generate_ising(const gbs_generate_ising_options *options, gbs_model **model,
                                      gbs_error *err);

/** Like a noisy picture: K states in patches, Gaussian data term of width noise about the picture.
 */
typedef struct gbs_generate_potts_options {
    uint32_t rows, columns, states;
    int torus;
    double coupling;
    double noise; /**< standard deviation of the picture's noise in grey levels; 0: no data term */
    uint64_t seed;
} gbs_generate_potts_options;
GBS_API gbs_status gbs_generate_potts(const gbs_generate_potts_options *options, gbs_model **model,
                                      gbs_error *err);

/** Spins on a ring of n. */
typedef struct gbs_generate_ring_options {
    uint32_t variables;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_ring_options;
GBS_API gbs_status gbs_generate_ring(const gbs_generate_ring_options *options, gbs_model **model,
                                     gbs_error *err);

/** A random Bayesian network: up to `parents` parents among the 2 * parents + 2 variables before.
 */
typedef struct gbs_generate_bayes_options {
    uint32_t variables, parents;
    uint32_t min_states, max_states;
    uint64_t seed;
} gbs_generate_bayes_options;
GBS_API gbs_status gbs_generate_bayes(const gbs_generate_bayes_options *options, gbs_model **model,
                                      gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
