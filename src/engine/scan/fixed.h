/* SPDX-License-Identifier: Apache-2.0 */
/* A sequence that every pass repeats: what the chromatic, the systematic and the file scan share.
 */
#ifndef GBSI_SCAN_FIXED_H
#define GBSI_SCAN_FIXED_H

#include "scan/scan.h"

typedef struct gbsi_fixed {
    size_t n;
    uint32_t *variable; /* [n] the sequence, written by init */
} gbsi_fixed;

/* Room for n variables. */
gbs_status gbsi_fixed_new(size_t n, gbsi_fixed **fixed, gbs_error *err);

/* next_pass and free of the table of functions. */
gbs_status gbsi_fixed_next_pass(void *state, uint64_t pass, gbsi_sequence *sequence,
                                gbs_error *err);
void gbsi_fixed_free(void *state);

#endif
