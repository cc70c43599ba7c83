/* SPDX-License-Identifier: Apache-2.0 */
/* One variable of a million (Mitliagkas & Mackey 2017, section 5.2): a scan optimised for the
 * marginal of a corner is as good after 16 updates as the systematic scan after two million
 * updates. The cost is the processor time of one thread, including the time of the optimiser. The
 * draws do not depend on the clock. */
#include <math.h>

#include "base/memory.h"
#include "lab/experiment_table.h"
#include "lab/plot.h"
#include "lab/spin_grid_scans.h"
#include "lab/timed_estimates.h"

#define SIDE      1000u
#define N         (SIDE * SIDE)
#define TWO_SCANS (2 * (uint64_t)N)
/* number of chains of the systematic scan; the values of a spin in 16 chains fill a vector */
#define CHAINS    16u
#define SHORT     1024u /* number of short chains that run at once */
#define CORNER    14u   /* side of the corner from which bounds of the true marginal are computed */
#define N_LENGTHS 10    /* number of lengths: 2, 4, ..., 1024 */
#define N_STEPS   24
#define N_AHEAD   6 /* number of points of the line that extrapolates the times */

typedef struct million {
    gbs_model *model;
    gbs_influences *influences;
    double *weight; /* [N] 1 for the corner, else 0 */
    lab_made_scan scan;
    double two_scans; /* variation of two passes of the systematic scan */
    double influences_s, optimise_s;
    double truth[2];
    /* bounds on the variation, by number of updates */
    uint64_t steps[N_STEPS];
    size_t n_steps;
    double bound[2][N_STEPS]; /* bounds of the systematic and of the random scan */
    double length[N_LENGTHS];
    double optimised[N_LENGTHS];
    /* short chains from three starts: dispersed, all down, all up */
    lab_short_chains from[3];
    lab_timed_runs optimised_time, systematic_time;
} million;

static void million_free(million *m)
{
    lab_made_scan_free(&m->scan);
    gbs_influences_free(m->influences);
    gbs_model_free(m->model);
    gbsi_free(m->weight);
}

/* ---- bounds ------------------------------------------------------------------------------ */

static gbs_scan_request request(const million *m, uint64_t origin)
{
    return (gbs_scan_request){.weight = m->weight, .origin = origin, .match = TWO_SCANS};
}

/* Makes the model, and a scan that is as good as two passes of the systematic scan. Measures the
 * time of this work. */
static gbs_status prepare(laboratory *lab, million *m, size_t which, gbs_error *err)
{
    m->weight = gbsi_alloc_array_zero(N, sizeof *m->weight);
    GBSI_PASS(GBSI_HAVE(err, "weights", m->weight));
    m->weight[0] = 1.0;
    const lab_spin_grid grid = lab_dogs_grid(which, SIDE);
    const gbs_influence_options options = {
        .size = sizeof options, .stop = lab_is_stopped, .stop_context = lab};
    GBSI_PASS(lab_spin_grid_make(lab, &grid, &m->model, err));
    const double begun = lab_processor_s();
    GBSI_PASS(gbs_influences_new(m->model, NULL, &options, &m->influences, err));
    const double found = lab_processor_s();
    const gbs_scan_request paper = request(m, 1);
    const uint64_t two = TWO_SCANS;
    GBSI_PASS(lab_made_scan_new(m->influences, &paper, &m->scan, err));
    m->influences_s = found - begun;
    m->optimise_s = lab_processor_s() - found;
    return lab_scan_bounds(m->influences, GBS_SCAN_SYSTEMATIC, paper.origin, m->weight, 1, &two,
                           &m->two_scans, err);
}

/* Computes the variation after 2^k updates, and just before and after the end of a pass. The end of
 * a pass updates the corner. */
