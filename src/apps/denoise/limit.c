/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the length of the run of a large picture if no limit is given, and whether the run needs
 * no factors. */
#include "chains/run.h"
#include "chains/run_options.h"
#include "denoise/denoise.h"

#define LARGE        (UINT64_C(1) << 20) /* least product of pixels and levels of a large picture */
#define MOST_WORK    (UINT64_C(1) << 33) /* largest product of updates and levels of a run */
#define LEAST_SWEEPS 16u
/* Numbers of chains and sweeps of runs without factors. A few chains are enough for R-hat, and with
 * few chains a smaller part of all sweeps is burn-in. An update of sites that are stored in bits
 * takes a tenth of the time of any other update. */
#define FEW_CHAINS         4u
#define LEAST_BIT_SWEEPS   64u
#define LEAST_LEVEL_SWEEPS 32u

static uint64_t sweeps_of(uint64_t per_sweep, uint64_t least)
{
    return MOST_WORK / per_sweep < least ? least : MOST_WORK / per_sweep;
}

gbs_status gbs_denoise_limit(const gbs_image *noisy, const gbs_denoise_options *options,
                             gbs_run_options *run, gbs_error *err)
{
    gbs_denoise_options o;
    gbs_run_options own;
    GBSI_NEED(run);
    GBSI_PASS(gbsi_denoise_settle(noisy, options, &o, err));
    GBSI_PASS(gbsi_options_take(run, &own, err));
    GBSI_PASS(gbsi_options_check(&own, err));
    const uint64_t n = (uint64_t)noisy->width * noisy->height * o.levels;
    const bool aims = own.target_error != 0.0;
    const bool ends = own.sweeps != 0 || own.max_updates != 0 || own.time_s != 0.0;
    uint64_t n_frozen = 0;
    if (!ends) { /* if the options limit the run, frozen pixels do not matter */
        GBSI_PASS(gbs_denoise_frozen(noisy, options, &n_frozen, err));
    }
    const bool frozen = n_frozen == n / o.levels;
    if (!ends && frozen) { /* more sweeps would not change the result */
        run->sweeps = LEAST_SWEEPS;
    }
    if (n < LARGE) {
        return GBS_OK;
    }
    gbs_run_options bare = own; /* options of a run without factors */
    bare.method = own.method == GBS_METHOD_AUTO ? GBS_METHOD_SAMPLE : own.method;
    bare.lattice = own.lattice == GBS_LATTICE_AUTO ? GBS_LATTICE_ALWAYS : own.lattice;
    bare.chains =
        o.keep_chains || own.chains != gbs_run_options_default().chains ? own.chains : FEW_CHAINS;
    const bool in_bits = !aims && gbsi_denoise_is_lattice(noisy, &o, &bare);
    const bool in_levels =
        !gbsi_denoise_is_narrow(noisy) && gbsi_denoise_is_levels(noisy, &o, &bare);
    if (in_bits || in_levels) {
        run->method = bare.method;
        run->lattice = bare.lattice;
        run->chains = bare.chains;
    }
    if (!aims && !ends && !frozen) {
        const uint64_t per_sweep = n * gbsi_options_chains(in_bits || in_levels ? &bare : &own);
        run->sweeps = sweeps_of(per_sweep, in_bits     ? LEAST_BIT_SWEEPS
                                           : in_levels ? LEAST_LEVEL_SWEEPS
                                                       : LEAST_SWEEPS);
        run->target_error = GBSI_DEFAULT_TARGET;
    }
    return GBS_OK;
}
