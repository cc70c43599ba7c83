/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of functions of all scans, one for every row of scans.def. */
#ifndef GBSI_SCAN_REGISTRY_H
#define GBSI_SCAN_REGISTRY_H

#include "scan/scan.h"

#define GBS_SCAN(number, SYMBOL, table, name, help) extern const gbsi_scan gbsi_scan_##table;
#include "gibbsite/scans.def"
#undef GBS_SCAN

/* ---- drawn.c -------------------------------------------------------------------------------- */

/* A sequence that is drawn again before each pass. The random and the permuted scan use this
 * struct. */
typedef struct gbsi_drawn {
    uint64_t seed;
    uint32_t n;
    uint32_t *variable; /* [n] sequence of the most recent pass */
} gbsi_drawn;

/* The functions `init` and `free` in the tables of scans that draw their sequences. */
gbs_status gbsi_drawn_init(const gbsi_graph *graph, const gbs_run_options *options,
                           gbsi_watch *watch, void **state, unsigned *traits, gbs_error *err);
void gbsi_drawn_free(void *state);

/* Returns a uniform number below m, made from two random words that belong to a position of a pass.
 * They are the words number 2 (position mod 2) and 2 (position mod 2) + 1 of the four random words
 * with purpose GBSI_PURPOSE_SCAN and counter position div 2. */
uint32_t gbsi_drawn_below(const gbsi_drawn *drawn, uint64_t pass, uint32_t position, uint32_t m);

/* ---- chromatic.c ----------------------------------------------------------------------------- */

/* The function `init` of all scans that update every variable by colour: it makes a gbsi_fixed. */
gbs_status gbsi_chromatic_init(const gbsi_graph *graph, const gbs_run_options *options,
                               gbsi_watch *watch, void **state, unsigned *traits, gbs_error *err);

/* ---- fixed.c -------------------------------------------------------------------------------- */

/* A sequence that every pass repeats. The chromatic, the systematic and the sequence scan use this
 * struct. */
typedef struct gbsi_fixed {
    size_t n;
    uint32_t *variable; /* [n] the sequence, which init() writes */
} gbsi_fixed;

/* Makes room for a sequence of n variables. */
gbs_status gbsi_fixed_new(size_t n, gbsi_fixed **fixed, gbs_error *err);

/* The functions `next_pass` and `free` in the tables of scans that repeat their sequences. */
gbs_status gbsi_fixed_next_pass(void *state, uint64_t pass, gbsi_sequence *sequence,
                                gbs_error *err);
void gbsi_fixed_free(void *state);

#endif
