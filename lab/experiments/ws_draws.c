/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of draws on small models (Yamashita & Suzuki 2019): three experiments, with a table
 * for each.
 *
 * ws-sharing, section 3.2: with fewer weights, the error decreases faster at first but stops
 * decreasing earlier. One model has nine spins on a ring, with keys that are the states of 2, 4, 6
 * or all 8 other spins, HG(2) to HG(8). The other model has eight spins that are all coupled, with
 * keys that are the bin of the conditional probability, among 2 to 128 bins.
 *
 * ws-beg, section 5.3: bounded-error Gibbs, which is herding with random choices while the weights
 * are small. A larger threshold c gives a smaller limit of D cor, but D herding decreases later.
 * The model is the ring at the top of Figure 3.
 *
 * ws-rdhg, section 6.5: conditionals are rounded at random to edges of bins before they are herded.
 * The approximation error vanishes, but there is a further component D bin, which decreases as 1 /
 * sqrt(T). The model has eight spins that are all coupled, and 64 bins are used. */
#include <math.h>

#include "gibbsite/generate.h"
#include "lab/component_curves.h"
#include "lab/experiment_table.h"
#include "lab/small_spin_models.h"

#define N_SPINS    9 /* number of spins of the ring in ws-sharing */
#define MOST_DRAWS 5
#define LAST       6 /* number of octaves of sweeps from which slopes are computed */

#define MOST_MODELS 5
/* Largest number of sweeps on every model except the first */
#define MOST_SWEEPS (UINT64_C(1) << 18)

typedef struct result {
    /* ws-sharing: errors of a mean, with keys by states and by bins */
    lab_contest contest[2];
    lab_component_curves parts[MOST_DRAWS]; /* other experiments: error components by draw */
    /* ws-sharing: exact mean number of spins up, and P(the last spin is up) */
    double exact[2];
    unsigned n_limits;                     /* ws-rdhg: number of models */
    double limit[MOST_MODELS][MOST_DRAWS]; /* limit of D all for each model and draw */
} result;

/* A line of a figure, which shows one error component of a draw. */
typedef struct shown {
    size_t panel;
    lab_component component;
    int draw;
    const char *label; /* label of the line; NULL: the name of the draw */
} shown;

typedef struct experiment {
    int n_draws;
    const lab_contender *draw;
    const lab_contender *bins; /* [n_bins] draws with keys by bins, for ws-sharing */
    int n_bins;
    const lab_small_model *model; /* model of the experiment; NULL: the ring of nine spins */
    unsigned octaves[2];          /* number of octaves of sweeps in full runs and in quick runs */
    uint64_t chains[2];
    lab_figure_id figure;
    const char *kind; /* kind of runs, for the subtitle */
    size_t n_shown;
    const shown *shown; /* [n_shown] lines of the figure */
    /* number of models in the comparison of D all with random draws; 0 for no comparison */
    unsigned n_models;
    void (*judge)(laboratory *lab, const result *r);
} experiment;

/* ---- errors of ws-sharing ------------------------------------------------------------------- */

/* Number of spins that are up. */
static double n_up(size_t cell)
{
    double n = 0.0;
    for (; cell > 0; cell >>= 1) {
        n += (double)(cell & 1);
    }
    return n;
}

/* 1 if the last spin is up, else 0. */
static double last_up(size_t cell)
{
    return (double)(cell & 1);
}

static double error_of_mean(const gbsi_joint *joint, uint32_t chain, double (*of)(size_t),
                            const double *exact)
{
    const uint64_t *count = gbsi_joint_counts(joint, chain);
    double sum = 0.0;
    for (size_t i = 0; i < gbsi_joint_n_cells(joint); i++) {
        sum += (double)count[i] * of(i);
    }
    return fabs(sum / (double)gbsi_joint_total(joint, chain) - *exact);
}

static double statistic_up(const gbsi_joint *joint, uint32_t chain, const void *exact)
{
    return error_of_mean(joint, chain, n_up, exact);
}

static double statistic_last(const gbsi_joint *joint, uint32_t chain, const void *exact)
{
    return error_of_mean(joint, chain, last_up, exact);
}

