/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Certificates: upper bounds on the distance of a Gibbs sampler from its target distribution after
 * a number of updates, from any initial state. Optimised scans: sequences of updates that make such
 * a bound small. Coupled chains: estimates of such bounds if no certificate is found.
 *
 *     gbs_influences *c = NULL;
 *     uint64_t steps = 1000;
 *     gbs_variation_bound bound;
 *     gbs_influences_new(model, NULL, NULL, &c, &err);
 *     gbs_variation(c, NULL, 1, NULL, 1, &steps, &bound, &err);
 *
 *     gbs_scan_request request = {.accuracy = 0.01};
 *     uint32_t *sequence = NULL;
 *     size_t n = 0;
 *     gbs_scan_optimise(c, &request, &sequence, &n, NULL, &err);
 *
 * Dobrushin (1970); Mitliagkas & Mackey (2017), Improving Gibbs sampler scan quality with DoGS,
 * ICML; formulas and corrections in docs/math.md, [M17], [M38] and [M39].
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_DOBRUSHIN_H
#define GIBBSITE_DOBRUSHIN_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the influence of one variable on the conditional distribution of another is computed. */
typedef enum gbs_influence_rule {
    GBS_INFLUENCE_AUTO = 100, /**< enumeration if enumeration is fast for the whole model, otherwise
                                   upper bounds */
    GBS_INFLUENCE_BOUND = 1,  /**< upper bounds from the factors */
    GBS_INFLUENCE_EXACT =
        2, /**< enumeration of the neighbours' states; upper bounds if enumeration needs more than
              2^16 configurations for a variable or 2^36 table entries in all */
} gbs_influence_rule;

typedef struct gbs_influence_options {
    size_t size;           /**< sizeof(gbs_influence_options); 0: the fields of its first version */
    int rule;              /**< a gbs_influence_rule; 0 means GBS_INFLUENCE_AUTO */
    int reserved;          /**< 0 */
    uint64_t memory_limit; /**< memory limit in bytes, program and model included; 0: half of the
                              machine's memory or cgroup limit */
    /** NULL, or a function that all calls with these influences call about every millisecond, on
     * the calling thread. @return nonzero to stop: gbs_scan_optimise() then returns the best scan
     * so far, any other call returns GBS_ERR_STOPPED with a message that names the step of the
     * computation.
     */
    int (*stop)(void *context);
    void *stop_context; /**< first argument of stop; borrowed until the influences are freed */
    /** NULL: influences are computed. Otherwise [n_given] triples (i, j, value): entry C_ij of the
     * matrix C is `value`, from 0 to 1. An entry may be given only once, and entries on the
     * diagonal must be 0. All entries that are not given are 0, and `rule` is ignored. Bounds are
     * valid only if no entry is below the influence of j on i; the library does not check this.
     * gbs_influences_read() reads such entries from a file. Borrowed during the call. */
    const gbs_pair *given;
    size_t n_given; /**< number of entries in `given` */
} gbs_influence_options;

/** The matrix C of influences of a model given evidence. */
typedef struct gbs_influences gbs_influences;

/** Properties of the matrix. C_ij, the influence of j on i, is the largest total variation distance
 *  between two conditional distributions of i given states of the neighbours that differ in j
 *  alone. */
typedef struct gbs_influence_report {
    size_t size; /**< size of the library's struct in bytes; fields beyond this size must not be
                    read */
    uint32_t n_variables;
    uint32_t n_free; /**< number of variables that are neither observed nor implied by evidence: the
                          number of rows of C */
    uint64_t n_entries; /**< number of ordered pairs of variables that share a factor; with given
                             influences, number of ordered pairs in which one variable influences
                             the other */
    /** number of rows computed by enumeration; the other rows are upper bounds */
    uint32_t n_exact;
    uint32_t n_refused; /**< with GBS_INFLUENCE_EXACT: number of rows with too many configurations
                           to enumerate */
    double largest_sum; /**< largest sum of a row of C; if it is below 1, Dobrushin's condition is
                             satisfied */
    double mean_sum;    /**< mean sum of a row of C */
    uint64_t n_given;   /**< number of entries that the caller gave; 0: influences were computed */
} gbs_influence_report;

/** Intervals that are proved to contain the 2-norm and the spectral radius of the matrix. */
typedef struct gbs_influence_norms {
    double two_lo, two_hi;       /**< the 2-norm */
    double radius_lo, radius_hi; /**< bounds on the spectral radius; if the radius is below 1, every
                                    variation V tends to 0 */
} gbs_influence_norms;

