/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Dense models learnt from rows of states: pairwise Potts models, which direct-coupling analysis of
 * proteins uses [M62], and restricted Boltzmann machines [M63].
 *
 *   p(x)  ∝  exp( sum over sites i of h_i(x_i) + sum over i < j of J_ij(x_i, x_j) )
 *
 *     gbs_rows *rows = NULL;
 *     gbs_model *model = NULL;
 *     gbs_rows_read_as("family.fasta", NULL, 0, GBS_ALPHABET_AUTO, &rows, &err);
 *     gbs_rows_weigh(rows, 0.8, 0, NULL, &err); // similar rows share their weight
 *     gbs_potts_learn(rows, NULL, NULL, NULL, &model, NULL, &err);
 *
 * Results have the same bits on any number of threads; on machines where libLBFGS was compiled
 * differently, the last bits may differ.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults.
 */
#ifndef GIBBSITE_MACHINES_H
#define GIBBSITE_MACHINES_H

#include "gibbsite/checkpoint.h"
#include "gibbsite/learn.h"
#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rows -------------------------------------------------------------------------------- */

/** An alignment: each row has a state for each site. All sites have the same number of states. */
typedef struct gbs_rows gbs_rows;

#define GBS_MAX_SITES       65536u /**< largest number of sites */
#define GBS_MAX_SITE_STATES 256u   /**< largest number of states of a site */

/** Make an empty table. @param n_sites 1 to GBS_MAX_SITES. @param n_states 2 to
 *  GBS_MAX_SITE_STATES. */
GBS_API GBS_MUST_USE gbs_status gbs_rows_new(uint32_t n_sites, uint32_t n_states, gbs_rows **rows,
                                             gbs_error *err);

/** The letters of an alignment, in the order of states. Numbers never change. */
typedef enum gbs_alphabet {
    /** The letters decide: nucleic acids if at least 85 % of them (50 % if there are 40 letters or
       more) are among ACGTUN and at most 5 % are letters that mean no nucleotide (EFIJLOPQZ); RNA
       if U is more
       frequent than T. */
    GBS_ALPHABET_AUTO = 0,
    GBS_ALPHABET_PROTEIN = 1, /**< -ACDEFGHIKLMNPQRSTVWY */
    GBS_ALPHABET_RNA = 2,     /**< -ACGU; T is U */
    GBS_ALPHABET_DNA = 3,     /**< -ACGT; U is T */
} gbs_alphabet;

/**
 * Read a table.
 *
 * A file that begins with '>', except for blanks, is an alignment in FASTA. A line that begins with
 * '>' opens a sequence, whose letters follow on any number of lines. '?' and letters that mean one
 * of several nucleotides or amino acids are read as '-'. In an alignment with both capitals and
 * small letters, small letters and '.' are insertions of A2M and are left out. In any other
 * alignment small letters count as capitals, and '.' and '~' are gaps. '*' at the end of a sequence
 * is left out if every sequence ends in it, or if sequences have equal lengths only without it; any
 * other '*' is read as '-'.
 *
 * Any other file is a table (gibbsite-formats(5), Tables of data): the names of the sites, then one
 * row on each line. States are whole numbers from 0. The largest number in the table, at least 1,
 * is the last state of every site. No cell may be without a value.
 *
 * @param name     path of the file, or "-" for standard input; may be compressed. With bytes: a
 *                 name for messages.
 * @param bytes    [n_bytes] the contents, or NULL: the file is read.
 * @param alphabet AUTO refuses an alignment if more than 5 % of its letters are not in the
 *                 alphabet. Letters that mean one of several are not counted: BJXZ for proteins,
 *                 BDHKMNRSVWXY for nucleic acids.
 * @return GBS_ERR_FORMAT with the line and column of a mistake in the file, and for a table if the
 *         alphabet is not AUTO; GBS_ERR_IO.
 */
