/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs: Markov chains and the estimates that they give. A chain is made of a scan (which variable
 * is updated next) and a draw (how the variable's value is picked from its conditional
 * distribution).
 *
 *     gbs_run *run = NULL;
 *     gbs_run_options options = gbs_run_options_default();
 *     gbs_run_new(model, evidence, &options, &run, &err);
 *     gbs_run_execute(run, NULL, &err);
 *     gbs_run_marginals(run, p, mcse, NULL, NULL, &err);
 *
 * Runs with the same version, model, evidence, options and number of sweeps give the same bits on
 * any machine.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_RUN_H
#define GIBBSITE_RUN_H

#include "gibbsite/model.h"
#include "gibbsite/options.h"
#include "gibbsite/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The meaning of the bits of a word when spins are simulated with one bit each (option
 * lattice). */
typedef enum gbs_bits {
    GBS_BITS_NONE = 0,  /**< spins are not simulated with one bit each */
    GBS_BITS_SITES = 1, /**< sites of a lattice */
    GBS_BITS_CHAINS =
        2, /**< chains of a model on any graph with few different couplings and fields */
} gbs_bits;

typedef struct gbs_run gbs_run;
struct gbs_observed; /* of gibbsite/observables.h */

/** How far a run has come. */
typedef struct gbs_progress {
    size_t size;     /**< size of the library's struct in bytes; fields beyond this size must not be
                        read */
    int burning_in;  /**< 1 during burn-in */
    uint64_t pass;   /**< number of passes done in this phase */
    uint64_t passes; /**< number of passes in this phase; 0 if not known */
    uint64_t updates; /**< variable updates over all chains and both phases */
    double elapsed_s;
    double worst_error;  /**< largest standard error at the last check; NAN before the first */
    double target_error; /**< standard error at which the run stops; 0: no such target */
    double rhat; /**< during burn-in, R-hat of the log density; after burn-in, the largest R-hat of
                    a marginal at the last check; 0 or NAN if no R-hat is known yet */
    const char *work; /**< name of the exact work under way, such as "junction tree"; NULL: sweeps
                         are made */
    double share;     /**< share of `work` that is done, from 0 to 1; NAN if not known */
} gbs_progress;

/** Optional callbacks; any callback may be NULL. Callbacks are called on the thread that called
 * gbs_run_execute(), between passes. progress is also called during long passes; during such a call
 * gbs_run_marginals() returns GBS_ERR_STATE. */
typedef struct gbs_run_callbacks {
    size_t size; /**< sizeof(gbs_run_callbacks); 0: the fields of its first version */
    void *context;
    /** Called from time to time. @return nonzero to stop; the run then returns GBS_STOPPED. */
    int (*progress)(void *context, const gbs_progress *progress);
    /** Called for every kept draw, chain by chain at the end of a pass. In a tempered run (option
     * temper from 2 on) the draws are the states of the coldest level of each ladder. Iterations in
     * which such a state violates a hard zero give no draw. There may then be fewer draws than
     * sweeps / thin, which a warning states. @param draw 0-based, without gaps. @param log_density
     * ln of the unnormalised probability of state. @param state [n_variables], observed variables
     * included.
     *  @return a negative status to make the run fail with it. */
    gbs_status (*draw)(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *state, gbs_error *err);
    /** Splash scan only: called for every variable of every splash, before the splashes of a round
     *  are drawn, in the order in which the splash took its variables; also during burn-in. All
     *  chains have the same splashes. @param round 0-based. @param splash 0-based within the
     *  round. */
    void (*splash)(void *context, uint64_t round, uint32_t splash, uint32_t variable);
    /** Only for a run with observables (gibbsite/observables.h): called for every chain after every
     * kept sweep. @param sweep 0-based. @return a negative status to make the run fail with it. */
    gbs_status (*observed)(void *context, uint64_t sweep, uint32_t chain,
                           const struct gbs_observed *observed, gbs_error *err);
} gbs_run_callbacks;

#define GBS_MOST_COUPLINGS 3
#define GBS_MOST_FIELDS    8

