/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Properties of a model and predicted costs of inference, without running it.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_INFO_H
#define GIBBSITE_INFO_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_N_CLASSES 7
/* Number of classes into which factors are sorted by their number of variables: 0, 1, ..., 14, and
 * 15 or more */
#define GBS_INFO_ORDERS  16
#define GBS_INFO_DEGREES 16
/* Length of arrays with an element for each kind of draw; at least the number of rows in
 * draws.def */
#define GBS_INFO_DRAWS 16

/** Result of the search for an elimination order. */
typedef enum gbs_search_end {
    GBS_SEARCH_DONE = 0,
    GBS_SEARCH_ENTRIES = 1, /**< a component needs more than 2^32 table entries by the best
                               elimination order found, or by every order */
    GBS_SEARCH_WORK = 2,    /**< the work limit ended the search in a component, so that nothing is
                               known about the best order */
} gbs_search_end;

/** Methods by which components are answered exactly. */
typedef enum gbs_exact_form {
    GBS_FORM_TABLES = 1,   /**< a junction tree whose tables are kept */
    GBS_FORM_MESSAGES = 2, /**< a junction tree of which only the messages are kept */
    GBS_FORM_SPARSE =
        4, /**< a junction tree with sparse tables, which hold the nonzero entries only */
    GBS_FORM_CASES = 8,      /**< case by case, given the states of a few variables */
    GBS_FORM_CODEWORDS = 16, /**< a visit to each state that hard parities allow */
} gbs_exact_form;

/** The result of gbs_model_info(). */
typedef struct gbs_info {
    size_t size; /**< in: sizeof(gbs_info), set by the caller */
    uint32_t n_variables;
    uint32_t n_observed;
    uint32_t n_implied; /**< number of variables fixed by propagation of evidence and hard zeros */
    uint32_t n_free;    /**< number of variables that are neither observed nor implied */
    size_t n_factors;
    size_t factors_of_kind[GBS_N_FACTOR_KINDS]; /**< number of factors of each gbs_factor_kind */
    size_t
        factors_of_order[GBS_INFO_ORDERS]; /**< number of factors with each number of variables */
    size_t variables_of_degree[GBS_INFO_DEGREES]; /**< number of variables with each number of
                                                     factors: 0, 1, ..., 14, and 15 or more */
    uint32_t min_arity, max_arity;
    double mean_arity;
    size_t n_table_entries;
    double zero_share;     /**< share of table entries that are minus infinity */
    int has_zeros;         /**< 1: hard zeros remain after propagation */
    uint32_t n_components; /**< number of connected components of the model given the evidence */
    uint32_t largest_component; /**< number of variables in the largest component */
    uint32_t n_enumerable;      /**< number of components of at most 2^20 states, which are answered
                                   exactly by default */
    int bipartite;              /**< 1: the graph of the model can be coloured with two colours */
    uint32_t n_colors;          /**< number of colours of the chromatic scan */
    uint64_t n_levels; /**< number of batches of updates in one pass of the scan that the options
                          name; the batches are run one after the other */
    /** mean number of variables in a batch; the variables of a batch are updated at the same
     *  time */
    double mean_batch;
    uint32_t variables_of_class[GBS_N_CLASSES]; /**< number of variables in each class; see
                                                   gbs_class_name() */
    /** number of variables whose conditionals are summed in double precision */
    uint32_t n_precise;
    int lattice;              /**< gbs_bits: meaning of the bits of a word in class "lattice" */
    uint32_t lattice_side[3]; /**< sides of the lattice, fastest first, if lattice is
                                 GBS_BITS_SITES; else 0 */
    double lattice_share;     /**< share of the bits of a word that are used for spins */
    /* The following fields describe junction trees of the model given the evidence. The elimination
     * orders come from minimum fill or minimum weight and a local search. The fields log2_entries
     * and order_found below also describe these trees. Long logical factors and products of spins
     * are first split into chains of short factors. */
    int search;       /**< a gbs_search_end: the worst result of the components */
    uint32_t width;   /**< largest clique minus 1; a lower bound unless order_found */
    uint64_t entries; /**< number of entries of all tables, at most UINT64_MAX; a lower bound unless
                         order_found */
    uint64_t entry_limit; /**< number of entries of 8 bytes that fit the memory limit */
    int exact_fits; /**< 1: exact marginals fit the memory limit, perhaps only if tables are not
                         kept */
    uint64_t exact_bytes; /**< peak memory of exact inference in bytes, model included; UINT64_MAX:
                             not known */
    /** number of components that method auto answers exactly with these options */
    uint32_t n_auto;
    double max_influence;  /**< largest row sum of the matrix of bounds on Dobrushin influences; if
                              this sum is below 1, every scan forgets its initial state at a
                              geometric rate */
    double mean_influence; /**< mean row sum of this matrix */
    uint64_t model_bytes, plan_bytes, state_bytes, estimator_bytes;
    uint64_t run_bytes;  /**< peak memory of a run with these options in bytes, model included */
    double log2_entries; /**< base-2 logarithm of `entries`; 0 if there is no table */
    int order_found; /**< 1: a complete elimination order was found for every component; width and
                        entries then belong to these orders, even if the tables do not fit memory */
    /** peak memory of exact inference, in bytes as in exact_bytes, under the smallest memory limit
     *  that is sufficient */
    uint64_t exact_least_bytes;
    double exact_s;      /**< seconds that exact marginals take in one thread, as predicted from
                            `entries` */
    uint32_t auto_cases; /**< number of cases into which method auto splits components without a
                              junction tree; same meaning as gbs_exact_cost.n_cases */
    int auto_forms; /**< methods by which method auto answers components exactly: a sum of values of
                       gbs_exact_form */
    double auto_s;  /**< predicted seconds of one thread for the components that method auto answers
                       exactly */
    double auto_nonzero; /**< number of nonzero entries of sparse tables in components that method
                            auto answers exactly */
    uint32_t n_barren;   /**< number of free variables on which no evidence depends; such variables
                              can be left out of any question about other variables */
} gbs_info;