static gbs_status usual_curves(million *m, gbs_error *err)
{
    static const int kind[2] = {GBS_SCAN_SYSTEMATIC, GBS_SCAN_RANDOM};
    for (uint64_t t = 1; t < N; t *= 2) {
        m->steps[m->n_steps++] = t;
    }
    m->steps[m->n_steps++] = N - 1;
    m->steps[m->n_steps++] = N;
    m->steps[m->n_steps++] = TWO_SCANS - 1;
    m->steps[m->n_steps++] = TWO_SCANS;
    for (int i = 0; i < 2; i++) {
        GBSI_PASS(lab_scan_bounds(m->influences, kind[i], 1, m->weight, m->n_steps, m->steps,
                                  m->bound[i], err));
    }
    return GBS_OK;
}

static gbs_status optimised_curve(million *m, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_made_scan made = {0};
    for (int k = 0; k < N_LENGTHS; k++) {
        const gbs_scan_request asked = {
            .weight = m->weight, .origin = 1, .steps = UINT64_C(2) << k};
        GBSI_TRY(lab_made_scan_new(m->influences, &asked, &made, err));
        m->length[k] = (double)asked.steps;
        m->optimised[k] = made.variation;
    }
cleanup:
    lab_made_scan_free(&made);
    return status;
}

/* ---- draws ------------------------------------------------------------------------------- */

/* Estimates the probability that the corner is up after the scan, from several starts. The starts
 * with all spins down and all spins up are the worst, because the couplings are positive (see
 * lab_spin_grid_corner()). */
static gbs_status measure_bias(laboratory *lab, million *m, uint64_t draws, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *start = gbsi_alloc_array_zero(N, sizeof *start);
    GBSI_PASS(GBSI_HAVE(err, "start", start));
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < N; i++) {
            start[i] = k == 2;
        }
        m->from[k] = (lab_short_chains){.draws = draws,
                                        .chains = SHORT,
                                        .seed = lab->options->seed + k,
                                        .start = k > 0 ? start : NULL};
        LAB_TRY(lab_short_chains_run(lab, m->model, &m->scan, &m->from[k], err));
    }
cleanup:
    gbsi_free(start);
    return status;
}

static void add_run(lab_timed_runs *t, uint64_t draws, double seconds)
{
    t->draws[t->n] = (double)draws;
    t->seconds[t->n] = seconds;
    t->p[t->n] = NAN;
    t->mcse[t->n++] = NAN;
}

/* Measures the time of 16 chains of the systematic scan whose draws are two passes apart. Only the
 * last state is kept. */
static gbs_status time_systematic(laboratory *lab, million *m, uint64_t draws, gbs_error *err)
{
    const double begun = lab_processor_s();
    gbs_run_options options = lab_options(lab, CHAINS, 1);
    options.origin = 1;
    options.burn_in = 2 * draws / CHAINS - 1;
    options.threads = 1;
    const gbs_status status =
        lab_run(lab, "systematic scan", m->model, &options, NULL, NULL, NULL, err);
    add_run(&m->systematic_time, draws, lab_processor_s() - begun);
    return status;
}

/* Makes the estimate that belongs to the run of time_systematic(), from all passes except the
 * first. A second run makes this estimate, so that the measured time does not include the averaging
 * of a million variables. */
static gbs_status estimate_systematic(laboratory *lab, million *m, gbs_error *err)
{
    lab_timed_runs *t = &m->systematic_time;
    const uint64_t draws = (uint64_t)t->draws[t->n_estimates];
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    double *p = gbsi_alloc_array(4 * (size_t)N, sizeof *p);
    gbs_run_options options = lab_options(lab, CHAINS, 2 * draws / CHAINS - 1);
    GBSI_PASS(GBSI_HAVE(err, "marginals", p));
    options.origin = 1;
    options.burn_in = 1;
    options.estimator = GBS_ESTIMATOR_RAO_BLACKWELL;
    LAB_TRY(lab_run(lab, "systematic scan", m->model, &options, NULL, NULL, &run, err));
    GBSI_TRY(gbs_run_marginals(run, p, p + 2 * (size_t)N, NULL, NULL, err));
    t->p[t->n_estimates] = p[1];
    t->mcse[t->n_estimates++] = p[2 * (size_t)N + 1];
cleanup:
    gbs_run_free(run);
    gbsi_free(p);
    return status;
}

