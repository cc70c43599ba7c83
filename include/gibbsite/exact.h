/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exact inference given evidence: ln Z, the most probable state (MAP), the most probable state of
 * some variables with the others summed out (marginal MAP), and joint marginals of pairs. Marginals
 * of single variables and exact samples come from a run (run.h) with GBS_METHOD_EXACT.
 *
 * Evidence and hard zeros are removed first; then every connected component has its own junction
 * tree [M22]. If the tables of a junction tree would exceed the memory limit, the call returns
 * GBS_ERR_LIMIT, with the bytes needed, before it allocates the tables. Logical factors and
 * products of spins of any length are handled without a full table [M23]; any other factor needs a
 * table of all states of its scope.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_EXACT_H
#define GIBBSITE_EXACT_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Limits of exact inference; a struct that is set to zero means the defaults. */
typedef struct gbs_exact_options {
    size_t size;           /**< sizeof(gbs_exact_options); 0: the fields of its first version */
    uint64_t memory_limit; /**< memory limit in bytes, program and model included; 0: half of the
                              machine's memory */
    uint64_t threads;      /**< number of threads, without effect on results; 0: all cores */
    double most_s; /**< largest number of seconds that a component may take in one thread, as
                      predicted from the number of table entries; a component that takes longer
                      counts as too large; 0: no such limit */
} gbs_exact_options;

/**
 * Compute ln Z given evidence: the natural logarithm of the sum, over all states that agree with
 * the evidence, of exp(sum of factors) times the likelihoods of virtual evidence.
 *
 * @param evidence NULL for none. @param options NULL for the defaults.
 * @param log_z out, natural logarithm.
 * @return GBS_ERR_IMPOSSIBLE if no state has positive weight (ln Z would be minus infinity);
 *         GBS_ERR_LIMIT, with the bytes needed, if a component is too large; GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_exact_log_z(const gbs_model *model,
                                                const gbs_evidence *evidence,
                                                const gbs_exact_options *options, double *log_z,
                                                gbs_error *err);

/**
 * Find the most probable state of all variables. If several states are equally probable, every call
 * finds the same one.
 *
 * @param options     NULL for the defaults.
 * @param incumbent   NULL, or [n_variables] a state of positive probability. Components that are
 *         too large keep their states in incumbent; without incumbent, such a component gives
 *         GBS_ERR_LIMIT.
 * @param state       [n_variables], out, observed variables included; may be the same array as
 *                    incumbent.
 * @param log_density out or NULL: ln of the unnormalised probability of `state`.
 * @param n_kept out or NULL: number of variables that have the same state in `state` as in
 *         `incumbent`.
 * @return the values of gbs_exact_log_z(); GBS_ERR_ARGUMENT if incumbent has probability zero.
 *         Outputs are untouched on failure.
 */
GBS_API GBS_MUST_USE gbs_status gbs_exact_map(const gbs_model *model, const gbs_evidence *evidence,
                                              const gbs_exact_options *options,
                                              const uint32_t *incumbent, uint32_t *state,
                                              double *log_density, uint32_t *n_kept,
                                              gbs_error *err);

/**
 * Find the most probable state of some variables, with all others summed out (marginal MAP).
 *
 * @param options NULL for the defaults.
 * @param query  [n] distinct variable ids; observed variables keep their state.
 * @param state  [n], out, in the order of the query.
 * @param log_p out or NULL: ln of the unnormalised probability of `state`, summed over the other
 *         variables.
 * @return errors of gbs_exact_log_z(); GBS_ERR_ARGUMENT if an id is out of range or occurs twice.
 */
GBS_API GBS_MUST_USE gbs_status gbs_exact_mmap(const gbs_model *model, const gbs_evidence *evidence,
                                               const gbs_exact_options *options, uint32_t n,
                                               const uint32_t *query, uint32_t *state,
                                               double *log_p, gbs_error *err);

/** Largest number of joint states in gbs_exact_joint(). */
#define GBS_JOINT_MAX_STATES (UINT64_C(1) << 24)

/**
 * Compute the joint distribution of some variables.
 *
 * The call makes one junction tree of each component. All query variables of a component are in one
 * clique of its tree, which is eliminated last. Messages are sent towards this clique only.
 *
 * @param options NULL for the defaults.
 * @param query   [n] distinct variable ids; an observed variable keeps its state.
 * @param p       [product of the arities] out: probabilities of the joint states, of which the
 * state of the last variable varies fastest.
 * @return errors of gbs_exact_log_z(); GBS_ERR_ARGUMENT if an id is out of range or occurs twice;
 *         GBS_ERR_LIMIT for more than GBS_JOINT_MAX_STATES joint states. p is untouched on failure.
 */
GBS_API GBS_MUST_USE gbs_status gbs_exact_joint(const gbs_model *model,
                                                const gbs_evidence *evidence,
                                                const gbs_exact_options *options, uint32_t n,
                                                const uint32_t *query, double *p, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
