/* SPDX-License-Identifier: Apache-2.0 */
/* What options need of one another; ranges are checked in options/. */
#include "sampler/run_options.h"

#include <inttypes.h>

#include "base/machine.h"
#include "base/memory.h"

#include "parallel/pool.h"
#include "plan/draw.h"
#include "scan/scan.h"
#include "simd/dispatch.h"

static gbs_status check_short_chains(const gbs_run_options *options, gbs_error *err)
{
    const char *name = options->restarts ? "restarts" : "partial-scan";
    if (options->n_targets > 0 && !options->restarts) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--target applies with --restarts only");
    }
    if (options->n_targets > 0 && options->target == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--target: a list of %zu variables is NULL",
                         options->n_targets);
    }
    if (!options->restarts && !options->partial_scan) {
        return GBS_OK;
    }
    if ((gbsi_scan_traits(options->scan) & GBSI_SCAN_READS) == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--%s needs a scan file: --scan FILE", name);
    }
    if ((gbsi_draw_traits(options) & GBSI_DRAW_INDEPENDENT) == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--%s needs the random draw: --draw random", name);
    }
    if (options->estimator != GBS_ESTIMATOR_RAO_BLACKWELL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--%s needs --estimator rao-blackwell, which counts the updates of "
                         "each variable",
                         name);
    }
    if (options->restarts && options->burn_in != GBS_BURN_IN_AUTO && options->burn_in != 0) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "--burn-in cannot apply with --restarts: every pass starts from a new state");
    }
    return GBS_OK;
}

static gbs_status check_splash(const gbs_run_options *options, const gbs_run_options *usual,
                               gbs_error *err)
{
    if (options->scan != GBS_SCAN_SPLASH &&
        (options->width != usual->width || options->splash_size != usual->splash_size ||
         options->splashes != usual->splashes || options->grow != usual->grow ||
         options->adapt != usual->adapt || options->locking != usual->locking)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--width, --splash-size, --splashes, --grow, --adapt and --locking apply "
                         "with --scan splash only");
    }
    if (options->grow != GBS_GROW_ADAPTIVE && options->score != usual->score) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--score applies with --grow adaptive only");
    }
    if ((options->grow == GBS_GROW_ADAPTIVE) != (options->adapt > 0)) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "--grow adaptive and --adapt must be given together: adaptive growth has to "
            "end during burn-in");
    }
    if (options->grow == GBS_GROW_ADAPTIVE && options->burn_in == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--grow adaptive needs a burn-in, and --burn-in is 0");
    }
    return GBS_OK;
}

gbs_status gbsi_options_check(const gbs_run_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(gbsi_simd_check(err));
    const bool reads = (gbsi_scan_traits(options->scan) & GBSI_SCAN_READS) != 0;
    if (reads != (options->sequence != NULL)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "sequence and the scan GBS_SCAN_SEQUENCE must be given together");
    }
    if (options->origin != 0 && options->scan != GBS_SCAN_SYSTEMATIC) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--origin applies to the systematic scan only");
    }
    GBSI_TRY(check_short_chains(options, err));
    const gbs_run_options usual = gbs_run_options_default();
    if (options->method != GBS_METHOD_MEAN_FIELD &&
        (options->damping != usual.damping || options->iterations != usual.iterations ||
         options->mean_field_schedule != usual.mean_field_schedule)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--damping, --iterations and --mean-field-schedule apply with --method "
                         "mean-field only");
    }
    GBSI_TRY(check_splash(options, &usual, err));
    GBSI_TRY(gbsi_draw_check(options, err));
    if (options->draw != GBS_DRAW_CUD &&
        (options->cud_bits != 0 || options->cud_offset != 0 || options->cud_scheme != 0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--cud-bits, --cud-offset and --cud-scheme apply with --draw cud only");
    }
cleanup:
    return status;
}

uint32_t gbsi_options_chains(const gbs_run_options *options)
{
    const bool splits = (gbsi_scan_traits(options->scan) & GBSI_SCAN_SPLITS) != 0;
    return (uint32_t)options->chains * (splits ? 2 : 1);
}

uint32_t gbsi_options_threads(const gbs_run_options *options)
{
    return options->threads == 0 ? gbsi_pool_cores() : (uint32_t)options->threads;
}

uint64_t gbsi_options_memory_limit(const gbs_run_options *options)
{
    return options->memory_limit != 0 ? options->memory_limit : gbsi_default_memory_limit();
}

bool gbsi_options_anneal(const gbs_run_options *options)
{
    const gbs_run_options usual = gbs_run_options_default();
    return options->schedule != usual.schedule || options->tau0 != usual.tau0;
}
