/* SPDX-License-Identifier: Apache-2.0 */
/* The splash scan updates blocks instead of single variables; src/engine/splash/ chooses and draws
 * the blocks. The sequence of this scan has every variable once, so that the plan can number the
 * variables. */
#include "base/status.h"
#include "options/options.h"
#include "scan/registry.h"

static gbs_status splash_init(const gbsi_graph *graph, const gbs_run_options *options,
                              gbsi_watch *watch, void **state, unsigned *traits, gbs_error *err)
{
    (void)watch;
    (void)options;
    (void)traits;
    gbsi_fixed *fixed = NULL;
    const gbs_status status = gbsi_fixed_new(graph->n_variables, &fixed, err);
    for (uint32_t v = 0; status >= 0 && v < graph->n_variables; v++) {
        fixed->variable[v] = v;
    }
    *state = fixed;
    return status;
}

static gbs_status splash_check(const gbs_run_options *options, gbs_error *err)
{
    const bool adaptive = options->grow == GBS_GROW_ADAPTIVE;
    if (!adaptive && !gbsi_option_is_default(options, "score")) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--score applies with --grow adaptive only");
    }
    if (adaptive != (options->adapt > 0)) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "--grow adaptive and --adapt must be given together: adaptive growth has to "
            "end during burn-in");
    }
    if (adaptive && options->burn_in == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--grow adaptive needs a burn-in, and --burn-in is 0");
    }
    return GBS_OK;
}

const gbsi_scan gbsi_scan_splash = {
    .name = "splash",
    .reference = "Gonzalez, Low, Gretton & Guestrin (2011), Parallel Gibbs sampling: from colored "
                 "fields to thin junction trees, AISTATS, section 4",
    .traits = GBSI_SCAN_BLOCKS | GBSI_SCAN_CANDIDATE,
    .options = (const char *const[]){"width", "splash-size", "splashes", "grow", "adapt", "score",
                                     "locking", NULL},
    .check = splash_check,
    .init = splash_init,
    .next_pass = gbsi_fixed_next_pass,
    .free = gbsi_fixed_free,
};