GBS_API GBS_MUST_USE gbs_status gbs_rows_read_as(const char *name, const void *bytes,
                                                 size_t n_bytes, gbs_alphabet alphabet,
                                                 gbs_rows **rows, gbs_error *err);
GBS_API void gbs_rows_free(gbs_rows *rows); /**< NULL is allowed */

/** @return the alphabet of an alignment; AUTO if the rows are not an alignment. */
GBS_API gbs_alphabet gbs_rows_alphabet(const gbs_rows *rows);
/** Count how often each state occurs, over all rows and all sites. @param n out:
 *  [gbs_rows_n_states(rows)]. */
GBS_API void gbs_rows_count_states(const gbs_rows *rows, uint64_t *n);

/** Add rows of weight 1. @param state [n][n_sites] states; copied. @return GBS_ERR_ARGUMENT for a
 *  state out of range, with nothing added. */
GBS_API GBS_MUST_USE gbs_status gbs_rows_add(gbs_rows *rows, size_t n, const uint32_t *state,
                                             gbs_error *err);

GBS_API size_t gbs_rows_n(const gbs_rows *rows);
GBS_API uint32_t gbs_rows_n_sites(const gbs_rows *rows);
GBS_API uint32_t gbs_rows_n_states(const gbs_rows *rows);
/** @return the number of letters of a file in FASTA that were read as '-'. */
GBS_API uint64_t gbs_rows_n_unknown(const gbs_rows *rows);
/** @return a line of text about the columns that were skipped when the rows were read, such as an
 *         index; NULL if no column was skipped. The text is valid until the rows are freed. */
GBS_API const char *gbs_rows_note(const gbs_rows *rows);
/** @return the sum of the weights of the rows: their effective number. */
GBS_API double gbs_rows_weight(const gbs_rows *rows);
/** @return the state of a site in a row, or UINT32_MAX if the row or the site does not exist. */
GBS_API uint32_t gbs_rows_state(const gbs_rows *rows, size_t row, uint32_t site);
/** @return the name of a site, or NULL if it has none; valid until the rows are freed. */
GBS_API const char *gbs_rows_site_name(const gbs_rows *rows, uint32_t site);

/**
 * Give each row the weight 1 / n, where n is the number of rows, itself included, that have the
 * same state as this row at no less than a share `identity` of the sites: Ekeberg, Lovkvist, Lan,
 * Weigt & Aurell (2013), Physical Review E 87:012707.
 *
 * @param identity the share of equal sites, above 0 and at most 1; 0.8 is usual. The call takes
 * time in proportion to n^2 n_sites.
 * @param threads  number of threads, without effect on results; 0: all cores.
 * @param callbacks NULL; progress may stop the call.
 * @return GBS_ERR_STOPPED if progress stopped the call; the weights are then unchanged.
 */
GBS_API GBS_MUST_USE gbs_status gbs_rows_weigh(gbs_rows *rows, double identity, uint64_t threads,
                                               const gbs_run_callbacks *callbacks, gbs_error *err);

/** Move floor(n share) of the n rows, evenly spread, to a new table; the rows keep their weights.
 * @param share above 0 and below 1. @param out out, caller frees. */
GBS_API GBS_MUST_USE gbs_status gbs_rows_hold_out(gbs_rows *rows, double share, gbs_rows **out,
                                                  gbs_error *err);

/* ---- dense Potts models ------------------------------------------------------------------ */

/** A struct that is set to zero means the defaults. Chains and steps are refused unless the method
 * is PCD, probes are refused with PCD, and l1 is refused unless the method is PL; 0 and the default
 * values are always allowed. */
