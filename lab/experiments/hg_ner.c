/* SPDX-License-Identifier: Apache-2.0 */
/* Names in newspapers (Chen et al. 2016, section 4.4, table 3): annealed Gibbs sampling and herded
 * Gibbs sampling, which has no temperature and no randomness, search for the most probable labels
 * of a conditional random field. The best labels of the two searches are compared. One of the two
 * random fields is a linear chain over a sentence. Viterbi's algorithm finds the most probable
 * labels of a linear chain. The other random field is the skip chain of figure 10 over a document,
 * which links equal names. A junction tree finds the most probable labels of a skip chain. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "lab/experiment_table.h"
#include "lab/news.h"
#include "lab/plot.h"
#include "simd/math.h"
#include "text/output.h"

#define N_SWEEPS 3
#define N_SEEDS  5 /* number of seeds for annealing, as in the paper */
#define SHOWN    2 /* number of documents that are shown in figure 11 */

static const uint64_t sweeps[N_SWEEPS] = {100, 400, 800};

enum { CHAIN, SKIP_CHAIN, N_FIELDS };
static const char *const field_name[N_FIELDS] = {"chain", "skip chain"};
static const char *const field_sequences[N_FIELDS] = {"sentences", "documents"};
/* Names of the template files, which are read from the folder of results or from the folder of
 * --data. */
static const char *const field_templates[N_FIELDS] = {"template.txt", "skip-template.txt"};
static const char *const field_train[N_FIELDS] = {"train.txt", "skip-train.txt"};
static const char *const field_test[N_FIELDS] = {"test.txt", "skip-test.txt"};

/* Results of one search. */
typedef struct score {
    double f1;      /* F1 of entities in per cent */
    double met;     /* share of sequences whose most probable labels were found */
    double seconds; /* seconds of all threads together */
} score;

/* A conditional random field, its training data, and the labels that were found. */
typedef struct names {
    int field;
    gbs_crf *crf;
    gbs_sequences *train, *test;
    uint32_t *best, *label; /* [tokens] labels of the exact search, and labels of the last search */
    uint64_t n_links;
    uint64_t n_proved; /* number of sequences for which `best` is known to be the most probable
                          labelling */
    score exact, herded[N_SWEEPS], annealed[N_SWEEPS][N_SEEDS];
} names;

static void names_free(names *n)
{
    gbs_crf_free(n->crf);
    gbs_sequences_free(n->train);
    gbs_sequences_free(n->test);
    GBSI_FREE(n->best, n->label);
}

/* ---- data and model -------------------------------------------------------------------------- */

/* Writes the templates into the folder of results, for learning and for readers who repeat the
 * experiment. */
static gbs_status write_templates(const laboratory *lab, int field, char **path, gbs_error *err)
{
    gbs_output *output = NULL;
    GBSI_PASS(lab_path_in(lab->folder, field_templates[field], path, err));
    GBSI_PASS(gbs_output_open(*path, &output, err));
    gbsi_output_text(output, lab_news_templates);
    if (field == SKIP_CHAIN) {
        gbsi_output_text(output, lab_news_links);
    }
    return gbs_output_commit(output, err);
}

static gbs_status read_data(const laboratory *lab, names *n, char **templates, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char *train = NULL;
    char *test = NULL;
    GBSI_TRY(lab_path_in(lab->options->data, field_templates[n->field], templates, err));
    GBSI_TRY(lab_path_in(lab->options->data, field_train[n->field], &train, err));
    GBSI_TRY(lab_path_in(lab->options->data, field_test[n->field], &test, err));
    GBSI_TRY(gbs_sequences_read(train, &n->train, err));
    GBSI_TRY(gbs_sequences_read(test, &n->test, err));
cleanup:
    GBSI_FREE(train, test);
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
    const uint32_t size = lab->options->quick ? 40 : 300; /* number of documents */
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = lab, .progress = on_progress};
    const gbs_crf_learn_options options = {
        .size = sizeof options, .l2 = 0.5, .least_count = 2, .threads = lab->options->threads};
    if (lab->options->data != NULL) {
        GBSI_TRY(read_data(lab, n, &templates, err));
    } else {
        GBSI_TRY(write_templates(lab, n->field, &templates, err));
        GBSI_TRY(lab_news_make(lab, 0, size, n->field == SKIP_CHAIN, &n->train, err));
        GBSI_TRY(lab_news_make(lab, size, size / 2, n->field == SKIP_CHAIN, &n->test, err));
    }
    lab->what = "learning";
    GBSI_TRY(gbs_crf_learn(templates, GBS_TEMPLATES_WAPITI, n->train, &options, &callbacks, &n->crf,
                           NULL, err));