static gbs_status mean_of(const gbs_model *model, double (*of)(size_t), double *exact,
                          gbs_error *err)
{
    double p[1 << N_SPINS];
    GBSI_PASS(gbsi_joint_exact(model, NULL, 0, NULL, p, err));
    *exact = 0.0;
    for (size_t i = 0; i < (size_t)1 << gbs_model_n_variables(model); i++) {
        *exact += p[i] * of(i);
    }
    return GBS_OK;
}

/* Makes a ring with couplings near 0.5 and fields near 0.2, of standard deviation 0.05. */
static gbs_status make_ring(const laboratory *lab, gbs_model **model, gbs_error *err)
{
    /* half width of a uniform distribution with standard deviation 0.05 */
    const double spread = 0.05 * 1.7320508075688772;
    const gbs_generate_ring_options options = {.variables = N_SPINS,
                                               .coupling = 0.5,
                                               .coupling_spread = spread,
                                               .field = 0.2,
                                               .random_field = spread,
                                               .seed = lab->options->seed};
    return gbs_generate_ring(&options, model, err);
}

/* Runs the two contests of ws-sharing, each on its own model. */
static gbs_status share(laboratory *lab, const experiment *e, uint64_t chains, uint64_t sweeps,
                        result *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_model *ring = NULL;
    gbs_model *complete = NULL;
    r->contest[0] = (lab_contest){.title = "weights by the states of others",
                                  .n = (size_t)e->n_draws,
                                  .contender = e->draw,
                                  .statistic = statistic_up,
                                  .context = &r->exact[0]};
    r->contest[1] = (lab_contest){.title = "weights by bins of the conditional",
                                  .n = (size_t)e->n_bins,
                                  .contender = e->bins,
                                  .statistic = statistic_last,
                                  .context = &r->exact[1]};
    LAB_TRY(make_ring(lab, &ring, err));
    LAB_TRY(mean_of(ring, n_up, &r->exact[0], err));
    LAB_TRY(lab_contest_run(lab, ring, chains, sweeps, &r->contest[0], err));
    LAB_TRY(lab_small_model_make(lab, &lab_complete_weak, &complete, err));
    if (gbs_model_n_variables(complete) > N_SPINS) {
        LAB_TRY(gbsi_fail(err, GBS_ERR_LIMIT, "%s: expected at most %d variables, found %u",
                          lab_complete_weak.file, N_SPINS, gbs_model_n_variables(complete)));
    }
    LAB_TRY(mean_of(complete, last_up, &r->exact[1], err));
    LAB_TRY(lab_contest_run(lab, complete, chains, sweeps, &r->contest[1], err));
cleanup:
    gbs_model_free(ring);
    gbs_model_free(complete);
    return status;
}

enum { RANDOM }; /* number of the random draw in all three experiments */

/* ---- all three experiments ------------------------------------------------------------------- */

static gbs_status run_all(laboratory *lab, const experiment *e, const gbs_model *model,
                          uint64_t chains, uint64_t sweeps, lab_component_curves *parts,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (int d = 0; d < e->n_draws; d++) {
        LAB_TRY(lab_component_curves_run(lab, model, &e->draw[d], chains, sweeps, &parts[d], err));
    }
cleanup:
    return status;
}

static void take_limits(const experiment *e, const lab_component_curves *parts, result *r)
{
    for (int d = 0; d < e->n_draws; d++) {
        r->limit[r->n_limits][d] = lab_component_limit(&parts[d], &parts[RANDOM], LAB_ALL);
    }
    r->n_limits++;
}

static uint64_t fewer(uint64_t sweeps)
{
    return sweeps < MOST_SWEEPS ? sweeps : MOST_SWEEPS;
}

/* Runs the experiment on models from the seeds after the user's seed. */
static gbs_status try_more(laboratory *lab, const experiment *e, uint64_t chains, uint64_t sweeps,
                           result *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    for (unsigned i = 1; i < e->n_models && lab->options->data == NULL; i++) {
        lab_component_curves parts[MOST_DRAWS] = {{0}};
        gbs_model_free(model);
        model = NULL;
        LAB_TRY(lab_small_model_draw(e->model, lab->options->seed + i, &model, err));
        LAB_TRY(run_all(lab, e, model, chains, sweeps, parts, err));
        take_limits(e, parts, r);
    }
cleanup:
    gbs_model_free(model);
    return status;
}

