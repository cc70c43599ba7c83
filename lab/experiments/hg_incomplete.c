/* SPDX-License-Identifier: Apache-2.0 */
/* Four variables on a cycle (Chen et al. 2016, section 4.2). No variable has all others as
 * neighbours, so that herding need not converge. With complete keys the draw converges on this
 * model. */
#include "lab/contest.h"
#include "lab/experiment_table.h"

#define N_VARIABLES 4
#define N_STATES    16
#define LAST        6
#define LEAST_SHOWN 1e-8

enum { RANDOM, HERDED, COMPLETE, N_DRAWS };

static const lab_contender contender[N_DRAWS] = {
    [RANDOM] = {.name = "random", .color = GBSI_BLUE, .draw = GBS_DRAW_RANDOM},
    [HERDED] = {.name = "herded", .color = GBSI_VERMILLION, .draw = GBS_DRAW_HERDED},
    [COMPLETE] = {.name = "herded, complete keys",
                  .color = GBSI_GREEN,
                  .draw = GBS_DRAW_HERDED_COMPLETE},
};

/* Makes a model whose edges have tables of four standard normal log-weights. */
static gbs_status make_model(const laboratory *lab, gbs_model **model, gbs_error *err)
{
    static const uint32_t arity[N_VARIABLES] = {2, 2, 2, 2};
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbs_builder_add_variables(builder, N_VARIABLES, arity, NULL, err));
    for (uint32_t v = 0; v < N_VARIABLES; v++) {
        const uint32_t scope[2] = {v, (v + 1) % N_VARIABLES};
        double logw[4];
        uint32_t table = 0;
        for (uint32_t i = 0; i < 4; i++) {
            logw[i] = lab_normal(lab, LAB_CYCLE, 4 * v + i);
        }
        GBSI_TRY(gbs_builder_add_table(builder, 4, logw, &table, err));
        GBSI_TRY(gbs_builder_add_table_factor(builder, 2, scope, table, err));
    }
    GBSI_TRY(gbs_builder_build(builder, model, err));
cleanup:
    gbs_builder_free(builder);
    return status;
}

static gbs_status draw_chart(const laboratory *lab, const lab_contest *contest, uint64_t chains,
                             gbs_error *err)
{
    lab_plot plot;
    lab_plot_begin(&plot, LAB_HG_INCOMPLETE_ERRORS, 1);
    plot.panel[0].title = contest->title;
    lab_contest_lines(&plot, 0, contest, true);
    lab_plot_subtitle(&plot,
                      "four binary variables, normal log-weights on the edges; median of %u runs, "
                      "half of them in the band",
                      (unsigned)chains);
    return lab_plot_write(lab, &plot, err);
}

/* ---- the final joint distribution (figure 7b) ------------------------------------------------ */

typedef struct joints {
    const double *p; /* [N_STATES] exact probabilities */
    /* for each joint state: exact probability, share by herding with neighbours as keys, and share
     * by herding with complete keys */
    double bar[N_STATES][3];
    double away[N_STATES][2]; /* distances of the two herded shares from the exact probabilities */
    double off[N_DRAWS];      /* largest difference of each draw from the exact probabilities */
    laboratory *lab;
    gbsi_joint *joint;
} joints;

static gbs_status count_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                             const uint32_t *state, gbs_error *err)
{
    const joints *j = context;
    (void)draw;
    (void)log_density;
    return gbsi_joint_add(j->joint, chain, state, err);
}

static int look(void *context, const gbs_progress *progress)
{
    const joints *j = context;
    return lab_tell(j->lab, (double)progress->updates);
}

/* Computes the share of one chain's sweeps in each joint state. */
static gbs_status count_joint(const gbs_model *model, int which, uint64_t sweeps, joints *j,
                              gbs_error *err)
{
    static const uint32_t variable[N_VARIABLES] = {0, 1, 2, 3};
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbs_run_options options = lab_options(j->lab, 1, sweeps);
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = j, .progress = look, .draw = count_draw};
    options.draw = contender[which].draw;
    lab_begin(j->lab, contender[which].name, (double)sweeps * N_VARIABLES);
    GBSI_TRY(gbsi_joint_new(model, N_VARIABLES, variable, 1, &j->joint, err));
    GBSI_TRY(gbs_run_new(model, NULL, &options, &run, err));
    LAB_TRY(gbs_run_execute(run, &callbacks, err));
    for (size_t x = 0; x < N_STATES; x++) {
        const double share = (double)gbsi_joint_counts(j->joint, 0)[x] / (double)sweeps;
        const double off = share < j->p[x] ? j->p[x] - share : share - j->p[x];
        j->bar[x][0] = j->p[x];
        j->bar[x][which == COMPLETE ? 2 : 1] = share;
        j->away[x][which == COMPLETE] = off > LEAST_SHOWN ? off : LEAST_SHOWN;
        j->off[which] = off > j->off[which] ? off : j->off[which];
    }
    j->lab->done += (double)gbs_run_report(run)->updates;

