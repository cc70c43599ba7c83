/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the settings of herding from the options of a run. */
#include "draw/herding.h"

#include "simd/math.h"

#define MOST_BINS    64u /* largest default number of bins: 256 bytes per variable and chain */
#define USUAL_TARGET 0.005
#define LEAST_PASSES 64.0

const char *const gbsi_herding_options[] = {"keys", "herd-rule", "herd-init", "bin-rule", NULL};
const char *const gbsi_bounded_options[] = {"keys",     "herd-rule", "herd-init",
                                            "bin-rule", "threshold", NULL};

/* Number of passes that the options request. If no option sets this number, all passes together
 * make 1 / target^2 draws, because the mean of this many independent draws of a fair coin has a
 * standard error of half the target. The option max_updates limits the number of passes; 0 stands
 * for no limit. */
uint64_t gbsi_draw_passes(const gbs_run_options *options, uint32_t n_slots)
{
    const double per_pass = (double)n_slots * (double)options->chains + 1.0;
    const uint64_t allowed = options->max_updates != 0 ? options->max_updates : UINT64_MAX;
    const double most = (double)allowed / per_pass + 1.0;
    const double target = options->target_error > 0.0 ? options->target_error : USUAL_TARGET;
    const double wanted = 1.0 / (target * target * (double)options->chains);
    const double passes = wanted < LEAST_PASSES ? LEAST_PASSES : wanted;
    if (options->sweeps != 0 && (double)options->sweeps <= most) {
        return options->sweeps;
    }
    return (uint64_t)(options->sweeps != 0 || most < passes ? most : passes);
}

/* Default number of bins B = sqrt(T / c) for T updates per variable. Here c is a bound on the
 * weights: 1 for herding, 1 + threshold for bounded-error herding. This B minimises the error in
 * the mean of a function of one variable (Yamashita & Suzuki 2019, section 6.4). */
static uint32_t bins_of(const gbs_run_options *options, bool bounded, uint32_t n_slots)
{
    if (options->bins != 0) {
        return (uint32_t)options->bins;
    }
    const double bound = bounded && options->threshold > 0.0 ? 1.0 + options->threshold : 1.0;
    const double bins = gbsi_sqrt((double)gbsi_draw_passes(options, n_slots) / bound);
    return bins < 1.0 ? 1u : (bins > (double)MOST_BINS ? MOST_BINS : (uint32_t)(bins + 0.5));
}

gbsi_herding gbsi_herding_of(const gbs_run_options *options, unsigned traits, uint32_t n_slots)
{
    const int keys = gbsi_herding_keys(options);
    const bool bounded = (traits & GBSI_DRAW_THRESHOLD) != 0;
    const double threshold = options->threshold > 0.0 ? options->threshold : 0.0;
    return (gbsi_herding){
        .keys = keys,
        .post = options->herd_rule == GBS_HERD_POST ||
                (options->herd_rule == GBS_HERD_RULE_AUTO && !gbsi_keys_decide(keys) && !bounded),
        .init = options->herd_init,
        .left_edge = options->bin_edge == GBS_BIN_LEFT,
        .n_bins = keys == GBS_KEYS_BINS ? bins_of(options, bounded, n_slots) : 1,
        .argmax = options->bin_rule == GBS_BIN_ARGMAX || bounded,
        .rounded = (traits & GBSI_DRAW_ROUNDS) != 0,
        .bounded = bounded,
        .threshold = threshold,
        .bound = bounded ? (int64_t)(threshold * 0x1p32) : 0,
    };
}

int gbsi_herding_advise(const gbs_run_options *options, uint32_t n_slots, double n_weights)
{
    const int keys = gbsi_herding_keys(options);
    if (keys == GBS_KEYS_COMPLETE || keys == GBS_KEYS_NEIGHBOURS) {
        return gbsi_draw_keyed(keys == GBS_KEYS_COMPLETE ? GBS_KEYS_NEIGHBOURS : GBS_KEYS_SHARED);
    }
    /* number of bins of `--draw discretized`, which has no threshold, with these options */
    return gbsi_keys_decide(keys) && bins_of(options, false, n_slots) < n_weights
               ? gbsi_draw_keyed(GBS_KEYS_BINS)
               : -1;
}

bool gbsi_draw_completes(const gbs_run_options *options)
{
    return gbsi_herding_keys(options) == GBS_KEYS_COMPLETE;
}
