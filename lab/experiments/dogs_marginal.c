/* SPDX-License-Identifier: Apache-2.0 */
/* Scans for one marginal of 40 x 40 spins (Mitliagkas & Mackey 2017, section 5.4): bounds for the
 * marginal, places of the updates, and errors of estimates. All chains start from the worst state,
 * in which all spins are up. */
#include <math.h>

#include "base/memory.h"
#include "lab/curves.h"
#include "lab/experiment_table.h"
#include "lab/marginal_bias.h"
#include "lab/plot.h"
#include "lab/spin_grid_scans.h"

#define SIDE 40u
#define N    (SIDE * SIDE)
/* number of the model: couplings 1/3.915 and no fields, so that the marginal is 1/2 by symmetry */
#define MODEL     2
#define TRUTH     0.5
#define GOAL      0.01 /* bound on the variation that the scans must reach in the comparison */
#define ACCURACY  0.05 /* bound on the variation of the scan that draws samples */
#define PASSES    40   /* largest number of updates of an estimate, in passes */
#define BUDGET    ((uint64_t)PASSES * N)
#define N_LENGTHS 14    /* number of lengths: 2, 4, ..., 8192, and LONGEST */
#define LONGEST   16000 /* the largest length in figure 4 */
#define FAR       (2 * SIDE - 1)
#define N_SCANS   3
#define CHAINS    16u
#define MOST_RUNS 64u
#define N_BINS    9    /* bins of the histogram of estimates */
#define GROUPS    200u /* groups of 16 runs for the bias; the paper has 300 runs */

enum { RANDOM, SYSTEMATIC, OPTIMISED };

static const struct {
    const char *name;
    gbsi_color color;
} scan[N_SCANS] = {[RANDOM] = {"random", GBSI_GREY},
                   [SYSTEMATIC] = {"systematic", GBSI_BLUE},
                   [OPTIMISED] = {"optimised", GBSI_VERMILLION}};

typedef struct marginal {
    gbs_model *model;
    gbs_influences *influences;
    double weight[N]; /* 1 for the variable at the corner, else 0 */
    uint32_t start[N];
    /* bounds */
    double steps[PASSES];
    double bound[2][PASSES]; /* bounds of the random and of the systematic scan after each pass */
    double length[N_LENGTHS];
    /* bounds of scans that were optimised once, and bounds of scans that were optimised
     * repeatedly */
    double once[N_LENGTHS], optimised[N_LENGTHS];
    double enough[N_SCANS]; /* number of updates after which the bound is at most GOAL */
    /* counts of the updates of the longest optimised scan, by distance from the corner */
    size_t n_updates;
    double distance[FAR];
    double share[FAR]; /* share of the updates at this distance */
    double each[FAR];  /* updates per variable at this distance */
    double plain[FAR]; /* share at this distance of updates that are spread evenly over all
                          variables */
    /* estimates */
    lab_made_scan sampling;
    size_t n_estimates;
    double off[N_SCANS][CHAINS * MOST_RUNS]; /* |estimate - truth|, in ascending order */
    lab_marginal_bias bias;
} marginal;

static void marginal_free(marginal *m)
{
    if (m != NULL) {
        lab_made_scan_free(&m->sampling);
        gbs_influences_free(m->influences);
        gbs_model_free(m->model);
        gbsi_free(m);
    }
}

/* ---- bounds ------------------------------------------------------------------------------ */

static gbs_status bound_usual(marginal *m, gbs_error *err)
{
    static const int kind[] = {[RANDOM] = GBS_SCAN_RANDOM, [SYSTEMATIC] = GBS_SCAN_SYSTEMATIC};
    const double *weight = m->weight;
    uint64_t steps[PASSES];
    for (uint32_t k = 0; k < PASSES; k++) {
        steps[k] = (uint64_t)(k + 1) * N;
        m->steps[k] = (double)steps[k];
    }
    for (int s = RANDOM; s <= SYSTEMATIC; s++) {
        gbs_run_options options = gbs_run_options_default();
        gbs_sufficient found;
        options.scan = kind[s];
        options.origin = s == SYSTEMATIC;
        GBSI_PASS(
            lab_scan_bounds(m->influences, kind[s], 1, weight, PASSES, steps, m->bound[s], err));
        GBSI_PASS(gbs_variation_within(m->influences, &options, weight, GOAL, &found, err));
        m->enough[s] = found.found != 0 ? (double)found.steps : INFINITY;
    }
    return GBS_OK;
}

