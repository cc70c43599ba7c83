/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fitting of the conditional tables of a Bayesian network to data: by maximum likelihood, or as
 * posterior means under Dirichlet priors. If values are missing, expectation maximisation (EM) is
 * used [M54].
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
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_FIT_H
#define GIBBSITE_FIT_H

#include "gibbsite/cases.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data -------------------------------------------------------------------------------- */

/** Rows of data: each row has the states of some variables. Equal rows are stored once, with their
 *  number. */
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
 * Add rows with weights. A row of weight w counts as w rows (w need not be whole) in counts,
 * likelihoods and the sample size of the BIC.
 *
 * @param state  [n][n_columns] states of the variables of the columns; GBS_UNOBSERVED: the value is
 * missing; copied.
 * @param weight [n] weights of the rows, 0 to GBS_MAX_ROW_WEIGHT. Rows of weight 0 are checked and
 *         left out. NULL: all weights are 1.
 * @return GBS_ERR_ARGUMENT for a state or weight out of range, with nothing added; GBS_ERR_LIMIT
 *         beyond half of the machine's memory; GBS_ERR_MEMORY: the rows before the first that did
 *         not fit into memory are added.
 */
GBS_API GBS_MUST_USE gbs_status gbs_data_add(gbs_data *data, size_t n, const uint32_t *state,
                                             const double *weight, gbs_error *err);
GBS_API uint64_t gbs_data_n_rows(const gbs_data *data);
GBS_API uint64_t
gbs_data_n_distinct(const gbs_data *data); /**< number of rows that differ from each other */
/** @return the number of missing values in the columns. */
GBS_API uint64_t gbs_data_n_missing(const gbs_data *data);

/* ---- fitting ----------------------------------------------------------------------------- */

/** A struct that is set to zero means the defaults. */
typedef struct gbs_fit_options {
    size_t size;   /**< sizeof(gbs_fit_options) */
    double weight; /**< weight of the prior, above 0: the equivalent sample size of BDEU or the
                      alpha of DIRICHLET */
    uint64_t iterations;   /**< largest number of iterations of EM; 0: 1000 */
    double tolerance;      /**< EM ends once no probability changes by more than tolerance in an
                                iteration; 0: 1e-6 */
    double time_s;         /**< EM ends after this many seconds; 0: no limit */
    uint64_t memory_limit; /**< memory limit in bytes, program and model included; 0: half of the
                              machine's memory */
    uint64_t threads;      /**< number of threads, without effect on results; 0: all cores */
    uint64_t prior;        /**< gbs_prior */
    uint64_t expectations; /**< gbs_expectations */
    uint64_t sweeps; /**< sampled expectations: largest number of sweeps in an iteration, for each
                        of the 16 chains of a row; 0: 4096 */
    uint64_t seed;   /**< seed of the random numbers; 0 is a valid seed */
    double target_error; /**< sampled expectations: goal for the standard error of every
                            probability; 0: 0.01 */
} gbs_fit_options;

/** The results of a fit. Logarithms are natural. */
typedef struct gbs_fit_report {
    size_t size;           /**< sizeof(gbs_fit_report) */
    uint64_t n_rows;       /**< number of rows of the data */
    uint64_t n_distinct;   /**< number of rows that differ from each other */
    uint64_t n_incomplete; /**< number of rows with a missing value */
    uint64_t n_missing;    /**< number of missing values: variables times rows, minus the number of
                              observed values */
    /** number of free parameters: number of states minus 1, summed over all columns of all
     *  tables */
    uint64_t n_parameters;
    uint64_t n_columns; /**< total number of columns of the tables; a column belongs to one joint
                           state of the parents */
    /** number of table columns whose count, or expected count, is 0. Without a prior such a column
     *  is copied from the network; with a prior it is the mean of the prior */
    uint64_t n_unseen;
    uint64_t iterations;    /**< number of iterations of EM; 0 if no value is missing */
    double change;          /**< largest change of a probability in the last iteration */
    double log_likelihood;  /**< ln P(data | tables); minus infinity: a row is impossible */
    double log_posterior;   /**< objective that EM raises: log_likelihood + sum of alpha ln(theta);
                               equal to log_likelihood without a prior */
    double bic;             /**< log_likelihood - n_parameters / 2 ln(weight), Schwarz (1978) */
    uint64_t held_out_rows; /**< number of held-out rows whose likelihood was computed; 0 if no such
                               rows were given, or if fitting was stopped before */
    uint64_t held_out_impossible;   /**< number of held-out rows of probability 0 */
    double held_out_log_likelihood; /**< log-likelihood of the possible held-out rows; 0 if there
                                       are none */
    double seconds;
    uint64_t converged; /**< 1 if EM converged or no value is missing, else 0. Sampled expectations:
                           EM has converged if the tables change by no more than their error, this
                           error meets target_error, and n_doubtful is 0 */
    double weight;      /**< sum of the weights of the rows; equal to n_rows if no weights were
                             given */
    double held_out_weight; /**< sum of the weights of the rows that held_out_log_likelihood
                                 includes */
    uint64_t exact; /**< 1: expectations are exact, or no expectations are needed; 0: expectations
                       are sampled, and the fields below are set */
    double error;   /**< largest Monte Carlo standard error of a probability of a table, as its
                       distance from where EM with exact expectations ends; 1: the draws of the last
                       iteration do not tell where EM ends. A column that no draw met is not
                       included, see n_unseen */
    double log_likelihood_error; /**< Monte Carlo standard error of log_likelihood. This field and
                                      log_likelihood are NAN if EM was stopped before log_likelihood
                                      was estimated */
    double held_out_error;       /**< standard error of held_out_log_likelihood */
    uint64_t sweeps;             /**< number of sweeps of each chain of a row in the last iteration
                                  */
    uint64_t n_doubtful; /**< number of rows whose chains disagreed in the last iteration (R-hat
                            above 1.1) */
    uint64_t
        n_unmet; /**< number of probabilities between 0 and 1 that no draw of the last iteration
                    met, although draws of an iteration met their columns. EM with exact
                    expectations might raise such a probability; error does not include it */
} gbs_fit_report;

