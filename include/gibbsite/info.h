/* SPDX-License-Identifier: Apache-2.0 */
/** What a model is, before anything is sampled. */
#ifndef GIBBSITE_INFO_H
#define GIBBSITE_INFO_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_N_FACTOR_KINDS 6
#define GBS_N_CLASSES      6
#define GBS_INFO_ORDERS    16 /* orders 0..14, and 15 or more */
#define GBS_INFO_DEGREES   16

typedef struct gbs_info {
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
    uint64_t model_bytes, plan_bytes, state_bytes, estimator_bytes;
} gbs_info;

GBS_API const char *gbs_class_name(unsigned class_id);
GBS_API const char *gbs_factor_kind_name(gbs_factor_kind kind);

/** @param evidence NULL for none. @param options decide scan and chains. */
GBS_API gbs_status gbs_model_info(const gbs_model *model, const gbs_evidence *evidence,
                                  const gbs_run_options *options, gbs_info *info, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
