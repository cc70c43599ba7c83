/* SPDX-License-Identifier: Apache-2.0 */
/* The inverse temperatures of an annealing. With many temperatures, the variance of a weight is
 * least if steps have equal lengths in the metric |d beta| sd(E | beta), the thermodynamic length
 * (Gelman & Meng 1998, Statistical Science 13(2):163-185, section 4.3; [M40]). The caller gives a
 * ladder the spread of E over chains at each of its temperatures, and the ladder makes the next
 * ladder from these spreads. */
#ifndef GBSI_LADDERS_LADDER_H
#define GBSI_LADDERS_LADDER_H

#include <stdbool.h>
#include <stdint.h>

enum { GBSI_LADDER_KNOTS = 64 };

typedef struct gbsi_ladder {
    double knot[GBSI_LADDER_KNOTS + 1]; /* knot k is the inverse temperature after a share k / KNOTS
                                           of the steps; knots ascend from 0 to 1 */
    double spread[GBSI_LADDER_KNOTS]; /* sums of sd(E) over the steps that ended in each stretch */
    uint64_t n_told[GBSI_LADDER_KNOTS];
} gbsi_ladder;

/* Makes the ladder of a pilot, whose temperatures are closer at the hot end. */
void gbsi_ladder_init(gbsi_ladder *ladder);
/* Inverse temperature of step t = 0 .. n, as a float: step 0 has 0, and step n has 1. */
float gbsi_ladder_beta(const gbsi_ladder *ladder, uint64_t t, uint64_t n);
/* Adds the spread of E before step t = 1 .. n. */
void gbsi_ladder_tell(gbsi_ladder *ladder, uint64_t t, uint64_t n, double spread);
/* Moves the knots so that steps have equal lengths by the spreads added so far, and forgets the
 * spreads. The knots do not change if E does not vary. */
void gbsi_ladder_even(gbsi_ladder *ladder);
/* Whether the knots of a ladder that was loaded ascend from 0 to 1. */
bool gbsi_ladder_ascends(const gbsi_ladder *ladder);

#endif
