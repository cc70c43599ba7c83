/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts the middle of a picture into regions by the Markov field aspect model of 31 x 20 patches
 * (Mitliagkas & Mackey 2017, section 5.5, figure 7). A scan optimised for the rectangle of 12 x 8
 * patches in the middle is as good for these patches as a systematic scan of all patches. The label
 * of a patch is its most frequent state so far. The error is the share of the patches in this
 * rectangle that have a wrong label. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/segment.h"
#include "lab/experiment_table.h"
#include "lab/plot.h"
#include "lab/spin_grid_scans.h"
#include "lab/textures.h"
#include "simd/math.h"
#include "text/output.h"

enum {
    ROWS = 20, /* numbers of rows and columns of patches */
    COLUMNS = 31,
    PATCHES = ROWS * COLUMNS,
    PASSES = 30,
    CHAINS = 8,
    MOST_PICTURES = 48, /* largest number of pictures for the test */
    SYSTEMATIC = 0,
    OPTIMISED = 1,
    N_SCANS = 2,
    ALONE = 2, /* number that means, in place of a scan, the labels of patches that are classified
                  without their neighbours */
    NOTHING = 3,
};

static const gbs_rectangle middle = {.row = 6, .column = 9, .rows = 8, .columns = 12};
static const char *const scan_name[N_SCANS] = {"systematic", "DoGS"};

typedef struct cutting {
    laboratory *lab;
    uint32_t n_training, n_pictures;
    gbs_aspects *aspects;
    gbs_segment *segment;
    gbs_image picture, truth;
    uint32_t *sequence; /* [n_updates] optimised scan, which all pictures share */
    size_t n_updates;
    /* Dobrushin variation of the rectangle after each scan, from certificates */
    double variation[N_SCANS];
    uint32_t *count; /* [CHAINS][PATCHES][LAB_TEXTURES] number of passes of the current run with
                        each label */
    uint32_t label[PATCHES]; /* labels from the current chain */
    /* [MOST_PICTURES] mean error over chains after each pass of the current scan */
    double (*of_run)[PASSES];
    double error[N_SCANS][MOST_PICTURES][PASSES];
    double alone[MOST_PICTURES];
    uint32_t at; /* index of the current picture */
    gbs_image shown[3];
} cutting;

static void cutting_free(cutting *c)
{
    gbs_segment_free(c->segment);
    gbs_aspects_free(c->aspects);
    gbs_image_free(&c->picture);
    gbs_image_free(&c->truth);
    gbs_free(c->sequence);
    gbsi_free(c->count);
    for (int k = 0; k < 3; k++) {
        gbs_image_free(&c->shown[k]);
    }
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Writes a picture and its line in the list: the name of the picture, and the classes in the
 * picture. */
static gbs_status write_picture(const cutting *c, uint32_t k, gbs_output *list, uint8_t *class_of,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    char name[32];
    char *path = NULL;
    gbs_image image = {0};
    unsigned shown = 0;
    (void)snprintf(name, sizeof name, "training-%02u.png", k);
    GBSI_TRY(lab_path_in(c->lab->folder, name, &path, err));
    GBSI_TRY(lab_textures_make(c->lab, k, &image, class_of, err));
    GBSI_TRY(gbs_image_write(&image, path, NULL, err));
    gbsi_output_text(list, name);
    for (size_t i = 0; i < (size_t)image.width * image.height; i++) {
        shown |= 1u << class_of[i];
    }
    for (uint32_t a = 0; a < LAB_TEXTURES; a++) {
        gbsi_output_text(list, (shown & 1u << a) != 0 ? " " : "");
        gbsi_output_text(list, (shown & 1u << a) != 0 ? lab_texture_name[a] : "");
    }
    gbsi_output_text(list, "\n");
cleanup:
    gbs_image_free(&image);
    gbsi_free(path);
    return status;
}

static int on_progress(void *context, const gbs_progress *progress)
{
    (void)progress;
    return lab_tell(context, 0.0);
}

static gbs_status learn(cutting *c, uint8_t *class_of, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char *path = NULL;
    gbs_output *list = NULL;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = c->lab, .progress = on_progress};
    const gbs_aspect_options options = {.size = sizeof options,
                                        .threads = c->lab->options->threads,
                                        .seed = c->lab->options->seed,
                                        .texture_words = 100,
                                        .color_words = 20};
    GBSI_TRY(lab_path_in(c->lab->folder, "training.txt", &path, err));
    GBSI_TRY(gbs_output_open(path, &list, err));
    for (uint32_t k = 0; k < c->n_training; k++) {
        GBSI_TRY(write_picture(c, k, list, class_of, err));
    }
    status = gbs_output_commit(list, err);
    list = NULL;
    GBSI_TRY(status);
    c->lab->what = "learning";
    GBSI_TRY(gbs_aspects_learn(path, &options, &callbacks, &c->aspects, NULL, err));
cleanup:
    gbs_output_discard(list);
    gbsi_free(path);
    return status;
}

