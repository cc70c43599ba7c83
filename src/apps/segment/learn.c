/* SPDX-License-Identifier: Apache-2.0 */
/* Learns classes from pictures; each picture comes with the list of the classes that it shows
 * [M68]. */
#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "options/questions.h"
#include "segment/aspects.h"

typedef struct learning {
    gbs_aspect_options o;
    gbsi_work work;
    gbsi_training training;
    gbs_aspects *aspects;
    size_t n_patches;
    size_t texture_capacity, color_capacity, place_capacity;
    float *texture;  /* [n_patches][GBSI_TEXTURE] descriptors of texture */
    float *color;    /* [n_patches][GBSI_COLOR] descriptors of colour */
    uint32_t *place; /* [n_patches] word for the place of each patch */
    uint32_t *word;  /* [n_patches][GBSI_WORD_KINDS] words of each patch */
    double *share;   /* [n_pictures][n_classes] shares of the classes */
    double *beta[GBSI_WORD_KINDS];
    gbs_aspect_report report;
} learning;

static gbs_status take_options(learning *l, const gbs_aspect_options *options, gbs_error *err)
{
    gbs_aspect_options *o = &l->o;
    GBSI_PASS(gbsi_question_settle("learn aspects", options, o, err));
    o->step = o->step == 0 ? o->side / 2 : o->step;
    return GBS_OK;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static gbs_status reserve(learning *l, size_t n, gbs_error *err)
{
    GBSI_PASS(gbsi_reserve((void **)&l->texture, &l->texture_capacity, n,
                           GBSI_TEXTURE * sizeof *l->texture, "patches", err));
    GBSI_PASS(gbsi_reserve((void **)&l->color, &l->color_capacity, n, GBSI_COLOR * sizeof *l->color,
                           "patches", err));
    return gbsi_reserve((void **)&l->place, &l->place_capacity, n, sizeof *l->place, "patches",
                        err);
}

static gbs_status describe(learning *l, const gbs_image *image, gbsi_training_picture *picture,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_view view = {0};
    gbsi_grid grid = {.side = (uint32_t)l->o.side, .step = (uint32_t)l->o.step};
    GBSI_TRY(gbsi_grid_fit(image, &grid, err));
    picture->first = l->n_patches;
    picture->n = (size_t)grid.rows * grid.columns;
    GBSI_TRY(reserve(l, picture->first + picture->n, err));
    GBSI_TRY(gbsi_view_make(image, &view, err));
    for (size_t i = 0; i < picture->n; i++) {
        const size_t at = picture->first + i;
        gbsi_describe_texture(&view, &grid, i, l->texture + at * GBSI_TEXTURE);
        gbsi_describe_color(&view, &grid, i, l->color + at * GBSI_COLOR);
        l->place[at] = gbsi_describe_place(&grid, i, (uint32_t)l->o.position_cells);
        if (gbsi_watch_spend(&l->work.watch, (uint64_t)grid.side * grid.side * 4)) {
            GBSI_TRY(gbsi_watch_fail(err, "learning"));
        }
    }
    l->n_patches += picture->n;
cleanup:
    gbsi_view_free(&view);
    return status;
}

/* Makes a message "LIST:LINE:COLUMN: PICTURE: what is wrong". */
static gbs_status blame(const learning *l, const gbsi_training_picture *picture, gbs_status status,
                        gbs_error *err)
{
    const gbs_error none = {0};
    const gbs_error why = err == NULL ? none : *err;
    if (status != GBS_ERR_ARGUMENT && status != GBS_ERR_FORMAT && status != GBS_ERR_IO &&
        status != GBS_ERR_UNSUPPORTED) {
        return status;
    }
    gbsi_text text = l->training.text;
    return gbsi_text_fail(&text, gbsi_text_at(&text, picture->line), err, "%s%s%s",
                          status == GBS_ERR_ARGUMENT ? picture->path : "",
                          status == GBS_ERR_ARGUMENT ? ": " : "", why.message);
}

static gbs_status describe_all(learning *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_error why = {0};
    for (size_t k = 0; k < l->training.n_pictures && status >= 0; k++) {
        gbsi_training_picture *picture = &l->training.picture[k];
        gbs_image image = {0};
        l->work.progress.pass = k;
        l->work.progress.passes = l->training.n_pictures;
        status = gbs_image_read(picture->path, NULL, &image, &why);
        if (status >= 0) {
            status = describe(l, &image, picture, &why);
        }
        gbs_image_free(&image);
        if (status < 0) {
            if (err != NULL) {
                *err = why;
            }
            status = blame(l, picture, status, err);
        }
    }
    return status;
}

/* ---- words ----------------------------------------------------------------------------------- */

static void find_words(void *context, uint32_t member)
{
    learning *l = context;
    const gbs_aspects *a = l->aspects;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(l->n_patches, 16, member, gbsi_pool_size(l->work.pool), &first, &end);
    for (uint64_t i = first; i < end; i++) {
        uint32_t *word = l->word + i * GBSI_WORD_KINDS;
        word[GBSI_WORD_TEXTURE] = gbsi_vocabulary_word(&a->texture, l->texture + i * GBSI_TEXTURE);
        word[GBSI_WORD_COLOR] = gbsi_vocabulary_word(&a->color, l->color + i * GBSI_COLOR);
        word[GBSI_WORD_PLACE] = l->place[i];
        if (member == 0 ? gbsi_watch_spend(&l->work.watch, gbsi_aspects_work(a))
                        : gbsi_watch_stopped(&l->work.watch)) {
            return;
        }
    }
}

static gbs_status make_words(learning *l, gbs_error *err)
{
    gbs_aspects *a = l->aspects;
    a->texture = (gbsi_vocabulary){.n = (uint32_t)l->o.texture_words, .width = GBSI_TEXTURE};
    a->color = (gbsi_vocabulary){.n = (uint32_t)l->o.color_words, .width = GBSI_COLOR};
    GBSI_PASS(gbsi_vocabulary_learn(&l->work, l->texture, l->n_patches, l->o.seed,
                                    GBSI_WORD_TEXTURE, &a->texture, err));
    GBSI_PASS(gbsi_vocabulary_learn(&l->work, l->color, l->n_patches, l->o.seed, GBSI_WORD_COLOR,
                                    &a->color, err));
    a->n_words[GBSI_WORD_TEXTURE] = a->texture.n;
    a->n_words[GBSI_WORD_COLOR] = a->color.n;
    a->n_words[GBSI_WORD_PLACE] = a->cells * a->cells;
    l->word = gbsi_alloc_array(l->n_patches, GBSI_WORD_KINDS * sizeof *l->word);
    GBSI_PASS(GBSI_HAVE(err, "patches", l->word));
    gbsi_pool_run(l->work.pool, find_words, l);
    if (gbsi_watch_stopped(&l->work.watch)) {
        GBSI_PASS(gbsi_watch_fail(err, "learning"));
    }
    return GBS_OK;
}

/* ---- EM -------------------------------------------------------------------------------------- */

/* Sets the first state of EM. Every word has the same probability in all classes; only the lists of
 * classes distinguish the pictures. */
static gbs_status begin(learning *l, gbs_error *err)
{
    gbs_aspects *a = l->aspects;
    const size_t n = l->training.n_pictures * a->n_classes;
    const double none[GBS_MAX_CLASSES] = {0.0};
    bool there = true;
    l->share = gbsi_alloc_array(n, sizeof *l->share);
    for (int m = 0; m < GBSI_WORD_KINDS; m++) {
        a->beta[m] = gbsi_aspects_beta(a, m);
        there = there && (a->n_words[m] == 0 || a->beta[m] != NULL);
        for (size_t i = 0; there && i < (size_t)a->n_words[m] * a->n_classes; i++) {
            a->beta[m][i] = 1.0 / a->n_words[m];
        }
    }
    if (!there || l->share == NULL) {
        return gbsi_no_memory(err, "classes", n * sizeof *l->share);
    }
    for (size_t k = 0; k < l->training.n_pictures; k++) {
        gbsi_aspects_shares(none, l->training.shown + k * a->n_classes, a->n_classes,
                            l->share + k * a->n_classes);
    }
    return GBS_OK;
}

/* Replaces counts by P(word | class). */
static void normalise(double *beta, uint32_t n_words, uint32_t n_classes)
{
    for (uint32_t a = 0; a < n_classes; a++) {
        double sum = 0.0;
        for (size_t w = 0; w < n_words; w++) {
            sum += beta[w * n_classes + a];
        }
        for (size_t w = 0; w < n_words; w++) {
            beta[w * n_classes + a] /= sum;
        }
    }
}

static gbs_status iterate(learning *l, double *mean, gbs_error *err)
{
    gbs_aspects *a = l->aspects;
    double counts[GBS_MAX_CLASSES];
    double log_like = 0.0;
    for (int m = 0; m < GBSI_WORD_KINDS; m++) {
        l->beta[m] = gbsi_aspects_beta(a, m);
        if (l->beta[m] == NULL && a->n_words[m] > 0) {
            return gbsi_no_memory(err, "classes", (size_t)a->n_words[m] * a->n_classes);
        }
    }
    for (size_t k = 0; k < l->training.n_pictures; k++) {
        const gbsi_training_picture *picture = &l->training.picture[k];
        double *share = l->share + k * a->n_classes;
        log_like += gbsi_aspects_expect(a, l->word + picture->first * GBSI_WORD_KINDS, picture->n,
                                        share, counts, l->beta);
        gbsi_aspects_shares(counts, l->training.shown + k * a->n_classes, a->n_classes, share);
        if (gbsi_watch_spend(&l->work.watch, picture->n * a->n_classes * 4)) {
            return gbsi_watch_fail(err, "learning");
        }
    }
    for (int m = 0; m < GBSI_WORD_KINDS; m++) {
        if (a->n_words[m] > 0) {
            normalise(l->beta[m], a->n_words[m], a->n_classes);
            gbsi_free(a->beta[m]);
            a->beta[m] = l->beta[m];
            l->beta[m] = NULL;
        }
    }
    *mean = log_like / (double)l->n_patches;
    return GBS_OK;
}

static void tell_point(const learning *l)
{
    const gbs_learn_point point = {.size = sizeof point,
                                   .iteration = l->report.iterations,
                                   .objective = l->report.mean_log_like,
                                   .gradient = (double)NAN,
                                   .held_out = (double)NAN};
    if (l->o.point != NULL) {
        l->o.point(l->o.point_context, &point);
    }
}

static gbs_status run_em(learning *l, gbs_error *err)
{
    double before = 0.0;
    GBSI_PASS(begin(l, err));
    l->work.progress.passes = l->o.iterations;
    while (l->report.iterations < l->o.iterations && !l->report.converged) {
        GBSI_PASS(iterate(l, &l->report.mean_log_like, err));
        l->report.converged =
            l->report.iterations > 1 && /* the first two iterations may have equal results */
            l->report.mean_log_like - before < l->o.tolerance;
        before = l->report.mean_log_like;
        l->work.progress.pass = ++l->report.iterations;
        tell_point(l);
    }
    return GBS_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status learn(learning *l, gbs_error *err)
{
    gbs_aspects *a = gbsi_alloc_zero(sizeof *a);
    l->aspects = a;
    GBSI_PASS(GBSI_HAVE(err, "classes", a));
    a->side = (uint32_t)l->o.side;
    a->step = (uint32_t)l->o.step;
    a->cells = (uint32_t)l->o.position_cells;
    GBSI_PASS(describe_all(l, err));
    GBSI_PASS(make_words(l, err));
    a->name = l->training.name;
    a->n_classes = l->training.n_classes;
    l->training.name = NULL;
    GBSI_PASS(run_em(l, err));
    l->report.n_pictures = l->training.n_pictures;
    l->report.n_patches = l->n_patches;
    l->report.n_classes = a->n_classes;
    for (int m = 0; m < GBSI_WORD_KINDS; m++) {
        l->report.n_words[m] = a->n_words[m];
    }
    l->report.seconds = gbsi_clock_s() - l->work.begun_s;
    return GBS_OK;
}

gbs_status gbs_aspects_learn(const char *path, const gbs_aspect_options *options,
                             const gbs_run_callbacks *callbacks, gbs_aspects **aspects,
                             gbs_aspect_report *report, gbs_error *err)
{
    GBSI_NEED(path, aspects);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_aspect_report);
    gbs_status status = GBS_OK;
    learning l = {0};
    GBSI_TRY(take_options(&l, options, err));
    const gbs_label_options limits = {.size = sizeof limits,
                                      .time_s = l.o.time_s,
                                      .threads = l.o.threads,
                                      .memory_limit = l.o.memory_limit};
    GBSI_TRY(gbsi_work_begin(&l.work, &limits, callbacks, 0, err));
    GBSI_TRY(gbsi_training_read(path, &l.training, err));
    GBSI_TRY(learn(&l, err));
    gbsi_struct_give(report, &l.report, sizeof l.report);
    *aspects = l.aspects;
    l.aspects = NULL;
cleanup:
    gbs_aspects_free(l.aspects);
    gbsi_training_free(&l.training);
    GBSI_FREE(l.texture, l.color, l.place, l.word, l.share);
    for (int m = 0; m < GBSI_WORD_KINDS; m++) {
        gbsi_free(l.beta[m]);
    }
    gbsi_work_end(&l.work);
    return status;
}
