/* SPDX-License-Identifier: Apache-2.0 */
/* What will be written of a model as a DimmWitted factor graph, settled (and refused) before any
 * file is touched. */
#ifndef GBSI_IO_DIMMWITTED_PLAN_H
#define GBSI_IO_DIMMWITTED_PLAN_H

#include "io/dimmwitted_factor.h"

typedef struct gbsi_dw_plan {
    const gbs_model *model; /* borrowed */
    uint32_t *clamped;      /* [n_variables] gbs_model_clamped() */
    uint8_t *own_values;    /* [n_variables] 1: its labels are its domain values */
    bool any_own_values;
    size_t n_groups;      /* text form: factors of one function, arity and literals; else 1 */
    size_t *group_start;  /* [n_groups + 1] */
    size_t *order;        /* [group_start[n_groups]] factors, by group */
    size_t n_labels_lost; /* variables whose labels are no domain values */
    size_t n_rewritten, n_shifted;
} gbsi_dw_plan;

/* @param grouped text form. */
gbs_status gbsi_dw_plan_init(gbsi_dw_plan *plan, const gbs_model *model, bool grouped,
                             gbs_error *err);
void gbsi_dw_plan_free(gbsi_dw_plan *plan);

/* The domain value of a state. */
uint64_t gbsi_dw_value(const gbsi_dw_plan *plan, uint32_t variable, uint32_t state);
/* What literal i of a group is compared with, outside its factors. */
uint64_t gbsi_dw_fixed_value(const gbsi_dw_plan *plan, const gbsi_dw_rule *rule, uint32_t i);

#endif