typedef struct gbs_potts_options {
    size_t size;         /**< sizeof(gbs_potts_options) */
    double l2;           /**< penalty: l2/2 times the sum of squares of h and J; 0: 1 */
    double tolerance;    /**< PL has converged once ten iterations lower the objective by less than
                            tolerance times the objective; 0: 1e-5 */
    uint64_t iterations; /**< largest number of iterations of PL; 0: 1000 */
    double time_s;       /**< end after this many seconds; 0: no limit */
    uint64_t threads;    /**< number of threads, without effect on results; 0: all cores */
    uint64_t memory_limit; /**< memory limit in bytes, program and data included; 0: half of the
                                machine's memory */
    uint64_t method;       /**< gbs_potts_method */
    uint64_t seed;         /**< seed of the chains' random numbers; 0 is a valid seed */
    uint64_t chains;       /**< number of chains of PCD; 0: 1000 */
    uint64_t steps; /**< largest number of steps of PCD; a step is a sweep of every chain and a
                       change of the weights; 0: 200 */
    double rate;    /**< size of the first step of PCD; 0: 0.05 */
    double l1;      /**< PL: penalty of l1 times the sum of the absolute couplings, which makes many
                       couplings exactly 0; 0: no penalty */
    /** PCD: NULL, or the files to write checkpoints to and to resume from; the struct and its
     * strings are borrowed */
    const gbs_checkpoint_files *checkpoints;
    double checkpoint_every_s; /**< seconds from one checkpoint to the next; 0: 300 */
    uint64_t probes; /**< gbs_potts_errors(): number of probes, with random signs from seed; at most
                        GBS_MAX_POTTS_PROBES; 0: a matrix for up to GBS_MAX_POTTS_ERRORS free
                        parameters, and GBS_USUAL_POTTS_PROBES probes for more */
    /** NULL, or called on the calling thread after each iteration of PL, or after each step of PCD.
     * With PCD the objective is not known. The gradient is then the root mean square, over
     * couplings, of an estimate from the chains. The value for held-out rows of gbs_potts_learn()
     * is their ln PL. Must be NULL with ASYMMETRIC, because ASYMMETRIC learns one site after the
     * other. @param point valid during the call. */
    void (*point)(void *context, const gbs_learn_point *point);
    void *point_context; /**< first argument of point */
    double rate_last;    /**< size of the last step of PCD, at most rate; 0: a fifth of rate */
} gbs_potts_options;

/** The results of learning a Potts model. Logarithms are natural. */
typedef struct gbs_potts_report {
    size_t size;              /**< sizeof(gbs_potts_report) */
    uint64_t n_rows, n_sites; /**< numbers of rows and sites of the data */
    uint64_t n_states;        /**< number of states of a site */
    uint64_t n_parameters;    /**< total number of entries of all tables h and J */
    uint64_t iterations;  /**< number of iterations of L-BFGS; ASYMMETRIC: the largest number for a
                             site */
    uint64_t evaluations; /**< number of gradients of the pseudo-likelihood that were computed */
    uint64_t converged; /**< 1 if learning converged, else 0. PL: L-BFGS converged; PCD: rhat is at
                           most 1.05 and misfit at most 0.25 */
    uint64_t steps;     /**< number of steps of PCD */
    double weight;      /**< sum of the weights of rows */
    double pseudo_log_likelihood; /**< sum over rows of weight times ln PL under the learnt model;
                                     NAN if PCD was stopped */
    double held_out_weight; /**< sum of the weights of the held-out rows; 0 if there are no such
                                 rows */
    double held_out_pl;     /**< sum over the held-out rows of weight times ln PL; NAN if PCD was
                               stopped */
    double objective;       /**< final objective of L-BFGS: l2/2 |h, J|^2 - ln PL */
    double gradient_norm;   /**< length of the gradient of objective at the result */
    double moment_error;    /**< PCD: root mean square difference of P(x_i, x_j) between
                                 the data and the chains in the last step; else 0 */
    double predicted_bytes; /**< predicted memory of learning in bytes, without program and data */
    double seconds;         /**< total time in seconds */
    double iteration_s;     /**< mean seconds of an iteration of L-BFGS */
    double rhat;   /**< PCD, else NAN: the largest split R-hat of P(x_i) and P(x_i, x_j) among the
                        chains, at the weights that were learnt */
    double misfit; /**< PCD, else NAN: root mean square of the gradient of the mean log-likelihood
                      at the learnt weights, divided by the root mean square of the standard errors
                      of the frequencies in the rows */
    uint64_t n_coupled;   /**< number of pairs of sites with a coupling that is not 0 */
    uint64_t n_unwritten; /**< number of checkpoints, after the first, that could not be written */
} gbs_potts_report;