/* Counts the updates of a scan by distance from the corner. */
static void spread(marginal *m, const lab_made_scan *made)
{
    double variables[FAR] = {0.0};
    m->n_updates = made->n;
    for (uint32_t v = 0; v < N; v++) {
        variables[v / SIDE + v % SIDE] += 1.0;
    }
    for (size_t t = 0; t < made->n; t++) {
        const uint32_t v = made->sequence[t];
        m->share[v / SIDE + v % SIDE] += 1.0 / (double)made->n;
    }
    for (uint32_t r = 0; r < FAR; r++) {
        m->distance[r] = r;
        m->each[r] = m->share[r] * (double)made->n / variables[r];
        m->plain[r] = (double)made->n / N;
    }
}

static gbs_status bound_optimised(marginal *m, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_made_scan made = {0};
    gbs_scan_request request = {.weight = m->weight, .origin = 1};
    for (int k = 0; k < N_LENGTHS; k++) {
        request.steps = k + 1 < N_LENGTHS ? UINT64_C(2) << k : LONGEST;
        request.iterate = 0;
        GBSI_TRY(lab_made_scan_new(m->influences, &request, &made, err));
        m->once[k] = made.variation;
        request.iterate = 1;
        GBSI_TRY(lab_made_scan_new(m->influences, &request, &made, err));
        m->length[k] = (double)request.steps;
        m->optimised[k] = made.variation;
    }
    spread(m, &made);
    request.steps = 0;
    request.accuracy = GOAL;
    GBSI_TRY(lab_made_scan_new(m->influences, &request, &made, err));
    m->enough[OPTIMISED] = made.variation <= GOAL ? (double)made.n : INFINITY;
    request.accuracy = ACCURACY;
    GBSI_TRY(lab_made_scan_new(m->influences, &request, &m->sampling, err));
cleanup:
    lab_made_scan_free(&made);
    return status;
}

/* ---- estimates --------------------------------------------------------------------------- */

static gbs_status count(void *context, uint64_t draw, uint32_t chain, double log_density,
                        const uint32_t *state, gbs_error *err)
{
    uint64_t *ups = context;
    (void)draw;
    (void)log_density;
    (void)err;
    ups[chain] += state[0];
    return GBS_OK;
}

/* Makes an estimate with every chain: the share of its draws in which the corner is up. With the
 * optimised scan each draw begins with a new start. Chains of the other scans continue, and make
 * one draw in each pass. */
static gbs_status estimate(laboratory *lab, marginal *m, int which, uint32_t run, gbs_error *err)
{
    static const int kind[N_SCANS] = {GBS_SCAN_RANDOM, GBS_SCAN_SYSTEMATIC, GBS_SCAN_SEQUENCE};
    const uint64_t draws = which == OPTIMISED ? BUDGET / m->sampling.n : PASSES;
    uint64_t ups[CHAINS] = {0};
    gbs_run_options options = lab_options(lab, CHAINS, draws);
    lab->what = scan[which].name; /* a run may be too short to set lab->what itself */
    if (lab_tell(lab, 0.0) != 0) {
        return GBS_STOPPED;
    }
    options.scan = kind[which];
    options.origin = which == SYSTEMATIC;
    options.start = m->start;
    options.seed = lab->options->seed + run;
    if (which == OPTIMISED) {
        options.sequence = m->sampling.sequence;
        options.sequence_length = m->sampling.n;
        options.partial_scan = 1;
        options.restarts = 1;
        options.estimator = GBS_ESTIMATOR_RAO_BLACKWELL;
    }
    const gbs_status status =
        lab_run(lab, scan[which].name, m->model, &options, count, ups, NULL, err);
    for (uint32_t c = 0; c < CHAINS && status == GBS_OK; c++) {
        m->off[which][run * CHAINS + c] = fabs((double)ups[c] / (double)draws - TRUTH);
    }
    return status;
}

static gbs_status sample(laboratory *lab, marginal *m, uint32_t n_runs, gbs_error *err)
{
    gbs_status status = GBS_OK;
    m->n_estimates = (size_t)n_runs * CHAINS;
    for (int s = 0; s < N_SCANS; s++) {
        for (uint32_t run = 0; run < n_runs; run++) {
            LAB_TRY(estimate(lab, m, s, run, err));
        }
        lab_sort(m->off[s], m->n_estimates);
    }
cleanup:
    return status;
}

/* Histogram of the errors of the estimates. The width of a bin is the distance between neighbouring
 * shares of PASSES draws; the last bin is open. */
static void histogram(const marginal *m, double share[N_BINS][N_SCANS])
{
    for (int s = 0; s < N_SCANS; s++) {
        for (size_t i = 0; i < m->n_estimates; i++) {
            const size_t bin = (size_t)(m->off[s][i] * PASSES + 0.5);
            share[bin < N_BINS ? bin : N_BINS - 1][s] += 1.0 / (double)m->n_estimates;
        }
    }
}

/* ---- tables, plots ----------------------------------------------------------------------- */

