/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the object that a page shows of draws, schema "draws/1". */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "diagnose/autocovariance.h"
#include "gibbsite/diagnose.h"
#include "report/summary.h"

enum {
    CHAINS = 4,   /* largest number of chains that are shown one by one */
    POINTS = 400, /* points of a trace */
    BINS = 20,    /* bins of ranks */
    LAGS = 60,
};

typedef struct drawn {
    const double *x; /* [n_chains][n_draws] */
    size_t n_chains, n_draws, n_shown;
    gbsi_ranked *order; /* [n_chains * n_draws] */
    double *covariance; /* [n_draws] */
} drawn;

/* Whether the values are an indicator of a variable's state. A trace of an indicator would look
 * like a bar. */
static bool is_indicator(const drawn *d)
{
    for (size_t i = 0; i < d->n_chains * d->n_draws; i++) {
        if (d->x[i] != 0.0 && d->x[i] != 1.0) {
            return false;
        }
    }
    return true;
}

/* Chooses n draws at even distances or, if `means` is set, the running means up to these draws. */
static void thin(const double *x, size_t n_draws, bool means, double *point, size_t n)
{
    double sum = 0.0;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t next = means ? (i + 1) * n_draws / n - 1 : i * n_draws / n;
        for (; means && at <= next; at++) {
            sum += x[at];
        }
        point[i] = means ? sum / (double)at : x[next];
    }
}

static void write_trace(const drawn *d, gbs_output *output)
{
    const bool means = is_indicator(d);
    const size_t n = d->n_draws < POINTS ? d->n_draws : POINTS;
    double point[POINTS];
    gbsi_output_text(output, means ? ",\n     \"mean_so_far\": [" : ",\n     \"trace\": [");
    for (size_t k = 0; k < d->n_shown; k++) {
        thin(d->x + k * d->n_draws, d->n_draws, means, point, n);
        gbsi_output_text(output, k > 0 ? ", [" : "[");
        for (size_t i = 0; i < n; i++) {
            gbsi_output_text(output, i > 0 ? ", " : "");
            gbsi_output_json_double(output, point[i]);
        }
        gbsi_output_text(output, "]");
    }
    gbsi_output_text(output, "]");
}

static double overlap(double a, double b, double c, double d)
{
    const double low = a > c ? a : c;
    const double high = b < d ? b : d;
    return high > low ? high - low : 0.0;
}

/* Counts the ranks of each chain in each bin. If several draws are equal, each of them is
 * counted in equal parts at each of their ranks. */
static void spread_ranks(const drawn *d, double count_of[CHAINS][BINS])
{
    const size_t n = d->n_chains * d->n_draws;
    const double width = (double)n / BINS;
    for (size_t first = 0, end; first < n; first = end) {
        double count[CHAINS] = {0.0};
        for (end = first; end < n && d->order[end].value == d->order[first].value; end++) {
            const size_t chain = d->order[end].place / d->n_draws;
            if (chain < d->n_shown) {
                count[chain] += 1.0;
            }
        }
        for (size_t b = first * BINS / n; b < BINS && (double)b * width < (double)end; b++) {
            const double share =
                overlap((double)b * width, (double)(b + 1) * width, (double)first, (double)end) /
                (double)(end - first);
            for (size_t k = 0; k < d->n_shown; k++) {
                count_of[k][b] += share * count[k];
            }
        }
    }
}

static void write_ranks(const drawn *d, gbs_output *output)
{
    double density[CHAINS][BINS] = {{0.0}};
    const size_t n = d->n_chains * d->n_draws;
    for (size_t i = 0; i < n; i++) {
        d->order[i] = (gbsi_ranked){d->x[i], i};
    }
    gbsi_rank(d->order, n);
    spread_ranks(d, density);
    gbsi_output_text(output, ",\n     \"ranks\": ["); /* counts are divided by their average */
    for (size_t k = 0; k < d->n_shown; k++) {
        gbsi_output_text(output, k > 0 ? ", [" : "[");
        for (size_t b = 0; b < BINS; b++) {
            gbsi_output_text(output, b > 0 ? ", " : "");
            gbsi_output_json_double(output, density[k][b] * BINS / (double)d->n_draws);
        }
        gbsi_output_text(output, "]");
    }
    gbsi_output_text(output, "]");
}

/* Writes the autocorrelation of all chains: the sum of their autocovariances, divided by the sum
 * at lag 0. */