/**
 * Learn a dense Potts model: fields and couplings of all pairs of sites, in the zero-sum gauge. In
 * this gauge the entries of each h_i sum to zero, and the entries of each row and each column of
 * J_ij sum to zero.
 *
 * PL maximises sum over rows b of weight w_b times sum over sites i of ln p(x_i | all others),
 * minus the penalty (Besag 1975; Ekeberg et al. 2013). Both sites of a pair share one J_ij, and all
 * sites are learnt together. The time of an iteration is proportional to rows times sites^2 times
 * states.
 *
 * With l1 the maximum is found by OWL-QN (Andrew & Gao 2007, ICML). Couplings are then not moved to
 * the zero-sum gauge, because this move would change zeros in the tables.
 *
 * ASYMMETRIC learns each p(x_i | all others) separately. It therefore learns each J_ij twice, and
 * the result is the mean of both tables (Ekeberg, Hartonen & Aurell 2014, Journal of Computational
 * Physics 276:341-356). ASYMMETRIC needs a fifth of the memory of PL, and less time on several
 * threads.
 *
 * PCD starts from the result of PL. In each step, chains that are never restarted make a sweep
 * (Tieleman 2008, ICML). Then the weights move by rate_t times the gradient of the mean
 * log-likelihood, which is P_data - P_chains - l2 / weight times the weights. Here rate_t = rate /
 * (1 + c t / steps) and c = rate / rate_last - 1. The result is the mean over the second half of
 * the steps (Polyak & Juditsky 1992). After a quarter, a half and all of the steps, the weights are
 * held still at this mean, and the chains go on for half as many sweeps as there were steps.
 * Learning ends if the chains then agree with each other (R-hat at most 1.05) and with the rows
 * (misfit at most 0.25).
 *
 * Checkpoints are written before the first step of PCD, then every checkpoint_every_s between two
 * steps, and at the end, even if PCD was stopped. Learning that resumes from a checkpoint does not
 * repeat PL. Its results have the same bits as if learning had never been stopped, on any number of
 * threads. Rows and options must be the same, except for limits and threads.
 *
 * @param rows      at least one row.
 * @param held_out  NULL, or held-out rows whose likelihood is reported; they have the same number
 *                  of sites and at most as many states.
 * @param callbacks NULL; progress is called with pass = iterations of PL, then steps of PCD.
 * @param model     out, caller frees: variables of the sites, with their names, or s1, s2, ...;
 *                  states are labelled with letters if the rows are an alignment. The model has one
 *                  table for each h_i and one for each J_ij.
 * @param report    out or NULL.
 * @return GBS_OK; GBS_STOPPED if time_s or the callback ended learning, with the weights of the
 *         last iteration; GBS_ERR_STOPPED if learning ended before the first iteration or, with
 *         ASYMMETRIC, before the last site was finished; GBS_ERR_LIMIT if the predicted memory of
 *         learning is above the limit; GBS_ERR_UNSUPPORTED in a build without libLBFGS; GBS_ERR_IO
 *         and GBS_ERR_FORMAT for a checkpoint that cannot be read or written, or is damaged;
 *         GBS_ERR_ARGUMENT for anything else, such as a checkpoint of other rows or options.
 */
GBS_API GBS_MUST_USE gbs_status gbs_potts_learn(const gbs_rows *rows, const gbs_rows *held_out,
                                                const gbs_potts_options *options,
                                                const gbs_run_callbacks *callbacks,
                                                gbs_model **model, gbs_potts_report *report,
                                                gbs_error *err);