static gbs_status measure(laboratory *lab, const experiment *e, uint64_t chains, uint64_t sweeps,
                          result *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    if (e->model == NULL) {
        return share(lab, e, chains, sweeps, r, err);
    }
    LAB_TRY(lab_small_model_make(lab, e->model, &model, err));
    LAB_TRY(run_all(lab, e, model, chains, sweeps, r->parts, err));
    if (e->n_models > 0) {
        take_limits(e, r->parts, r);
        LAB_TRY(try_more(lab, e, chains, fewer(sweeps), r, err));
    }
cleanup:
    gbs_model_free(model);
    return status;
}

static gbs_status write_table(const laboratory *lab, const experiment *e, const result *r,
                              gbs_error *err)
{
    if (e->model == NULL) {
        return lab_contests_write(lab, "errors.csv", 2, r->contest, err);
    }
    lab_table table = lab_table_open(lab, "components.csv", LAB_COMPONENT_CURVES_HEADER, err);
    for (int d = 0; d < e->n_draws; d++) {
        lab_component_rows(&table, e->model->name, e->draw[d].name, &r->parts[d]);
    }
    return lab_table_close(&table);
}

static gbs_status draw_chart(const laboratory *lab, const experiment *e, const result *r,
                             uint64_t chains, gbs_error *err)
{
    lab_plot plot;
    char source[LAB_SOURCE_TEXT] = "nine spins on a ring, eight all coupled";
    lab_plot_begin(&plot, e->figure, 1);
    if (e->model == NULL) {
        for (size_t k = 0; k < 2; k++) {
            plot.panel[k].title = r->contest[k].title;
            lab_contest_lines(&plot, k, &r->contest[k], false);
        }
    } else {
        (void)lab_small_model_source(lab, e->model, source);
    }
    for (size_t i = 0; i < e->n_shown; i++) {
        const shown *s = &e->shown[i];
        const lab_contender *draw = &e->draw[s->draw];
        lab_plot_line(&plot, s->panel,
                      lab_component_line(&r->parts[s->draw], s->component,
                                         s->label != NULL ? s->label : draw->name, draw->color));
    }
    lab_plot_subtitle(&plot, "%s%s of %u runs", source, e->kind, (unsigned)chains);
    return lab_plot_write(lab, &plot, err);
}

static gbs_status run(laboratory *lab, const experiment *e, gbs_error *err)
{
    const int quick = lab->options->quick != 0;
    const uint64_t sweeps = UINT64_C(1) << e->octaves[quick];
    const uint64_t chains = e->chains[quick];
    gbs_status status = GBS_OK;
    result r = {.exact = {0.0, 0.0}};
    const uint32_t n_spins = e->model != NULL ? e->model->n : N_SPINS;
    const bool more = e->n_models > 0 && lab->options->data == NULL;
    lab_expect(lab, (double)n_spins * (double)chains *
                        ((e->n_draws + e->n_bins) * (double)sweeps +
                         (more ? (e->n_models - 1.0) * e->n_draws * (double)fewer(sweeps) : 0.0)));
    status = measure(lab, e, chains, sweeps, &r, err);
    LAB_KEEP(write_table(lab, e, &r, err));
    LAB_TRY(status);
    LAB_TRY(draw_chart(lab, e, &r, chains, err));
    e->judge(lab, &r);
cleanup:
    lab_contest_free(&r.contest[0]);
    lab_contest_free(&r.contest[1]);
    return status;
}

/* ---- ws-sharing ----------------------------------------------------------------------------- */

enum { HG2 = RANDOM + 1, HG4, HG6, HG8, N_SHARING };

static const lab_contender sharing_draw[] = {
    [RANDOM] = {.name = "random", .color = GBSI_BLUE, .draw = GBS_DRAW_RANDOM},
    [HG2] = {.name = "HG(2)", .color = GBSI_VERMILLION, .draw = GBS_DRAW_HERDED},
    [HG4] = {.name = "HG(4)", .color = GBSI_ORANGE, .draw = GBS_DRAW_HERDED, .ring = 2},
    [HG6] = {.name = "HG(6)", .color = GBSI_PURPLE, .draw = GBS_DRAW_HERDED, .ring = 3},
    [HG8] = {.name = "HG(8)", .color = GBSI_GREEN, .draw = GBS_DRAW_HERDED, .ring = 4},
};

