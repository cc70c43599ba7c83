/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates the limit of D_cor without sampling (Yamashita & Suzuki 2019, section 5.2, Table 1),
 * and compares the limit with the value measured with herding. Also measures D_cor of herding with
 * 4 to 16 bins (Figure 6). */

#include <inttypes.h>

#include "base/memory.h"
#include "lab/component_curves.h"
#include "lab/experiment_table.h"
#include "lab/small_spin_models.h"
#include "simd/math.h"

#define N_MODELS        2
#define LEAST           4u /* smallest number of bins */
#define MOST            16u
#define N_BINS          (MOST - LEAST + 1)
#define MOST_NEIGHBOURS 12 /* largest number of neighbours whose states the table shows */

static const lab_small_model *const model_of[N_MODELS] = {&lab_ring_positive, &lab_ring_mixed};
/* Values of D cor in the paper, from 2^32 draws on the authors' models. */
static const double printed[N_MODELS] = {7.34e-3, 4.75e-3};

typedef struct result {
    lab_asymptotic limit[N_MODELS];
    uint64_t seed[N_MODELS];
    /* error components of herding, and of random draws */
    lab_component_curves parts[N_MODELS], random[N_MODELS];
    /* D cor of herding, minus D cor of random draws */
    double measured[N_MODELS];
    unsigned n_bins; /* number of runs, each with a different number of bins */
    double bins[N_BINS], cor[N_BINS], cor_error[N_BINS], low[N_BINS], high[N_BINS];
} result;

static gbs_status try_model(laboratory *lab, int i, uint64_t chains, uint64_t sweeps, result *r,
                            gbs_error *err)
{
    static const lab_contender herded = {.name = "herded", .draw = GBS_DRAW_HERDED};
    static const lab_contender random = {.name = "random", .draw = GBS_DRAW_RANDOM};
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    GBSI_TRY(lab_correlated_model(lab, model_of[i], &r->seed[i], &model, &r->limit[i], err));
    LAB_TRY(lab_component_curves_run(lab, model, &herded, chains, sweeps, &r->parts[i], err));
    LAB_TRY(lab_component_curves_run(lab, model, &random, chains, sweeps, &r->random[i], err));
    r->measured[i] = lab_component_limit(&r->parts[i], &r->random[i], LAB_COR);
cleanup:
    gbs_model_free(model);
    return status;
}

static gbs_status try_bins(laboratory *lab, uint64_t chains, uint64_t sweeps, result *r,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    GBSI_TRY(lab_small_model_make(lab, &lab_complete_mixed, &model, err));
    for (unsigned b = 0; b < N_BINS; b++) {
        const lab_contender binned = {
            .name = "bins", .draw = GBS_DRAW_DISCRETIZED, .rule = GBS_HERD_PRE, .bins = LEAST + b};
        lab_component_curves parts = {0};
        LAB_TRY(lab_component_curves_run(lab, model, &binned, chains, sweeps, &parts, err));
        const double mean = parts.mean[LAB_COR][parts.n - 1];
        const double error = parts.error[LAB_COR][parts.n - 1];
        r->n_bins = b + 1;
        r->bins[b] = LEAST + b;
        r->cor[b] = mean;
        r->cor_error[b] = error;
        r->low[b] = mean - 2.0 * error;
        r->high[b] = mean + 2.0 * error;
    }
cleanup:
    gbs_model_free(model);
    return status;
}

static gbs_status write_keys(const laboratory *lab, const result *r, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "keys.csv", "model,neighbours,p,t,distance,part", err);
    for (int i = 0; i < N_MODELS; i++) {
        const lab_asymptotic *a = &r->limit[i];
        for (size_t y = 0; y < a->n_keys; y++) {
            char neighbours[MOST_NEIGHBOURS + 1] = "";
            for (uint32_t j = 0; j < a->n_neighbours && j < MOST_NEIGHBOURS; j++) {
                neighbours[j] = a->state[y * a->n_neighbours + j] != 0 ? '1' : '0';
            }
            LAB_ROW(&table, model_of[i]->name, neighbours, a->p[y], a->t[y], a->distance[y],
                    a->part[y]);
        }
    }
    return lab_table_close(&table);
}

static gbs_status write_bins(const laboratory *lab, const result *r, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "bins.csv", "bins,cor,low,high", err);
    for (unsigned b = 0; b < r->n_bins; b++) {
        LAB_ROW(&table, NULL, NULL, r->bins[b], r->cor[b], r->low[b], r->high[b]);
    }
    return lab_table_close(&table);
}

