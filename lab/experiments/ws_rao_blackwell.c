/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates P(X = 1) by averaging conditionals instead of counting states (Yamashita & Suzuki 2019,
 * section 6.6). X is the last of eight spins that are all coupled, weakly or strongly. The
 * experiment measures the errors of the estimates. X is updated last in a sweep, so that the
 * average of its conditionals is a sum over the joint histogram. */
#include <math.h>

#include "lab/contest.h"
#include "lab/experiment_table.h"
#include "lab/small_spin_models.h"

#define N_MODELS 2
#define N_STATES 256 /* states of eight spins */

enum { RANDOM, BINS, ROUNDED, N_DRAWS };

static const lab_contender counting[N_DRAWS] = {
    [RANDOM] = {.name = "random", .color = GBSI_BLUE, .draw = GBS_DRAW_RANDOM},
    [BINS] = {.name = "64 bins",
              .color = GBSI_VERMILLION,
              .draw = GBS_DRAW_DISCRETIZED,
              .rule = GBS_HERD_PRE,
              .bins = 64},
    [ROUNDED] = {.name = "rounded",
                 .color = GBSI_GREEN,
                 .draw = GBS_DRAW_RANDOMLY_DISCRETIZED,
                 .bins = 64},
};
static const lab_contender averaging[N_DRAWS] = {
    [RANDOM] = {.name = "random + RB",
                .color = GBSI_BLUE,
                .dash = GBSI_DASHED,
                .draw = GBS_DRAW_RANDOM},
    [BINS] = {.name = "64 bins + RB",
              .color = GBSI_VERMILLION,
              .dash = GBSI_DASHED,
              .draw = GBS_DRAW_DISCRETIZED,
              .rule = GBS_HERD_PRE,
              .bins = 64},
    [ROUNDED] = {.name = "rounded + RB",
                 .color = GBSI_GREEN,
                 .dash = GBSI_DASHED,
                 .draw = GBS_DRAW_RANDOMLY_DISCRETIZED,
                 .bins = 64},
};
static const lab_small_model *const model_of[N_MODELS] = {&lab_complete_strong, &lab_complete_weak};

/* Exact probabilities of a model that the statistics use. The last variable is the fastest in the
 * joint. */
typedef struct exact {
    double p;                   /* P(X = 1) */
    double given[N_STATES / 2]; /* P(X = 1 | all other variables) */
} exact;

static double statistic_count(const gbsi_joint *joint, uint32_t chain, const void *context)
{
    const exact *e = context;
    const uint64_t *count = gbsi_joint_counts(joint, chain);
    uint64_t ones = 0;
    for (size_t z = 0; z < gbsi_joint_n_cells(joint) / 2; z++) {
        ones += count[2 * z + 1];
    }
    return fabs((double)ones / (double)gbsi_joint_total(joint, chain) - e->p);
}

static double statistic_average(const gbsi_joint *joint, uint32_t chain, const void *context)
{
    const exact *e = context;
    const uint64_t *count = gbsi_joint_counts(joint, chain);
    double sum = 0.0;
    for (size_t z = 0; z < gbsi_joint_n_cells(joint) / 2; z++) {
        sum += (double)(count[2 * z] + count[2 * z + 1]) * e->given[z];
    }
    return fabs(sum / (double)gbsi_joint_total(joint, chain) - e->p);
}

/* Results of the two estimators for one model. */
typedef struct pair {
    lab_contest count, average;
} pair;

static gbs_status try_model(laboratory *lab, int i, uint64_t chains, uint64_t sweeps, pair *out,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    double p[N_STATES];
    exact e = {.p = 0.0};
    GBSI_TRY(lab_small_model_make(lab, model_of[i], &model, err));
    if (gbs_model_n_variables(model) != 8) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %u variables, expected 8", model_of[i]->file,
                           gbs_model_n_variables(model)));
    }
    GBSI_TRY(gbsi_joint_exact(model, NULL, 0, NULL, p, err));
    for (size_t z = 0; z < N_STATES / 2; z++) {
        e.p += p[2 * z + 1];
        e.given[z] = p[2 * z + 1] / (p[2 * z] + p[2 * z + 1]);
    }
    out->count = (lab_contest){.title = model_of[i]->name,
                               .n = N_DRAWS,
                               .contender = counting,
                               .statistic = statistic_count,
                               .context = &e};
    out->average = out->count;
    out->average.contender = averaging;
    out->average.statistic = statistic_average;
    LAB_TRY(lab_contest_run(lab, model, chains, sweeps, &out->count, err));
    LAB_TRY(lab_contest_run(lab, model, chains, sweeps, &out->average, err));
cleanup:
    out->count.context = NULL;
    out->average.context = NULL;
    gbs_model_free(model);
    return status;
}

