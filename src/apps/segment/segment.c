/* SPDX-License-Identifier: Apache-2.0 */
/* Segments a picture given the classes: finds the words of its patches and the shares of the
 * classes, and makes the Markov field of the patches. */
#include "segment/aspects.h"

#include <inttypes.h>

#include "base/memory.h"
#include "base/sized.h"
#include "gibbsite/model.h"
#include "options/questions.h"
#include "pictures/image_file.h"

enum { ITERATIONS = 200 };
/* largest change of a share between iterations at which the shares have converged */
#define TOLERANCE 1e-8

/* ---- words and shares ------------------------------------------------------------------------ */

typedef struct seeing {
    gbs_segment *segment;
    const gbsi_view *view;
    gbsi_work *work;
} seeing;

static void find_words(void *context, uint32_t member)
{
    const seeing *s = context;
    const gbs_aspects *aspects = s->segment->aspects;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(gbsi_segment_n(s->segment), 16, member, gbsi_pool_size(s->work->pool), &first,
                    &end);
    for (uint64_t i = first; i < end; i++) {
        gbsi_aspects_words(aspects, s->view, &s->segment->grid, (size_t)i,
                           s->segment->word + i * GBSI_WORD_KINDS);
        if (member == 0) {
            s->work->progress.pass = i - first;
            s->work->progress.passes = end - first;
        }
        if (member == 0 ? gbsi_watch_spend(&s->work->watch, gbsi_aspects_work(aspects))
                        : gbsi_watch_stopped(&s->work->watch)) {
            return;
        }
    }
}

/* Estimates the shares of the classes by EM, while the probabilities of words stay fixed: the
 * picture is folded in (Hofmann 2001, section 3.4). */
static gbs_status fit_shares(gbs_segment *s, gbsi_work *work, gbs_error *err)
{
    const gbs_aspects *a = s->aspects;
    double counts[GBS_MAX_CLASSES] = {0.0};
    double before[GBS_MAX_CLASSES];
    double change = 1.0;
    gbsi_aspects_shares(counts, NULL, a->n_classes, s->share);
    for (int iteration = 0; iteration < ITERATIONS && change > TOLERANCE; iteration++) {
        memcpy(before, s->share, a->n_classes * sizeof *before);
        (void)gbsi_aspects_expect(a, s->word, gbsi_segment_n(s), s->share, counts, NULL);
        gbsi_aspects_shares(counts, NULL, a->n_classes, s->share);
        change = 0.0;
        for (uint32_t c = 0; c < a->n_classes; c++) {
            const double moved = s->share[c] - before[c];
            change += moved < 0.0 ? -moved : moved;
        }
        if (gbsi_watch_spend(&work->watch, gbsi_segment_n(s) * a->n_classes * 4)) {
            return gbsi_watch_fail(err, "reading the picture");
        }
    }
    return GBS_OK;
}

static void label_alone(gbs_segment *s)
{
    double p[GBS_MAX_CLASSES];
    for (size_t i = 0; i < gbsi_segment_n(s); i++) {
        uint32_t best = 0;
        (void)gbsi_aspects_joint(s->aspects, s->word + i * GBSI_WORD_KINDS, s->share, p);
        for (uint32_t a = 1; a < s->aspects->n_classes; a++) {
            best = p[a] > p[best] ? a : best;
        }
        s->alone[i] = best;
    }
}

static gbs_status see(gbs_segment *s, const gbs_image *picture, gbsi_work *work, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_view view = {0};
    s->width = picture->width;
    s->height = picture->height;
    s->grid = (gbsi_grid){.side = s->aspects->side, .step = s->aspects->step};
    GBSI_TRY(gbsi_grid_fit(picture, &s->grid, err));
    const size_t n = gbsi_segment_n(s);
    s->word = gbsi_alloc_array(n, GBSI_WORD_KINDS * sizeof *s->word);
    s->alone = gbsi_alloc_array(n, sizeof *s->alone);
    s->share = gbsi_alloc_array(s->aspects->n_classes, sizeof *s->share);
    GBSI_TRY(GBSI_HAVE(err, "patches", s->word, s->alone, s->share));
    GBSI_TRY(gbsi_view_make(picture, &view, err));
    seeing job = {.segment = s, .view = &view, .work = work};
    gbsi_pool_run(work->pool, find_words, &job);
    if (gbsi_watch_stopped(&work->watch)) {
        GBSI_TRY(gbsi_watch_fail(err, "reading the picture"));
    }
    GBSI_TRY(fit_shares(s, work, err));
    label_alone(s);
cleanup:
    gbsi_view_free(&view);
    return status;
}

