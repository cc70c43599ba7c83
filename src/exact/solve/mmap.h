/* SPDX-License-Identifier: Apache-2.0 */
/* An exact marginal MAP state, and an upper bound. Searches use the bound if every elimination
 * order in which all sums come first takes too much memory. */
#ifndef GBSI_SOLVE_MMAP_H
#define GBSI_SOLVE_MMAP_H

#include "solve/solve.h"

/* Does the work of gbs_exact_mmap(). @param watch borrowed or NULL. After a stop the call fails
 * with GBS_ERR_STOPPED or returns an undefined state. */
gbs_status gbsi_exact_mmap(const gbs_model *model, const gbs_evidence *evidence,
                           const gbs_exact_options *options, uint32_t n, const uint32_t *query,
                           gbsi_watch *watch, uint32_t *state, double *log_p, gbs_error *err);

/* Computes an upper bound of log_p over all states of the query, by eliminating variables in the
 * order with the smallest tables. If these tables do not fit, the bound comes from the largest
 * entry of every factor.
 * @param query [n] as for gbsi_exact_mmap(). @param watch borrowed or NULL; after a stop the bound
 * is undefined. @return the errors of gbsi_exact_mmap(), but never GBS_ERR_LIMIT because of large
 * tables. */
gbs_status gbsi_exact_mmap_bound(const gbs_model *model, const gbs_evidence *evidence,
                                 const gbs_exact_options *options, uint32_t n,
                                 const uint32_t *query, gbsi_watch *watch, double *log_bound,
                                 gbs_error *err);

#endif