/* Converts the true classes to the numbers that learning gave the classes. A class that no picture
 * shows has no number. */
static gbs_status make_truth(cutting *c, const uint8_t *class_of, gbs_error *err)
{
    uint16_t number[LAB_TEXTURES];
    for (uint32_t a = 0; a < LAB_TEXTURES; a++) {
        number[a] = 255;
        for (uint32_t b = 0; b < gbs_aspects_n_classes(c->aspects); b++) {
            if (strcmp(gbs_aspects_class_name(c->aspects, b), lab_texture_name[a]) == 0) {
                number[a] = (uint16_t)b;
            }
        }
    }
    const gbs_status status =
        gbs_image_new(GBS_IMAGE_GREY, c->picture.width, c->picture.height, 255, 0, &c->truth, err);
    for (size_t i = 0; i < (size_t)c->picture.width * c->picture.height && status >= 0; i++) {
        c->truth.sample[i] = number[class_of[i]];
    }
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Computes the share of patches in the rectangle that have a wrong label. */
static gbs_status error_of(const cutting *c, const uint32_t *label, double *error, gbs_error *err)
{
    gbs_segment_score score[LAB_TEXTURES + 1];
    const uint32_t k = gbs_aspects_n_classes(c->aspects);
    const gbs_status status =
        gbs_segment_compare(c->segment, &c->truth, label, &middle, score, err);
    *error = status < 0 ? 0.0 : 1.0 - (double)score[k].n_right / (double)score[k].n_patches;
    return status;
}

/* Called after each pass: finds the most frequent state of each patch so far. */
static gbs_status on_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                          const uint32_t *state, gbs_error *err)
{
    cutting *c = context;
    const uint32_t *alone = gbs_segment_alone(c->segment);
    double error = 0.0;
    uint32_t *count = c->count + (size_t)chain * PATCHES * LAB_TEXTURES;
    (void)log_density;
    for (size_t i = 0; i < PATCHES; i++) {
        uint32_t *of_patch = count + i * LAB_TEXTURES;
        /* used for patches that no update has visited */
        uint32_t best = state[i] < LAB_TEXTURES ? state[i] : alone[i];
        of_patch[best]++;
        for (uint32_t a = 0; a < LAB_TEXTURES; a++) {
            best = of_patch[a] > of_patch[best] ? a : best;
        }
        c->label[i] = best;
    }
    const gbs_status status = error_of(c, c->label, &error, err);
    c->of_run[c->at][draw] += error / CHAINS;
    return status;
}

static gbs_status run_scan(cutting *c, const gbs_model *model, int scan, gbs_error *err)
{
    gbs_run_options options = lab_options(c->lab, CHAINS, PASSES);
    options.temper = GBS_TEMPER_OFF;
    options.start = gbs_segment_alone(c->segment);
    if (scan == OPTIMISED) {
        options.scan = GBS_SCAN_SEQUENCE;
        options.sequence = c->sequence;
        options.sequence_length = c->n_updates;
        options.partial_scan = 1;
        options.estimator = GBS_ESTIMATOR_RAO_BLACKWELL; /* a partial scan needs this estimator */
    }
    c->of_run = c->error[scan];
    memset(c->count, 0, (size_t)CHAINS * PATCHES * LAB_TEXTURES * sizeof *c->count);
    return lab_run(c->lab, scan_name[scan], model, &options, on_draw, c, NULL, err);
}

