/* SPDX-License-Identifier: Apache-2.0 */
/* Names in newspapers (Chen et al. 2016, section 4.4, table 3): a conditional random field whose
 * most probable labels Viterbi's algorithm finds, sought by annealed Gibbs sampling and by herded
 * Gibbs sampling, which has no temperature and no randomness; the best labels met count. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "lab/experiment_table.h"
#include "lab/news.h"
#include "lab/plot.h"
#include "simd/math.h"

#define N_SWEEPS 3
#define N_SEEDS  5 /* of annealing, as in the paper */

static const uint64_t sweeps[N_SWEEPS] = {100, 400, 800};

/* What one search found. */
typedef struct score {
    double f1;      /* per cent, of entities */
    double met;     /* share of sentences whose most probable labels were met */
    double seconds; /* of all threads */
} score;

typedef struct names {
    gbs_crf *crf;
    gbs_sequences *train, *test;
    uint32_t *best, *label; /* [tokens] */
    score viterbi, herded[N_SWEEPS], annealed[N_SWEEPS][N_SEEDS];
} names;

static void names_free(names *n)
{
    gbs_crf_free(n->crf);
    gbs_sequences_free(n->train);
    gbs_sequences_free(n->test);
    gbsi_free(n->best);
    gbsi_free(n->label);
}

/* ---- data and model -------------------------------------------------------------------------- */

/* Templates into the folder of results, for learning and for whoever wants to do it again. */
static gbs_status write_templates(const laboratory *lab, char **path, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *output = NULL;
    GBSI_TRY(lab_path_in(lab->folder, "template.txt", path, err));
    GBSI_TRY(gbs_output_open(*path, &output, err));
    gbs_output_text(output, lab_news_templates);
    GBSI_TRY(gbs_output_commit(output, err));
cleanup:
    return status;
}

static gbs_status read_data(const laboratory *lab, names *n, char **templates, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char *train = NULL;
    char *test = NULL;
    GBSI_TRY(lab_path_in(lab->options->data, "template.txt", templates, err));
    GBSI_TRY(lab_path_in(lab->options->data, "train.txt", &train, err));
    GBSI_TRY(lab_path_in(lab->options->data, "test.txt", &test, err));
    GBSI_TRY(gbs_sequences_read(train, &n->train, err));
    GBSI_TRY(gbs_sequences_read(test, &n->test, err));
cleanup:
    gbsi_free(train);
    gbsi_free(test);
    return status;
}

static int on_progress(void *context, const gbs_progress *progress)
{
    (void)progress;
    return lab_tell(context, 0.0);
}

static gbs_status learn(laboratory *lab, names *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char *templates = NULL;
    const uint32_t size = lab->options->quick ? 300 : 1500;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = lab, .progress = on_progress};
    const gbs_crf_learn_options options = {
        .size = sizeof options, .l2 = 0.5, .least_count = 2, .threads = lab->options->threads};
    if (lab->options->data != NULL) {
        GBSI_TRY(read_data(lab, n, &templates, err));
    } else {
        GBSI_TRY(write_templates(lab, &templates, err));
        GBSI_TRY(lab_news_make(lab, 0, size, &n->train, err));
        GBSI_TRY(lab_news_make(lab, size, size / 2, &n->test, err));
    }
    lab->what = "learning";
    GBSI_TRY(gbs_crf_learn(templates, GBS_TEMPLATES_WAPITI, n->train, &options, &callbacks, &n->crf,
                           NULL, err));
cleanup:
    gbsi_free(templates);
    return status;
}

/* ---- searches -------------------------------------------------------------------------------- */

/* Sentences that have the labels of Viterbi's algorithm. */
static double share_met(const names *n)
{
    const size_t *first = gbs_sequences_first(n->test);
    const size_t n_sequences = gbs_sequences_n(n->test);
    size_t met = 0;
    for (size_t s = 0; s < n_sequences; s++) {
        met += memcmp(n->label + first[s], n->best + first[s],
                      (first[s + 1] - first[s]) * sizeof *n->label) == 0;
    }
    return (double)met / (double)n_sequences;
}

