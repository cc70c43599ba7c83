/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronous updates of all variables from the previous state (Gonzalez et al. 2011, theorems 3.2
 * and 3.3, appendix A), on 2 x 3 spins of two colours. Laws are computed by enumeration of the 64
 * states and compared with runs. */
#include <string.h>

#include "gibbsite/generate.h"
#include "lab/curves.h"
#include "lab/experiment_table.h"
#include "lab/plot.h"
#include "lab/six_spins.h"

#define N_STEPS  48u
#define N_CHAINS 16
#define SPREAD   4.0 /* largest allowed deviation, in standard errors */

/* Colour of a spin, as on a chessboard. */
static unsigned color_of(unsigned v)
{
    return (v / 3 + v % 3) % 2;
}

/* ---- laws ----------------------------------------------------------------------------------- */

/* Bits of the spins of a colour. */
static unsigned mask_of(unsigned color)
{
    unsigned mask = 0;
    for (unsigned v = 0; v < LAB_N_SPINS; v++) {
        mask |= color_of(v) == color ? lab_bit_of(v) : 0;
    }
    return mask;
}

/* Draws all spins of a mask at once. Each spin is drawn from its conditional given the previous
 * state. */
static void draw_at_once(const double *p, unsigned mask, const double *law, double *next)
{
    for (unsigned y = 0; y < LAB_N_STATES; y++) {
        next[y] = 0.0;
    }
    for (unsigned x = 0; x < LAB_N_STATES; x++) {
        for (unsigned y = 0; y < LAB_N_STATES; y++) {
            double weight = (x & ~mask) == (y & ~mask) ? law[x] : 0.0;
            for (unsigned v = 0; v < LAB_N_SPINS && weight > 0.0; v++) {
                if ((mask & lab_bit_of(v)) != 0) {
                    const unsigned at = (x & ~lab_bit_of(v)) | (y & lab_bit_of(v));
                    weight *= p[at] / (p[at] + p[at ^ lab_bit_of(v)]);
                }
            }
            next[y] += weight;
        }
    }
}

/* Computes the product of the two colours' marginals. */
static void make_product(const double *p, double *product)
{
    double marginal[2][LAB_N_STATES] = {{0.0}};
    for (unsigned x = 0; x < LAB_N_STATES; x++) {
        marginal[0][x & mask_of(0)] += p[x];
        marginal[1][x & mask_of(1)] += p[x];
    }
    for (unsigned x = 0; x < LAB_N_STATES; x++) {
        product[x] = marginal[0][x & mask_of(0)] * marginal[1][x & mask_of(1)];
    }
}

enum { TO_PRODUCT, TO_TARGET, CHROMATIC, N_APPROACHES };

typedef struct laws {
    double p[LAB_N_STATES], product[LAB_N_STATES];
    double moved; /* L1 distance by which a synchronous step moves the product */
    /* largest L1 distance, over all steps, between a split chain's law and the chromatic chain's
     * law */
    double split;
    double far[N_APPROACHES][N_STEPS];
    double shown[N_APPROACHES][N_STEPS];
} laws;

/* Follows the distribution from a start with all weight on one state. At an even step t, the first
 * split chain consists of the colour X_1 at step t and the colour X_2 at step t + 1. At an odd step
 * t, it consists of X_1 at step t + 1 and X_2 at step t. Each step of a split chain thus draws one
 * colour given the other. */
