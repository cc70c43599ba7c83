/* SPDX-License-Identifier: Apache-2.0 */
/* The permuted scan visits every variable once per pass, in a new uniformly random order each time.
 */
#include "scan/registry.h"

/* Shuffles the sequence 0, 1, 2, ..., so that a pass does not depend on earlier passes. The method
 * is Fisher-Yates: for i = n-1 .. 1 swap i with a uniform j <= i (Durstenfeld 1964, CACM 7(7):420).
 */
static gbs_status permuted_next_pass(void *state, uint64_t pass, gbsi_sequence *sequence,
                                     gbs_error *err)
{
    (void)err;
    gbsi_drawn *drawn = state;
    uint32_t *variable = drawn->variable;
    for (uint32_t i = 0; i < drawn->n; i++) {
        variable[i] = i;
    }
    for (uint32_t i = drawn->n; i > 1; i--) {
        const uint32_t j = gbsi_drawn_below(drawn, pass, i - 1, i);
        const uint32_t kept = variable[i - 1];
        variable[i - 1] = variable[j];
        variable[j] = kept;
    }
    *sequence = (gbsi_sequence){.variable = variable, .n = drawn->n};
    return GBS_OK;
}

const gbsi_scan gbsi_scan_permuted = {
    .name = "permuted",
    .reference = "Amit & Grenander (1991), Comparing sweep strategies for stochastic relaxation, "
                 "J. Multivariate Anal. 37(2):197-222",
    .traits = GBSI_SCAN_EACH_ONCE,
    .init = gbsi_drawn_init,
    .next_pass = permuted_next_pass,
    .free = gbsi_drawn_free,
};
