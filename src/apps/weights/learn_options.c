/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/learn_options.h"

#include "base/machine.h"
#include "base/sized.h"
#include "base/status.h"

#define ITERATIONS  1000u
#define TOLERANCE   1e-6
#define CHAINS      100u
#define STEPS       1000u
#define MOST_SWEEPS (UINT64_C(1) << 20)
#define ACCURACY    0.01 /* Mitliagkas & Mackey (2017), section 5.3 */

gbs_status gbsi_learn_options_settle(gbs_learn_options *options, gbs_error *err)
{
    gbs_learn_options *o = options;
    GBSI_IN_STRUCT(o->checkpoints, gbs_checkpoint_files);
    if (!(o->l2 >= 0.0 && o->l2 <= 1e12 && o->tolerance >= 0.0 && o->tolerance <= 1.0 &&
          o->time_s >= 0.0 && o->objective <= GBS_LEARN_SAMPLED && o->chains != 1 &&
          o->chains < UINT32_MAX / 2 && o->steps < UINT64_C(1) << 40)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_learn_options: found l2 %g, tolerance %g, %g s, objective %llu, %llu "
                         "chains and %llu steps, expected 0 to 1e12, 0 to 1, 0 s or more, a "
                         "gbs_learn_objective, 2 to 2^31 - 1 and at most 2^40",
                         o->l2, o->tolerance, o->time_s, (unsigned long long)o->objective,
                         (unsigned long long)o->chains, (unsigned long long)o->steps);
    }
    if (!(o->accuracy >= 0.0 && o->accuracy < 1.0 && o->scan <= GBS_LEARN_SCAN_OPTIMISED &&
          o->method <= GBS_LEARN_RESTARTED && o->sweeps <= MOST_SWEEPS)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_learn_options: found accuracy %g, scan %llu, method %llu and %llu "
                         "sweeps, expected 0 or more and below 1, a gbs_learn_scan, a "
                         "gbs_learn_method, and at most 2^20",
                         o->accuracy, (unsigned long long)o->scan, (unsigned long long)o->method,
                         (unsigned long long)o->sweeps);
    }
    if (o->held_out != NULL && o->point == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_learn_options: found held_out without point, expected both");
    }
    if (!(o->checkpoint_every_s >= 0.0) ||
        (o->checkpoints != NULL && o->objective != GBS_LEARN_SAMPLED)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_learn_options: found checkpoints, every %g s, expected 0 s or more, "
                         "and none but with the sampled likelihood",
                         o->checkpoint_every_s);
    }
    if (!(o->l1 >= 0.0 && o->l1 <= 1e12)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_learn_options: found l1 %g, expected 0 to 1e12", o->l1);
    }
    if (o->l1 > 0.0 && o->objective == GBS_LEARN_SAMPLED) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_learn_options: found l1 with the sampled likelihood, expected l2, or "
                         "another objective");
    }
    if (o->probes > GBS_MAX_LEARN_PROBES ||
        (o->probes > 0 && (o->l1 > 0.0 || o->objective == GBS_LEARN_SAMPLED))) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_learn_options: found %llu probes, expected at most %u, and none with "
                         "l1 or the sampled likelihood",
                         (unsigned long long)o->probes, GBS_MAX_LEARN_PROBES);
    }
    o->sweeps = o->sweeps > 0 ? o->sweeps : 1;
    o->accuracy = o->accuracy > 0.0 ? o->accuracy : ACCURACY;
    o->tolerance = o->tolerance > 0.0 ? o->tolerance : TOLERANCE;
    o->iterations = o->iterations > 0 ? o->iterations : ITERATIONS;
    o->chains = o->chains > 0 ? o->chains : CHAINS;
    o->steps = o->steps > 0 ? o->steps : STEPS;
    o->memory_limit = o->memory_limit > 0 ? o->memory_limit : gbsi_default_memory_limit();
    return GBS_OK;
}
