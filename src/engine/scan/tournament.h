/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps track of the least of many numbers that change one by one. The numbers are the lowest level
 * of a tree, in which each node has the minimum of sixteen numbers (two cache lines) of the level
 * below. Most changes of a number change nothing in the levels above. Among equal numbers the
 * number with the lowest index counts as the least. */
#ifndef GBSI_SCAN_TOURNAMENT_H
#define GBSI_SCAN_TOURNAMENT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define GBSI_FAN         16u
#define GBSI_MOST_LEVELS 9u /* number of levels above 16^8 = 2^32 numbers, plus one */

typedef struct gbsi_tournament {
    uint32_t n_levels;
    size_t first[GBSI_MOST_LEVELS]; /* start of each level in `value`; the numbers themselves are
                                       level 0 */
    double *value;                  /* numbers of all levels; each level is padded with infinity */
} gbsi_tournament;

/* Makes a tournament of n numbers, all 0. */
gbs_status gbsi_tournament_init(gbsi_tournament *t, uint32_t n, gbs_error *err);
void gbsi_tournament_free(gbsi_tournament *t); /* frees the array, not the struct */

void gbsi_tournament_set(gbsi_tournament *t, uint32_t i, double value);
/* The tournament must have at least one number. @return the index of the least number; the lowest
 * index if several numbers are equally small. */
uint32_t gbsi_tournament_least(const gbsi_tournament *t);

static inline double gbsi_tournament_value(const gbsi_tournament *t, uint32_t i)
{
    return t->value[i];
}

#endif