static void follow(laws *w)
{
    double law[2][LAB_N_STATES] = {{1.0}};
    double chain[2][LAB_N_STATES] = {{1.0}}; /* law of the chromatic chain */
    double split[LAB_N_STATES];
    draw_at_once(w->p, LAB_N_STATES - 1, w->product, split);
    w->moved = lab_law_distance(split, w->product, LAB_N_STATES);
    for (unsigned t = 0; t < N_STEPS; t++) {
        const unsigned color = t % 2 == 0 ? 1 : 0;
        draw_at_once(w->p, mask_of(color), law[t % 2], split);
        draw_at_once(w->p, mask_of(color), chain[t % 2], chain[(t + 1) % 2]);
        const double apart = lab_law_distance(split, chain[(t + 1) % 2], LAB_N_STATES);
        w->split = apart > w->split ? apart : w->split;
        draw_at_once(w->p, LAB_N_STATES - 1, law[t % 2], law[(t + 1) % 2]);
        w->far[TO_PRODUCT][t] = lab_law_distance(law[(t + 1) % 2], w->product, LAB_N_STATES);
        w->far[TO_TARGET][t] = lab_law_distance(law[(t + 1) % 2], w->p, LAB_N_STATES);
        w->far[CHROMATIC][t] = lab_law_distance(chain[(t + 1) % 2], w->p, LAB_N_STATES);
        for (int a = 0; a < N_APPROACHES; a++) {
            w->shown[a][t] = lab_law_shown(w->far[a][t]);
        }
    }
}

/* ---- averages ------------------------------------------------------------------------------- */

enum { ONE, SAME_COLOR, MIXED, N_AVERAGES };

static const char *const average_name[N_AVERAGES] = {"one spin", "pairs of a colour", "neighbours"};

/* Value of a state for each average: the mean of the spins, the mean of the products of two spins
 * of one colour, or the mean of the products of neighbours. */
static double value_of(int average, unsigned x)
{
    double sum = 0.0;
    unsigned n = 0;
    for (unsigned v = 0; v < LAB_N_SPINS; v++) {
        const double s = (x & lab_bit_of(v)) != 0 ? 1.0 : -1.0;
        if (average == ONE) {
            sum += s;
            n++;
        }
        for (unsigned w = v + 1; average != ONE && w < LAB_N_SPINS; w++) {
            if (average == MIXED ? lab_adjoin(v, w) : color_of(v) == color_of(w)) {
                sum += (x & lab_bit_of(w)) != 0 ? s : -s;
                n++;
            }
        }
    }
    return sum / n;
}

static double mean_of(int average, const double *p)
{
    double sum = 0.0;
    for (unsigned x = 0; x < LAB_N_STATES; x++) {
        sum += p[x] * value_of(average, x);
    }
    return sum;
}

/* Average over the draws of a chain so far. @param context number of the average. */
static double measure_average(const gbsi_joint *joint, uint32_t chain, const void *context)
{
    const uint64_t *count = gbsi_joint_counts(joint, chain);
    double sum = 0.0;
    for (unsigned x = 0; x < LAB_N_STATES; x++) {
        sum += (double)count[x] * value_of(*(const int *)context, x);
    }
    return sum / (double)gbsi_joint_total(joint, chain);
}

/* ---- runs ----------------------------------------------------------------------------------- */

enum { SYNCHRONOUS, BY_COLOR, N_SCANS };

typedef struct result {
    laws laws;
    lab_curves curves[N_APPROACHES]; /* L1 distance after 1, 2, 4, ... sweeps */
    double median[N_APPROACHES][LAB_MAX_CHECKPOINTS];
    lab_mean average[N_SCANS][N_AVERAGES];
    /* L1 distance of draws with six colours from the sampler's own limit, and from the target */
    double complete[2];
    int called_converged; /* whether the run with six colours was called converged */
} result;

static gbs_run_options options_of(const laboratory *lab, int scan, uint64_t sweeps)
{
    gbs_run_options options = lab_options(lab, N_CHAINS, sweeps);
    options.scan = scan == SYNCHRONOUS ? GBS_SCAN_SYNCHRONOUS : GBS_SCAN_CHROMATIC;
    return options;
}

