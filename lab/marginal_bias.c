/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/marginal_bias.h"

#include <math.h>

#include "base/memory.h"
#include "simd/math.h"

#define TRUTH    0.5
#define COUPLING 0.25
#define CHAINS   16u

static const char *const name[LAB_BIAS_SCANS] = {"random", "systematic", "optimised"};

typedef struct measuring {
    laboratory *lab;
    gbs_model *model;
    gbs_influences *influences;
    uint32_t n; /* number of variables */
    uint32_t n_groups;
    double *weight;  /* [n] 1 for variable 0, else 0 */
    uint32_t *start; /* [n] start with all spins up */
    lab_marginal_bias *out;
} measuring;

static gbs_status prepare(measuring *m, uint32_t side, gbs_error *err)
{
    const lab_spin_grid grid = {
        .rows = side, .columns = side, .torus = true, .low = COUPLING, .high = COUPLING};
    m->n = side * side;
    m->weight = gbsi_alloc_array_zero(m->n, sizeof *m->weight);
    m->start = gbsi_alloc_array(m->n, sizeof *m->start);
    GBSI_PASS(GBSI_HAVE(err, "spins", m->weight, m->start));
    m->weight[0] = 1.0;
    for (uint32_t v = 0; v < m->n; v++) {
        m->start[v] = 1;
    }
    GBSI_PASS(lab_spin_grid_make(m->lab, &grid, &m->model, err));
    return gbs_influences_new(m->model, NULL, NULL, &m->influences, err);
}

