/* SPDX-License-Identifier: Apache-2.0 */
/* The neighbourhood of a variable v: the variables that share a factor or an extra edge with v, in
 * the order of the model's variables. The number of a joint state of the neighbours therefore
 * depends on the model alone. Only herding needs the neighbourhoods. */
#ifndef GBSI_PLAN_CONTEXT_H
#define GBSI_PLAN_CONTEXT_H

#include "plan/plan.h"

#define GBSI_MANY_CODES (UINT64_C(1) << 63)

typedef struct gbsi_context {
    size_t *start;       /* [n_slots + 1] start of each slot's neighbours */
    uint32_t *neighbour; /* [start[n_slots]] slots of the neighbours, in ascending order of their
                            variables */
    uint64_t *n_codes;   /* [n_slots] number of joint states of each slot's neighbours;
                            GBSI_MANY_CODES if this number is 2^63 or more */
} gbsi_context;

/* Returns an upper bound of the number of entries of gbsi_context.neighbour, which is found by
 * counting scope entries. */
uint64_t gbsi_context_links(const gbsi_plan *plan);

gbs_status gbsi_context_new(const gbsi_plan *plan, gbsi_context *context, gbs_error *err);
void gbsi_context_free(gbsi_context *context); /* zeroes the struct */

#endif
