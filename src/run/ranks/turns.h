/* SPDX-License-Identifier: Apache-2.0 */
/* Turns in which ranks that share a model change what other ranks see, for scans that draw blocks.
 * Ranks that share a factor have different turns [M72], so that what a rank sees of others stands
 * still in its own. */
#ifndef GBSI_RANKS_TURNS_H
#define GBSI_RANKS_TURNS_H

#include "plan/pass.h"
#include "ranks/share.h"

/* Each rank takes the first turn that no rank before it has with which it shares a factor.
 * @param owner [variables] @param turn [n_ranks] out. */
gbs_status gbsi_turns_of_ranks(const gbsi_factors *factors, const uint32_t *owner, uint32_t n_ranks,
                               uint32_t *turn, gbs_error *err);

/* @param share whose batches are turns. @param reach [slots] out, which turns then point to. */
void gbsi_turns_of_share(const gbs_share *share, uint8_t *reach, gbsi_turns *turns);

#endif