static gbs_status write_bounds(const laboratory *lab, const marginal *m, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "bounds.csv", "scan,updates,variation", err);
    for (int s = RANDOM; s <= SYSTEMATIC; s++) {
        for (int k = 0; k < PASSES; k++) {
            LAB_ROW(&table, scan[s].name, NULL, m->steps[k], m->bound[s][k]);
        }
    }
    for (int k = 0; k < N_LENGTHS; k++) {
        LAB_ROW(&table, "improved once", NULL, m->length[k], m->once[k]);
    }
    for (int k = 0; k < N_LENGTHS; k++) {
        LAB_ROW(&table, scan[OPTIMISED].name, NULL, m->length[k], m->optimised[k]);
    }
    return lab_table_close(&table);
}

static gbs_status write_updates(const laboratory *lab, const marginal *m, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "updates.csv", "distance,share,updates_each,even", err);
    for (uint32_t r = 0; r < FAR; r++) {
        LAB_ROW(&table, NULL, NULL, r, m->share[r], m->each[r], m->plain[r]);
    }
    return lab_table_close(&table);
}

static gbs_status write_estimates(const laboratory *lab, const marginal *m, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "estimates.csv", "scan,off", err);
    for (int s = 0; s < N_SCANS; s++) {
        for (size_t i = 0; i < m->n_estimates; i++) {
            LAB_ROW(&table, scan[s].name, NULL, m->off[s][i]);
        }
    }
    return lab_table_close(&table);
}

static gbsi_line line_of(int which, size_t n, const double *x, const double *y)
{
    return (gbsi_line){
        .label = scan[which].name, .color = scan[which].color, .n = n, .x = x, .y = y};
}

static gbs_status draw_chart(const laboratory *lab, const marginal *m, gbs_error *err)
{
    static const char *const group[N_BINS] = {"0", "", "0.05", "", "0.1", "", "0.15", "", "more"};
    static const gbsi_color color[N_SCANS] = {GBSI_GREY, GBSI_BLUE, GBSI_VERMILLION};
    double share[N_BINS][N_SCANS] = {{0.0}};
    const gbsi_bars bars = {.n_groups = N_BINS,
                            .n_series = N_SCANS,
                            .group = group,
                            .color = color,
                            .value = &share[0][0]};
    lab_plot plot;
    histogram(m, share);
    lab_plot_begin(&plot, LAB_DOGS_MARGINAL_BOUNDS, 1);
    lab_plot_line(&plot, 0, line_of(RANDOM, PASSES, m->steps, m->bound[RANDOM]));
    lab_plot_line(&plot, 0, line_of(SYSTEMATIC, PASSES, m->steps, m->bound[SYSTEMATIC]));
    gbsi_line once = line_of(OPTIMISED, N_LENGTHS, m->length, m->once);
    once.label = "improved once";
    once.dash = GBSI_DASHED;
    lab_plot_line(&plot, 0, once);
    lab_plot_line(&plot, 0, line_of(OPTIMISED, N_LENGTHS, m->length, m->optimised));
    lab_plot_line(&plot, 1, line_of(SYSTEMATIC, FAR, m->distance, m->plain));
    lab_plot_line(&plot, 1, line_of(OPTIMISED, FAR, m->distance, m->each));
    plot.panel[2].bars = &bars;
    lab_plot_subtitle(&plot,
                      "40 x 40 spins, couplings 1/3.915. Right: %zu estimates by each scan, of %u "
                      "updates each, from all spins up",
                      m->n_estimates, (unsigned)BUDGET);
    return lab_plot_write(lab, &plot, err);
}

/* Makes figure 5, for the scans of the other figures. */
static gbs_status write_bias(const laboratory *lab, const lab_marginal_bias *b, gbs_error *err)
{
    lab_table table =
        lab_table_open(lab, "bias.csv", "scan,updates,bound,bias,standard_error", err);
    for (int s = 0; s < N_SCANS; s++) {
        for (int k = 0; k < LAB_BIAS_TIMES; k++) {
            LAB_ROW(&table, scan[s].name, NULL, b->steps[k], b->bound[s][k], b->bias[s][k],
                    b->error[s][k]);
        }
    }
    return lab_table_close(&table);
}

