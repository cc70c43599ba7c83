/* SPDX-License-Identifier: Apache-2.0 */
/* The synchronous scan updates all variables at once: each update reads the states before the pass
 * (Gonzalez, Low, Gretton & Guestrin 2011, algorithm 1). If the graph has two colours, a
 * synchronous chain consists of two independent chromatic chains (theorem 3.2), and these two
 * chains are run instead. The two chains use the sequence of the chromatic scan, and
 * chains/synchronous_states.c combines their states [M34]. If the graph has more colours, every
 * update of a pass reads the states before the pass. */
#include "base/memory.h"
#include "scan/registry.h"

static gbs_status synchronous_init(const gbsi_graph *graph, const gbs_run_options *options,
                                   gbsi_watch *watch, void **state, unsigned *traits,
                                   gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool two = false;
    uint32_t *color = gbsi_alloc_array(graph->n_variables, sizeof *color);
    GBSI_PASS(GBSI_HAVE(err, "synchronous scan", color));
    GBSI_TRY(gbsi_graph_color_two(graph, color, &two, err));
    GBSI_TRY(gbsi_chromatic_init(graph, options, watch, state, traits, err));
    *traits &= two ? ~GBSI_SCAN_AT_ONCE : ~0U;

cleanup:
    gbsi_free(color);
    return status;
}

const gbsi_scan gbsi_scan_synchronous = {
    .name = "synchronous",
    .reference = "Gonzalez, Low, Gretton & Guestrin (2011), Parallel Gibbs sampling: from colored "
                 "fields to thin junction trees, AISTATS, theorems 3.2 and 3.3",
    .traits = GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE | GBSI_SCAN_COLORED | GBSI_SCAN_SPLITS |
              GBSI_SCAN_AT_ONCE,
    .init = synchronous_init,
    .next_pass = gbsi_fixed_next_pass,
    .free = gbsi_fixed_free,
};
