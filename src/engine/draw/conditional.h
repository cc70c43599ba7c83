/* SPDX-License-Identifier: Apache-2.0 */
/* Full conditionals in double, computed directly from the factors of the model. Herding stores
 * these conditionals, one for each of its keys. Their computation is much slower than a kernel, but
 * happens only once per key. */
#ifndef GBSI_DRAW_CONDITIONAL_H
#define GBSI_DRAW_CONDITIONAL_H

#include "plan/plan.h"

/* factors with more variables are refused, because the states of a factor's variables are kept on
 * the stack */
#define GBSI_LONGEST_SCOPE 2048u

typedef struct gbsi_conditionals {
    const gbsi_plan *plan; /* borrowed */
    size_t *start;         /* [n_slots + 1] start of each variable's factors in `factor` */
    size_t *factor;        /* factors of each variable, in ascending order */
} gbsi_conditionals;

gbs_status gbsi_conditionals_new(const gbsi_plan *plan, gbsi_conditionals *out, gbs_error *err);
void gbsi_conditionals_free(gbsi_conditionals *c); /* zeroes the struct */
uint64_t gbsi_conditionals_bytes(const gbsi_plan *plan);

/* States of one chain by slot. */
typedef struct gbsi_view {
    const void *state; /* [n_slots][lanes]; lanes is 1 if there is no group of chains */
    uint32_t value_bytes, lanes, lane;
} gbsi_view;

uint32_t gbsi_view_at(const gbsi_view *view, uint32_t slot);

/* Computes ln p(a | rest) + const for each state a, summed in factor order; -infinity if a is
 * impossible.
 * @param logw [arity of the slot] out. */
void gbsi_conditional_logw(const gbsi_conditionals *c, uint32_t slot, const gbsi_view *view,
                           double *logw);

/* Turns log-weights into probabilities in place, with sums in the order of the states.
 * @return false if no state has weight; all probabilities are then 0. */
bool gbsi_normalise(double *logw, uint32_t k);

/* Returns round(p 2^32) of state 1, from 1 to 2^32 - 1 [M19]. @param p probabilities of states 0
 * and 1, both positive. */
uint32_t gbsi_chance(const double p[2]);

/* Writes the user's number and the name of a slot's variable to `text`, for messages. @return text.
 */
const char *gbsi_slot_text(const gbsi_plan *plan, uint32_t slot, char text[80]);

#endif