enum { BINS2 = 1, BINS8, BINS32, BINS128, N_SHARING_BINS };

static const lab_contender sharing_bins[] = {
    [RANDOM] = {.name = "random", .color = GBSI_BLUE, .draw = GBS_DRAW_RANDOM},
    [BINS2] = {.name = "2 bins",
               .color = GBSI_VERMILLION,
               .draw = GBS_DRAW_DISCRETIZED,
               .rule = GBS_HERD_PRE,
               .bins = 2},
    [BINS8] = {.name = "8 bins",
               .color = GBSI_ORANGE,
               .draw = GBS_DRAW_DISCRETIZED,
               .rule = GBS_HERD_PRE,
               .bins = 8},
    [BINS32] = {.name = "32 bins",
                .color = GBSI_PURPLE,
                .draw = GBS_DRAW_DISCRETIZED,
                .rule = GBS_HERD_PRE,
                .bins = 32},
    [BINS128] = {.name = "128 bins",
                 .color = GBSI_GREEN,
                 .draw = GBS_DRAW_DISCRETIZED,
                 .rule = GBS_HERD_PRE,
                 .bins = 128},
};

/* Judges the bins. Medians of early errors are multiples of 1 / T; errors after two numbers of
 * sweeps are therefore added. */
static void judge_bins(laboratory *lab, const lab_contest *b, size_t last)
{
    double first[N_SHARING_BINS];
    double end[N_SHARING_BINS];
    for (int d = 0; d < N_SHARING_BINS; d++) {
        first[d] = 0.5 * (b->median[d][6] + b->median[d][7]);
        end[d] = b->median[d][last];
    }
    lab_find(lab,
             LAB_JUDGE(sharing_bins_first, .b2 = first[BINS2], .b8 = first[BINS8],
                       .b32 = first[BINS32], .b128 = first[BINS128], .random = first[RANDOM]),
             "with weights told apart by bins, the mean error after 64 and 128 sweeps is %.2g (2 "
             "bins), %.2g "
             "(8), %.2g (32), %.2g (128) and %.2g (random) (wanted in this order, with 128 bins at "
             "most five sixths of random)",
             first[BINS2], first[BINS8], first[BINS32], first[BINS128], first[RANDOM]);
    lab_find(lab,
             lab->options->quick
                 ? LAB_JUDGE(sharing_bins_quick, .b2 = end[BINS2], .b8 = end[BINS8],
                             .b32 = end[BINS32], .b128 = end[BINS128], .random = end[RANDOM])
                 : LAB_JUDGE(sharing_bins_last, .b2 = end[BINS2], .b8 = end[BINS8],
                             .b32 = end[BINS32], .b128 = end[BINS128], .random = end[RANDOM]),
             "after %.0f sweeps it is %.2g, %.2g, %.2g, %.2g and %.2g (wanted falling up to %s, "
             "with 128 bins at most a tenth of random)",
             b->curves[0].sweeps[last], end[BINS2], end[BINS8], end[BINS32], end[BINS128],
             end[RANDOM],
             lab->options->quick ? "32 bins, the others have not stopped yet" : "128 bins");
}

