/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronous: every variable from the state before, all at once. On a model of two colours such a
 * chain is two chromatic chains that know nothing of each other (Gonzalez, Low, Gretton & Guestrin
 * 2011, theorem 3.2), and is run as these: the sequence is the chromatic one, the recombination
 * chains/synchronous_states.c [M34]. With more colours no such split exists. */
#include "base/memory.h"
#include "scan/fixed.h"
#include "scan/registry.h"

static gbs_status check_two(const gbsi_graph *graph, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool bipartite = false;
    const uint32_t n = graph->n_variables;
    uint32_t *color = gbsi_alloc_array(n, sizeof *color);
    GBSI_PASS(GBSI_HAVE(err, "synchronous scan", color));
    GBSI_TRY(gbsi_graph_color_two(graph, color, &bipartite, err));
    if (!bipartite) {
        status = gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "--scan: synchronous needs a model of two colours; this one has %s, "
                           "where updating all variables at once has no known invariant law: use "
                           "--scan %s",
                           graph->neighbour == NULL ? "factors of three or more variables"
                                                    : "an odd cycle of neighbours",
                           gbsi_scan_base_name());
    }

cleanup:
    gbsi_free(color);
    return status;
}

static gbs_status synchronous_init(const gbsi_graph *graph, const gbs_run_options *options,
                                   gbsi_watch *watch, void **state, unsigned *traits,
                                   gbs_error *err)
{
    const gbs_status status = check_two(graph, err);
    return status < 0 ? status
                      : gbsi_scan_chromatic.init(graph, options, watch, state, traits, err);
}

const gbsi_scan gbsi_scan_synchronous = {
    .name = "synchronous",
    .reference = "Gonzalez, Low, Gretton & Guestrin (2011), Parallel Gibbs sampling: from colored "
                 "fields to thin junction trees, AISTATS, theorems 3.2 and 3.3",
    .traits = GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE | GBSI_SCAN_COLORED | GBSI_SCAN_SPLITS,
    .init = synchronous_init,
    .next_pass = gbsi_fixed_next_pass,
    .free = gbsi_fixed_free,
};