gbs_status gbs_segment_new(const gbs_aspects *aspects, const gbs_image *picture,
                           const gbs_segment_options *options, const gbs_run_callbacks *callbacks,
                           gbs_segment **segment, gbs_error *err)
{
    GBSI_NEED(aspects, picture, segment);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    gbs_status status = GBS_OK;
    gbs_segment_options o;
    if (gbsi_question_settle("segment", options, &o, err) < 0) {
        return GBS_ERR_ARGUMENT;
    }
    const gbs_label_options limits = {.size = sizeof limits,
                                      .time_s = o.time_s,
                                      .threads = o.threads,
                                      .memory_limit = o.memory_limit};
    gbsi_work work = {0};
    gbs_segment *s = NULL;
    GBSI_TRY(gbsi_image_check(picture, "picture", err));
    GBSI_TRY(gbsi_work_begin(&work, &limits, callbacks, 0, err));
    s = gbsi_alloc_zero(sizeof *s);
    GBSI_TRY(GBSI_HAVE(err, "picture", s));
    s->aspects = aspects;
    s->coupling = o.coupling;
    s->neighbours = (uint32_t)o.neighbours;
    GBSI_TRY(see(s, picture, &work, err));
    *segment = s;
    s = NULL;
cleanup:
    gbs_segment_free(s);
    gbsi_work_end(&work);
    return status;
}

void gbs_segment_free(gbs_segment *segment)
{
    if (segment != NULL) {
        GBSI_FREE(segment->word, segment->share, segment->alone, segment);
    }
}

uint32_t gbs_segment_rows(const gbs_segment *segment)
{
    return segment == NULL ? 0 : segment->grid.rows;
}

uint32_t gbs_segment_columns(const gbs_segment *segment)
{
    return segment == NULL ? 0 : segment->grid.columns;
}

const double *gbs_segment_shares(const gbs_segment *segment)
{
    return segment == NULL ? NULL : segment->share;
}

const uint32_t *gbs_segment_alone(const gbs_segment *segment)
{
    return segment == NULL ? NULL : segment->alone;
}

/* ---- the field ------------------------------------------------------------------------------- */

static gbs_status add_variables(const gbs_segment *s, gbs_builder *builder, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = gbsi_segment_n(s);
    uint32_t *arity = gbsi_alloc_array(n, sizeof *arity);
    if (arity == NULL || n >= UINT32_MAX) {
        GBSI_TRY(gbsi_no_memory(err, "patches", n * sizeof *arity));
    }
    for (size_t i = 0; i < n; i++) {
        arity[i] = s->aspects->n_classes;
    }
    GBSI_TRY(gbs_builder_add_variables(builder, (uint32_t)n, arity, NULL, err));
    for (size_t i = 0; i < n; i++) {
        GBSI_TRY(gbs_builder_label_states(builder, (uint32_t)i,
                                          (const char *const *)s->aspects->name, err));
    }
cleanup:
    gbsi_free(arity);
    return status;
}

/* Adds the factors of words: the terms of equation 1 of Verbeek & Triggs (2007), divided by their
 * sum. */
static gbs_status add_words(const gbs_segment *s, gbs_builder *builder, gbs_error *err)
{
    gbs_status status = GBS_OK;
    double p[GBS_MAX_CLASSES];
    for (uint32_t i = 0; i < gbsi_segment_n(s) && status >= 0; i++) {
        const double sum =
            gbsi_aspects_joint(s->aspects, s->word + (size_t)i * GBSI_WORD_KINDS, s->share, p);
        for (uint32_t a = 0; a < s->aspects->n_classes; a++) {
            p[a] /= sum;
        }
        status = gbs_builder_add_potential(builder, 1, &i, s->aspects->n_classes, p, err);
    }
    return status;
}

static gbs_status join_neighbours(const gbs_segment *s, gbs_builder *builder, gbs_error *err)
{
    static const int step[4][2] = {{0, 1}, {1, 0}, {1, -1}, {1, 1}};
    const uint32_t rows = s->grid.rows;
    const uint32_t columns = s->grid.columns;
    for (unsigned k = 0; k < s->neighbours / 2; k++) {
        for (uint32_t r = 0; r + (uint32_t)step[k][0] < rows; r++) {
            for (uint32_t c = step[k][1] < 0; c < columns - (step[k][1] > 0); c++) {
                const uint32_t i = r * columns + c;
                const uint32_t j =
                    (r + (uint32_t)step[k][0]) * columns + (uint32_t)((int64_t)c + step[k][1]);
                GBSI_PASS(gbs_builder_add_potts(builder, i, j, s->coupling, err));
            }
        }
    }
    return GBS_OK;
}