/**
 * Condition the model on the evidence, and compute the influences or take options->given.
 *
 * @param model, evidence  borrowed, outlive the influences; evidence may be NULL.
 * @param options          NULL for the defaults.
 * @return GBS_ERR_LIMIT, with the bytes needed, if the matrix exceeds the memory limit;
 *         GBS_ERR_IMPOSSIBLE if the evidence is proved to have probability zero; GBS_ERR_MEMORY;
 *         GBS_ERR_ARGUMENT for a given entry that cannot be an influence. Time and memory are
 *         linear in the number of pairs of variables that share a factor.
 */
GBS_API GBS_MUST_USE gbs_status gbs_influences_new(const gbs_model *model,
                                                   const gbs_evidence *evidence,
                                                   const gbs_influence_options *options,
                                                   gbs_influences **out, gbs_error *err);
GBS_API void gbs_influences_free(gbs_influences *influences);
/** @return the report; borrowed, valid until the influences are freed. */
GBS_API const gbs_influence_report *gbs_influences_report(const gbs_influences *influences);
/** Bound the 2-norm and the spectral radius by power iteration, with at most 1000 products with the
 *  matrix or 2^27 products of entries. */
GBS_API GBS_MUST_USE gbs_status gbs_influences_norms(const gbs_influences *influences,
                                                     gbs_influence_norms *norms, gbs_error *err);
/** @return C_ij, the influence of variable j on variable i; 0 if i or j is not free, if i and j
 * share no factor, or if influences were given without this entry. */
GBS_API double gbs_influence(const gbs_influences *influences, uint32_t i, uint32_t j);

/** An upper bound on the error after a number of updates, from any starting state. b_i is a bound
 * on the probability that two coupled chains still differ at variable i, d_i is the weight of
 * variable i, and S is the set of free variables of positive weight (Mitliagkas & Mackey 2017,
 * Definitions 3 and 4, Theorem 8): */
typedef struct gbs_variation_bound {
    double variation; /**< V, the sum of d_i b_i */
    double functions; /**< min(V, sum of d_i): bound on the error of the expectation of any function
                           that changes by at most d_i when x_i changes */
    double total_variation; /**< min(1, sum of b_i over S): bound, for any weights, on the total
                                 variation distance of the joint distribution of S */
} gbs_variation_bound;

/**
 * Compute bounds on the distance from the target distribution after given numbers of updates, from
 * any start. If the variables of a set have weight 1 and all others weight 0, a V below 1 is the
 * bound on the total variation distance of the joint distribution of the set. With other weights V
 * is no such bound.
 *
 * @param options    NULL for the defaults. Only scan, origin and sequence are used. The scan must
 *                   be chromatic, systematic, random or a sequence; a sequence is repeated, and
 *                   may have entries GBS_STEP_UNIFORM. V does
 *                   not tend to 0 if a sequence omits a variable of positive weight.
 * @param n_targets, weight  [n_targets][n_variables] weights >= 0, indexed by variable id; NULL:
 * all weights 1.
 * @param n_steps, steps     [n_steps] ascending numbers of single-variable updates.
 * @param bound      out, [n_steps][n_targets].
 * @return GBS_ERR_ARGUMENT for a permuted scan, for which no closed form is known, for an origin
 *         with a scan that does not use it, or for weights that are negative or not finite;
 *         GBS_ERR_LIMIT if the work exceeds 2^36 (updates times neighbours).
 */
GBS_API GBS_MUST_USE gbs_status gbs_variation(const gbs_influences *influences,
                                              const gbs_run_options *options, size_t n_targets,
                                              const double *const *weight, size_t n_steps,
                                              const uint64_t *steps, gbs_variation_bound *bound,
                                              gbs_error *err);

/** Count the updates in one pass of a scan; a pass of the random scan has as many updates as there
 *  are free variables. */
GBS_API GBS_MUST_USE gbs_status gbs_pass_length(const gbs_influences *influences,
                                                const gbs_run_options *options, uint64_t *n,
                                                gbs_error *err);

/** The number of passes after which a variation V has fallen to a given accuracy. With weights
 * other than 0 and 1, V is no bound on a total variation distance. */
