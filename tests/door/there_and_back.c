/* SPDX-License-Identifier: Apache-2.0 */
/* A scan as one would be added: up through the variables and down again. */
#include "scan/registry.h"

static gbs_status there_and_back_init(const gbsi_graph *graph, const gbs_run_options *options,
                                      gbsi_watch *watch, void **state, unsigned *traits,
                                      gbs_error *err)
{
    (void)watch;
    (void)options;
    (void)traits;
    const uint32_t n = graph->n_variables;
    gbsi_fixed *fixed = NULL;
    const gbs_status status = gbsi_fixed_new(2 * (size_t)n, &fixed, err);
    for (uint32_t v = 0; status >= 0 && v < n; ++v) {
        fixed->variable[v] = v;
        fixed->variable[2 * n - 1 - v] = v;
    }
    *state = fixed;
    return status;
}

const gbsi_scan gbsi_scan_there_and_back = {
    .name = "there-and-back",
    .reference = "a test of how scans are added",
    .traits = GBSI_SCAN_REPEATS,
    .init = there_and_back_init,
    .next_pass = gbsi_fixed_next_pass,
    .free = gbsi_fixed_free,
};
