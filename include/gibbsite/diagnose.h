/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Convergence diagnostics of draws of real numbers from several chains, made by any program:
 * rank-normalised split R-hat, effective sample sizes and Monte Carlo standard errors as Vehtari,
 * Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16:667-718, define them [M58].
 *
 *     gbs_diagnostics d = {.size = sizeof d};
 *     gbs_diagnose(draws, 4, 1000, &d, &err); // four chains of 1000 draws, chain after chain
 *     printf("mean %g +- %g, R-hat %g\n", d.mean, d.mcse_mean, d.rhat);
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults, NULL evidence means no evidence.
 */
#ifndef GIBBSITE_DIAGNOSE_H
#define GIBBSITE_DIAGNOSE_H

#include "gibbsite/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Statistics and convergence diagnostics of the draws of one quantity. Where all draws are equal
 *  nothing is known of convergence: everything from mcse_mean on is NAN, as it is where a draw is
 *  not finite. */
typedef struct gbs_diagnostics {
    size_t size; /**< in: sizeof(gbs_diagnostics), set by the caller */
    double mean;
    double sd;          /**< standard deviation, with the number of draws less 1 as divisor */
    double median;      /**< quantiles interpolate between draws: type 7 of Hyndman & Fan (1996) */
    double q5, q95;     /**< 5 % and 95 % quantiles */
    double mcse_mean;   /**< standard error of the mean, sd / sqrt(ess_mean) */
    double mcse_sd;     /**< standard error of the standard deviation */
    double mcse_median; /**< standard error of the median */
    double rhat;        /**< the larger of the next two: below 1.01 where chains agree */
    double rhat_bulk;   /**< R-hat of the normal scores of the ranks, each chain cut in halves */
    double rhat_folded; /**< R-hat of distances from the median, which shows that chains have
                           different scales */
    double ess_bulk;    /**< effective number of draws of the normal scores */
    double ess_tail;    /**< the smaller of the effective numbers of draws for the quantiles 0.05
                             and 0.95; NAN if all or no draws are below one of them */
    double ess_mean;    /**< effective number of draws for the mean */
    double ess_sd;      /**< effective number of draws for the standard deviation */
    int constant;       /**< 1: all draws are equal */
    int reserved;       /**< 0 */
} gbs_diagnostics;

/**
 * Diagnose the draws of one quantity.
 *
 * @param draws    [n_chains][n_draws], chain after chain.
 * @param n_draws  of each chain, at least 4 for R-hat and 6 for effective sizes; NAN below.
 * @param d        out.
 * @return GBS_OK; GBS_ERR_ARGUMENT if there is no draw; GBS_ERR_MEMORY: it takes 80 bytes a draw.
 */
GBS_API GBS_MUST_USE gbs_status gbs_diagnose(const double *draws, size_t n_chains, size_t n_draws,
                                             gbs_diagnostics *d, gbs_error *err);

/** Draws of some quantities from several chains, read from files. */
typedef struct gbs_draws gbs_draws;

/**
 * Read draws from tables: CSV of CmdStan, of `gibbsite sample`, of R's package posterior, or of
 * any other program.
 *
 * Lines that begin with '#' are comments, the first other line names the columns. A column chain,
 * .chain or chain__ tells the chain of each row; without one, each file is a chain. A column
 * iteration, iter or draw, also with a '.' before or "__" behind the name, tells the order of the
 * draws of a chain. All other columns are quantities, except for names other than lp__ that end in
 * "__". Cells that are no numbers are labels of states: they are numbered from 0 in alphabetical
 * order. A cell without a value (gibbsite-formats(5), Tables of data) is NAN. Draws that CmdStan
 * calls saved warm-up are left out.
 *
 * @param path    [n_paths] with the same columns each; "-" for standard input; may be packed.
 * @param options warn is called with a sentence on columns and lines that were skipped, and on
 * columns read as labels; stop and memory_limit mean the same as for models; NULL: none of them.
 * @return GBS_ERR_FORMAT with the place, among others where chains differ in length or a draw comes
 *         twice in a chain; GBS_ERR_IO; GBS_ERR_STOPPED; GBS_ERR_LIMIT; GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_draws_read(const char *const *path, size_t n_paths,
                                               const gbs_read_options *options, gbs_draws **draws,
                                               gbs_error *err);
GBS_API void gbs_draws_free(gbs_draws *draws); /**< NULL is allowed */
GBS_API size_t gbs_draws_n_quantities(const gbs_draws *draws);
GBS_API size_t gbs_draws_n_chains(const gbs_draws *draws);
GBS_API size_t gbs_draws_n_draws(const gbs_draws *draws); /**< of each chain */
/** @return the name of quantity id, from 0, or NULL. */
GBS_API const char *gbs_draws_name(const gbs_draws *draws, size_t id);
/** @return [n_chains][n_draws] the values of quantity id, from 0, or NULL. */
GBS_API const double *gbs_draws_values(const gbs_draws *draws, size_t id);

#ifdef __cplusplus
}
#endif
#endif
