/* SPDX-License-Identifier: Apache-2.0 */
/** What a model is, before anything is sampled. *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_INFO_H
#define GIBBSITE_INFO_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_N_FACTOR_KINDS 6
#define GBS_N_CLASSES      7
#define GBS_INFO_ORDERS    16 /* orders 0..14, and 15 or more */
#define GBS_INFO_DEGREES   16
#define GBS_INFO_DRAWS     16 /* rules that pick values, at most */

/** How the search for an elimination order ended. */
typedef enum gbs_search_end {
    GBS_SEARCH_DONE = 0,
    GBS_SEARCH_ENTRIES = 1, /**< some component needs more table entries than memory holds */
    GBS_SEARCH_WORK = 2,    /**< given up on some component: nothing is proved */
} gbs_search_end;

typedef struct gbs_info {
    size_t size; /**< in: sizeof(gbs_info) */
    uint32_t n_variables;
    uint32_t n_observed;
    uint32_t n_implied; /**< fixed by evidence and hard zeros through propagation */
    uint32_t n_free;
    size_t n_factors;
    size_t factors_of_kind[GBS_N_FACTOR_KINDS]; /**< the user's, by gbs_factor_kind */
    size_t factors_of_order[GBS_INFO_ORDERS];
    size_t variables_of_degree[GBS_INFO_DEGREES]; /**< factors per variable: 0..14, 15 or more */
    uint32_t min_arity, max_arity;
    double mean_arity;
    size_t n_table_entries;
    double zero_share;     /**< share of table entries that are minus infinity */
    int has_zeros;         /**< hard zeros remain after propagation */
    uint32_t n_components; /**< of the conditioned model */
    uint32_t largest_component;
    uint32_t n_enumerable; /**< components of at most 2^20 states: answered exactly by default */
    int bipartite;
    uint32_t n_colors;
    uint64_t n_levels;                          /**< of one pass of the scan in the options */
    double mean_batch;                          /**< places per batch */
    uint32_t variables_of_class[GBS_N_CLASSES]; /**< sampled class: see gbs_class_name() */
    uint32_t n_precise;                         /**< of these, compiled for double sums */
    int lattice;              /**< class "lattice": gbs_bits, what a word has in its bits */
    uint32_t lattice_side[3]; /**< of sites in bits: fastest first; else 0 */
    double lattice_share;     /**< share of the bits worked on that are in use */
    /** Elimination by minimum fill or weight of the conditioned model, component by component, long
     *  logical factors and products of spins as chains of short ones. */
    int search;           /**< gbs_search_end, the worst over the components */
    uint32_t width;       /**< largest clique less one; if the search was stopped, at least */
    uint64_t entries;     /**< of all tables of a junction tree, saturating; likewise */
    uint64_t entry_limit; /**< of one component: what the memory limit leaves, 8 bytes each */
    int exact_fits;       /**< every component's tables fit the limit */
    uint64_t exact_bytes; /**< peak of an exact answer, the model included; UINT64_MAX: not known */
    uint32_t n_auto;      /**< components of at most 2^26 entries, and that fit */
    double max_influence; /**< row sums of the bounds on Dobrushin's influences */
    double mean_influence; /**< below 1 for all rows: every scan forgets its start geometrically */
    uint64_t model_bytes, plan_bytes, state_bytes, estimator_bytes;
    uint64_t run_bytes; /**< peak of a run with these options, the model and its forms included */
    uint32_t n_draws;   /**< what each draw would keep for the run, beside the above */
    const char *draw_name[GBS_INFO_DRAWS]; /**< static */
    uint64_t draw_bytes[GBS_INFO_DRAWS];   /**< UINT64_MAX: more than can be counted */
} gbs_info;

GBS_API const char *gbs_class_name(unsigned class_id);
GBS_API const char *gbs_factor_kind_name(gbs_factor_kind kind);

/**
 * @param evidence NULL for none.
 * @param options  NULL for the defaults: scan, chains, estimator and draw decide about the run,
 *                 the memory limit about exact inference.
 *
 * Time linear in the model, with a few hundred milliseconds more for what is hard to eliminate.
 * Bounds on influences are looser where several factors tie the same variables in a large model.
 */
GBS_API gbs_status gbs_model_info(const gbs_model *model, const gbs_evidence *evidence,
                                  const gbs_run_options *options, gbs_info *info, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
