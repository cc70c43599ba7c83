/* SPDX-License-Identifier: Apache-2.0 */
/* The random scan draws variables with replacement. All variables are equally likely. A pass has as
 * many draws as there are variables. */
#include "scan/registry.h"

static gbs_status random_next_pass(void *state, uint64_t pass, gbsi_sequence *sequence,
                                   gbs_error *err)
{
    (void)err;
    gbsi_drawn *drawn = state;
    for (uint32_t i = 0; i < drawn->n; i++) {
        drawn->variable[i] = gbsi_drawn_below(drawn, pass, i, drawn->n);
    }
    *sequence = (gbsi_sequence){.variable = drawn->variable, .n = drawn->n};
    return GBS_OK;
}

const gbsi_scan gbsi_scan_random = {
    .name = "random",
    .reference = "Liu, Wong & Kong (1995), Covariance structure and convergence rate of the Gibbs "
                 "sampler with various scans, J. R. Statist. Soc. B 57(1):157-169",
    .traits = GBSI_SCAN_UNIFORM,
    .init = gbsi_drawn_init,
    .next_pass = random_next_pass,
    .free = gbsi_drawn_free,
};
