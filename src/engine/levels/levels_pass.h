/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over a picture: a gbsi_pass whose compiled form is a gbsi_levels. */
#ifndef GBSI_LEVELS_LEVELS_PASS_H
#define GBSI_LEVELS_LEVELS_PASS_H

#include "levels/levels_chains.h"
#include "plan/pass.h"

extern const gbsi_pass gbsi_pass_levels;

/* The mean conditional of a site over all chains and passes that were kept, one at least.
 * @param state state of the pass. @param p [n_levels] out. */
void gbsi_levels_marginal(const void *state, uint32_t site, double *p);

/* For tests: how many operations there are between two looks at the watch. */
void gbsi_levels_look_every(void *state, double between_looks);

#endif
