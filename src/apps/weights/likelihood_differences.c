/* SPDX-License-Identifier: Apache-2.0 */
/* Second derivatives of the likelihood by central differences of its gradient [M66], [M73]. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "weights/likelihood.h"

#define APART 1e-4 /* relative distance of the two weights in a difference */

gbs_status gbsi_likelihood_information(gbsi_likelihood *likelihood, const double *w,
                                       double *information, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = gbsi_likelihood_n(likelihood);
    double sum = 0.0;
    double *tried = gbsi_alloc_array(3 * n, sizeof *tried);
    GBSI_PASS(GBSI_HAVE(err, "second derivatives", tried));
    double *above = tried + n;
    double *below = above + n;
    memcpy(tried, w, n * sizeof *w);
    for (size_t k = 0; k < n; ++k) {
        const double apart = APART * (1.0 + fabs(w[k]));
        tried[k] = w[k] + apart;
        GBSI_TRY(gbsi_likelihood_at(likelihood, tried, &sum, above, err));
        tried[k] = w[k] - apart;
        GBSI_TRY(gbsi_likelihood_at(likelihood, tried, &sum, below, err));
        tried[k] = w[k];
        for (size_t i = k; i < n; ++i) {
            information[i * n + k] = (below[i] - above[i]) / (2.0 * apart);
        }
    }

cleanup:
    gbsi_free(tried);
    return status;
}

gbs_status gbsi_likelihood_product(gbsi_likelihood *likelihood, const double *w,
                                   const double *along, double *product, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = gbsi_likelihood_n(likelihood);
    double sum = 0.0;
    double largest = 0.0;
    double longest = 0.0;
    double *tried = gbsi_alloc_array(2 * n, sizeof *tried);
    GBSI_PASS(GBSI_HAVE(err, "second derivatives", tried));
    double *above = tried + n;
    for (size_t k = 0; k < n; ++k) {
        largest = fabs(w[k]) > largest ? fabs(w[k]) : largest;
        longest = fabs(along[k]) > longest ? fabs(along[k]) : longest;
    }
    const double apart = longest > 0.0 ? APART * (1.0 + largest) / longest : 1.0;
    for (size_t k = 0; k < n; ++k) {
        tried[k] = w[k] + apart * along[k];
    }
    GBSI_TRY(gbsi_likelihood_at(likelihood, tried, &sum, above, err));
    for (size_t k = 0; k < n; ++k) {
        tried[k] = w[k] - apart * along[k];
    }
    GBSI_TRY(gbsi_likelihood_at(likelihood, tried, &sum, product, err));
    for (size_t k = 0; k < n; ++k) {
        product[k] = (product[k] - above[k]) / (2.0 * apart);
    }

cleanup:
    gbsi_free(tried);
    return status;
}
