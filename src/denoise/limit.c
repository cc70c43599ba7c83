/* SPDX-License-Identifier: Apache-2.0 */
/* How long the run of a large picture lasts if nobody says, and whether it is one bit by bit. */
#include "denoise/denoise.h"
#include "sampler/run.h"
#include "sampler/run_options.h"

#define LARGE        (UINT64_C(1) << 20) /* pixels times levels */
#define MOST_WORK    (UINT64_C(1) << 33) /* updates times levels */
#define LEAST_SWEEPS 16u
/* In bits, where an update takes a tenth of the time, few chains are enough to compare, and fewer
 * of their sweeps are burn-in. */
#define BIT_CHAINS       4u
#define LEAST_BIT_SWEEPS 64u

static uint64_t sweeps_of(uint64_t per_sweep, uint64_t least)
{
    return MOST_WORK / per_sweep < least ? least : MOST_WORK / per_sweep;
}

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
    if (n < LARGE || own.target_error != 0.0) {
        return GBS_OK;
    }
    gbs_run_options bits = own;
    bits.method = own.method == GBS_METHOD_AUTO ? GBS_METHOD_SAMPLE : own.method;
    bits.lattice = own.lattice == GBS_LATTICE_AUTO ? GBS_LATTICE_ALWAYS : own.lattice;
    bits.chains =
        o.keep_chains || own.chains != gbs_run_options_default().chains ? own.chains : BIT_CHAINS;
    const bool in_bits = gbsi_denoise_is_lattice(noisy, &o, &bits);
    if (in_bits) {
        run->method = bits.method;
        run->lattice = bits.lattice;
        run->chains = bits.chains;
    }
    if (own.sweeps == 0 && own.max_updates == 0 && own.time_s == 0.0) {
        const uint64_t per_sweep = n * gbsi_options_chains(in_bits ? &bits : &own);
        run->sweeps = sweeps_of(per_sweep, in_bits ? LEAST_BIT_SWEEPS : LEAST_SWEEPS);
        run->target_error = GBSI_DEFAULT_TARGET;
    }
cleanup:
    return status;
}
