/* SPDX-License-Identifier: Apache-2.0 */
/* The systematic scan visits the variables in the user's order, starting at a given variable and
 * wrapping round at the end. The start of the sweep affects the accuracy of answers about a single
 * variable. Mitliagkas & Mackey (2017) use q_t = e_{(t mod p) + 1}, which is origin 1 here. */
#include <inttypes.h>

#include "base/status.h"
#include "scan/registry.h"

/* Returns the first free variable whose number in the user's model is at least `origin`; 0 if no
 * free variable has such a number. */
static uint32_t first_from(const gbsi_conditioned *model, uint64_t origin)
{
    /* user_variable is ascending. */
    uint32_t low = 0;
    uint32_t high = model->n_variables;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (model->user_variable[middle] < origin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == model->n_variables ? 0 : low;
}

static gbs_status systematic_init(const gbsi_graph *graph, const gbs_run_options *options,
                                  gbsi_watch *watch, void **state, unsigned *traits, gbs_error *err)
{
    (void)watch;
    (void)traits;
    const uint32_t n_user = graph->model->model->n_variables;
    /* The default origin, 0, is also accepted for a model without variables. */
    if (options->origin != 0 && options->origin >= n_user) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--origin %" PRIu64 " of the systematic scan: the model has %" PRIu32
                         " variables",
                         options->origin, n_user);
    }
    const uint32_t n = graph->n_variables;
    gbsi_fixed *fixed = NULL;
    GBSI_PASS(gbsi_fixed_new(n, &fixed, err));
    const uint32_t first = first_from(graph->model, options->origin);
    for (uint32_t i = 0; i < n; i++) {
        fixed->variable[i] = i < n - first ? first + i : i - (n - first);
    }
    *state = fixed;
    return GBS_OK;
}

const gbsi_scan gbsi_scan_systematic = {
    .name = "systematic",
    .reference = "Geman & Geman (1984), Stochastic relaxation, Gibbs distributions, and the "
                 "Bayesian restoration of images, IEEE PAMI 6(6):721-741",
    .traits = GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE,
    .options = (const char *const[]){"origin", NULL},
    .init = systematic_init,
    .next_pass = gbsi_fixed_next_pass,
    .free = gbsi_fixed_free,
};
