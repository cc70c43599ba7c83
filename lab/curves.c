/* SPDX-License-Identifier: Apache-2.0 */
/* Errors after 1, 2, 4, ... sweeps. */
#include "lab/curves.h"

#include <stdlib.h>

#include "base/memory.h"
#include "simd/math.h"

typedef struct watcher {
    gbsi_joint *joint;
    size_t n;
    const lab_measure *measure;          /* [n] */
    lab_curves curves[LAB_MAX_MEASURES]; /* [n] */
} watcher;

double lab_statistic_l1(const gbsi_joint *joint, uint32_t chain, const void *context)
{
    return gbsi_joint_l1(joint, chain, context);
}

static gbs_status watch(void *context, uint64_t draw, uint32_t chain, double log_density,
                        const uint32_t *state, gbs_error *err)
{
    watcher *w = context;
    const lab_curves *c = &w->curves[0];
    const uint64_t sweeps = draw + 1;
    size_t k = 0;
    (void)log_density;
    GBSI_PASS(gbsi_joint_add(w->joint, chain, state, err));
    while (k < c->n && c->sweeps[k] < (double)sweeps) {
        k++;
    }
    for (size_t m = 0; m < w->n && k < c->n; m++) {
        const lab_measure *measure = &w->measure[m];
        double *kept = &w->curves[m].value[k * c->n_runs + chain];
        if (measure->largest || c->sweeps[k] == (double)sweeps) {
            const double value = measure->statistic(w->joint, chain, measure->context);
            *kept = measure->largest && *kept > value ? *kept : value;
        }
    }
    return GBS_OK;
}

/* Sets the checkpoints of curves without values. */
static void set_checkpoints(uint64_t sweeps, lab_curves *c)
{
    while (c->n < LAB_MAX_CHECKPOINTS && UINT64_C(1) << c->n <= sweeps) {
        c->sweeps[c->n] = (double)(UINT64_C(1) << c->n);
        c->n++;
    }
    if (c->n > 0 && c->n < LAB_MAX_CHECKPOINTS && c->sweeps[c->n - 1] < (double)sweeps) {
        c->sweeps[c->n++] = (double)sweeps;
    }
}

gbs_status lab_curves_run_all(laboratory *lab, const char *what, const gbs_model *model,
                              const gbs_run_options *options, size_t n, const lab_measure *measure,
                              lab_curves *const *out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    watcher w = {.n = n, .measure = measure};
    for (size_t m = 0; m < n; m++) {
        lab_curves *c = &w.curves[m];
        c->n_runs = (uint32_t)options->chains;
        set_checkpoints(options->sweeps, c);
        c->value = gbsi_alloc_array_zero(c->n * c->n_runs, sizeof *c->value);
        GBSI_TRY(GBSI_HAVE(err, what, c->value));
    }
    GBSI_TRY(gbsi_joint_new(model, 0, NULL, (uint32_t)options->chains, &w.joint, err));
    GBSI_TRY(lab_run(lab, what, model, options, watch, &w, NULL, err));
    for (size_t m = 0; m < n && status == GBS_OK; m++) {
        *out[m] = w.curves[m];
        w.curves[m].value = NULL;
    }
cleanup:
    gbsi_joint_free(w.joint);
    for (size_t m = 0; m < n; m++) {
        lab_curves_free(&w.curves[m]);
    }
    return status;
}

gbs_status lab_curves_run(laboratory *lab, const char *what, const gbs_model *model,
                          const gbs_run_options *options, lab_statistic *statistic,
                          const void *context, lab_curves *out, gbs_error *err)
{
    const lab_measure measure = {.statistic = statistic, .context = context};
    return lab_curves_run_all(lab, what, model, options, 1, &measure, &out, err);
}

void lab_curves_free(lab_curves *curves)
{
    gbsi_free(curves->value);
    curves->value = NULL;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

void lab_sort(double *value, size_t n)
{
    qsort(value, n, sizeof *value, compare);
}

double lab_quantile(const double *sorted, size_t n, double q)
{
    const double at = q * (double)(n - 1);
    const size_t i = (size_t)at;
    const double share = at - (double)i;
    return i + 1 < n ? sorted[i] + share * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

void lab_curves_quantile(lab_curves *curves, double q, double *out)
{
    for (size_t k = 0; k < curves->n; k++) {
        lab_sort(curves->value + k * curves->n_runs, curves->n_runs);
        out[k] = lab_quantile(curves->value + k * curves->n_runs, curves->n_runs, q);
    }
}

lab_mean lab_mean_of(const double *value, uint32_t n)
{
    lab_mean m = {0.0, 0.0};
    for (uint32_t i = 0; i < n; i++) {
        m.mean += value[i] / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        m.error += (value[i] - m.mean) * (value[i] - m.mean);
    }
    m.error = gbsi_sqrt(m.error / (n - 1.0) / n);
    return m;
}

double lab_log_slope(const double *x, const double *y, size_t n, size_t last)
{
    double sx = 0.0;
    double sy = 0.0;
    double sxx = 0.0;
    double sxy = 0.0;
    const size_t first = n > last ? n - last : 0;
    for (size_t i = first; i < n; i++) {
        const double lx = gbsi_log2(x[i]);
        const double ly = gbsi_log2(y[i]);
        sx += lx;
        sy += ly;
        sxx += lx * lx;
        sxy += lx * ly;
    }
    const double m = (double)(n - first);
    return (m * sxy - sx * sy) / (m * sxx - sx * sx);
}

/* The slope is sum_i (lx_i - mean) log2 y_i / sum_i (lx_i - mean)^2; the variance of log y is
 * (error / y)^2. */
double lab_log_slope_error(const double *x, const double *y, const double *error, size_t n)
{
    double mean = 0.0;
    double squares = 0.0;
    double variance = 0.0;
    for (size_t i = 0; i < n; i++) {
        mean += gbsi_log(x[i]) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        const double off = gbsi_log(x[i]) - mean;
        squares += off * off;
        variance += off * error[i] / y[i] * (off * error[i] / y[i]);
    }
    return gbsi_sqrt(variance) / squares;
}
