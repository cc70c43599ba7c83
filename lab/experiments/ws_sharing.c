/* SPDX-License-Identifier: Apache-2.0 */
/* Fewer weights are faster first and stop sooner (Yamashita & Suzuki 2019, section 3.2): nine spins
 * on a ring, herding told apart by the states of 2, 4, 6 or all 8 others, HG(2) to HG(8). */
#include <math.h>
#include <stdio.h>

#include "gibbsite/generate.h"
#include "lab/contest.h"
#include "lab/experiment_table.h"

#define N_SPINS 9

enum { RANDOM, HG2, HG4, HG6, HG8, N_DRAWS };

static const lab_contender contender[N_DRAWS] = {
    [RANDOM] = {.name = "random", .color = GBSI_BLUE, .draw = GBS_DRAW_RANDOM},
    [HG2] = {.name = "HG(2)", .color = GBSI_VERMILLION, .draw = GBS_DRAW_HERDED},
    [HG4] = {.name = "HG(4)", .color = GBSI_ORANGE, .draw = GBS_DRAW_HERDED, .ring = 2},
    [HG6] = {.name = "HG(6)", .color = GBSI_PURPLE, .draw = GBS_DRAW_HERDED, .ring = 3},
    [HG8] = {.name = "HG(8)", .color = GBSI_GREEN, .draw = GBS_DRAW_HERDED, .ring = 4},
};

/* How many of the spins are up. */
static double n_up(size_t cell)
{
    double n = 0.0;
    for (; cell > 0; cell >>= 1) {
        n += (double)(cell & 1);
    }
    return n;
}

/* Error of the mean number of spins up. @param context its exact value. */
static double statistic_up(const gbs_joint *joint, uint32_t chain, const void *context)
{
    const uint64_t *count = gbs_joint_counts(joint, chain);
    double sum = 0.0;
    for (size_t i = 0; i < gbs_joint_n_cells(joint); i++) {
        sum += (double)count[i] * n_up(i);
    }
    return fabs(sum / (double)gbs_joint_total(joint, chain) - *(const double *)context);
}

/* Couplings about 0.5, fields about 0.2, deviation 0.05. */
static gbs_status make_model(const laboratory *lab, double *exact, gbs_model **model,
                             gbs_error *err)
{
    const double spread = 0.05 * 1.7320508075688772; /* of a uniform number */
    double p[1 << N_SPINS];
    const gbs_generate_ring_options options = {.variables = N_SPINS,
                                               .coupling = 0.5,
                                               .coupling_spread = spread,
                                               .field = 0.2,
                                               .random_field = spread,
                                               .seed = lab->options->seed};
    gbs_status status = gbs_generate_ring(&options, model, err);
    if (status >= 0) {
        status = gbs_joint_exact(*model, NULL, 0, NULL, p, err);
    }
    *exact = 0.0;
    for (size_t i = 0; status >= 0 && i < 1 << N_SPINS; i++) {
        *exact += p[i] * n_up(i);
    }
    return status;
}

static gbs_status draw_chart(const laboratory *lab, lab_contest *contest, uint64_t chains,
                             gbs_error *err)
{
    static const gbsi_guide guide[2] = {{"1/√T", -0.5, 1.0, 4.0}, {"1/T", -1.0, 1.0, 20.0}};
    char subtitle[160];
    const gbsi_panel panel =
        lab_contest_panel(contest, false, "error of the mean number of spins up", 2, guide);
    (void)snprintf(
        subtitle, sizeof subtitle,
        "nine spins on a ring, weights told apart by the states of 2 to 8 others; median "
        "of %u runs",
        (unsigned)chains);
    const gbsi_figure figure = {
        .title = "The more states share a herding weight, the faster first and the sooner it stops",
        .subtitle = subtitle,
        .description = "Error of the mean number of spins up against the number of sweeps, on "
                       "logarithmic axes, for random draws and herding with four sets of keys.",
        .panel_width = 480,
        .panel_height = 320,
        .columns = 1,
        .n_panels = 1,
        .panel = &panel};
    return lab_chart(lab, "errors.svg", &figure, err);
}

/* Whether the medians of HG(2), HG(4), ... up to `last` rise (or fall) at a checkpoint. */
static bool in_order(const lab_contest *c, size_t checkpoint, int last, bool rising)
{
    for (int d = HG2; d < last; d++) {
        const double a = c->median[d][checkpoint];
        const double b = c->median[d + 1][checkpoint];
        if (rising ? a > 1.15 * b : a < b) { /* early errors are large and their medians noisy */
            return false;
        }
    }
    return true;
}

static void judge(laboratory *lab, const lab_contest *c)
{
    const size_t last = c->curves[0].n - 1;
    const int slow = lab->options->quick ? HG4 : HG8; /* the others have not stopped yet */
    lab_find(lab, in_order(c, 7, HG8, true) && 2.0 * c->median[HG2][7] < c->median[RANDOM][7],
             "after 128 sweeps the errors rise with the number of weights: HG(2) %.2g, HG(4) "
             "%.2g, HG(6) %.2g, HG(8) %.2g, random %.2g (wanted in this order up to HG(8), "
             "HG(2) at most half of random)",
             c->median[HG2][7], c->median[HG4][7], c->median[HG6][7], c->median[HG8][7],
             c->median[RANDOM][7]);
    lab_find(lab, in_order(c, last, slow, false),
             "after %.0f the order is turned: HG(2) %.2g, HG(4) %.2g, HG(6) %.2g, HG(8) %.2g, "
             "random %.2g (wanted falling up to %s)",
             c->curves[0].sweeps[last], c->median[HG2][last], c->median[HG4][last],
             c->median[HG6][last], c->median[HG8][last], c->median[RANDOM][last],
             contender[slow].name);
    const double slope = lab_log_slope(c->curves[HG2].sweeps, c->median[HG2], last + 1, 3);
    lab_find(lab, slope > -0.5, "HG(2) has stopped: slope %.2f over the last 2 octaves", slope);
    lab_note(lab, "Couplings and fields are uniform with the paper's means (0.5, 0.2) and "
                  "standard deviation (0.05, which the print gives as a variance).");
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const uint64_t sweeps = UINT64_C(1) << (lab->options->quick ? 15 : 20);
    const uint64_t chains = lab->options->quick ? 48 : 64;
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    double exact = 0.0;
    lab_contest contest = {.title = "ring of nine",
                           .n = N_DRAWS,
                           .contender = contender,
                           .statistic = statistic_up,
                           .context = &exact};
    lab_expect(lab, (double)N_SPINS * N_DRAWS * (double)(sweeps * chains));
    GBSI_TRY(make_model(lab, &exact, &model, err));
    GBSI_TRY(lab_contest_run(lab, model, chains, sweeps, &contest, err));
    if (status == GBS_OK) {
        GBSI_TRY(lab_contests_write(lab, "errors.csv", 1, &contest, err));
        GBSI_TRY(draw_chart(lab, &contest, chains, err));
        judge(lab, &contest);
    }
cleanup:
    lab_contest_free(&contest);
    gbs_model_free(model);
    return status;
}

const lab_experiment_row lab_ws_sharing = {
    .about = {.name = "ws-sharing",
              .paper = "Yamashita & Suzuki (2019), Effects of weight sharing",
              .figure = "Figure 1",
              .claim = "the fewer weights there are, the faster the error of herded draws falls at "
                       "first and the larger it is in the end",
              .cost = "2 s quick, 1 min in full"},
    .run = run,
};