static gbs_status run_all(laboratory *lab, const gbs_model *model, uint64_t sweeps, result *r,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_curves curves = {0};
    for (int a = 0; a < N_APPROACHES; a++) {
        const gbs_run_options options =
            options_of(lab, a == CHROMATIC ? BY_COLOR : SYNCHRONOUS, sweeps);
        LAB_TRY(lab_curves_run(lab, "distances", model, &options, lab_statistic_l1,
                               a == TO_PRODUCT ? r->laws.product : r->laws.p, &r->curves[a], err));
        lab_curves_quantile(&r->curves[a], 0.5, r->median[a]);
    }
    for (int i = 0; i < N_SCANS * N_AVERAGES; i++) {
        const int average = i % N_AVERAGES;
        const gbs_run_options options = options_of(lab, i / N_AVERAGES, sweeps);
        LAB_TRY(lab_curves_run(lab, "averages", model, &options, measure_average, &average, &curves,
                               err));
        r->average[i / N_AVERAGES][average] =
            lab_mean_of(curves.value + (curves.n - 1) * curves.n_runs, curves.n_runs);
        lab_curves_free(&curves);
    }
cleanup:
    return status;
}

/* Runs the sampler of algorithm 1 on six spins that are all coupled. Two colours do not suffice for
 * these spins, so that the sampler has a limit other than the target. */
static gbs_status try_complete(laboratory *lab, uint64_t sweeps, result *r, gbs_error *err)
{
    const gbs_generate_complete_options six = {.variables = LAB_N_SPINS,
                                               .coupling = 0.3,
                                               .coupling_spread = 0.1,
                                               .random_field = 0.3,
                                               .seed = lab->options->seed};
    const gbs_run_options options = options_of(lab, SYNCHRONOUS, sweeps);
    double p[LAB_N_STATES];
    double law[2][LAB_N_STATES];
    double median[LAB_MAX_CHECKPOINTS];
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    gbs_run *run = NULL;
    lab_curves curves = {0};
    GBSI_TRY(gbs_generate_complete(&six, &model, err));
    GBSI_TRY(gbsi_joint_exact(model, NULL, 0, NULL, p, err));
    memcpy(law[0], p, sizeof p);
    for (unsigned t = 0; t < 8 * N_STEPS; t++) {
        draw_at_once(p, LAB_N_STATES - 1, law[t % 2], law[(t + 1) % 2]);
    }
    for (int i = 0; i < 2; i++) {
        LAB_TRY(lab_curves_run(lab, "six colours", model, &options, lab_statistic_l1,
                               i == 0 ? law[0] : p, &curves, err));
        lab_curves_quantile(&curves, 0.5, median);
        r->complete[i] = median[curves.n - 1];
        lab_curves_free(&curves);
    }
    LAB_TRY(lab_run(lab, "six colours", model, &options, NULL, NULL, &run, err));
    r->called_converged = gbs_run_report(run)->converged;
cleanup:
    lab_curves_free(&curves);
    gbs_run_free(run);
    gbs_model_free(model);
    return status;
}

/* ---- writing results ------------------------------------------------------------------------ */

static const char *const approach_text[N_APPROACHES] = {
    "synchronous from product", "synchronous from target", "chromatic from target"};

static gbs_status write_laws(const laboratory *lab, const result *r, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "distances.csv", "kind,what,steps,l1", err);
    for (int a = 0; a < N_APPROACHES; a++) {
        for (unsigned t = 0; t < N_STEPS; t++) {
            LAB_ROW(&table, "exact law", approach_text[a], t + 1, r->laws.far[a][t]);
        }
        for (size_t k = 0; k < r->curves[a].n; k++) { /* a sweep is two steps */
            LAB_ROW(&table, "draws of a run", approach_text[a], 2.0 * r->curves[a].sweeps[k],
                    r->median[a][k]);
        }
    }
    return lab_table_close(&table);
}

static gbs_status write_averages(const laboratory *lab, const result *r, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "averages.csv",
                                     "average,target,product,synchronous,synchronous_error,"
                                     "chromatic,chromatic_error",
                                     err);
    for (int a = 0; a < N_AVERAGES; a++) {
        const lab_mean *synchronous = &r->average[SYNCHRONOUS][a];
        const lab_mean *chromatic = &r->average[BY_COLOR][a];
        LAB_ROW(&table, average_name[a], NULL, mean_of(a, r->laws.p), mean_of(a, r->laws.product),
                synchronous->mean, synchronous->error, chromatic->mean, chromatic->error);
    }
    return lab_table_close(&table);
}

