/* SPDX-License-Identifier: Apache-2.0 */
/* Measures at which levels of a ladder local moves forget the old state. The measure of a level is
 * the lag-one memory of its slowest variable.
 *
 * For variable v at level t, let o be the fraction of moves after which v has the same state as
 * before. Let o' be the fraction of comparisons in which two independent ladders agree on the state
 * of v. The memory of v at level t, and the memory of level t, are
 *     q_tv = (o - o') / (1 - o'),    q_t = max over v of q_tv where o' < 0.9,
 * q_tv is 0 if moves draw independent states, and 1 if v is frozen. A mean over all v, or the
 * memory of the energy, would be no good measure, because it could be small at a level at which
 * some variables never move. */
#ifndef GBSI_TEMPER_OVERLAP_H
#define GBSI_TEMPER_OVERLAP_H

#include "temper/exchange.h"

typedef struct gbsi_overlap gbsi_overlap;

gbs_status gbsi_overlap_new(uint32_t n_variables, uint32_t n_levels, gbsi_overlap **overlap,
                            gbs_error *err);
void gbsi_overlap_free(gbsi_overlap *overlap);
uint64_t gbsi_overlap_bytes(uint32_t n_variables, uint32_t n_levels);

/* Records one variable before and after a local move of all levels. @param before, after [lanes]
 * states of the variable in all lanes. */
void gbsi_overlap_add(gbsi_overlap *overlap, const gbsi_exchange *exchange, uint32_t variable,
                      const uint32_t *before, const uint32_t *after);
/* Memory q_t of level t. */
double gbsi_overlap_memory(const gbsi_overlap *overlap, uint32_t t);
/* Finds the position at which the memory first reaches `most`. Positions are counted in levels from
 * the hottest level, and are interpolated linearly between levels. The memory at b = 0 is taken as
 * 0, because a sweep there draws all states independently of the old ones. @return the position;
 * n_levels - 1 if the memory never reaches `most`.
 * @param most positive. */
double gbsi_overlap_hot_end(const gbsi_overlap *overlap, double most);

/* Save and load everything except the numbers of variables and levels, which the caller sets. */
gbs_status gbsi_overlap_save(const gbsi_overlap *overlap, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_overlap_load(gbsi_overlap *overlap, const gbsi_source *source, gbs_error *err);

#endif