typedef struct gbs_fitted gbs_fitted;

/**
 * Estimate the tables of a network.
 *
 * Sampled expectations (Wei & Tanner 1990) are means over the draws of runs (GBS_RUN_DRAWS), which
 * begin with 64 sweeps. After each iteration two steps of the tables are compared: the step from
 * one half of the chains and the step from the other half [M54]. If the two steps have no common
 * direction in two consecutive iterations, the progress of EM is smaller than the sampling error.
 * EM then ends if the error meets target_error. Otherwise it goes on with twice as many sweeps, up
 * to options.sweeps. Each run has its own random numbers. ln P of a row is then estimated as
 * gbs_log_z() does.
 *
 * @param network  a Bayesian network of tables; borrowed during the call. EM starts from the tables
 * of the network. With a prior it starts from mixtures of 99 % of these tables and 1 % of uniform
 * tables. Without a prior, zeros in the tables stay zeros. @param data at least one row, for this
 * network.
 * @param held_out NULL, or held-out rows for this network, whose log-likelihood is reported.
 * @param callbacks NULL; progress is called with pass = iterations done.
 * @return GBS_OK; GBS_STOPPED if EM was ended by time_s or the callback, with the tables of the
 * last iteration; GBS_ERR_IMPOSSIBLE, with the row's number, if EM meets a row of probability 0;
 * GBS_ERR_NOT_FOUND if chains find no state of positive probability for a row; GBS_ERR_LIMIT if,
 * with GBS_EXPECTATIONS_EXACT, rows with missing values need a junction tree [M22] that does not
 * fit memory; GBS_ERR_STOPPED if EM was ended before it had a result; GBS_ERR_ARGUMENT if the model
 * is no Bayesian network of tables; GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_fit(const gbs_model *network, const gbs_data *data,
                                        const gbs_data *held_out, const gbs_fit_options *options,
                                        const gbs_run_callbacks *callbacks, gbs_fitted **fitted,
                                        gbs_error *err);
GBS_API void gbs_fitted_free(gbs_fitted *fitted); /**< NULL is allowed */

/** @return the network with the new tables, with one table for each factor; valid until the fit is
 *         freed. */
GBS_API const gbs_model *gbs_fitted_model(const gbs_fitted *fitted);
/** @return the report, valid until the fit is freed. */
GBS_API const gbs_fit_report *gbs_fitted_report(const gbs_fitted *fitted);
/** @return the number of entries of the table of a variable. */
GBS_API size_t gbs_fitted_n_entries(const gbs_fitted *fitted, uint32_t variable);

/**
 * Get intervals of the entries of one table. With a prior, the interval is the central interval of
 * the entry's posterior marginal, a Beta distribution. Without a prior it is Wilson's interval
 * (1927) of a proportion. If values are missing, expected counts take the place of counts. The
 * intervals are then too narrow, because they do not include the uncertainty of the expected
 * counts.
 *
 * @param level coverage probability of the interval, such as 0.95; above 0 and below 1.
 * @param p,low,high,count [gbs_fitted_n_entries()] out or NULL: for each entry the probability, the
 *        ends of its interval, and the (expected) count of rows. Entries are in the order of the
 *        factor's table, in which the child's state varies fastest.
 */
GBS_API GBS_MUST_USE gbs_status gbs_fitted_table(const gbs_fitted *fitted, uint32_t variable,
                                                 double level, double *p, double *low, double *high,
                                                 double *count, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