/** A sufficient statistic of spins that are simulated with one bit each: the mean of n terms, each
 * -1 or +1. */
typedef struct gbs_feature {
    double weight; /**< the factor of the sum of the terms in the log density: J or h */
    uint64_t n;    /**< number of terms */
    double mean, mcse;
} gbs_feature;

#define GBS_MOST_TRIALS 8

/** A candidate scan that the pilot run of GBS_SCAN_AUTO tried. */
typedef struct gbs_trial {
    const char *scan;
    uint32_t width;       /**< splash: option width; other scans: 0 */
    uint32_t splash_size; /**< splash: largest number of variables in a splash; other scans: 0 */
    uint64_t passes;      /**< number of passes in the pilot run */
    double operations;    /**< number of operations in a pass of all chains of the run */
    double passes_each;   /**< number of passes that a chain needs for one independent draw of the
                             slowest variables */
    double ess_per_operation; /**< effective samples per operation */
    int is_bound;      /**< 1: chains moved too little to measure passes_each, which is then a lower
                          bound */
    int reaches_zeros; /**< 1: splashes crossed all hard zeros */
} gbs_trial;

/** The predicted cost of exact answers, with methods auto and exact. */
typedef struct gbs_exact_cost {
    double entries; /**< number of table entries of all components, and of visited states; 0 if no
                       elimination order was searched for */
    double seconds; /**< predicted seconds of one thread; NAN if entries is 0 */
    int counted; /**< 1: entries and seconds are complete; 0: a search for an elimination order was
                    stopped, and entries and seconds are lower bounds */
    int n_cases; /**< number of cases, given the states of a few variables, into which components
                    too large for a junction tree are split; 0: no component is split */
} gbs_exact_cost;

/** The work that a run did, and how far its estimates can be trusted; the summary file has the same
 * fields.
 */
