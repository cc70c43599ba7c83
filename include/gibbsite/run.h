/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs: chains of a scan x a conditional x a draw, watched by estimators.
 *
 *     gbs_run *run = NULL;
 *     gbs_run_options options = gbs_run_options_default();
 *     gbs_run_new(model, evidence, &options, &run, &err);
 *     gbs_run_execute(run, NULL, &err);
 *     gbs_run_marginals(run, p, mcse, NULL, NULL, &err);
 *
 * Same version, model, evidence, options and number of sweeps: the same bits, on any machine.
 *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_RUN_H
#define GIBBSITE_RUN_H

#include "gibbsite/model.h"
#include "gibbsite/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the bits of a word are in a run bit by bit. */
typedef enum gbs_bits {
    GBS_BITS_NONE = 0,
    GBS_BITS_SITES = 1,  /**< of a lattice */
    GBS_BITS_CHAINS = 2, /**< on any graph of spins that few values describe */
} gbs_bits;

typedef struct gbs_run gbs_run;

/** Where a run stands. */
typedef struct gbs_progress {
    size_t size;      /**< of the struct in this library: fields behind it are not there */
    int burning_in;   /**< 1 during burn-in */
    uint64_t pass;    /**< passes done in this phase */
    uint64_t passes;  /**< passes of this phase, 0 if not known */
    uint64_t updates; /**< over all chains and both phases */
    double elapsed_s;
    double worst_error;  /**< largest standard error at the last check; NAN before the first */
    double target_error; /**< 0 if none */
} gbs_progress;

/** What a run tells while it works; all NULL is fine. Called on the calling thread, between
 * passes and, progress alone, during long ones: gbs_run_marginals() is then GBS_ERR_STATE. */
typedef struct gbs_run_callbacks {
    size_t size; /**< sizeof(gbs_run_callbacks), or 0: only the fields of version 0.2 are read */
    void *context;
    /** Every so often by the clock. @return nonzero to stop (the run returns GBS_STOPPED). */
    int (*progress)(void *context, const gbs_progress *progress);
    /** Every kept draw, chain by chain at the end of a pass. @param state [n_variables], the
     *  user's numbering, observed ones included. @return a negative status to fail the run. */
    gbs_status (*draw)(void *context, uint64_t draw, uint32_t chain, double log_density,
                       const uint32_t *state, gbs_error *err);
    /** The splash scan: every variable of every splash of a round before it is drawn, burn-in
     *  included; the same for all chains. @param round counts from 0. @param splash of that round,
     *  from 0 on, its variables one after the other in the order they were taken. */
    void (*splash)(void *context, uint64_t round, uint32_t splash, uint32_t variable);
} gbs_run_callbacks;

#define GBS_MOST_COUPLINGS 3
#define GBS_MOST_FIELDS    8

/** A sufficient statistic of spins run bit by bit: the mean of its terms, each -1 or +1. */
typedef struct gbs_feature {
    double weight; /**< what the sum of its terms is multiplied by in the log density */
    uint64_t n;    /**< terms */
    double mean, mcse;
} gbs_feature;

#define GBS_MOST_TRIALS 8

/** A scan that the pilot of GBS_SCAN_AUTO tried. */
typedef struct gbs_trial {
    const char *scan;
    uint32_t width;       /**< of splashes; 0 else */
    uint32_t splash_size; /**< likewise */
    uint64_t passes;      /**< that it was given */
    double operations;    /**< that a pass of all chains of the run takes */
    double passes_each;   /**< that make one independent draw of a chain, by the worst variables */
    double ess_per_operation;
    int is_bound;      /**< chains moved so little that passes_each is a lower bound */
    int reaches_zeros; /**< splashes were seen to cross all hard zeros */
} gbs_trial;

