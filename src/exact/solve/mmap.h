/* SPDX-License-Identifier: Apache-2.0 */
/* An exact marginal MAP state, and an upper bound for searches used if no elimination order that
 * sums first fits in memory. */
#ifndef GBSI_SOLVE_MMAP_H
#define GBSI_SOLVE_MMAP_H

#include "solve/solve.h"

/* As gbs_exact_mmap(). @param watch NULL; else it may also fail with GBS_ERR_STOPPED once it
 * has stopped, or return an undefined state. */
gbs_status gbsi_exact_mmap(const gbs_model *model, const gbs_evidence *evidence,
                           const gbs_exact_options *options, uint32_t n, const uint32_t *query,
                           gbsi_watch *watch, uint32_t *state, double *log_p, gbs_error *err);

/* An upper bound of log_p over all states of the query: from the elimination order with the
 * smallest tables or, if these do not fit, from the largest entry of every factor.
 * @param query [n] as of gbsi_exact_mmap(). @param watch NULL; else the bound is undefined once it
 * has stopped. @return errors of gbsi_exact_mmap(), but not GBS_ERR_LIMIT for large tables. */
gbs_status gbsi_exact_mmap_bound(const gbs_model *model, const gbs_evidence *evidence,
                                 const gbs_exact_options *options, uint32_t n,
                                 const uint32_t *query, gbsi_watch *watch, double *log_bound,
                                 gbs_error *err);

#endif
