/* SPDX-License-Identifier: Apache-2.0 */
/* How long the run of a large picture lasts if nobody says. */
#include "denoise/denoise.h"
#include "sampler/run.h"
#include "sampler/run_options.h"

#define LARGE        (UINT64_C(1) << 20) /* pixels times levels */
#define MOST_WORK    (UINT64_C(1) << 33) /* updates times levels */
#define LEAST_SWEEPS 16u

gbs_status gbs_denoise_limit(const gbs_image *noisy, const gbs_denoise_options *options,
                             gbs_run_options *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_denoise_options o;
    gbs_run_options own;
    GBSI_NEED(run);
    GBSI_TRY(gbsi_denoise_settle(noisy, options, &o, err));
    GBSI_TRY(gbsi_options_take(run, &own, err));
    GBSI_TRY(gbsi_options_check(&own, err));
    const uint64_t n = (uint64_t)noisy->width * noisy->height * o.levels;
    const bool limited =
        own.sweeps != 0 || own.max_updates != 0 || own.target_error != 0.0 || own.time_s != 0.0;
    if (n >= LARGE && !limited) {
        const uint64_t sweeps = MOST_WORK / n / gbsi_options_chains(&own);
        run->sweeps = sweeps < LEAST_SWEEPS ? LEAST_SWEEPS : sweeps;
        run->target_error = GBSI_DEFAULT_TARGET;
    }
cleanup:
    return status;
}
