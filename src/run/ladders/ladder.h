/* SPDX-License-Identifier: Apache-2.0 */
/* The inverse temperatures of an annealing. With many temperatures, the variance of a weight is
 * least if steps have equal thermodynamic length |d beta| sd(E | beta) (Gelman & Meng 1998,
 * Statistical Science 13(2):163-185, section 4.3; [M40]). After an annealing, the caller knows the
 * spread of E over chains at each temperature; from these spreads the next ladder is made. */
#ifndef GBSI_LADDERS_LADDER_H
#define GBSI_LADDERS_LADDER_H

#include <stdbool.h>
#include <stdint.h>

enum { GBSI_LADDER_KNOTS = 64 };

typedef struct gbsi_ladder {
    double knot[GBSI_LADDER_KNOTS + 1]; /* knot k is the inverse temperature after the fraction k /
                                           KNOTS of the steps; knots ascend from 0 to 1 */
    double spread[GBSI_LADDER_KNOTS];   /* for each stretch between two knots, the sum of sd(E) over
                                           the steps that ended in it */
    uint64_t n_told[GBSI_LADDER_KNOTS];
} gbsi_ladder;

/* Makes the ladder of a pilot, which has more temperatures at the hot end. */
void gbsi_ladder_init(gbsi_ladder *ladder);
/* Inverse temperature of step t = 0 .. n, as a float: step 0 has 0, and step n has 1. */
float gbsi_ladder_beta(const gbsi_ladder *ladder, uint64_t t, uint64_t n);
/* Adds the spread of E that the chains have before step t = 1 .. n. */
void gbsi_ladder_tell(gbsi_ladder *ladder, uint64_t t, uint64_t n, double spread);
/* Moves the knots so that steps have equal lengths, as computed from the spreads added so far; then
 * discards the spreads. The knots do not change if E is constant. */
void gbsi_ladder_even(gbsi_ladder *ladder);
/* Whether the knots of a loaded ladder ascend from 0 to 1. */
bool gbsi_ladder_ascends(const gbsi_ladder *ladder);

#endif
