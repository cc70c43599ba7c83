/* SPDX-License-Identifier: Apache-2.0 */
/* Herding with keys that decide the conditional, for every instruction set. */
#ifndef GBSI_DRAW_HERDED_H
#define GBSI_DRAW_HERDED_H

#include "draw/herd.h"

/* ---- rows of hashed slots (herded_rows.c) ---------------------------------------------------- */

/* A row of a hashed slot of two states. */
typedef struct gbsi_phase_row {
    uint32_t chance, certain; /* gbsi_certain */
    uint32_t phase[];         /* [lanes] */
} gbsi_phase_row;

/* The weights of a lane in a row for more than two states: the row has p[k], then a vector per
 * lane. */
static inline double *gbsi_row_vector(double *row, uint32_t k, uint32_t lane)
{
    return row + (size_t)k * (1 + lane);
}

/* Returns the row for the states around a chain, making it if it does not exist: begin_pass
 * reserved room. */
void *gbsi_herded_row(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view);
/* Keys complete: the chain's code follows its new value. */
void gbsi_herded_moved(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view,
                       uint32_t value);

/* ---- functions of the gbsi_draw table (herded.c) --------------------------------------------- */

gbs_status gbsi_herded_extra_edges(const gbsi_conditioned *model, const gbs_run_options *options,
                                   gbsi_edges *edges, gbs_error *err);
gbs_status gbsi_herded_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
gbs_status gbsi_herded_init(const gbsi_draw_job *job, void **state, gbs_error *err);
gbs_status gbsi_herded_begin_pass(void *state, const struct gbsi_schedule *schedule,
                                  const struct gbsi_group *group, uint64_t pass, gbs_error *err);
/* gbsi_herded_place() updates one place in all lanes; the next function updates all places of a
 * tile. They handle any slot, and the vector code must give their results. */
void gbsi_herded_place(gbsi_herd *herd, gbsi_tile *tile, uint32_t place);
void gbsi_herded_places(void *herd, gbsi_tile *tile);

#endif
