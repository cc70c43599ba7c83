/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The conditional tables of a Bayesian network from data: maximum likelihood, or posterior means
 * under Dirichlet priors; expectation maximisation (EM) where values are missing [M54].
 *
 *     gbs_data *data = NULL;
 *     gbs_fitted *fitted = NULL;
 *     const uint32_t column[2] = {0, 3};
 *     const uint32_t row[2] = {1, GBS_UNOBSERVED}; // the second value is missing
 *     gbs_data_new(model, 2, column, &data, &err);
 *     gbs_data_add(data, 1, row, NULL, &err);
 *     gbs_fit_options options = {.size = sizeof options, .prior = GBS_PRIOR_BDEU, .weight = 10};
 *     gbs_fit(model, data, NULL, &options, NULL, &fitted, &err);
 *     const gbs_fit_report *report = gbs_fitted_report(fitted);
 *
 * Results have the same bits on any number of threads.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults, NULL evidence means no evidence.
 */
#ifndef GIBBSITE_FIT_H
#define GIBBSITE_FIT_H

#include "gibbsite/cases.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data -------------------------------------------------------------------------------- */

/** Rows of states of some variables; equal rows are kept once and counted. */
typedef struct gbs_data gbs_data;

/**
 * Make an empty table.
 *
 * @param model  borrowed, outlives the data.
 * @param column [n_columns] distinct ids of the variables of the columns; copied. The other
 *               variables are missing in all rows.
 */
GBS_API GBS_MUST_USE gbs_status gbs_data_new(const gbs_model *model, uint32_t n_columns,
                                             const uint32_t *column, gbs_data **data,
                                             gbs_error *err);
GBS_API void gbs_data_free(gbs_data *data); /**< NULL is allowed */

/** Largest weight of a row. */
#define GBS_MAX_ROW_WEIGHT 1e15

/**
 * Add rows that each stand for a number of rows, whole or not: in counts, likelihoods and the
 * sample size of the BIC.
 *
 * @param state  [n][n_columns] states, GBS_UNOBSERVED if a value is missing; copied.
 * @param weight [n] 0 to GBS_MAX_ROW_WEIGHT; rows of weight 0 are checked and left out; NULL: 1
 * each.
 * @return GBS_ERR_ARGUMENT for a state or weight out of range, with nothing added; GBS_ERR_LIMIT
 *         beyond half of the machine's memory; GBS_ERR_MEMORY: the rows before the first that did
 *         not fit into memory are added.
 */
GBS_API GBS_MUST_USE gbs_status gbs_data_add(gbs_data *data, size_t n, const uint32_t *state,
                                             const double *weight, gbs_error *err);
GBS_API uint64_t gbs_data_n_rows(const gbs_data *data);
GBS_API uint64_t gbs_data_n_distinct(const gbs_data *data); /**< rows that differ from each other */
/** @return the number of missing values in the columns. */
GBS_API uint64_t gbs_data_n_missing(const gbs_data *data);

/* ---- fitting ----------------------------------------------------------------------------- */

/** Zero-initialised means the defaults. */
typedef struct gbs_fit_options {
    size_t size;   /**< sizeof(gbs_fit_options) */
    double weight; /**< of the prior: equivalent sample size of BDEU, alpha of DIRICHLET; > 0 */
    uint64_t iterations;   /**< of EM at most; 0: 1000 */
    double tolerance;      /**< EM ends once no probability changes by more; 0: 1e-6 */
    double time_s;         /**< EM ends after this many seconds; 0: no limit */
    uint64_t memory_limit; /**< bytes, program and model included; 0: half of the machine's memory
                            */
    uint64_t threads;      /**< number of threads, without effect on results; 0: all cores */
    uint64_t prior;        /**< gbs_prior */
    uint64_t expectations; /**< gbs_expectations */
    uint64_t sweeps;     /**< sampled: at most this many of each of 16 chains, given each row, in an
                            iteration; 0: 4096 */
    uint64_t seed;       /**< of random numbers; 0 is a seed, too */
    double target_error; /**< standard error of a probability that is small enough; 0: 0.01 */
} gbs_fit_options;