cleanup:
    gbsi_free(templates);
    return status;
}

/* ---- searches -------------------------------------------------------------------------------- */

/* Share of sequences whose labels in n->label are the most probable labels. */
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

/* Finds labels by a search. @param run options of the search; NULL for the exact search, which is a
 * junction tree for a field with links, and Viterbi's algorithm otherwise. */
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
        n->n_links = report.n_links;
        n->n_proved = report.n_proved;
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
    gbs_run_options run = lab_options(lab, 1, 0);
    run.block_time = 0.0; /* single labels are updated, as in the paper */
    lab->what = "most probable labels";
    GBSI_PASS(label(lab, n, NULL, &n->exact, err));
    lab->what = "annealed";
    for (int k = 0; k < N_SWEEPS; k++) {
        run.sweeps = sweeps[k];
        for (int i = 0; i < N_SEEDS; i++) {
            run.seed = lab->options->seed + (uint64_t)i;
            GBSI_PASS(label(lab, n, &run, &n->annealed[k][i], err));
        }
    }
    lab->what = "herded"; /* the herded search is the last, so that its labels remain in n->label */
    run.draw = GBS_DRAW_HERDED;
    for (int k = 0; k < N_SWEEPS; k++) {
        run.sweeps = sweeps[k];
        GBSI_PASS(label(lab, n, &run, &n->herded[k], err));
    }
    return GBS_OK;
}

/* ---- writing results ------------------------------------------------------------------------- */

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

static void add_rows(lab_table *table, lab_table *times, const names *n, const char *search, int k,
                     int run, const score *s)
{
    const double t = k < 0 ? 0.0 : (double)sweeps[k];
    LAB_ROW(table, field_name[n->field], search, t, run, s->f1, s->met);
    LAB_ROW(times, field_name[n->field], search, t, run, s->seconds);
}

static gbs_status write_tables(const laboratory *lab, const names *fields, int n_fields,
                               gbs_error *err)
{
    lab_table table =
        lab_table_open(lab, "scores.csv", "field,search,sweeps,run,f1,most_probable_met", err);
    lab_table times = lab_table_open(lab, "times.csv", "field,search,sweeps,run,seconds", err);
    for (const names *n = fields; n < fields + n_fields; n++) {
        add_rows(&table, &times, n, "exact", -1, 0, &n->exact);
        for (int k = 0; k < N_SWEEPS; k++) {
            add_rows(&table, &times, n, "herded", k, 0, &n->herded[k]);
            for (int i = 0; i < N_SEEDS; i++) {
                add_rows(&table, &times, n, "annealed", k, i, &n->annealed[k][i]);
            }
        }
    }
    const gbs_status scores = lab_table_close(&table);
    const gbs_status seconds = lab_table_close(&times);
    return scores < 0 ? scores : seconds;
}

/* Makes figure 11, which is a text with names in brackets. In front of each name is the kind of
 * thing that has this name. */
static gbs_status write_text(const laboratory *lab, const names *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *output = NULL;
    char *path = NULL;
    const size_t *first = gbs_sequences_first(n->test);
    const size_t n_sequences = gbs_sequences_n(n->test);
    GBSI_TRY(lab_path_in(lab->folder, "names.txt", &path, err));
    GBSI_TRY(gbs_output_open(path, &output, err));
    for (size_t s = 0; s < n_sequences && s < SHOWN; s++) {
        bool open = false;
        for (size_t t = first[s]; t < first[s + 1]; t++) {
            const char *what = gbs_crf_label_name(n->crf, n->label[t]);
            const bool goes_on = open && what[0] == 'I';
            gbsi_output_text(output, open && !goes_on ? "]" : "");
            gbsi_output_text(output, t > first[s] ? " " : "");
            open = goes_on || (what[0] != 'O' && what[1] == '-');
            if (open && !goes_on) {
                gbsi_output_text(output, "[");
                gbsi_output_text(output, what + 2);
                gbsi_output_text(output, " ");
            }
            gbsi_output_text(output, gbs_sequences_text(n->test, t, 0));
        }
        gbsi_output_text(output, open ? "]\n" : "\n");
    }
    GBSI_TRY(gbs_output_commit(output, err));
cleanup:
    gbsi_free(path);
    return status;
}

