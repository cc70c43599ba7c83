/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random models from a seed. Equal options give the same model on every machine.
 *
 * Fields: coupling, coupling_spread, field and random_field are in units of the log-weight.
 * Couplings J_ij are uniform in [coupling - coupling_spread, coupling + coupling_spread], fields
 * h_i in [field - random_field, field + random_field].
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_GENERATE_H
#define GIBBSITE_GENERATE_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Spins on a grid in which nearest neighbours are coupled. */
typedef struct gbs_generate_ising_options {
    size_t size;      /**< sizeof(gbs_generate_ising_options); 0: the fields of its first version */
    uint32_t side[3]; /**< rows, columns, layers; 1 layer for two dimensions */
    int torus;        /**< 1: opposite sides are joined */
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_ising_options;
GBS_API GBS_MUST_USE gbs_status gbs_generate_ising(const gbs_generate_ising_options *options,
                                                   gbs_model **model, gbs_error *err);

/** A Potts model of a noisy picture: patches of `states` grey levels with Gaussian noise.
 *  Neighbours with equal states add `coupling` to the log-weight. A data term compares the state of
 *  each variable with the noisy grey level of the variable's pixel. The variable of a pixel is
 *  (layer * rows + row) * columns + column. */
typedef struct gbs_generate_potts_options {
    size_t size; /**< sizeof(gbs_generate_potts_options); 0: the fields of its first version */
    uint32_t rows, columns, states;
    uint32_t layers; /**< 0 or 1 for two dimensions */
    int torus;
    double coupling;
    double noise; /**< standard deviation of the picture's noise in grey levels; 0: no data term */
    uint64_t seed;
} gbs_generate_potts_options;
GBS_API GBS_MUST_USE gbs_status gbs_generate_potts(const gbs_generate_potts_options *options,
                                                   gbs_model **model, gbs_error *err);

/** Spins on a ring. */
typedef struct gbs_generate_ring_options {
    size_t size; /**< sizeof(gbs_generate_ring_options); 0: the fields of its first version */
    uint32_t variables;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_ring_options;
GBS_API GBS_MUST_USE gbs_status gbs_generate_ring(const gbs_generate_ring_options *options,
                                                  gbs_model **model, gbs_error *err);

/** Spins that are all coupled to one another, by n (n - 1) / 2 couplings. The pairs (i, j) with i <
 * j are ordered by i and then by j.
 */
typedef struct gbs_generate_complete_options {
    size_t size; /**< sizeof(gbs_generate_complete_options); 0: the fields of its first version */
    uint32_t variables;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_complete_options;
GBS_API GBS_MUST_USE gbs_status gbs_generate_complete(const gbs_generate_complete_options *options,
                                                      gbs_model **model, gbs_error *err);

/** A restricted Boltzmann machine in spins -1, +1 (Smolensky 1986): every visible variable is
 * coupled to every hidden one, and no two variables within a layer are coupled. The visible
 * variables come first. A Boltzmann machine over 0, 1 with weights W has couplings W / 4. */
typedef struct gbs_generate_rbm_options {
    size_t size; /**< sizeof(gbs_generate_rbm_options); 0: the fields of its first version */
    uint32_t visible, hidden;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_rbm_options;
GBS_API GBS_MUST_USE gbs_status gbs_generate_rbm(const gbs_generate_rbm_options *options,
                                                 gbs_model **model, gbs_error *err);

/** Spins on a random simple graph in which every variable has `degree` neighbours, drawn almost
 * uniformly from such graphs. @return GBS_ERR_ARGUMENT unless degree < variables and their product
 * is even. The time is linear in the number of couplings. */
typedef struct gbs_generate_regular_options {
    size_t size; /**< sizeof(gbs_generate_regular_options); 0: the fields of its first version */
    uint32_t variables, degree;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_regular_options;
GBS_API GBS_MUST_USE gbs_status gbs_generate_regular(const gbs_generate_regular_options *options,
                                                     gbs_model **model, gbs_error *err);

/** Spins on a graph grown by preferential attachment (Barabasi & Albert 1999, Science 286:509-512):
 * the first edges + 1 variables are all joined to one another; then each new variable is joined to
 * `edges` different earlier variables. These are drawn with probabilities proportional to their
 * current degrees (a variable drawn twice is replaced by another draw). The share of variables with
 * degree k falls off as k^-3.
 * @return GBS_ERR_ARGUMENT unless 1 <= edges < variables. */
typedef struct gbs_generate_powerlaw_options {
    size_t size; /**< sizeof(gbs_generate_powerlaw_options); 0: the fields of its first version */
    uint32_t variables, edges;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbs_generate_powerlaw_options;
GBS_API GBS_MUST_USE gbs_status gbs_generate_powerlaw(const gbs_generate_powerlaw_options *options,
                                                      gbs_model **model, gbs_error *err);

/** A random Bayesian network. A variable has min_states to max_states states. It has at most
 *  `parents` parents, all among the 2 * parents + 2 variables before it. */
typedef struct gbs_generate_bayes_options {
    size_t size; /**< sizeof(gbs_generate_bayes_options); 0: the fields of its first version */
    uint32_t variables, parents;
    uint32_t min_states, max_states;
    uint64_t seed;
} gbs_generate_bayes_options;
GBS_API GBS_MUST_USE gbs_status gbs_generate_bayes(const gbs_generate_bayes_options *options,
                                                   gbs_model **model, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
