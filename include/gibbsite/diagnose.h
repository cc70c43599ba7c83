/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Convergence diagnostics of draws of real numbers from several chains, made by any program:
 * rank-normalised split R-hat, effective sample sizes and Monte Carlo standard errors as defined by
 * Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16:667-718 [M58].
 *
 *     gbs_diagnostics d = {.size = sizeof d};
 *     gbs_diagnose(draws, 4, 1000, &d, &err); // four chains of 1000 draws, chain after chain
 *     printf("mean %g +- %g, R-hat %g\n", d.mean, d.mcse_mean, d.rhat);
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_DIAGNOSE_H
#define GIBBSITE_DIAGNOSE_H

#include "gibbsite/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Statistics and convergence diagnostics of the draws of one quantity. If all draws are equal,
 * convergence cannot be judged. If all draws are equal, or if a draw is not finite, all fields from
 * mcse_mean on are NAN. */
typedef struct gbs_diagnostics {
    size_t size; /**< in: sizeof(gbs_diagnostics), set by the caller */
    double mean;
    double sd;      /**< standard deviation, with the number of draws less 1 as divisor */
    double median;  /**< median; quantiles are interpolated between draws by type 7 of Hyndman & Fan
                       (1996) */
    double q5, q95; /**< 5 % and 95 % quantiles */
    double mcse_mean;   /**< standard error of the mean, sd / sqrt(ess_mean) */
    double mcse_sd;     /**< standard error of the standard deviation */
    double mcse_median; /**< standard error of the median */
    double rhat;        /**< the larger of rhat_bulk and rhat_folded; a value below 1.01 means that
                             chains agree */
    double rhat_bulk;   /**< R-hat of the normal scores of the ranks, each chain cut in halves */
    double rhat_folded; /**< R-hat of the distances of draws from the median; large if chains have
                             different scales */
    double ess_bulk;    /**< effective number of draws for the mean of the normal scores */
    double ess_tail; /**< the smaller of the effective numbers of draws for the quantiles 0.05 and
                        0.95; NAN if all or none of the draws are below one of these quantiles */
    double ess_mean; /**< effective number of draws for the mean */
    double ess_sd;   /**< effective number of draws for the standard deviation */
    int constant;    /**< 1: all draws are equal */
    int reserved;    /**< 0 */
} gbs_diagnostics;

/**
 * Diagnose the draws of one quantity.
 *
 * @param draws    [n_chains][n_draws], chain after chain.
 * @param n_draws  number of draws of each chain; R-hat needs at least 4 and effective sample sizes
 *         at least 6, and they are NAN for fewer draws.
 * @param d        out.
 * @return GBS_OK; GBS_ERR_ARGUMENT if there is no draw; GBS_ERR_MEMORY (the call needs 80 bytes for
 *         each draw).
 */
GBS_API GBS_MUST_USE gbs_status gbs_diagnose(const double *draws, size_t n_chains, size_t n_draws,
                                             gbs_diagnostics *d, gbs_error *err);

/** Draws of one or more quantities from several chains, read from files. */
typedef struct gbs_draws gbs_draws;

/**
 * Read draws from tables: CSV of CmdStan, of `gibbsite sample`, of R's package posterior, or of
 * any other program.
 *
 * Lines that begin with '#' are comments. The first line that is not a comment names the columns. A
 * column named chain, .chain or chain__ contains the chain of each row. Without such a column, each
 * file is a chain. A column named iteration, iter or draw, perhaps with a '.' before or "__" after
 * the name, determines the order of the draws of a chain. All other columns are quantities, except
 * for names other than lp__ that end in "__". Cells that are not numbers are labels of states,
 * which are numbered from 0 in alphabetical order. A cell without a value (gibbsite-formats(5),
 * Tables of data) is NAN. Draws that CmdStan calls saved warm-up are left out.
 *
 * @param path    [n_paths] paths of files with the same columns; "-" is standard input. Files may
 *         be compressed.
 * @param options warn is called with a sentence on columns and lines that were skipped, and on
 * columns read as labels; stop and memory_limit mean the same as for models. NULL: no options.
 * @return GBS_ERR_FORMAT, with the line and column, for a mistake in a file, such as chains of
 *         different lengths or a draw that a chain has twice; GBS_ERR_IO; GBS_ERR_STOPPED;
 *         GBS_ERR_LIMIT; GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_draws_read(const char *const *path, size_t n_paths,
                                               const gbs_read_options *options, gbs_draws **draws,
                                               gbs_error *err);
GBS_API void gbs_draws_free(gbs_draws *draws); /**< NULL is allowed */
GBS_API size_t gbs_draws_n_quantities(const gbs_draws *draws);
GBS_API size_t gbs_draws_n_chains(const gbs_draws *draws);
GBS_API size_t gbs_draws_n_draws(const gbs_draws *draws); /**< number of draws of each chain */
/** @return the name of a quantity; NULL if there is no quantity id. Ids count from 0. */
GBS_API const char *gbs_draws_name(const gbs_draws *draws, size_t id);
/** @return [n_chains][n_draws] the values of a quantity; NULL if there is no quantity id. Ids count
 * from 0. */
GBS_API const double *gbs_draws_values(const gbs_draws *draws, size_t id);

#ifdef __cplusplus
}
#endif
#endif
