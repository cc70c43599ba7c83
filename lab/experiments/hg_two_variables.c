/* SPDX-License-Identifier: Apache-2.0 */
/* Two binary variables that agree most of the time (Chen, Bornn, de Freitas, Eskelin, Fang &
 * Welling 2016, Table 1): p(0, 0) = 1/4 - e, p(1, 1) = 3/4 - e, and the other two states have
 * probability e. The smaller e is, the more slowly any sampler of single variables moves between
 * (0, 0) and (1, 1). The error of herding still decreases as 1 / T in the end. Figure 5 has rows
 * for the estimate of a marginal, the error of the joint distribution and the inverse of this
 * error, and a curve of chains that are driven by a whole period of a register of 18 bits. The
 * error of herded draws oscillates, so that its inverse is shown of the largest error of the last
 * half of the sweeps, which is the envelope of the error. */
#include <math.h>

#include "base/memory.h"
#include "lab/contest.h"
#include "lab/experiment_table.h"
#include "simd/math.h"

#define N_EPSILONS 4
#define LAST       6 /* number of octaves of sweeps from which slopes are computed */

enum { RANDOM, HERDED, DRIVEN, N_DRAWS };
enum { JOINT, LARGEST, MARGINALS, ESTIMATE, N_KINDS }; /* kinds of contests */

static const double epsilon[N_EPSILONS] = {0.1, 0.01, 0.001, 0.0001};
static const char *const title[N_EPSILONS] = {"ε = 0.1", "ε = 0.01", "ε = 0.001", "ε = 0.0001"};

static const lab_contender contender[N_DRAWS] = {
    [RANDOM] = {.name = "random", .color = GBSI_BLUE, .draw = GBS_DRAW_RANDOM},
    [HERDED] = {.name = "herded", .color = GBSI_VERMILLION, .draw = GBS_DRAW_HERDED},
    [DRIVEN] = {.name = "cud", .color = GBSI_ORANGE, .draw = GBS_DRAW_CUD},
};

/* L1 distance of the two marginals. @param context [4] joint probabilities. */
static double of_marginals(const gbsi_joint *joint, uint32_t chain, const void *context)
{
    const double *p = context;
    const uint64_t *count = gbsi_joint_counts(joint, chain);
    const double n = (double)gbsi_joint_total(joint, chain);
    const double first = (double)(count[2] + count[3]) / n - (p[2] + p[3]);
    const double second = (double)(count[1] + count[3]) / n - (p[1] + p[3]);
    return 2.0 * (fabs(first) + fabs(second));
}

/* Estimate of the probability that the first variable is 1. */
static double estimate(const gbsi_joint *joint, uint32_t chain, const void *context)
{
    const uint64_t *count = gbsi_joint_counts(joint, chain);
    (void)context;
    return (double)(count[2] + count[3]) / (double)gbsi_joint_total(joint, chain);
}

/* Contests of one value of epsilon. */
typedef struct contests {
    lab_contest of[N_KINDS];
} contests;

static gbs_status make_model(double e, double p[4], gbs_model **model, gbs_error *err)
{
    static const uint32_t arity[2] = {2, 2};
    static const uint32_t scope[2] = {0, 1};
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    double logw[4];
    uint32_t table = 0;
    p[0] = 0.25 - e;
    p[1] = e;
    p[2] = e;
    p[3] = 0.75 - e;
    for (int i = 0; i < 4; i++) {
        logw[i] = gbsi_log(p[i]);
    }
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbs_builder_add_variables(builder, 2, arity, NULL, err));
    GBSI_TRY(gbs_builder_add_table(builder, 4, logw, &table, err));
    GBSI_TRY(gbs_builder_add_table_factor(builder, 2, scope, table, err));
    GBSI_TRY(gbs_builder_build(builder, model, err));
cleanup:
    gbs_builder_free(builder);
    return status;
}