/* Draws the first picture, and over it the labels of its patches without neighbours, and the last
 * labels of a chain. */
static gbs_status show(cutting *c, gbs_error *err)
{
    GBSI_PASS(gbs_segment_draw(c->segment, &c->picture, gbs_segment_alone(c->segment), &middle,
                               GBS_SEGMENT_OVERLAY, &c->shown[1], err));
    GBSI_PASS(gbs_segment_draw(c->segment, &c->picture, c->label, &middle, GBS_SEGMENT_OVERLAY,
                               &c->shown[2], err));
    c->shown[0] = c->picture;
    c->picture = (gbs_image){0};
    return GBS_OK;
}

/* Finds the scan of the rectangle, and the bounds of this scan and of the systematic scan for the
 * rectangle. */
static gbs_status make_scan(cutting *c, const gbs_model *model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_influences *influences = NULL;
    const uint64_t all = PATCHES;
    double weight[PATCHES] = {0.0};
    for (uint32_t i = 0; i < middle.rows * middle.columns; i++) {
        const uint32_t row = middle.row + i / middle.columns;
        weight[row * COLUMNS + middle.column + i % middle.columns] = 1.0;
    }
    GBSI_TRY(gbs_segment_scan(c->segment, &middle, lab_is_stopped, c->lab, &c->sequence,
                              &c->n_updates, NULL, err));
    GBSI_TRY(gbs_influences_new(model, NULL, NULL, &influences, err));
    GBSI_TRY(lab_scan_bounds(influences, GBS_SCAN_SYSTEMATIC, 0, weight, 1, &all,
                             &c->variation[SYSTEMATIC], err));
    GBSI_TRY(lab_sequence_bound(influences, weight, c->sequence, c->n_updates,
                                &c->variation[OPTIMISED], err));
cleanup:
    gbs_influences_free(influences);
    return status;
}

static gbs_status cut(cutting *c, uint8_t *class_of, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    const gbs_segment_options options = {.size = sizeof options,
                                         .threads = c->lab->options->threads,
                                         .coupling = GBS_SEGMENT_COUPLING};
    gbs_segment_free(c->segment);
    gbs_image_free(&c->picture);
    gbs_image_free(&c->truth);
    c->segment = NULL;
    GBSI_TRY(lab_textures_make(c->lab, 1000 + c->at, &c->picture, class_of, err));
    GBSI_TRY(make_truth(c, class_of, err));
    GBSI_TRY(gbs_segment_new(c->aspects, &c->picture, &options, NULL, &c->segment, err));
    GBSI_TRY(error_of(c, gbs_segment_alone(c->segment), &c->alone[c->at], err));
    GBSI_TRY(gbs_segment_model(c->segment, &model, err));
    if (c->sequence == NULL) {
        GBSI_TRY(make_scan(c, model, err));
    }
    for (int scan = 0; scan < N_SCANS; scan++) {
        LAB_TRY(run_scan(c, model, scan, err));
    }
    if (c->at == 0) {
        GBSI_TRY(show(c, err));
    }
cleanup:
    gbs_model_free(model);
    return status;
}

/* ---- writing results ------------------------------------------------------------------------- */

/* Difference between the errors of two scans in a picture. In place of a scan, ALONE means the
 * labels of patches without neighbours, and NOTHING means an error of 0. */
static double error_in(const cutting *c, int scan, int other, int pass, uint32_t picture)
{
    const double of_scan = scan == ALONE ? c->alone[picture] : c->error[scan][picture][pass];
    return of_scan - (other == NOTHING ? 0.0
                      : other == ALONE ? c->alone[picture]
                                       : c->error[other][picture][pass]);
}

