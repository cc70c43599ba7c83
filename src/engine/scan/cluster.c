/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster scan moves all clusters of a chain, and then updates every variable as the chromatic
 * scan does. The updates give the conditionals that the estimates average. src/engine/cluster/
 * draws the clusters. */
#include "scan/registry.h"

const gbsi_scan gbsi_scan_cluster = {
    .name = "cluster",
    .reference = "Swendsen & Wang (1987), Nonuniversal critical dynamics in Monte Carlo "
                 "simulations, Physical Review Letters 58, 86",
    .traits = GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE | GBSI_SCAN_COLORED | GBSI_SCAN_CLUSTERS,
    .init = gbsi_chromatic_init,
    .next_pass = gbsi_fixed_next_pass,
    .free = gbsi_fixed_free,
};
