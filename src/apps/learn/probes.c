/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors by random vectors [M73]. Let G be the covariance of the gradient. If v is a
 * random vector of covariance G, then H^-1 v has the sandwich H^-1 G H^-1 as its covariance. The
 * squares of H^-1 v therefore estimate the variances of all parameters at once. */
#include "learn/probes.h"

#include <string.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"

void gbsi_probe_signs(uint64_t seed, uint64_t probe, uint64_t part, size_t n, double *sign)
{
    uint32_t word[4];
    for (size_t b = 0; b < n; ++b) {
        if (b % 128 == 0) {
            gbsi_philox(seed, (uint32_t)probe, part, (uint32_t)(b / 128), GBSI_PURPOSE_PROBE, word);
        }
        sign[b] = (word[b % 128 / 32] >> b % 32 & 1) != 0 ? 1.0 : -1.0;
    }
}

/* Computes the factor c_b of each row b: c_b = sqrt(W / (W - lost)) (s_b sqrt(w_b) - w_b / W sum of
 * s sqrt(w)). Here s_b is a random sign, w_b the weight of row b, and W the sum of all weights
 * [M73]. */
void gbsi_probe_rows(uint64_t seed, uint64_t probe, const double *weight, size_t n, double lost,
                     double *factor)
{
    double total = 0.0;
    double sum = 0.0;
    gbsi_probe_signs(seed, probe, 0, n, factor);
    for (size_t b = 0; b < n; ++b) {
        factor[b] *= gbsi_sqrt(weight[b]);
        total += weight[b];
        sum += factor[b];
    }
    const double scale = gbsi_sqrt(total / (total - lost));
    for (size_t b = 0; b < n; ++b) {
        factor[b] = scale * (factor[b] - sum / total * weight[b]);
    }
}

gbs_status gbsi_probe_errors(const gbsi_probes *probes, double *error, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_probes *p = probes;
    const gbsi_watch *watch = &p->work->watch;
    double *y = gbsi_alloc_array_zero(p->n, sizeof *y);
    GBSI_PASS(GBSI_HAVE(err, "standard errors", y));
    memset(error, 0, p->n * sizeof *error);
    p->work->progress.passes = p->count;
    for (uint64_t probe = 0; probe < p->count; ++probe) {
        p->work->progress.pass = probe;
        const bool solved = p->solve(p->context, probe, y);
        if (gbsi_watch_stopped(watch)) {
            GBSI_TRY(gbsi_watch_fail(err, "finding standard errors"));
        }
        if (!solved) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                               "standard errors: conjugate gradients have not converged, expected "
                               "rows and a penalty that determine every parameter"));
        }
        for (size_t k = 0; k < p->n; ++k) {
            error[k] += y[k] * y[k] / (double)p->count;
        }
    }
    for (size_t k = 0; k < p->n; ++k) {
        error[k] = gbsi_sqrt(error[k]);
    }

cleanup:
    gbsi_free(y);
    return status;
}
