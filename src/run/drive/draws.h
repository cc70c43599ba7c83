/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles the draws of all chains and gives them to the user. */
#ifndef GBSI_DRIVE_DRAWS_H
#define GBSI_DRIVE_DRAWS_H

#include "chains/run.h"

/* Draws of all chains, which are gathered on rank 0. */
typedef struct gbsi_draw_rows {
    size_t size; /* number of bytes of a row, which has a log density and then the state of every
                    variable */
    unsigned char *own; /* [chains of this rank] rows of the chains of this rank */
    unsigned char *all; /* [chains of the run] rows of all chains, on rank 0 */
    uint32_t *state;    /* scratch */
} gbsi_draw_rows;

/* Buffers in which draws are assembled. */
typedef struct gbsi_giving {
    uint32_t *x;    /* [part variables] state of a chain; or [2][part variables], if a state is made
                       from two chains */
    uint32_t *user; /* [model variables] */
    gbsi_draw_rows rows; /* rows of all chains, used with several ranks */
} gbsi_giving;

/* Allocates the buffers. @param splits whether each state given to the user is made from two
 * chains. */
gbs_status gbsi_giving_take(const gbsi_task *task, const gbsi_engine *engine, gbsi_report *report,
                            bool splits, gbsi_giving *giving, gbs_error *err);
/* Gives the user every chain's state at the end of a kept pass, in the user's numbering. */
gbs_status gbsi_giving_give(gbs_run *run, const gbsi_drive *drive, gbsi_giving *giving,
                            gbs_error *err);
void gbsi_giving_free(gbsi_giving *giving);

#endif