/* Mean of error_in() over pictures, and its standard error. */
static double mean_of(const cutting *c, int scan, int other, int pass, double *error)
{
    double sum = 0.0;
    double square = 0.0;
    for (uint32_t k = 0; k < c->n_pictures; k++) {
        sum += error_in(c, scan, other, pass, k) / c->n_pictures;
    }
    for (uint32_t k = 0; k < c->n_pictures; k++) {
        const double away = error_in(c, scan, other, pass, k) - sum;
        square += away * away / ((double)c->n_pictures * (c->n_pictures - 1));
    }
    *error = gbsi_sqrt(square);
    return sum;
}

static double updates_of(const cutting *c, int scan)
{
    return scan == OPTIMISED ? (double)c->n_updates : (double)PATCHES;
}

static gbs_status write_table(const cutting *c, gbs_error *err)
{
    lab_table table =
        lab_table_open(c->lab, "errors.csv", "scan,passes,updates,error,standard_error", err);
    double of_alone = 0.0;
    const double alone = mean_of(c, ALONE, NOTHING, 0, &of_alone);
    LAB_ROW(&table, "PLSA", NULL, 0, 0, alone, of_alone);
    for (int scan = 0; scan < N_SCANS; scan++) {
        for (int pass = 0; pass < PASSES; pass++) {
            double error = 0.0;
            const double mean = mean_of(c, scan, NOTHING, pass, &error);
            LAB_ROW(&table, scan_name[scan], NULL, pass + 1, (pass + 1) * updates_of(c, scan), mean,
                    error);
        }
    }
    return lab_table_close(&table);
}

static gbs_status draw_figures(const cutting *c, gbs_error *err)
{
    static const gbsi_color color[N_SCANS] = {GBSI_BLUE, GBSI_VERMILLION};
    static const char *const title[3] = {"a picture", "each patch alone (PLSA)",
                                         "the rectangle sampled"};
    lab_plot plot;
    double x[N_SCANS][PASSES];
    double y[N_SCANS][PASSES];
    lab_plot_begin(&plot, LAB_DOGS_SEGMENT_ERRORS, 1);
    for (int scan = 0; scan < N_SCANS; scan++) {
        for (int pass = 0; pass < PASSES; pass++) {
            double error = 0.0;
            x[scan][pass] = (pass + 1) * updates_of(c, scan);
            y[scan][pass] = mean_of(c, scan, NOTHING, pass, &error);
        }
        lab_plot_line(&plot, 0,
                      (gbsi_line){.label = scan_name[scan],
                                  .color = color[scan],
                                  .n = PASSES,
                                  .x = x[scan],
                                  .y = y[scan]});
    }
    double unused = 0.0;
    lab_plot_guide(
        &plot, 0,
        (gbsi_guide){"PLSA", 0.0, x[OPTIMISED][0], mean_of(c, ALONE, NOTHING, 0, &unused)});
    lab_plot_subtitle(&plot,
                      "%u pictures of %d textures; the rectangle's scan has %zu updates, the "
                      "systematic one %d",
                      c->n_pictures, LAB_TEXTURES, c->n_updates, PATCHES);
    GBSI_PASS(lab_plot_write(c->lab, &plot, err));
    lab_plot_begin(&plot, LAB_DOGS_SEGMENT_PICTURES, 1);
    for (int k = 0; k < 3; k++) {
        lab_plot_image(&plot, title[k], &c->shown[k]);
    }
    return lab_plot_write(c->lab, &plot, err);
}

