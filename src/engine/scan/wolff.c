/* SPDX-License-Identifier: Apache-2.0 */
/* The scan of single clusters grows a fixed number of clusters from variables drawn at random and
 * moves each before the next one grows. It then updates every variable as the chromatic scan does.
 * The number is fixed, because a pass that ended by the states of the chain would bias averages
 * over the ends of passes. src/engine/cluster/ grows the clusters. */
#include "scan/registry.h"

const gbsi_scan gbsi_scan_wolff = {
    .name = "wolff",
    .reference = "Wolff (1989), Collective Monte Carlo updating for spin systems, Physical Review "
                 "Letters 62, 361",
    .traits = GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE | GBSI_SCAN_COLORED | GBSI_SCAN_CLUSTERS |
              GBSI_SCAN_GROWS,
    .options = (const char *const[]){"clusters", NULL},
    .init = gbsi_chromatic_init,
    .next_pass = gbsi_fixed_next_pass,
    .free = gbsi_fixed_free,
};
