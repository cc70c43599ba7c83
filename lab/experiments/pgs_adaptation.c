/* SPDX-License-Identifier: Apache-2.0 */
/* Splashes whose growth depends on the state (Gonzalez et al. 2011, appendix C and figures 2 to 4).
 * If the choice of the variables to draw always depends on the state, the target distribution is
 * not invariant. Exact computation, step by step, shows this on two coins and on six spins. If
 * adaptation ends, as it does here with burn-in, the law converges to the target. */
#include "base/memory.h"
#include "gibbsite/generate.h"
#include "lab/experiment_table.h"
#include "lab/plot.h"
#include "lab/six_spins.h"
#include "lab/update_counts.h"
#include "simd/math.h"

#define N_STEPS  1024u
#define LAST     128u /* last adaptive step */
#define N_CHAINS 16

/* ---- two coins (appendix C) ----------------------------------------------------------------- */

/* Tosses one of two fair coins in states a and b; the joint state is 2 a + b. Each coin is chosen
 * with equal probability, except that, if the choice adapts and the coins differ, the coin that
 * shows 1 is chosen with probability 0.9. */
static void step_coins(bool adapts, const double *law, double *next)
{
    for (unsigned x = 0; x < 4; x++) {
        next[x] = 0.0;
    }
    for (unsigned x = 0; x < 4; x++) {
        const double second = !adapts || x == 0 || x == 3 ? 0.5 : x == 1 ? 0.9 : 0.1;
        const double first = 1.0 - second;
        next[x] += 0.5 * law[x];
        next[x ^ 1u] += 0.5 * second * law[x];
        next[x ^ 2u] += 0.5 * first * law[x];
    }
}

/* ---- six spins, splashes of two ------------------------------------------------------------- */

typedef struct spins {
    double p[LAB_N_STATES];
} spins;

/* Coupling of v to its neighbour `root`, as adaptive growth measures it [M36]. */
static double score(const spins *s, unsigned x, unsigned root, unsigned v)
{
    double r[2];
    for (unsigned u = 0; u < 2; u++) {
        const unsigned at = u != 0 ? x | lab_bit_of(root) : x & ~lab_bit_of(root);
        r[u] = s->p[at] / (s->p[at] + s->p[at ^ lab_bit_of(v)]);
    }
    const double ratio = gbsi_log((r[0] + r[1]) / (2.0 * r[0]));
    const double other = gbsi_log((r[0] + r[1]) / (2.0 * r[1]));
    return 0.5 * ((ratio < 0.0 ? -ratio : ratio) + (other < 0.0 ? -other : other));
}

/* Distributes weight over the states of spins u and v in proportion to their conditional given the
 * other spins. */
static void draw_pair(const spins *s, double weight, unsigned x, unsigned u, unsigned v,
                      double *next)
{
    const unsigned base = x & ~(lab_bit_of(u) | lab_bit_of(v));
    const unsigned to[4] = {base, base | lab_bit_of(u), base | lab_bit_of(v),
                            base | lab_bit_of(u) | lab_bit_of(v)};
    const double sum = s->p[to[0]] + s->p[to[1]] + s->p[to[2]] + s->p[to[3]];
    for (unsigned i = 0; i < 4; i++) {
        next[to[i]] += weight * s->p[to[i]] / sum;
    }
}

/* Performs one step of the distribution. A random spin is the root. A random neighbour joins the
 * root, or, if growth adapts, the neighbour with the strongest coupling. */
static void step_spins(const spins *s, bool adapts, const double *law, double *next)
{
    for (unsigned x = 0; x < LAB_N_STATES; x++) {
        next[x] = 0.0;
    }
    for (unsigned x = 0; x < LAB_N_STATES; x++) {
        for (unsigned root = 0; root < LAB_N_SPINS; root++) {
            unsigned near[LAB_N_SPINS];
            unsigned n = 0;
            unsigned best = 0;
            for (unsigned v = 0; v < LAB_N_SPINS; v++) {
                if (lab_adjoin(root, v)) {
                    near[n++] = v;
                }
            }
            for (unsigned i = 1; adapts && i < n; i++) {
                best = score(s, x, root, near[i]) > score(s, x, root, near[best]) ? i : best;
            }
            for (unsigned i = 0; i < n; i++) {
                if (!adapts || i == best) {
                    draw_pair(s, law[x] / LAB_N_SPINS / (adapts ? 1.0 : n), x, root, near[i], next);
                }
            }
        }
    }
}

