/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exact answers about a model given evidence: ln Z, the most probable state, that of some variables
 * with the others summed out, and marginals of pairs. Marginals of single variables and exact
 * samples come from a run (run.h) with GBS_METHOD_EXACT.
 *
 * Connected components (of what evidence and hard zeros leave free) are answered one by one, by a
 * junction tree each [M22]. Tables that would exceed the limit of memory are GBS_ERR_LIMIT, with
 * the figure, before they are taken. Long logical factors and products of spins are not expanded
 * [M23]; a factor of another kind needs a table of all states of its scope.
 *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_EXACT_H
#define GIBBSITE_EXACT_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What an exact answer may take; zero-initialised means the defaults. */
typedef struct gbs_exact_options {
    size_t size;           /**< sizeof(gbs_exact_options), or 0: only the fields of version 0.2 are
                                read */
    uint64_t memory_limit; /**< bytes, of the program and model too; 0: half of the machine's */
    uint64_t threads;      /**< results do not depend on it; 0: all cores */
} gbs_exact_options;

/**
 * ln of the partition function, restricted to the evidence: ln of the sum over all states that
 * agree with it of exp(sum of factors), likelihoods of virtual evidence multiplied in.
 *
 * @param evidence NULL for none. @param log_z out, natural logarithm.
 * @return GBS_ERR_IMPOSSIBLE if no state has positive weight (ln Z would be minus infinity);
 *         GBS_ERR_LIMIT, with the figure, if a component is too large; GBS_ERR_MEMORY.
 */
GBS_API gbs_status gbs_exact_log_z(const gbs_model *model, const gbs_evidence *evidence,
                                   double *log_z, gbs_error *err);
/** The same within given limits. @param options NULL for the defaults. */
GBS_API gbs_status gbs_exact_log_z_within(const gbs_model *model, const gbs_evidence *evidence,
                                          const gbs_exact_options *options, double *log_z,
                                          gbs_error *err);

/**
 * The most probable state of all variables; among equals always the same one.
 *
 * @param incumbent   NULL, or [n_variables] a state of positive probability: components that are
 *                    too large then keep it instead of being GBS_ERR_LIMIT.
 * @param state       [n_variables], out, observed ones included; may be incumbent itself.
 * @param log_density out or NULL: ln of its unnormalised probability, as in gbs_run_callbacks.draw.
 * @param n_kept      out or NULL: variables whose state was taken from incumbent.
 * @return as gbs_exact_log_z(); GBS_ERR_ARGUMENT if incumbent has probability zero. Outputs are
 *         untouched on failure.
 */
GBS_API gbs_status gbs_exact_map(const gbs_model *model, const gbs_evidence *evidence,
                                 const uint32_t *incumbent, uint32_t *state, double *log_density,
                                 uint32_t *n_kept, gbs_error *err);
GBS_API gbs_status gbs_exact_map_within(const gbs_model *model, const gbs_evidence *evidence,
                                        const gbs_exact_options *options, const uint32_t *incumbent,
                                        uint32_t *state, double *log_density, uint32_t *n_kept,
                                        gbs_error *err);

/**
 * The most probable state of some variables, all others summed out (marginal MAP).
 *
 * @param query  [n] distinct variables; observed ones keep their state.
 * @param state  [n], out, in the order of the query.
 * @param log_p  out or NULL: ln of the sum over the other variables, unnormalised.
 * @return as gbs_exact_log_z(); GBS_ERR_ARGUMENT if query is out of range or repeats.
 */
GBS_API gbs_status gbs_exact_mmap(const gbs_model *model, const gbs_evidence *evidence, uint32_t n,
                                  const uint32_t *query, uint32_t *state, double *log_p,
                                  gbs_error *err);
GBS_API gbs_status gbs_exact_mmap_within(const gbs_model *model, const gbs_evidence *evidence,
                                         const gbs_exact_options *options, uint32_t n,
                                         const uint32_t *query, uint32_t *state, double *log_p,
                                         gbs_error *err);

/**
 * Joint marginals of pairs of variables.
 *
 * Pairs that share a clique of one tree are answered together; each other pair of one component
 * costs a tree of its own, in which they do.
 *
 * @param options NULL for the defaults.
 * @param pair [2 n] variables u0, v0, u1, v1, ...; those of a pair differ.
 * @param p    out, pair by pair: [arity of u][arity of v] of the user's states.
 * @return as gbs_exact_log_z(); GBS_ERR_ARGUMENT for a pair out of range or of equal variables. p
 * is untouched on failure.
 */
GBS_API gbs_status gbs_exact_pairs(const gbs_model *model, const gbs_evidence *evidence,
                                   const gbs_exact_options *options, size_t n, const uint32_t *pair,
                                   double *p, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