/** The results of a fit. Logarithms are natural. */
typedef struct gbs_fit_report {
    size_t size;            /**< sizeof(gbs_fit_report) */
    uint64_t n_rows;        /**< of the data */
    uint64_t n_distinct;    /**< number of rows that differ from each other */
    uint64_t n_incomplete;  /**< rows with a missing value */
    uint64_t n_missing;     /**< missing values: variables times rows, minus those observed */
    uint64_t n_parameters;  /**< free ones: (states - 1) for each column of each table */
    uint64_t n_columns;     /**< columns of all tables: states of parents */
    uint64_t n_unseen;      /**< table columns that no row reached, not even in expectation: without
                                 a prior they are copied from the network, with a prior they are its
                                 mean */
    uint64_t iterations;    /**< of EM; 0: no value is missing */
    double change;          /**< largest change of a probability in the last iteration */
    double log_likelihood;  /**< ln P(data | tables); minus infinity: a row is impossible */
    double log_posterior;   /**< log_likelihood + sum of alpha ln(theta), which EM raises; equal to
                                 log_likelihood without a prior */
    double bic;             /**< log_likelihood - n_parameters / 2 ln(weight), Schwarz (1978) */
    uint64_t held_out_rows; /**< 0: none were given, or it was stopped before */
    uint64_t held_out_impossible;   /**< held-out rows of probability 0 */
    double held_out_log_likelihood; /**< log-likelihood of the possible held-out rows; 0 if there
                                       are none */
    double seconds;
    uint64_t converged; /**< 1 or 0; 1 if no value is missing. Sampled: what the tables still move
                           by is lost in an error that meets target_error, and no row is doubtful */
    double weight;      /**< sum of the weights of the rows: n_rows where none was given */
    double held_out_weight; /**< sum of the weights of rows in held_out_log_likelihood */
    uint64_t exact; /**< 1: expectations are exact, or none are needed; 0: they are sampled, and: */
    double error;   /**< largest Monte Carlo standard error that the last iteration gave a
                         probability, in columns that are expected in a row or more */
    double log_likelihood_error; /**< Monte Carlo standard error; NAN with log_likelihood where EM
                                      was stopped before an estimate */
    double held_out_error;       /**< standard error of held_out_log_likelihood */
    uint64_t sweeps;             /**< sweeps of each chain, for each row, in the last iteration */
    uint64_t n_doubtful; /**< rows whose chains disagreed in the last iteration, R-hat above 1.1 */
} gbs_fit_report;

typedef struct gbs_fitted gbs_fitted;

/**
 * Estimate the tables of a network.
 *
 * Sampled expectations (Wei & Tanner 1990) are means over draws of runs, see
 * GBS_RUN_DRAWS, of 64 sweeps at first. After each iteration the step that half of the chains makes
 * is compared with that of the other half [M54]. If the two have no common direction twice in a
 * row, there is no progress beyond the error. Then EM ends if the error meets target_error, else
 * goes on with twice the sweeps, until these are options.sweeps. Each run has its own random
 * numbers. ln P of a row is then estimated as gbs_log_z() does.
 *
 * @param network  a Bayesian network of tables; borrowed during the call. EM starts from its own
 *                 tables, with a prior mixed with 1 % of uniform ones; zeros in them stay zeros
 *                 without a prior.
 * @param data     of this network; at least one row.
 * @param held_out NULL, or rows whose log-likelihood is reported; of this network.
 * @param callbacks NULL; progress is called with pass = iterations done.
 * @return GBS_OK; GBS_STOPPED if EM was ended by time_s or the callback, with the tables of the
 * last iteration; GBS_ERR_IMPOSSIBLE, with its number, if EM meets a row of probability 0, and
 *         GBS_ERR_NOT_FOUND if chains find no state of positive probability for one;
 *         GBS_ERR_LIMIT if rows with missing values need a junction tree [M22] that does not fit
 *         memory, with GBS_EXPECTATIONS_EXACT; GBS_ERR_STOPPED before there was a result;
 * GBS_ERR_ARGUMENT if the model is no Bayesian network of tables; GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_fit(const gbs_model *network, const gbs_data *data,
                                        const gbs_data *held_out, const gbs_fit_options *options,
                                        const gbs_run_callbacks *callbacks, gbs_fitted **fitted,
                                        gbs_error *err);
GBS_API void gbs_fitted_free(gbs_fitted *fitted); /**< NULL is allowed */

/** @return the network with the new tables, a table for each factor; valid until freed. */
GBS_API const gbs_model *gbs_fitted_model(const gbs_fitted *fitted);
/** @return the report, valid until the fit is freed. */
GBS_API const gbs_fit_report *gbs_fitted_report(const gbs_fitted *fitted);
/** @return the number of entries of the table of a variable. */
GBS_API size_t gbs_fitted_n_entries(const gbs_fitted *fitted, uint32_t variable);

/**
 * Intervals of the entries of one table. With a prior: the central interval of the posterior Beta
 * marginal of an entry. Without: Wilson's interval (1927) of a proportion. With missing values,
 * expected counts take the place of counts, and what is not known about them is left out: the
 * intervals are then too narrow.
 *
 * @param level of the interval, such as 0.95; above 0 and below 1.
 * @param p,low,high,count [gbs_fitted_n_entries()] out or NULL: probability, interval, (expected)
 *        count of rows; in the order of the factor's table, the child's states fastest.
 */
GBS_API GBS_MUST_USE gbs_status gbs_fitted_table(const gbs_fitted *fitted, uint32_t variable,
                                                 double level, double *p, double *low, double *high,
                                                 double *count, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