typedef struct gbs_report {
    size_t size; /**< size of the library's struct in bytes; fields beyond this size must not be
                    read */
    const char *method;         /**< method that was used: "exact", "sampled", "exact+sampled" (some
                                   components exactly, others by chains), "mean-field" or "bp" */
    uint32_t n_free_variables;  /**< number of variables that are neither observed nor implied by
                                   evidence */
    uint32_t n_exact_variables; /**< number of free variables that were answered exactly */
    uint32_t n_components;      /**< number of connected components of the free variables */
    const char *scan;           /**< the scan that was run; NULL if nothing was sampled */
    uint32_t n_trials;          /**< number of scans that the pilot run tried; 0: no pilot run */
    uint32_t chosen;            /**< index of the chosen scan in trial */
    gbs_trial trial[GBS_MOST_TRIALS];
    const char *scan_reason; /**< why the pilot run chose the scan; NULL if there was no choice */
    double pilot_s;          /**< duration of the pilot run */
    uint32_t n_colors;       /**< number of colours of the chromatic scan */
    uint64_t n_levels;       /**< number of batches in a pass; batches run one after the other */
    uint64_t n_batches;      /**< = n_levels */
    uint64_t sweeps;         /**< number of kept passes of a chain */
    uint64_t burn_in;        /**< number of passes of a chain that were discarded as burn-in */
    uint32_t chains;
    uint64_t updates; /**< number of variable updates over all chains, burn-in included */
    double compile_s;
    double sampling_s;
    double updates_per_s;
    uint64_t predicted_bytes; /**< predicted memory of plan, chains and estimators, in bytes. For a
                                 tempered run, or once a run becomes tempered, the value includes
                                 ladders and is an upper bound. After a pilot run the value includes
                                 its trials, up to 1 GiB */
    double max_mcse;          /**< largest standard error of a probability; NAN if there is none */
    double max_rhat;          /**< largest R-hat; NAN if there is none */
    double min_ess;           /**< smallest effective sample size; NAN if there is none */
    /** for draws with a bias: largest difference between a marginal and the same marginal in a
     * short run of the random draw, minus the part that chance explains. With restarts: a bound on
     * the total variation distance of every estimated marginal from the target. NAN if the draw has
     * no bias or nothing was compared */
    double bias_estimate;
    uint32_t n_omitted; /**< number of sampled variables that a partial scan never visits */
    /** With option certified: bound, for any start, on the total variation distance of every
     * sampled marginal from its limit at the end of burn-in. NAN without the option. */
    double certified;
    uint64_t bins; /**< number of bins of the discretized draws, set by option or chosen; other
                      draws: 0 */
    /** threshold of draw bounded-error, set by option or found; other draws: NAN */
    double threshold;
    double n_weights; /**< number of herding weights of a chain: all entries of dense tables of
                         weights, and the used entries of other tables; 0 if the draw has no herding
                         weights */
    /** the accuracy of herding after this number of sweeps, compared with the random draw:
     *  "gibbs-like" (not yet more accurate, because there are too many weights), "fast" (more
     *  accurate) or "plateau" (the bias of herding is larger than the error of the random draw);
     *  NULL if nothing was compared */
    const char *period;
    const char *advised_draw; /**< draw advised for this number of sweeps; NULL if nothing was
                                   compared */
    uint64_t n_constant;      /**< number of sampled variables that never moved in any chain */
    int has_zeros;            /**< 1: hard zeros remain in a sampled component */
    uint64_t iterations;      /**< mean field and belief propagation: number of iterations over all
                                 variables; else 0 */
    /** mean field: largest change that one more undamped iteration would make, which is 0 at a
     *  fixed point. Belief propagation: largest change in the last iteration. NAN for other
     *  methods, and if time_s left no time for this computation */
    double residual;
    double log_z_bound;  /**< mean field: lower bound on ln Z; NAN where residual is NAN */
    double target_error; /**< standard error at which the run stops; 0: no such target */
    int converged; /**< 1 if the run has converged, else 0; see "converged" in gibbsite-marginals(1)
                    */
    char verdict[256]; /**< one sentence: whether the estimates can be trusted, and why */
    char digest[33];   /**< XXH3-128, in hexadecimal, of the estimates followed by their errors; for
                          averages on a lattice with one bit for each spin, of 512 sites at a time
                          in the order of the lattice */
    char stop[32];     /**< why the run ended: "target", "sweeps", "time", "updates", "signal",
                          "support" (hard zeros split the states: more sweeps do not help), "exact",
                          "fixed point", "iterations" */
    size_t n_warnings;
    const char *const *warning;
    int lattice; /**< a gbs_bits; the fields below are set unless this is GBS_BITS_NONE */
    uint32_t lattice_side[3]; /**< GBS_BITS_SITES: sides of the lattice, fastest first; the middle
                                   one is 1 in two dimensions. Else 0 */
    double energy; /**< mean energy per sampled variable; the energy is minus the log density */
    double energy_mcse;   /**< standard error of energy; this field and all below are NAN after too
                             few passes */
    double magnetisation; /**< mean of the mean spin; states 0 and 1 are spins -1 and +1 */
    double magnetisation_mcse;
    double abs_magnetisation; /**< mean of the absolute value of the mean spin */
    double abs_magnetisation_mcse;
    uint32_t n_couplings, n_fields;
    gbs_feature coupling[GBS_MOST_COUPLINGS]; /**< for each weight J: mean of s s' over bonds J and
                                                 of -s s' over bonds -J */
    /** for each weight h: mean of s over the variables with field h */
    gbs_feature field[GBS_MOST_FIELDS];
    gbs_exact_cost exact;  /**< predicted cost of exact answers for all components */
    uint32_t temperatures; /**< number of temperatures of a ladder in a tempered run; 0: the run is
                              not tempered, and the fields block_variables to valid_share are not
                              set. In a tempered run, "chain" means a ladder, and "sweep" an
                              iteration of all levels of a ladder */
    uint32_t block_variables; /**< mean number of variables that a block plan draws jointly in an
                                 iteration; 0: only single variables are updated */
    uint64_t round_trips; /**< number of round trips of states from the coldest level to the hottest
                             and back, in the ladder where this number is smallest */
    double hottest;       /**< inverse temperature of the hottest level; the coldest level has 1 */
    double barrier; /**< sum, over all pairs of neighbouring levels, of the rate at which swaps are
                       rejected */
    double valid_share; /**< share of states of the coldest level that violate no hard zero; only
                           these states count */
    double log_z;       /**< ln Z given evidence, as from gbs_exact_log_z(), if all components were
                           answered exactly; else NAN. For a normalised Bayesian network this is ln
                           P(evidence), see gbs_model_is_normalized() */
    double nonzero_entries; /**< number of nonzero entries of components with sparse tables;
                               included in exact.entries */
    int chains_disagree; /**< 1: R-hat is above its limit. Standard errors then come from within the
                            chains only. They miss the differences between chains and are not
                            reliable */
    int in_burn_in; /**< 1: --time or a signal ended the run during burn-in. The estimates then come
                       from one sweep after burn-in (sweeps is 1) and depend on the initial states
                     */
    uint32_t ranks; /**< number of ranks that share the model (gibbsite/share.h); 0: the model is
                       not shared, and exchange_messages and exchange_s are 0 */
    uint64_t exchange_messages; /**< number of messages that all ranks sent, burn-in included */
    uint64_t exchange_bytes;
    double exchange_s;  /**< seconds spent on sending messages and waiting, on the rank where this
                           time is longest */
    uint64_t n_watched; /**< for a large picture: number of variables with standard errors;
                           max_mcse, max_rhat and min_ess are about these variables, and the errors
                           of all others are NAN. 0: all variables have errors */
    uint32_t n_pruned;  /**< number of free variables that were left out because no queried variable
                           depends on them (gbs_run_setup.query) */
    uint32_t n_drawn; /**< number of free variables on which no evidence depends and which are drawn
                         given the other variables, whose draws are exact and independent. Method
                         auto does so if the whole model is too large for exact answers */
    uint64_t n_hardly_moved; /**< number of sampled variables that changed fewer than 20 times in
                                all chains together although other states are possible. Agreement of
                                chains says nothing about such variables; gbs_run_hardly_moved()
                                lists them. 0 with ladders of temperatures */
    double log_z_bethe;    /**< belief propagation: the Bethe approximation of ln Z, which is not a
                              bound; else NAN */
    double visited_states; /**< number of states that hard parities allow, in components that are
                              answered by a visit to each of these states; included in
                              exact.entries */
} gbs_report;

