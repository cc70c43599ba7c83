/* SPDX-License-Identifier: Apache-2.0 */
#include "scan/registry.h"

#include "base/memory.h"
#include "rng/philox.h"

gbs_status gbsi_drawn_init(const gbsi_graph *graph, const gbs_run_options *options,
                           gbsi_watch *watch, void **state, unsigned *traits, gbs_error *err)
{
    (void)watch;
    (void)traits;
    gbsi_drawn *drawn = gbsi_alloc_zero(sizeof *drawn);
    GBSI_PASS(GBSI_HAVE(err, "scan", drawn));
    drawn->seed = options->seed;
    drawn->n = graph->n_variables;
    drawn->variable = gbsi_alloc_array(drawn->n, sizeof *drawn->variable);
    if (drawn->variable == NULL) {
        const size_t bytes = drawn->n * sizeof *drawn->variable;
        gbsi_drawn_free(drawn);
        return gbsi_no_memory(err, "scan", bytes);
    }
    *state = drawn;
    return GBS_OK;
}

void gbsi_drawn_free(void *state)
{
    gbsi_drawn *drawn = state;
    if (drawn == NULL) {
        return;
    }
    GBSI_FREE(drawn->variable, drawn);
}

uint32_t gbsi_drawn_below(const gbsi_drawn *drawn, uint64_t pass, uint32_t position, uint32_t m)
{
    uint32_t word[4];
    gbsi_philox(drawn->seed, 0, pass, position / 2, GBSI_PURPOSE_SCAN, word);
    const uint32_t at = 2 * (position % 2);
    return gbsi_below(word[at], word[at + 1], m);
}