static gbs_status bound_usual(const measuring *m, gbs_error *err)
{
    uint64_t steps[LAB_BIAS_TIMES];
    for (uint32_t k = 0; k < LAB_BIAS_TIMES; k++) {
        steps[k] = (uint64_t)(k + 1) * m->n;
        m->out->steps[k] = (double)steps[k];
    }
    GBSI_PASS(lab_scan_bounds(m->influences, GBS_SCAN_RANDOM, 0, m->weight, LAB_BIAS_TIMES, steps,
                              m->out->bound[LAB_BIAS_RANDOM], err));
    return lab_scan_bounds(m->influences, GBS_SCAN_SYSTEMATIC, 0, m->weight, LAB_BIAS_TIMES, steps,
                           m->out->bound[LAB_BIAS_SYSTEMATIC], err);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Sums over groups of the deviation from the truth, and of its square. */
typedef struct sums {
    double sum, square;
} sums;

static void add(sums *s, double off)
{
    s->sum += off;
    s->square += off * off;
}

static void store(const measuring *m, int which, int time, const sums *s)
{
    const double mean = s->sum / m->n_groups;
    const double variance = s->square / m->n_groups - mean * mean;
    m->out->bias[which][time] = mean;
    m->out->error[which][time] = gbsi_sqrt(variance > 0.0 ? variance / (m->n_groups - 1.0) : 0.0);
}

static gbs_status count(void *context, uint64_t draw, uint32_t chain, double log_density,
                        const uint32_t *state, gbs_error *err)
{
    double *ups = context;
    (void)chain;
    (void)log_density;
    (void)err;
    ups[draw] += state[0];
    return GBS_OK;
}

/* Measures a random or systematic scan, whose chains continue from pass to pass. */
static gbs_status measure_usual(measuring *m, int which, gbs_error *err)
{
    sums of[LAB_BIAS_TIMES] = {{0.0, 0.0}};
    gbs_status status = GBS_OK;
    for (uint32_t g = 0; g < m->n_groups; g++) {
        double ups[LAB_BIAS_TIMES] = {0.0};
        gbs_run_options options = lab_options(m->lab, CHAINS, LAB_BIAS_TIMES);
        options.scan = which == LAB_BIAS_RANDOM ? GBS_SCAN_RANDOM : GBS_SCAN_SYSTEMATIC;
        options.start = m->start;
        options.seed = m->lab->options->seed + g;
        LAB_TRY(lab_run(m->lab, name[which], m->model, &options, count, ups, NULL, err));
        for (int time = 0; time < LAB_BIAS_TIMES; time++) {
            add(&of[time], ups[time] / CHAINS - TRUTH);
        }
    }
    for (int time = 0; time < LAB_BIAS_TIMES; time++) {
        store(m, which, time, &of[time]);
    }
cleanup:
    return status;
}

/* Measures the optimised scan. Each number of updates has its own scan and its own chains, which
 * end with the scan. */
static gbs_status measure_optimised(measuring *m, int time, gbs_error *err)
{
    sums of = {0.0, 0.0};
    gbs_status status = GBS_OK;
    lab_made_scan scan = {0};
    const gbs_scan_request request = {
        .size = sizeof request, .weight = m->weight, .steps = (uint64_t)(time + 1) * m->n};
    m->lab->what = name[LAB_BIAS_OPTIMISED];
    GBSI_TRY(lab_made_scan_new(m->influences, &request, &scan, err));
    m->out->bound[LAB_BIAS_OPTIMISED][time] = scan.variation;
    for (uint32_t g = 0; g < m->n_groups; g++) {
        lab_short_chains chains = {.draws = CHAINS,
                                   .chains = CHAINS,
                                   .seed = m->lab->options->seed + g,
                                   .start = m->start};
        LAB_TRY(lab_short_chains_run(m->lab, m->model, &scan, &chains, err));
        add(&of, chains.p - TRUTH);
    }
    store(m, LAB_BIAS_OPTIMISED, time, &of);
cleanup:
    lab_made_scan_free(&scan);
    return status;
}

gbs_status lab_marginal_bias_measure(laboratory *lab, uint32_t side, uint32_t n_groups,
                                     lab_marginal_bias *out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    measuring m = {.lab = lab, .n_groups = n_groups, .out = out};
    out->n_runs = (size_t)n_groups * CHAINS;
    GBSI_TRY(prepare(&m, side, err));
    GBSI_TRY(bound_usual(&m, err));
    LAB_TRY(measure_usual(&m, LAB_BIAS_RANDOM, err));
    LAB_TRY(measure_usual(&m, LAB_BIAS_SYSTEMATIC, err));
    for (int time = 0; time < LAB_BIAS_TIMES; time++) {
        LAB_TRY(measure_optimised(&m, time, err));
    }
cleanup:
    gbs_influences_free(m.influences);
    gbs_model_free(m.model);
    GBSI_FREE(m.weight, m.start);
    return status;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

void lab_marginal_bias_judge(laboratory *lab, const lab_marginal_bias *b)
{
    const int last = LAB_BIAS_TIMES - 1;
    double worst = -INFINITY; /* largest excess of the bias over the bound, in standard errors */

    for (int which = 0; which < LAB_BIAS_SCANS; which++) {
        for (int time = 0; time < LAB_BIAS_TIMES; time++) {
            const double beyond = fabs(b->bias[which][time]) - b->bound[which][time];
            const double error = b->error[which][time] > 0.0 ? b->error[which][time] : 1e-12;
            worst = beyond / error > worst ? beyond / error : worst;
        }
    }
    lab_find(lab, LAB_JUDGE(marginal_bound_holds, .errors_beyond = worst),
             "on a torus no measured bias is above its bound by more than %.1f standard errors "
             "(wanted: at most 4)",
             worst > 0.0 ? worst : 0.0);
    lab_find(lab,
             LAB_JUDGE(marginal_guarantee, .optimised = b->bound[LAB_BIAS_OPTIMISED][last],
                       .systematic = b->bound[LAB_BIAS_SYSTEMATIC][last],
                       .random = b->bound[LAB_BIAS_RANDOM][last]),
             "after %.0f updates the bound is %.2g with the optimised scan, %.2g systematic and "
             "%.2g random (wanted: at most half of both)",
             b->steps[last], b->bound[LAB_BIAS_OPTIMISED][last],
             b->bound[LAB_BIAS_SYSTEMATIC][last], b->bound[LAB_BIAS_RANDOM][last]);
    lab_find(lab,
             LAB_JUDGE(marginal_bias, .optimised = fabs(b->bias[LAB_BIAS_OPTIMISED][0]),
                       .systematic = b->bias[LAB_BIAS_SYSTEMATIC][0],
                       .random = b->bias[LAB_BIAS_RANDOM][0]),
             "after %.0f updates the bias of %zu runs is %.4f (standard error %.4f) with the "
             "optimised scan, %.4f (%.4f) systematic and %.4f (%.4f) random (wanted: below half of "
             "both)",
             b->steps[0], b->n_runs, b->bias[LAB_BIAS_OPTIMISED][0],
             b->error[LAB_BIAS_OPTIMISED][0], b->bias[LAB_BIAS_SYSTEMATIC][0],
             b->error[LAB_BIAS_SYSTEMATIC][0], b->bias[LAB_BIAS_RANDOM][0],
             b->error[LAB_BIAS_RANDOM][0]);
}
