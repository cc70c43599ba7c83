/* SPDX-License-Identifier: Apache-2.0 */
/* Herding with keys that determine the conditional: declarations for all instruction sets. */
#ifndef GBSI_DRAW_HERDED_H
#define GBSI_DRAW_HERDED_H

#include "draw/herd.h"

/* ---- rows of hashed slots (herded_rows.c) ---------------------------------------------------- */

/* Row of a hashed slot of two states. */
typedef struct gbsi_phase_row {
    uint32_t chance, certain; /* gbsi_certain */
    uint32_t phase[];         /* [lanes] */
} gbsi_phase_row;

/* Weights of one lane in a row of a hashed slot with more than two states. The row has the
 * probabilities p[k], and then a vector of k weights for each lane. */
static inline double *gbsi_row_vector(double *row, uint32_t k, uint32_t lane)
{
    return row + (size_t)k * (1 + lane);
}

/* Returns the row of a slot's table for the current states of the slot's neighbours. If the row
 * does not exist, the function adds the row in the room that begin_pass reserved. */
void *gbsi_herded_row(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view);
/* For keys `complete`: updates the chain's code for the slot's new value. The function must be
 * called before the value is stored. */
void gbsi_herded_moved(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view,
                       uint32_t value);

/* ---- functions of the gbsi_draw table (herded.c) --------------------------------------------- */

gbs_status gbsi_herded_extra_edges(const gbsi_conditioned *model, const gbs_run_options *options,
                                   gbsi_edges *edges, gbs_error *err);
gbs_status gbsi_herded_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
gbs_status gbsi_herded_init(const gbsi_draw_job *job, void **state, gbs_error *err);
gbs_status gbsi_herded_begin_pass(void *state, const struct gbsi_schedule *schedule,
                                  const struct gbsi_group *group, uint64_t pass, gbs_error *err);
/* gbsi_herded_place() updates one place in all lanes, and gbsi_herded_places() updates all places
 * of a tile. The two functions handle slots of any kind. The vector code of herded_lanes.c must
 * give equal results. */
void gbsi_herded_place(gbsi_herd *herd, gbsi_tile *tile, uint32_t place);
void gbsi_herded_places(void *herd, gbsi_tile *tile);

#endif