/* @param run NULL: Viterbi's algorithm. */
static gbs_status label(laboratory *lab, names *n, const gbs_run_options *run, score *s,
                        gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_label_scores *scores = NULL;
    const gbs_label_options options = {
        .size = sizeof options, .threads = lab->options->threads, .run = run};
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = lab, .progress = on_progress};
    gbs_label_report report = {.size = sizeof report};
    GBSI_TRY(
        gbs_crf_label(n->crf, n->test, &options, &callbacks, n->label, NULL, NULL, &report, err));
    if (run == NULL) {
        memcpy(n->best, n->label, gbs_sequences_n_tokens(n->test) * sizeof *n->best);
    }
    GBSI_TRY(gbs_label_scores_new(n->crf, n->test, gbs_sequences_n_columns(n->test) - 1, n->label,
                                  &scores, err));
    *s = (score){.f1 = 100.0 * gbs_label_scores_entities(scores, NULL)[0].f1,
                 .met = share_met(n),
                 .seconds = report.seconds};
    lab->done += (double)report.updates;
cleanup:
    gbs_label_scores_free(scores);
    return status;
}

static gbs_status search(laboratory *lab, names *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run_options run = lab_options(lab, 1, 0);
    run.block_time = 0.0; /* single labels, as in the paper */
    lab->what = "Viterbi";
    GBSI_TRY(label(lab, n, NULL, &n->viterbi, err));
    for (int k = 0; k < N_SWEEPS; k++) {
        run.sweeps = sweeps[k];
        run.draw = GBS_DRAW_HERDED;
        lab->what = "herded";
        GBSI_TRY(label(lab, n, &run, &n->herded[k], err));
        run.draw = GBS_DRAW_RANDOM;
        lab->what = "annealed";
        for (int i = 0; i < N_SEEDS; i++) {
            run.seed = lab->options->seed + (uint64_t)i;
            GBSI_TRY(label(lab, n, &run, &n->annealed[k][i], err));
        }
    }
cleanup:
    return status;
}

/* ---- what is written ---------------------------------------------------------------------------
 */

static double mean_of(const names *n, int k, double (*of)(const score *), double *sd)
{
    double sum = 0.0;
    double square = 0.0;
    for (int i = 0; i < N_SEEDS; i++) {
        sum += of(&n->annealed[k][i]) / N_SEEDS;
    }
    for (int i = 0; i < N_SEEDS; i++) {
        const double away = of(&n->annealed[k][i]) - sum;
        square += away * away / (N_SEEDS - 1);
    }
    if (sd != NULL) {
        *sd = gbsi_sqrt(square);
    }
    return sum;
}

static double f1_of(const score *s)
{
    return s->f1;
}
static double met_of(const score *s)
{
    return s->met;
}

static gbs_status write_tables(const laboratory *lab, const names *n, gbs_error *err)
{
    lab_table table =
        lab_table_open(lab, "scores.csv", "search,sweeps,run,f1,most_probable_met", err);
    lab_table times = lab_table_open(lab, "times.csv", "search,sweeps,run,seconds", err);
    LAB_ROW(&table, "viterbi", NULL, 0, 0, n->viterbi.f1, n->viterbi.met);
    LAB_ROW(&times, "viterbi", NULL, 0, 0, n->viterbi.seconds);
    for (int k = 0; k < N_SWEEPS; k++) {
        const double t = (double)sweeps[k];
        LAB_ROW(&table, "herded", NULL, t, 0, n->herded[k].f1, n->herded[k].met);
        LAB_ROW(&times, "herded", NULL, t, 0, n->herded[k].seconds);
        for (int i = 0; i < N_SEEDS; i++) {
            LAB_ROW(&table, "annealed", NULL, t, i, n->annealed[k][i].f1, n->annealed[k][i].met);
            LAB_ROW(&times, "annealed", NULL, t, i, n->annealed[k][i].seconds);
        }
    }
    const gbs_status scores = lab_table_close(&table);
    const gbs_status seconds = lab_table_close(&times);
    return scores < 0 ? scores : seconds;
}