static gbs_status time_optimised(laboratory *lab, million *m, uint64_t draws, gbs_error *err)
{
    lab_timed_runs *t = &m->optimised_time;
    lab_short_chains chains = {.draws = draws, .chains = SHORT, .seed = lab->options->seed};
    const gbs_status status = lab_short_chains_run(lab, m->model, &m->scan, &chains, err);
    add_run(t, draws, m->influences_s + m->optimise_s + chains.seconds);
    t->p[t->n_estimates] = chains.p;
    t->mcse[t->n_estimates++] = chains.mcse;
    return status;
}

/* Measures times for increasing numbers of draws. @param most largest number of draws of the
 * systematic scan for which the time is measured. @param estimated largest number of draws of the
 * systematic scan for which an estimate is made; the optimised scan makes up to 2048 times as many
 * draws. */
static gbs_status measure_times(laboratory *lab, million *m, uint64_t most, uint64_t estimated,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint64_t draws = 8 * CHAINS; draws <= most; draws *= 4) {
        LAB_TRY(time_systematic(lab, m, draws, err));
        if (draws <= estimated) {
            LAB_TRY(estimate_systematic(lab, m, err));
        }
    }
    for (uint64_t draws = SHORT; draws <= 2048 * estimated; draws *= 4) {
        LAB_TRY(time_optimised(lab, m, draws, err));
    }
cleanup:
    return status;
}

/* ---- tables, plots ----------------------------------------------------------------------- */

static gbs_status write_bounds(const laboratory *lab, const million *m, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "bounds.csv", "scan,updates,variation", err);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < m->n_steps; k++) {
            LAB_ROW(&table, i == 0 ? "systematic" : "random", NULL, (double)m->steps[k],
                    m->bound[i][k]);
        }
    }
    for (size_t k = 0; k < N_LENGTHS; k++) {
        LAB_ROW(&table, "optimised", NULL, m->length[k], m->optimised[k]);
    }
    return lab_table_close(&table);
}

static gbs_status write_bias(const laboratory *lab, const million *m, gbs_error *err)
{
    static const char *const start[] = {"dispersed", "all down", "all up"};
    lab_table table =
        lab_table_open(lab, "bias.csv", "start,draws,p,mcse,truth_low,truth_high,bound", err);
    for (int k = 0; k < 3; k++) {
        const lab_short_chains *from = &m->from[k];
        LAB_ROW(&table, start[k], NULL, (double)from->draws, from->p, from->mcse, m->truth[0],
                m->truth[1], from->bound);
    }
    return lab_table_close(&table);
}

static gbs_status write_times(const laboratory *lab, const million *m, gbs_error *err)
{
    const lab_timed_runs *const times[2] = {&m->systematic_time, &m->optimised_time};
    lab_table table = lab_table_open(lab, "times.csv", "scan,draws,seconds,p,mcse", err);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < times[i]->n; k++) {
            LAB_ROW(&table, i == 0 ? "systematic" : "optimised", NULL, times[i]->draws[k],
                    times[i]->seconds[k], times[i]->p[k], times[i]->mcse[k]);
        }
    }
    return lab_table_close(&table);
}

static gbsi_line line_of(const char *label, gbsi_color color, bool dots, size_t n, const double *x,
                         const double *y)
{
    return (gbsi_line){.label = label, .color = color, .dots = dots, .n = n, .x = x, .y = y};
}

static void plot_bounds(lab_plot *plot, const million *m, double steps[N_STEPS])
{
    for (size_t k = 0; k < m->n_steps; k++) {
        steps[k] = (double)m->steps[k];
    }
    lab_plot_guide(plot, 0, (gbsi_guide){"two passes", 0.0, 1.0, m->two_scans});
    lab_plot_line(plot, 0, line_of("random", GBSI_GREY, false, m->n_steps, steps, m->bound[1]));
    lab_plot_line(plot, 0, line_of("systematic", GBSI_BLUE, false, m->n_steps, steps, m->bound[0]));
    lab_plot_line(plot, 0,
                  line_of("optimised", GBSI_VERMILLION, true, N_LENGTHS, m->length, m->optimised));
}

/* Draws estimates with bands of two standard errors. @param band [2][2][LAB_MOST_TIMED_RUNS]
 * scratch. */