static void judge_sharing(laboratory *lab, const result *r)
{
    const lab_contest *c = &r->contest[0];
    const size_t last = c->curves[0].n - 1;
    char source[LAB_SOURCE_TEXT];
    /* draws with more weights have not reached their limit in quick runs */
    const int slow = lab->options->quick ? HG4 : HG8;
    lab_find(lab,
             LAB_JUDGE(sharing_first, .hg2 = c->median[HG2][7], .hg4 = c->median[HG4][7],
                       .hg6 = c->median[HG6][7], .hg8 = c->median[HG8][7],
                       .random = c->median[RANDOM][7]),
             "after 128 sweeps the errors rise with the number of weights: HG(2) %.2g, HG(4) "
             "%.2g, HG(6) %.2g, HG(8) %.2g, random %.2g (wanted in this order up to HG(8), "
             "HG(2) at most half of random)",
             c->median[HG2][7], c->median[HG4][7], c->median[HG6][7], c->median[HG8][7],
             c->median[RANDOM][7]);
    lab_find(lab,
             lab->options->quick
                 ? LAB_JUDGE(sharing_last_quick, .hg2 = c->median[HG2][last],
                             .hg4 = c->median[HG4][last])
                 : LAB_JUDGE(sharing_last, .hg2 = c->median[HG2][last], .hg4 = c->median[HG4][last],
                             .hg6 = c->median[HG6][last], .hg8 = c->median[HG8][last]),
             "after %.0f sweeps the order is reversed: HG(2) %.2g, HG(4) %.2g, HG(6) %.2g, HG(8) "
             "%.2g, random %.2g (wanted falling up to %s)",
             c->curves[0].sweeps[last], c->median[HG2][last], c->median[HG4][last],
             c->median[HG6][last], c->median[HG8][last], c->median[RANDOM][last],
             c->contender[slow].name);
    const double slope = lab_log_slope(c->curves[HG2].sweeps, c->median[HG2], last + 1, 3);
    lab_find(lab, LAB_JUDGE(sharing_stops, .slope = slope),
             "the error of HG(2) no longer falls: slope %.2f over the last 2 octaves (wanted above "
             "-0.25)",
             slope);

    judge_bins(lab, &r->contest[1], last);
    lab_note(lab,
             "Couplings and fields of the ring are uniform with the paper's means (0.5, 0.2) and "
             "standard deviation (0.05, which the print gives as a variance). The eight spins: %s.",
             lab_small_model_source(lab, &lab_complete_weak, source));
}

static const experiment sharing = {
    .n_draws = N_SHARING,
    .draw = sharing_draw,
    .bins = sharing_bins,
    .n_bins = N_SHARING_BINS,
    .octaves = {20, 15},
    .chains = {64, 112}, /* many chains, because medians of early errors are noisy */
    .figure = LAB_WS_SHARING_ERRORS,
    .kind = "; medians",
    .judge = judge_sharing,
};

static gbs_status run_sharing(laboratory *lab, gbs_error *err)
{
    return run(lab, &sharing, err);
}

const lab_experiment_row lab_ws_sharing = {
    .about = {.name = "ws-sharing",
              .paper = "Yamashita & Suzuki (2019), Effects of weight sharing",
              .figure = "Figure 1",
              .claim = "the fewer weights there are, the faster the error of herded draws falls at "
                       "first and the larger it is in the end",
              .cost = "2 s quick, 1 min in full; --data: the authors' model of eight spins"},
    .takes_data = true,
    .run = run_sharing,
};

/* ---- ws-beg --------------------------------------------------------------------------------- */

enum { BEG10 = RANDOM + 1, BEG1, HERDED, N_BEG };

static const lab_contender beg_draw[] = {
    [RANDOM] = {.name = "random", .color = GBSI_BLUE, .draw = GBS_DRAW_RANDOM},
    [BEG10] = {.name = "c = 10",
               .color = GBSI_GREEN,
               .draw = GBS_DRAW_BOUNDED_ERROR,
               .threshold = 10.0},
    [BEG1] = {.name = "c = 1",
              .color = GBSI_ORANGE,
              .draw = GBS_DRAW_BOUNDED_ERROR,
              .threshold = 1.0},
    [HERDED] = {.name = "herded", .color = GBSI_VERMILLION, .draw = GBS_DRAW_HERDED},
};

static const shown beg_shown[] = {
    {0, LAB_HERDING, RANDOM, NULL}, {0, LAB_HERDING, BEG10, NULL}, {0, LAB_HERDING, BEG1, NULL},
    {0, LAB_HERDING, HERDED, NULL}, {1, LAB_COR, RANDOM, NULL},    {1, LAB_COR, BEG10, NULL},
    {1, LAB_COR, BEG1, NULL},       {1, LAB_COR, HERDED, NULL},
};