/* Draws a stacked bar of the estimated parts of all keys, next to the measured value. */
static gbs_status draw_chart(const laboratory *lab, const result *r, uint64_t sweeps,
                             gbs_error *err)
{
    static const char *const group[2 * N_MODELS] = {"estimate", "measured", "estimate", "measured"};
    static const gbsi_color color[5] = {GBSI_BLUE, GBSI_ORANGE, GBSI_VERMILLION, GBSI_GREEN,
                                        GBSI_GREY};
    double value[2 * N_MODELS * 5] = {0.0};
    lab_plot plot;
    for (int i = 0; i < N_MODELS; i++) {
        for (size_t y = 0; y < r->limit[i].n_keys && y < 4; y++) {
            value[(size_t)(2 * i) * 5 + y] = r->limit[i].part[y];
        }
        value[(2 * i + 1) * 5 + 4] = r->measured[i];
    }
    const gbsi_bars bars = {.n_groups = 2 * N_MODELS,
                            .n_series = 5,
                            .group = group,
                            .color = color,
                            .value = value,
                            .stacked = true};
    lab_plot_begin(&plot, LAB_WS_DCOR_LIMITS, 1);
    plot.panel[0].bars = &bars;
    lab_plot_line(&plot, 1,
                  (gbsi_line){.color = GBSI_VERMILLION,
                              .dots = true,
                              .n = N_BINS,
                              .x = r->bins,
                              .y = r->cor,
                              .low = r->low,
                              .high = r->high});
    lab_plot_subtitle(&plot, "the last of eight spins in focus; measured after %.0f sweeps",
                      (double)sweeps);
    return lab_plot_write(lab, &plot, err);
}

static void judge(laboratory *lab, const result *r)
{
    for (int i = 0; i < N_MODELS; i++) {
        lab_find(lab, LAB_JUDGE(dcor_limit, .cor = r->measured[i], .estimate = r->limit[i].total),
                 "%s: estimate %.4g, measured %.3g, %.2f times that (wanted 0.8 to 1.75 times): "
                 "%.3g in all chains together, less %.2g of random draws, in squares",
                 model_of[i]->name, r->limit[i].total, r->measured[i],
                 r->measured[i] / r->limit[i].total, r->parts[i].pooled[LAB_COR],
                 r->random[i].pooled[LAB_COR]);
        if (lab->options->data != NULL) {
            lab_find(lab,
                     LAB_JUDGE(dcor_printed, .limit = r->limit[i].total, .printed = printed[i]),
                     "the paper's value is %.3g (wanted within 1 %%)", printed[i]);
        }
    }
    lab_mean slope = {0.0, 0.0};
    const lab_mean fall = {r->cor[0] - r->cor[N_BINS - 1],
                           gbsi_sqrt(r->cor_error[0] * r->cor_error[0] +
                                     r->cor_error[N_BINS - 1] * r->cor_error[N_BINS - 1])};
    slope.mean = lab_log_slope(r->bins, r->cor, N_BINS, N_BINS);
    slope.error = lab_log_slope_error(r->bins, r->cor, r->cor_error, N_BINS);
    lab_find(lab,
             LAB_JUDGE(dcor_bins, .slope = slope.mean, .slope_error = slope.error,
                       .fall = fall.mean, .fall_error = fall.error),
             "D cor falls from %.3g with 4 bins to %.3g with 16 bins, by %.2g (standard error "
             "%.1g), slope %.2f (%.2g) (wanted: both by 4 standard errors)",
             r->cor[0], r->cor[N_BINS - 1], fall.mean, fall.error, slope.mean, slope.error);
    if (lab->options->data == NULL) {
        lab_note(lab,
                 "The models have the paper's distributions and are drawn from the seeds %" PRIu64
                 " and %" PRIu64
                 ", the first from which the estimate is at least 0.004, as in the paper: it is "
                 "too low, up to four times, where it is small. The totals that the paper prints, "
                 "7.34e-3 and 4.75e-3, belong to the authors' own models; on those (--data) the "
                 "estimates are 7.357e-3 and 4.756e-3.",
                 r->seed[0], r->seed[1]);
    }
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const uint64_t sweeps = UINT64_C(1) << (lab->options->quick ? 16 : 20);
    const uint64_t chains = 16;
    gbs_status status = GBS_OK;
    result r = {.measured = {0.0}};
    lab_expect(lab, 8.0 * (2 * N_MODELS + N_BINS) * (double)(sweeps * chains));
    for (int i = 0; i < N_MODELS && status == GBS_OK; i++) {
        status = try_model(lab, i, chains, sweeps, &r, err);
    }
    if (status == GBS_OK) {
        status = try_bins(lab, chains, sweeps, &r, err);
    }
    LAB_KEEP(write_keys(lab, &r, err));
    LAB_KEEP(write_bins(lab, &r, err));
    LAB_TRY(status);
    LAB_TRY(draw_chart(lab, &r, sweeps, err));
    judge(lab, &r);
cleanup:
    for (int i = 0; i < N_MODELS; i++) {
        lab_asymptotic_free(&r.limit[i]);
    }
    return status;
}

const lab_experiment_row lab_ws_dcor = {
    .about = {.name = "ws-dcor",
              .paper = "Yamashita & Suzuki (2019), Effects of weight sharing",
              .figure = "Table 1 and Figure 6",
              .claim = "the limit of D cor can be estimated from ordinary Gibbs sweeps, key by "
                       "key; with bins it falls with the number of bins",
              .cost = "5 s quick, 4 min in full; --data: the authors' models"},
    .takes_data = true,
    .run = run,
};