cleanup:
    gbs_run_free(run);
    gbsi_joint_free(j->joint);
    j->joint = NULL;
    return status;
}

static gbs_status draw_joint(const laboratory *lab, const joints *j, uint64_t sweeps,
                             gbs_error *err)
{
    static const gbsi_color color[3] = {GBSI_GREY, GBSI_VERMILLION, GBSI_GREEN};
    static const char *const state[N_STATES] = {"0000", "0001", "0010", "0011", "0100", "0101",
                                                "0110", "0111", "1000", "1001", "1010", "1011",
                                                "1100", "1101", "1110", "1111"};
    const gbsi_bars bars = {.n_groups = N_STATES,
                            .n_series = 3,
                            .group = state,
                            .color = color,
                            .value = &j->bar[0][0]};
    const gbsi_bars off = {.n_groups = N_STATES,
                           .n_series = 2,
                           .group = state,
                           .color = color + 1,
                           .value = &j->away[0][0]};
    lab_plot plot;
    lab_plot_begin(&plot, LAB_HG_INCOMPLETE_JOINT, 1);
    plot.panel[0].bars = &bars;
    plot.panel[1].bars = &off;
    lab_plot_subtitle(&plot, "shares of %.0f sweeps of one chain each", (double)sweeps);
    return lab_plot_write(lab, &plot, err);
}

static gbs_status show_joints(laboratory *lab, const gbs_model *model, const double *p,
                              uint64_t sweeps, joints *j, gbs_error *err)
{
    gbs_status status = GBS_OK;
    *j = (joints){.p = p, .lab = lab};
    LAB_TRY(count_joint(model, HERDED, sweeps, j, err));
    LAB_TRY(count_joint(model, COMPLETE, sweeps, j, err));
    LAB_TRY(draw_joint(lab, j, sweeps, err));

cleanup:
    return status;
}

static void judge(laboratory *lab, const lab_contest *contest, const joints *j)
{
    const lab_curves *c = &contest->curves[HERDED];
    const size_t last = c->n - 1;
    const double herded = lab_log_slope(c->sweeps, contest->median[HERDED], c->n, 4);
    const double complete = lab_log_slope(c->sweeps, contest->median[COMPLETE], c->n, LAST);
    lab_find(lab, LAB_JUDGE(incomplete_stops, .herded = herded, .complete = complete),
             "herded draws stop at %.2g, slope %.2f over the last 3 octaves (wanted at least 0.25 "
             "above that with complete keys)",
             contest->median[HERDED][last], herded);
    lab_find(lab, LAB_JUDGE(falls_as_one_over_t, .slope = complete),
             "with complete keys the slope is %.2f (wanted at most -0.75) and the final error %.2g",
             complete, contest->median[COMPLETE][last]);
    lab_find(lab,
             LAB_JUDGE(incomplete_first, .herded = contest->median[HERDED][10],
                       .random = contest->median[RANDOM][10]),
             "before that herding has the smaller error: after 1024 sweeps %.2g, random draws %.2g",
             contest->median[HERDED][10], contest->median[RANDOM][10]);
    lab_find(lab,
             LAB_JUDGE(incomplete_joint, .herded = j->off[HERDED], .complete = j->off[COMPLETE]),
             "of the joint states in the end, the share of one is off by %.2g with herded draws, "
             "by at most %.2g with complete keys (wanted at least 20 times)",
             j->off[HERDED], j->off[COMPLETE]);
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const uint64_t sweeps = UINT64_C(1) << (lab->options->quick ? 19 : 20);
    const uint64_t chains = lab->options->quick ? 16 : 96;
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    double p[1 << N_VARIABLES];
    joints joints_of;
    lab_contest contest = {.title = "cycle of four",
                           .n = N_DRAWS,
                           .contender = contender,
                           .statistic = lab_statistic_l1,
                           .context = p};
    lab_expect(lab, (double)N_VARIABLES * (double)(sweeps * (N_DRAWS * chains + 2)));
    LAB_TRY(make_model(lab, &model, err));
    LAB_TRY(gbsi_joint_exact(model, NULL, 0, NULL, p, err));
    status = lab_contest_run(lab, model, chains, sweeps, &contest, err);
    LAB_KEEP(lab_contests_write(lab, "errors.csv", 1, &contest, err));
    LAB_TRY(status);
    LAB_TRY(draw_chart(lab, &contest, chains, err));
    LAB_TRY(show_joints(lab, model, p, sweeps, &joints_of, err));
    judge(lab, &contest, &joints_of);
cleanup:
    lab_contest_free(&contest);
    gbs_model_free(model);
    return status;
}

const lab_experiment_row lab_hg_incomplete = {
    .about = {.name = "hg-incomplete",
              .paper = "Chen et al. (2016), Herded Gibbs sampling",
              .figure = "Figure 7",
              .claim = "if some variables share no factor, the error of herded draws first falls "
                       "faster than that of random draws and then stops falling",
              .cost = "4 s quick, 40 s in full"},
    .run = run,
};