static gbs_status try_epsilon(laboratory *lab, int e, uint64_t chains, uint64_t sweeps,
                              contests *out, gbs_error *err)
{
    static lab_statistic *const statistic[N_KINDS] = {[JOINT] = lab_statistic_l1,
                                                      [LARGEST] = lab_statistic_l1,
                                                      [MARGINALS] = of_marginals,
                                                      [ESTIMATE] = estimate};
    double p[4];
    gbs_model *model = NULL;
    gbs_status status = make_model(epsilon[e], p, &model, err);
    for (int kind = 0; kind < N_KINDS; kind++) {
        out->of[kind] = (lab_contest){.title = title[e],
                                      .n = N_DRAWS,
                                      .contender = contender,
                                      .statistic = statistic[kind],
                                      .context = p,
                                      .largest = kind == LARGEST};
    }
    if (status >= 0) {
        status = lab_contests_run(lab, model, chains, sweeps, N_KINDS, out->of, err);
    }
    for (int kind = 0; kind < N_KINDS; kind++) {
        out->of[kind].context = NULL;
    }
    gbs_model_free(model);
    return status;
}

static gbs_status draw_chart(const laboratory *lab, lab_figure_id figure, const contests *c,
                             int kind, uint64_t chains, gbs_error *err)
{
    lab_plot plot;
    lab_plot_begin(&plot, figure, N_EPSILONS);
    for (size_t e = 0; e < N_EPSILONS; e++) {
        plot.panel[e].title = title[e];
        lab_contest_lines(&plot, e, &c[e].of[kind], true);
    }
    lab_plot_subtitle(&plot,
                      "p(0,0) = 1/4 − ε, p(1,1) = 3/4 − ε, the others ε; median of %u runs, half "
                      "of them in the band",
                      (unsigned)chains);
    return lab_plot_write(lab, &plot, err);
}

/* Draws the inverse of the largest error of the last half of the sweeps, in thousands, which is a
 * straight line if the error decreases as 1 / T. */
static gbs_status draw_inverse(const laboratory *lab, const contests *c, uint64_t chains,
                               gbs_error *err)
{
    enum { MEDIAN, LOW, HIGH, N_LINES };
    static double inverse[N_EPSILONS][N_DRAWS][N_LINES][LAB_MAX_CHECKPOINTS];
    lab_plot plot;
    lab_plot_begin(&plot, LAB_HG_TWO_VARIABLES_INVERSE, N_EPSILONS);
    for (size_t e = 0; e < N_EPSILONS; e++) {
        const lab_contest *largest = &c[e].of[LARGEST];
        plot.panel[e].title = title[e];
        for (size_t d = 0; d < N_DRAWS; d++) {
            const lab_curves *curves = &largest->curves[d];
            for (size_t k = 0; k < curves->n; k++) {
                inverse[e][d][MEDIAN][k] = 1e-3 / largest->median[d][k];
                inverse[e][d][LOW][k] = 1e-3 / largest->high[d][k];
                inverse[e][d][HIGH][k] = 1e-3 / largest->low[d][k];
            }
            lab_plot_line(&plot, e,
                          (gbsi_line){.label = contender[d].name,
                                      .color = contender[d].color,
                                      .n = curves->n,
                                      .x = curves->sweeps,
                                      .y = inverse[e][d][MEDIAN],
                                      .low = inverse[e][d][LOW],
                                      .high = inverse[e][d][HIGH]});
        }
    }
    lab_plot_subtitle(&plot,
                      "of the largest error after T/2 to T sweeps; median of %u runs, half of them "
                      "in the band",
                      (unsigned)chains);
    return lab_plot_write(lab, &plot, err);
}

static gbs_status write_table(const laboratory *lab, const char *name, const contests *c, int kind,
                              gbs_error *err)
{
    lab_table table = lab_table_open(lab, name, LAB_CONTEST_HEADER, err);
    for (int e = 0; e < N_EPSILONS; e++) {
        lab_contest_rows(&table, &c[e].of[kind]);
    }
    return lab_table_close(&table);
}

/* Ratio that the verdict requires between the median random error and the worst herded error after
 * T sweeps. A run moves about e T times between the states, so that random errors are about 1 /
 * sqrt(e T) and herded errors about 1 / (e T). The ratio of these errors is sqrt(e T), and the
 * verdict requires an eighth of this ratio. If random draws take the place of herded draws, the
 * ratio is below 1/2. */
static double wanted_ratio(int e, double sweeps)
{
    return gbsi_sqrt(epsilon[e] * sweeps) / 8.0;
}

