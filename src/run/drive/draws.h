/* SPDX-License-Identifier: Apache-2.0 */
/* Puts draws together and gives them to the user. */
#ifndef GBSI_DRIVE_DRAWS_H
#define GBSI_DRIVE_DRAWS_H

#include "chains/run.h"

/* Draws of all chains, to be sent to rank 0. */
typedef struct gbsi_draw_rows {
    size_t size;        /* bytes of a row: its log density, then the state of every variable */
    unsigned char *own; /* [chains of this rank] */
    unsigned char *all; /* [chains of the run] rows of all chains, on rank 0 */
    uint32_t *state;    /* scratch */
} gbsi_draw_rows;

/* Buffers in which draws are put together. */
typedef struct gbsi_giving {
    uint32_t *x;         /* [part variables], of chains told from two [2] */
    uint32_t *user;      /* [model variables] */
    gbsi_draw_rows rows; /* of several ranks */
} gbsi_giving;

/* Allocates the buffers. @param splits whether the state of a chain is combined from two. */
gbs_status gbsi_giving_take(const gbsi_task *task, const gbsi_engine *engine, gbsi_report *report,
                            bool splits, gbsi_giving *giving, gbs_error *err);
/* Every chain's state at the end of a kept pass, in the user's numbering. */
gbs_status gbsi_giving_give(gbs_run *run, const gbsi_drive *drive, gbsi_giving *giving,
                            gbs_error *err);
void gbsi_giving_free(gbsi_giving *giving);

#endif