/* ---- laws step by step ---------------------------------------------------------------------- */

enum { FOR_EVER, ENDS, NEVER, N_KINDS };

static const char *const kind_name[N_KINDS] = {"adapts for ever", "adapts for 128 steps",
                                               "does not adapt"};
static const gbsi_color kind_color[N_KINDS] = {GBSI_VERMILLION, GBSI_BLUE, GBSI_GREEN};

/* Total variation from the target after each step. All weight is on state 0 before the first
 * step. */
typedef struct approach {
    double far[N_KINDS][N_STEPS];
    double shown[N_KINDS][N_STEPS]; /* distances in the chart; NaN for a distance that is too small
                                       to show */
    double limit; /* limit of the total variation from the target if adaptation never ends */
} approach;

static bool adapts_at(int kind, unsigned step)
{
    return kind == FOR_EVER || (kind == ENDS && step < LAST);
}

/* Follows the distribution step by step. @param s NULL for the coins. */
static void follow(const spins *s, approach *a)
{
    static const double fair[4] = {0.25, 0.25, 0.25, 0.25};
    const unsigned n = s != NULL ? LAB_N_STATES : 4;
    for (int kind = 0; kind < N_KINDS; kind++) {
        double law[2][LAB_N_STATES] = {{1.0}};
        for (unsigned t = 0; t < N_STEPS; t++) {
            const double *from = law[t % 2];
            double *to = law[(t + 1) % 2];
            if (s != NULL) {
                step_spins(s, adapts_at(kind, t), from, to);
            } else {
                step_coins(adapts_at(kind, t), from, to);
            }
            const double far = 0.5 * lab_law_distance(to, s != NULL ? s->p : fair, n);
            a->far[kind][t] = far;
            a->shown[kind][t] = lab_law_shown(far);
        }
    }
    a->limit = a->far[FOR_EVER][N_STEPS - 1];
}

/* ---- writing results ------------------------------------------------------------------------ */

typedef struct result {
    approach coins, spins;
    lab_curves curves; /* L1 distance of the library's run from the target */
    double median[LAB_MAX_CHECKPOINTS];
    lab_update_counts map;
} result;

static gbs_status write_table(const laboratory *lab, const result *r, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "laws.csv", "model,growth,step,total_variation", err);
    for (int kind = 0; kind < N_KINDS; kind++) {
        for (unsigned t = 0; t < 2 * N_STEPS; t++) {
            const approach *a = t < N_STEPS ? &r->coins : &r->spins;
            LAB_ROW(&table, t < N_STEPS ? "two coins" : "six spins", kind_name[kind],
                    t % N_STEPS + 1, a->far[kind][t % N_STEPS]);
        }
    }
    return lab_table_close(&table);
}

static gbs_status draw_laws(const laboratory *lab, const result *r, gbs_error *err)
{
    lab_plot plot;
    double step[N_STEPS];
    const size_t last = r->curves.n - 1;
    lab_plot_begin(&plot, LAB_PGS_ADAPTATION_LAWS, 1);
    for (unsigned t = 0; t < N_STEPS; t++) {
        step[t] = t + 1;
    }
    for (int kind = 0; kind < N_KINDS; kind++) {
        gbsi_line line = {.color = kind_color[kind],
                          .dash = kind == NEVER ? GBSI_DASHED : GBSI_SOLID,
                          .n = N_STEPS,
                          .x = step,
                          .y = r->coins.shown[kind]};
        lab_plot_line(&plot, 0, line);
        line.y = r->spins.shown[kind];
        lab_plot_line(&plot, 1, line);
        lab_plot_key(&plot, (gbsi_key){kind_name[kind], kind_color[kind], line.dash, false});
    }
    lab_plot_line(&plot, 2,
                  (gbsi_line){.color = GBSI_BLUE,
                              .dots = true,
                              .n = r->curves.n,
                              .x = r->curves.sweeps,
                              .y = r->median});
    lab_plot_guide(&plot, 2, (gbsi_guide){"adapting for ever", 0.0, 1.0, 2.0 * r->spins.limit});
    lab_plot_guide(&plot, 2, (gbsi_guide){"1/√T", -0.5, r->curves.sweeps[last], r->median[last]});
    return lab_plot_write(lab, &plot, err);
}

