/* SPDX-License-Identifier: Apache-2.0 */
#include "potts/potts_rows.h"

#include "simd/dispatch.h"

/* Defined by potts_lanes.c, once per instruction set. */
#define DECLARE(set, SET)                                                                  \
    void gbsi_potts_add_rows_##set(gbsi_potts_site *site, size_t from, size_t end);        \
    double gbsi_potts_conditional_##set(const gbsi_potts_site *site, const uint8_t *state, \
                                        double *p);
#define ROWS(set, SET)        [GBSI_SIMD_##SET] = gbsi_potts_add_rows_##set,
#define CONDITIONAL(set, SET) [GBSI_SIMD_##SET] = gbsi_potts_conditional_##set,

GBSI_SIMD_SETS(DECLARE)

void gbsi_potts_add_rows(gbsi_potts_site *site, size_t from, size_t end)
{
    static void (*const of_set[GBSI_N_SIMD])(gbsi_potts_site *, size_t,
                                             size_t) = {GBSI_SIMD_SETS(ROWS)};
    of_set[gbsi_simd_level()](site, from, end);
}

double gbsi_potts_conditional(const gbsi_potts_site *site, const uint8_t *state, double *p)
{
    static double (*const of_set[GBSI_N_SIMD])(const gbsi_potts_site *, const uint8_t *,
                                               double *) = {GBSI_SIMD_SETS(CONDITIONAL)};
    return of_set[gbsi_simd_level()](site, state, p);
}