static void plot_estimates(lab_plot *plot, const million *m, double band[2][2][LAB_MOST_TIMED_RUNS])
{
    const lab_timed_runs *const times[2] = {&m->systematic_time, &m->optimised_time};
    lab_plot_guide(plot, 1, (gbsi_guide){"exact", 0.0, 1.0, m->truth[0]});
    for (int i = 0; i < 2; i++) {
        const lab_timed_runs *t = times[i];
        for (size_t k = 0; k < t->n_estimates; k++) {
            band[i][0][k] = t->p[k] - lab_estimate_band(t, k);
            band[i][1][k] = t->p[k] + lab_estimate_band(t, k);
        }
        gbsi_line line =
            line_of(i == 0 ? "systematic" : "optimised", i == 0 ? GBSI_BLUE : GBSI_VERMILLION, true,
                    t->n_estimates, t->seconds, t->p);
        line.low = band[i][0];
        line.high = band[i][1];
        lab_plot_line(plot, 1, line);
    }
}

/* Draws the times of the systematic scan's runs, and the extrapolated times. */
static void plot_times(lab_plot *plot, const million *m, double ahead[2][N_AHEAD])
{
    const lab_timed_runs *slow = &m->systematic_time;
    const lab_timed_runs *fast = &m->optimised_time;
    const double from = slow->draws[slow->n - 1];
    const double to = fast->draws[fast->n - 1];
    for (int k = 0; k < N_AHEAD; k++) {
        ahead[0][k] = k + 1 < N_AHEAD ? from * (double)(1 << k) : to;
        ahead[1][k] = lab_seconds_for(slow, ahead[0][k]);
    }
    lab_plot_line(plot, 2, line_of(NULL, GBSI_BLUE, true, slow->n, slow->draws, slow->seconds));
    gbsi_line dashed = line_of("systematic", GBSI_BLUE, false, N_AHEAD, ahead[0], ahead[1]);
    dashed.dash = GBSI_DASHED;
    lab_plot_line(plot, 2, dashed);
    lab_plot_line(plot, 2,
                  line_of("optimised", GBSI_VERMILLION, true, fast->n, fast->draws, fast->seconds));
}

static gbs_status draw_chart(const laboratory *lab, const million *m, gbs_error *err)
{
    lab_plot plot;
    double steps[N_STEPS];
    double band[2][2][LAB_MOST_TIMED_RUNS];
    double ahead[2][N_AHEAD];
    lab_plot_begin(&plot, LAB_DOGS_MILLION_BOUNDS, 1);
    plot_bounds(&plot, m, steps);
    plot_estimates(&plot, m, band);
    plot_times(&plot, m, ahead);
    return lab_plot_write(lab, &plot, err);
}

/* ---- verdict ----------------------------------------------------------------------------- */

static void judge(laboratory *lab, const million *m)
{
    const double draws = 262144.0;

    const double systematic = lab_seconds_for(&m->systematic_time, draws);
    const double optimised = lab_seconds_for(&m->optimised_time, draws);
    double bias = 0.0;
    double mcse = 0.0;
    for (int k = 0; k < 3; k++) {
        const double high = m->from[k].p - m->truth[0];
        const double low = m->truth[1] - m->from[k].p;
        const double off = high > low ? high : low;
        bias = off > bias ? off : bias;
        mcse = m->from[k].mcse > mcse ? m->from[k].mcse : mcse;
    }
    lab_find(lab,
             LAB_JUDGE(million_scan, .updates = (double)m->scan.n, .variation = m->scan.variation,
                       .systematic = m->two_scans),
             "a scan of %zu updates of %u variables has a variation of %.2g, two passes of the "
             "systematic scan have %.2g (wanted: 16 updates, a variation no larger)",
             m->scan.n, m->scan.report.n_visited, m->scan.variation, m->two_scans);
    lab_find(lab, LAB_JUDGE(million_bias, .bias = bias, .error = mcse, .bound = m->from[1].bound),
             "after this scan from the worst start the marginal is off by %.2g (standard error "
             "%.1g) (wanted: within the bound)",
             bias, mcse);
    lab_estimates_judge(lab, &m->systematic_time, &m->optimised_time, m->truth, m->from[1].bound);
    if (lab->options->quick) { /* quick runs only check the program; their times are not judged,
                                  because they may share the processor */
        lab_note(lab, "Quick runs do not judge times.");
    } else {
        lab_find(lab, LAB_JUDGE(million_time, .systematic_s = systematic, .optimised_s = optimised),
                 "%.0f draws take %.2g s, including %.2g s of optimising, and %.3g s by the "
                 "systematic scan at its rate: %.0f times as long (wanted: 100 times)",
                 draws, optimised, m->influences_s + m->optimise_s, systematic,
                 systematic / optimised);
    }
    lab_note(lab,
             "Times are processor time of one thread, without making the model; computing "
             "influences takes %.2g s, optimising %.2g s (in the paper 15 s). The chains of the "
             "systematic scan go on from draw to draw, so that their bias vanishes; that of draws "
             "by the optimised scan stays within its bound, however many they are.",
             m->influences_s, m->optimise_s);
}

