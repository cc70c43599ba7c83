/* SPDX-License-Identifier: Apache-2.0 */
/* Four variables on a cycle (Chen et al. 2016, section 4.2): no variable sees all others, and
 * herding need not converge. With the complete key it does, on the same model. */
#include "lab/contest.h"
#include "lab/experiment_table.h"

#define N_VARIABLES 4
#define LAST        6

enum { RANDOM, HERDED, COMPLETE, N_DRAWS };

static const lab_contender contender[N_DRAWS] = {
    [RANDOM] = {.name = "random", .color = GBSI_BLUE, .draw = GBS_DRAW_RANDOM},
    [HERDED] = {.name = "herded", .color = GBSI_VERMILLION, .draw = GBS_DRAW_HERDED},
    [COMPLETE] = {.name = "herded, complete keys",
                  .color = GBSI_GREEN,
                  .draw = GBS_DRAW_HERDED_COMPLETE},
};

/* A table of four standard normal log-weights on each edge. */
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
                      "four fifths of them in the band",
                      (unsigned)chains);
    return lab_plot_write(lab, &plot, err);
}

static void judge(laboratory *lab, const lab_contest *contest)
{
    const lab_curves *c = &contest->curves[HERDED];
    const size_t last = c->n - 1;
    const double herded = lab_log_slope(c->sweeps, contest->median[HERDED], c->n, 4);
    const double complete = lab_log_slope(c->sweeps, contest->median[COMPLETE], c->n, LAST);
    lab_find(lab, herded > -0.35,
             "herded draws stop at %.2g, slope %.2f over the last 3 "
             "octaves (wanted above -0.35)",
             contest->median[HERDED][last], herded);
    lab_find(lab, complete <= -0.9,
             "with complete keys the slope is %.2f (wanted at most -0.9) and the final error %.2g",
             complete, contest->median[COMPLETE][last]);
    lab_find(lab, contest->median[HERDED][10] < contest->median[RANDOM][10],
             "before that herding has the smaller error: after 1024 sweeps %.2g, random draws %.2g",
             contest->median[HERDED][10], contest->median[RANDOM][10]);
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const uint64_t sweeps = UINT64_C(1) << (lab->options->quick ? 18 : 20);
    const uint64_t chains = lab->options->quick ? 16 : 96;
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    double p[1 << N_VARIABLES];
    lab_contest contest = {.title = "cycle of four",
                           .n = N_DRAWS,
                           .contender = contender,
                           .statistic = lab_statistic_l1,
                           .context = p};
    lab_expect(lab, (double)N_VARIABLES * N_DRAWS * (double)(sweeps * chains));
    LAB_TRY(make_model(lab, &model, err));
    LAB_TRY(gbs_joint_exact(model, NULL, 0, NULL, p, err));
    LAB_TRY(lab_contest_run(lab, model, chains, sweeps, &contest, err));
    LAB_TRY(lab_contests_write(lab, "errors.csv", 1, &contest, err));
    LAB_TRY(draw_chart(lab, &contest, chains, err));
    judge(lab, &contest);
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
              .cost = "2 s quick, 40 s in full"},
    .run = run,
};
