/* SPDX-License-Identifier: Apache-2.0 */
/* The factors and the neighbours of every slot, from which the keys of herding are made. The
 * surroundings are found once and serve the memory predictions of several drawing methods. */
#ifndef GBSI_DRAW_SURROUNDINGS_H
#define GBSI_DRAW_SURROUNDINGS_H

#include "draw/conditional.h"
#include "plan/context.h"

typedef struct gbsi_surroundings {
    gbsi_conditionals conditionals;
    gbsi_context context; /* neighbours by slot; empty if the caller does not need neighbours */
} gbsi_surroundings;

gbs_status gbsi_surroundings_new(const gbsi_plan *plan, bool neighbours, gbsi_surroundings *out,
                                 gbs_error *err);
void gbsi_surroundings_free(gbsi_surroundings *s); /* zeroes the struct */
uint64_t gbsi_surroundings_bytes(const gbsi_plan *plan, bool neighbours);

#endif
