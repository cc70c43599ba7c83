/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Certificates and optimised scans: how far a Gibbs sampler can still be from its target after so
 * many updates, whatever its start, and the scan that makes this bound small for what is asked.
 *
 *     gbs_influences *c = NULL;
 *     uint64_t steps = 1000;
 *     double bound = 0;
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
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_DOBRUSHIN_H
#define GIBBSITE_DOBRUSHIN_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the influence of one variable on the conditional of another is found. */
typedef enum gbs_influence_rule {
    GBS_INFLUENCE_AUTO =
        100, /**< by enumeration where that is quick for the whole model, else bounds */
    GBS_INFLUENCE_BOUND = 1, /**< upper bounds from the factors */
    GBS_INFLUENCE_EXACT = 2, /**< by enumeration of the neighbours, up to 2^16 configurations a
                             variable and 2^36 table entries in all; beyond them bounds */
} gbs_influence_rule;

typedef struct gbs_influence_options {
    size_t
        size; /**< sizeof(gbs_influence_options), or 0: only the fields of version 0.2 are read */
    int rule; /**< gbs_influence_rule; 0 stands for GBS_INFLUENCE_AUTO */
    int reserved;          /**< 0 */
    uint64_t memory_limit; /**< bytes the matrix may take; 0: half of the machine's memory */
    /** Asked every millisecond or so by all work on these influences, on the calling thread; may be
     *  NULL. @return nonzero to stop: gbs_scan_optimise() then returns the scan it has reached, any
     *  other call GBS_ERR_LIMIT with a message that says what it was doing. */
    int (*stop)(void *context);
    void *stop_context; /**< what stop is called with; outlives the influences */
} gbs_influence_options;

/** The matrix C of influences of a model given evidence. */
typedef struct gbs_influences gbs_influences;

/** What the matrix is. C_ij, the influence of j on i, is the largest total variation between
 *  conditionals of i whose neighbours differ in j alone. */
typedef struct gbs_influence_report {
    size_t size; /**< of the struct in this library: fields behind it are not there */
    uint32_t n_variables;
    uint32_t n_free;    /**< neither observed nor implied: the size of C */
    uint64_t n_entries; /**< pairs of variables that share a factor, each way */
    uint32_t n_exact;   /**< rows found by enumeration, the others are bounds */
    uint32_t n_refused; /**< rows that exact asked for and that have too many configurations */
    double largest_sum; /**< of a row; below 1 is Dobrushin's condition */
    double mean_sum;
} gbs_influence_report;

/** Intervals that hold norms of the matrix. */
typedef struct gbs_influence_norms {
    double two_lo, two_hi;       /**< the 2-norm */
    double radius_lo, radius_hi; /**< spectral radius: below 1 all variations go to 0 */
} gbs_influence_norms;

/**
 * Condition the model and find the influences.
 *
 * @param model, evidence  borrowed, outlive the influences; evidence may be NULL.
 * @param options          NULL for the defaults.
 * @return GBS_ERR_LIMIT with the figure; GBS_ERR_IMPOSSIBLE if the evidence is proved to have
 *         probability zero; GBS_ERR_MEMORY. Time and memory linear in the pairs of variables that
 *         share a factor.
 */
GBS_API gbs_status gbs_influences_new(const gbs_model *model, const gbs_evidence *evidence,
                                      const gbs_influence_options *options, gbs_influences **out,
                                      gbs_error *err);
GBS_API void gbs_influences_free(gbs_influences *influences);
/** @return the report; borrowed, valid until the influences are freed. */
GBS_API const gbs_influence_report *gbs_influences_report(const gbs_influences *influences);
/** Norms by power iteration, up to 1000 products with the matrix or 2^27 entries multiplied. */
GBS_API gbs_status gbs_influences_norms(const gbs_influences *influences,
                                        gbs_influence_norms *norms, gbs_error *err);
/** C_ij for two variables of the model; 0 where one is not free or they share no factor. */
GBS_API double gbs_influence(const gbs_influences *influences, uint32_t i, uint32_t j);

