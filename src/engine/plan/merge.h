/* SPDX-License-Identifier: Apache-2.0 */
/* The neighbours of one slot while its row is sorted and merged; private to src/engine/plan. */
#ifndef GBSI_PLAN_MERGE_H
#define GBSI_PLAN_MERGE_H

#include "plan/compile.h"

typedef struct gbsi_row_entry {
    uint32_t slot;
    gbsi_edge edge;
} gbsi_row_entry;

/* A factor between the slot and one neighbour. */
typedef struct gbsi_tie {
    uint32_t slot;
    size_t factor;
} gbsi_tie;

typedef struct gbsi_row_entries {
    gbsi_row_entry
        *entry; /* [n] entries of the row: each is a neighbour and the edge to this neighbour */
    uint32_t n;
    size_t capacity;
    gbsi_tie *tie; /* scratch */
    size_t tie_capacity;
} gbsi_row_entries;

gbs_status gbsi_row_entries_reserve(gbsi_row_entries *e, uint32_t n, gbs_error *err);
void gbsi_row_entries_clear(gbsi_row_entries *e);

/* Sorts the entries by slot. @return whether the order changed. */
bool gbsi_row_entries_sort(gbsi_row_entries *e);
/* Whether some neighbour occurs more than once in a sorted row. */
bool gbsi_row_entries_tied(const gbsi_row_entries *e);
/* Makes one entry per neighbour: adds the factors of the same two variables in double, in the order
 * of factors, and rounds the sum once. */
gbs_status gbsi_row_entries_merge(gbsi_compile *c, uint32_t slot, gbsi_row_entries *e,
                                  gbs_error *err);

/* Returns a coupling in the form in which kernels read it: w or J, or its exponential for linear
 * slots. */
gbsi_edge gbsi_coupling_edge(double coupling, unsigned form);

#endif
