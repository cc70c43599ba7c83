/* SPDX-License-Identifier: Apache-2.0 */
/** Models from a seed: the same model on every machine. *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
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
 * Variable = (layer * rows + row) * columns + column. */
typedef struct gbs_generate_potts_options {
    uint32_t rows, columns, states;
    uint32_t layers; /**< 0 or 1 for two dimensions */
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

/** Spins all coupled to one another: n (n - 1) / 2 couplings, (i, j) with i < j in order. */
typedef struct gbs_generate_complete_options {
    uint32_t variables;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_complete_options;
GBS_API gbs_status gbs_generate_complete(const gbs_generate_complete_options *options,
                                         gbs_model **model, gbs_error *err);

/** Spins in two layers, every visible one coupled to every hidden one and none within a layer (a
 * restricted Boltzmann machine in spins -1, +1; Smolensky 1986). Variables: the visible ones, then
 * the hidden ones. A Boltzmann machine over 0, 1 with weights W has couplings W / 4. */
typedef struct gbs_generate_rbm_options {
    uint32_t visible, hidden;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_rbm_options;
GBS_API gbs_status gbs_generate_rbm(const gbs_generate_rbm_options *options, gbs_model **model,
                                    gbs_error *err);

/** Spins on a random simple graph in which every variable has `degree` neighbours, close to uniform
 * among those graphs. @return GBS_ERR_ARGUMENT unless degree < variables and their product is even.
 * Time linear in the couplings. */
typedef struct gbs_generate_regular_options {
    uint32_t variables, degree;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_regular_options;
GBS_API gbs_status gbs_generate_regular(const gbs_generate_regular_options *options,
                                        gbs_model **model, gbs_error *err);

/** Spins on a graph grown by preferential attachment (Barabasi & Albert 1999, Science 286:509-512):
 * the first edges + 1 variables are all joined to one another, then each new variable is joined to
 * `edges` different ones before it, each drawn with probability proportional to its degree at that
 * moment (one that was drawn already is drawn again). Degrees fall off as k^-3.
 * @return GBS_ERR_ARGUMENT unless 1 <= edges < variables. */
typedef struct gbs_generate_powerlaw_options {
    uint32_t variables, edges;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_powerlaw_options;
GBS_API gbs_status gbs_generate_powerlaw(const gbs_generate_powerlaw_options *options,
                                         gbs_model **model, gbs_error *err);

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
