/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Properties of a model and predicted costs of inference, without running it.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults, NULL evidence means no evidence.
 */
#ifndef GIBBSITE_INFO_H
#define GIBBSITE_INFO_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_N_CLASSES    7
#define GBS_INFO_ORDERS  16 /* factors of 0..14 variables, and of 15 or more */
#define GBS_INFO_DEGREES 16
#define GBS_INFO_DRAWS   16 /* at least the number of rows in draws.def */

/** How the search for an elimination order ended. */
typedef enum gbs_search_end {
    GBS_SEARCH_DONE = 0,
    GBS_SEARCH_ENTRIES = 1, /**< a component needs more than 2^32 table entries by the best
                               elimination order found, or by every order */
    GBS_SEARCH_WORK = 2, /**< the work limit ended the search in a component: nothing is proved */
} gbs_search_end;

/** How components are answered exactly. */
typedef enum gbs_exact_form {
    GBS_FORM_TABLES = 1,   /**< a junction tree whose tables are kept */
    GBS_FORM_MESSAGES = 2, /**< a junction tree whose messages alone are kept */
    GBS_FORM_SPARSE = 4,   /**< a junction tree of the table entries that are not zero */
    GBS_FORM_CASES = 8,    /**< case by case, given the states of a few variables */
} gbs_exact_form;

/** The result of gbs_model_info(). */
typedef struct gbs_info {
    size_t size; /**< in: sizeof(gbs_info), set by the caller */
    uint32_t n_variables;
    uint32_t n_observed;
    uint32_t n_implied; /**< fixed by propagation of evidence and hard zeros */
    uint32_t n_free;    /**< neither observed nor implied */
    size_t n_factors;
    size_t factors_of_kind[GBS_N_FACTOR_KINDS];   /**< factors of the model, by gbs_factor_kind */
    size_t factors_of_order[GBS_INFO_ORDERS];     /**< factors by number of variables */
    size_t variables_of_degree[GBS_INFO_DEGREES]; /**< variables by number of factors: 0..14, >= 15
                                                   */
    uint32_t min_arity, max_arity;
    double mean_arity;
    size_t n_table_entries;
    double zero_share;          /**< share of table entries that are minus infinity */
    int has_zeros;              /**< hard zeros remain after propagation */
    uint32_t n_components;      /**< connected components of the model given the evidence */
    uint32_t largest_component; /**< variables in it */
    uint32_t n_enumerable; /**< components of at most 2^20 states: answered exactly by default */
    int bipartite;         /**< 1: two colours suffice */
    uint32_t n_colors;     /**< colours of the chromatic scan */
    uint64_t n_levels; /**< batches of updates that run one after the other in one pass of the scan
                          named in the options */
    double
        mean_batch; /**< mean number of variables in a batch, which are updated at the same time */
    uint32_t variables_of_class[GBS_N_CLASSES]; /**< by class, see gbs_class_name() */
    uint32_t n_precise; /**< variables whose conditionals are summed in double precision */
    int lattice;        /**< gbs_bits: what the bits of a word hold in class "lattice" */
    uint32_t
        lattice_side[3];  /**< sides of the lattice, fastest first, with GBS_BITS_SITES; else 0 */
    double lattice_share; /**< share of the bits of a word that hold a spin */
    /* Junction trees of the model given the evidence, by elimination: minimum fill or weight, then
     * a local search. See log2_entries and order_found below. Long logical factors and products of
     * spins are first split into chains of short factors. */
    int search;            /**< gbs_search_end, the worst over the components */
    uint32_t width;        /**< largest clique minus 1; a lower bound unless order_found */
    uint64_t entries;      /**< entries of all tables, saturating; a lower bound unless
                                order_found */
    uint64_t entry_limit;  /**< entries of 8 bytes that the memory limit leaves */
    int exact_fits;        /**< 1: exact marginals fit the memory limit, if need be
                                without keeping tables */
    uint64_t exact_bytes;  /**< peak of exact inference, model included; UINT64_MAX: not known */
    uint32_t n_auto;       /**< components that method auto answers exactly with these options */
    double max_influence;  /**< largest row sum of bounds on Dobrushin influences; below 1: every
                              scan  forgets its start at a geometric rate */
    double mean_influence; /**< mean row sum of these bounds */
    uint64_t model_bytes, plan_bytes, state_bytes, estimator_bytes;
    uint64_t run_bytes;  /**< peak of a run with these options, model included */
    double log2_entries; /**< of entries; 0 without a table */
    int order_found;     /**< 1: every component has a complete elimination order, whose width and
                              entries these are, whether they fit or not */
    uint64_t exact_least_bytes; /**< like exact_bytes, but with the smallest memory limit that is
                                     sufficient */
    double exact_s; /**< predicted seconds of one thread for exact marginals by these entries */
    uint32_t auto_cases; /**< cases that method auto splits components without a junction tree into,
                            as gbs_exact_cost.n_cases */
    int auto_forms;      /**< how method auto answers components exactly: bits of gbs_exact_form */
    double auto_s; /**< predicted seconds of one thread for the components that method auto answers
                      exactly */
    double auto_nonzero; /**< nonzero entries of the sparse tables among them */
    uint32_t n_barren;   /**< free variables that no evidence depends on: they can be summed out of
                              any question about others */
} gbs_info;

/** The memory that each kind of draw would need in addition to gbs_info.run_bytes. */
typedef struct gbs_draw_sizes {
    size_t size; /**< sizeof(gbs_draw_sizes), set by the caller */
    uint32_t n;  /**< 0: nothing is left to sample; a lattice in bits has the random draw alone */
    const char *name[GBS_INFO_DRAWS]; /**< static */
    uint64_t bytes[GBS_INFO_DRAWS];   /**< UINT64_MAX: more than can be counted, or not looked at */
    int stopped;  /**< 1: the model has more than 2^26 pairs of neighbours, so that draws keyed by
                     the states of neighbours were not looked at */
    int reserved; /**< 0 */
} gbs_draw_sizes;

/** @return the name of an index of gbs_info.variables_of_class; NULL beyond the last. */
GBS_API const char *gbs_class_name(unsigned class_id);

/**
 * Collect the properties of a model given evidence.
 *
 * @param evidence NULL for none.
 * @param options  NULL for the defaults. Scan, chains, estimator and draw affect the predictions
 * for a run, the memory limit those for exact inference.
 *
 * Time linear in the size of the model, plus up to a few hundred milliseconds for components that
 * are hard to eliminate, and up to four seconds in search of an elimination order where tables are
 * large or do not fit. In a large model, bounds on influences are looser where several factors
 * share the same variables.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_info(const gbs_model *model, const gbs_evidence *evidence,
                                               const gbs_run_options *options, gbs_info *info,
                                               gbs_error *err);

/**
 * Compute the memory of every draw for the run that gbs_model_info() describes. It takes a call of
 * its own because herded draws are keyed by neighbours, which must be found first.
 *
 * @param evidence, options as in gbs_model_info(); options of another draw than options->draw count
 *                 as unset.
 *
 * Time linear in the model and in its pairs of neighbours, of which at most 2^26 are looked at.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_draw_sizes(const gbs_model *model,
                                                     const gbs_evidence *evidence,
                                                     const gbs_run_options *options,
                                                     gbs_draw_sizes *sizes, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