static gbs_status draw_chart(const laboratory *lab, const pair *pairs, uint64_t chains,
                             gbs_error *err)
{
    lab_plot plot;
    lab_plot_begin(&plot, LAB_WS_RAO_BLACKWELL_ERRORS, N_MODELS);
    for (size_t i = 0; i < N_MODELS; i++) {
        const double first = pairs[i].count.median[RANDOM][0];
        plot.panel[i].title = model_of[i]->name;
        lab_plot_guide(&plot, i, (gbsi_guide){"1/√T", -0.5, 1.0, first});
        lab_plot_guide(&plot, i, (gbsi_guide){"1/T", -1.0, 1.0, first});
        lab_contest_lines(&plot, i, &pairs[i].count, false);
        lab_contest_lines(&plot, i, &pairs[i].average, false);
    }
    lab_plot_subtitle(&plot, "eight spins, all coupled; X the last of them; median of %u runs",
                      (unsigned)chains);
    return lab_plot_write(lab, &plot, err);
}

static gbs_status write_table(const laboratory *lab, const pair *pairs, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "errors.csv", LAB_CONTEST_HEADER, err);
    for (int i = 0; i < N_MODELS; i++) {
        lab_contest_rows(&table, &pairs[i].count);
        lab_contest_rows(&table, &pairs[i].average);
    }
    return lab_table_close(&table);
}

static void judge(laboratory *lab, const pair *pairs)
{
    for (int i = 0; i < N_MODELS; i++) {
        const size_t last = pairs[i].count.curves[0].n - 1;
        const double *count[N_DRAWS];
        const double *average[N_DRAWS];
        for (int d = 0; d < N_DRAWS; d++) {
            count[d] = pairs[i].count.median[d];
            average[d] = pairs[i].average.median[d];
        }
        /* with strong couplings, other components that decrease slowly hide the loss by counting */
        const double most = model_of[i] == &lab_complete_weak ? 0.5 : 1.4;
        lab_find(lab,
                 LAB_JUDGE(rao_random, .averaged = average[RANDOM][last],
                           .counted = count[RANDOM][last], .wanted = most),
                 "%s: averaging conditionals changes the error of random draws from %.2g to %.2g "
                 "after %.0f sweeps (wanted below %.3g times)",
                 model_of[i]->name, count[RANDOM][last], average[RANDOM][last],
                 pairs[i].count.curves[0].sweeps[last], most);
        lab_find(
            lab,
            LAB_JUDGE(rao_bins, .bins = count[BINS][8], .random = count[RANDOM][8], .wanted = most),
            "after 256 sweeps the error is %.2g (%.2g averaged) with 64 bins, %.2g (%.2g averaged) "
            "with random draws (wanted below %.3g times by counting)",
            count[BINS][8], average[BINS][8], count[RANDOM][8], average[RANDOM][8], most);
        lab_find(
            lab,
            LAB_JUDGE(rao_rounded, .counted = count[ROUNDED][last],
                      .counted_random = count[RANDOM][last], .averaged = average[ROUNDED][last],
                      .averaged_random = average[RANDOM][last]),
            "with conditionals rounded at random to 64 bins the error is %.2g (%.2g averaged) "
            "after "
            "256 sweeps and %.2g (%.2g) in the end; in the end bins have %.2g (%.2g) and random "
            "draws %.2g (%.2g) (wanted in the end: below random)",
            count[ROUNDED][8], average[ROUNDED][8], count[ROUNDED][last], average[ROUNDED][last],
            count[BINS][last], average[BINS][last], count[RANDOM][last], average[RANDOM][last]);
    }
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const uint64_t sweeps = UINT64_C(1) << (lab->options->quick ? 15 : 18);
    const uint64_t chains = lab->options->quick ? 32 : 64;
    gbs_status status = GBS_OK;
    pair pairs[N_MODELS] = {{.count = {.n = 0}}};
    lab_expect(lab, 8.0 * N_MODELS * 2.0 * N_DRAWS * (double)(sweeps * chains));
    for (int i = 0; i < N_MODELS && status == GBS_OK; i++) {
        status = try_model(lab, i, chains, sweeps, &pairs[i], err);
    }
    LAB_KEEP(write_table(lab, pairs, err));
    LAB_TRY(status);
    LAB_TRY(draw_chart(lab, pairs, chains, err));
    judge(lab, pairs);
cleanup:
    for (int i = 0; i < N_MODELS; i++) {
        lab_contest_free(&pairs[i].count);
        lab_contest_free(&pairs[i].average);
    }
    return status;
}

const lab_experiment_row lab_ws_rao_blackwell = {
    .about = {.name = "ws-rao-blackwell",
              .paper = "Yamashita & Suzuki (2019), Effects of weight sharing",
              .figure = "Figure 9",
              .claim = "averaging conditionals makes the error of random draws smaller with weak "
                       "couplings and no larger with strong couplings; herding has a smaller error "
                       "than counting random draws until its error stops falling",
              .cost = "3 s quick, 30 s in full; --data: the authors' models"},
    .takes_data = true,
    .run = run,
};
