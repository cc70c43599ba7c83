/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of discretised herding that do not depend on the instruction set. Its gbsi_draw table uses
 * the functions of herd.h, except where this header declares others. */
#ifndef GBSI_DRAW_BINNED_H
#define GBSI_DRAW_BINNED_H

#include "draw/herd.h"

/* Largest number of states of a variable; the limit exists because keys are made on the stack */
#define GBSI_MOST_BINNED 4096u

gbs_status gbsi_binned_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
gbs_status gbsi_binned_init(const gbsi_draw_job *job, void **state, gbs_error *err);

/* ---- variables of more than two states (binned_categorical.c) -------------------------------- */

/* Fails if the variables of the plan cannot be herded by bins with these options. */
gbs_status gbsi_binned_check(const gbsi_plan *plan, const gbsi_herding *how, gbs_error *err);
/* Upper bound of the bytes that the tables of these variables can take. */
uint64_t gbsi_binned_categorical_bytes(const gbsi_draw_job *job);
/* Draws the values of a row one lane after another. Reads probabilities from tile->w, and writes
 * values to tile->value. */
void gbsi_binned_row(gbsi_herd *herd, gbsi_tile *tile, uint32_t row);

#endif