static gbs_status draw(const laboratory *lab, const names *n, gbs_error *err)
{
    lab_plot plot;
    double x[N_SWEEPS];
    double y[2][2][N_SWEEPS]; /* F1 and share, herded and annealed */
    double low[2][N_SWEEPS];
    double high[2][N_SWEEPS];
    for (int k = 0; k < N_SWEEPS; k++) {
        x[k] = (double)sweeps[k];
        for (int panel = 0; panel < 2; panel++) {
            double sd = 0.0;
            double (*const of)(const score *) = panel == 0 ? f1_of : met_of;
            y[panel][0][k] = of(&n->herded[k]);
            y[panel][1][k] = mean_of(n, k, of, &sd);
            low[panel][k] = y[panel][1][k] - sd;
            high[panel][k] = y[panel][1][k] + sd;
        }
    }
    lab_plot_begin(&plot, LAB_HG_NER_SCORES, 1);
    for (size_t panel = 0; panel < 2; panel++) {
        lab_plot_line(&plot, panel,
                      (gbsi_line){.label = "herded",
                                  .color = GBSI_VERMILLION,
                                  .dots = true,
                                  .n = N_SWEEPS,
                                  .x = x,
                                  .y = y[panel][0]});
        lab_plot_line(&plot, panel,
                      (gbsi_line){.label = "annealed",
                                  .color = GBSI_BLUE,
                                  .dots = true,
                                  .n = N_SWEEPS,
                                  .x = x,
                                  .y = y[panel][1],
                                  .low = low[panel],
                                  .high = high[panel]});
    }
    lab_plot_guide(&plot, 0, (gbsi_guide){"Viterbi", 0.0, x[0], n->viterbi.f1});
    lab_plot_subtitle(&plot, "%zu sentences; annealed: mean and standard deviation of %d runs",
                      gbs_sequences_n(n->test), N_SEEDS);
    return lab_plot_write(lab, &plot, err);
}

static void judge(laboratory *lab, const names *n)
{
    double sd = 0.0;
    const double away = fabs(n->herded[N_SWEEPS - 1].f1 - n->viterbi.f1);
    lab_find(lab, LAB_JUDGE(ner_f1, .herded = n->herded[N_SWEEPS - 1].f1, .viterbi = n->viterbi.f1),
             "after 800 sweeps herded F1 is %.2f, %.2f from Viterbi's (wanted at most 0.1)",
             n->herded[N_SWEEPS - 1].f1, away);
    for (int k = 0; k < N_SWEEPS; k++) {
        const double annealed = mean_of(n, k, met_of, &sd);
        lab_find(lab, LAB_JUDGE(ner_met, .herded = n->herded[k].met, .annealed = annealed),
                 "after %d sweeps herded sampling has met the most probable labels of %.1f %% of "
                 "the sentences, annealed of %.1f %% (%.1f): wanted at least as many",
                 (int)sweeps[k], 100.0 * n->herded[k].met, 100.0 * annealed, 100.0 * sd);
    }
    const double later = mean_of(n, 2, met_of, NULL);
    lab_find(lab, LAB_JUDGE(ner_met, .herded = n->herded[1].met, .annealed = later),
             "herded sampling after 400 sweeps: %.1f %%, annealed after 800: %.1f %% (wanted at "
             "least as many)",
             100.0 * n->herded[1].met, 100.0 * later);
    for (int k = 0; k < N_SWEEPS; k++) {
        const double f1 = mean_of(n, k, f1_of, &sd);
        lab_note(
            lab,
            "after %d sweeps F1 is %.2f (herded), %.2f with standard deviation %.2f (annealed) "
            "and %.2f (Viterbi).",
            (int)sweeps[k], n->herded[k].f1, f1, sd, n->viterbi.f1);
    }
    lab_note(lab, "The paper's model and its whole text are not to be had: %s.",
             lab->options->data != NULL ? "the model is learnt from train.txt"
                                        : "model and sentences are of our own making");
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    gbs_status status = GBS_OK;
    names n = {0};
    LAB_TRY(learn(lab, &n, err));
    const size_t n_tokens = gbs_sequences_n_tokens(n.test);
    n.best = gbsi_alloc_array(n_tokens, sizeof *n.best);
    n.label = gbsi_alloc_array(n_tokens, sizeof *n.label);
    if (n.best == NULL || n.label == NULL) {
        LAB_TRY(gbsi_no_memory(err, "labels", n_tokens * sizeof *n.best));
    }
    lab_expect(lab, (double)n_tokens * (1 + N_SEEDS) * (100.0 + 400.0 + 800.0));
    LAB_TRY(search(lab, &n, err));
    LAB_TRY(write_tables(lab, &n, err));
    LAB_TRY(draw(lab, &n, err));
    judge(lab, &n);
cleanup:
    names_free(&n);
    return status;
}

const lab_experiment_row lab_hg_ner = {
    .about = {.name = "hg-ner",
              .paper = "Chen et al. (2016), Herded Gibbs sampling",
              .figure = "Table 3",
              .claim = "herded Gibbs sampling finds the names that Viterbi's algorithm finds, and "
                       "more of the most probable labels than annealed Gibbs sampling in as many "
                       "sweeps",
              .cost = "2 s quick, 15 s in full; --data: train.txt, test.txt, template.txt"},
    .takes_data = true,
    .run = run,
};
