/* SPDX-License-Identifier: Apache-2.0 */
#include "ladders/ladder.h"

#include <string.h>

#define LEAST_SHARE \
    0.01 /* least length of a stretch, as a fraction of the mean length of stretches */

void gbsi_ladder_init(gbsi_ladder *ladder)
{
    memset(ladder, 0, sizeof *ladder);
    for (unsigned k = 0; k <= GBSI_LADDER_KNOTS; ++k) {
        const double u = (double)k / GBSI_LADDER_KNOTS;
        ladder->knot[k] = u * u;
    }
}

float gbsi_ladder_beta(const gbsi_ladder *ladder, uint64_t t, uint64_t n)
{
    const double at = (double)t / (double)n * GBSI_LADDER_KNOTS;
    const unsigned k = at < GBSI_LADDER_KNOTS ? (unsigned)at : GBSI_LADDER_KNOTS - 1;
    const double *knot = ladder->knot + k;
    return (float)(knot[0] + (at - k) * (knot[1] - knot[0]));
}

void gbsi_ladder_tell(gbsi_ladder *ladder, uint64_t t, uint64_t n, double spread)
{
    const double at = (double)(t - 1) / (double)n * GBSI_LADDER_KNOTS;
    const unsigned k = at < GBSI_LADDER_KNOTS ? (unsigned)at : GBSI_LADDER_KNOTS - 1;
    ladder->spread[k] += spread;
    ++ladder->n_told[k];
}

/* Computes the length |d beta| sd(E) of each stretch between two knots. @param length [KNOTS] out.
 * @return the sum of the lengths of all stretches. */
static double measure(const gbsi_ladder *ladder, double *length)
{
    double total = 0.0;
    double spread = 0.0; /* spread of the last stretch whose spread is known; it is used for
                            stretches of unknown spread */
    for (unsigned k = 0; k < GBSI_LADDER_KNOTS; ++k) {
        if (ladder->n_told[k] > 0) {
            spread = ladder->spread[k] / (double)ladder->n_told[k];
        }
        length[k] = spread * (ladder->knot[k + 1] - ladder->knot[k]);
        total += length[k];
    }
    return total;
}

void gbsi_ladder_even(gbsi_ladder *ladder)
{
    double length[GBSI_LADDER_KNOTS];
    double found = measure(ladder, length);
    const gbsi_ladder old = *ladder;
    memset(ladder->spread, 0, sizeof ladder->spread);
    memset(ladder->n_told, 0, sizeof ladder->n_told);
    if (!(found > 0.0)) {
        return;
    }
    const double least = LEAST_SHARE * found / GBSI_LADDER_KNOTS;
    double total = 0.0;
    for (unsigned k = 0; k < GBSI_LADDER_KNOTS; ++k) {
        length[k] = length[k] > least ? length[k] : least;
        total += length[k];
    }
    double before = 0.0; /* sum of the old lengths of the stretches below stretch j */
    unsigned j = 0;
    for (unsigned k = 1; k < GBSI_LADDER_KNOTS; ++k) {
        const double wanted = total * k / GBSI_LADDER_KNOTS;
        while (j + 1 < GBSI_LADDER_KNOTS && before + length[j] < wanted) {
            before += length[j++];
        }
        const double share = (wanted - before) / length[j];
        ladder->knot[k] =
            old.knot[j] + (share < 1.0 ? share : 1.0) * (old.knot[j + 1] - old.knot[j]);
    }
}

bool gbsi_ladder_ascends(const gbsi_ladder *ladder)
{
    bool ascends = ladder->knot[0] == 0.0 && ladder->knot[GBSI_LADDER_KNOTS] == 1.0;
    for (unsigned k = 0; k < GBSI_LADDER_KNOTS; ++k) {
        ascends = ascends && ladder->knot[k] <= ladder->knot[k + 1];
    }
    return ascends;
}
