/* SPDX-License-Identifier: Apache-2.0 */
/* Herding of variables of more than two states by bins of their conditional, one place and chain at
 * a time: the keys that can occur are too many to be laid out, so that weights are made when a key
 * is met (table.h), grown before a pass. */
#ifndef GBSI_DRAW_BIN_ROWS_H
#define GBSI_DRAW_BIN_ROWS_H

#include "draw/herd.h"

#define GBSI_MOST_BINNED 4096u /* states: keys are made on the stack */

/* At most what the tables of these options can grow to, in bytes. */
uint64_t gbsi_bin_rows_bytes(const gbsi_draw_job *job);
/* Tables, empty, of all slots of more than two states. */
gbs_status gbsi_bin_rows_new(gbsi_herd *herd, gbs_error *err);
void gbsi_bin_rows_free(gbsi_herd *herd);
gbs_status gbsi_bin_rows_begin_pass(gbsi_herd *herd, const struct gbsi_schedule *schedule,
                                    gbs_error *err);
/* Room for one more update of the slot in all chains. */
gbs_status gbsi_bin_rows_expect(gbsi_herd *herd, uint32_t slot, gbs_error *err);
gbs_status gbsi_bin_rows_save(const gbsi_herd *herd, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_bin_rows_load(gbsi_herd *herd, const gbsi_source *source, gbs_error *err);

/* One update of slot: by herd->how one after another (stick), the largest weight (argmax), bounded,
 * or rounded at random.
 * @param p     [k] of stride GBSI_LANES: the conditional.
 * @param word  random, for rules that ask for one. @return the value. */
uint32_t gbsi_bin_rows_draw(gbsi_herd *herd, uint32_t slot, uint32_t group, uint32_t lane,
                            const float *p, uint32_t word);

/* Lane after lane of a row whose probabilities are in tile->w; values into tile->value. */
void gbsi_bin_rows_row(gbsi_herd *herd, gbsi_tile *tile, uint32_t row);

#endif