static gbs_status draw(const laboratory *lab, const names *fields, int n_fields, gbs_error *err)
{
    lab_plot plot;
    double x[N_SWEEPS];
    /* F1 and share of sequences, for herded and annealed search */
    double y[N_FIELDS][2][2][N_SWEEPS];
    double low[N_FIELDS][2][N_SWEEPS];
    double high[N_FIELDS][2][N_SWEEPS];
    lab_plot_begin(&plot, LAB_HG_NER_SCORES, (size_t)n_fields);
    for (int f = 0; f < n_fields; f++) {
        const names *n = &fields[f];
        for (int of_met = 0; of_met < 2; of_met++) {
            double (*const of)(const score *) = of_met ? met_of : f1_of;
            const size_t panel = 2 * (size_t)f + (size_t)of_met;
            for (int k = 0; k < N_SWEEPS; k++) {
                double sd = 0.0;
                x[k] = (double)sweeps[k];
                y[f][of_met][0][k] = of(&n->herded[k]);
                y[f][of_met][1][k] = mean_of(n, k, of, &sd);
                low[f][of_met][k] = y[f][of_met][1][k] - sd;
                high[f][of_met][k] = y[f][of_met][1][k] + sd;
            }
            lab_plot_line(&plot, panel,
                          (gbsi_line){.label = "herded",
                                      .color = GBSI_VERMILLION,
                                      .dots = true,
                                      .n = N_SWEEPS,
                                      .x = x,
                                      .y = y[f][of_met][0]});
            lab_plot_line(&plot, panel,
                          (gbsi_line){.label = "annealed",
                                      .color = GBSI_BLUE,
                                      .dots = true,
                                      .n = N_SWEEPS,
                                      .x = x,
                                      .y = y[f][of_met][1],
                                      .low = low[f][of_met],
                                      .high = high[f][of_met]});
        }
        plot.panel[2 * f].title = f == CHAIN ? "chain: names" : "skip chain: names";
        plot.panel[2 * f + 1].title =
            f == CHAIN ? "chain: labels of Viterbi" : "skip chain: labels of the junction tree";
        lab_plot_guide(&plot, 2 * (size_t)f, (gbsi_guide){"most probable", 0.0, x[0], n->exact.f1});
    }
    lab_plot_subtitle(&plot, "%zu sentences%s; annealed: mean and standard deviation of %d runs",
                      gbs_sequences_n(fields[CHAIN].test),
                      n_fields > SKIP_CHAIN ? ", and the documents that have them" : "", N_SEEDS);
    return lab_plot_write(lab, &plot, err);
}

/* Judges the F1 of a chain, as in table 3, if text and labels are real. A text made by rules is not
 * judged, because less probable labels are right equally often in such a text. */
static void judge_f1(laboratory *lab, const names *n)
{
    int behind = 0;
    double sd = 0.0;
    for (int k = 0; k < N_SWEEPS; k++) {
        const double f1 = mean_of(n, k, f1_of, &sd);
        behind += n->herded[k].f1 < f1;
        if (n->field == CHAIN && lab->options->data != NULL) {
            lab_find(lab,
                     LAB_JUDGE(ner_f1_ahead, .herded = n->herded[k].f1, .annealed = f1,
                               .error = sd / gbsi_sqrt(N_SEEDS)),
                     "%s: after %d sweeps F1 is %.2f (herded) and %.2f, standard deviation %.2f "
                     "(annealed): wanted no less, within two standard errors",
                     field_name[n->field], (int)sweeps[k], n->herded[k].f1, f1, sd);
        } else {
            lab_note(lab,
                     "%s: after %d sweeps F1 is %.2f (herded), %.2f with standard deviation %.2f "
                     "(annealed) and %.2f (most probable labels).",
                     field_name[n->field], (int)sweeps[k], n->herded[k].f1, f1, sd, n->exact.f1);
        }
    }
    if (behind > 0 && n->field == CHAIN && lab->options->data == NULL) {
        lab_note(lab,
                 "On this text of our own F1 goes the other way than in the paper's Table 3 at %d "
                 "of %d numbers of sweeps: annealing, which meets fewer of the most probable "
                 "labels, is ahead.",
                 behind, N_SWEEPS);
    }
}

static void judge(laboratory *lab, const names *n)
{
    double sd = 0.0;
    const char *what = field_name[n->field];
    const double away = fabs(n->herded[N_SWEEPS - 1].f1 - n->exact.f1);
    if (n->field == CHAIN) { /* the numbers in the paper are for linear chains */
        lab_find(
            lab, LAB_JUDGE(ner_f1, .herded = n->herded[N_SWEEPS - 1].f1, .exact = n->exact.f1),
            "%s: after 800 sweeps herded F1 is %.2f, %.2f from that of the most probable labels "
            "(wanted at most 0.1)",
            what, n->herded[N_SWEEPS - 1].f1, away);
    }
    for (int k = 0; k < N_SWEEPS; k++) {
        const double annealed = mean_of(n, k, met_of, &sd);
        lab_find(lab, LAB_JUDGE(ner_met, .herded = n->herded[k].met, .annealed = annealed),
                 "%s: after %d sweeps herded sampling has met the most probable labels of %.1f %% "
                 "of the %s, annealed of %.1f %% (%.1f): wanted at least as many",
                 what, (int)sweeps[k], 100.0 * n->herded[k].met, field_sequences[n->field],
                 100.0 * annealed, 100.0 * sd);
    }
    const double later = mean_of(n, 2, met_of, NULL);
    lab_find(lab, LAB_JUDGE(ner_met, .herded = n->herded[1].met, .annealed = later),
             "%s: herded sampling after 400 sweeps: %.1f %%, annealed after 800: %.1f %% (wanted "
             "at least as many)",
             what, 100.0 * n->herded[1].met, 100.0 * later);
    judge_f1(lab, n);
}

