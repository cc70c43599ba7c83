/* SPDX-License-Identifier: Apache-2.0 */
/** The error of herded draws on a small model, split into components for one focus variable
 * (Yamashita & Suzuki (2019), Convergence analysis of herded-Gibbs-type sampling algorithms:
 * effects of weight sharing, Statistics and Computing 29:1035-1053, section 4.3).
 *
 * X is the focus variable, Z are all other variables, and Y is the key of the herding weight that X
 * used. With P the frequencies right after updates of X, q(x|y) = sum over z of pi(x|z) P(z|y), and
 * pi(y|z) the law of the key, all components are L1 distances, from 0 to 2 [M30]:
 *
 *     cor      sum over y of P(y) sum over x, z of |P(x, z|y) - P(x|y) P(z|y)|
 *     herding  sum over y of P(y) sum over x of |P(x|y) - q(x|y)|
 *     approx   sum over z of P(z) sum over x of |sum over y of q(x|y) pi(y|z) - pi(x|z)|
 *     z        sum over z of |P(z) - pi(z)|
 *     bin      sum over z of P(z) sum over y of |P(y|z) - pi(y|z)|
 *     all      sum over x, z of |P(x, z) - pi(x, z)|
 *
 * With the rule `post`, the components cor and approx are large and cancel each other, so that
 * schemes must be compared by the component `all`. */
#ifndef LAB_DECOMPOSITION_H
#define LAB_DECOMPOSITION_H

#include "gibbsite/run.h"

/* Largest number of states of the free variables */
#define LAB_DECOMPOSE_MAX_STATES  (UINT64_C(1) << 16)
#define LAB_ASYMPTOTIC_MAX_STATES (UINT64_C(1) << 12)

typedef enum lab_component {
    LAB_COR,
    LAB_HERDING,
    LAB_APPROX,
    LAB_Z,
    LAB_BIN,
    LAB_ALL,
    LAB_N_COMPONENTS,
} lab_component;

/** @return "cor", "herding", "approx", "z", "bin" or "all"; NULL for larger numbers. */
const char *lab_component_name(lab_component component);

/** Components after 1, 2, 4, ... sweeps, chain by chain. */
typedef struct lab_decomposition {
    size_t n_checkpoints;
    uint32_t n_chains;
    size_t n_keys;    /**< number of keys that the focus variable can have */
    uint64_t *sweeps; /**< [n_checkpoints] 1, 2, 4, ... */
    double *value;    /**< [n_checkpoints][LAB_N_COMPONENTS][n_chains] */
    /** components of all sweeps of all chains, counted together */
    double pooled[LAB_N_COMPONENTS];
} lab_decomposition;

/** Runs chains and decomposes their errors.
 *
 * Variables are updated in order, the focus variable last, so that a sweep ends right after the
 * update of X; scan, origin and estimator must have their defaults. The draw's scheme determines
 * the key. The random draw has no weights, and its errors are decomposed by options->keys
 * (neighbours if options->keys is auto).
 *
 * @param evidence NULL for none.
 * @param options NULL for the defaults. If sweeps is 0, 2^16 sweeps are made; if burn_in is unset,
 *                there is no burn-in.
 * @param focus a free variable.
 * @param callbacks receive the progress of the run; NULL if there are no callbacks; callbacks->draw
 * must be NULL.
 * @param out must be freed with lab_decomposition_free(); unchanged on failure.
 * @return GBS_ERR_LIMIT, with the number of states in the message, if there are more than
 *         LAB_DECOMPOSE_MAX_STATES; GBS_ERR_ARGUMENT if the focus variable is fixed, or for options
 *         that do not apply; GBS_STOPPED, with `out` unchanged, if a callback stopped the run;
 *         other statuses of gbs_run_new() and gbs_run_execute(). */
gbs_status lab_decompose(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, uint32_t focus,
                         const gbs_run_callbacks *callbacks, lab_decomposition *out,
                         gbs_error *err);
