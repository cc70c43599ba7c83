/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/tournament.h"

#include <math.h>

#include "base/memory.h"

static double least_of(const double *value)
{
    double least = value[0];
    for (unsigned k = 1; k < GBSI_FAN; ++k) {
        least = value[k] < least ? value[k] : least;
    }
    return least;
}

gbs_status gbsi_tournament_init(gbsi_tournament *t, uint32_t n, gbs_error *err)
{
    gbsi_tournament made = {.n_levels = 0};
    size_t total = 0;
    size_t size = n;
    do { /* repeats until a level has at most sixteen numbers */
        size = (size + GBSI_FAN - 1) / GBSI_FAN;
        made.first[made.n_levels++] = total;
        total += size * GBSI_FAN;
    } while (size > 1);
    made.value = gbsi_alloc_array(total, sizeof *made.value);
    GBSI_PASS(GBSI_HAVE(err, "tournament", made.value));
    size = n;
    for (uint32_t l = 0; l < made.n_levels; ++l) {
        const size_t end = l + 1 < made.n_levels ? made.first[l + 1] : total;
        for (size_t i = made.first[l]; i < end; ++i) {
            made.value[i] = i - made.first[l] < size ? 0.0 : INFINITY;
        }
        size = (size + GBSI_FAN - 1) / GBSI_FAN;
    }
    *t = made;
    return GBS_OK;
}

void gbsi_tournament_free(gbsi_tournament *t)
{
    gbsi_free(t->value);
    *t = (gbsi_tournament){0};
}

void gbsi_tournament_set(gbsi_tournament *t, uint32_t i, double value)
{
    size_t at = i;
    double now = value;
    for (uint32_t l = 0;; ++l) {
        double *level = t->value + t->first[l];
        const double old = level[at];
        level[at] = now;
        if (l + 1 == t->n_levels) {
            return;
        }
        const double above = t->value[t->first[l + 1] + at / GBSI_FAN];
        if (now > above) {
            if (old > above) {
                return; /* neither the old nor the new value is the least of its group */
            }
            now = least_of(level + at / GBSI_FAN * GBSI_FAN);
        }
        if (now == above) {
            return;
        }
        at /= GBSI_FAN;
    }
}

uint32_t gbsi_tournament_least(const gbsi_tournament *t)
{
    size_t group = 0;
    for (uint32_t l = t->n_levels; l-- > 0;) {
        const double *value = t->value + t->first[l] + group * GBSI_FAN;
        const double least = least_of(value);
        unsigned k = 0;
        while (value[k] != least) {
            ++k;
        }
        group = group * GBSI_FAN + k;
    }
    return (uint32_t)group;
}