/* Judges the effect of links between equal names. The effect depends on the text; the generated
 * text is made so that links help. */
static void judge_links(laboratory *lab, const names *chain, const names *skip)
{
    if (lab->options->data == NULL) {
        lab_find(lab, LAB_JUDGE(ner_links, .chain = chain->exact.f1, .skip = skip->exact.f1),
                 "%" PRIu64 " links of equal names raise the F1 of the most probable labels from "
                 "%.2f to %.2f (wanted: a rise)",
                 skip->n_links, chain->exact.f1, skip->exact.f1);
    }
    lab_note(lab,
             "Of the skip chain, %" PRIu64 " links in %zu documents, junction trees prove the "
             "labels of %" PRIu64
             "; F1 of the most probable labels known is %.2f, %.2f of the chain.",
             skip->n_links, gbs_sequences_n(skip->test), skip->n_proved, skip->exact.f1,
             chain->exact.f1);
}

static gbs_status run_field(laboratory *lab, names *n, gbs_error *err)
{
    GBSI_PASS(learn(lab, n, err));
    const size_t n_tokens = gbs_sequences_n_tokens(n->test);
    n->best = gbsi_alloc_array(n_tokens, sizeof *n->best);
    n->label = gbsi_alloc_array(n_tokens, sizeof *n->label);
    GBSI_PASS(GBSI_HAVE(err, "labels", n->best, n->label));
    lab_expect(lab, lab->done + (double)n_tokens * (1 + N_SEEDS) * (100.0 + 400.0 + 800.0));
    return search(lab, n, err);
}

/* Counts the fields. Files of the user may have templates of a linear chain only. */
static gbs_status count_fields(const laboratory *lab, int *n_fields, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char *path = NULL;
    *n_fields = N_FIELDS;
    if (lab->options->data != NULL) {
        GBSI_TRY(lab_path_in(lab->options->data, field_templates[SKIP_CHAIN], &path, err));
        *n_fields = access(path, F_OK) == 0 ? N_FIELDS : SKIP_CHAIN;
    }
cleanup:
    gbsi_free(path);
    return status;
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    gbs_status status = GBS_OK;
    names fields[N_FIELDS] = {{.field = CHAIN}, {.field = SKIP_CHAIN}};
    int n_fields = 0;
    LAB_TRY(count_fields(lab, &n_fields, err));
    for (int f = 0; f < n_fields; f++) {
        LAB_TRY(run_field(lab, &fields[f], err));
    }
    LAB_TRY(write_tables(lab, fields, n_fields, err));
    LAB_TRY(write_text(lab, &fields[n_fields - 1], err));
    LAB_TRY(draw(lab, fields, n_fields, err));
    for (int f = 0; f < n_fields; f++) {
        judge(lab, &fields[f]);
    }
    if (n_fields > SKIP_CHAIN) {
        judge_links(lab, &fields[CHAIN], &fields[SKIP_CHAIN]);
    }
    lab_note(lab, "The paper's model and its whole text are not to be had: %s.",
             lab->options->data != NULL ? "the models are learnt from the files given"
                                        : "models and documents are of our own making");
cleanup:
    for (int f = 0; f < N_FIELDS; f++) {
        names_free(&fields[f]);
    }
    return status;
}

const lab_experiment_row lab_hg_ner = {
    .about = {.name = "hg-ner",
              .paper = "Chen et al. (2016), Herded Gibbs sampling",
              .figure = "Table 3, Figures 10 and 11",
              .claim = "herded Gibbs sampling finds the names that Viterbi's algorithm finds, and "
                       "more of the most probable labels than annealed Gibbs sampling in as many "
                       "sweeps",
              .cost = "5 s quick, 50 s in full; --data: train.txt, test.txt, template.txt; for the "
                      "skip chain the same after skip-; F1 is then judged as well"},
    .takes_data = true,
    .run = run,
};
