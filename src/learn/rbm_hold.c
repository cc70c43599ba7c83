/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the chains agree at the weights that were learnt [M63]. */
#include "base/memory.h"
#include "learn/rbm.h"
#include "learn/split_rhat.h"

#define HALF 100u /* draws of a half of a chain */

/* Adds the units of every chain to its count. @param count [chains][n + m] */
static void add_units(const gbsi_rbm *r, uint32_t *count)
{
    for (size_t c = 0; c < r->n_chains; ++c, count += r->n + r->m) {
        for (size_t i = 0; i < r->n; ++i) {
            count[i] += r->v[c * r->n + i];
        }
        for (size_t j = 0; j < r->m; ++j) {
            count[r->n + j] += r->h[c * r->m + j];
        }
    }
}

/* Adds the counts to the sums of units, which are of halves of chains, and clears them.
 * @param sum [2][n + m] of counts and of their squares */
static void end_half(const gbsi_rbm *r, uint32_t *count, uint64_t *sum)
{
    const size_t n = r->n + r->m;
    for (size_t k = 0; k < r->n_chains * n; ++k) {
        sum[k % n] += count[k];
        sum[n + k % n] += (uint64_t)count[k] * count[k];
        count[k] = 0;
    }
}

gbs_status gbsi_rbm_hold_still(gbsi_rbm *rbm, gbs_rbm_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = rbm->n + rbm->m;
    rbm->n_batch = 0; /* no rows */
    rbm->n_chains = (size_t)rbm->options.batch;
    uint32_t *count = gbsi_alloc_array_zero(rbm->n_chains * n, sizeof *count);
    uint64_t *sum = gbsi_alloc_array_zero(2 * n, sizeof *sum);
    if (count == NULL || sum == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "moments", rbm->n_chains * n * sizeof *count));
    }
    for (uint32_t t = 0; t < 2 * HALF && gbsi_rbm_sweep(rbm); ++t, ++rbm->step) {
        add_units(rbm, count);
        (void)gbsi_rbm_stops(rbm, 0, rbm->n_chains * n / 4);
        if (t % HALF == HALF - 1) {
            end_half(rbm, count, sum);
        }
    }
    report->rhat = 1.0;
    for (size_t u = 0; u < n; ++u) {
        const double rhat =
            gbsi_split_rhat(sum[u], sum[n + u], HALF, 2.0 * (double)rbm->n_chains, NULL);
        report->rhat = rhat > report->rhat ? rhat : report->rhat;
    }
    report->converged = report->rhat <= GBSI_MOST_RHAT;
    if (gbsi_watch_stopped(&rbm->work->watch)) {
        report->rhat = (double)NAN;
        report->converged = 0;
    }

cleanup:
    gbsi_free(count);
    gbsi_free(sum);
    return status;
}