/**
 * Get the parameters of a model that gbs_potts_learn() made: the table entries h of every site,
 * then J of every pair of sites i < j, ordered by i and then by j.
 *
 * @param n     out: number of parameters.
 * @param value out or NULL: [n] the parameters.
 * @return GBS_ERR_ARGUMENT for a model with other factors.
 */
GBS_API GBS_MUST_USE gbs_status gbs_potts_parameters(const gbs_model *model, size_t *n,
                                                     double *value, gbs_error *err);

/** Largest number of free parameters for which gbs_potts_errors() factors a matrix: n (q - 1) + n
 * (n - 1) / 2 (q - 1)^2 for n sites with q states; with ASYMMETRIC, (q - 1) + (n - 1) (q - 1)^2 for
 * each site. */
#define GBS_MAX_POTTS_ERRORS 4096u
/** Default number of probes if there are more free parameters */
#define GBS_USUAL_POTTS_PROBES 32u
#define GBS_MAX_POTTS_PROBES   1000000u /**< largest number of probes */

/**
 * Compute standard errors of the parameters in the zero-sum gauge, at the maximum of the
 * pseudo-likelihood [M62], from the sandwich matrix, as gbs_learn_weights() does. Rows count as
 * independent draws, and a row of weight c counts as c draws. The errors do not include the bias
 * towards 0 that the penalty l2 causes.
 *
 * With more than GBS_MAX_POTTS_ERRORS free parameters, or with options.probes, probes estimate the
 * errors [M73]. The relative standard error of such an estimate, compared with the value from a
 * matrix, is at most 1 / sqrt(2 probes). A probe takes about as long as learning, or half as long
 * with ASYMMETRIC. All probes together take 64 bytes of memory for each parameter, or 32 with
 * ASYMMETRIC. For an interval use quantiles of Student's distribution with `probes` degrees of
 * freedom.
 *
 * If two states of two sites never occur together in a row, only l2 bounds their coupling. The
 * errors of this coupling table, and of the fields of the two sites, then have a further part: the
 * distance by which l2 pulls parameters that are drawn from the prior of l2. If the other parts of
 * the errors come from a matrix, GBS_USUAL_POTTS_PROBES probes estimate this pull. Such an error is
 * a bound on the distance from the truth if the true parameters are as small as the prior expects.
 *
 * @param model     a model that was learnt from these rows, perhaps read from a file.
 * @param options   the options of gbs_potts_learn(); only l2, l1, method, time_s, threads,
 *                  memory_limit, seed and probes matter; NULL means the defaults.
 * @param callbacks NULL; progress may stop the call.
 * @param error     out: standard error of each parameter, in the order of gbs_potts_parameters().
 * @param unseen    out or NULL: for each parameter, 1 if its error includes the pull of l2, else 0.
 * @return GBS_ERR_LIMIT for too little memory; GBS_ERR_UNSUPPORTED for PCD, with l1, if the weight
 *         of the rows is not above the number of free parameters (q - 1) + (n - 1) (q - 1)^2 of a
 *         site, and if the rows leave a parameter undetermined; GBS_ERR_STOPPED if time_s or the
 *         callback ended the call.
 */
GBS_API GBS_MUST_USE gbs_status gbs_potts_errors(const gbs_model *model, const gbs_rows *rows,
                                                 const gbs_potts_options *options,
                                                 const gbs_run_callbacks *callbacks, double *error,
                                                 uint8_t *unseen, gbs_error *err);

/** @return the number of probes with which gbs_potts_errors() estimates errors. 0 if
 *         gbs_potts_errors() uses a matrix, or if the model was not made by gbs_potts_learn(). */
GBS_API uint64_t gbs_potts_probes(const gbs_model *model, const gbs_potts_options *options);

/* ---- restricted Boltzmann machines --------------------------------------------------------- */

#define GBS_MAX_HIDDEN 65536u /**< largest number of hidden units */