typedef struct gbs_sufficient {
    int found; /**< 1: V fell to the accuracy; 0: V did not fall to the accuracy within `passes`
                  passes */
    uint64_t passes; /**< found = 1: the smallest number of passes; found = 0: the number of passes
                          tried */
    uint64_t steps;  /**< number of updates in these passes */
    double value;    /**< V after these passes */
} gbs_sufficient;

/**
 * Find the smallest number of passes after which V is at most `accuracy`. The search ends without a
 * result when V stops falling, after 2^20 passes, or when updates times neighbours exceed 2^34.
 *
 * @param weight [n_variables] or NULL: all weights 1. @return the values of gbs_variation().
 */
GBS_API GBS_MUST_USE gbs_status gbs_variation_within(const gbs_influences *influences,
                                                     const gbs_run_options *options,
                                                     const double *weight, double accuracy,
                                                     gbs_sufficient *out, gbs_error *err);

/** Description of the scan that gbs_scan_optimise() has to find; set the struct to zero, then set
 *  the fields that apply. */
typedef struct gbs_scan_request {
    size_t size;          /**< sizeof(gbs_scan_request); 0: the fields of its first version */
    const double *weight; /**< [n_variables] >= 0; NULL: all weights 1 */
    uint64_t origin;      /**< first variable of the systematic scan that is improved */
    uint64_t steps;  /**< number of updates in the scan; 0: the library doubles the number from 2 on
                          until V reaches the goal */
    double accuracy; /**< with steps > 0: improvement stops once V is at most this value; 0: V never
                          stops the improvement. With steps = 0 and match = 0: the goal for V */
    uint64_t match;  /**< with steps = 0: the goal is V of the systematic scan after this many
                        updates; if match is 0, the goal is accuracy */
    int iterate;     /**< 1: improve the result again until V no longer falls */
    /** options of the scan that is improved. Only scan, origin and sequence are used; a sequence is
     * repeated until it has the length of the scan that is searched for. NULL: the systematic scan
     * from origin. With the random scan, the distribution q_t of the variable that step t updates
     * is uniform (Mitliagkas & Mackey 2017, Definition 7). A sequence may have such steps too:
     * GBS_STEP_UNIFORM. The search then takes time O(length * (influences + variables)) */
    const gbs_run_options *start;
} gbs_scan_request;

/** The result of gbs_scan_optimise(). */
typedef struct gbs_scan_report {
    size_t size; /**< in: sizeof(gbs_scan_report) */
    double
        goal; /**< goal for V: the optimised scan must have this V or a smaller one; 0: no goal */
    double
        before; /**< V of the scan that was improved, with as many updates as the optimised scan */
    double after;       /**< V of the optimised scan */
    uint32_t rounds;    /**< number of rounds of improvement at the final length */
    uint32_t n_visited; /**< number of different variables in the scan, without those that only
                           updates of GBS_STEP_UNIFORM take */
    uint64_t
        n_left; /**< number of updates at the beginning that were not yet chosen when a search
                   from a scan with uniform updates was stopped; these updates are those of
                   request->start, GBS_STEP_UNIFORM or a variable. 0: all updates were chosen */
} gbs_scan_report;

/**
 * Find a scan with a small variation V by coordinate descent from request->start [M39]. V of the
 * result is at most V of a start of the same length.
 *
 * @param sequence out, variable ids, or GBS_STEP_UNIFORM if report->n_left > 0; caller frees with
 *                 gbs_free(). @param n out: length of the sequence.
 * @param report   out or NULL.
 * @return GBS_STOPPED if gbs_influence_options.stop ended the search: sequence is then the best
 *         scan so far, whose V may be above the goal (if the search was stopped while it doubled
 *         lengths, this is the last finished scan, unless the longer one is already better);
 *         GBS_ERR_STOPPED if gbs_influence_options.stop ended the search before a scan was found;
 *         GBS_ERR_UNSUPPORTED if no length up to 2^28 updates, or up to the length that the memory
 *         limit of the influences allows, reaches the goal; GBS_ERR_ARGUMENT. Time O(length *
 *         neighbours).
 */
GBS_API GBS_MUST_USE gbs_status gbs_scan_optimise(const gbs_influences *influences,
                                                  const gbs_scan_request *request,
                                                  uint32_t **sequence, size_t *n,
                                                  gbs_scan_report *report, gbs_error *err);

/** Options of the pairs of chains of gbs_couple(); set the struct to zero, then set the fields that
 *  apply. */