/**
 * Prepare a run: check the options, condition the model on the evidence, find the components that
 * are answered exactly, choose the order of updates, and allocate the predicted memory.
 *
 * @param model, evidence  borrowed, outlive the run; evidence may be NULL.
 * @param options          NULL for the defaults; copied.
 * @return GBS_ERR_ARGUMENT for an illegal option or combination of options; GBS_ERR_LIMIT, with the
 *         bytes needed, if the memory limit would be exceeded; GBS_ERR_IMPOSSIBLE if the evidence
 *         is proved to have probability zero; GBS_ERR_STOPPED if options.time_s ended the search
 *         for a certificate.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_new(const gbs_model *model, const gbs_evidence *evidence,
                                            const gbs_run_options *options, gbs_run **run,
                                            gbs_error *err);

/** The purpose of a run. */
typedef enum gbs_run_task {
    GBS_RUN_MARGINALS = 0, /**< gbs_run_marginals() */
    /** draws for callbacks.draw. Method auto then uses junction trees either for all components or
     * for none. It uses junction trees if trees, tables and draws together are predicted to stay
     * within the limits of auto. Every draw from junction trees is independent of all other draws.
     * Chains are run in all other cases. They are also run if options.sweeps does not set the
     * number of draws, or if the model has more than 2^20 variables. (A run for marginals with
     * method auto does not draw states of components that are answered exactly.) */
    GBS_RUN_DRAWS = 1,
} gbs_run_task;

/**
 * The arguments of gbs_run_new_with(): either `model` or `share` must be set. Set the fields that
 * you need by name, because later versions may append fields:
 *
 *     const gbs_run_setup setup = {.size = sizeof setup, .model = model, .task = GBS_RUN_DRAWS};
 */