static void judge(cutting *c)
{
    laboratory *lab = c->lab;
    const int last = PASSES - 1;
    double off = 0.0;
    double error = 0.0;
    double better[N_SCANS];
    double chance[N_SCANS];
    const double alone = mean_of(c, ALONE, NOTHING, 0, &error);
    const double dogs = mean_of(c, OPTIMISED, NOTHING, last, &error);
    const double all = mean_of(c, SYSTEMATIC, NOTHING, last, &error);
    const double apart = mean_of(c, OPTIMISED, SYSTEMATIC, last, &off);
    lab_find(lab,
             LAB_JUDGE(segment_length, .updates = (double)c->n_updates, .systematic = PATCHES,
                       .variation = c->variation[OPTIMISED], .wanted = c->variation[SYSTEMATIC]),
             "the rectangle's scan has %zu updates, the systematic one %d (wanted at most a fifth) "
             "with variations %.3g and %.3g (wanted no more)",
             c->n_updates, PATCHES, c->variation[OPTIMISED], c->variation[SYSTEMATIC]);
    lab_find(lab, LAB_JUDGE(segment_same, .apart = apart, .error = off),
             "after %d passes of each, %.2f %% of the rectangle's patches are wrong with its own "
             "scan, %.2f %% with the systematic one: a difference of %.2f %% (standard error %.2f "
             "%%; wanted at most two standard errors and 0.2 %%)",
             PASSES, 100.0 * dogs, 100.0 * all, 100.0 * apart, 100.0 * off);
    for (int scan = 0; scan < N_SCANS; scan++) {
        better[scan] = mean_of(c, ALONE, scan, last, &chance[scan]);
    }
    lab_find(
        lab,
        LAB_JUDGE(segment_better, .optimised = better[OPTIMISED],
                  .optimised_error = chance[OPTIMISED], .systematic = better[SYSTEMATIC],
                  .systematic_error = chance[SYSTEMATIC]),
        "each patch alone (PLSA) has %.2f %% wrong, %.2f %% (standard error %.2f %%) more than "
        "with the rectangle's scan and %.2f %% (%.2f %%) more than with the systematic one "
        "(wanted: more by two standard errors)",
        100.0 * alone, 100.0 * better[OPTIMISED], 100.0 * chance[OPTIMISED],
        100.0 * better[SYSTEMATIC], 100.0 * chance[SYSTEMATIC]);
    lab_note(lab,
             "The paper's 240 pictures are not to be had; these are of our own making, %u to "
             "learn from and %u to cut, told in the same way which classes they show. Words "
             "are of texture and colour, not of place.",
             c->n_training, c->n_pictures);
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    gbs_status status = GBS_OK;
    cutting *c = gbsi_alloc_zero(sizeof *c);
    uint8_t *class_of =
        gbsi_alloc_zero((size_t)LAB_TEXTURES_WIDTH * LAB_TEXTURES_HEIGHT * sizeof *class_of);
    if (c == NULL || class_of == NULL) {
        GBSI_FREE(c, class_of);
        return gbsi_no_memory(err, "pictures", sizeof *c);
    }
    c->lab = lab;
    c->n_training = lab->options->quick ? 20 : 32;
    c->n_pictures = lab->options->quick ? 32 : MOST_PICTURES;
    c->count = gbsi_alloc_array((size_t)CHAINS * PATCHES * LAB_TEXTURES, sizeof *c->count);
    GBSI_TRY(GBSI_HAVE(err, "labels", c->count));
    lab_expect(lab, (double)c->n_pictures * CHAINS * PASSES * (PATCHES + PATCHES / 5.0));
    LAB_TRY(learn(c, class_of, err));
    for (c->at = 0; c->at < c->n_pictures; c->at++) {
        LAB_TRY(cut(c, class_of, err));
    }
    LAB_TRY(write_table(c, err));
    LAB_TRY(draw_figures(c, err));
    judge(c);
cleanup:
    cutting_free(c);
    GBSI_FREE(c, class_of);
    return status;
}

const lab_experiment_row lab_dogs_segment = {
    .about = {.name = "dogs-segment",
              .paper = LAB_DOGS_PAPER,
              .figure = "Figure 7",
              .claim = "a scan optimised for the middle of a picture cuts it into regions as well "
                       "as a systematic scan of the whole, with a fifth of its updates",
              .cost = "2 s quick, 10 s in full"},
    .run = run,
};
