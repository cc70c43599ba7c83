/* SPDX-License-Identifier: Apache-2.0 */
/* Ways of running without draws: exact answers, and mean field in place of an answer. */
#include "drive/marginals.h"

static bool nothing_is_sampled(const gbs_run *run)
{
    return run->problem.part == NULL;
}

const gbsi_runner gbsi_runner_exact = {
    .name = "exact",
    .suits = nothing_is_sampled,
    .digest = gbsi_marginals_digest,
};

const gbsi_runner gbsi_runner_mean_field = {
    .name = "mean-field",
    .suits = gbsi_run_is_mean_field,
    .digest = gbsi_marginals_digest,
};
