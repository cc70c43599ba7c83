/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the options of a run against the drawing method that they name: refuses options that
 * contradict each other, and checks the number of bins. No drawing method calls these functions. */
#include "base/status.h"
#include "draw/herding.h"

/* Refuses the option --keys with a value other than the key scheme that the draw's name implies. */
static gbs_status check_keys(const gbs_run_options *options, gbs_error *err)
{
    gbs_run_options own = *options;
    own.keys = GBS_KEYS_AUTO;
    const int keys = gbsi_herding_keys(&own);
    if (options->keys == GBS_KEYS_AUTO || options->keys == keys || keys == GBS_KEYS_NEIGHBOURS) {
        return GBS_OK;
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "--keys: draw %s has fixed keys; draw herded takes any keys",
                     gbsi_draw_name(options->draw));
}

/* Checks the options on bins and thresholds. */
static gbs_status check_rules(const gbs_run_options *options, int keys, gbs_error *err)
{
    const unsigned traits = gbsi_draw_traits(options);
    if (options->threshold < 0.0 && options->threshold != GBS_THRESHOLD_AUTO) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--threshold: found %g, expected 0 to 1e9",
                         options->threshold);
    }
    if (options->threshold == GBS_THRESHOLD_AUTO && options->sweeps != 0 &&
        options->sweeps < GBSI_LEAST_TRIAL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--threshold auto needs at least --sweeps %u, to see errors fall",
                         GBSI_LEAST_TRIAL);
    }
    if ((traits & GBSI_DRAW_THRESHOLD) != 0 && options->herd_rule == GBS_HERD_POST) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--herd-rule post: draw bounded-error compares weights before it adds p");
    }
    if ((traits & GBSI_DRAW_ROUNDS) != 0 &&
        (options->bin_edge != GBS_BIN_RIGHT || options->bin_rule != GBS_BIN_STICK)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--bin-edge and --bin-rule: draw randomly-discretized has fixed ones");
    }
    if (options->bin_rule != GBS_BIN_STICK && (gbsi_keys_decide(keys) || keys == GBS_KEYS_AUTO)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--bin-rule: draw %s has no bins",
                         gbsi_draw_name(options->draw));
    }
    return GBS_OK;
}

gbs_status gbsi_draw_check(const gbs_run_options *options, gbs_error *err)
{
    const char *name = gbsi_draw_name(options->draw);
    const int keys = gbsi_herding_keys(options);
    GBSI_PASS(check_keys(options, err));
    if (keys != GBS_KEYS_BINS && (options->bins != 0 || options->bin_edge != GBS_BIN_RIGHT)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--bins and --bin-edge: draw %s has no bins: use --draw discretized",
                         name);
    }
    GBSI_PASS(check_rules(options, keys, err));
    if ((options->dummy_edges == NULL) != (options->n_dummy_edges == 0)) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "--dummy-edges: the array and its length are given together or not at all");
    }
    if (keys != GBS_KEYS_NEIGHBOURS && options->n_dummy_edges != 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--dummy-edges: only draw herded with keys neighbours uses them");
    }
    return GBS_OK;
}

uint32_t gbsi_draw_bins(const gbs_run_options *options, uint32_t n_slots)
{
    return gbsi_herding_keys(options) == GBS_KEYS_BINS
               ? gbsi_herding_of(options, gbsi_draw_traits(options), n_slots).n_bins
               : 0;
}
