/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of tied weights: the sandwich of a pseudo-likelihood [M61], the information of a
 * likelihood [M66], or probes [M73]. */
#include <string.h>

#include "base/memory.h"
#include "learn/equations.h"
#include "weights/learning.h"

#define PIVOT                1e-10 /* share of a diagonal entry below which a pivot counts as 0 */
#define PIVOT_OF_DIFFERENCES 1e-6  /* value of PIVOT for approximate second derivatives */

bool gbsi_learning_factorise(gbsi_learning *learning, double more)
{
    gbsi_learning *l = learning;
    return gbsi_cholesky(l->information, l->n, more,
                         l->likelihood == NULL ? PIVOT : PIVOT_OF_DIFFERENCES, l->root,
                         &l->work.watch);
}

/* Adds rows to the sums of the sandwich H^-1 J H^-1 [M61], where J is n times the covariance of the
 * gradients g of the n rows. The variance of a weight is n times the variance, over the rows, of
 * the weight's entry of H^-1 g. @param sum sums of the entries and of their squares. */
static void add_rows(void *context, uint32_t member, size_t first, size_t end, double *sum)
{
    const gbsi_learning *l = context;
    const gbs_data *d = l->data;
    double *g = l->room + member * l->n;
    for (size_t i = first; i < end && !gbsi_pseudo_stops(&l->pseudo, member, l->n * l->n); ++i) {
        double value = 0.0;
        memset(g, 0, l->n * sizeof *g);
        gbsi_pseudo_row(&l->pseudo, member, l->w, i, 1.0, &value, g, NULL);
        gbsi_cholesky_solve(l->root, l->n, g);
        for (size_t k = 0; k < l->n; ++k) {
            sum[k] += d->weight[i] * g[k] / d->sum;
            sum[l->n + k] += d->weight[i] * g[k] * g[k];
        }
    }
}

/* Computes the variances H^-1 (H - l2) H^-1 at the maximum of a likelihood. H belongs to the
 * objective with its penalty; the information is H - l2. */
static void invert(gbsi_learning *l)
{
    double *x = l->room;
    for (size_t k = 0; k < l->n && !gbsi_watch_spend(&l->work.watch, l->n * l->n); ++k) {
        double square = 0.0;
        memset(x, 0, l->n * sizeof *x);
        x[k] = 1.0;
        gbsi_cholesky_solve(l->root, l->n, x);
        for (size_t i = 0; i < l->n; ++i) {
            square += x[i] * x[i];
        }
        l->variance[k] = x[k] - l->options.l2 * square;
    }
}

/* Computes the sandwich of a pseudo-likelihood. */
static gbs_status sandwich(gbsi_learning *l, gbs_error *err)
{
    const double n_rows = l->data->sum;
    const gbsi_blocks blocks = {.n = l->data->n_distinct,
                                .of_block = gbsi_pseudo_block(&l->pseudo),
                                .n_sums = 2 * l->n,
                                .context = l,
                                .add = add_rows};
    double *sum = NULL;
    const gbs_status status = gbsi_blocks_sum(&blocks, l->work.pool, &sum, err);
    for (size_t k = 0; status >= 0 && k < l->n; ++k) {
        l->variance[k] = (sum[l->n + k] - n_rows * sum[k] * sum[k]) * n_rows / (n_rows - 1.0);
    }
    gbsi_free(sum);
    return status;
}

static gbs_status probe(gbsi_learning *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t count =
        l->options.probes > 0 ? l->options.probes : (uint64_t)GBS_USUAL_LEARN_PROBES;
    bool known = false;
    GBSI_TRY(gbsi_products_errors(&l->products, count, l->variance, &known, err));
    for (size_t k = 0; k < l->n; ++k) {
        l->variance[k] *= l->variance[k];
    }

cleanup:
    l->report.has_errors = known;
    l->report.probes = known ? count : 0;
    return status == GBS_ERR_STOPPED || status == GBS_ERR_UNSUPPORTED ? GBS_OK : status;
}

gbs_status gbsi_learning_errors(gbsi_learning *learning, bool wanted, gbs_error *err)
{
    gbsi_learning *l = learning;
    const bool probes = l->options.probes > 0 || l->information == NULL;
    const bool by_rows = l->likelihood == NULL || probes;
    if (l->options.objective == GBS_LEARN_SAMPLED || l->options.l1 > 0.0 || !l->report.converged ||
        (by_rows && !(l->data->sum > (double)l->n))) {
        return GBS_OK;
    }
    if (probes) {
        return wanted ? probe(l, err) : GBS_OK;
    }
    if (gbsi_learning_factorise(l, 0.0)) {
        if (l->likelihood == NULL) {
            GBSI_PASS(sandwich(l, err));
        } else {
            invert(l);
        }
        l->report.has_errors = !gbsi_watch_stopped(&l->work.watch);
    }
    return GBS_OK;
}
