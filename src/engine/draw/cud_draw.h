/* SPDX-License-Identifier: Apache-2.0 */
/* State of the cud draw, which cud_draw.c and cud_lanes.c share. */
#ifndef GBSI_DRAW_CUD_DRAW_H
#define GBSI_DRAW_CUD_DRAW_H

#include "plan/draw.h"
#include "plan/plan.h"
#include "rng/cud.h"

typedef struct gbsi_cud_draw {
    gbsi_cud sequence;
    uint64_t n_places; /* numbers per sweep, N */
    uint64_t n_blocks; /* gcd(N, P) */
    uint64_t next;     /* index of `word` in the period; UINT64_MAX before the first pass */
    uint32_t word;
    uint32_t *driving; /* [n_places] words of this pass, by position in the sweep */
    uint32_t *shift;   /* [group][slot][lane] shifts, in the layout of the states */
    uint32_t n_slots;
} gbsi_cud_draw;

extern const char *const gbsi_cud_options[];
gbs_status gbsi_cud_draw_settle(gbs_run_options *options, char *warning, gbs_error *err);
gbs_status gbsi_cud_draw_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
gbs_status gbsi_cud_draw_init(const gbsi_draw_job *job, void **state, gbs_error *err);
gbs_status gbsi_cud_draw_begin_pass(void *state, const struct gbsi_schedule *schedule,
                                    const struct gbsi_group *group, uint64_t pass, gbs_error *err);
void gbsi_cud_draw_free(void *state);

#endif