/** What a run was and how far it can be trusted; the fields of the summary file. */
typedef struct gbs_report {
    size_t size;               /**< of the struct in this library: fields behind it are not there */
    const char *method;        /**< "exact", "sampled", "exact+sampled" (by component),
                                  "mean-field" */
    uint32_t n_free_variables; /**< not observed and not implied */
    uint32_t n_exact_variables; /**< of these, answered exactly */
    uint32_t n_components;
    const char *scan;  /**< that was run; NULL where nothing was sampled */
    uint32_t n_trials; /**< of the pilot; 0: there was none */
    uint32_t chosen;   /**< of them */
    gbs_trial trial[GBS_MOST_TRIALS];
    const char *scan_reason; /**< of GBS_SCAN_AUTO's choice; NULL where the scan was given */
    double pilot_s;
    uint32_t n_colors; /**< of the chromatic scan's colouring */
    uint64_t n_levels; /**< of one pass, = batches */
    uint64_t n_batches;
    uint64_t sweeps;  /**< passes kept, per chain */
    uint64_t burn_in; /**< passes thrown away, per chain */
    uint32_t chains;
    uint64_t updates; /**< variable updates over all chains, burn-in included */
    double compile_s;
    double sampling_s;
    double updates_per_s;
    uint64_t predicted_bytes; /**< what the plan, the chains and the estimators were said to take */
    double max_mcse;          /**< NAN where there is none */
    double max_rhat;
    double min_ess;
    double bias_estimate; /**< of a draw that is not exact: largest difference of a marginal from a
                               short run of the random draw, beyond what chance explains; with
                               restarts a bound on the total variation of every estimated marginal;
                               NAN where the draw is exact or there was no comparison */
    uint32_t n_omitted;   /**< sampled variables that a partial scan never visits */
    double certified; /**< bound on the total variation of every sampled marginal from its limit at
                           the end of burn-in, from any start; NAN unless the option asked for it */
    uint64_t bins;    /**< of draws by bins, given or chosen; 0 else */
    double threshold; /**< of bounded error, given or found; NAN else */
    double n_weights; /**< herding weights of a chain: of dense tables all, of others those met;
                           0 where the draw has none */
    const char *period; /**< of herding at this length: "gibbs-like" (too many weights to be ahead
                             of the random draw yet), "fast" or "plateau" (the bias is larger than
                             the random draw's error); NULL where there was no comparison */
    const char *advised_draw; /**< for this number of sweeps; NULL likewise */
    uint64_t n_constant;      /**< sampled variables that never moved in any chain */
    int has_zeros;            /**< hard zeros remain in a sampled component */
    uint64_t iterations;      /**< of mean field, over all variables; 0 else */
    double residual; /**< of mean field: largest change that one more undamped iteration would make,
                        0 at a fixed point; NAN else */
    double log_z_bound; /**< of mean field: ln Z is at least this; NAN else */
    double target_error;
    int converged;     /**< 1 or 0, see "converged" in gibbsite-marginals(1) */
    char verdict[256]; /**< one sentence */
    char digest[33];   /**< of estimates then errors, XXH3-128 */
    char stop[32];     /**< what ended it: "target", "sweeps", "time", "updates", "signal",
                                  "support" (hard zeros split it: more sweeps are no use), "exact",
                                  "fixed point", "iterations" */
    size_t n_warnings;
    const char *const *warning;
    int lattice;              /**< gbs_bits; if any, the numbers below are there */
    uint32_t lattice_side[3]; /**< fastest first, the middle one 1 for two directions; or 0 */
    double energy;            /**< mean of minus the log density per sampled variable */
    double energy_mcse;       /**< NAN where too few passes allow none, as all below */
    double magnetisation;     /**< mean of the mean spin, states 0 and 1 being -1 and +1 */
    double magnetisation_mcse;
    double abs_magnetisation; /**< mean of its absolute value */
    double abs_magnetisation_mcse;
    uint32_t n_couplings, n_fields;
    gbs_feature coupling[GBS_MOST_COUPLINGS]; /**< J: s s' of bonds J, -s s' of bonds -J */
    gbs_feature field[GBS_MOST_FIELDS];       /**< h: s of the variables with that field */
} gbs_report;

/**
 * Check the options, fold the evidence in, find what can be answered exactly, compile the plan,
 * predict the memory and take it.
 *
 * @param model, evidence  borrowed, outlive the run; evidence may be NULL.
 * @return GBS_ERR_ARGUMENT for an illegal option or combination; GBS_ERR_LIMIT with the figure if
 *         the memory limit would be exceeded; GBS_ERR_IMPOSSIBLE if the evidence is proved to have
 *         probability zero.
 */
GBS_API gbs_status gbs_run_new(const gbs_model *model, const gbs_evidence *evidence,
                               const gbs_run_options *options, gbs_run **run, gbs_error *err);
GBS_API void gbs_run_free(gbs_run *run);

/**
 * Run to the end: starts, burn-in, passes until the options say stop.
 *
 * @return GBS_OK; GBS_STOPPED if it ended before its target (what was reached is there);
 *         GBS_ERR_IMPOSSIBLE if no start was found or a conditional had no positive weight.
 */
GBS_API gbs_status gbs_run_execute(gbs_run *run, const gbs_run_callbacks *callbacks,
                                   gbs_error *err);

/**
 * The marginal of every variable from the draws kept so far: after gbs_run_execute(), or in its
 * callbacks. It changes nothing: several threads may read one run that has ended.
 *
 * @param p     out, ragged: state a of variable v at p[offset[v] + a], offsets from
 *              gbs_model_state_offsets(); observed variables are a point mass.
 * @param mcse  out or NULL, same shape: Monte Carlo standard error, probability units; 0 for exact
 *              entries, NAN where too few batches allow none.
 * @param ess   out or NULL, same shape: effective sample size p(1-p)/mcse^2; NAN for exact entries,
 *              without a standard error, and where the conditional was the same at every pass.
 * @param rhat  out or NULL, same shape: split or between-chain R-hat; NAN where undefined.
 * @return GBS_ERR_STATE if no draw was kept, traces alone are, or gbs_run_execute() failed; all
 *         outputs are then untouched.
 */
GBS_API gbs_status gbs_run_marginals(const gbs_run *run, double *p, double *mcse, double *ess,
                                     double *rhat, gbs_error *err);

/** @return the report; borrowed, valid until the run is freed; complete after gbs_run_execute(). */
GBS_API const gbs_report *gbs_run_report(const gbs_run *run);

#ifdef __cplusplus
}
#endif
#endif