/** The memory that each kind of draw would need in addition to gbs_info.run_bytes. */
typedef struct gbs_draw_sizes {
    size_t size; /**< sizeof(gbs_draw_sizes), set by the caller */
    uint32_t n;  /**< number of kinds of draws in the arrays; 0 if nothing is left to sample. For a
                    lattice with one bit for each spin, the only kind is random */
    const char *name[GBS_INFO_DRAWS]; /**< names of the kinds of draws; static storage */
    uint64_t bytes[GBS_INFO_DRAWS];   /**< bytes for each kind of draw; UINT64_MAX if the number
                                         overflows or was not computed */
    int stopped;  /**< 1: sizes of draws keyed by neighbours' states were not computed, because the
                     model has more than 2^26 pairs of neighbours */
    int reserved; /**< 0 */
} gbs_draw_sizes;

/** @return the name of the class with this index in gbs_info.variables_of_class; NULL beyond the
 *  last. */
GBS_API const char *gbs_class_name(unsigned class_id);

/**
 * Collect the properties of a model given evidence.
 *
 * @param evidence NULL for none.
 * @param options  NULL for the defaults. Scan, chains, estimator and draw affect the predictions
 * for a run; the memory limit affects the predictions for exact inference.
 *
 * The time is linear in the size of the model, plus up to a few hundred milliseconds for components
 * that are hard to eliminate. If tables are large or do not fit memory, the search for an
 * elimination order takes up to four seconds more. In a large model, bounds on influences are
 * looser where several factors share the same variables.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_info(const gbs_model *model, const gbs_evidence *evidence,
                                               const gbs_run_options *options, gbs_info *info,
                                               gbs_error *err);

/**
 * Compute the memory of every kind of draw for the run that gbs_model_info() describes. This is a
 * separate call because it must find all neighbours of all variables, which takes time: herding
 * weights have the neighbours' states as keys.
 *
 * @param evidence, options as in gbs_model_info(); for every draw except options->draw, options
 *         that belong to the draw count as unset.
 *
 * The time is linear in the size of the model and in the number of pairs of neighbours, of which at
 * most 2^26 are counted.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_draw_sizes(const gbs_model *model,
                                                     const gbs_evidence *evidence,
                                                     const gbs_run_options *options,
                                                     gbs_draw_sizes *sizes, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