typedef struct gbs_coupling_request {
    size_t size;    /**< sizeof(gbs_coupling_request); 0: the fields of its first version */
    uint64_t pairs; /**< number of pairs of chains, 2 to 65536; 0: 64 */
    /** lag L: number of passes by which the first chain is ahead, up to 2^20. 0: the library runs
     *  16 other pairs with lag 1, and L is one more than the number of passes until all of them
     *  have met */
    uint64_t lag;
    uint64_t sweeps; /**< largest number of passes of the second chain, up to 2^20; a pair of chains
                        that have not met after these passes is given up. 0: 1000 */
} gbs_coupling_request;

/** Estimates of upper bounds on a total variation distance. An estimate is a mean over pairs, and
 *  its standard error is at least 1 / pairs. A bound of 1 or more carries no information. */
typedef struct gbs_coupling_bound {
    double joint;      /**< bound for the joint distribution of the variables of positive weight */
    double joint_mcse; /**< standard error of `joint` */
    double variable;   /**< bound for the marginal of variable `worst`: the largest bound for the
                          marginal of one variable */
    double variable_mcse; /**< standard error of `variable` */
    uint32_t worst;       /**< variable with the largest bound; UINT32_MAX: no variable is free */
    uint32_t reserved;    /**< 0 */
} gbs_coupling_bound;

/** Counts and times of the pairs of gbs_couple(). */
typedef struct gbs_coupling_report {
    size_t size;     /**< in: sizeof(gbs_coupling_report) */
    uint64_t pairs;  /**< number of pairs of chains */
    uint64_t met;    /**< number of pairs whose chains met. If `met` is less than `pairs`, the
                        estimates are lower bounds of the expectations */
    uint64_t lag;    /**< lag L in passes */
    uint64_t sweeps; /**< number of passes after which a pair was given up */
    uint64_t
        longest; /**< number of passes of the second chain until the chains of the last pair met */
    double mean; /**< mean number of passes until the chains of a pair met; NAN: no pair met */
} gbs_coupling_report;

/**
 * Estimate how far chains of a model are from their target distribution after given numbers of
 * passes. The estimate comes from pairs of coupled chains. In a pair, chain X is L passes ahead of
 * chain Y (Biswas, Jacob & Vanetti 2019, Estimating convergence of Markov chains with L-lag
 * couplings, NeurIPS; [M82]). X and Y begin independently, as the chains of a run do; each update
 * draws the states of both chains from the maximal coupling of their two conditionals. Let S be a
 * set of variables. After t passes, the total variation distance of S from its target distribution
 * is at most the expectation of
 *
 *     the number of j >= 0 with X_(t + (j+1) L) and Y_(t + j L) different somewhere in S
 *
 * gbs_couple() estimates this expectation. A large estimate shows that chains need more passes. A
 * small estimate alone does not show that the number of passes is sufficient: if the chains of all
 * pairs start in one mode, they meet at once, and the estimate is 0.
 *
 * @param influences influences of the model and its evidence; their `stop` and memory limit apply.
 * @param options    NULL for the defaults. Only scan, origin, sequence, seed and threads are used;
 *                   the scan must be one that gbs_variation() accepts and must update every free
 *                   variable. The result has the same bits on any number of threads.
 * @param request    NULL for the defaults.
 * @param n_targets, weight  [n_targets][n_variables] >= 0: S are the variables of weight above 0;
 *         NULL: all variables.
 * @param n_times, sweeps    [n_times] numbers of passes t.
 * @param bound      out, [n_times][n_targets].
 * @param each NULL, or out, [n_times][n_variables]: the estimate for each variable alone, that is,
 *         for S = {v}.
 * @param report     out.
 * @return GBS_STOPPED if gbs_influence_options.stop ended the call: pairs that were not finished or
 *         not begun count as not met; GBS_ERR_STOPPED if no pair was finished; GBS_ERR_ARGUMENT for
 *         other scans; GBS_ERR_IMPOSSIBLE or GBS_ERR_NOT_FOUND if no initial state of positive
 *         weight is found; GBS_ERR_MEMORY. Memory: (4 n_times + 20) bytes times variables for each
 *         thread.
 */
GBS_API GBS_MUST_USE gbs_status gbs_couple(const gbs_influences *influences,
                                           const gbs_run_options *options,
                                           const gbs_coupling_request *request, size_t n_targets,
                                           const double *const *weight, size_t n_times,
                                           const uint64_t *sweeps, gbs_coupling_bound *bound,
                                           double *each, gbs_coupling_report *report,
                                           gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