static void judge(laboratory *lab, const result *r)
{
    static const double fair[4] = {0.25, 0.25, 0.25, 0.25};
    double one[4];
    step_coins(true, fair, one);
    lab_find(lab, LAB_JUDGE(adaptation_coins, .p00 = one[0], .p11 = one[3]),
             "two coins: an adaptive step from the target gives %.4g, %.4g, %.4g and %.4g (in "
             "print 0.35, 0.25, 0.25 and 0.15)",
             one[0], one[1], one[2], one[3]);
    lab_find(lab, LAB_JUDGE(adaptation_endless, .coins = r->coins.limit, .spins = r->spins.limit),
             "if adaptation never ends, the distribution ends at total variation %.3g (coins) and "
             "%.3g (spins) from the target (wanted above 0.1 and 0.002)",
             r->coins.limit, r->spins.limit);
    lab_find(lab,
             LAB_JUDGE(adaptation_ended, .coins = r->coins.far[ENDS][N_STEPS - 1],
                       .spins = r->spins.far[ENDS][N_STEPS - 1]),
             "896 steps after the end of adaptation it is %.1g and %.1g away (wanted below 1e-9 "
             "and 1e-6)",
             r->coins.far[ENDS][N_STEPS - 1], r->spins.far[ENDS][N_STEPS - 1]);
    const size_t last = r->curves.n - 1;
    const double slope = lab_log_slope(r->curves.sweeps, r->median, r->curves.n, 5);
    lab_find(
        lab,
        LAB_JUDGE(adaptation_run, .error = r->median[last], .endless = 2.0 * r->spins.limit,
                  .slope = slope),
        "a run of this program that adapted for 128 rounds has an error of %.2g after %.0f sweeps, "
        "slope %.2f (wanted below half of %.2g, the error of endless adaptation, and about -0.5)",
        r->median[last], r->curves.sweeps[last], slope, 2.0 * r->spins.limit);
    lab_update_counts_judge(lab, &r->map);
}

static gbs_status measure(laboratory *lab, const gbs_model *model, const spins *s, uint64_t sweeps,
                          result *r, gbs_error *err)
{
    gbs_run_options options = lab_options(lab, N_CHAINS, sweeps);
    options.scan = GBS_SCAN_SPLASH;
    options.width = 1;
    options.splash_size = 2;
    options.splashes = 1;
    options.grow = GBS_GROW_ADAPTIVE;
    options.adapt = LAST;
    options.burn_in = LAST;
    const gbs_status status =
        lab_curves_run(lab, "six spins", model, &options, lab_statistic_l1, s->p, &r->curves, err);
    if (status == GBS_OK) {
        lab_curves_quantile(&r->curves, 0.5, r->median);
    }
    return status;
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    const uint64_t sweeps = UINT64_C(1) << (lab->options->quick ? 14 : 18);
    /* some couplings would make one neighbour the strongest in every state */
    const gbs_generate_ising_options six = {
        .side = {2, 3, 1}, .coupling_spread = 1.0, .random_field = 0.5, .seed = 1};
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    spins s;
    result *r = gbsi_alloc_zero(sizeof *r);
    GBSI_PASS(GBSI_HAVE(err, "pgs-adaptation", r));
    lab_expect(lab, (double)sweeps * LAB_N_SPINS * N_CHAINS + lab_update_counts_updates(lab));
    GBSI_TRY(gbs_generate_ising(&six, &model, err));
    GBSI_TRY(gbsi_joint_exact(model, NULL, 0, NULL, s.p, err));
    follow(NULL, &r->coins);
    follow(&s, &r->spins);
    LAB_TRY(write_table(lab, r, err));
    LAB_TRY(measure(lab, model, &s, sweeps, r, err));
    LAB_TRY(lab_update_counts_run(lab, &r->map, err));
    LAB_TRY(draw_laws(lab, r, err));
    LAB_TRY(lab_update_counts_draw(lab, &r->map, err));
    judge(lab, r);
cleanup:
    lab_curves_free(&r->curves);
    lab_update_counts_free(&r->map);
    gbsi_free(r);
    gbs_model_free(model);
    return status;
}

const lab_experiment_row lab_pgs_adaptation = {
    .about = {.name = "pgs-adaptation",
              .paper = "Gonzalez et al. (2011), Parallel Gibbs sampling",
              .figure = "Figures 2, 3, 4 and appendix C",
              .claim = "splashes that grow towards strongly coupled variables update the edges in "
                       "a picture more often; a sampler that never stops adapting in this way has "
                       "a wrong limit, a sampler that stops has the right limit",
              .cost = "3 s quick, 30 s in full"},
    .run = run,
};