/** A struct set to zero means the defaults, except that `hidden` must be set. */
typedef struct gbs_rbm_options {
    size_t size;     /**< sizeof(gbs_rbm_options) */
    uint64_t hidden; /**< number of hidden units, 1 to GBS_MAX_HIDDEN */
    uint64_t method; /**< gbs_rbm_method */
    uint64_t draw;   /**< gbs_rbm_draw */
    uint64_t epochs; /**< largest number of epochs, which are passes through the rows; 0: 100 */
    uint64_t batch;  /**< number of rows in the minibatch of a step, which is also the number of
                        chains; 0: 64 */
    uint64_t sweeps; /**< sweeps of the chains in each step: the k of CD-k; 0: 1 */
    double rate;     /**< size of the first step; 0: 0.05 */
    double l2;     /**< penalty: l2/2 times the sum of squares of W, subtracted from the sum of ln P
                      over rows; 0: none */
    uint64_t seed; /**< seed of the random numbers; 0 is a valid seed */
    double time_s; /**< end after this many seconds; 0: no limit */
    uint64_t threads;      /**< number of threads, without effect on results; 0: all cores */
    uint64_t memory_limit; /**< memory limit in bytes, program and data included; 0: half of the
                                machine's memory */
    const gbs_checkpoint_files
        *checkpoints; /**< files of checkpoints, as in gbs_potts_options, for all methods */
    double checkpoint_every_s; /**< seconds from one checkpoint to the next; 0: 300 */
    uint64_t patience; /**< end after this number of consecutive epochs in which the mean ln PL of
                          held-out rows did not exceed its previous maximum; 0: never. Needs
                          held-out rows */
    double rate_last;  /**< size of the last step, at most rate; 0: a fifth of rate */
    double l1; /**< penalty that makes many W_ij exactly 0: l1 times the sum of the absolute W_ij,
                  subtracted from the sum of ln P over rows; 0: no penalty */
} gbs_rbm_options;

/** The results of learning a restricted Boltzmann machine. Logarithms are natural. */
typedef struct gbs_rbm_report {
    size_t size;        /**< sizeof(gbs_rbm_report) */
    uint64_t n_rows;    /**< number of rows of the data */
    uint64_t n_visible; /**< number of visible units */
    uint64_t n_hidden;  /**< number of hidden units */
    uint64_t epochs;    /**< number of finished epochs */
    uint64_t steps;     /**< total number of steps */
    double mean_pl; /**< mean ln PL of a row after the last finished epoch or, with patience, after
                       the best epoch; NAN if no epoch was finished */
    double held_out_pl;     /**< mean ln PL of a held-out row; NAN if no rows are held out */
    double predicted_bytes; /**< predicted memory of learning in bytes, without program and data */
    double seconds;         /**< total time in seconds */
    double epoch_s;         /**< mean seconds of an epoch */
    double rhat; /**< largest split R-hat of a unit, from the chains at the learnt weights in their
                    last test; NAN if learning was stopped before a test */
    uint64_t converged;   /**< 1 if rhat is at most 1.05, misfit at most 0.25 and rise at most 0.02;
                             else 0 */
    uint64_t n_unwritten; /**< number of checkpoints, after the first, that could not be written */
    uint64_t best_epoch;  /**< the epoch, from 1, whose weights the model has, if patience was set;
                               else 0 */
    double misfit; /**< root mean square of the gradient of the mean log-likelihood in the last
                      test, divided by the root mean square of the gradient's standard errors over
                      rows; NAN if rhat is NAN */
    double rise;   /**< rise of the mean ln PL in the second half of the epochs, divided by its rise
                        since the first epoch; NAN if rhat is NAN or if the mean ln PL has not risen
                        */
    uint64_t n_zero; /**< number of W_ij that are 0 */
} gbs_rbm_report;