/**
 * Bounds V on total variation after numbers of updates, from any start.
 *
 * With weights 1 on a set of variables V bounds the total variation of their joint distribution
 * from the target's; with any weights d, the difference of expectations of functions that change by
 * at most d_i when x_i does. A total variation is at most 1, whatever V.
 *
 * @param options    scan, origin and sequence are used: chromatic, systematic, random or a
 *                   sequence, read again and again; variables it omits count with weight as long
 *                   as they have any: V then never goes to 0. NULL for the defaults.
 * @param n_targets, weight  [n_targets][n_variables] >= 0, the user's numbering; NULL: all 1.
 * @param n_steps, steps     [n_steps] ascending numbers of single-variable updates.
 * @param value      out, [n_steps][n_targets].
 * @return GBS_ERR_ARGUMENT for a permuted scan, of which there is no closed form, or weights that
 *         are negative or not finite; GBS_ERR_LIMIT beyond 2^36 updates times neighbours.
 */
GBS_API gbs_status gbs_variation(const gbs_influences *influences, const gbs_run_options *options,
                                 size_t n_targets, const double *const *weight, size_t n_steps,
                                 const uint64_t *steps, double *value, gbs_error *err);

/** The number of updates in one pass of a scan: of a random one as many as free variables. */
GBS_API gbs_status gbs_pass_length(const gbs_influences *influences, const gbs_run_options *options,
                                   uint64_t *n, gbs_error *err);

/** Whether and when a variation falls below a bound. */
typedef struct gbs_sufficient {
    int found;       /**< 0: not within the passes below */
    uint64_t passes; /**< the first whole number that suffices; not found: tried */
    uint64_t steps;  /**< updates in so many */
    double value;    /**< V there */
} gbs_sufficient;

/**
 * The first whole number of passes after which V is at most `accuracy`. Given up where V has
 * stopped falling, or after 2^20 passes or 2^34 updates times neighbours.
 *
 * @param weight [n_variables] or NULL: all 1. @return as gbs_variation().
 */
GBS_API gbs_status gbs_variation_within(const gbs_influences *influences,
                                        const gbs_run_options *options, const double *weight,
                                        double accuracy, gbs_sufficient *out, gbs_error *err);

/** What an optimised scan is for; zero it and set what applies. */
typedef struct gbs_scan_request {
    size_t size; /**< sizeof(gbs_scan_request), or 0: only the fields of version 0.2 are read */
    const double *weight; /**< [n_variables] >= 0; NULL: all 1 */
    uint64_t origin;      /**< of the systematic scan that is improved */
    uint64_t steps;       /**< length; 0: found by doubling from 2 until `accuracy` is met */
    double accuracy;      /**< with steps: stop improving once V is at most this, 0: never;
                               without: what the scan has to reach, or with match ... */
    uint64_t match;       /**< ... V of the systematic scan of so many updates, 0: accuracy says */
    int iterate;          /**< 1: improve the result again until that no longer helps */
} gbs_scan_request;

typedef struct gbs_scan_report {
    size_t size;        /**< in: sizeof(gbs_scan_report) */
    double goal;        /**< V to be reached; 0: none */
    double before;      /**< V of the systematic scan of the same length */
    double after;       /**< V of the scan */
    uint32_t rounds;    /**< improvements of the last length */
    uint32_t n_visited; /**< different variables in it */
} gbs_scan_report;

/**
 * A scan with a small variation: coordinate descent from the systematic one, [M39].
 *
 * @param sequence out, the user's numbering, caller frees with gbs_free(). @param n out.
 * @param report   out or NULL.
 * @return GBS_STOPPED if gbs_influence_options.stop ended it: the best scan so far, whose V may be
 *         above the goal; GBS_ERR_LIMIT if it ended before there was one.
 *         GBS_ERR_UNSUPPORTED if no length up to 2^28 updates reaches the goal, or the memory
 *         limit of the influences says fewer; GBS_ERR_ARGUMENT. V of the result is never above V of
 *         the systematic scan of its length. Time O(length * neighbours).
 */
GBS_API gbs_status gbs_scan_optimise(const gbs_influences *influences,
                                     const gbs_scan_request *request, uint32_t **sequence,
                                     size_t *n, gbs_scan_report *report, gbs_error *err);

/** Read a file of weights: "weights 1", "variables N", then pairs of a variable and its weight.
 *  @param weight out, [n_variables]; 0 for variables that are not listed. */
GBS_API gbs_status gbs_weights_read(const char *path, const gbs_model *model, double *weight,
                                    gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