static void judge_beg(laboratory *lab, const result *r)
{
    const lab_component_curves *parts = r->parts;
    const size_t last = parts[RANDOM].n - 1;
    double slope[N_BEG];
    double herding[N_BEG];
    double cor[N_BEG];
    double error[N_BEG];
    for (int d = 0; d < N_BEG; d++) {
        slope[d] = lab_log_slope(parts[d].sweeps, parts[d].mean[LAB_HERDING], last + 1, LAST);
        herding[d] = parts[d].mean[LAB_HERDING][last];
        cor[d] = parts[d].mean[LAB_COR][last];
        error[d] = parts[d].error[LAB_COR][last];
    }
    lab_find(lab,
             LAB_JUDGE(beg_slopes, .c1 = slope[BEG1], .c10 = slope[BEG10], .random = slope[RANDOM]),
             "slopes of D herding: c = 1 %.2f, c = 10 %.2f (wanted at most -0.85 and -0.8), "
             "random %.2f (wanted above -0.7)",
             slope[BEG1], slope[BEG10], slope[RANDOM]);
    lab_find(lab,
             LAB_JUDGE(beg_herding, .herded = herding[HERDED], .c1 = herding[BEG1],
                       .c10 = herding[BEG10], .random = herding[RANDOM]),
             "D herding after %.0f sweeps: herded %.2g, c = 1 %.2g, c = 10 %.2g, random %.2g "
             "(wanted in this order)",
             parts[RANDOM].sweeps[last], herding[HERDED], herding[BEG1], herding[BEG10],
             herding[RANDOM]);
    lab_find(
        lab,
        LAB_JUDGE(beg_cor, .herded = cor[HERDED], .herded_error = error[HERDED], .c1 = cor[BEG1],
                  .c1_error = error[BEG1], .c10 = cor[BEG10], .c10_error = error[BEG10],
                  .random = cor[RANDOM], .random_error = error[RANDOM]),
        "D cor: herded %.2g (standard error %.1g), c = 1 %.2g (%.1g), c = 10 %.2g (%.1g), random "
        "%.2g (%.1g) (wanted: both c nearer to random than to herded, within three standard "
        "errors)",
        cor[HERDED], error[HERDED], cor[BEG1], error[BEG1], cor[BEG10], error[BEG10], cor[RANDOM],
        error[RANDOM]);
}

static const experiment beg = {
    .n_draws = N_BEG,
    .draw = beg_draw,
    .model = &lab_ring_positive,
    .octaves = {21, 18},
    .chains = {16, 16},
    .figure = LAB_WS_BEG_COMPONENTS,
    .kind = "; means",
    .n_shown = sizeof beg_shown / sizeof beg_shown[0],
    .shown = beg_shown,
    .judge = judge_beg,
};

static gbs_status run_beg(laboratory *lab, gbs_error *err)
{
    return run(lab, &beg, err);
}

const lab_experiment_row lab_ws_beg = {
    .about = {.name = "ws-beg",
              .paper = "Yamashita & Suzuki (2019), Effects of weight sharing",
              .figure = "Figure 7",
              .claim = "drawing at random while no weight exceeds a threshold c makes D cor "
                       "smaller than with herding, and D herding still falls as 1/T",
              .cost = "5 s quick, 2 min in full; --data: the authors' models"},
    .takes_data = true,
    .run = run_beg,
};

/* ---- ws-rdhg -------------------------------------------------------------------------------- */

enum { BINS = RANDOM + 1, ROUNDED, N_RDHG };

static const lab_contender rdhg_draw[] = {
    [RANDOM] = {.name = "random", .color = GBSI_BLUE, .draw = GBS_DRAW_RANDOM},
    [BINS] = {.name = "bins",
              .color = GBSI_VERMILLION,
              .draw = GBS_DRAW_DISCRETIZED,
              .rule = GBS_HERD_PRE,
              .bins = 64},
    [ROUNDED] = {.name = "rounded at random",
                 .color = GBSI_GREEN,
                 .draw = GBS_DRAW_RANDOMLY_DISCRETIZED,
                 .bins = 64},
};