/**
 * Learn a binary restricted Boltzmann machine,
 *
 *   p(v, h)  ∝  exp( a.v + b.h + v.W.h ),   all units 0 or 1.
 *
 * A step moves a, b and W by rate_t times the gradient of the mean log-likelihood of the rows of a
 * minibatch. The model's part of the gradient is replaced by the mean over chains: contrastive
 * divergence (Hinton 2002, Neural Computation 14:1771-1800) or persistent chains (Tieleman 2008,
 * ICML). Here rate_t = rate / (1 + c t / T) in step t of T, and c = rate / rate_last - 1. Rows are
 * shuffled for each epoch. Herded chains (Welling 2009, ICML; Chen & Welling 2010, AISTATS) keep 16
 * weights u for each unit. Let p be the probability of state 1 of the unit given the other layer;
 * each of 16 intervals of p has its own weight (Yamashita & Suzuki 2019). At each draw the weight u
 * of the interval grows by p. If u is then 1 or more, the unit becomes 1 and u falls by 1; else the
 * unit becomes 0.
 *
 * With patience the model has the weights of the epoch after which held-out rows had the highest
 * pseudo-likelihood (early stopping; Prechelt 1998). Because these rows chose the epoch, the
 * pseudo-likelihood of other rows is slightly lower on average. With patience, T in rate_t is still
 * the number of steps of all epochs.
 *
 * After a quarter, a half and all of the epochs (with patience, after the last epoch only), the
 * weights are held still while every chain goes on for 200 times as many sweeps as a step has. If
 * the chains disagree at the end of these sweeps, they do not represent the model, and may not have
 * represented it during the steps. Learning ends if the chains agree with each other (rhat at most
 * 1.05) and with the rows (misfit at most 0.25), and if ln PL has stopped rising (rise at most
 * 0.02). The last condition is needed because the gradient is also small before units are coupled.
 * A point with a small gradient may still not be the maximum.
 *
 * Checkpoints work as in gbs_potts_learn(), except that held-out rows must be the same, too.
 *
 * With l1, couplings pay the cumulative penalty of Tsuruoka, Tsujii & Ananiadou (2009, ACL), which
 * makes many couplings exactly 0. The penalty begins after a quarter of the epochs: couplings begin
 * near 0, and an earlier penalty would keep them there. With l1 the weights are first held still
 * after half of the epochs.
 *
 * The weights have no standard errors: exchanging hidden units, or their states 0 and 1, leaves the
 * distribution unchanged, so that the weights have no single true value.
 *
 * The pseudo-likelihood is exact for up to ten visible units. With more units it is estimated from
 * ten units of each row; these units stay the same in all epochs.
 *
 * @param rows      at least one row; sites have two states, and rows weight 1.
 * @param held_out  NULL, or held-out rows whose pseudo-likelihood is reported, with as many sites
 *                  of two states.
 * @param callbacks NULL; progress is called with pass = epochs.
 * @param curve     out or NULL: [epochs][2] for each epoch, the mean ln PL of a row after the
 *         epoch, and the mean ln PL of a held-out row (NAN without held-out rows).
 * @param model     out, caller frees: spins with fields and couplings, W / 4 each: the visible
 *                  units, named as the sites, or v1, v2, ..., then the hidden ones h1, h2, ... The
 * log-weights of this model differ from a.v + b.h + v.W.h by a constant.
 * @param report    out or NULL.
 * @return GBS_OK; GBS_STOPPED if time_s or the callback ended learning, with the weights of the
 *         last step or, with patience, of the best epoch; GBS_ERR_STOPPED if no such step or epoch
 *         was finished; GBS_ERR_LIMIT if the predicted memory of learning is above the limit;
 *         GBS_ERR_ARGUMENT for anything else, such as a site that has the name of a hidden unit.
 */
GBS_API GBS_MUST_USE gbs_status gbs_rbm_learn(const gbs_rows *rows, const gbs_rows *held_out,
                                              const gbs_rbm_options *options,
                                              const gbs_run_callbacks *callbacks, double *curve,
                                              gbs_model **model, gbs_rbm_report *report,
                                              gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
