/* SPDX-License-Identifier: Apache-2.0 */
/* Plain chains of a plan, the way of running that suits every model that is sampled. */
#include "drive/marginals.h"
#include "drive/runners.h"

gbs_status gbsi_chains_check(const gbs_run *run, gbs_error *err)
{
    const gbsi_estimate *estimate = run->estimates.estimate;
    if (estimate == NULL) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "the estimator traces keeps no marginals: use rao-blackwell or count");
    }
    if (gbsi_estimate_n_passes(estimate) == 0) {
        return gbsi_no_draw_kept(err);
    }
    return !gbsi_chains_are_spread(run) || gbsi_estimate_has_told(estimate)
               ? GBS_OK
               : gbsi_fail(
                     err, GBS_ERR_STATE,
                     "on several ranks marginals can be read once gbs_run_execute() has ended");
}

void gbsi_chains_marginal(const gbs_run *run, uint32_t v, double *const row[GBSI_N_ROWS])
{
    const uint32_t slot = gbsi_engine_slot(&run->engine, &run->options, v);
    gbsi_estimate_slot(run->estimates.estimate, slot, row[GBSI_P], row[GBSI_MCSE], row[GBSI_ESS],
                       row[GBSI_RHAT]);
}

static bool suits_all(const gbs_run *run)
{
    return run->problem.part != NULL;
}

const gbsi_runner gbsi_runner_chains = {
    .name = "chains",
    .suits = suits_all,
    .check = gbsi_chains_check,
    .marginal = gbsi_chains_marginal,
    .digest = gbsi_marginals_digest,
};