static gbs_status draw_bias(const laboratory *lab, const lab_marginal_bias *b, gbs_error *err)
{
    lab_plot plot;
    double low[N_SCANS][LAB_BIAS_TIMES];
    double high[N_SCANS][LAB_BIAS_TIMES];
    lab_plot_begin(&plot, LAB_DOGS_MARGINAL_BIAS, 1);
    for (int s = 0; s < N_SCANS; s++) {
        gbsi_line measured = line_of(s, LAB_BIAS_TIMES, b->steps, b->bias[s]);
        for (int k = 0; k < LAB_BIAS_TIMES; k++) {
            low[s][k] = b->bias[s][k] - 2.0 * b->error[s][k];
            high[s][k] = b->bias[s][k] + 2.0 * b->error[s][k];
        }
        measured.low = low[s];
        measured.high = high[s];
        measured.dots = true;
        lab_plot_line(&plot, 0, line_of(s, LAB_BIAS_TIMES, b->steps, b->bound[s]));
        lab_plot_line(&plot, 1, measured);
    }
    lab_plot_subtitle(
        &plot, "40 x 40 spins on a torus, couplings 0.25, from all spins up; means of %zu runs",
        b->n_runs);
    return lab_plot_write(lab, &plot, err);
}

static void judge(laboratory *lab, const marginal *m)
{
    double median[N_SCANS];
    double mean_distance = 0.0;
    for (int s = 0; s < N_SCANS; s++) {
        median[s] = lab_quantile(m->off[s], m->n_estimates, 0.5);
    }
    for (uint32_t r = 0; r < FAR; r++) {
        mean_distance += m->share[r] * r;
    }
    lab_find(
        lab,
        LAB_JUDGE(marginal_enough, .optimised = m->enough[OPTIMISED],
                  .systematic = m->enough[SYSTEMATIC], .random = m->enough[RANDOM]),
        "the bound on the marginal's error is below %g after %.0f updates of an optimised scan, "
        "%.0f of the systematic scan and %.0f of the random scan (wanted: a tenth of both)",
        GOAL, m->enough[OPTIMISED], m->enough[SYSTEMATIC], m->enough[RANDOM]);
    lab_find(lab, LAB_JUDGE(marginal_near, .distance = mean_distance, .even = SIDE - 1.0),
             "%zu optimised updates are on average %.1f steps from the target, evenly spread "
             "updates would be %u steps (wanted: below half)",
             m->n_updates, mean_distance, SIDE - 1);
    lab_find(
        lab,
        LAB_JUDGE(marginal_estimates, .optimised = median[OPTIMISED],
                  .systematic = median[SYSTEMATIC], .random = median[RANDOM]),
        "after %u updates from the worst start, half of the estimates are within %.2g of the truth "
        "with passes of %zu optimised updates, %.2g with the systematic scan, %.2g with the random "
        "scan (wanted: below half of both)",
        (unsigned)BUDGET, median[OPTIMISED], m->sampling.n, median[SYSTEMATIC], median[RANDOM]);
    lab_note(lab,
             "Estimates are frequencies of draws: every optimised pass starts from a fresh state "
             "and gives one draw, the chains of the other scans go on and give one draw per pass.");
}

static gbs_status prepare(laboratory *lab, marginal *m, gbs_error *err)
{
    const lab_spin_grid grid = lab_dogs_grid(MODEL, SIDE);
    m->weight[0] = 1.0;
    for (uint32_t v = 0; v < N; v++) {
        m->start[v] = 1;
    }
    GBSI_PASS(lab_spin_grid_make(lab, &grid, &m->model, err));
    GBSI_PASS(gbs_influences_new(m->model, NULL, NULL, &m->influences, err));
    GBSI_PASS(bound_usual(m, err));
    return bound_optimised(m, err);
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_runs = lab->options->quick ? 16 : MOST_RUNS;
    marginal *m = gbsi_alloc_zero(sizeof *m);
    GBSI_PASS(GBSI_HAVE(err, "marginal", m));
    lab_expect(lab, (double)N_SCANS * CHAINS * n_runs * (double)BUDGET);
    LAB_TRY(prepare(lab, m, err));
    LAB_TRY(write_bounds(lab, m, err));
    LAB_TRY(write_updates(lab, m, err));
    LAB_TRY(sample(lab, m, n_runs, err));
    LAB_TRY(write_estimates(lab, m, err));
    LAB_TRY(draw_chart(lab, m, err));
    LAB_TRY(lab_marginal_bias_measure(lab, SIDE, lab->options->quick ? 40 : GROUPS, &m->bias, err));
    LAB_TRY(write_bias(lab, &m->bias, err));
    LAB_TRY(draw_bias(lab, &m->bias, err));
    judge(lab, m);
    lab_marginal_bias_judge(lab, &m->bias);
cleanup:
    marginal_free(m);
    return status;
}

const lab_experiment_row lab_dogs_marginal = {
    .about = {.name = "dogs-marginal",
              .paper = LAB_DOGS_PAPER,
              .figure = "Figures 4 and 5",
              .claim = "a scan optimised for one marginal updates mostly variables near it, bounds "
                       "its error with a small part of the updates of other scans, and with "
                       "equally many updates estimates it better",
              .cost = "1 s quick, 6 s in full"},
    .run = run,
};
