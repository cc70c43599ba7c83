/* SPDX-License-Identifier: Apache-2.0 */
/* The families of a Bayesian network: a child and its parents, with a table of which each column is
 * a distribution over the child's states. Arrays over all entries hold the tables of all children
 * in the order of the children. The entries of a table are in the order of the factor's table. */
#ifndef GBSI_FIT_FAMILIES_H
#define GBSI_FIT_FAMILIES_H

#include "base/watch.h"
#include "learn/rows.h"
#include "parallel/pool.h"

typedef struct gbsi_families {
    const gbs_model *network;
    size_t *start; /* [n_variables + 1] the first entry of each child's table */
    double *own;   /* [entries] the network's tables; each column sums to one */
} gbsi_families;

/* @return GBS_ERR_ARGUMENT if the model is not a Bayesian network of tables. */
gbs_status gbsi_families_init(gbsi_families *families, const gbs_model *network, gbs_error *err);
void gbsi_families_free(gbsi_families *families); /* frees the members, not the struct itself */

/* @return the scope of a child's factor; the child is its last variable. @param n out: the length
 * of the scope. */
const uint32_t *gbsi_family_scope(const gbsi_families *families, uint32_t child, uint32_t *n);

static inline size_t gbsi_families_entries(const gbsi_families *families)
{
    return families->start[families->network->n_variables];
}

/* @return the weight of the Dirichlet prior of an entry of a child's table; 0 if there is no prior.
 */
double gbsi_family_prior(const gbsi_families *families, uint32_t child,
                         const gbs_fit_options *options);

/* Finds the column of each variable in the data; GBSI_NONE if the data lack the variable. */
void gbsi_families_columns(const gbsi_families *families, const gbs_data *data, uint32_t *column);

/* Adds, to each entry's count, the number of rows of the data that select the entry.
 * @param column [n_variables] result of gbsi_families_columns().
 * @param direct [n_variables] 1: no row misses a value of the child's family, and all rows are
 * counted; 0: rows with a missing value are left out.
 * @param complete [n_distinct] 1: no variable of the network is missing.
 * @param count  [entries] in and out. @param pool NULL: one thread. */
void gbsi_families_count(const gbsi_families *families, const gbs_data *data,
                         const uint32_t *column, const uint8_t *direct, const uint8_t *complete,
                         gbsi_pool *pool, gbsi_watch *watch, double *count);

/* Estimates theta = (count + alpha) / (sum of count + alpha over the column) [M54]. A column whose
 * sum is 0 keeps the probabilities of the network. @return the largest change of an entry. */
double gbsi_families_estimate(const gbsi_families *families, const gbs_fit_options *options,
                              const double *count, double *theta);

/* @return ln P of a row without missing values.
 * @param log_theta [entries].
 * @param row [n_columns]. */
double gbsi_families_log_p(const gbsi_families *families, const uint32_t *column,
                           const double *log_theta, const uint16_t *row);

/* Makes the network with these tables. */
gbs_status gbsi_families_model(const gbsi_families *families, const double *theta, gbs_model **out,
                               gbs_error *err);

/* The result of a fit. */

struct gbs_fitted {
    gbsi_families families; /* families of `model`; families.own is theta */
    gbs_model *model;
    gbs_fit_options options;
    gbs_fit_report report;
    double *count; /* [entries] number, or expected number, of rows that select each entry */
};

#endif