static const shown rdhg_shown[] = {
    {0, LAB_ALL, RANDOM, NULL},
    {0, LAB_ALL, BINS, NULL},
    {0, LAB_ALL, ROUNDED, NULL},
    {1, LAB_APPROX, BINS, "D approx of bins"},
    {1, LAB_BIN, ROUNDED, "D bin of rounding"},
    {2, LAB_HERDING, BINS, NULL},
    {2, LAB_HERDING, ROUNDED, NULL},
    {3, LAB_COR, BINS, NULL},
    {3, LAB_COR, ROUNDED, NULL},
};

/* Judges the final error as a mean over models. This error depends on the model, because D cor does
 * not vanish for either kind of bins. */
static void judge_rdhg_limits(laboratory *lab, const result *r)
{
    double rounded = 0.0;
    double bins = 0.0;
    unsigned smaller = 0;
    for (unsigned i = 0; i < r->n_limits; i++) {
        rounded += r->limit[i][ROUNDED] / r->n_limits;
        bins += r->limit[i][BINS] / r->n_limits;
        smaller += r->limit[i][ROUNDED] < r->limit[i][BINS];
    }
    lab_find(
        lab, LAB_JUDGE(rdhg_all, .rounded = rounded, .bins = bins),
        "D all of all chains together, less D all of random draws, tends to %.2g with rounding "
        "at random and to %.2g with bins (wanted: rounding at most three quarters of bins); "
        "these are means of %u %s, and rounding has the smaller value in %u of them",
        rounded, bins, r->n_limits, r->n_limits == 1 ? "model" : "models", smaller);
}

static void judge_rdhg(laboratory *lab, const result *r)
{
    const lab_component_curves *parts = r->parts;
    const size_t last = parts[RANDOM].n - 1;
    const lab_component_curves *bins = &parts[BINS];
    const lab_component_curves *rounded = &parts[ROUNDED];
    const double slope = lab_log_slope(rounded->sweeps, rounded->mean[LAB_BIN], last + 1, LAST);
    lab_find(lab,
             LAB_JUDGE(rdhg_approx, .rounded = rounded->mean[LAB_APPROX][last],
                       .bins = bins->mean[LAB_APPROX][last]),
             "D approx is %.2g with bins and 0 with rounding at random (wanted: this order)",
             bins->mean[LAB_APPROX][last]);
    lab_find(lab, LAB_JUDGE(falls_as_one_over_root_t, .slope = slope),
             "D bin falls with slope %.2f to %.2g (wanted about -0.5)", slope,
             rounded->mean[LAB_BIN][last]);
    const double herding =
        lab_log_slope(rounded->sweeps, rounded->mean[LAB_HERDING], last + 1, LAST);
    lab_find(lab, LAB_JUDGE(components_slope, .slope = herding),
             "D herding of rounding falls with slope %.2f (wanted at most -0.85)", herding);
    judge_rdhg_limits(lab, r);
    lab_note(lab,
             "After %.0f sweeps of one chain D all is %.3g rounded at random, %.3g with bins and "
             "%.3g with random draws: most of it is chance.",
             bins->sweeps[last], rounded->mean[LAB_ALL][last], bins->mean[LAB_ALL][last],
             parts[RANDOM].mean[LAB_ALL][last]);
}

static const experiment rdhg = {
    .n_draws = N_RDHG,
    .draw = rdhg_draw,
    .model = &lab_complete_mixed,
    .octaves = {21, 17},
    .chains = {16, 16},
    .figure = LAB_WS_RDHG_COMPONENTS,
    .n_models = MOST_MODELS,
    .kind = "; 64 bins, rule pre; means",
    .n_shown = sizeof rdhg_shown / sizeof rdhg_shown[0],
    .shown = rdhg_shown,
    .judge = judge_rdhg,
};

static gbs_status run_rdhg(laboratory *lab, gbs_error *err)
{
    return run(lab, &rdhg, err);
}

const lab_experiment_row lab_ws_rdhg = {
    .about =
        {.name = "ws-rdhg",
         .paper = "Yamashita & Suzuki (2019), Effects of weight sharing",
         .figure = "Figure 8",
         .claim =
             "rounding conditionals at random to the edges of bins leaves no D approx, only a part "
             "that falls as 1/sqrt(T); its final error is below that of bins",
         .cost = "4 s quick, 15 s in full; --data: the authors' models"},
    .takes_data = true,
    .run = run_rdhg,
};