static gbs_status draw_chart(const laboratory *lab, const result *r, gbs_error *err)
{
    enum { N_BARS = 4 };
    static const gbsi_color bar_color[N_BARS] = {GBSI_INK, GBSI_BLUE, GBSI_GREY, GBSI_ORANGE};
    lab_plot plot;
    double steps[N_STEPS];
    double value[N_AVERAGES][N_BARS];
    double whisker[N_AVERAGES][N_BARS] = {{0.0}};
    lab_plot_begin(&plot, LAB_PGS_SYNCHRONOUS_LAWS, 1);
    for (unsigned t = 0; t < N_STEPS; t++) {
        steps[t] = t + 1;
    }
    for (int a = 0; a < N_APPROACHES; a++) {
        gbsi_line line = {.color = plot.key[a].color,
                          .dash = plot.key[a].dash,
                          .n = N_STEPS,
                          .x = steps,
                          .y = r->laws.shown[a]};
        lab_plot_line(&plot, 0, line);
        line.dots = true;
        line.n = r->curves[a].n;
        line.x = r->curves[a].sweeps;
        line.y = r->median[a];
        lab_plot_line(&plot, 1, line);
    }
    for (int a = 0; a < N_AVERAGES; a++) {
        value[a][0] = mean_of(a, r->laws.p);
        value[a][1] = r->average[BY_COLOR][a].mean;
        value[a][2] = mean_of(a, r->laws.product);
        value[a][3] = r->average[SYNCHRONOUS][a].mean;
        whisker[a][1] = SPREAD * r->average[BY_COLOR][a].error;
        whisker[a][3] = SPREAD * r->average[SYNCHRONOUS][a].error;
    }
    const gbsi_bars bars = {.n_groups = N_AVERAGES,
                            .n_series = N_BARS,
                            .group = average_name,
                            .color = bar_color,
                            .value = value[0],
                            .error = whisker[0]};
    plot.panel[2].bars = &bars;
    return lab_plot_write(lab, &plot, err);
}

/* Distance of a measured average from the exact average, in standard errors. */
static double errors_from(const result *r, int scan, int average, const double *p)
{
    const lab_mean *m = &r->average[scan][average];
    const double off = m->mean - mean_of(average, p);
    return (off < 0.0 ? -off : off) / m->error;
}