gbs_status gbs_segment_model(const gbs_segment *segment, gbs_model **model, gbs_error *err)
{
    GBSI_NEED(segment, model);
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(add_variables(segment, builder, err));
    GBSI_TRY(add_words(segment, builder, err));
    if (segment->coupling > 0.0) {
        GBSI_TRY(join_neighbours(segment, builder, err));
    }
    GBSI_TRY(gbs_builder_build(builder, model, err));
cleanup:
    gbs_builder_free(builder);
    gbsi_budget_leave(before);
    return status;
}

/* ---- a rectangle ----------------------------------------------------------------------------- */

gbs_status gbsi_rectangle_check(const gbs_segment *s, const gbs_rectangle *r, gbs_error *err)
{
    if (r == NULL || (r->rows > 0 && r->columns > 0 && r->rows <= s->grid.rows &&
                      r->columns <= s->grid.columns && r->row <= s->grid.rows - r->rows &&
                      r->column <= s->grid.columns - r->columns)) {
        return GBS_OK;
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "found a rectangle of %u x %u patches at row %u, column %u, expected one "
                     "inside the picture's %u x %u patches",
                     r->rows, r->columns, r->row, r->column, s->grid.rows, s->grid.columns);
}

bool gbsi_rectangle_has(const gbs_segment *s, const gbs_rectangle *r, size_t patch)
{
    const uint32_t row = (uint32_t)(patch / s->grid.columns);
    const uint32_t column = (uint32_t)(patch % s->grid.columns);
    return r == NULL || (row >= r->row && row - r->row < r->rows && column >= r->column &&
                         column - r->column < r->columns);
}

/* Finds the shortest scan. Doubling finds a sufficient length. The shortest sufficient length then
 * lies between this length and half of it. */
static gbs_status find_shortest(const gbs_influences *influences, gbs_scan_request *request,
                                uint32_t **sequence, size_t *n, gbs_scan_report *report,
                                gbs_error *err)
{
    gbs_scan_report best = {.size = sizeof best};
    uint32_t *found = NULL;
    size_t length = 0;
    gbs_status status = gbs_scan_optimise(influences, request, &found, &length, &best, err);
    size_t enough = length;
    size_t short_of = length / 2;
    request->match = 0;
    request->accuracy = best.goal;
    while (status == GBS_OK && enough - short_of > 1) {
        gbs_scan_report shorter = {.size = sizeof shorter};
        uint32_t *tried = NULL;
        request->steps = short_of + (enough - short_of) / 2;
        status = gbs_scan_optimise(influences, request, &tried, &length, &shorter, err);
        if (status == GBS_OK && shorter.after <= best.goal) {
            shorter.goal = best.goal;
            best = shorter;
            enough = length;
            gbs_free(found);
            found = tried;
        } else {
            short_of = (size_t)request->steps;
            gbs_free(tried);
        }
    }
    if (found == NULL) {
        return status;
    }
    *sequence = found; /* the call was stopped: `found` is the best scan so far */
    *n = enough;
    gbsi_struct_give(report, &best, sizeof best);
    return status == GBS_ERR_STOPPED ? GBS_STOPPED : status;
}

gbs_status gbs_segment_scan(const gbs_segment *segment, const gbs_rectangle *rectangle,
                            int (*stop)(void *context), void *context, uint32_t **sequence,
                            size_t *n, gbs_scan_report *report, gbs_error *err)
{
    GBSI_NEED(segment, rectangle, sequence, n);
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    gbs_influences *influences = NULL;
    /* upper bounds depend only on the couplings, so that one scan serves all pictures (section 5.5)
     */
    const gbs_influence_options bounds = {
        .size = sizeof bounds, .rule = GBS_INFLUENCE_BOUND, .stop = stop, .stop_context = context};
    gbs_scan_request request = {.size = sizeof request, .match = gbsi_segment_n(segment)};
    double *weight = gbsi_alloc_array(gbsi_segment_n(segment), sizeof *weight);
    GBSI_TRY(GBSI_HAVE(err, "patches", weight));
    GBSI_TRY(gbsi_rectangle_check(segment, rectangle, err));
    for (size_t i = 0; i < gbsi_segment_n(segment); i++) {
        weight[i] = gbsi_rectangle_has(segment, rectangle, i) ? 1.0 : 0.0;
    }
    request.weight = weight;
    GBSI_TRY(gbs_segment_model(segment, &model, err));
    GBSI_TRY(gbs_influences_new(model, NULL, &bounds, &influences, err));
    GBSI_TRY(find_shortest(influences, &request, sequence, n, report, err));
cleanup:
    gbs_influences_free(influences);
    gbs_model_free(model);
    gbsi_free(weight);
    return status;
}
