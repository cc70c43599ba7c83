/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of splashes in nanoseconds of a core (AVX-512, 2.1 GHz).
 * src/run/chains/counted_operations.c has the costs of single variables. The command
 *
 *     build/bench/bench --case splash
 *
 * prints measured times and these costs. */
#include "plan/tile.h"
#include "splash/splash_rounds.h"

#define GROW 300.0 /* time to grow a splash, per variable */
#define DRAW 350.0 /* time to draw a splash in sixteen chains, per variable */
/* time for sixteen chains and an entry of a clique, for messages, states and marginals together */
#define ENTRY 20.0
#define LOGS  20.0 /* time for one chain and an entry of a clique, in logarithms */

double gbsi_splash_operations(const gbsi_splash_counts *counts, uint32_t n_chains)
{
    /* number of bundles of sixteen chains */
    const uint32_t n_whole = (n_chains + GBSI_LANES - 1) / GBSI_LANES;
    const double n_bundles = n_whole;
    return (double)counts->n_variables * (GROW + DRAW * n_bundles) +
           (double)counts->n_entries * ENTRY * n_bundles + (double)counts->n_log_entries * LOGS;
}