static gbs_status write_autocorrelation(const drawn *d, gbs_output *output, gbs_error *err)
{
    gbsi_autocovariance room = {0};
    const size_t n = d->n_draws / 2 < LAGS ? d->n_draws / 2 : LAGS;
    if (!gbsi_autocovariance_begin(&room, d->n_draws)) {
        gbsi_autocovariance_end(&room);
        return gbsi_no_memory(err, "autocorrelation", 40 * d->n_draws);
    }
    memset(d->covariance, 0, d->n_draws * sizeof *d->covariance);
    for (size_t k = 0; k < d->n_chains; k++) {
        gbsi_autocovariance_add(&room, d->x + k * d->n_draws, d->covariance);
    }
    gbsi_autocovariance_end(&room);
    gbsi_output_text(output, ",\n     \"autocorrelation\": [[");
    for (size_t t = 0; t < n; t++) {
        gbsi_output_text(output, t > 0 ? ", " : "");
        gbsi_output_json_double(output, d->covariance[t] / d->covariance[0]);
    }
    gbsi_output_text(output, "]]");
    return GBS_OK;
}

static gbs_status write_quantity(const drawn *d, const char *name, gbs_output *output,
                                 gbs_error *err)
{
    gbs_diagnostics of = {.size = sizeof of};
    gbs_status status = gbs_diagnose(d->x, d->n_chains, d->n_draws, &of, err);
    bool finite = true;
    if (status < 0) {
        return status;
    }
    for (size_t i = 0; i < d->n_chains * d->n_draws; i++) {
        finite = finite && isfinite(d->x[i]);
    }
    gbsi_output_text(output, "{\"name\": ");
    gbsi_output_json_string(output, name);
    gbsi_summary_real(output, "mean", of.mean);
    gbsi_summary_real(output, "sd", of.sd);
    gbsi_summary_real(output, "mcse_mean", of.mcse_mean);
    gbsi_summary_real(output, "rhat", of.rhat);
    gbsi_summary_real(output, "ess_bulk", of.ess_bulk);
    gbsi_summary_real(output, "ess_tail", of.ess_tail);
    gbsi_output_text(output, of.constant ? ", \"constant\": true" : ", \"constant\": false");
    write_trace(d, output);
    if (finite && !of.constant) { /* NaN has no rank */
        write_ranks(d, output);
        status = write_autocorrelation(d, output, err);
    }
    gbsi_output_text(output, "}");
    return status;
}

gbs_status gbs_draws_summary(const gbs_drawn *quantity, size_t n, size_t n_chains, size_t n_draws,
                             gbs_output *output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *memory = NULL;
    drawn d = {.n_chains = n_chains, .n_draws = n_draws};
    GBSI_NEED(quantity, output);
    for (size_t i = 0; i < n; i++) {
        GBSI_NEED(quantity[i].name);
        GBSI_NEED(quantity[i].draws);
    }
    if (n_chains < 1 || n_draws < 1) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "draws: %zu chains of %zu draws", n_chains,
                         n_draws);
    }
    d.n_shown = n_chains < CHAINS ? n_chains : CHAINS;
    GBSI_TRY(gbs_output_open_memory(&memory, err));
    d.order = gbsi_alloc_array(n_chains, n_draws * sizeof *d.order);
    d.covariance = gbsi_alloc_array(n_draws, sizeof *d.covariance);
    GBSI_TRY(GBSI_HAVE(err, "draws", d.order, d.covariance));
    gbsi_output_text(memory, "{\n  \"schema\": \"draws/1\"");
    gbsi_summary_text(memory, "tool", "gibbsite");
    gbsi_summary_text(memory, "version", gbs_version());
    gbsi_summary_uint(memory, "chains", n_chains);
    gbsi_summary_uint(memory, "draws", n_draws);
    gbsi_output_text(memory, ",\n  \"quantities\": [");
    for (size_t i = 0; i < n; i++) {
        d.x = quantity[i].draws;
        gbsi_output_text(memory, i > 0 ? ",\n    " : "\n    ");
        GBSI_TRY(write_quantity(&d, quantity[i].name, memory, err));
    }
    gbsi_output_text(memory, "]\n}\n");
    status = gbsi_report_give(&memory, output, err);

cleanup:
    gbs_output_discard(memory);
    GBSI_FREE(d.order, d.covariance);
    return status;
}