typedef struct gbs_run_setup {
    size_t size;                  /**< sizeof(gbs_run_setup); 0: the fields of its first version */
    const gbs_model *model;       /**< as for gbs_run_new() */
    const gbs_evidence *evidence; /**< as for gbs_run_new() */
    const gbs_run_options *options; /**< as for gbs_run_new() */
    gbs_run_task task;
    /** NULL: the run is in this process only. Otherwise the chains are on several ranks (see
     * gibbsite/ranks.h and gibbsite/mpi.h); borrowed, outlives the run. A single rank runs as if
     * this field were NULL.
     *
     * Each rank has the whole model and runs some of the chains: whole groups of sixteen chains, or
     * single chains if the run has fewer than eight. The answers have the same bits on any number
     * of ranks. All ranks call gbs_run_new_with() with the same model, evidence and options. Then
     * all of them make the same calls of gbs_run_execute(), gbs_run_checkpoint() and
     * gbs_run_resume(). After that every rank has the report and the marginals. callbacks.draw must
     * be set on all ranks or on none. It is called on rank 0, for the chains of all ranks.
     * gbs_run_marginals() returns GBS_ERR_STATE in callbacks. With ladders of temperatures every
     * rank has the states of all lanes, and updates some of them. */
    const gbs_ranks *ranks;
    /** [n_query] the ids of the queried variables, whose marginals are wanted; NULL: all. Borrowed
     * until the call returns.
     *
     * Variables that do not affect the queried variables are left out. There are two kinds of such
     * variables. The first kind are variables with only one factor, which sums to a constant over
     * the states of the variable, such as unobserved effects on which no other variable depends
     * (such variables are removed repeatedly). The second kind are the variables of components
     * without a queried variable. Such components are kept if all components are answered exactly,
     * because report.log_z then needs them. gbs_run_marginals() has no estimates for variables that
     * were left out (p and mcse are NAN). The report has their number, and gbs_run_execute()
     * refuses callbacks.draw. Nothing is left out with method sample, mean field, restarts, a
     * sequence of a scan, dummy edges, or the estimator traces. */
    const uint32_t *query;
    size_t n_query;
    /** NULL, or the share of this rank (gibbsite/share.h), which takes the place of model, evidence
     * and query; borrowed, outlives the run. Each rank then has a part of the model. All ranks of
     * the partition make their runs together, with equal options. The scan must be the scan of
     * gbs_partition_new(); other options, such as the numbers of sweeps and chains, may differ. The
     * calls gbs_run_execute() and gbs_run_each_marginal() are then collective, too. The callbacks
     * of rank 0 receive progress and draws. */
    const struct gbs_share *share;
    /** On rank 0, if gbs_share_needs_whole() returns 1: the partition; else NULL. Borrowed,
     *  outlives the run.
     */
    const struct gbs_partition *partition;
    /** 1: keep the observables of gibbsite/observables.h, for a model whose variables all have the
     * same number of states. Method auto then samples all variables, and the run does not turn to
     * ladders of temperatures. Not with ranks, a share, ladders, the synchronous scan, a scan that
     * omits variables, or a method without chains. 0: no observables */
    uint64_t observables;
} gbs_run_setup;

