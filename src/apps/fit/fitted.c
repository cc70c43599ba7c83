/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/families.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/beta.h"
#include "simd/math.h"

void gbs_fitted_free(gbs_fitted *fitted)
{
    if (fitted != NULL) {
        gbsi_families_free(&fitted->families);
        gbs_model_free(fitted->model);
        GBSI_FREE(fitted->count, fitted);
    }
}

const gbs_model *gbs_fitted_model(const gbs_fitted *fitted)
{
    return fitted == NULL ? NULL : fitted->model;
}

const gbs_fit_report *gbs_fitted_report(const gbs_fitted *fitted)
{
    return fitted == NULL ? NULL : &fitted->report;
}

size_t gbs_fitted_n_entries(const gbs_fitted *fitted, uint32_t variable)
{
    if (fitted == NULL || variable >= fitted->model->n_variables) {
        return 0;
    }
    const size_t *start = fitted->families.start + variable;
    return start[1] - start[0];
}

/* The interval of Wilson (1927), J. Am. Stat. Assoc. 22:209-212: the proportions p from which the
 * share k / n of n rows is at most z standard errors sqrt(p (1 - p) / n) away. */
static void wilson(double k, double n, double z, double *low, double *high)
{
    const double middle = (k + z * z / 2) / (n + z * z);
    const double half = z / (n + z * z) * gbsi_sqrt(k * (n - k) / (n > 0 ? n : 1) + z * z / 4);
    *low = k <= 0 ? 0 : middle - half;
    *high = k >= n ? 1 : middle + half;
}

/* The interval of an entry with count k in a column whose counts sum to n. With a prior, the
 * posterior of the entry is Beta(k, n - k). */
static void interval(const gbs_fitted *f, double k, double n, double level, double *low,
                     double *high)
{
    if (f->options.prior == GBS_PRIOR_NONE) {
        wilson(k, n, gbsi_student_quantile(0.5 + level / 2, INFINITY), low, high);
        return;
    }
    *low = gbsi_beta_quantile(0.5 - level / 2, k, n - k);
    *high = gbsi_beta_quantile(0.5 + level / 2, k, n - k);
}

gbs_status gbs_fitted_table(const gbs_fitted *fitted, uint32_t variable, double level, double *p,
                            double *low, double *high, double *count, gbs_error *err)
{
    GBSI_NEED(fitted);
    const gbs_fitted *f = fitted;
    if (variable >= f->model->n_variables || !(level > 0.0 && level < 1.0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "fitted table: found variable %" PRIu32
                         " and level %g, expected a variable below %" PRIu32
                         " and a level between 0 and 1",
                         variable, level, f->model->n_variables);
    }
    const size_t start = f->families.start[variable];
    const size_t n = f->families.start[variable + (size_t)1] - start;
    const uint32_t r = f->model->arity[variable];
    const double alpha = gbsi_family_prior(&f->families, variable, &f->options);
    for (size_t i = 0; i < n; ++i) {
        const size_t column = start + i / r * r;
        double sum = 0.0;
        double bounds[2] = {1.0, 1.0}; /* the interval for a variable of one state */
        for (uint32_t a = 0; a < r; ++a) {
            sum += f->count[column + a] + alpha;
        }
        if (r > 1 && (low != NULL || high != NULL)) {
            interval(f, f->count[start + i] + alpha, sum, level, &bounds[0], &bounds[1]);
        }
        if (p != NULL) {
            p[i] = f->families.own[start + i];
        }
        if (low != NULL) {
            low[i] = bounds[0];
        }
        if (high != NULL) {
            high[i] = bounds[1];
        }
        if (count != NULL) {
            count[i] = f->count[start + i];
        }
    }
    return GBS_OK;
}
