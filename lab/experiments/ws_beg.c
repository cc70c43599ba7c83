/* SPDX-License-Identifier: Apache-2.0 */
/* Herding that leaves the choice to chance while its weights are small (Yamashita & Suzuki 2019,
 * section 5.3, bounded-error Gibbs): the larger the threshold c, the less D cor stays, the later D
 * herding falls. The ring of Figure 3, top. */
#include <stdio.h>

#include "lab/component_curves.h"
#include "lab/experiment_table.h"
#include "lab/small_spin_models.h"

#define LAST 6

enum { RANDOM, BEG10, BEG1, HERDED, N_DRAWS };

static const lab_contender contender[N_DRAWS] = {
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

static gbs_status draw_chart(const laboratory *lab, const lab_component_curves *parts,
                             uint64_t chains, gbs_error *err)
{
    static const lab_component shown[2] = {LAB_HERDING, LAB_COR};
    static const gbsi_guide guide[2] = {{"1/√T", -0.5, 1.0, 1.0}, {"1/T", -1.0, 1.0, 1.0}};
    static const gbsi_guide slow = {"1/√T", -0.5, 1.0, 3.0};
    gbsi_line line[2][N_DRAWS];
    gbsi_panel panel[2];
    char source[LAB_SOURCE_TEXT];
    char subtitle[256];
    for (int i = 0; i < 2; i++) {
        for (int d = 0; d < N_DRAWS; d++) {
            line[i][d] = lab_component_line(&parts[d], shown[i], contender[d].name,
                                            contender[d].color, GBSI_SOLID);
        }
        panel[i] = (gbsi_panel){.title = lab_component_label(shown[i]),
                                .x = {.label = "sweeps T", .log = true},
                                .y = {.label = "L1 distance", .log = true},
                                .n_lines = N_DRAWS,
                                .line = line[i],
                                .n_guides = 2,
                                .guide = guide};
    }
    panel[0].y.low = 1e-6;
    panel[0].y.high = 1.0;
    panel[1].y.low = 1e-3;
    panel[1].y.high = 1.0;
    panel[1].n_guides = 1;
    panel[1].guide = &slow;
    (void)snprintf(subtitle, sizeof subtitle, "%s; means of %u runs",
                   lab_small_model_source(lab, &lab_ring_positive, source), (unsigned)chains);
    const gbsi_figure figure = {
        .title =
            "A little chance takes D cor down; the herding part still falls as 1/T, only later",
        .subtitle = subtitle,
        .description = "Two panels, D herding and D cor against the number of sweeps on "
                       "logarithmic axes, for random draws, bounded-error Gibbs with two "
                       "thresholds, and herding.",
        .panel_width = 300,
        .panel_height = 240,
        .columns = 2,
        .n_panels = 2,
        .panel = panel};
    return lab_chart(lab, "components.svg", &figure, err);
}

static gbs_status write_table(const laboratory *lab, const lab_component_curves *parts,
                              gbs_error *err)
{
    gbs_output *table = NULL;
    const gbs_status status =
        lab_table(lab, "components.csv", LAB_COMPONENT_CURVES_HEADER, &table, err);
    if (status < 0) {
        return status;
    }
    for (int d = 0; d < N_DRAWS; d++) {
        lab_component_rows(table, lab_ring_positive.name, contender[d].name, &parts[d]);
    }
    return gbs_output_commit(table, err);
}

static void judge(laboratory *lab, const lab_component_curves *parts)
{
    const size_t last = parts[RANDOM].n - 1;
    double slope[N_DRAWS];
    double herding[N_DRAWS];
    double cor[N_DRAWS];
    for (int d = 0; d < N_DRAWS; d++) {
        slope[d] = lab_log_slope(parts[d].sweeps, parts[d].mean[LAB_HERDING], last + 1, LAST);
        herding[d] = parts[d].mean[LAB_HERDING][last];
        cor[d] = parts[d].mean[LAB_COR][last];
    }
    lab_find(lab, slope[BEG1] <= -0.85 && slope[BEG10] <= -0.8 && slope[RANDOM] > -0.7,
             "slopes of D herding: c = 1 %.2f, c = 10 %.2f (wanted at most -0.85 and -0.8), "
             "random %.2f (wanted above -0.7)",
             slope[BEG1], slope[BEG10], slope[RANDOM]);
    lab_find(lab,
             herding[HERDED] < herding[BEG1] && herding[BEG1] < herding[BEG10] &&
                 herding[BEG10] < herding[RANDOM],
             "D herding after %.0f sweeps: herded %.2g, c = 1 %.2g, c = 10 %.2g, random %.2g "
             "(wanted in this order)",
             parts[RANDOM].sweeps[last], herding[HERDED], herding[BEG1], herding[BEG10],
             herding[RANDOM]);
    lab_find(lab, cor[BEG1] < cor[HERDED] && cor[BEG10] < cor[HERDED],
             "D cor: herded %.2g, c = 1 %.2g, c = 10 %.2g, random %.2g (wanted less than "
             "herded with both)",
             cor[HERDED], cor[BEG1], cor[BEG10], cor[RANDOM]);
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const uint64_t sweeps = UINT64_C(1) << (lab->options->quick ? 18 : 21);
    const uint64_t chains = 16;
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    lab_component_curves parts[N_DRAWS] = {{.n = 0}};
    lab_expect(lab, 8.0 * N_DRAWS * (double)(sweeps * chains));
    GBSI_TRY(lab_small_model_make(lab, &lab_ring_positive, &model, err));
    for (int d = 0; d < N_DRAWS && status == GBS_OK; d++) {
        GBSI_TRY(
            lab_component_curves_run(lab, model, &contender[d], chains, sweeps, &parts[d], err));
    }
    if (status == GBS_OK) {
        GBSI_TRY(write_table(lab, parts, err));
        GBSI_TRY(draw_chart(lab, parts, chains, err));
        judge(lab, parts);
    }
cleanup:
    gbs_model_free(model);
    return status;
}

const lab_experiment_row lab_ws_beg = {
    .about = {.name = "ws-beg",
              .paper = "Yamashita & Suzuki (2019), Effects of weight sharing",
              .figure = "Figure 7",
              .claim = "choosing at random while weights are below a threshold c makes D cor "
                       "smaller than herding's, and D herding still falls as 1/T",
              .cost = "5 s quick, 2 min in full; --data: the authors' models"},
    .takes_data = true,
    .run = run,
};