/* Computes the length of the scan on the other grids, and its dependence on the first variable of
 * the systematic scan. */
static gbs_status judge_length(laboratory *lab, size_t which, gbs_error *err)
{
    gbs_status status = GBS_OK;
    million m = {.n_steps = 0};
    lab_made_scan from_zero = {0};
    if (lab_tell(lab, 0.0) != 0) {
        return GBS_STOPPED;
    }
    GBSI_TRY(prepare(lab, &m, which, err));
    const gbs_scan_request ours = request(&m, 0);
    GBSI_TRY(lab_made_scan_new(m.influences, &ours, &from_zero, err));
    lab_find(lab, LAB_JUDGE(million_other_couplings, .updates = (double)m.scan.n),
             "%s: %zu updates, or %zu if the systematic scan begins at the corner instead of "
             "ending there (wanted: 16)",
             lab_dogs_grid_name[which], m.scan.n, from_zero.n);
cleanup:
    lab_made_scan_free(&from_zero);
    million_free(&m);
    return status;
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const bool quick = lab->options->quick;
    const lab_spin_grid grid = lab_dogs_grid(0, SIDE);
    const uint64_t most = quick ? 512 : 32768;
    const uint64_t estimated = quick ? 512 : 8192;
    const uint64_t bias_draws = (uint64_t)SHORT * (quick ? 64 : 1024);
    gbs_status status = GBS_OK;
    million m = {.n_steps = 0};
    lab_expect(lab, 4.0 / 3.0 * (double)((most + estimated) * TWO_SCANS));
    lab->what = "optimised scan";
    if (lab_tell(lab, 0.0) != 0) {
        return GBS_STOPPED;
    }
    GBSI_TRY(prepare(lab, &m, 0, err));
    GBSI_TRY(lab_spin_grid_corner(lab, &grid, CORNER, m.truth, err));
    GBSI_TRY(usual_curves(&m, err));
    GBSI_TRY(optimised_curve(&m, err));
    LAB_TRY(write_bounds(lab, &m, err));
    LAB_TRY(measure_bias(lab, &m, bias_draws, err));
    LAB_TRY(write_bias(lab, &m, err));
    LAB_TRY(measure_times(lab, &m, most, estimated, err));
    LAB_TRY(write_times(lab, &m, err));
    LAB_TRY(draw_chart(lab, &m, err));
    judge(lab, &m);
    for (size_t k = 1; k < LAB_N_DOGS_GRIDS && !quick; k++) {
        LAB_TRY(judge_length(lab, k, err));
    }
cleanup:
    million_free(&m);
    return status;
}

const lab_experiment_row lab_dogs_million = {
    .about = {.name = "dogs-million",
              .paper = LAB_DOGS_PAPER,
              .figure = "Figure 2",
              .claim = "for one marginal of a model of a million variables, an optimised scan of "
                       "16 updates has as low a bound as two passes of the systematic scan, and "
                       "many draws take a hundredth of the time, including the time of optimising",
              .cost = "12 s quick, 2 min in full"},
    .run = run,
};
