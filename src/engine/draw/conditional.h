/* SPDX-License-Identifier: Apache-2.0 */
/* A full conditional in double, straight from the factors of the model: what herding keeps for each
 * of its keys. Slow beside a kernel, and asked once per key. */
#ifndef GBSI_DRAW_CONDITIONAL_H
#define GBSI_DRAW_CONDITIONAL_H

#include "plan/plan.h"

#define GBSI_LONGEST_SCOPE 2048u /* factors of more variables are refused: states on the stack */

typedef struct gbsi_conditionals {
    const gbsi_plan *plan; /* borrowed */
    size_t *start;         /* [n_slots + 1] start of the factors of each variable */
    size_t *factor;        /* factors of each variable, in factor order */
} gbsi_conditionals;

gbs_status gbsi_conditionals_new(const gbsi_plan *plan, gbsi_conditionals *out, gbs_error *err);
void gbsi_conditionals_free(gbsi_conditionals *c); /* zeroes the struct */
uint64_t gbsi_conditionals_bytes(const gbsi_plan *plan);

/* States by slot: of one chain among lanes, or of none (lanes 1). */
typedef struct gbsi_view {
    const void *state; /* [n_slots][lanes] */
    uint32_t value_bytes, lanes, lane;
} gbsi_view;

uint32_t gbsi_view_at(const gbsi_view *view, uint32_t slot);

/* ln p(a | rest) + const, -infinity where a is ruled out, summed in factor order.
 * @param logw [arity of the slot] out. */
void gbsi_conditional_logw(const gbsi_conditionals *c, uint32_t slot, const gbsi_view *view,
                           double *logw);

/* Turns log-weights into probabilities, in place, summing in the order of the states.
 * @return false if none is positive: all are 0 then. */
bool gbsi_normalise(double *logw, uint32_t k);

/* round(p 2^32) of state 1, from 1 to 2^32 - 1; [M19]. @param p probabilities of states 0 and 1,
 * both positive.
 */
uint32_t gbsi_chance(const double p[2]);

/* The variable of a slot in the user's numbering, and its name for messages. */
const char *gbsi_slot_text(const gbsi_plan *plan, uint32_t slot, char text[80]);

#endif
