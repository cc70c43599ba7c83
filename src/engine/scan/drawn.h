/* SPDX-License-Identifier: Apache-2.0 */
/* A sequence made anew before each pass: what the random and the permuted scan share. */
#ifndef GBSI_SCAN_DRAWN_H
#define GBSI_SCAN_DRAWN_H

#include "scan/scan.h"

typedef struct gbsi_drawn {
    uint64_t seed;
    uint32_t n;
    uint32_t *variable; /* [n] sequence of the pass that was last requested */
} gbsi_drawn;

/* The table's init and free. */
gbs_status gbsi_drawn_init(const gbsi_graph *graph, const gbs_run_options *options,
                           gbsi_watch *watch, void **state, unsigned *traits, gbs_error *err);
void gbsi_drawn_free(void *state);

/* Uniform below m from the two words of a position of a pass: words 2 (position mod 2) and the
 * next of counter block position div 2, purpose GBSI_PURPOSE_SCAN. */
uint32_t gbsi_drawn_below(const gbsi_drawn *drawn, uint64_t pass, uint32_t position, uint32_t m);

#endif