/**
 * Prepare a run as gbs_run_new() does. The run may be for marginals or draws, of all variables or
 * some, in this process or on several ranks; each rank has the whole model or a share of it.
 *
 * @return the values of gbs_run_new(); GBS_ERR_ARGUMENT, with the fields in the message, for fields
 *         that contradict each other and for options that a share does not support. If it fails on
 *         one of several ranks, it fails on all, and the message names the first rank that failed:
 *         GBS_ERR_UNSUPPORTED for options that need all chains in one process (splashes, the pilot
 *         run of scan auto, the synchronous scan, spins with one bit each, a threshold that trial
 *         runs find); GBS_ERR_STATE if version, model, evidence or options of a rank differ from
 *         version, model, evidence or options of rank 0, or if its time or memory limit makes it
 *         answer other components exactly; GBS_ERR_FORMAT, with the rank's file in the message, if
 *         the shares come from different partitions or the share of a rank is missing.
 *         gbs_run_execute() returns GBS_ERR_STATE on a rank that differs from rank 0 in whether it
 *         has a checkpoint, in the checkpoint it goes on from, or in the variables of traces and
 *         draws.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_new_with(const gbs_run_setup *setup, gbs_run **run,
                                                 gbs_error *err);
GBS_API void gbs_run_free(gbs_run *run);

/**
 * Execute a run: initial states, burn-in, then passes until an option ends the run.
 *
 * @param callbacks NULL for none.
 * @return GBS_OK; GBS_STOPPED if the run ended before its target, in which case the estimates so
 * far can be read; GBS_ERR_STOPPED if the run ended before the first estimates; GBS_ERR_IMPOSSIBLE
 * if no state has a positive probability; GBS_ERR_NOT_FOUND if no initial state of positive
 * probability was found (one may exist), or if all states of a conditional distribution had weight
 * zero.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_execute(gbs_run *run, const gbs_run_callbacks *callbacks,
                                                gbs_error *err);

/**
 * Estimate the marginal of every variable from the draws kept so far; call it after
 * gbs_run_execute() or in its callbacks. The call does not change the run. Once the run has ended,
 * several threads may call it.
 *
 * @param p     out: the probability of state a of variable v is p[offset[v] + a], with offsets from
 *              gbs_model_state_offsets(); observed variables have probability 1 on one state.
 * @param mcse out or NULL, same shape as p: Monte Carlo standard error in units of probability; 0
 *              for exact entries, NAN after too few passes for a standard error.
 * @param ess out or NULL, same shape as p: effective sample size p(1-p)/mcse^2; NAN for exact
 *              entries, entries without a standard error, and entries whose conditional probability
 *              was the same in every pass.
 * @param rhat out or NULL, same shape as p: split or between-chain R-hat; NAN if undefined.
 * @return GBS_ERR_STATE if no draw was kept, if the estimator is traces, or if gbs_run_execute()
 *         failed; all outputs are then untouched.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_marginals(const gbs_run *run, double *p, double *mcse,
                                                  double *ess, double *rhat, gbs_error *err);
/** Estimate marginals as gbs_run_marginals() does, but only for the variables first .. first + n -
 * 1; the arrays begin with the states of variable first. Use it for models whose marginals would
 * take more memory than the run. It is not available if the model is partitioned over ranks: use
 * gbs_run_each_marginal().
 * @return also GBS_ERR_ARGUMENT, if not all of these variables exist or if the model is
 * partitioned. */
GBS_API GBS_MUST_USE gbs_status gbs_run_marginals_of(const gbs_run *run, uint32_t first, uint32_t n,
                                                     double *p, double *mcse, double *ess,
                                                     double *rhat, gbs_error *err);

/**
 * Count memory that the caller keeps for a run, such as its draws, towards the run's memory limit.
 * Each call replaces the number of the call before. It may be called in callbacks of the run.
 *
 * @param bytes number of bytes that the caller keeps or is about to allocate. @param what word for
 *         the bytes in the message, such as "draws".
 * @return GBS_ERR_LIMIT, with the figures, if the sum is above the limit; the bytes of the previous
 *         call then remain counted.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_count_bytes(gbs_run *run, size_t bytes, const char *what,
                                                    gbs_error *err);

/**
 * Tell which variables report.n_hardly_moved counts.
 *
 * @param hardly out: [variables of the model] 1 for variables that report.n_hardly_moved counts, 0
 *         for all others.
 * @return GBS_ERR_UNSUPPORTED if the model is partitioned over ranks.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_hardly_moved(const gbs_run *run, uint8_t *hardly,
                                                     gbs_error *err);

/** @return the report; borrowed, valid until the run is freed; complete after gbs_run_execute(). */
GBS_API const gbs_report *gbs_run_report(const gbs_run *run);
/** @return gbs_model_digest() of the model, even if ranks share the model; borrowed; NULL if run is
 *         NULL. */
GBS_API const char *gbs_run_model_digest(const gbs_run *run);

#ifdef __cplusplus
}
#endif
#endif
