/* SPDX-License-Identifier: Apache-2.0 */
/* The E step of EM [M54] for rows with missing values. Propagation in a junction tree, which is
 * planned once, gives the expected counts of entries and ln P of the rows. */
#ifndef GBSI_FIT_EXPECTATION_H
#define GBSI_FIT_EXPECTATION_H

#include "fit/families.h"

typedef struct gbsi_expectation gbsi_expectation;

/* @param asked [n_variables] 1: the child's table is counted; NULL: only ln P is computed. @param
 * complete [n_distinct] 1: the row has no missing value, and is left out. @param most_work largest
 * product of the number of entries of the tree and the number of rows. @param pool NULL: one
 * thread. All arguments except `asked` are borrowed. @return GBS_ERR_LIMIT if no junction tree is
 * within memory_limit and most_work. */
gbs_status gbsi_expectation_new(const gbsi_families *families, const gbs_data *data,
                                const uint8_t *asked, const uint8_t *complete,
                                uint64_t memory_limit, double most_work, gbsi_pool *pool,
                                gbsi_watch *watch, gbsi_expectation **out, gbs_error *err);
void gbsi_expectation_free(gbsi_expectation *expectation);

/* Adds expected counts and ln P of the rows, in the order of the rows for any number of threads.
 * @param theta [entries].
 * @param count [entries] in and out: the expected counts of the tables in `asked` are added. NULL
 * if `asked` was NULL.
 * @param log_p        in and out: ln P of all rows that are possible is added.
 * @param n_impossible,weight in and out: the number of impossible rows, and the sum of their
 * weights, are added. NULL: impossible rows are an error, GBS_ERR_IMPOSSIBLE.
 * @return GBS_STOPPED if the watch stopped the computation; the outputs are then undefined. */
gbs_status gbsi_expectation_add(gbsi_expectation *expectation, const double *theta, double *count,
                                double *log_p, uint64_t *n_impossible, double *weight,
                                gbs_error *err);

#endif