void lab_decomposition_free(lab_decomposition *decomposition); /**< zeroes the struct */

/** Limit of cor, key by key: D = sum over y of p(y) 2 t(y)^2 distance(y). */
typedef struct lab_asymptotic {
    size_t n_keys;
    uint32_t n_neighbours;
    uint32_t *neighbour; /**< [n_neighbours] neighbours of the focus variable */
    /** [n_keys][n_neighbours] states of the neighbours, taken from the first joint state that
     * has the key */
    uint32_t *state;
    double *p; /**< [n_keys] probability of the key */
    double *t; /**< [n_keys] smaller conditional probability of the focus variable */
    /** [n_keys] L1 distance between two laws of the other variables at the next use of the weight:
     * after value 0, and after value 1 */
    double *distance;
    double *part; /**< [n_keys] p 2 t^2 distance */
    double total;
} lab_asymptotic;

/** Estimates the limit of cor for herding with these keys, without sampling. The distribution of
 * the other variables at the next use of a key comes from ordinary Gibbs sweeps started in the
 * stationary distribution (sections 5.1 and 5.2 of the paper), summed over sweeps to 1e-10 of the
 * total.
 *
 * @param options see lab_decompose(); only draw, keys, bins and bin_edge have an effect.
 * @param focus   a free variable of two states.
 * @param callbacks receive the number of keys done; NULL for none.
 * @return GBS_ERR_LIMIT if there are more than LAB_ASYMPTOTIC_MAX_STATES states, or if the sweeps
 * do not converge because the model hardly mixes; GBS_ERR_UNSUPPORTED for random keys; other
 *         statuses of lab_decompose(). */
gbs_status lab_decompose_asymptotic(const gbs_model *model, const gbs_evidence *evidence,
                                    const gbs_run_options *options, uint32_t focus,
                                    const gbs_run_callbacks *callbacks, lab_asymptotic *out,
                                    gbs_error *err);
void lab_asymptotic_free(lab_asymptotic *asymptotic); /**< zeroes the struct */

/* Largest number of states of the free variables */
#define LAB_BOUND_MAX_STATES (UINT64_C(1) << 10)

/** Constants of the convergence theorem of herded Gibbs sampling on fully connected models (Chen et
 * al. 2016, theorem 3) [M80]. After T >= t_star + tau(t_star) sweeps from the start, the total
 * variation between frequencies and target is at most (lambda + tau(T)) / T. */
typedef struct lab_bound {
    uint32_t n_variables; /**< N, the number of free variables */
    /** updates after which any state has been reached from any other state; N if the model has no
     * zeros */
    uint32_t steps;
    double eta;   /**< Dobrushin coefficient of the kernel of a sweep */
    double least; /**< p, the smallest conditional probability that is not 0 */
    /** in T sweeps each state is visited at least l T - b times; l = p^steps */
    double l, b;
    double lambda; /**< 2 N (1 + eta) / (l (1 - eta)) */
    double t_star; /**< 2 b / l */
} lab_bound;

/** Finds the constants for a model of binary variables.
 *
 * @param options see lab_decompose(); the draw must be herded, with a weight for each state of all
 *                other variables.
 * @param focus the last variable of a sweep.
 * @return GBS_ERR_LIMIT if there are more than LAB_BOUND_MAX_STATES states; GBS_ERR_UNSUPPORTED if
 *         the theorem does not apply; other statuses of lab_decompose(). */
gbs_status lab_bound_find(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options, uint32_t focus,
                          const gbs_run_callbacks *callbacks, lab_bound *out, gbs_error *err);
/** Burn-in tau(T): logarithm of (1 - eta) l T / (4 N) to base 2 / (1 + eta), at least 0. */
double lab_bound_burn_in(const lab_bound *bound, double sweeps);
/** Bound of the theorem after a number of sweeps; 1, which bounds nothing, before the theorem
 * applies. */
double lab_bound_at(const lab_bound *bound, double sweeps);

#endif