static void judge(laboratory *lab, const result *r)
{
    const laws *w = &r->laws;
    const double apart = lab_law_distance(w->product, w->p, LAB_N_STATES);
    const size_t last = r->curves[0].n - 1;
    const double slope =
        lab_log_slope(r->curves[TO_PRODUCT].sweeps, r->median[TO_PRODUCT], last + 1, 5);
    lab_find(
        lab,
        LAB_JUDGE(synchronous_product, .moved = w->moved, .far = w->far[TO_PRODUCT][N_STEPS - 1]),
        "a synchronous step changes the product of the colours' marginals by %.1g in L1 (wanted "
        "0), and from a single state the distribution is %.1g away from it after %u steps",
        w->moved, w->far[TO_PRODUCT][N_STEPS - 1], N_STEPS);
    lab_find(lab,
             LAB_JUDGE(synchronous_split, .split = w->split, .far = w->far[CHROMATIC][N_STEPS - 1]),
             "the distribution of the split chain equals that of the chromatic chain at all %u "
             "steps, to %.1g in L1",
             N_STEPS, w->split);
    lab_find(lab,
             LAB_JUDGE(synchronous_draws, .slope = slope, .to_target = r->median[TO_TARGET][last],
                       .apart = apart),
             "after %.0f sweeps synchronous draws are %.2g from the product (slope %.2f, wanted "
             "about -0.5) and %.3g from the target, chromatic draws are %.2g from the target "
             "(product and target are %.3g apart)",
             r->curves[0].sweeps[last], r->median[TO_PRODUCT][last], slope,
             r->median[TO_TARGET][last], r->median[CHROMATIC][last], apart);
    lab_find(lab,
             LAB_JUDGE(synchronous_within, .one = errors_from(r, SYNCHRONOUS, ONE, w->p),
                       .pairs = errors_from(r, SYNCHRONOUS, SAME_COLOR, w->p)),
             "synchronous averages within a colour are %.1f (one spin) and %.1f (pairs) standard "
             "errors from the target (wanted below %.0f)",
             errors_from(r, SYNCHRONOUS, ONE, w->p), errors_from(r, SYNCHRONOUS, SAME_COLOR, w->p),
             SPREAD);
    lab_find(lab,
             LAB_JUDGE(synchronous_across,
                       .from_product = errors_from(r, SYNCHRONOUS, MIXED, w->product),
                       .from_target = errors_from(r, SYNCHRONOUS, MIXED, w->p),
                       .chromatic = errors_from(r, BY_COLOR, MIXED, w->p)),
             "averages of neighbours, which mix colours: %.4f synchronous, %.4f under the product, "
             "%.4f under the target, %.4f chromatic (wanted the first two equal and the last two "
             "equal, within %.0f standard errors)",
             r->average[SYNCHRONOUS][MIXED].mean, mean_of(MIXED, w->product), mean_of(MIXED, w->p),
             r->average[BY_COLOR][MIXED].mean, SPREAD);
    lab_find(
        lab,
        LAB_JUDGE(synchronous_more_colours, .to_limit = r->complete[0], .to_target = r->complete[1],
                  .converged = r->called_converged),
        "with all six spins coupled, which takes six colours, draws are %.2g from the limit of "
        "algorithm 1 and %.2g from the target (wanted a fifth of that), and the run %s called "
        "converged (wanted not)",
        r->complete[0], r->complete[1], r->called_converged ? "is" : "is not");
    lab_note(lab, "The marginals of --scan synchronous are averages over its two chromatic chains, "
                  "and correct. Its draws combine the two chains and have the bias shown.");
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const uint64_t sweeps = UINT64_C(1) << (lab->options->quick ? 15 : 18);
    const gbs_generate_ising_options six = {.side = {2, 3, 1},
                                            .coupling = 0.4,
                                            .coupling_spread = 0.1,
                                            .random_field = 0.3,
                                            .seed = lab->options->seed};
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    result r = {.called_converged = 0};
    lab_expect(lab, (double)(sweeps * LAB_N_SPINS * N_CHAINS) *
                        (N_APPROACHES + N_SCANS * N_AVERAGES + 3));
    GBSI_TRY(gbs_generate_ising(&six, &model, err));
    GBSI_TRY(gbsi_joint_exact(model, NULL, 0, NULL, r.laws.p, err));
    make_product(r.laws.p, r.laws.product);
    follow(&r.laws);
    status = run_all(lab, model, sweeps, &r, err);
    LAB_KEEP(write_laws(lab, &r, err));
    LAB_TRY(status);
    LAB_TRY(try_complete(lab, sweeps, &r, err));
    LAB_TRY(write_averages(lab, &r, err));
    LAB_TRY(draw_chart(lab, &r, err));
    judge(lab, &r);
cleanup:
    for (int a = 0; a < N_APPROACHES; a++) {
        lab_curves_free(&r.curves[a]);
    }
    gbs_model_free(model);
    return status;
}

const lab_experiment_row lab_pgs_synchronous = {
    .about =
        {.name = "pgs-synchronous",
         .paper = "Gonzalez et al. (2011), Parallel Gibbs sampling",
         .figure = "Theorems 3.2 and 3.3, appendix A",
         .claim =
             "on a model of two colours the synchronous sampler consists of two chromatic "
             "chains; its distribution converges to the product of the colours' marginals, so "
             "averages within a colour are correct and averages that mix colours are not; with "
             "more colours it has a limit of its own",
         .cost = "3 s quick, 20 s in full"},
    .run = run,
};
