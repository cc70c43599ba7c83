/* SPDX-License-Identifier: Apache-2.0 */
/* The chromatic scan visits the colour classes of a proper colouring in turn; all variables of a
 * class can be updated at once (Gonzalez, Low, Gretton & Guestrin 2011, section 3). The order of
 * the variables in a class does not change the result. Variables are in ascending order, which
 * makes memory access regular. A greedy colouring gives each variable the lowest free colour. A
 * variable of colour c therefore has neighbours of all lower colours, and its level [M11] is c. If
 * there are two colours, every variable of the second colour has a neighbour of the first colour.
 */
#include "base/memory.h"
#include "scan/registry.h"

/* Sorts the variables by colour, with a counting sort. @param start [n_colors + 1] zeroed. */
static void sort_by_color(const uint32_t *color, uint32_t n, uint32_t n_colors, uint32_t *start,
                          uint32_t *variable)
{
    for (uint32_t v = 0; v < n; v++) {
        start[color[v] + 1]++;
    }
    for (uint32_t c = 1; c <= n_colors; c++) {
        start[c] += start[c - 1];
    }
    for (uint32_t v = 0; v < n; v++) {
        variable[start[color[v]]++] = v;
    }
}

gbs_status gbsi_chromatic_init(const gbsi_graph *graph, const gbs_run_options *options,
                               gbsi_watch *watch, void **state, unsigned *traits, gbs_error *err)
{
    (void)options;
    (void)traits;
    gbs_status status = GBS_OK;
    const uint32_t n = graph->n_variables;
    uint32_t n_colors = 0;
    uint32_t *start = NULL;
    gbsi_fixed *fixed = NULL;
    uint32_t *color = gbsi_alloc_array(n, sizeof *color);
    GBSI_TRY(GBSI_HAVE(err, "chromatic scan", color));
    GBSI_TRY(gbsi_graph_color(graph, watch, color, &n_colors, err));
    GBSI_TRY(gbsi_fixed_new(n, &fixed, err));
    start = gbsi_alloc_array_zero((size_t)n_colors + 1, sizeof *start);
    GBSI_TRY(GBSI_HAVE(err, "chromatic scan", start));
    sort_by_color(color, n, n_colors, start, fixed->variable);
    *state = fixed;
    fixed = NULL;

cleanup:
    GBSI_FREE(color, start);
    gbsi_fixed_free(fixed);
    return status;
}

const gbsi_scan gbsi_scan_chromatic = {
    .name = "chromatic",
    .reference = "Gonzalez, Low, Gretton & Guestrin (2011), Parallel Gibbs sampling: from colored "
                 "fields to thin junction trees, AISTATS, section 3",
    .traits = GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE | GBSI_SCAN_COLORED | GBSI_SCAN_BASE,
    .init = gbsi_chromatic_init,
    .next_pass = gbsi_fixed_next_pass,
    .free = gbsi_fixed_free,
};