static void judge(laboratory *lab, const contests *c)
{
    for (int e = 0; e < N_EPSILONS; e++) {
        const lab_contest *joint = &c[e].of[JOINT];
        const lab_curves *h = &joint->curves[HERDED];
        const double slope = lab_log_slope(h->sweeps, joint->median[HERDED], h->n, LAST);
        lab_find(lab, LAB_JUDGE(falls_as_one_over_t, .slope = slope),
                 "%s: slope of the herded median %.2f (wanted at most -0.75)", title[e], slope);
        const double ratio = joint->median[RANDOM][h->n - 1] / joint->max[HERDED][h->n - 1];
        const double wanted = wanted_ratio(e, h->sweeps[h->n - 1]);

        lab_find(lab, LAB_JUDGE(two_variables_ratio, .times = ratio, .wanted = wanted),
                 "after %.0f sweeps the error of the worst herded run is %.3g times below that of "
                 "the median random run (wanted %.2g)",
                 h->sweeps[h->n - 1], ratio, wanted);
    }
    const lab_contest *first = &c[0].of[JOINT];
    const lab_curves *r = &first->curves[RANDOM];
    const double slope = lab_log_slope(r->sweeps, first->median[RANDOM], r->n, LAST);
    lab_find(lab, LAB_JUDGE(falls_as_one_over_root_t, .slope = slope),
             "%s: slope of the random median %.2f (wanted about -0.5)", title[0], slope);
    const lab_curves *d = &first->curves[DRIVEN];
    const double driven = first->median[DRIVEN][d->n - 1];
    const double below = driven / first->max[HERDED][d->n - 1];
    lab_find(
        lab, LAB_JUDGE(two_variables_driven, .times = below),
        "%s: chains driven by a whole period of 18 bits (slope %.2f) have a median error %.3g "
        "times "
        "below that of random draws; the worst herded run is %.3g times below this (wanted 10)",
        title[0], lab_log_slope(d->sweeps, first->median[DRIVEN], d->n, LAST),
        first->median[RANDOM][r->n - 1] / driven, below);
    lab_note(lab, "Of chains driven by completely uniformly distributed numbers (MCQMC) the paper "
                  "says that they do not show any improvement. Here the rate is that of random "
                  "draws until the period ends, but over the whole period the error is lower.");
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const uint64_t sweeps = UINT64_C(1) << 18;
    const uint64_t chains = lab->options->quick ? 16 : 96;
    gbs_status status = GBS_OK;
    contests *c = gbsi_alloc_array_zero(N_EPSILONS, sizeof *c);
    GBSI_PASS(GBSI_HAVE(err, "errors", c));
    lab_expect(lab, 2.0 * N_EPSILONS * N_DRAWS * (double)(sweeps * chains));
    for (int e = 0; e < N_EPSILONS && status == GBS_OK; e++) {
        status = try_epsilon(lab, e, chains, sweeps, &c[e], err);
    }
    LAB_KEEP(write_table(lab, "errors.csv", c, JOINT, err));
    LAB_KEEP(write_table(lab, "largest.csv", c, LARGEST, err));
    LAB_KEEP(write_table(lab, "marginals.csv", c, MARGINALS, err));
    LAB_KEEP(write_table(lab, "estimates.csv", c, ESTIMATE, err));
    LAB_TRY(status);
    LAB_TRY(draw_chart(lab, LAB_HG_TWO_VARIABLES_ERRORS, c, JOINT, chains, err));
    LAB_TRY(draw_chart(lab, LAB_HG_TWO_VARIABLES_MARGINALS, c, MARGINALS, chains, err));
    LAB_TRY(draw_chart(lab, LAB_HG_TWO_VARIABLES_ESTIMATES, c, ESTIMATE, chains, err));
    LAB_TRY(draw_inverse(lab, c, chains, err));
    judge(lab, c);
cleanup:
    for (int e = 0; e < N_EPSILONS; e++) {
        for (int kind = 0; kind < N_KINDS; kind++) {
            lab_contest_free(&c[e].of[kind]);
        }
    }
    gbsi_free(c);
    return status;
}

const lab_experiment_row lab_hg_two_variables = {
    .about = {.name = "hg-two-variables",
              .paper = "Chen et al. (2016), Herded Gibbs sampling",
              .figure = "Figure 5",
              .claim = "on two variables the error of the joint distribution falls as 1/T with "
                       "herded draws and as 1/sqrt(T) with random draws",
              .cost = "2 s quick, 10 s in full"},
    .run = run,
};
