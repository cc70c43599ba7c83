/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that options are compatible with one another; the range of each option is checked in
 * options/. */
#include "chains/run_options.h"

#include <stdio.h>
#include <string.h>

#include "base/machine.h"
#include "base/plural.h"
#include "options/options.h"
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
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--target: a list of %zu variable%s is NULL",
                         options->n_targets, gbsi_plural(options->n_targets));
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

bool gbsi_options_sample(const gbs_run_options *o)
{
    return o->method != GBS_METHOD_EXACT && !gbsi_options_approximate(o);
}

/* Checks options that ladders of temperatures do not allow: ladders update by colours, use the
 * random draw, start from states of their own, and have no proved bounds. */
static gbs_status check_temper(const gbs_run_options *o, gbs_error *err)
{
    if (o->temper <= GBS_TEMPER_OFF) {
        return GBS_OK;
    }
    if (gbsi_scan_choice_of(o->scan) == GBSI_CHOICE_NAMED &&
        o->scan != gbsi_scan_with(GBSI_SCAN_BASE)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--temper applies with --scan %s only",
                         gbsi_scan_base_name());
    }
    const char *with = (gbsi_draw_traits(o) & GBSI_DRAW_INDEPENDENT) == 0 ? "--draw random"
                       : o->estimator != GBS_ESTIMATOR_RAO_BLACKWELL ? "--estimator rao-blackwell"
                       : !gbsi_options_sample(o)                     ? "--method sample or auto"
                                                                     : NULL;
    const char *without = o->start != NULL                   ? "--start"
                          : o->certified > 0.0               ? "--certified"
                          : o->restarts                      ? "--restarts"
                          : o->partial_scan                  ? "--partial-scan"
                          : o->lattice == GBS_LATTICE_ALWAYS ? "--lattice always"
                                                             : NULL;
    if (with != NULL || without != NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--temper applies with%s %s only",
                         with != NULL ? "" : "out", with != NULL ? with : without);
    }
    return GBS_OK;
}

/* Refuses a sequence with updates of variables drawn uniformly, which an early stop of a search for
 * a scan leaves. */
static gbs_status check_sequence(const gbs_run_options *options, gbs_error *err)
{
    for (size_t t = 0; options->sequence != NULL && t < options->sequence_length; ++t) {
        if (options->sequence[t] == GBS_STEP_UNIFORM) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "scan: update %zu takes a variable drawn uniformly (* in a scan "
                             "file), expected a variable: gibbsite scan --scan FILE chooses the "
                             "variables of such updates",
                             t);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_options_check(const gbs_run_options *options, gbs_error *err)
{
    const gbsi_scan *scan = gbsi_scan_of(options->scan);
    GBSI_PASS(gbsi_simd_check(err));
    const bool reads = scan != NULL && (scan->traits & GBSI_SCAN_READS) != 0;
    if (reads != (options->sequence != NULL)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "sequence and the scan GBS_SCAN_SEQUENCE must be given together");
    }
    GBSI_PASS(check_sequence(options, err));
    GBSI_PASS(gbsi_option_check_names(options, "scan", options->scan, gbsi_scan_options, err));
    GBSI_PASS(gbsi_option_check_names(options, "draw", options->draw, gbsi_draw_options, err));
    GBSI_PASS(check_short_chains(options, err));
    GBSI_PASS(check_temper(options, err));
    if (options->least_chains > options->chains) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--least-chains must be at most --chains");
    }
    const gbs_run_options usual = gbs_run_options_default();
    if (!gbsi_options_approximate(options) &&
        (options->damping != usual.damping || options->iterations != usual.iterations)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--damping and --iterations apply with --method mean-field or bp only");
    }
    if (options->method != GBS_METHOD_MEAN_FIELD &&
        options->mean_field_schedule != usual.mean_field_schedule) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--mean-field-schedule applies with --method mean-field only");
    }
    if (scan != NULL && scan->check != NULL) {
        GBSI_PASS(scan->check(options, err));
    }
    return gbsi_draw_check(options, err);
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
