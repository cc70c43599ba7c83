/* SPDX-License-Identifier: Apache-2.0 */
/* Any factors, summed in double [M13]: for variables whose float sums could err by more than
 * GBSI_ROUNDING_LIMIT. Plain C on purpose: few variables need it, and it is what the vector
 * kernels are compared with. */
#include "plan/kernel.h"

#define REAL     double
#define POOL     plan->pool64
#define FIELD    plan->field64
#define TAKE_TOP true
#include "kernel/terms_scalar.h"

static void fill16(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    fill_scalar(plan, group, tile, 0, 16 * tile->n_rows, 16);
}

static void fill1(const gbsi_plan *plan, const gbsi_group *group, gbsi_tile *tile)
{
    fill_scalar(plan, group, tile, 0, 16 * tile->n_rows, 1);
}

extern const gbsi_kernel gbsi_kernel_precise;
const gbsi_kernel gbsi_kernel_precise = {"precise", fill16, fill1};
