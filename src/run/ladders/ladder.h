/* SPDX-License-Identifier: Apache-2.0 */
/* The inverse temperatures of an annealing.
 *
 * With many temperatures, the variance of a weight is least if steps have equal lengths in the
 * metric |d beta| sd(E | beta), the thermodynamic length (Gelman & Meng 1998, Statistical Science
 * 13(2):163-185, section 4.3; [M40]). A ladder is told the spread of E over chains at each of its
 * temperatures, and makes the next ladder from these spreads. */
#ifndef GBSI_LADDERS_LADDER_H
#define GBSI_LADDERS_LADDER_H

#include <stdbool.h>
#include <stdint.h>

enum { GBSI_LADDER_KNOTS = 64 };

typedef struct gbsi_ladder {
    double knot[GBSI_LADDER_KNOTS + 1]; /* inverse temperatures at k / KNOTS of the steps, from 0 to
                                           1, ascending */
    double spread[GBSI_LADDER_KNOTS];   /* sums of sd(E) over steps that ended in a stretch */
    uint64_t n_told[GBSI_LADDER_KNOTS];
} gbsi_ladder;

/* For a pilot: temperatures are closer where it is hot. */
void gbsi_ladder_init(gbsi_ladder *ladder);
/* Inverse temperature of step t = 0 .. n, a float: 0 first, 1 last. */
float gbsi_ladder_beta(const gbsi_ladder *ladder, uint64_t t, uint64_t n);
/* The spread of E before step t = 1 .. n. */
void gbsi_ladder_tell(gbsi_ladder *ladder, uint64_t t, uint64_t n, double spread);
/* Makes the ladder with steps of equal length from the spreads it was told, which are then
 * forgotten. Unchanged if E does not vary.
 */
void gbsi_ladder_even(gbsi_ladder *ladder);
/* Whether its temperatures can be those of a ladder: of one that was saved. */
bool gbsi_ladder_ascends(const gbsi_ladder *ladder);

#endif
